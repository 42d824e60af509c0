//! Whose words are whose in a thread, and whether it is still open.
//!
//! | a thread | is |
//! |---|---|
//! | that the forge calls resolved | closed, whoever did it |
//! | whose own root carries a settled Tag, while the last note is by an own identity | closed in text (FIX-12) |
//! | else | open |

use crate::mark::{ReplyKind, Tag, TagKind, UnsealedMark};
use crate::model::{Author, Confidence, Login, Note, Snapshot, Thread, Triage, TriageItem};
use crate::model::{Class, NoteId};
use crate::policy::Policy;

/// The identities that are ours on one pull.
#[derive(Clone, Copy, Debug)]
pub struct OwnIdentities<'a> {
    snapshot: &'a Snapshot,
    policy: &'a Policy,
}

/// Who opened a thread. It says how careful to be, never what is true (TRI-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Opener {
    /// A role of ours, by a Tag that is believed.
    Own,
    /// Another program.
    Bot,
    /// A person, or somebody nobody knows.
    Person,
}

/// How a thread is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadClosure {
    /// On the forge.
    Resolved,
    /// In the own root's text.
    MarkedInText,
}

impl<'a> OwnIdentities<'a> {
    /// Ours on this pull.
    pub fn new(snapshot: &'a Snapshot, policy: &'a Policy) -> Self {
        Self { snapshot, policy }
    }

    /// Whether one of our identities wrote it.
    pub fn is_own_author(&self, author: &Author) -> bool {
        author.login.as_ref().is_some_and(|login| self.is_own_login(login))
    }

    fn is_own_login(&self, login: &Login) -> bool {
        let viewer = &self.snapshot.viewer;
        viewer.login == *login
            || viewer.holds.contains(login)
            || self.policy.roles.iter().any(|role| role.identity_or(&viewer.login) == login)
            || self.policy.work.as_ref().is_some_and(|work| work.user == *login)
    }

    /// Who opened it. An own account without a Tag is a person who uses it by hand.
    pub fn opener(&self, thread: &Thread) -> Opener {
        let Some(root) = thread.root() else { return Opener::Person };
        let named = |login: &Login| self.policy.work.as_ref().is_some_and(|work| work.review_users.contains(login));
        if self.root_tag(thread).is_some() {
            Opener::Own
        } else if root.author.bot || root.author.login.as_ref().is_some_and(named) {
            Opener::Bot
        } else {
            Opener::Person
        }
    }

    /// The Tag of a root that is ours.
    pub fn root_tag<'t>(&self, thread: &'t Thread) -> Option<&'t Tag> {
        let root = thread.root().filter(|root| self.is_own_author(&root.author))?;
        root.text.trusted_tag().filter(|tag| matches!(tag.kind, TagKind::Root { .. }))
    }

    /// Whether, and how, a thread is closed.
    pub fn thread_closure(&self, thread: &Thread) -> Option<ThreadClosure> {
        if thread.resolved.is_some() {
            return Some(ThreadClosure::Resolved);
        }
        let marked = self
            .root_tag(thread)
            .is_some_and(|tag| matches!(&tag.kind, TagKind::Root { settled, .. } if settled.is_some()));
        (marked && self.has_last_word(thread)).then_some(ThreadClosure::MarkedInText)
    }

    /// Whether the last note is by an own identity.
    pub fn has_last_word(&self, thread: &Thread) -> bool {
        thread.last().is_some_and(|note| self.is_own_author(&note.author))
    }

    /// The latest note that an answer may be for: own answers and own closing words ask for nothing. The root
    /// always does, so a thread that has notes has a latest one.
    pub fn latest_answerable_note<'t>(&self, thread: &'t Thread) -> Option<&'t Note> {
        thread.notes.iter().skip(1).rev().find(|note| !self.is_closing_reply(note)).or(thread.root())
    }

    /// Whether the latest note has our answer already (FIX-8).
    pub fn has_answered_latest(&self, thread: &Thread) -> bool {
        let Some(latest) = self.latest_answerable_note(thread) else { return false };
        let mut later = false;
        thread.notes.iter().any(|note| {
            let found = match self.parse_own_reply(note) {
                Some((ReplyKind::Answer, Some(to))) => *to == latest.id,
                // Somebody changed our answer: what it was for cannot be believed, but it is there.
                Some((ReplyKind::Answer, None)) => later,
                _ => false,
            };
            later |= note.id == latest.id;
            found
        })
    }

    /// Notes written after `seen` that an answer may be for.
    pub fn has_unseen_notes(&self, thread: &Thread, seen: &NoteId) -> bool {
        match thread.notes.iter().position(|note| note.id == *seen) {
            Some(at) => thread.notes.iter().skip(at + 1).any(|note| !self.is_closing_reply(note)),
            None => self.latest_answerable_note(thread).is_some(),
        }
    }

    fn is_closing_reply(&self, note: &Note) -> bool {
        self.parse_own_reply(note).is_some_and(|(what, _)| match what {
            ReplyKind::Answer | ReplyKind::Fixed | ReplyKind::Accepted | ReplyKind::Conceded => true,
            // These three undo an answer (D14).
            ReplyKind::Rebuttal | ReplyKind::Contest | ReplyKind::Worsened => false,
        })
    }

    /// What an own reply does, and for which note where that is to be believed.
    fn parse_own_reply<'t>(&self, note: &'t Note) -> Option<(ReplyKind, Option<&'t NoteId>)> {
        let opened: &UnsealedMark<Tag> =
            note.text.reading.tag.as_deref().filter(|_| self.is_own_author(&note.author))?;
        match &opened.data.kind {
            TagKind::Reply { what, answers } => Some((*what, opened.trusted_data().map(|_| answers))),
            TagKind::Root { .. } | TagKind::Topic(_) => None,
        }
    }

    /// The stored triage, if it is of this pull.
    pub fn triage(&self) -> Option<&'a Triage> {
        let triage = self.snapshot.evidence.triage.as_ref()?;
        (triage.pr_number == self.snapshot.pull.number.0).then_some(triage)
    }

    /// What the stored triage of this pull says of a thread.
    pub fn find_triage_item(&self, thread: &Thread) -> Option<&'a TriageItem> {
        self.triage()?.threads.iter().find(|item| item.thread_id == thread.id)
    }

    /// Whether the stored triage asks a person about a thread (D26): no flag takes that back.
    pub fn find_item_for_person(&self, thread: &Thread) -> Option<&'a TriageItem> {
        self.find_triage_item(thread)
            .filter(|item| item.requires_human_decision || item.classification == Class::NeedsHuman)
    }

    /// Whether the stored triage is a guess about what a person wrote (FIX-13).
    pub fn find_uncertain_item(&self, thread: &Thread) -> Option<&'a TriageItem> {
        self.find_triage_item(thread)
            .filter(|item| item.confidence == Confidence::Low && self.opener(thread) == Opener::Person)
    }
}
