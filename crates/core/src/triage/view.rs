//! A thread as it is shown and handed to programs (TRI-4). Field names and nullability are the source's; thread ids
//! and note ids are different types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OwnIdentities;
use crate::mark;
use crate::model::{Access, Author, Note, NoteId, PullNumber, Snapshot, Thread, ThreadId, Time};
use crate::policy::Policy;

/// A thread, normalised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadView {
    /// Its id, never a note's.
    pub thread_id: ThreadId,
    /// The pull.
    pub pr_number: u64,
    /// The file.
    pub path: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// Where a range begins.
    pub start_line: Option<u32>,
    /// Closed on the forge, or in the own root's text (FIX-12).
    pub is_resolved: bool,
    /// Its place is not in the current diff any more.
    pub is_outdated: bool,
    /// Who opened it.
    pub author: Option<String>,
    /// What they may do, as far as is known.
    pub author_association: Option<String>,
    /// The note that opened it.
    pub first_comment: Option<NoteView>,
    /// All notes, oldest first.
    pub comments: Vec<NoteView>,
    /// The last note.
    pub latest_comment: Option<NoteView>,
    /// When it was opened.
    pub created_at: Option<String>,
    /// When the last note was written.
    pub updated_at: Option<String>,
    /// Its page.
    pub url: Option<String>,
    /// Which interface of which forge it was read from.
    pub source: String,
    /// This token may resolve it.
    pub can_resolve: bool,
    /// This token may reply.
    pub can_reply: bool,
}

/// A note of a thread, normalised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoteView {
    /// Its id, never a thread's.
    pub id: NoteId,
    /// The same as a number, where it is one.
    pub database_id: Option<u64>,
    /// Who wrote it.
    pub author: Option<String>,
    /// What they may do, as far as is known.
    pub author_association: Option<String>,
    /// What it says, the own hidden part left out.
    pub body: String,
    /// The thread's file.
    pub path: Option<String>,
    /// The thread's line.
    pub line: Option<u32>,
    /// When it was written.
    pub created_at: Option<String>,
    /// When it was changed; `null` where it was and the forge does not tell when.
    pub updated_at: Option<String>,
    /// Its page, where the forge tells.
    pub url: Option<String>,
    /// Folded away by the forge.
    pub is_minimized: bool,
    /// This token may edit it: own text only, whatever the forge would allow (PUB-9).
    pub viewer_can_update: bool,
    /// Never: no text is deleted.
    pub viewer_can_delete: bool,
}

impl ThreadView {
    /// A thread as seen by this snapshot's viewer.
    pub fn from_thread(thread: &Thread, snapshot: &Snapshot, policy: &Policy, source: &str) -> Self {
        let own = OwnIdentities::new(snapshot, policy);
        let PullNumber(pr_number) = snapshot.pull.number;
        let comments: Vec<_> = thread.notes.iter().map(|note| NoteView::from_note(note, thread, &own)).collect();
        Self {
            thread_id: thread.id.clone(),
            pr_number,
            path: thread.path.clone(),
            line: thread.line,
            start_line: thread.start_line,
            is_resolved: own.thread_closure(thread).is_some(),
            is_outdated: thread.outdated,
            author: thread.root().and_then(|root| author_login(&root.author)),
            author_association: thread.root().and_then(|root| association_name(&root.author)),
            first_comment: comments.first().cloned(),
            latest_comment: comments.last().cloned(),
            comments,
            created_at: thread.root().map(|root| format_timestamp(root.at)),
            updated_at: thread.last().map(|last| format_timestamp(last.at)),
            url: (!thread.url.is_empty()).then(|| thread.url.clone()),
            source: source.to_owned(),
            can_resolve: thread.can_resolve,
            can_reply: thread.can_reply,
        }
    }
}

impl NoteView {
    fn from_note(note: &Note, thread: &Thread, own: &OwnIdentities<'_>) -> Self {
        let root = thread.root().is_some_and(|root| root.id == note.id);
        Self {
            id: note.id.clone(),
            database_id: note.id.as_str().parse().ok(),
            author: author_login(&note.author),
            author_association: association_name(&note.author),
            body: mark::strip_hidden_comments(note.text.body_or_empty()).into_owned(),
            path: thread.path.clone(),
            line: thread.line,
            created_at: Some(format_timestamp(note.at)),
            updated_at: (!note.edited).then(|| format_timestamp(note.at)),
            url: (root && !thread.url.is_empty()).then(|| thread.url.clone()),
            is_minimized: false,
            viewer_can_update: own.is_own_author(&note.author),
            viewer_can_delete: false,
        }
    }
}

fn author_login(author: &Author) -> Option<String> {
    author.login.as_ref().map(|login| login.as_str().to_owned())
}

fn association_name(author: &Author) -> Option<String> {
    match author.access {
        Access::Write => Some("COLLABORATOR".to_owned()),
        Access::Read => Some("NONE".to_owned()),
        Access::Unknown => None,
    }
}

/// `2026-11-15T10:40:07Z`.
fn format_timestamp(time: Time) -> String {
    let minute = time.to_string();
    let (day, rest) = minute.split_once(' ').unwrap_or((&minute, "00:00 UTC"));
    let clock = rest.strip_suffix(" UTC").unwrap_or(rest);
    format!("{day}T{clock}:{:02}Z", time.0.rem_euclid(60))
}
