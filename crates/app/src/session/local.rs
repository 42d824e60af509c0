//! A checkout with its local forge and store, and how a reference becomes a local pull.

use referee_core::model::{Login, PullNumber, PullState, Sha, Time};
use referee_forge::local::{LocalError, LocalForge, LocalPull, format_local_name, login_from_git_user};
use referee_forge::{BranchTip, Site, connect};
use referee_git::{CheckedOut, Git};

use super::Options;
use super::connect::read_failure;
use super::pull::UnconfiguredPull;
use super::reference::{PullReference, RemoteReference};
use super::source::GitSource;
use crate::failure::{Failure, FailureKind};
use crate::store::{Store, StoreAccess};

/// A checkout, its local pulls and their store.
#[derive(Debug)]
pub(crate) struct LocalCheckout {
    pub(crate) git: Git,
    pub(crate) forge: LocalForge,
    pub(crate) store: Store,
    /// The git user, who acts on local pulls unless `--as` names another user.
    pub(crate) user: Login,
    access: StoreAccess,
}

/// Base and head of a pull to open or preview.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PullRange {
    base: String,
    head: String,
    /// The head commit, if it is made of the work tree or the index.
    fixed_head: Option<Sha>,
    /// Whether the base has no files, so that the two need no history in common.
    base_is_empty: bool,
}

impl PullRange {
    fn new(base: &str, head: &str) -> Self {
        Self { base: base.to_owned(), head: head.to_owned(), fixed_head: None, base_is_empty: false }
    }
}

impl LocalCheckout {
    /// Opens the checkout of `options.dir`. A read-only store is not created.
    pub(crate) fn open(options: &Options, access: StoreAccess) -> Result<Self, Failure> {
        let git = Git::discover(&options.dir)?;
        let forge = LocalForge::open(git.clone(), now)?;
        let store = Store::open(&git.common_dir().join("referee/state.db"), access, now)?;
        let user = login_from_git_user(&git.author_identity()?);
        Ok(Self { git, forge, store, user, access })
    }

    /// Makes pulls read-only; the store keeps its access (TRI-9).
    pub(crate) fn read_only(self) -> Self {
        Self { access: StoreAccess::Read, ..self }
    }

    /// Resolves a reference to a pull. A writing session opens a pull for a new range; a read-only one previews it.
    pub(crate) fn resolve_pull(&mut self, reference: &PullReference) -> Result<PullNumber, Failure> {
        let range = match reference {
            PullReference::Local(number) | PullReference::Numbered(number) => return self.find_known(*number),
            PullReference::Remote(RemoteReference { repo, number, .. }) => {
                return Err(Failure::usage(format!("`{repo}#{}` is not a local pull", number.0))
                    .with_hint("act on the forge itself"));
            }
            PullReference::Current => match self.last_used()? {
                Some(pull) => return self.find_known(pull),
                None => self.current_range()?,
            },
            PullReference::Range { base, head } => {
                let head = self.resolve_head_name(head)?;
                // Only a full id can name the empty tree, and asking git for it costs a process.
                match matches!(base.len(), 40 | 64) && *base == self.git.empty_tree_id()?.0 {
                    true => PullRange { base_is_empty: true, ..PullRange::new(&self.commit_empty_base()?.0, &head) },
                    false => PullRange::new(base, &head),
                }
            }
            PullReference::WorkTree => {
                PullRange { fixed_head: Some(self.git.commit_work_tree()?), ..PullRange::new("HEAD", "worktree") }
            }
            PullReference::Staged => {
                PullRange { fixed_head: Some(self.git.commit_staged()?), ..PullRange::new("HEAD", "staged") }
            }
        };
        self.open_range(&range)
    }

    /// Returns the pull last used on the current branch, if it is still open.
    fn last_used(&self) -> Result<Option<PullNumber>, Failure> {
        let CheckedOut::Branch { name, .. } = self.git.head()? else { return Ok(None) };
        let Some(last) = self.forge.last_used(&name)? else { return Ok(None) };
        let is_open = |pull: &LocalPull| pull.number == last && pull.branch == name && pull.state == PullState::Open;
        Ok(self.forge.list_pulls()?.iter().any(is_open).then_some(last))
    }

    fn find_known(&self, number: PullNumber) -> Result<PullNumber, Failure> {
        let pulls = self.forge.list_pulls()?;
        if pulls.iter().any(|pull| pull.number == number) {
            if self.access == StoreAccess::Write {
                self.forge.sync_pull(number)?;
            }
            return Ok(number);
        }
        let names: Vec<String> = pulls.iter().rev().take(5).map(|pull| format_local_name(pull.number)).collect();
        let failure = Failure::usage(format!("there is no pull `{}` here", format_local_name(number)));
        Err(if names.is_empty() {
            failure.with_hint("`referee review` opens one for the current branch")
        } else {
            failure.with_hint(format!("there are {}; `referee status` lists them all", names.join(", ")))
        })
    }

    /// Compares the current branch with the default branch; the default branch itself with its remote branch.
    fn current_range(&self) -> Result<PullRange, Failure> {
        let head = match self.git.head()? {
            CheckedOut::Branch { commit: None, name } => {
                return Err(nothing_to_review(format!("nothing to review: `{name}` has no commits yet"))
                    .with_hint("commit something, or review what is staged: `referee review staged`"));
            }
            CheckedOut::Branch { name, .. } => name,
            CheckedOut::Detached(_) => "HEAD".to_owned(),
        };
        let Some(default) = self.git.default_branch()? else {
            return Err(Failure::usage("no default branch is known, so there is no base to compare with")
                .with_hint("name the base: `referee review main..HEAD`"));
        };
        if head != default {
            return Ok(PullRange::new(&default, &head));
        }
        let pushed = format!("origin/{default}");
        if self.git.resolve(&pushed)?.is_some() {
            return Ok(PullRange::new(&pushed, &head));
        }
        Err(nothing_to_review(format!("nothing to review: `{head}` is the default branch itself"))
            .with_hint("review a range: `referee review HEAD~1..HEAD`")
            .with_hint("or what is not committed yet: `referee review .`"))
    }

    /// Replaces `HEAD` by the current branch, since a pull follows a branch.
    fn resolve_head_name(&self, head: &str) -> Result<String, Failure> {
        match (head, self.git.head()?) {
            ("HEAD", CheckedOut::Branch { name, .. }) => Ok(name),
            _ => Ok(head.to_owned()),
        }
    }

    /// Makes a commit without files. A pull that is stored needs it later, so it is protected from garbage collection.
    fn commit_empty_base(&self) -> Result<Sha, Failure> {
        let commit = self.git.commit_empty_tree()?;
        if self.access == StoreAccess::Write {
            self.git.pin_commit(&commit)?;
        }
        Ok(commit)
    }

    fn open_range(&mut self, range: &PullRange) -> Result<PullNumber, Failure> {
        let PullRange { base, head, fixed_head, base_is_empty } = range;
        let base_commit = self.resolve_commit(base)?;
        let head_commit = match fixed_head {
            Some(commit) => commit.clone(),
            None => self.resolve_commit(head)?,
        };
        let merge_base = match self.git.merge_base(&base_commit, &head_commit)? {
            Some(merge_base) => merge_base,
            None if *base_is_empty => base_commit.clone(),
            None => {
                return Err(nothing_to_review(format!("nothing to review: `{base}` and `{head}` share no history"))
                    .with_hint("name a base that the branch came from: `referee review A..B`"));
            }
        };
        let known = self.forge.find_open_pull(head, base)?;
        if known.is_none() && (merge_base == head_commit || !self.git.trees_differ(&merge_base, &head_commit)?) {
            return Err(nothing_to_review(format!("nothing to review: `{base}..{head}` changes nothing"))
                .with_hint(format!("`{head}` is at {}, its base is at {}", head_commit.short(), base_commit.short())));
        }
        match (self.access, fixed_head) {
            (StoreAccess::Read, fixed_head) => {
                // An open pull needs no preview, unless its head is a commit of the work tree.
                if let (Some(pull), None) = (known, fixed_head) {
                    return Ok(pull);
                }
                let (forge, number) = self.forge.preview_range(head, base, &self.user, fixed_head.as_ref())?;
                self.forge = forge;
                Ok(number)
            }
            (StoreAccess::Write, None) => Ok(self.forge.open_range(head, base, &self.user)?),
            (StoreAccess::Write, Some(commit)) => Ok(self.forge.open_range_at(head, base, &self.user, commit)?),
        }
    }

    fn resolve_commit(&self, name: &str) -> Result<Sha, Failure> {
        self.git.resolve(name)?.ok_or_else(|| {
            Failure::usage(format!("`{name}` is not a commit of this repository"))
                .with_hint("`git branch --all` lists the branches; `git fetch` may be missing")
        })
    }

    /// Turns the checkout into one of its pulls.
    pub(super) async fn into_pull(self, pull: PullNumber) -> Result<UnconfiguredPull, Failure> {
        let trusted = self.trusted_base(pull)?;
        let Self { git, forge, store, user, .. } = self;
        let name = format_local_name(pull);
        let site = Site::Local(Box::new(forge.clone()));
        let connected = connect(&site).await.map_err(|error| read_failure(error, &name))?;
        Ok(UnconfiguredPull {
            pull,
            reference: name.clone(),
            key: name.clone(),
            name,
            forge: connected,
            server: None,
            local: Some(forge),
            store,
            writer_lock: Some(git.common_dir().join("referee/writer.lock")),
            source: GitSource::from_checkout(git.clone()),
            checkout: Some(git),
            trusted,
            user: Some(user),
            branch_key: None,
            opened: None,
        })
    }

    /// Returns the branch whose config applies to a pull (SAF-2): its base if that is the default branch, else the default
    /// branch.
    fn trusted_base(&self, pull: PullNumber) -> Result<Option<BranchTip>, Failure> {
        let default = self.git.default_branch()?;
        let base = self.forge.list_pulls()?.into_iter().find(|it| it.number == pull).map(|it| it.base);
        let name = match (default, base) {
            (Some(default), Some(base)) if base.strip_prefix("origin/").unwrap_or(&base) == default => Some(base),
            (Some(default), _) => Some(default),
            (None, base) => base,
        };
        let Some(name) = name else { return Ok(None) };
        Ok(self.git.resolve(&name)?.map(|commit| BranchTip { name, commit }))
    }
}

/// Remembers a pull as the one that commands on the current branch mean (TRI-2).
pub(super) fn mark_used(git: &Git, forge: &LocalForge, pull: PullNumber) -> Result<(), Failure> {
    match git.head()? {
        CheckedOut::Branch { name, .. } if forge.last_used(&name)? != Some(pull) => {
            Ok(forge.set_last_used(&name, pull)?)
        }
        CheckedOut::Branch { .. } | CheckedOut::Detached(_) => Ok(()),
    }
}

impl From<LocalError> for Failure {
    fn from(error: LocalError) -> Self {
        let failure = match &error {
            LocalError::Busy { .. } => Self::new(FailureKind::TryLater, error.to_string()),
            LocalError::NotFound(_) | LocalError::NoSuchRevision(_) => Self::usage(error.to_string()),
            _ => Self::failed(error.to_string()),
        };
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

fn nothing_to_review(message: String) -> Failure {
    Failure::new(FailureKind::NothingToReview, message)
}

/// Returns the time of the system clock, the only clock of a local forge.
pub(crate) fn now() -> Time {
    Time(referee_clock::unix_seconds())
}
