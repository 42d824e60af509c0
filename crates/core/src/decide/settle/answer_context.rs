//! One answer beside its thread, with what is known of both.
//!
//! | the class is | when |
//! |---|---|
//! | needs_human | the stored triage is a guess about what a person wrote (FIX-13), unless it is not to be looked at |
//! | the answer's | else |

use crate::model::{Answer, Class, Login, Note, Sha, Snapshot, Thread, TriageItem};
use crate::plan::Reason;
use crate::policy::Policy;
use crate::render::reply::class_name;
use crate::rule::Rule;
use crate::sanitise::SafeText;
use crate::triage::{Opener, OwnIdentities, claims_resolution};

/// One answer beside its thread.
pub(super) struct AnswerContext<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) policy: &'a Policy,
    pub(super) own: OwnIdentities<'a>,
    pub(super) answer: &'a Answer,
    pub(super) thread: &'a Thread,
    pub(super) class: Class,
    pub(super) opener: Opener,
    pub(super) text: AnswerText<'a>,
    /// The note that a reply answers.
    pub(super) latest_note: Option<&'a Note>,
    /// What the stored triage says of it, unless that is not to be looked at.
    pub(super) triage_item: Option<&'a TriageItem>,
}

/// The answer's words, without blank ones and without those that say what only the forge may say.
pub(super) struct AnswerText<'a> {
    pub(super) fix_summary: Option<&'a str>,
    pub(super) evidence: Option<&'a str>,
    pub(super) reply_body: Option<&'a str>,
    /// Fields that say that the thread is resolved: they are not used (FIX-4).
    pub(super) dropped_fields: Vec<&'static str>,
}

impl<'a> AnswerContext<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, policy: &'a Policy, answer: &'a Answer, thread: &'a Thread) -> Self {
        let own = OwnIdentities::new(snapshot, policy);
        let triaged = own.find_triage_item(thread).filter(|_| !snapshot.evidence.detached);
        let guess = triaged.is_some() && own.find_uncertain_item(thread).is_some();
        Self {
            snapshot,
            policy,
            own,
            answer,
            thread,
            class: if guess { Class::NeedsHuman } else { answer.classification },
            opener: own.opener(thread),
            text: AnswerText::from_answer(answer),
            latest_note: own.latest_answerable_note(thread),
            triage_item: triaged,
        }
    }

    /// A reason that begins with what every reason here is about.
    pub(super) fn build_reason(&self, rule: Rule) -> Reason {
        let class = self.answer.classification;
        let taken = if self.class == class { "" } else { ", a guess about what a person wrote" };
        Reason::new(rule)
            .with_fact(format!("thread `{}`", self.thread.id))
            .with_fact(format!("{}{taken}", class_name(class)))
    }

    /// The answer's commit, if the head has it.
    pub(super) fn reachable_commit(&self) -> Option<&'a Sha> {
        self.answer.commit_sha.as_ref().filter(|_| self.answer.commit_reachable)
    }

    /// The own root that a line can be added to, and who may: it is our text, we hold its author's token, and its
    /// words are at hand, since an edit replaces them.
    pub(super) fn editable_root(&self) -> Option<(&'a Note, &'a Login, &'a str)> {
        self.own.root_tag(self.thread)?;
        let root = self.thread.root()?;
        let by = root.author.login.as_ref()?;
        let viewer = &self.snapshot.viewer;
        let held = viewer.login == *by || viewer.holds.contains(by);
        root.text.body.as_deref().filter(|_| held).map(|words| (root, by, words))
    }
}

impl<'a> AnswerText<'a> {
    fn from_answer(answer: &'a Answer) -> Self {
        let mut unsaid = Vec::new();
        let mut said = |field, words: &'a Option<String>| {
            let words = words.as_deref().filter(|words| !words.trim().is_empty())?;
            // As they would be sent: what is hidden from people is gone by then, and two halves may be one word.
            if claims_resolution(SafeText::sanitise_block(words, usize::MAX).as_str()) {
                unsaid.push(field);
                return None;
            }
            Some(words)
        };
        let fix_summary = said("fixSummary", &answer.fix_summary);
        let evidence = said("evidence", &answer.evidence);
        let reply_body = said("replyBody", &answer.reply_body);
        Self { fix_summary, evidence, reply_body, dropped_fields: unsaid }
    }
}
