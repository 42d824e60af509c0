//! A checkout with its local forge and its store: where every command begins.

use std::time::{SystemTime, UNIX_EPOCH};

use referee_core::model::{Login, PullNumber, PullState, Sha, Time};
use referee_forge::{LocalError, LocalForge, LocalPull, format_local_name, login_from_git_user};
use referee_git::{CheckedOut, Git};

use crate::failure::{Failure, FailureKind};
use crate::session::Options;
use crate::session::reference::{PullReference, RemoteReference};
use crate::store::{Store, StoreAccess};

/// A checkout, opened.
#[derive(Debug)]
pub(crate) struct LocalCheckout {
    /// The repository.
    pub(crate) git: Git,
    /// Its pulls.
    pub(crate) forge: LocalForge,
    /// What is remembered of them.
    pub(crate) store: Store,
    /// The git user.
    pub(crate) user: Login,
    access: StoreAccess,
}

/// The head and the base of a pull that is about to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    base: String,
    head: String,
    /// The head where it is no branch: a commit of the work tree or of the index.
    at: Option<Sha>,
}

impl LocalCheckout {
    /// The checkout that the command was started in. A reader makes and changes nothing.
    pub(crate) fn open(options: &Options, access: StoreAccess) -> Result<Self, Failure> {
        let git = Git::discover(&options.dir)?;
        let forge = LocalForge::open(git.clone(), now)?;
        let store = Store::open(&git.common_dir().join("referee/state.db"), access, now)?;
        let user = login_from_git_user(&git.author_identity()?);
        Ok(Self { git, forge, store, user, access })
    }

    /// The same for a command that writes on no pull, whatever it remembers (TRI-9).
    pub(crate) fn reading(self) -> Self {
        Self { access: StoreAccess::Read, ..self }
    }

    /// The pull that the words mean. Opened on first use by a run that may write; a reader looks at it as it would be.
    pub(crate) fn pull(&mut self, target: &PullReference) -> Result<PullNumber, Failure> {
        let range = match target {
            PullReference::Local(number) | PullReference::Numbered(number) => return self.known(*number),
            PullReference::Remote(RemoteReference { repo, number, .. }) => {
                return Err(Failure::usage(format!("`{repo}#{}` is no local pull", number.0))
                    .with_hint("act on the forge itself"));
            }
            PullReference::Current => match self.last_used()? {
                Some(pull) => return self.known(pull),
                None => self.current()?,
            },
            PullReference::Range { base, head } => Range { base: base.clone(), head: self.named(head)?, at: None },
            PullReference::WorkTree => {
                Range { base: "HEAD".to_owned(), head: "worktree".to_owned(), at: Some(self.git.commit_work_tree()?) }
            }
            PullReference::Staged => {
                Range { base: "HEAD".to_owned(), head: "staged".to_owned(), at: Some(self.git.commit_staged()?) }
            }
        };
        self.opened(&range)
    }

    /// The pull last used here, if it is open and of the current branch.
    fn last_used(&self) -> Result<Option<PullNumber>, Failure> {
        let CheckedOut::Branch { name, .. } = self.git.head()? else { return Ok(None) };
        let Some(last) = self.forge.last_used(&name)? else { return Ok(None) };
        let open = |pull: &LocalPull| pull.number == last && pull.branch == name && pull.state == PullState::Open;
        Ok(self.forge.list_pulls()?.iter().any(open).then_some(last))
    }

    fn known(&self, number: PullNumber) -> Result<PullNumber, Failure> {
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

    /// The current branch over the default one; on the default branch, over what was pushed of it.
    fn current(&self) -> Result<Range, Failure> {
        let head = match self.git.head()? {
            CheckedOut::Branch { commit: None, name } => {
                return Err(nothing(format!("nothing to review: `{name}` has no commits yet"))
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
            return Ok(Range { base: default, head, at: None });
        }
        let pushed = format!("origin/{default}");
        if self.git.resolve(&pushed)?.is_some() {
            return Ok(Range { base: pushed, head, at: None });
        }
        Err(nothing(format!("nothing to review: `{head}` is the default branch itself"))
            .with_hint("review a range: `referee review HEAD~1..HEAD`")
            .with_hint("or what is not committed yet: `referee review .`"))
    }

    /// `HEAD` stands for the branch it is on: a pull follows a branch.
    fn named(&self, head: &str) -> Result<String, Failure> {
        match (head, self.git.head()?) {
            ("HEAD", CheckedOut::Branch { name, .. }) => Ok(name),
            _ => Ok(head.to_owned()),
        }
    }

    fn opened(&mut self, range: &Range) -> Result<PullNumber, Failure> {
        let Range { base, head, at } = range;
        let base_at = self.commit(base)?;
        let head_at = match at {
            Some(commit) => commit.clone(),
            None => self.commit(head)?,
        };
        let from = self.git.merge_base(&base_at, &head_at)?;
        let Some(from) = from else {
            return Err(nothing(format!("nothing to review: `{base}` and `{head}` share no history"))
                .with_hint("name a base that the branch came from: `referee review A..B`"));
        };
        let known = self.forge.find_open_pull(head, base)?;
        if known.is_none() && (from == head_at || !self.git.trees_differ(&from, &head_at)?) {
            return Err(nothing(format!("nothing to review: `{base}..{head}` changes nothing")).with_hint(format!(
                "`{head}` is at {}, its base is at {}",
                head_at.short(),
                base_at.short()
            )));
        }
        match (self.access, at) {
            (StoreAccess::Read, at) => {
                // What is open already needs no preview, unless its head is set.
                if let (Some(pull), None) = (known, at) {
                    return Ok(pull);
                }
                let (forge, number) = self.forge.preview_range(head, base, &self.user, at.as_ref())?;
                self.forge = forge;
                Ok(number)
            }
            (StoreAccess::Write, None) => Ok(self.forge.open_range(head, base, &self.user)?),
            (StoreAccess::Write, Some(commit)) => Ok(self.forge.open_range_at(head, base, &self.user, commit)?),
        }
    }

    fn commit(&self, name: &str) -> Result<Sha, Failure> {
        self.git.resolve(name)?.ok_or_else(|| {
            Failure::usage(format!("`{name}` is no commit of this repository"))
                .with_hint("`git branch --all` lists the branches; `git fetch` may be missing")
        })
    }
}

/// This pull is the one that commands on the current branch mean from now on (TRI-2).
pub(crate) fn used(git: &Git, forge: &LocalForge, pull: PullNumber) -> Result<(), Failure> {
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

fn nothing(message: String) -> Failure {
    Failure::new(FailureKind::NothingToReview, message)
}

/// The machine's clock: the only one that a local forge has. Tests set it, since pauses take minutes.
pub(crate) fn now() -> Time {
    if let Some(set) = crate::session::config_files::env("REFEREE_TEST_NOW").and_then(|seconds| seconds.parse().ok()) {
        return Time(set);
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
