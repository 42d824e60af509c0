//! Threads, reconstructed: the servers only have inline comments.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::mark::{Binding, Keys, TagKind, TextHistory, TextReader};
use referee_core::model::{
    Author, Capabilities, Login, Note, NoteId, PullNumber, RepoId, Resolution, ReviewId, Support, Text, Thread,
    ThreadId, Time, Viewer,
};
use referee_core::say::CommandPrefixes;
use referee_core::track::Side;

use super::access::WriteAccess;
use super::pull::is_edited;
use super::pull_rows::PullRows;
use crate::gitea::wire::{Inline, Review, login, parse_time};

/// The file and line that inline comments of one review share if they are one conversation.
type ConversationKey<'a> = (&'a str, SideLine);

type SideLine = (Side, u64);

pub(super) fn build_threads(raw: &PullRows, people: &WriteAccess, viewer: &Viewer, can: &Capabilities) -> Vec<Thread> {
    let can_resolve = can.resolve == Support::Native && may_resolve(raw, people, viewer);
    let can_reply = can.reply != Support::Unsupported;
    let conversations = group_conversations(raw, &viewer.holds);
    let thread = |notes: Vec<&Inline>| {
        let root = *notes.first()?;
        let (side, line) = comment_line(root);
        Some(Thread {
            id: ThreadId(root.id.to_string()),
            review: Some(ReviewId(root.pull_request_review_id.to_string())),
            path: (!root.path.is_empty()).then(|| root.path.clone()),
            line: u32::try_from(line).ok().filter(|line| *line > 0),
            start_line: None,
            side,
            notes: notes.iter().map(|note| build_note(note, people)).collect(),
            resolved: root.resolver.as_ref().map(|by| Resolution { by: people.to_author(Some(by)), at: None }),
            outdated: false,
            can_resolve,
            can_reply,
            url: root.html_url.clone(),
        })
    };
    conversations.into_values().filter_map(thread).collect()
}

/// Returns whether the reader may resolve threads: people with write access and the pull's author may.
fn may_resolve(raw: &PullRows, people: &WriteAccess, viewer: &Viewer) -> bool {
    people.can_write(&viewer.login) || login(raw.pull.user.as_ref()).as_ref() == Some(&viewer.login)
}

/// Groups inline comments into conversations, by the id of the root, which is the lowest one. Comments in a draft are
/// left out.
pub(super) fn group_conversations<'a>(raw: &'a PullRows, own: &BTreeSet<Login>) -> BTreeMap<u64, Vec<&'a Inline>> {
    let submitted: BTreeMap<u64, &Review> =
        raw.reviews.iter().filter(|row| row.is_submitted()).map(|row| (row.id, row)).collect();
    let mut notes: Vec<&Inline> = raw.inline.iter().collect();
    notes.sort_by_key(|note| note.id);
    notes.dedup_by_key(|note| note.id);
    let mut threads: BTreeMap<u64, Vec<&Inline>> = BTreeMap::new();
    let mut roots: BTreeMap<(u64, ConversationKey<'_>), u64> = BTreeMap::new();
    for note in notes {
        let Some(review) = submitted.get(&note.pull_request_review_id) else { continue };
        let key = (review.id, (note.path.as_str(), comment_line(note)));
        let root = match roots.get(&key) {
            Some(root) => *root,
            None => find_joined_thread(note, review, &threads, own).unwrap_or(note.id),
        };
        roots.insert(key, root);
        threads.entry(root).or_default().push(note);
    }
    threads
}

/// Returns the thread that a comment in a review of its own replies to: the emulation of replies on servers without them.
///
/// | the only comment of an empty review, on the line of another thread | counts as |
/// |---|---|
/// | its Tag names a note of such a thread | a reply in it |
/// | its Tag says that it opens one | a root |
/// | any other, by one of referee's identities | a reply in the first such thread |
/// | any other | a root: people who comment on a line open a thread |
fn find_joined_thread(
    note: &Inline,
    review: &Review,
    threads: &BTreeMap<u64, Vec<&Inline>>,
    own: &BTreeSet<Login>,
) -> Option<u64> {
    if review.state != "COMMENT" || !review.body.trim().is_empty() || review.comments_count != 1 {
        return None;
    }
    let here = |notes: &&Vec<&Inline>| {
        notes.first().is_some_and(|root| root.path == note.path && comment_line(root) == comment_line(note))
    };
    let mut places = threads.iter().filter(|(_, notes)| here(notes));
    let mut text = Text::from_untrusted_body(&note.body);
    let author = Author { login: login(note.user.as_ref()), ..Author::default() };
    parse_tag(&mut text, &author);
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

/// Reads a Tag without checking its seal: a forged one only moves its author's comment into a thread that its author
/// could have replied to anyway.
fn parse_tag(text: &mut Text, author: &Author) {
    let own: Vec<_> = author.login.iter().cloned().collect();
    let binding = Binding { forge: String::new(), repo: RepoId(0), pull: PullNumber(0) };
    let reader = TextReader {
        binding: &binding,
        keys: &Keys::empty(),
        own_logins: &own,
        role_logins: &BTreeMap::new(),
        calls: CommandPrefixes { bot_logins: &[], slash_reserved: true },
    };
    reader.read(text, author, TextHistory { written_at: Time::default(), edited: true });
}

fn comment_line(note: &Inline) -> SideLine {
    if note.position > 0 { (Side::New, note.position) } else { (Side::Old, note.original_position) }
}

fn build_note(note: &Inline, people: &WriteAccess) -> Note {
    Note {
        id: NoteId(note.id.to_string()),
        author: people.to_author(note.user.as_ref()),
        at: parse_time(&note.created_at),
        edited: is_edited(&note.created_at, &note.updated_at),
        text: Text::from_untrusted_body(&note.body),
    }
}
