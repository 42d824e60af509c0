//! Reviews of other review bots, recognised by the markers of the dispatch source. They count only from
//! `review_users`, or, if that is empty, from people with write access other than the pull's author.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{BotText, Login, Review, Sha, Snapshot, Verdict};
use crate::policy::Policy;

/// A review with another bot's sentinel.
#[derive(Clone, Copy, Debug)]
pub struct BotReview<'a> {
    /// The name in the sentinel.
    pub name: &'a str,
    pub review: &'a Review,
    /// The parsed markers of its text.
    pub text: &'a BotText,
    /// Its text says that it evaluated this head.
    pub at_head: bool,
}

impl<'a> BotReview<'a> {
    pub(super) fn from_review(snapshot: &'a Snapshot, policy: &Policy, review: &'a Review) -> Option<Self> {
        let text = review.text.bot_text()?;
        let name = text
            .sentinel
            .as_deref()
            .filter(|_| review.verdict().is_some() && is_trusted_bot_author(snapshot, policy, review))?;
        let at_head = text.evaluated.as_deref().is_some_and(|sha| is_commit_prefix(sha, &snapshot.pull.head));
        Some(Self { name, review, text, at_head })
    }
}

/// Returns whether a text names a commit: in full, or by a prefix of at least seven characters.
pub(super) fn is_commit_prefix(short: &str, sha: &Sha) -> bool {
    7 <= short.len() && sha.0.get(..short.len()).is_some_and(|prefix| prefix.eq_ignore_ascii_case(short))
}

fn is_trusted_bot_author(snapshot: &Snapshot, policy: &Policy, review: &Review) -> bool {
    let Some(work) = &policy.work else { return false };
    let Some(login) = &review.author.login else { return false };
    if work.review_users.is_empty() {
        review.author.may_write() && snapshot.pull.author.login.as_ref() != Some(login)
    } else {
        work.review_users.contains(login)
    }
}

/// Counts the rounds of other programs (D32): the heads at which one of them asked for changes since the latest reopen.
/// Returns the largest count.
pub(super) fn count_program_rounds(snapshot: &Snapshot, policy: &Policy, own: &[&Login]) -> u32 {
    let reopened = snapshot.pull.reopened_at();
    let mut heads: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for review in &snapshot.reviews {
        let bot = BotReview::from_review(snapshot, policy, review);
        let asks = review.verdict() == Some(Verdict::RequestChanges) && reopened.is_none_or(|at| at <= review.at);
        if !asks || !(bot.is_some() || is_other_program(policy, review, own)) {
            continue;
        }
        // A force-push with the same patch moves a review's commit on some forges; the text keeps what was read.
        let evaluated = bot.and_then(|bot| bot.text.evaluated.as_deref());
        let Some(head) = evaluated.or_else(|| review.commit.as_ref().map(Sha::as_str)) else { continue };
        let name = bot.map_or_else(|| review.author.display_name(), |bot| bot.name);
        heads.entry(name).or_default().insert(head.get(..7).unwrap_or(head));
    }
    heads.values().map(BTreeSet::len).max().and_then(|rounds| u32::try_from(rounds).ok()).unwrap_or(0)
}

/// Returns whether a program that is not referee wrote the review, and may: by write access, or as one of `review_users`.
fn is_other_program(policy: &Policy, review: &Review, own: &[&Login]) -> bool {
    let Some(login) = review.author.login.as_ref().filter(|login| !own.contains(login)) else { return false };
    let is_review_user = policy.work.as_ref().is_some_and(|work| work.review_users.contains(login));
    review.author.bot && (review.author.may_write() || is_review_user)
}

impl<'a> super::Facts<'a> {
    /// Returns the newest review of each other bot, in the order of posting.
    pub fn bot_reviews(&self) -> Vec<BotReview<'a>> {
        let mut newest: Vec<BotReview<'a>> = Vec::new();
        for review in &self.snapshot.reviews {
            let Some(bot) = BotReview::from_review(self.snapshot, self.policy, review) else { continue };
            newest.retain(|other| other.name != bot.name);
            newest.push(bot);
        }
        newest
    }
}
