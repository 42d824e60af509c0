//! The input for judging one answer: the answer, its thread, and the stored triage.
//!
//! | class | when |
//! |---|---|
//! | needs_human | the stored triage is uncertain about a person's text (FIX-13), and `--detached` is not set |
//! | the answer's | otherwise |

use crate::model::{Answer, Class, Login, Note, Sha, Snapshot, Thread, TriageItem};
use crate::plan::Reason;
use crate::policy::Policy;
use crate::render::reply::class_name;
use crate::rule::Rule;
use crate::sanitise::SafeText;
use crate::triage::{Opener, OwnIdentities, claims_resolution};

/// One answer and its thread.
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
    /// The entry of the stored triage; `None` with `--detached`.
    pub(super) triage_item: Option<&'a TriageItem>,
}

/// The texts of an answer, without blank ones and those that claim a resolution, which only the forge may report.
pub(super) struct AnswerText<'a> {
    pub(super) fix_summary: Option<&'a str>,
    pub(super) evidence: Option<&'a str>,
    pub(super) reply_body: Option<&'a str>,
    /// Fields that claim that the thread is resolved; they are not used (FIX-4).
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

    /// Starts a reason with the facts that every reason about this answer has.
    pub(super) fn build_reason(&self, rule: Rule) -> Reason {
        let class = self.answer.classification;
        let suffix = if self.class == class { "" } else { ", uncertain about a person's text" };
        Reason::new(rule)
            .with_fact(format!("thread `{}`", self.thread.id))
            .with_fact(format!("{}{suffix}", class_name(class)))
    }

    /// Returns the answer's commit if the head contains it.
    pub(super) fn reachable_commit(&self) -> Option<&'a Sha> {
        self.answer.commit_sha.as_ref().filter(|_| self.answer.commit_reachable)
    }

    /// Returns referee's root note, its author and its text, if a line can be added: this process has the author's
    /// token, and the text is known, because an edit replaces it.
    pub(super) fn editable_root(&self) -> Option<(&'a Note, &'a Login, &'a str)> {
        self.own.root_tag(self.thread)?;
        let root = self.thread.root()?;
        let by = root.author.login.as_ref()?;
        let viewer = &self.snapshot.viewer;
        let has_token = viewer.login == *by || viewer.holds.contains(by);
        root.text.body.as_deref().filter(|_| has_token).map(|words| (root, by, words))
    }
}

impl<'a> AnswerText<'a> {
    fn from_answer(answer: &'a Answer) -> Self {
        let mut dropped = Vec::new();
        let mut keep = |field, words: &'a Option<String>| {
            let words = words.as_deref().filter(|words| !words.trim().is_empty())?;
            // Check the sanitised text: the sanitiser removes hidden characters, which may join two halves of a word.
            if claims_resolution(SafeText::sanitise_block(words, usize::MAX).as_str()) {
                dropped.push(field);
                return None;
            }
            Some(words)
        };
        let fix_summary = keep("fixSummary", &answer.fix_summary);
        let evidence = keep("evidence", &answer.evidence);
        let reply_body = keep("replyBody", &answer.reply_body);
        Self { fix_summary, evidence, reply_body, dropped_fields: dropped }
    }
}
