//! Conversations: threads on a place in the diff, and top-level comments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Author, CommentId, NoteId, ReviewId, Text, ThreadId, Time};
use crate::track::Side;

/// A conversation on a place in the diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// Its id, never a note's.
    pub id: ThreadId,
    /// The review its root was posted with.
    pub review: Option<ReviewId>,
    /// The file, as it was called when the root was written.
    pub path: Option<String>,
    /// The line, as it was when the root was written.
    pub line: Option<u32>,
    /// Where a range begins.
    pub start_line: Option<u32>,
    /// Which side of the diff.
    pub side: Side,
    /// The root first, then the replies in order. Never empty when complete.
    pub notes: Vec<Note>,
    /// Who resolved it, if somebody did.
    pub resolved: Option<Resolution>,
    /// Its place is not in the current diff any more, by git.
    pub outdated: bool,
    /// The forge lets this token resolve it.
    pub can_resolve: bool,
    /// The forge lets this token reply.
    pub can_reply: bool,
    /// Its page.
    pub url: String,
}

/// That somebody resolved a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// Who; forges do not always tell.
    pub by: Author,
    /// When, where the forge tells.
    pub at: Option<Time>,
}

/// One note of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// Its id.
    pub id: NoteId,
    /// Who wrote it.
    pub author: Author,
    /// When.
    pub at: Time,
    /// Changed after it was written.
    #[serde(default)]
    pub edited: bool,
    /// What it says.
    pub text: Text,
}

/// A top-level comment of the pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comment {
    /// Its id.
    pub id: CommentId,
    /// Who wrote it.
    pub author: Author,
    /// When.
    pub at: Time,
    /// Changed after it was written: commands in it do not count (LOOP-12).
    #[serde(default)]
    pub edited: bool,
    /// What it says.
    pub text: Text,
    /// Its page.
    pub url: String,
}

impl Thread {
    /// The note that opened it.
    pub fn root(&self) -> Option<&Note> {
        self.notes.first()
    }

    /// The last note.
    pub fn last(&self) -> Option<&Note> {
        self.notes.last()
    }
}
