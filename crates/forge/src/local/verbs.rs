//! The forge's verbs, as every forge has them.

use referee_core::hash::Hash;
use referee_core::model::{
    Board, Capabilities, Completeness, Login, Mergeable, Pull, PullNumber, PullState, RepoId, Sha, Span, Thread, Time,
    Viewer,
};
use referee_core::plan::{Delivery, Gate, Place};
use referee_git::Merges;
use rusqlite::{OptionalExtension, Transaction, params};

use super::fetch::{Talk, author, place_of};
use super::names::{BOT, local_name};
use super::place::Texts;
use super::pulls::Kept;
use super::tip::Tip;
use super::{LocalError, LocalForge, MAX_TEXT, claim, pulls};
use crate::{Claimed, Errand, Fetched, Forge, ForgeError, Performed, Permit, Purpose, Reader};

/// What Marks and Tags on local pulls are sealed for.
const FORGE: &str = "local";

#[async_trait::async_trait]
impl Reader for LocalForge {
    async fn fetch(&self, pull: PullNumber) -> Result<Fetched, ForgeError> {
        Ok(self.fetched(pull)?)
    }

    async fn head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        Ok(Tip::of(&self.git, &self.kept(pull)?)?.head)
    }

    async fn board(&self) -> Result<Board, ForgeError> {
        let open = self.pulls()?.into_iter().filter(|pull| pull.state == PullState::Open);
        let pulls = open.map(|pull| pull.number).collect();
        let repo = self.store.read(repository)?.flatten();
        Ok(Board {
            forge: FORGE.to_owned(),
            repo: repo.unwrap_or_else(|| self.repository_id(Time(0))),
            viewer: self.viewer(),
            taken_at: (self.now)(),
            pulls,
            ..Board::default()
        })
    }
}

#[async_trait::async_trait]
impl Forge for LocalForge {
    async fn perform(&self, pull: PullNumber, errand: &Errand<'_>) -> Result<Performed, ForgeError> {
        Ok(self.act(pull, errand.by, errand.action, errand.expect)?)
    }

    async fn claim(&self, pull: PullNumber, purpose: Purpose, ttl: Span) -> Result<Claimed, ForgeError> {
        self.kept(pull)?;
        let (by, now) = (Login::from(BOT), (self.now)());
        Ok(self.write(|tx| claim::claim(tx, pull, purpose, &by, (now, ttl)))?)
    }

    async fn release(&self, pull: PullNumber, purpose: Purpose, epoch: u64) -> Result<(), ForgeError> {
        self.kept(pull)?;
        Ok(self.write(|tx| claim::release(tx, pull, purpose, epoch))?)
    }

    async fn open_pull(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError> {
        let Delivery::OpenPull { branch, commit, title, body, epoch: _ } = delivery else {
            return Err(ForgeError::Unsupported("open a pull for a push".to_owned()));
        };
        if permit.gate() != Gate::Work {
            return Err(ForgeError::Forbidden("open pulls".to_owned()));
        }
        Ok(self.deliver(branch, commit, title.as_str(), body.as_str())?)
    }
}

impl LocalForge {
    fn fetched(&self, pull: PullNumber) -> Result<Fetched, LocalError> {
        let kept = self.kept(pull)?;
        let tip = Tip::of(&self.git, &kept)?;
        let read =
            self.store.read(|tx| Ok((repository(tx)?, Talk::read(tx, pull, &tip.head)?, claim::lease(tx, pull)?)))?;
        let (repo, talk, lease) = read.unwrap_or_default();
        let threads = self.aged(talk.threads, &tip)?;
        Ok(Fetched {
            taken_at: (self.now)(),
            viewer: self.viewer(),
            capabilities: Capabilities { max_text: MAX_TEXT, ..Capabilities::default() },
            complete: Completeness::Complete,
            whole: true,
            pull: Pull {
                forge: FORGE.to_owned(),
                repo: repo.unwrap_or_else(|| self.repository_id(Time(0))),
                repo_name: self.repository_name(),
                number: pull,
                title: kept.title,
                author: author(kept.author.0.clone(), self.holds.contains(&kept.author)),
                state: tip.state,
                draft: false,
                head_since: tip.since(),
                base: kept.base,
                mergeable: self.mergeable(&tip),
                pushable: Some(true),
                labels: talk.labels,
                assignees: talk.assignees,
                requests: Vec::new(),
                opened_at: kept.opened_at,
                reopens: kept.reopens,
                head: tip.head,
                base_sha: tip.base_sha,
                pushes: tip.pushes,
                url: local_name(pull),
            },
            reviews: talk.reviews,
            threads,
            comments: talk.comments,
            checks: talk.checks,
            lease,
        })
    }

    fn viewer(&self) -> Viewer {
        Viewer { login: Login::from(BOT), holds: self.holds.clone() }
    }

    /// Threads with what git says of their places.
    fn aged(&self, threads: Vec<(Thread, Sha)>, tip: &Tip) -> Result<Vec<Thread>, LocalError> {
        let places: Vec<Place> = threads.iter().map(|(thread, _)| place_of(thread)).collect();
        let moved = || threads.iter().zip(&places).filter(|((_, commit), _)| *commit != tip.head);
        let wanted = moved().flat_map(|((_, commit), place)| [(commit, place), (&tip.head, place)]);
        let texts = Texts::read(&self.git, &tip.base_sha, wanted)?;
        let outdated: Vec<bool> = threads
            .iter()
            .zip(&places)
            .map(|((_, commit), place)| *commit != tip.head && texts.is_outdated(place, commit, &tip.head))
            .collect();
        let aged = threads.into_iter().zip(outdated);
        Ok(aged.map(|((thread, _), outdated)| Thread { outdated, ..thread }).collect())
    }

    /// Whether the head merges into the base now. What cannot be tried, as in a checkout that may only be read, is
    /// not known.
    fn mergeable(&self, tip: &Tip) -> Mergeable {
        match self.git.merges(&tip.base_sha, &tip.head) {
            Ok(Merges::Cleanly(_)) => Mergeable::Clean,
            Ok(Merges::Conflicts(_)) => Mergeable::Conflict,
            Ok(Merges::Unrelated) | Err(_) => Mergeable::Unknown,
        }
    }

    /// Opens a pull for a branch that a worker left; its head is what the worker says, until the branch moves.
    fn deliver(&self, branch: &str, commit: &Sha, title: &str, body: &str) -> Result<PullNumber, LocalError> {
        let base = self.git.default_branch()?.ok_or_else(|| LocalError::NoSuchRevision("main".to_owned()))?;
        if !self.git.has(commit)? {
            return Err(LocalError::Refused("there is no such commit".to_owned()));
        }
        let fresh = self.unopened(branch, &base, &Login::from(BOT), Some(commit))?;
        let fresh = Kept { follows: pulls::Follows::Branch, title: title.to_owned(), ..fresh };
        self.open_kept(&fresh, body)
    }

    /// The repository's own number, made with the first pull: it survives a move of the folder.
    pub(super) fn ensure_repository(&self, tx: &Transaction<'_>) -> Result<(), LocalError> {
        let now = (self.now)();
        let id = self.repository_id(now).0.cast_signed();
        tx.execute("INSERT OR IGNORE INTO repository (one, id, made_at) VALUES (1, ?1, ?2)", params![id, now.0])?;
        Ok(())
    }

    fn repository_id(&self, made_at: Time) -> RepoId {
        let folder = self.git.common_dir().to_string_lossy();
        let Hash(hex) = Hash::of_parts([folder.as_ref(), &made_at.0.to_string()]);
        // Twelve digits: any reader of JSON keeps such a number whole.
        RepoId(hex.get(..12).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default())
    }

    /// The folder's name: `api` for `api/.git` and for `api.git`.
    fn repository_name(&self) -> String {
        let folder = self.git.common_dir();
        let named = if folder.ends_with(".git") { folder.parent().unwrap_or(folder) } else { folder };
        let name = named.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.strip_suffix(".git").map_or_else(|| name.clone(), str::to_owned)
    }
}

fn repository(tx: &Transaction<'_>) -> Result<Option<RepoId>, LocalError> {
    let id: Option<i64> = tx.query_row("SELECT id FROM repository", [], |row| row.get(0)).optional()?;
    Ok(id.map(|id| RepoId(id.cast_unsigned())))
}
