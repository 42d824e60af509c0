//! Threads in the JSON form for people and programs (TRI-4). Field names and nullability follow the source
//! specification.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OwnIdentities;
use crate::mark;
use crate::model::{Access, Author, Note, NoteId, PullNumber, Snapshot, Thread, ThreadId, Time};
use crate::policy::Policy;

/// A thread in a forge-independent form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadView {
    /// Id of the thread, not of a note.
    pub thread_id: ThreadId,
    /// Number of the pull.
    pub pr_number: u64,
    /// File at the time of the first note.
    pub path: Option<String>,
    /// Line at the time of the first note; the last line of a range.
    pub line: Option<u32>,
    /// First line of a range.
    pub start_line: Option<u32>,
    /// Whether it is closed on the forge or in referee's first note (FIX-12).
    pub is_resolved: bool,
    /// Whether its lines are no longer in the current diff.
    pub is_outdated: bool,
    /// Login of the person or bot that opened it.
    pub author: Option<String>,
    /// Access rights of the author, if known.
    pub author_association: Option<String>,
    /// The first note.
    pub first_comment: Option<NoteView>,
    /// All notes, oldest first.
    pub comments: Vec<NoteView>,
    /// The last note.
    pub latest_comment: Option<NoteView>,
    /// Time of the first note.
    pub created_at: Option<String>,
    /// Time of the last note.
    pub updated_at: Option<String>,
    /// Web page of the thread.
    pub url: Option<String>,
    /// The forge API that it was read from.
    pub source: String,
    /// Whether this token may resolve it.
    pub can_resolve: bool,
    /// Whether this token may reply.
    pub can_reply: bool,
}

/// A note in a forge-independent form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoteView {
    /// Id of the note, not of the thread.
    pub id: NoteId,
    /// The id as a number, if it is one.
    pub database_id: Option<u64>,
    /// Login of the author.
    pub author: Option<String>,
    /// Access rights of the author, if known.
    pub author_association: Option<String>,
    /// The text without referee's hidden comments.
    pub body: String,
    /// File of the thread.
    pub path: Option<String>,
    /// Line of the thread.
    pub line: Option<u32>,
    /// Time of writing.
    pub created_at: Option<String>,
    /// Time of the last edit. `null` if it was edited and the forge does not report when.
    pub updated_at: Option<String>,
    /// Web page of the note, if the forge reports it.
    pub url: Option<String>,
    /// Whether the forge hides it.
    pub is_minimized: bool,
    /// Whether this token may edit it: only referee's texts, whatever the forge allows (PUB-9).
    pub viewer_can_update: bool,
    /// Always `false`: referee deletes no text.
    pub viewer_can_delete: bool,
}

impl ThreadView {
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
        let is_root = thread.root().is_some_and(|root| root.id == note.id);
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
            url: (is_root && !thread.url.is_empty()).then(|| thread.url.clone()),
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

/// Formats a time as `2026-11-15T10:40:07Z`.
fn format_timestamp(time: Time) -> String {
    let minute = time.to_string();
    let (day, rest) = minute.split_once(' ').unwrap_or((&minute, "00:00 UTC"));
    let clock = rest.strip_suffix(" UTC").unwrap_or(rest);
    format!("{day}T{clock}:{:02}Z", time.0.rem_euclid(60))
}
