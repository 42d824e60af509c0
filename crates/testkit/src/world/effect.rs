use std::fmt;

use referee_core::model::{
    CheckState, CommentId, IssueNumber, Login, NoteId, PullNumber, ReviewId, Sha, ThreadId, Time, Verdict,
};
use referee_forge::ClaimPurpose;

/// One change that a seat made to the world, or that the forge made on its own. Tests must look at each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// When.
    pub at: Time,
    /// Who; `None` is the forge itself.
    pub by: Option<Login>,
    /// On which pull; an issue's effect names the issue in `what`.
    pub pull: PullNumber,
    /// What.
    pub kind: EffectKind,
}

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectKind {
    /// A review was posted.
    ReviewPosted { review: ReviewId, verdict: Verdict, commit: Sha, text: String, threads: Vec<ThreadId> },
    /// A post broke off and left a draft.
    DraftLeft { review: ReviewId },
    /// A summary was edited.
    ReviewEdited { review: ReviewId, text: String },
    /// A summary was edited to say that it no longer holds.
    ReviewSuperseded { review: ReviewId, text: String },
    /// Threads were opened beside a review.
    ThreadsOpened { threads: Vec<ThreadId> },
    /// Somebody replied.
    Replied { thread: ThreadId, note: NoteId, text: String },
    /// A thread was resolved.
    Resolved { thread: ThreadId },
    /// A thread's root says that it is settled.
    ThreadMarked { thread: ThreadId, text: String },
    /// A comment was written.
    Commented { comment: CommentId, issue: Option<IssueNumber>, text: String },
    /// A comment was edited.
    CommentEdited { comment: CommentId, issue: Option<IssueNumber>, text: String },
    /// A label was put on.
    Labelled { name: String },
    /// A label was taken off.
    Unlabelled { name: String },
    /// Somebody was assigned.
    Assigned { who: Login, issue: Option<IssueNumber> },
    /// Somebody gave the assignment back.
    Unassigned { who: Login, issue: Option<IssueNumber> },
    /// A status was written.
    StatusSet { commit: Sha, context: String, state: CheckState, text: String },
    /// A claim was taken.
    Claimed { purpose: ClaimPurpose, epoch: u64 },
    /// A claim was given back.
    Released { purpose: ClaimPurpose },
    /// A reaction was left.
    Reacted { word: String },
    /// A reaction was taken back.
    Unreacted { word: String },
    /// A pull was opened.
    PullOpened { branch: String },
    /// The pull was merged.
    Merged,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = self.by.as_ref().map_or("the forge", Login::as_str);
        write!(f, "{by} {} on {}", self.kind, self.pull)
    }
}

impl fmt::Display for EffectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReviewPosted { verdict, commit, threads, .. } => {
                write!(f, "posts `{verdict}` at {} with {} threads", commit.short(), threads.len())
            }
            Self::DraftLeft { review } => write!(f, "leaves draft {review}"),
            Self::ReviewEdited { review, .. } => write!(f, "edits review {review}"),
            Self::ReviewSuperseded { review, .. } => write!(f, "supersedes review {review}"),
            Self::ThreadsOpened { threads } => write!(f, "opens {} threads", threads.len()),
            Self::Replied { thread, .. } => write!(f, "replies in {thread}"),
            Self::Resolved { thread } => write!(f, "resolves {thread}"),
            Self::ThreadMarked { thread, .. } => write!(f, "marks {thread} in its text"),
            Self::Commented { issue: None, .. } => write!(f, "comments"),
            Self::Commented { issue: Some(issue), .. } => write!(f, "comments on issue {issue}"),
            Self::CommentEdited { comment, .. } => write!(f, "edits comment {comment}"),
            Self::Labelled { name } => write!(f, "labels `{name}`"),
            Self::Unlabelled { name } => write!(f, "unlabels `{name}`"),
            Self::Assigned { who, issue: None } => write!(f, "assigns {who}"),
            Self::Assigned { who, issue: Some(issue) } => write!(f, "assigns {who} to issue {issue}"),
            Self::Unassigned { who, .. } => write!(f, "unassigns {who}"),
            Self::StatusSet { context, state, .. } => write!(f, "sets `{context}` to {state:?}"),
            Self::Claimed { purpose, epoch } => write!(f, "claims {purpose:?} as {epoch}"),
            Self::Released { purpose } => write!(f, "releases {purpose:?}"),
            Self::Reacted { word } => write!(f, "reacts with `{word}`"),
            Self::Unreacted { word } => write!(f, "takes `{word}` back"),
            Self::PullOpened { branch } => write!(f, "opens `{branch}`"),
            Self::Merged => write!(f, "merges"),
        }
    }
}
