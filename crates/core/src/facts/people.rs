//! What people, and other bots, decided: their blocks, and what they may accept.

use crate::model::{Author, Counts, Login, Review, Severity, Snapshot, Verdict};
use crate::policy::Policy;

/// A block that still stands: the latest verdict of somebody who is not referee (DSP-5).
#[derive(Clone, Copy, Debug)]
pub struct PersonBlock<'a> {
    /// Their review.
    pub review: &'a Review,
    /// It was made for this very head.
    pub at_head: bool,
}

impl PersonBlock<'_> {
    /// Who blocks; a deleted user still does.
    pub fn name(&self) -> &str {
        self.review.author.name()
    }

    /// The cause a worker would answer (D4): one per review of a person, whatever the head.
    pub fn cause(&self) -> String {
        let kind = if self.review.author.bot { "bot" } else { "person" };
        format!("{kind}:{}@{}", self.name(), self.review.id)
    }
}

/// Latest verdicts per reviewer that still block. A comment clears nothing; an approval does, and so does a
/// dismissal by one who may write and is not the pull's author.
pub(super) fn blocks<'a>(snapshot: &'a Snapshot, policy: &Policy) -> Vec<PersonBlock<'a>> {
    let mut latest: Vec<&Review> = Vec::new();
    for review in &snapshot.reviews {
        let Some(verdict @ (Verdict::Approve | Verdict::RequestChanges)) = review.verdict() else { continue };
        if review.author.login.as_ref().is_some_and(|login| super::is_own(snapshot, policy, login)) {
            continue;
        }
        let lifted = verdict == Verdict::RequestChanges && lifted_rightly(snapshot, review);
        latest.retain(|other| !same_reviewer(other, review));
        if verdict == Verdict::RequestChanges && !lifted {
            latest.push(review);
        }
    }
    latest
        .into_iter()
        .map(|review| PersonBlock { review, at_head: review.commit.as_ref() == Some(&snapshot.pull.head) })
        .collect()
}

/// Whether a row was dismissed by one who may: write access, and not the pull's author.
pub(crate) fn lifted_rightly(snapshot: &Snapshot, review: &Review) -> bool {
    match &review.counts {
        Counts::Dismissed { by: Some(by), .. } => by.may_write() && by.login != snapshot.pull.author.login,
        _ => false,
    }
}

fn same_reviewer(a: &Review, b: &Review) -> bool {
    a.author.login.is_some() && a.author.login == b.author.login
}

/// Whether somebody may accept a finding of that severity (D10): write access; for a critical one not the
/// pull's author, unless author and operator are one.
pub fn may_accept(snapshot: &Snapshot, policy: &Policy, by: &Author, severity: Severity) -> bool {
    let is_author = by.login.is_some() && by.login == snapshot.pull.author.login;
    if is_author && policy.author_may_accept {
        return true;
    }
    by.may_write() && (severity < Severity::Critical || !is_author)
}

impl<'a> super::Facts<'a> {
    /// A person's approval at this very head: it ends author work (D20).
    pub fn approved_by_person(&self) -> Option<&'a Login> {
        self.snapshot
            .reviews
            .iter()
            .rev()
            .find(|review| {
                review.verdict() == Some(Verdict::Approve)
                    && matches!(review.counts, Counts::Yes)
                    && review.commit.as_ref() == Some(&self.snapshot.pull.head)
                    && !review.author.bot
                    && review.author.may_write()
                    && review.author.login != self.snapshot.pull.author.login
                    && !self.is_own_author(&review.author)
            })
            .and_then(|review| review.author.login.as_ref())
    }
}
