//! Decides which forge a pull is on and which token is used there. The only request is an anonymous one, to a server that
//! only `origin` names.
//!
//! | what | sources, in order of precedence |
//! |---|---|
//! | server | the pull's URL, `--forge-url`, the CI runner's variables, the operator file, the remote `origin` |
//! | repository | the pull's name, `--repo`, the CI runner's variables, the remote `origin` |
//! | pull | what was typed, the event that started the CI job; else the pull of the current branch |
//! | kind | `--forge-kind`, the operator file, the CI runner; else the server is probed |
//! | token | `REFEREE_TOKEN`, the forge's own variables, the operator file; see `token` for the servers of each |
//!
//! Anybody can write a remote into a repository that somebody else clones. So a server that only `origin` names gets no
//! token (D45): it is probed without one, and if it is a forge, the run says what to set.

mod ci_runner;
mod remote_url;
mod token;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use referee_core::model::{PullNumber, Span};
use referee_forge::{ForgeError, ForgeKind, ServerFacts, ServerSite, identify_server};
use referee_git::Git;
use referee_http::{ClientLimits, ClientOptions, Token};
use url::Url;

use super::config_files::{env, load_forges};
use super::reference::{PullReference, RemoteReference, RepoName};
use super::{ForgeOptions, Options};
use crate::config::{ForgeEntry, expand_home};
use crate::failure::Failure;
use ci_runner::CiRunner;
use remote_url::{RemoteUrl, is_same_server, may_send_token};
use token::TokenSearch;

/// Everything besides the command line that names a forge.
struct Surroundings<'a> {
    env: &'a dyn Fn(&str) -> Option<String>,
    /// The `[forge]` entries of the operator file.
    forges: &'a BTreeMap<String, ForgeEntry>,
    /// Returns the URL of the remote `origin`. Only called if nothing else names the forge.
    origin: &'a dyn Fn() -> Option<String>,
}

/// A repository on a server, and how to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoteSite {
    /// The root URL of the forge.
    pub(crate) server: Url,
    /// `None` if the server has to be probed.
    pub(crate) kind: Option<ForgeKind>,
    pub(crate) repo: RepoName,
    /// `None` is the pull of the current branch.
    pub(crate) pull: Option<PullNumber>,
    /// The token that reads.
    pub(crate) token: Token,
    /// A file with certificates to trust besides the system's.
    pub(crate) ca: Option<PathBuf>,
    pub(crate) proxy: Option<Url>,
    /// Time limit of one request; `None` is the client's default.
    pub(crate) timeout: Option<Span>,
}

/// What the command line and the surroundings say about the forge of a pull.
#[derive(Debug, PartialEq, Eq)]
enum SiteChoice {
    Local,
    Server(Box<RemoteSite>),
    /// Only the remote `origin` names this server, so no token may be sent to it (D45).
    Unbound(Url),
}

/// A server, and what names it.
struct FoundServer {
    url: Url,
    naming: ServerNaming,
}

/// What names a server; it decides which tokens the server may get (D45).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerNaming {
    /// A person, the operator file, a project file or the variables of a CI job.
    Trusted,
    /// Only the remote `origin`.
    RemoteOnly,
}

/// Finds the forge that a reference is on; `None` is the local one.
pub(crate) async fn find_site(options: &Options, reference: &PullReference) -> Result<Option<RemoteSite>, Failure> {
    let forges = load_forges(options);
    let origin = || Git::discover(&options.dir).ok()?.remote_url("origin").ok()?;
    let known = forges.as_ref().cloned().unwrap_or_default();
    let choice = {
        let surroundings = Surroundings { env: &env, forges: &known, origin: &origin };
        choose_site(reference, &options.forge, &surroundings)
    };
    match (choice, forges) {
        (Ok(SiteChoice::Local), _) => Ok(None),
        (Ok(SiteChoice::Server(site)), _) => Ok(Some(*site)),
        // The broken operator file may have named the forge.
        (Ok(SiteChoice::Unbound(_)) | Err(_), Err(unreadable)) => Err(unreadable),
        (Ok(SiteChoice::Unbound(server)), Ok(_)) => refuse_unbound_forge(server).await,
        (Err(failure), Ok(_)) => Err(failure),
    }
}

/// How long a server that only a remote names may take to say what it is.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Asks a server, without a token, whether it is a forge. If not, pulls are local; otherwise the user must name it.
async fn refuse_unbound_forge(server: Url) -> Result<Option<RemoteSite>, Failure> {
    let limits = ClientLimits { request_timeout: PROBE_TIMEOUT, max_attempts: 1, ..ClientLimits::default() };
    match identify_server(&ClientOptions { limits, ..ClientOptions::new(server.clone(), None, &[]) }).await {
        Err(ForgeError::Unsupported(_)) => Ok(None),
        Ok(_) | Err(_) => {
            Err(token::unbound_server(&server).with_hint("`--forge-kind local` keeps to this repository"))
        }
    }
}

/// Chooses the forge. A forge that was named and cannot be used is a failure; one that was only inferred falls back to the
/// local forge.
fn choose_site(
    reference: &PullReference,
    given: &ForgeOptions,
    around: &Surroundings<'_>,
) -> Result<SiteChoice, Failure> {
    let (named, pull) = match reference {
        PullReference::Local(_) | PullReference::Range { .. } | PullReference::WorkTree | PullReference::Staged => {
            return Ok(SiteChoice::Local);
        }
        PullReference::Remote(remote) if given.kind == Some(ForgeKind::Local) => {
            return Err(Failure::usage(format!("`{}#{}` is not a local pull", remote.repo, remote.number.0))
                .with_hint("leave `--forge-kind local` out, or name a local pull: `L7`"));
        }
        _ if given.kind == Some(ForgeKind::Local) => return Ok(SiteChoice::Local),
        PullReference::Remote(remote) => (Some(remote), Some(remote.number)),
        PullReference::Numbered(number) => (None, Some(*number)),
        PullReference::Current => (None, None),
    };
    let asked = named.is_some() || given.url.is_some() || given.repo.is_some() || given.kind.is_some();
    if !asked && !token::may_have_token(around.env, around.forges) {
        return Ok(SiteChoice::Local);
    }
    match assemble_site(named, pull, given, around) {
        Ok(SiteChoice::Unbound(server)) if asked => Err(token::unbound_server(&server)),
        Ok(choice) => Ok(choice),
        Err(failure) if asked => Err(failure),
        Err(_) => Ok(SiteChoice::Local),
    }
}

fn assemble_site(
    named: Option<&RemoteReference>,
    pull: Option<PullNumber>,
    given: &ForgeOptions,
    around: &Surroundings<'_>,
) -> Result<SiteChoice, Failure> {
    let runner = CiRunner::from_env(around.env);
    let origin = (around.origin)().as_deref().and_then(RemoteUrl::parse);
    let FoundServer { url: server, naming } = find_server(named, given, around, runner.as_ref(), origin.as_ref())?;
    let runner = runner.filter(|runner| is_same_server(&runner.server, &server));
    let origin = origin.filter(|origin| origin.is_on(&server));
    let repo = named.map(|remote| &remote.repo).or(given.repo.as_ref());
    let repo = repo.or_else(|| runner.as_ref()?.repo.as_ref()).or_else(|| Some(&origin.as_ref()?.repo));
    let repo = repo.ok_or_else(|| {
        Failure::usage(format!("no repository of `{server}` was named"))
            .with_hint("give `--repo OWNER/NAME`, or the URL of the pull")
    })?;
    let entry = find_entry(&server, around.forges);
    let kind = given.kind.or(entry.map(|entry| entry.kind)).or_else(|| runner.as_ref()?.kind);
    let kind = check_supported(&server, kind)?;
    let token = match token::find_token(&server, naming, runner.as_ref(), entry, around.env) {
        TokenSearch::Found(token) => token,
        TokenSearch::Unbound => return Ok(SiteChoice::Unbound(server)),
        TokenSearch::Missing(failure) => return Err(*failure),
    };
    let pull = pull.or_else(|| runner.as_ref().filter(|it| it.repo.as_ref() == Some(repo))?.pull);
    let (ca, proxy) = find_route(entry, around.env);
    let timeout = entry.and_then(|entry| entry.timeout);
    Ok(SiteChoice::Server(Box::new(RemoteSite { server, kind, repo: repo.clone(), pull, token, ca, proxy, timeout })))
}

impl RemoteSite {
    /// Returns the site as `referee_forge::connect` takes it.
    pub(crate) fn to_server_site(&self, known: Option<ServerFacts>) -> Result<ServerSite, Failure> {
        Ok(ServerSite {
            kind: self.kind,
            client: self.client_options()?,
            owner: self.repo.owner.clone(),
            repo: self.repo.name.clone(),
            token: self.token.clone(),
            known,
        })
    }

    fn client_options(&self) -> Result<ClientOptions, Failure> {
        let read = |file: &PathBuf| {
            std::fs::read(file).map_err(|error| {
                Failure::usage(format!("nothing was read from `{}`: `{}`: {error}", self.server, file.display()))
                    .with_hint("`ca` in the operator file must name a file with PEM certificates")
            })
        };
        let extra_ca_pem = self.ca.as_ref().map(read).transpose()?;
        let mut client = ClientOptions::new(self.server.clone(), None, &[]);
        if let Some(Span(seconds)) = self.timeout {
            client.limits.request_timeout = Duration::from_secs(seconds.max(1).unsigned_abs());
        }
        Ok(ClientOptions { extra_ca_pem, proxy: self.proxy.clone(), ..client })
    }
}

/// Assembles the site of a project file, which names server and repository. The operator's entry for the server applies.
pub(crate) fn project_site(
    server: Url,
    repo: RepoName,
    token: Option<Token>,
    forges: &BTreeMap<String, ForgeEntry>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<RemoteSite, Failure> {
    let runner = CiRunner::from_env(env).filter(|runner| is_same_server(&runner.server, &server));
    let entry = find_entry(&server, forges);
    let kind = check_supported(&server, entry.map(|entry| entry.kind).or_else(|| runner.as_ref()?.kind))?;
    let token = match token {
        Some(token) => token,
        None => match token::find_token(&server, ServerNaming::Trusted, runner.as_ref(), entry, env) {
            TokenSearch::Found(token) => token,
            TokenSearch::Unbound => return Err(token::unbound_server(&server)),
            TokenSearch::Missing(failure) => return Err(*failure),
        },
    };
    let (ca, proxy) = find_route(entry, env);
    let timeout = entry.and_then(|entry| entry.timeout);
    Ok(RemoteSite { server, kind, repo, pull: None, token, ca, proxy, timeout })
}

/// Returns whether tokens of the operator file's identities may be sent to a server. An operator file that names forges
/// means those; one without any leaves it to the person or the CI job that named the server.
pub(crate) fn may_use_identities(server: &Url, forges: &BTreeMap<String, ForgeEntry>) -> bool {
    forges.is_empty() || forges.values().filter_map(entry_url).any(|url| may_send_token(&url, server))
}

/// Finds the operator's entry for a server.
fn find_entry<'a>(server: &Url, forges: &'a BTreeMap<String, ForgeEntry>) -> Option<&'a ForgeEntry> {
    forges.values().find(|entry| entry_url(entry).is_some_and(|url| is_same_server(&url, server)))
}

/// Refuses software that no adapter supports.
fn check_supported(server: &Url, kind: Option<ForgeKind>) -> Result<Option<ForgeKind>, Failure> {
    if let Some(kind @ (ForgeKind::Github | ForgeKind::Gitlab)) = kind {
        return Err(Failure::usage(format!(
            "`{server}` runs {}, which this build does not support yet",
            software_name(kind)
        ))
        .with_hint("Gitea, Forgejo and local pulls work: `referee review main..HEAD`"));
    }
    Ok(kind)
}

/// Returns the certificate file and the proxy of an entry.
fn find_route(entry: Option<&ForgeEntry>, env: &dyn Fn(&str) -> Option<String>) -> (Option<PathBuf>, Option<Url>) {
    let ca = entry.and_then(|entry| entry.ca.as_deref()).map(|file| expand_home(file, env));
    let proxy = entry.and_then(|entry| Url::parse(entry.proxy.as_deref()?).ok());
    (ca, proxy)
}

/// Finds the server, and what names it.
fn find_server(
    named: Option<&RemoteReference>,
    given: &ForgeOptions,
    around: &Surroundings<'_>,
    runner: Option<&CiRunner>,
    origin: Option<&RemoteUrl>,
) -> Result<FoundServer, Failure> {
    let trusted = |url: &Url| FoundServer { url: url.clone(), naming: ServerNaming::Trusted };
    let explicit = named.and_then(|remote| remote.server.as_ref()).or(given.url.as_ref());
    if let Some(server) = explicit.or_else(|| Some(&runner?.server)) {
        return Ok(trusted(server));
    }
    let entries: Vec<Url> = around.forges.values().filter_map(entry_url).collect();
    let of_origin = entries.iter().find(|url| origin.is_some_and(|origin| origin.is_on(url)));
    // For a repository that was named without a server, the operator's only forge wins over the remote.
    let only = if named.is_some() || origin.is_none() { entries.first().filter(|_| entries.len() == 1) } else { None };
    if let Some(url) = of_origin.or(only) {
        return Ok(trusted(url));
    }
    match origin {
        Some(origin) => Ok(FoundServer { url: origin.server.clone(), naming: ServerNaming::RemoteOnly }),
        None => Err(Failure::usage("no forge is known here")
            .with_hint("give the URL of the pull or `--forge-url URL`, or name the forge in the operator file")),
    }
}

/// Returns the root URL of an entry's forge.
pub(crate) fn entry_url(entry: &ForgeEntry) -> Option<Url> {
    let public = match entry.kind {
        ForgeKind::Github => "https://github.com",
        ForgeKind::Gitlab => "https://gitlab.com",
        ForgeKind::Gitea | ForgeKind::Forgejo | ForgeKind::Local => "",
    };
    Url::parse(entry.url.as_deref().unwrap_or(public)).ok()
}

/// Returns the name of a forge's software for people.
fn software_name(kind: ForgeKind) -> &'static str {
    match kind {
        ForgeKind::Github => "GitHub",
        ForgeKind::Gitlab => "GitLab",
        ForgeKind::Gitea => "Gitea",
        ForgeKind::Forgejo => "Forgejo",
        ForgeKind::Local => "the local forge",
    }
}

#[cfg(test)]
mod tests;
