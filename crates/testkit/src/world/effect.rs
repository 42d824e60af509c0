use std::fmt;

use referee_core::model::{
    CheckState, CommentId, IssueNumber, Login, NoteId, PullNumber, ReviewId, Sha, ThreadId, Time, Verdict,
};
use referee_forge::ClaimPurpose;

/// One change that a client made to the world, or that the forge made itself. Tests must check every effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    pub at: Time,
    /// `None` for the forge itself.
    pub by: Option<Login>,
    /// The pull; an effect on an issue names the issue in `kind`.
    pub pull: PullNumber,
    pub kind: EffectKind,
}

/// The kind of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectKind {
    ReviewPosted {
        review: ReviewId,
        verdict: Verdict,
        commit: Sha,
        text: String,
        threads: Vec<ThreadId>,
    },
    /// A post was interrupted and left a draft behind.
    DraftLeft {
        review: ReviewId,
    },
    ReviewEdited {
        review: ReviewId,
        text: String,
    },
    /// A summary was edited to say that it is superseded.
    ReviewSuperseded {
        review: ReviewId,
        text: String,
    },
    /// Threads were opened without a verdict.
    ThreadsOpened {
        threads: Vec<ThreadId>,
    },
    Replied {
        thread: ThreadId,
        note: NoteId,
        text: String,
    },
    Resolved {
        thread: ThreadId,
    },
    /// The root of a thread was edited to say that the thread is settled.
    ThreadMarked {
        thread: ThreadId,
        text: String,
    },
    Commented {
        comment: CommentId,
        issue: Option<IssueNumber>,
        text: String,
    },
    CommentEdited {
        comment: CommentId,
        issue: Option<IssueNumber>,
        text: String,
    },
    Labelled {
        name: String,
    },
    Unlabelled {
        name: String,
    },
    Assigned {
        who: Login,
        issue: Option<IssueNumber>,
    },
    Unassigned {
        who: Login,
        issue: Option<IssueNumber>,
    },
    StatusSet {
        commit: Sha,
        context: String,
        state: CheckState,
        text: String,
    },
    Claimed {
        purpose: ClaimPurpose,
        epoch: u64,
    },
    Released {
        purpose: ClaimPurpose,
    },
    Reacted {
        content: String,
    },
    Unreacted {
        content: String,
    },
    PullOpened {
        branch: String,
    },
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
            Self::Reacted { content } => write!(f, "reacts with `{content}`"),
            Self::Unreacted { content } => write!(f, "removes the reaction `{content}`"),
            Self::PullOpened { branch } => write!(f, "opens `{branch}`"),
            Self::Merged => write!(f, "merges"),
        }
    }
}
