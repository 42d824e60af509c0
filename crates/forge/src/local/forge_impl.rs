//! `Reader` and `Forge` of the local forge.

use std::collections::BTreeMap;
use std::sync::Arc;

use referee_core::hash::Hash;
use referee_core::model::{
    Board, Capabilities, Completeness, Login, Mergeable, Pull, PullNumber, PullState, RepoId, Sha, Span, Thread, Time,
    Viewer,
};
use referee_core::plan::{Delivery, DiffLocation, Gate};
use referee_git::MergeOutcome;
use rusqlite::{OptionalExtension, Transaction, params};

use super::commit_files::CommitFiles;
use super::fetch::{PullActivity, local_author, thread_location};
use super::names::{BOT_LOGIN, format_local_name};
use super::pulls::{LocalPull, LocalPullRecord};
use super::resolved_pull::{ResolvedPull, resolve_revision};
use super::{LocalError, LocalForge, MAX_TEXT_BYTES, claim, pulls};
use crate::{
    ActionRequest, BranchTip, ClaimOutcome, ClaimPurpose, FetchedPull, Forge, ForgeError, ForgeInfo, ForgeKind,
    Identity, ListedPull, PerformOutcome, Permit, Reader, Reuse,
};

/// What Marks and Tags on local pulls are sealed for.
const FORGE_NAME: &str = "local";

#[async_trait::async_trait]
impl Reader for LocalForge {
    fn info(&self) -> ForgeInfo {
        let login = Login::from(BOT_LOGIN);
        let others = self.identities.iter().filter(|held| **held != login).cloned();
        ForgeInfo {
            kind: ForgeKind::Local,
            version: String::new(),
            held_logins: std::iter::once(login.clone()).chain(others).collect(),
            login,
            capabilities: local_capabilities(),
            cache_scope: format!("local/{}", self.git.common_dir().display()),
        }
    }

    async fn fetch_reusing(&self, pull: PullNumber, _: Reuse<'_>) -> Result<FetchedPull, ForgeError> {
        Ok(self.fetch_pull(pull)?)
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        Ok(ResolvedPull::resolve(&self.git, &self.load_record(pull)?)?.head)
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        let open = self.list_pulls()?.into_iter().filter(|pull| pull.state == PullState::Open);
        let pulls = open.map(|pull| pull.number).collect();
        let repo = self.database.read(load_repository_id)?.flatten();
        Ok(Board {
            forge: FORGE_NAME.to_owned(),
            repo: repo.unwrap_or_else(|| self.derive_repository_id(Time(0))),
            viewer: self.viewer(),
            taken_at: (self.now)(),
            pulls,
            ..Board::default()
        })
    }

    async fn list_open_pulls(&self) -> Result<Vec<ListedPull>, ForgeError> {
        let open = self.list_pulls()?.into_iter().rev().filter(|pull| pull.state == PullState::Open);
        let listed = |pull: LocalPull| ListedPull {
            number: pull.number,
            title: pull.title,
            head_branch: pull.branch,
            head_repo: Some(self.repository_name()),
            head: pull.head,
            base: pull.base,
        };
        Ok(open.map(listed).collect())
    }

    async fn fetch_default_branch(&self) -> Result<BranchTip, ForgeError> {
        let missing = || LocalError::NoSuchRevision("main".to_owned());
        let name = self.git.default_branch().map_err(LocalError::from)?.ok_or_else(missing)?;
        let commit = resolve_revision(&self.git, &name)?.ok_or_else(missing)?;
        Ok(BranchTip { name, commit })
    }

    async fn fetch_trusted_base(&self, pull: &Pull) -> Result<BranchTip, ForgeError> {
        let default = self.fetch_default_branch().await?;
        if pull.base == default.name || pull.base.strip_prefix("origin/") == Some(default.name.as_str()) {
            return Ok(BranchTip { name: pull.base.clone(), commit: pull.base_sha.clone() });
        }
        Ok(default)
    }

    /// A local pull has no labels with ids.
    async fn fetch_labels(&self) -> Result<BTreeMap<u64, String>, ForgeError> {
        Ok(BTreeMap::new())
    }
}

#[async_trait::async_trait]
impl Forge for LocalForge {
    async fn perform(&self, pull: PullNumber, request: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        Ok(self.perform_action(pull, request.by, request.action, request.expect)?)
    }

    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        self.load_record(pull)?;
        let (by, now) = (Login::from(BOT_LOGIN), (self.now)());
        Ok(self.write(|tx| claim::acquire(tx, pull, purpose, &by, (now, ttl)))?)
    }

    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError> {
        self.load_record(pull)?;
        Ok(self.write(|tx| claim::release(tx, pull, purpose, epoch))?)
    }

    async fn open_pull(&self, delivery: &Delivery, by: &Login, permit: &Permit) -> Result<PullNumber, ForgeError> {
        let Delivery::OpenPull { branch, commit, title, body, epoch: _ } = delivery else {
            return Err(ForgeError::Unsupported("open a pull for a push".to_owned()));
        };
        if permit.gate() != Gate::Work {
            return Err(ForgeError::Forbidden("open pulls".to_owned()));
        }
        if !self.identities.contains(by) {
            return Err(ForgeError::Unauthenticated);
        }
        Ok(self.open_delivered_pull(branch, commit, (title.as_str(), body.as_str()), by)?)
    }

    async fn with_identities(&self, identities: Vec<Identity>) -> Result<(Arc<dyn Forge>, Vec<Login>), ForgeError> {
        let logins: Vec<Login> = identities.into_iter().filter_map(|identity| identity.login).collect();
        let mut forge = self.clone();
        forge.identities.extend(logins.iter().cloned());
        Ok((Arc::new(forge), logins))
    }
}

impl LocalForge {
    fn fetch_pull(&self, pull: PullNumber) -> Result<FetchedPull, LocalError> {
        let kept = self.load_record(pull)?;
        let tip = ResolvedPull::resolve(&self.git, &kept)?;
        let read = self.database.read(|tx| {
            Ok((load_repository_id(tx)?, PullActivity::load(tx, pull, &tip.head)?, claim::read_work_lease(tx, pull)?))
        })?;
        let (repo, talk, lease) = read.unwrap_or_default();
        let threads = self.mark_outdated(talk.threads, &tip)?;
        Ok(FetchedPull {
            taken_at: (self.now)(),
            viewer: self.viewer(),
            capabilities: local_capabilities(),
            complete: Completeness::Complete,
            is_fresh: true,
            head_read_last: true,
            pull: Pull {
                forge: FORGE_NAME.to_owned(),
                repo: repo.unwrap_or_else(|| self.derive_repository_id(Time(0))),
                repo_name: self.repository_name(),
                number: pull,
                title: kept.title,
                author: local_author(kept.author.0.clone(), self.identities.contains(&kept.author)),
                state: tip.state,
                draft: false,
                head_since: tip.head_since(),
                base: kept.base,
                mergeable: self.check_mergeable(&tip),
                pushable: Some(true),
                labels: talk.labels,
                // Nobody but referee labels a local pull.
                removed_labels: Vec::new(),
                assignees: talk.assignees,
                requests: Vec::new(),
                opened_at: kept.opened_at,
                reopens: kept.reopens,
                head: tip.head,
                base_sha: tip.base_sha,
                pushes: tip.pushes,
                url: format_local_name(pull),
            },
            reviews: talk.reviews,
            threads,
            comments: talk.comments,
            checks: talk.checks,
            lease,
            memento: None,
        })
    }

    fn viewer(&self) -> Viewer {
        Viewer { login: Login::from(BOT_LOGIN), holds: self.identities.clone() }
    }

    /// Marks the threads whose lines changed since they were opened.
    fn mark_outdated(&self, threads: Vec<(Thread, Sha)>, tip: &ResolvedPull) -> Result<Vec<Thread>, LocalError> {
        let places: Vec<DiffLocation> = threads.iter().map(|(thread, _)| thread_location(thread)).collect();
        let moved = || threads.iter().zip(&places).filter(|((_, commit), _)| *commit != tip.head);
        let wanted = moved().flat_map(|((_, commit), place)| [(commit, place), (&tip.head, place)]);
        let texts = CommitFiles::load(&self.git, &tip.base_sha, wanted)?;
        let outdated: Vec<bool> = threads
            .iter()
            .zip(&places)
            .map(|((_, commit), place)| *commit != tip.head && texts.is_outdated(place, commit, &tip.head))
            .collect();
        let aged = threads.into_iter().zip(outdated);
        Ok(aged.map(|((thread, _), outdated)| Thread { outdated, ..thread }).collect())
    }

    /// Tries to merge the head into the base. In a read-only checkout that is impossible, and the result unknown.
    fn check_mergeable(&self, tip: &ResolvedPull) -> Mergeable {
        match self.git.try_merge(&tip.base_sha, &tip.head) {
            Ok(MergeOutcome::Clean(_)) => Mergeable::Clean,
            Ok(MergeOutcome::Conflicts { .. }) => Mergeable::Conflict,
            Ok(MergeOutcome::Unrelated) | Err(_) => Mergeable::Unknown,
        }
    }

    /// Opens a pull for a worker's branch; its head is the given commit until the branch moves.
    fn open_delivered_pull(
        &self,
        branch: &str,
        commit: &Sha,
        (title, body): (&str, &str),
        by: &Login,
    ) -> Result<PullNumber, LocalError> {
        let base = self.git.default_branch()?.ok_or_else(|| LocalError::NoSuchRevision("main".to_owned()))?;
        if !self.git.has_commit(commit)? {
            return Err(LocalError::Refused("there is no such commit".to_owned()));
        }
        let fresh = self.build_record(branch, &base, by, Some(commit))?;
        let fresh = LocalPullRecord { head_source: pulls::HeadSource::Branch, title: title.to_owned(), ..fresh };
        self.open_from_record(&fresh, body)
    }

    /// Stores the id of the repository with the first pull, so that it survives a move of the directory.
    pub(super) fn ensure_repository_id(&self, tx: &Transaction<'_>) -> Result<(), LocalError> {
        let now = (self.now)();
        let id = self.derive_repository_id(now).0.cast_signed();
        tx.execute("INSERT OR IGNORE INTO repository (one, id, made_at) VALUES (1, ?1, ?2)", params![id, now.0])?;
        Ok(())
    }

    fn derive_repository_id(&self, made_at: Time) -> RepoId {
        let folder = self.git.common_dir().to_string_lossy();
        let Hash(hex) = Hash::digest_parts([folder.as_ref(), &made_at.0.to_string()]);
        // Twelve hex digits: JSON numbers are exact up to 53 bits.
        RepoId(hex.get(..12).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default())
    }

    /// Returns the directory's name: `api` for `api/.git` and for `api.git`.
    fn repository_name(&self) -> String {
        let folder = self.git.common_dir();
        let named = if folder.ends_with(".git") { folder.parent().unwrap_or(folder) } else { folder };
        let name = named.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.strip_suffix(".git").map_or_else(|| name.clone(), str::to_owned)
    }
}

fn local_capabilities() -> Capabilities {
    Capabilities { max_text: MAX_TEXT_BYTES, max_block: None, ..Capabilities::default() }
}

fn load_repository_id(tx: &Transaction<'_>) -> Result<Option<RepoId>, LocalError> {
    let id: Option<i64> = tx.query_row("SELECT id FROM repository", [], |row| row.get(0)).optional()?;
    Ok(id.map(|id| RepoId(id.cast_unsigned())))
}
