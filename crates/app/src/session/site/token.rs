//! Which token a server gets (D45).
//!
//! | token | goes to |
//! |---|---|
//! | `REFEREE_TOKEN` | the server that a person, the operator file, a project file or the CI job names |
//! | in a CI job: `FORGEJO_TOKEN`, `GITEA_TOKEN`, `GITHUB_TOKEN` | the job's own server |
//! | elsewhere: `FORGEJO_TOKEN` | codeberg.org, or the server in `FORGEJO_SERVER_URL` |
//! | elsewhere: `GITEA_TOKEN`, `GITEA_SERVER_TOKEN` | gitea.com, or the server in `GITEA_SERVER_URL` or `GITEA_INSTANCE_URL` |
//! | `token` of a forge in the operator file | its `url` |

use std::collections::BTreeMap;

use referee_http::Token;
use url::Url;

use super::ServerNaming;
use super::ci_runner::CiRunner;
use super::entry_url;
use super::remote_url::may_send_token;
use crate::config::ForgeEntry;
use crate::failure::{Failure, FailureKind};
use crate::known_secrets;

/// A variable of a forge's own tools, and the servers that its token belongs to.
struct ToolVariable {
    name: &'static str,
    public_server: &'static str,
    /// Variables that name another server.
    server_variables: &'static [&'static str],
}

const GITEA_SERVER_VARIABLES: &[&str] = &["GITEA_SERVER_URL", "GITEA_INSTANCE_URL"];

const TOOL_VARIABLES: &[ToolVariable] = &[
    ToolVariable {
        name: "FORGEJO_TOKEN",
        public_server: "https://codeberg.org",
        server_variables: &["FORGEJO_SERVER_URL"],
    },
    ToolVariable { name: "GITEA_TOKEN", public_server: "https://gitea.com", server_variables: GITEA_SERVER_VARIABLES },
    ToolVariable {
        name: "GITEA_SERVER_TOKEN",
        public_server: "https://gitea.com",
        server_variables: GITEA_SERVER_VARIABLES,
    },
];

/// The result of looking for a server's token.
pub(super) enum TokenSearch {
    Found(Token),
    /// There are tokens, but only a remote names this server.
    Unbound,
    Missing(Box<Failure>),
}

/// Finds the token for a server. `runner` is the CI job, if the server is its own.
pub(super) fn find_token(
    server: &Url,
    naming: ServerNaming,
    runner: Option<&CiRunner>,
    entry: Option<&ForgeEntry>,
    env: &dyn Fn(&str) -> Option<String>,
) -> TokenSearch {
    let read = |name: &str| non_empty(env(name)?);
    let own = || read("REFEREE_TOKEN").filter(|_| naming == ServerNaming::Trusted);
    if let Some(text) = own().or_else(|| find_tool_token(server, runner, env)) {
        known_secrets::remember(&text);
        return TokenSearch::Found(Token::new(text));
    }
    let missing = |why: &str| TokenSearch::Missing(Box::new(no_token(server, why)));
    match entry.and_then(|entry| Some((entry, entry.token.as_ref()?))) {
        Some((entry, _)) if !entry_url(entry).is_some_and(|url| may_send_token(&url, server)) => {
            missing("its token in the operator file is only sent over `https`")
        }
        Some((_, secret)) => match secret.read(env) {
            Ok(text) => TokenSearch::Found(Token::new(text.expose())),
            Err(error) => missing(&error.to_string()),
        },
        None if naming == ServerNaming::RemoteOnly && has_variable(env) => TokenSearch::Unbound,
        // In a CI job these variables belong to the job's server, whatever their names.
        None if CiRunner::from_env(env).is_some() => missing("there is no token for it"),
        None => match TOOL_VARIABLES.iter().find(|tool| read(tool.name).is_some()) {
            Some(ToolVariable { name, public_server, server_variables }) => missing(&format!(
                "`{name}` is for `{public_server}` or the server in `{}`",
                server_variables.first().unwrap_or(&"")
            )),
            None => missing("there is no token for it"),
        },
    }
}

/// Finds the token of a forge's own tools. A CI job's variables belong to the job's server, whatever their names.
fn find_tool_token(server: &Url, runner: Option<&CiRunner>, env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let read = |name: &str| non_empty(env(name)?);
    match (runner, CiRunner::from_env(env)) {
        (Some(runner), _) => ["FORGEJO_TOKEN", "GITEA_TOKEN", "GITHUB_TOKEN"]
            .into_iter()
            .find_map(read)
            .filter(|_| may_send_token(&runner.server, server)),
        (None, Some(_)) => None,
        // On a developer's machine `GITHUB_TOKEN` belongs to GitHub.
        (None, None) => TOOL_VARIABLES.iter().find_map(|tool| {
            let servers = tool.server_variables.iter().filter_map(|name| read(name));
            let mut servers = servers.chain([tool.public_server.to_owned()]).filter_map(|url| Url::parse(&url).ok());
            servers.any(|bound| may_send_token(&bound, server)).then(|| read(tool.name))?
        }),
    }
}

/// Returns whether any token may be configured. Without one, no forge is looked for.
pub(super) fn may_have_token(env: &dyn Fn(&str) -> Option<String>, forges: &BTreeMap<String, ForgeEntry>) -> bool {
    !forges.is_empty() || has_variable(env) || env("GITHUB_TOKEN").and_then(non_empty).is_some()
}

fn has_variable(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let mut names = TOOL_VARIABLES.iter().map(|tool| tool.name).chain(["REFEREE_TOKEN"]);
    names.any(|name| env(name).and_then(non_empty).is_some())
}

/// Runners set a variable to the empty string for a secret that does not exist.
fn non_empty(value: String) -> Option<String> {
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

fn no_token(server: &Url, why: &str) -> Failure {
    Failure::new(FailureKind::Unauthenticated, format!("nothing was read from `{server}`: {why}"))
        .with_hint("set `REFEREE_TOKEN` to a token with `write:repository`, `write:issue` and `read:user`")
        .with_hint("or name one in the operator file: `token = { env = \"…\" }`")
}

/// The failure for a server that only a remote names.
pub(super) fn unbound_server(server: &Url) -> Failure {
    Failure::new(
        FailureKind::Unauthenticated,
        format!("no token is sent to `{server}`: only the remote `origin` names this server"),
    )
    .with_hint(format!("if it is your forge, set `REFEREE_FORGE_URL={server}`, or name it in the operator file"))
}
