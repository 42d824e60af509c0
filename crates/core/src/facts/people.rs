//! Decisions of people and other bots: their blocks, and what they may accept.

use crate::model::{Author, Login, Note, Review, ReviewWeight, Severity, Snapshot, Thread, Verdict};
use crate::policy::Policy;

use super::BotReview;

/// A block that still stands: the latest verdict of a reviewer other than referee (DSP-5).
#[derive(Clone, Copy, Debug)]
pub struct ExternalBlock<'a> {
    pub review: &'a Review,
    /// The review is of this head.
    pub at_head: bool,
    /// The other bot's name, from the sentinel in its text (DSP-5).
    pub sentinel: Option<&'a str>,
}

impl<'a> ExternalBlock<'a> {
    /// Returns who blocks. The block of a deleted user still stands.
    pub fn name(&self) -> &'a str {
        self.sentinel.unwrap_or_else(|| self.review.author.display_name())
    }

    /// Returns whether a bot blocks, not a person.
    pub fn is_bot(&self) -> bool {
        self.sentinel.is_some() || self.review.author.bot
    }

    /// Returns the cause that a worker would answer (D4): one per review of a person, whatever the head.
    pub fn cause(&self) -> String {
        let kind = if self.is_bot() { "bot" } else { "person" };
        format!("{kind}:{}@{}", self.name(), self.review.id)
    }
}

/// Returns the latest verdicts per reviewer that still block. A comment lifts nothing; an approval does, and so does a
/// dismissal by somebody with write access other than the pull's author. Bots with the same login are distinguished by
///  their sentinel.
pub(super) fn find_external_blocks<'a>(
    snapshot: &'a Snapshot,
    policy: &Policy,
    own: &[&Login],
) -> Vec<ExternalBlock<'a>> {
    let mut latest: Vec<ExternalBlock<'a>> = Vec::new();
    for review in &snapshot.reviews {
        let Some(verdict @ (Verdict::Approve | Verdict::RequestChanges)) = review.verdict() else { continue };
        let bot = BotReview::from_review(snapshot, policy, review);
        let own = review.author.login.as_ref().is_some_and(|login| own.contains(&login));
        if (own && bot.is_none()) || bot.is_some_and(|bot| has_role_mark(snapshot, policy, bot.name)) {
            continue;
        }
        let block = ExternalBlock {
            review,
            at_head: match bot.filter(|bot| bot.text.evaluated.is_some()) {
                Some(bot) => bot.at_head,
                None => review.commit.as_ref() == Some(&snapshot.pull.head),
            },
            sentinel: bot.map(|bot| bot.name),
        };
        latest.retain(|other| !is_same_reviewer(other, &block));
        if verdict == Verdict::RequestChanges && !is_validly_dismissed(snapshot, review) {
            latest.push(block);
        }
    }
    latest
}

/// Returns whether a role of that name has a Mark on the pull: then the Mark counts, not an older bot's sentinel.
fn has_role_mark(snapshot: &Snapshot, policy: &Policy, name: &str) -> bool {
    policy.roles.iter().any(|role| role.name.as_str() == name)
        && snapshot.reviews.iter().any(|it| it.text.trusted_mark().is_some_and(|mark| mark.role.as_str() == name))
}

/// Returns whether a review was dismissed by somebody with write access other than the pull's author.
pub(crate) fn is_validly_dismissed(snapshot: &Snapshot, review: &Review) -> bool {
    match &review.counts {
        ReviewWeight::Dismissed { by: Some(by), .. } => {
            by.may_write() && !by.bot && by.login != snapshot.pull.author.login
        }
        _ => false,
    }
}

fn is_same_reviewer(a: &ExternalBlock<'_>, b: &ExternalBlock<'_>) -> bool {
    let (one, other) = (&a.review.author.login, &b.review.author.login);
    one.is_some() && one == other && a.sentinel == b.sentinel
}

/// Returns whether somebody may accept a finding of that severity (D10): write access is needed; for a critical finding
/// not the pull's author, unless author and operator are the same person. A program never may (D31).
pub fn may_accept(snapshot: &Snapshot, policy: &Policy, by: &Author, severity: Severity) -> bool {
    if by.bot {
        return false;
    }
    let is_author = by.login.is_some() && by.login == snapshot.pull.author.login;
    if is_author && policy.author_may_accept {
        return true;
    }
    by.may_write() && (severity < Severity::Critical || !is_author)
}

impl<'a> super::Facts<'a> {
    /// Returns the newest note in a thread by the pull's author or a person with write access, if referee has not written
    /// after it (D30).
    pub fn find_unanswered_note<'t>(&self, thread: &'t Thread) -> Option<&'t Note> {
        let is_author = |by: &Author| by.login.is_some() && by.login == self.snapshot.pull.author.login;
        let mut recent = thread.notes.iter().rev().take_while(|note| !self.is_own_author(&note.author));
        recent.find(|note| !note.author.bot && (note.author.may_write() || is_author(&note.author)))
    }

    /// Returns the person who approved this head, which ends the author's work (D20). Somebody who blocked later does
    /// not count, nor does another bot, which may use a person's login.
    pub fn find_person_approval(&self) -> Option<&'a Login> {
        let blocks =
            |review: &Review| self.external_blocks.iter().any(|block| block.review.author.login == review.author.login);
        self.snapshot
            .reviews
            .iter()
            .rev()
            .find(|review| {
                review.verdict() == Some(Verdict::Approve)
                    && matches!(review.counts, ReviewWeight::Yes)
                    && review.commit.as_ref() == Some(&self.snapshot.pull.head)
                    && !review.author.bot
                    && review.author.may_write()
                    && review.author.login != self.snapshot.pull.author.login
                    && !self.is_own_author(&review.author)
                    && BotReview::from_review(self.snapshot, self.policy, review).is_none()
                    && !blocks(review)
            })
            .and_then(|review| review.author.login.as_ref())
    }
}
