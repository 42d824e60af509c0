//! The closed set of actions on a forge. Actions that must never happen are not in it: merge, close, push, dismiss, and
//! deleting anybody's text (SAF-1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mark::{Block, Mark, Tag};
use crate::model::{
    CheckState, CommentId, EditId, FindingId, IssueNumber, Login, NoteId, ReviewId, RoleName, Sha, ThreadId, Verdict,
};
use crate::sanitise::SafeText;
use crate::track::Side;

/// One action on a forge. `T` is the type of its text: a `TextDraft` in a plan, signed text when it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action<T = TextDraft> {
    /// Post a new review with its threads.
    PostReview {
        role: RoleName,
        /// The verdict it is posted with.
        verdict: Verdict,
        /// The full id of the commit.
        commit: Sha,
        /// The summary.
        text: T,
        threads: Vec<NewThread<T>>,
    },
    /// Edit the summary of referee's review.
    EditReview {
        review: ReviewId,
        /// The id that the forge's edit request needs.
        edit: EditId,
        text: T,
    },
    /// Mark referee's approval as superseded (PUB-5).
    Supersede {
        review: ReviewId,
        /// The review that takes its place. `None`: the same plan posts it, and its address is not known yet.
        successor: Option<ReviewId>,
        /// The id that the forge's edit request needs.
        edit: EditId,
        /// The new text, with the old one folded below.
        text: T,
    },
    /// Open threads beside a standing review (PUB-4).
    OpenThreads {
        role: RoleName,
        commit: Sha,
        threads: Vec<NewThread<T>>,
    },
    Reply {
        thread: ThreadId,
        text: T,
    },
    /// Resolve a thread; where the forge cannot, mark referee's root note (FIX-12).
    Resolve {
        thread: ThreadId,
        /// The root note and its new text, where the forge cannot resolve.
        mark: Option<(NoteId, T)>,
    },
    /// Create or edit the one comment of a topic, found by its Tag (D13).
    EnsureComment {
        /// The comment to edit; `None` creates one.
        existing: Option<CommentId>,
        target: CommentTarget,
        text: T,
    },
    /// Set a label on the pull, or remove one that referee set.
    SetLabel {
        name: String,
        on: bool,
    },
    /// Assign somebody, or remove the assignment.
    Assign {
        target: CommentTarget,
        /// `None` removes the worker's own assignment.
        who: Option<Login>,
    },
    /// Set the verdict as a commit status (PUB-19).
    SetStatus {
        commit: Sha,
        /// `referee/<role>`.
        context: String,
        state: CheckState,
        text: SafeText,
    },
}

/// Where a comment or assignment goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommentTarget {
    Pull,
    Issue(IssueNumber),
}

/// A text before it is signed: visible text and hidden trailer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextDraft {
    pub words: SafeText,
    pub trailer: Trailer,
}

/// The hidden part of a text, which stores referee's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trailer {
    /// In a summary.
    Mark(Box<Mark>, Box<Block>),
    /// In any other text.
    Tag(Box<Tag>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewThread<T = TextDraft> {
    pub finding: FindingId,
    pub place: DiffLocation,
    /// The root note.
    pub text: T,
}

/// A validated location in the diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiffLocation {
    pub path: String,
    /// `None` comments on the whole file.
    pub line: Option<u32>,
    /// The first line of a range; `None` for a single line.
    pub start_line: Option<u32>,
    pub side: Side,
}

impl<T> Action<T> {
    /// Returns the action's name in the published schema.
    pub fn name(&self) -> &'static str {
        match self {
            Self::PostReview { .. } => "post_review",
            Self::EditReview { .. } => "edit_review",
            Self::Supersede { .. } => "supersede",
            Self::OpenThreads { .. } => "open_threads",
            Self::Reply { .. } => "reply",
            Self::Resolve { .. } => "resolve",
            Self::EnsureComment { .. } => "ensure_comment",
            Self::SetLabel { .. } => "set_label",
            Self::Assign { .. } => "assign",
            Self::SetStatus { .. } => "set_status",
        }
    }

    /// Returns the same action with each text converted; `apply` signs a plan this way.
    pub fn map_text<U>(&self, mut text_of: impl FnMut(&T) -> U) -> Action<U> {
        match self {
            Self::PostReview { role, verdict, commit, text, threads } => Action::PostReview {
                role: role.clone(),
                verdict: *verdict,
                commit: commit.clone(),
                text: text_of(text),
                threads: threads.iter().map(|thread| thread.map_text(&mut text_of)).collect(),
            },
            Self::EditReview { review, edit, text } => {
                Action::EditReview { review: review.clone(), edit: edit.clone(), text: text_of(text) }
            }
            Self::Supersede { review, successor, edit, text } => Action::Supersede {
                review: review.clone(),
                successor: successor.clone(),
                edit: edit.clone(),
                text: text_of(text),
            },
            Self::OpenThreads { role, commit, threads } => Action::OpenThreads {
                role: role.clone(),
                commit: commit.clone(),
                threads: threads.iter().map(|thread| thread.map_text(&mut text_of)).collect(),
            },
            Self::Reply { thread, text } => Action::Reply { thread: thread.clone(), text: text_of(text) },
            Self::Resolve { thread, mark } => Action::Resolve {
                thread: thread.clone(),
                mark: mark.as_ref().map(|(note, text)| (note.clone(), text_of(text))),
            },
            Self::EnsureComment { existing, target, text } => {
                Action::EnsureComment { existing: existing.clone(), target: *target, text: text_of(text) }
            }
            Self::SetLabel { name, on } => Action::SetLabel { name: name.clone(), on: *on },
            Self::Assign { target, who } => Action::Assign { target: *target, who: who.clone() },
            Self::SetStatus { commit, context, state, text } => Action::SetStatus {
                commit: commit.clone(),
                context: context.clone(),
                state: *state,
                text: text.clone(),
            },
        }
    }
}

impl<T> NewThread<T> {
    fn map_text<U>(&self, text_of: &mut impl FnMut(&T) -> U) -> NewThread<U> {
        NewThread { finding: self.finding, place: self.place.clone(), text: text_of(&self.text) }
    }
}
