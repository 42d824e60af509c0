//! Which notes of a thread referee wrote, and whether the thread is closed.
//!
//! | thread | state |
//! |---|---|
//! | resolved on the forge, by anyone | closed |
//! | referee's first note has a settled Tag, and referee wrote the last note | closed in text (FIX-12) |
//! | any other | open |

use crate::mark::{ReplyKind, Tag, TagKind, UnsealedMark};
use crate::model::{Author, Confidence, Login, Note, Snapshot, Thread, Triage, TriageItem};
use crate::model::{Class, NoteId};
use crate::policy::Policy;

/// The accounts of referee on one pull.
#[derive(Clone, Copy, Debug)]
pub struct OwnIdentities<'a> {
    snapshot: &'a Snapshot,
    policy: &'a Policy,
}

/// Who opened a thread. It decides how careful to be, not whether the finding is right (TRI-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Opener {
    /// A role of referee, proven by a trusted Tag.
    Own,
    /// Another bot.
    Bot,
    /// A person, or an unknown account.
    Person,
}

/// How a thread is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadClosure {
    /// On the forge.
    Resolved,
    /// By a Tag in referee's first note.
    MarkedInText,
}

impl<'a> OwnIdentities<'a> {
    pub fn new(snapshot: &'a Snapshot, policy: &'a Policy) -> Self {
        Self { snapshot, policy }
    }

    pub fn is_own_author(&self, author: &Author) -> bool {
        author.login.as_ref().is_some_and(|login| self.is_own_login(login))
    }

    fn is_own_login(&self, login: &Login) -> bool {
        let viewer = &self.snapshot.viewer;
        viewer.login == *login
            || viewer.holds.contains(login)
            || self.policy.roles.iter().any(|role| self.policy.may_post_for(role, &viewer.login, login))
            || self.policy.work.as_ref().is_some_and(|work| work.user == *login)
    }

    /// Returns who opened a thread. A note of referee's account without a Tag was written by a person.
    pub fn opener(&self, thread: &Thread) -> Opener {
        let Some(root) = thread.root() else { return Opener::Person };
        let is_review_user =
            |login: &Login| self.policy.work.as_ref().is_some_and(|work| work.review_users.contains(login));
        if self.root_tag(thread).is_some() {
            Opener::Own
        } else if root.author.bot || root.author.login.as_ref().is_some_and(is_review_user) {
            Opener::Bot
        } else {
            Opener::Person
        }
    }

    /// Returns the Tag of the first note, if referee wrote it.
    pub fn root_tag<'t>(&self, thread: &'t Thread) -> Option<&'t Tag> {
        let root = thread.root().filter(|root| self.is_own_author(&root.author))?;
        root.text.trusted_tag().filter(|tag| matches!(tag.kind, TagKind::Root { .. }))
    }

    /// Returns how a thread is closed. `None` if it is open.
    pub fn thread_closure(&self, thread: &Thread) -> Option<ThreadClosure> {
        if thread.resolved.is_some() {
            return Some(ThreadClosure::Resolved);
        }
        let is_settled = self
            .root_tag(thread)
            .is_some_and(|tag| matches!(&tag.kind, TagKind::Root { settled, .. } if settled.is_some()));
        (is_settled && self.has_last_word(thread)).then_some(ThreadClosure::MarkedInText)
    }

    /// Returns whether referee wrote the last note.
    pub fn has_last_word(&self, thread: &Thread) -> bool {
        thread.last().is_some_and(|note| self.is_own_author(&note.author))
    }

    /// Returns the latest note that needs an answer. Answers and closing replies of referee need none. The first note
    /// always does, so this is `None` only for a thread without notes.
    pub fn latest_answerable_note<'t>(&self, thread: &'t Thread) -> Option<&'t Note> {
        thread.notes.iter().skip(1).rev().find(|note| !self.is_closing_reply(note)).or(thread.root())
    }

    /// Returns whether the latest note already has an answer of referee (FIX-8).
    pub fn has_answered_latest(&self, thread: &Thread) -> bool {
        let Some(latest) = self.latest_answerable_note(thread) else { return false };
        let mut is_after_latest = false;
        thread.notes.iter().any(|note| {
            let is_answer = match self.parse_own_reply(note) {
                Some((ReplyKind::Answer, Some(to))) => *to == latest.id,
                // The Tag is broken, so it does not prove which note the answer is for. Its position does.
                Some((ReplyKind::Answer, None)) => is_after_latest,
                _ => false,
            };
            is_after_latest |= note.id == latest.id;
            is_answer
        })
    }

    /// Returns whether there are notes after `seen` that need an answer.
    pub fn has_unseen_notes(&self, thread: &Thread, seen: &NoteId) -> bool {
        match thread.notes.iter().position(|note| note.id == *seen) {
            Some(at) => thread.notes.iter().skip(at + 1).any(|note| !self.is_closing_reply(note)),
            None => self.latest_answerable_note(thread).is_some(),
        }
    }

    fn is_closing_reply(&self, note: &Note) -> bool {
        self.parse_own_reply(note).is_some_and(|(what, _)| match what {
            ReplyKind::Answer | ReplyKind::Fixed | ReplyKind::Accepted | ReplyKind::Conceded => true,
            // These reopen the question (D14).
            ReplyKind::Rebuttal | ReplyKind::Contest | ReplyKind::Worsened | ReplyKind::Hint => false,
        })
    }

    /// Returns the kind of referee's reply, and the answered note if the Tag is trusted.
    fn parse_own_reply<'t>(&self, note: &'t Note) -> Option<(ReplyKind, Option<&'t NoteId>)> {
        let tag: &UnsealedMark<Tag> = note.text.reading.tag.as_deref().filter(|_| self.is_own_author(&note.author))?;
        match &tag.data.kind {
            TagKind::Reply { what, answers } => Some((*what, tag.trusted_data().map(|_| answers))),
            TagKind::Root { .. } | TagKind::Topic(_) => None,
        }
    }

    /// Returns the stored triage, if it belongs to this pull.
    pub fn triage(&self) -> Option<&'a Triage> {
        let triage = self.snapshot.evidence.triage.as_ref()?;
        (triage.pr_number == self.snapshot.pull.number.0).then_some(triage)
    }

    /// Returns the stored triage of a thread.
    pub fn find_triage_item(&self, thread: &Thread) -> Option<&'a TriageItem> {
        self.triage()?.threads.iter().find(|item| item.thread_id == thread.id)
    }

    /// Returns the stored triage of a thread if it requires a person's decision, which no flag overrides (D26).
    pub fn find_item_for_person(&self, thread: &Thread) -> Option<&'a TriageItem> {
        self.find_triage_item(thread)
            .filter(|item| item.requires_human_decision || item.classification == Class::NeedsHuman)
    }

    /// Returns the stored triage of a person's thread if its confidence is low (FIX-13).
    pub fn find_uncertain_item(&self, thread: &Thread) -> Option<&'a TriageItem> {
        self.find_triage_item(thread)
            .filter(|item| item.confidence == Confidence::Low && self.opener(thread) == Opener::Person)
    }
}
