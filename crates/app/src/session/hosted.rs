//! Finds a pull on a server: its number, the branch whose config applies, and the git source.

use std::fs;
use std::path::PathBuf;

use referee_core::hash::Hash;
use referee_core::model::{Pull, PullNumber, Sha};
use referee_forge::{BranchTip, Forge, ListedPull, Reuse};
use referee_git::{CheckedOut, Git};

use super::Options;
use super::connect::{connect_server, open_remote_commits, pull_key, read_failure};
use super::pull::UnconfiguredPull;
use super::reference::{PullReference, RemoteReference};
use super::site::RemoteSite;
use super::source::GitSource;
use crate::failure::{Failure, FailureKind};
use crate::store::{MemoryKind, Store, StoreAccess};
use crate::user_dirs;

pub(super) async fn open(
    options: &Options,
    site: RemoteSite,
    reference: &PullReference,
    access: StoreAccess,
) -> Result<UnconfiguredPull, Failure> {
    let (forge, store) = connect_server(&site, access).await?;
    let checkout = Git::discover(&options.dir).ok();
    let branch_key = branch_key(&site, checkout.as_ref());
    let number = match site.pull {
        Some(number) => number,
        None => find_pull_of_branch(&site, &*forge, &store, checkout.as_ref(), branch_key.as_deref()).await?,
    };
    let name = format!("{}#{}", site.repo, number.0);
    let failure = |error| read_failure(error, &name);
    let fetched = forge.fetch_reusing(number, Reuse::Cached).await.map_err(failure)?;
    let trusted = forge.fetch_trusted_base(&fetched.pull).await.map_err(failure)?;
    let source = open_source(&site, &*forge, checkout.as_ref(), &fetched.pull, &trusted)?;
    let reference = match reference {
        PullReference::Remote(RemoteReference { server: Some(_), .. }) => fetched.pull.url.clone(),
        _ => name.clone(),
    };
    let key = pull_key(&site, number);
    let writer_lock = (access == StoreAccess::Write).then(|| writer_lock_path(&key)).flatten();
    Ok(UnconfiguredPull {
        pull: number,
        name,
        reference,
        key,
        forge,
        server: Some(site.server),
        local: None,
        store,
        checkout,
        source,
        trusted: Some(trusted),
        user: None,
        writer_lock,
        branch_key,
        opened: Some(fetched),
    })
}

fn writer_lock_path(key: &str) -> Option<PathBuf> {
    let folder = user_dirs::state_dir()?.join("writers");
    fs::create_dir_all(&folder).ok()?;
    let Hash(hash) = Hash::digest(key);
    Some(folder.join(format!("{}.lock", &hash[..16])))
}

/// Returns the store's key for the current branch; `None` without one.
fn branch_key(site: &RemoteSite, checkout: Option<&Git>) -> Option<String> {
    let git = checkout?;
    let CheckedOut::Branch { name, .. } = git.head().ok()? else { return None };
    Some(format!("{} {} {} {name}", git.common_dir().display(), site.server, site.repo))
}

/// Finds the pull of the current branch: the one used last if there are several, else the newest.
async fn find_pull_of_branch(
    site: &RemoteSite,
    forge: &dyn Forge,
    store: &Store,
    checkout: Option<&Git>,
    branch_key: Option<&str>,
) -> Result<PullNumber, Failure> {
    let Some(git) = checkout else {
        return Err(Failure::usage(format!("no pull of `{}` was named", site.repo))
            .with_hint("name one: `referee review --pr 7`"));
    };
    let pulls = forge.list_open_pulls().await.map_err(|error| read_failure(error, &site.repo.to_string()))?;
    let (mut matching, what): (Vec<&ListedPull>, String) = match &git.head()? {
        CheckedOut::Branch { name, .. } => {
            (pulls.iter().filter(|pull| pull.head_branch == *name).collect(), format!("the branch `{name}`"))
        }
        CheckedOut::Detached(commit) => {
            (pulls.iter().filter(|pull| pull.head == *commit).collect(), format!("the commit {}", commit.short()))
        }
    };
    // A fork may have a branch of the same name.
    let is_own_branch = |pull: &&ListedPull| {
        pull.head_repo.as_deref().is_some_and(|from| from.eq_ignore_ascii_case(&site.repo.to_string()))
    };
    if matching.iter().any(is_own_branch) {
        matching.retain(is_own_branch);
    }
    let last_used: Option<PullNumber> =
        branch_key.and_then(|key| store.load_memory(key, MemoryKind::LastUsedPull).ok().flatten());
    let found = matching.iter().find(|pull| Some(pull.number) == last_used).or(matching.first());
    found.map(|pull| pull.number).ok_or_else(|| {
        Failure::new(
            FailureKind::NothingToReview,
            format!("nothing to review: `{}` has no open pull for {what}", site.repo),
        )
        .with_hint("open one there, or review it here: `referee review main..HEAD`")
    })
}

/// Opens this checkout if it has every commit that is needed, else a cache that fetches them.
fn open_source(
    site: &RemoteSite,
    forge: &dyn Forge,
    checkout: Option<&Git>,
    pull: &Pull,
    trusted: &BranchTip,
) -> Result<GitSource, Failure> {
    let needed: [&Sha; 3] = [&pull.base_sha, &pull.head, &trusted.commit];
    // A shallow clone may have the commits without their history.
    let has_all = |git: &Git| {
        !git.is_shallow().unwrap_or(true) && needed.iter().all(|commit| git.has_commit(commit).unwrap_or_default())
    };
    if let Some(git) = checkout.filter(|git| has_all(git)) {
        return Ok(GitSource::from_checkout(git.clone()));
    }
    let commits = open_remote_commits(site, forge)?;
    commits.fetch_with_retry(&needed)?;
    Ok(GitSource::from_remote(commits))
}
