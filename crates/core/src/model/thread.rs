//! Threads on lines of the diff, and top-level comments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Author, CommentId, NoteId, ReviewId, Text, ThreadId, Time};
use crate::track::Side;

/// A review thread on a line of the diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// The thread's id, not that of a note.
    pub id: ThreadId,
    /// The review that opened it.
    pub review: Option<ReviewId>,
    /// Path at the time of the first note.
    pub path: Option<String>,
    /// Line at the time of the first note; the last line of a range.
    pub line: Option<u32>,
    /// First line of a range.
    pub start_line: Option<u32>,
    pub side: Side,
    /// The first note, then the replies in order. Not empty in a complete snapshot.
    pub notes: Vec<Note>,
    /// `None` while it is open.
    pub resolved: Option<Resolution>,
    /// Whether its lines are no longer in the current diff, according to git.
    pub outdated: bool,
    /// Whether this token may resolve it.
    pub can_resolve: bool,
    /// Whether this token may reply.
    pub can_reply: bool,
    /// Web page of the thread.
    pub url: String,
}

/// The resolution of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// Forges do not always report it.
    pub by: Author,
    /// `None` if the forge does not report it.
    pub at: Option<Time>,
}

/// One note of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    pub id: NoteId,
    pub author: Author,
    pub at: Time,
    /// Whether it was edited after posting.
    #[serde(default)]
    pub edited: bool,
    pub text: Text,
}

/// A top-level comment of the pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comment {
    pub id: CommentId,
    pub author: Author,
    pub at: Time,
    /// Whether it was edited after posting. Commands in an edited comment do not count (LOOP-12).
    #[serde(default)]
    pub edited: bool,
    pub text: Text,
    /// Web page of the comment.
    pub url: String,
}

impl Thread {
    /// Returns the first note.
    pub fn root(&self) -> Option<&Note> {
        self.notes.first()
    }

    pub fn last(&self) -> Option<&Note> {
        self.notes.last()
    }
}
