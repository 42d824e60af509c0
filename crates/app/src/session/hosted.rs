//! A pull on a server: who asks, which one it is, where its texts are.

use std::fs;
use std::path::PathBuf;

use referee_core::hash::Hash;
use referee_core::model::{Login, Pull, PullNumber, Sha, Time};
use referee_forge::{ForgeError, OpenPullSummary, ProbedServer, Reader, probe_server};
use referee_git::{CheckedOut, Credentials, Git};
use referee_http::{RequestCounts, Token};
use serde::{Deserialize, Serialize};
use url::Url;

use super::pull::PullSession;
use crate::config::ResolvedConfig;
use crate::failure::{Failure, FailureKind};
use crate::forge::AnyForge;
use crate::hosted::Hosted;
use crate::session::Options;
use crate::session::config_files::env;
use crate::session::local::now;
use crate::session::reference::{PullReference, RemoteReference};
use crate::session::remote_commits::RemoteCommits;
use crate::session::site::Site;
use crate::session::source::GitSource;
use crate::store::{MemoryKind, Store, StoreAccess};
use crate::user_dirs;

/// What came of opening.
pub(super) enum Opened {
    /// The pull.
    PullSession(Box<PullSession>),
    /// Nothing there speaks the language of a forge, and nobody said that it would.
    NoForge,
}

/// Finds the pull and all that belongs to it.
pub(super) async fn open(
    options: &Options,
    site: Site,
    target: &PullReference,
    memory: StoreAccess,
) -> Result<Opened, Failure> {
    let Some((forge, store)) = reached(&site, memory).await? else { return Ok(Opened::NoForge) };
    let checkout = Git::discover(&options.dir).ok();
    let branch = branch_of(&site, checkout.as_ref());
    let number = match site.pull {
        Some(number) => number,
        None => of_branch(&site, &forge, &store, checkout.as_ref(), branch.as_deref()).await?,
    };
    let name = format!("{}#{}", site.repo, number.0);
    let told = |error| failure(error, &name);
    let fetched = forge.fetch(number).await.map_err(told)?;
    let trusted = forge.trusted(&fetched.pull).await.map_err(told)?;
    let texts = texts(&site, &forge, checkout.as_ref(), &fetched.pull, &trusted.1)?;
    let words = match target {
        PullReference::Remote(RemoteReference { server: Some(_), .. }) => fetched.pull.url.clone(),
        _ => name.clone(),
    };
    let key = key(&site, number);
    let turnstile = (memory == StoreAccess::Write).then(|| turnstile(&key)).flatten();
    let forge = AnyForge::Hosted(Box::new(forge));
    let (trusted, user) = (Some(trusted), None);
    let case =
        PullSession { pull: number, name, words, key, forge, store, checkout, texts, trusted, user, turnstile, branch };
    Ok(Opened::PullSession(Box::new(case)))
}

/// The forge and the store of all pulls on forges; none where the remote is no forge.
pub(crate) async fn reached(site: &Site, memory: StoreAccess) -> Result<Option<(Hosted, Store)>, Failure> {
    let store = Store::open_for_forges(memory, now);
    let reach = site.reach()?;
    let kept = kept(site);
    let known = store.load_memory::<Kept>(&kept, MemoryKind::ServerInfo).ok().flatten().filter(Kept::holds);
    let mut spent = RequestCounts::default();
    // A token is shown to a server that nobody named only once that says what it is.
    if known.is_none() && site.guessed {
        match probe_server(&reach).await {
            Err(ForgeError::Unsupported(_)) => return Ok(None),
            Err(error @ (ForgeError::Unreachable(_) | ForgeError::RetryLater | ForgeError::OutcomeUnknown)) => {
                return Err(
                    failure(error, site.server.as_str()).with_hint("`--forge-kind local` keeps to this repository")
                );
            }
            Ok(_) | Err(_) => spent.reads = 1,
        }
    }
    let asked = known.is_none();
    let forge = Hosted::open(site, reach, known.map(|kept| kept.known)).await;
    let forge = forge.map_err(|error| failure(error, site.server.as_str()))?.after(spent);
    if asked {
        // Without it the next run asks again.
        let _ = store.save_memory(&kept, MemoryKind::ServerInfo, &Kept { at: now(), known: forge.known() });
    }
    Ok(Some((forge, store)))
}

/// The open pulls of the forge of this checkout.
#[derive(Debug)]
pub(crate) struct ForgePulls {
    site: Site,
    /// The pulls, latest first.
    pub(crate) pulls: Vec<OpenPullSummary>,
}

impl ForgePulls {
    pub(super) async fn of(site: Site) -> Result<Option<Self>, Failure> {
        let Some((forge, _)) = reached(&site, StoreAccess::Read).await? else { return Ok(None) };
        let pulls = forge.open_pulls().await.map_err(|error| failure(error, &site.repo.to_string()))?;
        Ok(Some(Self { site, pulls }))
    }

    /// What people call a pull.
    pub(crate) fn name(&self, number: PullNumber) -> String {
        format!("{}{number}", self.site.repo)
    }

    /// What the store calls it.
    pub(crate) fn key(&self, number: PullNumber) -> String {
        key(&self.site, number)
    }

    /// Whether a pull of the store is of this repository.
    pub(crate) fn holds(&self, key: &str) -> bool {
        key.starts_with(&format!("{}/pulls/", page(&self.site)))
    }
}

/// What a server said of itself and of the token.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    at: Time,
    known: ProbedServer,
}

impl Kept {
    /// Servers get updated, tokens change hands.
    fn holds(&self) -> bool {
        (0..3600).contains(&(now().0 - self.at.0))
    }
}

/// The name under which that is kept: it tells one token from another, and nothing of it.
fn kept(site: &Site) -> String {
    let Hash(hash) = Hash::digest_parts([site.server.as_str(), site.token.reveal()]);
    format!("{} {}", site.server, &hash[..16])
}

/// What the store calls a pull: its page, which is a name that every command takes.
pub(crate) fn key(site: &Site, number: PullNumber) -> String {
    format!("{}/pulls/{}", page(site), number.0)
}

/// Where the pages of the repository begin.
fn page(site: &Site) -> String {
    format!("{}/{}", site.server.as_str().trim_end_matches('/'), site.repo)
}

/// The file that the one holds who writes on a pull.
fn turnstile(key: &str) -> Option<PathBuf> {
    let folder = user_dirs::state_dir()?.join("writers");
    fs::create_dir_all(&folder).ok()?;
    let Hash(hash) = Hash::digest(key);
    Some(folder.join(format!("{}.lock", &hash[..16])))
}

/// The current branch, as the store names it.
fn branch_of(site: &Site, checkout: Option<&Git>) -> Option<String> {
    let git = checkout?;
    let CheckedOut::Branch { name, .. } = git.head().ok()? else { return None };
    Some(format!("{} {} {} {name}", git.common_dir().display(), site.server, site.repo))
}

/// The pull of the current branch: the one used last if there are several, else the latest.
async fn of_branch(
    site: &Site,
    forge: &Hosted,
    store: &Store,
    checkout: Option<&Git>,
    branch: Option<&str>,
) -> Result<PullNumber, Failure> {
    let Some(git) = checkout else {
        return Err(Failure::usage(format!("no pull of `{}` was named", site.repo))
            .with_hint("name one: `referee review --pr 7`"));
    };
    let pulls = forge.open_pulls().await.map_err(|error| failure(error, &site.repo.to_string()))?;
    let head = git.head()?;
    let (mut of_it, what): (Vec<&OpenPullSummary>, String) = match &head {
        CheckedOut::Branch { name, .. } => {
            (pulls.iter().filter(|pull| pull.head_branch == *name).collect(), format!("the branch `{name}`"))
        }
        CheckedOut::Detached(commit) => {
            (pulls.iter().filter(|pull| pull.head == *commit).collect(), format!("the commit {}", commit.short()))
        }
    };
    // A fork may have a branch of that name too.
    let own = |pull: &&OpenPullSummary| {
        pull.head_repo.as_deref().is_some_and(|from| from.eq_ignore_ascii_case(&site.repo.to_string()))
    };
    if of_it.iter().any(own) {
        of_it.retain(own);
    }
    let last: Option<PullNumber> =
        branch.and_then(|branch| store.load_memory(branch, MemoryKind::LastUsedPull).ok().flatten());
    let found = of_it.iter().find(|pull| Some(pull.number) == last).or(of_it.first());
    found.map(|pull| pull.number).ok_or_else(|| {
        Failure::new(
            FailureKind::NothingToReview,
            format!("nothing to review: `{}` has no open pull for {what}", site.repo),
        )
        .with_hint("open one there, or review it here: `referee review main..HEAD`")
    })
}

/// Remembers which pull was used on the current branch.
pub(super) fn used(case: &PullSession) -> Result<(), Failure> {
    let Some(branch) = &case.branch else { return Ok(()) };
    if case.store.load_memory(branch, MemoryKind::LastUsedPull)? != Some(case.pull) {
        case.store.save_memory(branch, MemoryKind::LastUsedPull, &case.pull)?;
    }
    Ok(())
}

/// This checkout if it has all that is needed, else commits fetched into a folder of their own.
fn texts(
    site: &Site,
    forge: &Hosted,
    checkout: Option<&Git>,
    pull: &Pull,
    trusted: &Sha,
) -> Result<GitSource, Failure> {
    let needed = [&pull.base_sha, &pull.head, trusted];
    // A shallow clone has commits and not what led to them.
    let has_all = |git: &Git| {
        !git.is_shallow().unwrap_or(true) && needed.iter().all(|commit| git.has_commit(commit).unwrap_or_default())
    };
    if let Some(git) = checkout.filter(|git| has_all(git)) {
        return Ok(GitSource::from_checkout(git.clone()));
    }
    let elsewhere = elsewhere(site, forge)?;
    elsewhere.fetch_with_retry(&needed)?;
    Ok(GitSource::from_remote(elsewhere))
}

/// The folder of commits that are fetched from a repository.
pub(crate) fn elsewhere(site: &Site, forge: &Hosted) -> Result<RemoteCommits, Failure> {
    let url = format!("{}.git", page(site));
    let credentials = Credentials {
        ca_file: site.ca.clone(),
        proxy: site.proxy.as_ref().map(Url::to_string),
        ..Credentials::new(forge.login().as_str(), site.token.reveal())
    };
    let name = format!("{}-{}.git", site.repo.name, &Hash::digest(&url).0[..16]);
    let folder = user_dirs::cache_dir().map(|folder| folder.join("git").join(name));
    RemoteCommits::open(folder.as_deref(), url, credentials)
}

/// The identities of the roles get their names, and those whose token is here a voice; the fixing side has one too,
/// where it has a token of its own.
pub(crate) async fn identities(
    forge: &mut Hosted,
    setup: &mut ResolvedConfig,
    author: Option<Token>,
) -> Result<(), Failure> {
    let (mut roles, mut hands): (Vec<usize>, Vec<(Option<Login>, Token)>) = (Vec::new(), Vec::new());
    for (at, role) in setup.roles.iter().enumerate() {
        let Some(name) = &role.identity else { continue };
        let Some(identity) = setup.identities.get(name) else { continue };
        match identity.token.as_ref().map(|secret| secret.read(&env)) {
            Some(Ok(text)) => {
                roles.push(at);
                hands.push((identity.login.clone(), Token::new(text.expose())));
            }
            // Another job speaks for it.
            _ if identity.login.is_some() => {}
            Some(Err(error)) => {
                return Err(Failure::usage(format!("nobody can speak for role `{}`: {error}", role.name))
                    .with_hint(format!("give `[identity.{name}]` its `login` where this job has no such token")));
            }
            None => {
                return Err(Failure::usage(format!("nobody can speak for role `{}`", role.name))
                    .with_hint(format!("give `[identity.{name}]` a `token` or a `login`")));
            }
        }
    }
    hands.extend(author.map(|token| (None, token)));
    let spoken = forge.speak(hands, setup.people_write.clone());
    let logins = spoken.await.map_err(|error| failure(error, "the identities of the roles"))?;
    for (at, login) in roles.into_iter().zip(logins) {
        if let Some(role) = setup.policy.roles.get_mut(at) {
            role.identity = Some(login);
        }
    }
    Ok(())
}

/// Why something could not be read from a forge.
pub(crate) fn failure(error: ForgeError, what: &str) -> Failure {
    Failure::from_forge_error(&error, &format!("nothing was read from `{what}`: {error}"))
}
