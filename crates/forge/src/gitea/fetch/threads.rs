//! Threads, put together again: the servers have inline comments only.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::mark::{Binding, Keys, Reader, TagKind, Written};
use referee_core::model::{
    Author, Capabilities, Login, Note, NoteId, PullNumber, RepoId, Resolution, ReviewId, Support, Text, Thread,
    ThreadId, Time, Viewer,
};
use referee_core::say::Calls;
use referee_core::track::Side;

use super::people::People;
use super::pull::edited;
use super::raw::Raw;
use crate::gitea::wire::{Inline, Review, login, time};

/// What makes comments of one review one conversation.
type Place<'a> = (&'a str, Line);

/// A line of one side.
type Line = (Side, u64);

pub(super) fn told(raw: &Raw, people: &People, viewer: &Viewer, can: &Capabilities) -> Vec<Thread> {
    let can_resolve = can.resolve == Support::Native && may_resolve(raw, people, viewer);
    let can_reply = can.reply != Support::Unsupported;
    let conversations = conversations(raw, &viewer.holds);
    let thread = |notes: Vec<&Inline>| {
        let root = *notes.first()?;
        let (side, line) = line(root);
        Some(Thread {
            id: ThreadId(root.id.to_string()),
            review: Some(ReviewId(root.pull_request_review_id.to_string())),
            path: (!root.path.is_empty()).then(|| root.path.clone()),
            line: u32::try_from(line).ok().filter(|line| *line > 0),
            start_line: None,
            side,
            notes: notes.iter().map(|note| told_note(note, people)).collect(),
            resolved: root.resolver.as_ref().map(|by| Resolution { by: people.author(Some(by)), at: None }),
            outdated: false,
            can_resolve,
            can_reply,
            url: root.html_url.clone(),
        })
    };
    conversations.into_values().filter_map(thread).collect()
}

/// Whoever may write resolves, and so does the pull's author.
fn may_resolve(raw: &Raw, people: &People, viewer: &Viewer) -> bool {
    people.may_write(&viewer.login) || login(raw.pull.user.as_ref()).as_ref() == Some(&viewer.login)
}

/// The comments of each conversation in their order, by the number of its root.
///
/// The root is the lowest number. What is still in a draft is nowhere yet.
pub(super) fn conversations<'a>(raw: &'a Raw, own: &BTreeSet<Login>) -> BTreeMap<u64, Vec<&'a Inline>> {
    let submitted: BTreeMap<u64, &Review> =
        raw.reviews.iter().filter(|row| row.is_submitted()).map(|row| (row.id, row)).collect();
    let mut notes: Vec<&Inline> = raw.inline.iter().collect();
    notes.sort_by_key(|note| note.id);
    notes.dedup_by_key(|note| note.id);
    let mut threads: BTreeMap<u64, Vec<&Inline>> = BTreeMap::new();
    let mut roots: BTreeMap<(u64, Place<'_>), u64> = BTreeMap::new();
    for note in notes {
        let Some(review) = submitted.get(&note.pull_request_review_id) else { continue };
        let key = (review.id, (note.path.as_str(), line(note)));
        let root = match roots.get(&key) {
            Some(root) => *root,
            None => joined(note, review, &threads, own).unwrap_or(note.id),
        };
        roots.insert(key, root);
        threads.entry(root).or_default().push(note);
    }
    threads
}

/// The thread that a comment answers from within a review of its own, where the server has no replies.
///
/// | the only comment of an empty review, on the line of another thread | it is |
/// |---|---|
/// | its Tag names a note of such a thread | a reply in it |
/// | its Tag says that it opens one | a root |
/// | any other, by an own identity | a reply in the first of them |
/// | any other | a root: people who comment on a line open a thread |
fn joined(note: &Inline, review: &Review, threads: &BTreeMap<u64, Vec<&Inline>>, own: &BTreeSet<Login>) -> Option<u64> {
    if review.state != "COMMENT" || !review.body.trim().is_empty() || review.comments_count != 1 {
        return None;
    }
    let here =
        |notes: &&Vec<&Inline>| notes.first().is_some_and(|root| root.path == note.path && line(root) == line(note));
    let mut places = threads.iter().filter(|(_, notes)| here(notes));
    let mut text = Text::unread(note.body.as_str());
    let author = Author { login: login(note.user.as_ref()), ..Author::default() };
    read_tag(&mut text, &author);
    match text.reading.tag.as_deref().map(|tag| &tag.data.kind) {
        Some(TagKind::Reply { answers, .. }) => {
            let named = |notes: &Vec<&Inline>| notes.iter().any(|it| it.id.to_string() == answers.0);
            places.find(|(_, notes)| named(notes)).map(|(root, _)| *root)
        }
        Some(TagKind::Root { .. }) => None,
        Some(TagKind::Topic(_)) | None => {
            let is_own = author.login.is_some_and(|login| own.contains(&login));
            places.next().filter(|_| is_own).map(|(root, _)| *root)
        }
    }
}

/// Reads the Tag whatever its seal: a forged one only moves its author's own words into a thread they could have
/// answered in anyway.
fn read_tag(text: &mut Text, author: &Author) {
    let own: Vec<_> = author.login.iter().cloned().collect();
    let binding = Binding { forge: String::new(), repo: RepoId(0), pull: PullNumber(0) };
    let reader = Reader {
        binding: &binding,
        keys: &Keys::none(),
        own: &own,
        roles: &BTreeMap::new(),
        calls: Calls { bots: &[], slash_is_taken: true },
    };
    reader.read(text, author, Written { at: Time::default(), edited: true });
}

fn line(note: &Inline) -> Line {
    if note.position > 0 { (Side::New, note.position) } else { (Side::Old, note.original_position) }
}

fn told_note(note: &Inline, people: &People) -> Note {
    Note {
        id: NoteId(note.id.to_string()),
        author: people.author(note.user.as_ref()),
        at: time(&note.created_at),
        edited: edited(&note.created_at, &note.updated_at),
        text: Text::unread(note.body.as_str()),
    }
}
