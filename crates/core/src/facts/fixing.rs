//! Texts of the fixing side: answers in threads, fix plans, self-reviews (D14, DSP-8, DSP-9).

use super::bots::is_commit_prefix;
use crate::mark::{ReplyKind, TagKind, Topic};
use crate::model::{Author, Comment, FindingId, Sha, Thread, Time};

/// A fix plan for this head.
#[derive(Clone, Copy, Debug)]
pub struct FixPlanComment<'a> {
    /// When it was written.
    pub at: Time,
    /// Numbers of another bot's findings that the plan names.
    pub bot_finding_numbers: &'a [u32],
    /// Findings of referee that the plan names.
    pub findings: &'a [FindingId],
}

/// The outcome of the newest self-review of this head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfReviewOutcome {
    Clean,
    /// Something was found, or the outcome cannot be parsed.
    NeedsAttention,
}

impl<'a> super::Facts<'a> {
    /// Returns whether the fixing side wrote last in a thread (D14). The Tag is checked before the author: with one
    /// login for everything, a finding's root note is by the fixing side's login too.
    pub fn is_answered(&self, thread: &Thread) -> bool {
        let Some(last) = thread.last() else { return false };
        match last.text.trusted_tag().map(|tag| &tag.kind) {
            Some(TagKind::Root { settled, .. }) => settled.is_some(),
            Some(TagKind::Reply { what, .. }) => {
                !matches!(what, ReplyKind::Rebuttal | ReplyKind::Contest | ReplyKind::Worsened | ReplyKind::Hint)
            }
            Some(TagKind::Topic(_)) | None => {
                let opened_by_bot = thread.notes.len() == 1 && self.is_review_user(&last.author);
                self.is_fixing_side(&last.author) && !opened_by_bot
            }
        }
    }

    /// Returns whether the author is the workers' user or the pull's author.
    pub fn is_fixing_side(&self, author: &Author) -> bool {
        let Some(login) = &author.login else { return false };
        self.is_work_user(author) || self.snapshot.pull.author.login.as_ref() == Some(login)
    }

    /// Returns the fix plans for this head, oldest first.
    pub fn fix_plans(&self) -> Vec<FixPlanComment<'a>> {
        self.snapshot.comments.iter().filter_map(|comment| self.parse_fix_plan(comment)).collect()
    }

    /// Returns the outcome of the newest self-review of this head.
    pub fn newest_self_review(&self) -> Option<SelfReviewOutcome> {
        self.snapshot.comments.iter().rev().find_map(|comment| self.parse_self_review(comment))
    }

    fn parse_fix_plan(&self, comment: &'a Comment) -> Option<FixPlanComment<'a>> {
        let text = comment.text.bot_text();
        let tagged = self
            .own_topic(comment)
            .is_some_and(|(topic, head)| matches!(topic, Topic::FixPlan) && self.is_head_of_change(head));
        let written = || {
            let mut shorts = text.map_or(&[][..], |text| &text.fix_plan).iter();
            self.is_work_user(&comment.author)
                && shorts.any(|short| self.heads_of_change().any(|head| is_commit_prefix(short, head)))
        };
        (tagged || written()).then(|| FixPlanComment {
            at: comment.at,
            bot_finding_numbers: text.map_or(&[], |text| &text.answers),
            findings: text.map_or(&[], |text| &text.answers_own),
        })
    }

    fn parse_self_review(&self, comment: &Comment) -> Option<SelfReviewOutcome> {
        let clean = match self.own_topic(comment) {
            Some((Topic::SelfReview { clean }, head)) if self.is_head_of_change(head) => *clean,
            _ => {
                let text = comment.text.bot_text().filter(|_| self.is_work_user(&comment.author))?;
                text.self_review.as_ref().filter(|head| self.is_head_of_change(head))?;
                text.clean == Some(true)
            }
        };
        Some(if clean { SelfReviewOutcome::Clean } else { SelfReviewOutcome::NeedsAttention })
    }

    /// Returns the topic of a comment of referee, and the head it was written at.
    pub(crate) fn own_topic<'t>(&self, comment: &'t Comment) -> Option<(&'t Topic, &'t Sha)> {
        let tag = comment.text.trusted_tag()?;
        match &tag.kind {
            TagKind::Topic(topic) if self.is_own_author(&comment.author) || self.is_work_user(&comment.author) => {
                Some((topic, &tag.head))
            }
            _ => None,
        }
    }

    /// Returns whether a head has the same change as the current one; such heads count as one (D4).
    fn is_head_of_change(&self, head: &Sha) -> bool {
        self.heads_of_change().any(|known| known == head)
    }

    fn heads_of_change(&self) -> impl Iterator<Item = &'a Sha> {
        let head = &self.snapshot.pull.head;
        std::iter::once(head).chain(self.work.same_change_heads.clone())
    }

    fn is_work_user(&self, author: &Author) -> bool {
        let user = self.policy.work.as_ref().map(|work| &work.user);
        user.is_some_and(|user| author.has_login(user))
    }

    fn is_review_user(&self, author: &Author) -> bool {
        let work = self.policy.work.as_ref();
        author.login.as_ref().is_some_and(|login| work.is_some_and(|work| work.review_users.contains(login)))
    }
}
