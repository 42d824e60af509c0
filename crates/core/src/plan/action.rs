//! The closed vocabulary of what referee can do to a forge. What must never happen is not in it: no merge, no
//! close, no push, no dismissal, no deletion of anybody's words (SAF-1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mark::{Block, Mark, Tag};
use crate::model::{
    CheckState, CommentId, EditId, FindingId, IssueNumber, Login, NoteId, ReviewId, RoleName, Sha, ThreadId, Verdict,
};
use crate::sanitise::SafeText;
use crate::track::Side;

/// One thing to do to a forge. `T` is its text: a `Draft` in a plan, sealed words on their way out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action<T = TextDraft> {
    /// Post a new review with its threads.
    PostReview {
        /// For which role.
        role: RoleName,
        /// In which form.
        verdict: Verdict,
        /// For which commit, in full.
        commit: Sha,
        /// Its summary.
        text: T,
        /// New threads.
        threads: Vec<NewThread<T>>,
    },
    /// Change the summary of an own review.
    EditReview {
        /// Which row.
        review: ReviewId,
        /// How it is addressed.
        edit: EditId,
        /// The new summary.
        text: T,
    },
    /// Say on an own approval that it no longer holds (PUB-5).
    Supersede {
        /// Which row.
        review: ReviewId,
        /// How it is addressed.
        edit: EditId,
        /// The new text: the old one folded below.
        text: T,
    },
    /// Open threads beside a standing review (PUB-4).
    OpenThreads {
        /// For which role.
        role: RoleName,
        /// For which commit.
        commit: Sha,
        /// The threads.
        threads: Vec<NewThread<T>>,
    },
    /// Write in a thread.
    Reply {
        /// Which.
        thread: ThreadId,
        /// The words.
        text: T,
    },
    /// Resolve a thread; where the forge cannot, the own root says so (FIX-12).
    Resolve {
        /// Which.
        thread: ThreadId,
        /// Its root, where the root is own text and the forge cannot resolve.
        mark: Option<(NoteId, T)>,
    },
    /// One comment per topic, found by its Tag, made or edited (D13).
    EnsureComment {
        /// The one that is there.
        existing: Option<CommentId>,
        /// The pull or issue.
        target: CommentTarget,
        /// The words.
        text: T,
    },
    /// Put a label on the pull, or take an own one off.
    SetLabel {
        /// Its name.
        name: String,
        /// On or off.
        on: bool,
    },
    /// Assign somebody, or nobody.
    Assign {
        /// The pull or issue.
        target: CommentTarget,
        /// Whom; `None` takes the own assignment back.
        who: Option<Login>,
    },
    /// Write the verdict as a commit status (PUB-19).
    SetStatus {
        /// For which commit.
        commit: Sha,
        /// `referee/<role>`.
        context: String,
        /// What it says.
        state: CheckState,
        /// In words.
        text: SafeText,
    },
}

/// What a comment or assignment is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommentTarget {
    /// The plan's pull.
    Pull,
    /// An issue.
    Issue(IssueNumber),
}

/// A text on its way: visible words and hidden memory, not sealed yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextDraft {
    /// The visible words.
    pub words: SafeText,
    /// The hidden memory.
    pub trailer: Trailer,
}

/// The hidden memory of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trailer {
    /// Of a summary.
    Mark(Box<Mark>, Box<Block>),
    /// Of anything else.
    Tag(Box<Tag>),
}

/// A thread to be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewThread<T = TextDraft> {
    /// For which finding.
    pub finding: FindingId,
    /// Where.
    pub place: DiffLocation,
    /// Its root.
    pub text: T,
}

/// A place in the diff that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiffLocation {
    /// The file.
    pub path: String,
    /// The line; `None` comments on the file.
    pub line: Option<u32>,
    /// Where a range begins.
    pub start_line: Option<u32>,
    /// Which side.
    pub side: Side,
}

impl<T> Action<T> {
    /// The action's name, as the published schema spells it.
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

    /// The same action with its texts turned into something else: how `apply` seals a plan.
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
            Self::Supersede { review, edit, text } => {
                Action::Supersede { review: review.clone(), edit: edit.clone(), text: text_of(text) }
            }
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
