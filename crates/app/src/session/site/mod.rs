//! Decides which forge a pull is on and which token is used there, without a request.
//!
//! | what | sources, in order of precedence |
//! |---|---|
//! | server | the pull's URL, `--forge-url`, the CI runner's variables, the operator file, the remote `origin` |
//! | repository | the pull's name, `--repo`, the CI runner's variables, the remote `origin` |
//! | pull | what was typed, the event that started the CI job; else the pull of the current branch |
//! | kind | `--forge-kind`, the operator file, the CI runner; else the server is probed |
//! | token | `REFEREE_TOKEN`, the forge's own variables, the operator file |

mod ci_runner;
mod remote_url;
mod token;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use referee_core::model::PullNumber;
use referee_http::{ClientOptions, Token};
use url::Url;

use crate::config::{ForgeEntry, ForgeKind, expand_home};
use crate::failure::{Failure, FailureKind as Ends};
use crate::session::ForgeOptions;
use crate::session::reference::{PullReference, RemoteReference, RepoName};
use ci_runner::CiRunner;
use remote_url::{RemoteUrl, is_same_server};

/// What a forge runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// GitHub
    Github,
    /// GitLab
    Gitlab,
    /// Gitea
    Gitea,
    /// Forgejo
    Forgejo,
    /// None: pulls are kept in the git folder
    Local,
}

/// What there is to go by beside the command line.
pub(crate) struct Around<'a> {
    /// The environment.
    pub(crate) env: &'a dyn Fn(&str) -> Option<String>,
    /// The forges of the operator file.
    pub(crate) forges: &'a BTreeMap<String, ForgeEntry>,
    /// Where `origin` of this checkout is. Git is asked only where it matters.
    pub(crate) origin: &'a dyn Fn() -> Option<String>,
}

/// Which forge it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The local one.
    Local,
    /// Another.
    Forge(Box<Site>),
}

/// A repository on a forge, and who asks there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// Where the forge's pages begin.
    pub(crate) server: Url,
    /// What it runs, where somebody said so; else it is asked.
    pub(crate) kind: Option<Kind>,
    /// Which repository.
    pub(crate) repo: RepoName,
    /// Which pull; `None` is the one of the current branch.
    pub(crate) pull: Option<PullNumber>,
    /// Who asks.
    pub(crate) token: Token,
    /// Certificates to trust there beside the system's.
    pub(crate) ca: Option<PathBuf>,
    /// What stands between here and there.
    pub(crate) proxy: Option<Url>,
    /// Only the remote says so: where that is no forge after all, pulls are local ones.
    pub(crate) guessed: bool,
}

/// Chooses. What was asked for by name and cannot be had is a failure; what was only inferred makes room for the local
/// forge.
pub(crate) fn choose(target: &PullReference, given: &ForgeOptions, around: &Around<'_>) -> Result<Choice, Failure> {
    let (named, pull) = match target {
        PullReference::Local(_) | PullReference::Range { .. } | PullReference::WorkTree | PullReference::Staged => {
            return Ok(Choice::Local);
        }
        PullReference::Remote(remote) if given.kind == Some(Kind::Local) => {
            return Err(Failure::usage(format!("`{}#{}` is no local pull", remote.repo, remote.number.0))
                .with_hint("leave `--forge-kind local` out, or name a local pull: `L7`"));
        }
        _ if given.kind == Some(Kind::Local) => return Ok(Choice::Local),
        PullReference::Remote(remote) => (Some(remote), Some(remote.number)),
        PullReference::Numbered(number) => (None, Some(*number)),
        PullReference::Current => (None, None),
    };
    let asked = named.is_some() || given.url.is_some() || given.repo.is_some() || given.kind.is_some();
    if !asked && !token::may_have_token(around.env, around.forges) {
        return Ok(Choice::Local);
    }
    match site(named, pull, given, around) {
        Ok(site) => Ok(Choice::Forge(Box::new(site))),
        Err(failure) if asked => Err(failure),
        Err(_) => Ok(Choice::Local),
    }
}

fn site(
    named: Option<&RemoteReference>,
    pull: Option<PullNumber>,
    given: &ForgeOptions,
    around: &Around<'_>,
) -> Result<Site, Failure> {
    let runner = CiRunner::from_env(around.env);
    let origin = (around.origin)().as_deref().and_then(RemoteUrl::parse);
    let (server, guessed) = server(named, given, around, runner.as_ref(), origin.as_ref())?;
    let runner = runner.filter(|runner| is_same_server(&runner.server, &server));
    let origin = origin.filter(|origin| origin.is_on(&server));
    let repo = named.map(|remote| &remote.repo).or(given.repo.as_ref());
    let repo = repo.or_else(|| runner.as_ref()?.repo.as_ref()).or_else(|| Some(&origin.as_ref()?.repo));
    let repo = repo.ok_or_else(|| {
        Failure::usage(format!("no repository of `{server}` was named"))
            .with_hint("give `--repo OWNER/NAME`, or the address of the pull")
    })?;
    let entry = entry_of(&server, around.forges);
    let kind = given.kind.or(entry.map(|entry| entry.kind.into())).or_else(|| runner.as_ref()?.kind);
    let kind = speaks(&server, kind)?;
    let token = token::find_token(&server, runner.as_ref(), entry, around.env)?;
    let pull = pull.or_else(|| runner.as_ref().filter(|it| it.repo.as_ref() == Some(repo))?.pull);
    let (ca, proxy) = way(entry, around.env);
    Ok(Site { server, kind, repo: repo.clone(), pull, token, ca, proxy, guessed: guessed && kind.is_none() })
}

impl Site {
    /// How its server is reached.
    pub(crate) fn reach(&self) -> Result<ClientOptions, Failure> {
        let read = |file: &PathBuf| {
            std::fs::read(file).map_err(|error| {
                Failure::usage(format!("nothing was read from `{}`: `{}`: {error}", self.server, file.display()))
                    .with_hint("`ca` in the operator file names a file with certificates in PEM")
            })
        };
        let trust = self.ca.as_ref().map(read).transpose()?;
        Ok(ClientOptions {
            extra_ca_pem: trust,
            proxy: self.proxy.clone(),
            ..ClientOptions::new(self.server.clone(), None, &[])
        })
    }
}

/// A repository of a server that a project names. The operator's entry for that server has its say.
pub(crate) fn named(
    server: Url,
    repo: RepoName,
    token: Option<Token>,
    forges: &BTreeMap<String, ForgeEntry>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Site, Failure> {
    let runner = CiRunner::from_env(env).filter(|runner| is_same_server(&runner.server, &server));
    let entry = entry_of(&server, forges);
    let kind = speaks(&server, entry.map(|entry| entry.kind.into()).or_else(|| runner.as_ref()?.kind))?;
    let token = match token {
        Some(token) => token,
        None => token::find_token(&server, runner.as_ref(), entry, env)?,
    };
    let (ca, proxy) = way(entry, env);
    Ok(Site { server, kind, repo, pull: None, token, ca, proxy, guessed: false })
}

/// The operator's entry for a server.
fn entry_of<'a>(server: &Url, forges: &'a BTreeMap<String, ForgeEntry>) -> Option<&'a ForgeEntry> {
    forges.values().find(|entry| url_of(entry).is_some_and(|url| is_same_server(&url, server)))
}

/// What a server runs, if this build speaks to such.
fn speaks(server: &Url, kind: Option<Kind>) -> Result<Option<Kind>, Failure> {
    if let Some(kind @ (Kind::Github | Kind::Gitlab)) = kind {
        return Err(Failure::usage(format!("`{server}` is {kind}, which this build does not speak to yet"))
            .with_hint("Gitea, Forgejo and local pulls work: `referee review main..HEAD`"));
    }
    Ok(kind)
}

/// Certificates to trust on the way there, and what stands between.
fn way(entry: Option<&ForgeEntry>, env: &dyn Fn(&str) -> Option<String>) -> (Option<PathBuf>, Option<Url>) {
    let ca = entry.and_then(|entry| entry.ca.as_deref()).map(|file| expand_home(file, env));
    let proxy = entry.and_then(|entry| Url::parse(entry.proxy.as_deref()?).ok());
    (ca, proxy)
}

/// The server, and whether nobody but the remote named it.
fn server(
    named: Option<&RemoteReference>,
    given: &ForgeOptions,
    around: &Around<'_>,
    runner: Option<&CiRunner>,
    origin: Option<&RemoteUrl>,
) -> Result<(Url, bool), Failure> {
    let spoken = named.and_then(|remote| remote.server.as_ref()).or(given.url.as_ref());
    if let Some(server) = spoken.or_else(|| Some(&runner?.server)) {
        return Ok((server.clone(), false));
    }
    let entries: Vec<Url> = around.forges.values().filter_map(url_of).collect();
    let of_origin = entries.iter().find(|url| origin.is_some_and(|origin| origin.is_on(url)));
    // A repository that was named without its server is on the operator's only forge before it is on the remote's.
    let only = if named.is_some() || origin.is_none() { entries.first().filter(|_| entries.len() == 1) } else { None };
    if let Some(url) = of_origin.or(only) {
        return Ok((url.clone(), false));
    }
    match origin {
        Some(origin) => Ok((origin.server.clone(), true)),
        None => Err(Failure::usage("no forge is known here")
            .with_hint("give the address of the pull, `--forge-url URL`, or name the forge in the operator file")),
    }
}

/// Where the forge of an entry is.
pub(crate) fn url_of(entry: &ForgeEntry) -> Option<Url> {
    let public = match entry.kind {
        ForgeKind::Github => "https://github.com",
        ForgeKind::Gitlab => "https://gitlab.com",
        ForgeKind::Gitea | ForgeKind::Forgejo => "",
    };
    Url::parse(entry.url.as_deref().unwrap_or(public)).ok()
}

/// There is no token for a server.
fn no_token(server: &Url, why: &str) -> Failure {
    Failure::new(Ends::Unauthenticated, format!("nothing was read from `{server}`: {why}"))
        .with_hint("set `REFEREE_TOKEN` to a token with `write:repository`, `write:issue` and `read:user`")
        .with_hint("or name one in the operator file: `token = { env = \"…\" }`")
}

impl From<ForgeKind> for Kind {
    fn from(kind: ForgeKind) -> Self {
        match kind {
            ForgeKind::Github => Self::Github,
            ForgeKind::Gitlab => Self::Gitlab,
            ForgeKind::Gitea => Self::Gitea,
            ForgeKind::Forgejo => Self::Forgejo,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Github => "GitHub",
            Self::Gitlab => "GitLab",
            Self::Gitea => "Gitea",
            Self::Forgejo => "Forgejo",
            Self::Local => "the local forge",
        })
    }
}

#[cfg(test)]
mod tests;
