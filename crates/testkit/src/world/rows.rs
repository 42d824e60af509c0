//! The forge's state, as rows.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use referee_core::model::{
    Access, Author, CheckState, CommentId, EditId, IssueNumber, Label, Login, NoteId, PullNumber, PullState, Push,
    RepoId, ReviewId, ReviewKind, ReviewRequest, Sha, Text, ThreadId, Time,
};
use referee_core::track::Side;
use referee_forge::ForgeError;

use super::claim::StoredClaims;
use super::commits::StoredCommit;
use super::quirks::Quirks;
use super::timeline::{StoredReaction, TimelineEvent};

/// The whole state of the forge. Cloning is cheap: commits and pulls are shared until they change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredRepo {
    pub(crate) quirks: Quirks,
    pub(crate) now: Time,
    pub(crate) id: RepoId,
    pub(crate) name: String,
    pub(crate) default_branch: String,
    pub(crate) commits: BTreeMap<Sha, Arc<StoredCommit>>,
    pub(crate) branches: BTreeMap<String, Sha>,
    pub(crate) users: BTreeMap<Login, StoredUser>,
    pub(crate) pulls: BTreeMap<PullNumber, Arc<StoredPull>>,
    pub(crate) issues: BTreeMap<IssueNumber, StoredIssue>,
    /// The latest status of each context.
    pub(crate) statuses: Vec<StoredStatus>,
    /// Statuses that a later one of the same context replaced.
    pub(crate) superseded_statuses: Vec<StoredStatus>,
    pub(crate) claims: StoredClaims,
    /// The labels of the repository, in the order of their creation.
    pub(crate) labels: Vec<String>,
    pub(crate) reactions: Vec<StoredReaction>,
    /// The ids of the next commits, if a test set them.
    pub(crate) next_commit_ids: VecDeque<Sha>,
    id_counters: IdCounters,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredUser {
    pub(crate) access: Access,
    pub(crate) bot: bool,
    pub(crate) deleted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredPull {
    pub(crate) number: PullNumber,
    pub(crate) title: String,
    pub(crate) author: Login,
    pub(crate) branch: String,
    pub(crate) base: String,
    pub(crate) head: Sha,
    pub(crate) head_since: Time,
    pub(crate) state: PullState,
    pub(crate) draft: bool,
    pub(crate) from_fork: bool,
    pub(crate) labels: Vec<Label>,
    pub(crate) assignees: Vec<Login>,
    /// Each with the id of its row in the list of reviews.
    pub(crate) requests: Vec<(ReviewId, ReviewRequest)>,
    pub(crate) reviews: Vec<StoredReview>,
    pub(crate) threads: Vec<StoredThread>,
    pub(crate) comments: Vec<StoredComment>,
    pub(crate) opened_at: Time,
    pub(crate) reopens: Vec<Time>,
    pub(crate) pushes: Vec<Push>,
    /// The timeline without reviews and comments.
    pub(crate) events: Vec<TimelineEvent>,
    /// Posts that wait for their counterpart (`Quirks::posts_swap_comments`).
    pub(crate) unpaired_posts: Vec<(Login, ReviewId)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredReview {
    pub(crate) id: ReviewId,
    pub(crate) edit: EditId,
    pub(crate) author: Login,
    pub(crate) row: ReviewKind,
    pub(crate) original: String,
    /// The current text, hashed once when it is written.
    pub(crate) text: Text,
    pub(crate) commit: Sha,
    pub(crate) at: Time,
    /// The time of the last edit of the text.
    pub(crate) updated: Time,
    /// Whether the author had write access when it was submitted.
    pub(crate) official: bool,
    pub(crate) replaced: bool,
    /// Whether lists flag it as dismissed, because the newer verdict came without inline comments.
    pub(crate) flagged_dismissed: bool,
    pub(crate) requested: bool,
    pub(crate) dismissed: Option<(Option<Login>, Time)>,
    pub(crate) stale: Option<Time>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredThread {
    pub(crate) id: ThreadId,
    pub(crate) review: Option<ReviewId>,
    pub(crate) path: String,
    pub(crate) line: Option<u32>,
    pub(crate) start_line: Option<u32>,
    pub(crate) side: Side,
    pub(crate) commit: Sha,
    pub(crate) notes: Vec<StoredNote>,
    pub(crate) resolved: Option<(Login, Time)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredNote {
    pub(crate) id: NoteId,
    pub(crate) author: Login,
    pub(crate) at: Time,
    /// The time of the forge's last update, which need not be an edit.
    pub(crate) updated: Time,
    pub(crate) edited: bool,
    pub(crate) text: Text,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredComment {
    pub(crate) id: CommentId,
    pub(crate) author: Login,
    pub(crate) at: Time,
    pub(crate) updated: Time,
    pub(crate) edited: bool,
    pub(crate) text: Text,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredIssue {
    pub(crate) open: bool,
    pub(crate) labels: Vec<Label>,
    pub(crate) assignees: Vec<Login>,
    pub(crate) comments: Vec<StoredComment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredStatus {
    pub(crate) id: usize,
    pub(crate) commit: Sha,
    pub(crate) context: String,
    pub(crate) state: CheckState,
    pub(crate) text: String,
}

/// Counters for ids. As on real forges, reviews are numbered separately from texts, so a review and a text may share an id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct IdCounters {
    number: u64,
    review: u64,
    text: u64,
    commit: u64,
}

impl StoredRepo {
    pub(crate) fn new(quirks: Quirks) -> Self {
        let mut repo = Self {
            quirks,
            now: Time(1_794_739_200),
            id: RepoId(42),
            name: "acme/api".to_owned(),
            default_branch: "main".to_owned(),
            commits: BTreeMap::new(),
            branches: BTreeMap::new(),
            users: BTreeMap::new(),
            pulls: BTreeMap::new(),
            issues: BTreeMap::new(),
            statuses: Vec::new(),
            superseded_statuses: Vec::new(),
            claims: StoredClaims::default(),
            labels: Vec::new(),
            reactions: Vec::new(),
            next_commit_ids: VecDeque::new(),
            id_counters: IdCounters::default(),
        };
        let root = repo.store_commit(BTreeMap::new(), Vec::new());
        repo.branches.insert(repo.default_branch.clone(), root);
        repo
    }

    pub(crate) fn pull(&self, number: PullNumber) -> Result<&StoredPull, ForgeError> {
        self.pulls.get(&number).map(AsRef::as_ref).ok_or_else(|| not_found(&number))
    }

    pub(crate) fn pull_mut(&mut self, number: PullNumber) -> Result<&mut StoredPull, ForgeError> {
        self.pulls.get_mut(&number).map(Arc::make_mut).ok_or_else(|| not_found(&number))
    }

    pub(crate) fn issue_mut(&mut self, number: IssueNumber) -> Result<&mut StoredIssue, ForgeError> {
        self.issues.get_mut(&number).ok_or_else(|| not_found(&number))
    }

    /// Returns the author of a login as the forge reports it.
    pub(crate) fn author(&self, login: &Login) -> Author {
        let user = self.users.get(login);
        if user.is_some_and(|user| user.deleted) {
            return Author::default();
        }
        let access = match user {
            _ if self.quirks.access_hidden => Access::Unknown,
            Some(user) => user.access,
            None => Access::Read,
        };
        Author { login: Some(login.clone()), bot: user.is_some_and(|user| user.bot), access }
    }

    pub(crate) fn may_write(&self, login: &Login) -> bool {
        self.users.get(login).is_some_and(|user| user.access == Access::Write && !user.deleted)
    }

    pub(crate) fn next_number(&mut self) -> u64 {
        increment(&mut self.id_counters.number)
    }

    pub(crate) fn next_review_id(&mut self) -> ReviewId {
        ReviewId(increment(&mut self.id_counters.review).to_string())
    }

    pub(crate) fn next_text_id(&mut self) -> String {
        increment(&mut self.id_counters.text).to_string()
    }

    pub(crate) fn next_commit_serial(&mut self) -> u64 {
        increment(&mut self.id_counters.commit)
    }
}

impl StoredPull {
    pub(crate) fn review(&self, id: &ReviewId) -> Result<&StoredReview, ForgeError> {
        self.reviews.iter().find(|review| review.id == *id).ok_or_else(|| not_found(id))
    }

    pub(crate) fn review_mut(&mut self, id: &ReviewId) -> Result<&mut StoredReview, ForgeError> {
        self.reviews.iter_mut().find(|review| review.id == *id).ok_or_else(|| not_found(id))
    }

    pub(crate) fn thread(&self, id: &ThreadId) -> Result<&StoredThread, ForgeError> {
        self.threads.iter().find(|thread| thread.id == *id).ok_or_else(|| not_found(id))
    }

    pub(crate) fn thread_mut(&mut self, id: &ThreadId) -> Result<&mut StoredThread, ForgeError> {
        self.threads.iter_mut().find(|thread| thread.id == *id).ok_or_else(|| not_found(id))
    }

    /// Returns the user's draft.
    pub(crate) fn draft_by(&self, login: &Login) -> Option<&StoredReview> {
        self.reviews.iter().find(|review| review.row == ReviewKind::Draft && review.author == *login)
    }

    /// Returns whether a thread is in a draft.
    pub(crate) fn is_in_draft(&self, thread: &StoredThread) -> bool {
        thread
            .review
            .as_ref()
            .is_some_and(|id| self.reviews.iter().any(|review| review.id == *id && review.row == ReviewKind::Draft))
    }
}

impl StoredThread {
    /// Returns whether the root is this text by this author on this file, in any review (D6).
    pub(crate) fn has_root(&self, author: &Login, path: &str, text: &str) -> bool {
        self.path == path
            && self.notes.first().is_some_and(|root| root.author == *author && root.text.body_or_empty() == text)
    }
}

pub(crate) fn not_found(what: &impl ToString) -> ForgeError {
    ForgeError::NotFound(what.to_string())
}

fn increment(serial: &mut u64) -> u64 {
    *serial += 1;
    *serial
}
