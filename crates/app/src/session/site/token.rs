//! Where the token for a server comes from.

use std::collections::BTreeMap;

use referee_http::Token;
use url::Url;

use super::ci_runner::CiRunner;
use super::no_token;
use crate::config::ForgeEntry;
use crate::failure::Failure;

/// Variables that Forgejo's and Gitea's own tools use.
const FORGE_TOOL_VARIABLES: &[&str] = &["FORGEJO_TOKEN", "GITEA_TOKEN", "GITEA_SERVER_TOKEN"];

/// Finds the token for a server.
///
/// `REFEREE_TOKEN` is meant for the forge of this run. A forge's own variables are only valid for the forge that set them:
/// in a CI job that is the runner's server, and no other server may see them.
pub(super) fn find_token(
    server: &Url,
    runner: Option<&CiRunner>,
    entry: Option<&ForgeEntry>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Token, Failure> {
    let is_ci_job = CiRunner::from_env(env).is_some();
    let variables: &[&str] = match (runner, is_ci_job) {
        (Some(_), _) => &["FORGEJO_TOKEN", "GITEA_TOKEN", "GITHUB_TOKEN"],
        (None, true) => &[],
        // On a developer's machine `GITHUB_TOKEN` belongs to GitHub.
        (None, false) => FORGE_TOOL_VARIABLES,
    };
    let found = std::iter::once(&"REFEREE_TOKEN").chain(variables).find_map(|name| non_empty(env(name)?));
    if let Some(token) = found {
        return Ok(Token::new(token));
    }
    match entry.and_then(|entry| entry.token.as_ref()) {
        Some(secret) => match secret.read(env) {
            Ok(text) => Ok(Token::new(text.expose())),
            Err(error) => Err(no_token(server, &error.to_string())),
        },
        None => Err(no_token(server, "there is no token for it")),
    }
}

/// Returns whether any token may be configured. Without one, no forge is looked for.
pub(super) fn may_have_token(env: &dyn Fn(&str) -> Option<String>, forges: &BTreeMap<String, ForgeEntry>) -> bool {
    let is_set = |name: &&str| env(name).and_then(non_empty).is_some();
    !forges.is_empty() || FORGE_TOOL_VARIABLES.iter().chain(&["REFEREE_TOKEN", "GITHUB_TOKEN"]).any(is_set)
}

/// Runners set a variable to the empty string for a secret that does not exist.
fn non_empty(value: String) -> Option<String> {
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}
