//! How `review` ends. The exit code and the words of the verdict are computed from the same facts, so that they agree
//! (D36).
//!
//! | first row that applies | exit code | verdict |
//! |---|---|---|
//! | a write failed for good, or the forge refused the review | 1 | not published |
//! | a write must be repeated: its outcome is unknown, the forge failed, or the head moved | 75 | not published |
//! | `--fail-on` is met | 20 | changes requested, or that `--fail-on` is met |
//! | a role of this run should have read the head and did not, or not completely | 14 | not reviewed |
//! | a role of this run waits: `review.start`, a pause, broken glass | 0 | not reviewed |
//! | an earlier block stays, although no role requests changes at this head | 0 | an earlier block stays |
//! | otherwise | 0 | nothing blocking, approved, or that no role reads these files |
//!
//! In every row the words are "changes requested" if a blocking role requests changes.

use std::fmt::Write as _;

use referee_core::model::{ReportOutcome, Severity, Snapshot, Verdict};
use referee_core::plan::{BlockedCause, Next, Plan, RoleState, UnreadCause};
use referee_core::policy::Policy;
use referee_turn::{Receipt, StepOutcome, Turn};

use super::findings::replace_controls;
use super::pluralize;
use crate::failure::CliOutcome;

/// What makes `review` end with exit code 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailThreshold {
    Never,
    /// A blocking role requests changes.
    Verdict,
    /// An open finding of any role is at least this severe.
    Severity(Severity),
}

/// How a review ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReviewEnding {
    pub(crate) outcome: CliOutcome,
    word: VerdictWord,
    /// The roles of this run that have not read the head completely, each with its reason.
    unread: Vec<String>,
    /// A blocking role requests changes, but nothing enforces it: the glass is broken.
    not_enforced: bool,
    publishing: Publishing,
    /// The number of open findings that meet the threshold.
    meeting_threshold: usize,
}

/// What became of the writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Publishing {
    Complete,
    /// A write failed, and the next run would fail too.
    Failed,
    /// A write must be repeated by the next run.
    Unfinished,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VerdictWord {
    ChangesRequested,
    MeetsThreshold,
    NotPublished,
    NotReviewed,
    BlockStays,
    NothingBlocking,
    Approved,
    NobodyAsked,
}

/// What the table looks at.
#[derive(Clone, Copy, Debug)]
struct ReviewFacts {
    publishing: Publishing,
    /// Whether a blocking role requests changes.
    changes_requested: bool,
    threshold_met: bool,
    /// A role should have read the head, and did not.
    shortcoming: bool,
    /// A role has not read the head, and need not have.
    waiting: bool,
    /// The worst verdict of all roles.
    worst: Option<Verdict>,
}

impl ReviewEnding {
    pub(crate) fn from_turn(turn: &Turn, policy: &Policy, threshold: FailThreshold) -> Self {
        let plan = &turn.plan;
        let blocks = |role: &&RoleState| {
            role.own == Some(Verdict::RequestChanges) && policy.role(&role.role).is_some_and(|role| role.blocks)
        };
        let mut blocking = plan.roles.iter().filter(blocks).peekable();
        let changes_requested = blocking.peek().is_some();
        let not_enforced = changes_requested && blocking.all(|role| role.enforced != Some(Verdict::RequestChanges));
        let meeting_threshold = match threshold {
            FailThreshold::Severity(least) => {
                plan.findings.iter().filter(|it| it.counts && it.severity >= least).count()
            }
            FailThreshold::Never | FailThreshold::Verdict => 0,
        };
        let causes: Vec<&UnreadCause> = plan.roles.iter().filter_map(|role| role.unread.as_ref()).collect();
        let unreadable = describe_unreadable(plan);
        let facts = ReviewFacts {
            publishing: Publishing::from_turn(turn),
            changes_requested,
            threshold_met: match threshold {
                FailThreshold::Never => false,
                FailThreshold::Verdict => changes_requested,
                FailThreshold::Severity(_) => meeting_threshold > 0,
            },
            shortcoming: unreadable.is_some() || causes.iter().any(|cause| cause.is_shortcoming()),
            waiting: causes.iter().any(|cause| !cause.is_shortcoming()),
            worst: plan.roles.iter().filter_map(|role| role.enforced.or(role.own)).max(),
        };
        let (outcome, word) = facts.conclude();
        let unread = plan
            .roles
            .iter()
            .filter_map(|role| Some(format!("{} ({})", role.role, describe_unread(role, &turn.snapshot)?)));
        let unread = unread.chain(unreadable).collect();
        Self { outcome, word, unread, not_enforced, publishing: facts.publishing, meeting_threshold }
    }

    /// Returns whether the roles of this run read the head completely, and what they say is published.
    pub(super) fn is_reviewed(&self) -> bool {
        self.publishing == Publishing::Complete && self.unread.is_empty() && self.word != VerdictWord::NobodyAsked
    }

    /// Returns whether "everything is as it should be" is true.
    pub(super) fn is_clean(&self) -> bool {
        self.is_reviewed() && matches!(self.word, VerdictWord::NothingBlocking | VerdictWord::Approved)
    }

    pub(super) fn is_published(&self) -> bool {
        self.publishing == Publishing::Complete
    }

    /// Renders the verdict on a pull.
    pub(super) fn render_verdict(&self, pull: &str, round: u32, max_rounds: u32) -> String {
        let mut line = match self.word {
            VerdictWord::ChangesRequested => format!("changes requested on {pull}"),
            VerdictWord::MeetsThreshold => {
                format!("{} at or above `--fail-on` on {pull}", pluralize(self.meeting_threshold, "finding"))
            }
            VerdictWord::NotPublished => format!("not published on {pull}"),
            VerdictWord::NotReviewed => format!("not reviewed on {pull}"),
            VerdictWord::BlockStays => format!("nothing new blocks {pull}, but an earlier block stays"),
            VerdictWord::NothingBlocking => format!("nothing blocking on {pull}"),
            VerdictWord::Approved => format!("approved on {pull}"),
            VerdictWord::NobodyAsked => format!("none on {pull}: no role reads it"),
        };
        if round > 0 {
            let _ = write!(line, ", round {round} of {max_rounds}");
        }
        if self.not_enforced {
            line.push_str("; not enforced, because the glass is broken");
        }
        if !self.is_published() && self.word != VerdictWord::NotPublished {
            line.push_str("; not published");
        }
        if !self.unread.is_empty() {
            let label = if self.word == VerdictWord::NotReviewed { ":" } else { "; not reviewed:" };
            let _ = write!(line, "{label} {}", self.unread.join(", "));
        }
        line
    }

    /// Returns the verdict in one or two words, for a heading.
    pub(super) fn heading(&self) -> &'static str {
        match self.word {
            VerdictWord::ChangesRequested => "Changes requested",
            VerdictWord::MeetsThreshold => "Findings at or above `--fail-on`",
            VerdictWord::NotPublished => "Not published",
            VerdictWord::NotReviewed | VerdictWord::NobodyAsked => "Not reviewed",
            VerdictWord::BlockStays => "An earlier block stays",
            VerdictWord::NothingBlocking | VerdictWord::Approved => "Nothing blocking",
        }
    }
}

impl ReviewFacts {
    /// The table of this module.
    fn conclude(&self) -> (CliOutcome, VerdictWord) {
        let (outcome, word) = match self.publishing {
            Publishing::Failed => (CliOutcome::Failed, VerdictWord::NotPublished),
            Publishing::Unfinished => (CliOutcome::TryLater, VerdictWord::NotPublished),
            Publishing::Complete if self.threshold_met => (CliOutcome::Findings, VerdictWord::MeetsThreshold),
            Publishing::Complete if self.shortcoming => (CliOutcome::Inconclusive, VerdictWord::NotReviewed),
            Publishing::Complete if self.waiting => (CliOutcome::Done, VerdictWord::NotReviewed),
            Publishing::Complete => {
                let word = match self.worst {
                    Some(Verdict::RequestChanges) => VerdictWord::BlockStays,
                    Some(Verdict::Comment) => VerdictWord::NothingBlocking,
                    Some(Verdict::Approve) => VerdictWord::Approved,
                    None => VerdictWord::NobodyAsked,
                };
                (CliOutcome::Done, word)
            }
        };
        (outcome, if self.changes_requested { VerdictWord::ChangesRequested } else { word })
    }
}

impl Publishing {
    fn from_turn(turn: &Turn) -> Self {
        // A later plan of the turn may have repaired what an earlier one could not write.
        let last_plan = turn.receipts.len().saturating_sub(turn.plan.steps.len());
        let failed = |receipt: &Receipt| match receipt.outcome {
            StepOutcome::Failed => true,
            StepOutcome::Refused => receipt.action == "post_review",
            _ => false,
        };
        if turn.needs_rerun {
            Self::Unfinished
        } else if turn.receipts.iter().skip(last_plan).any(failed) {
            Self::Failed
        } else {
            Self::Complete
        }
    }
}

/// Maximum length of a reviewer's own words in a message.
const MAX_REASON_CHARS: usize = 200;

/// Describes why a role of this run has not read the head completely; a reviewer that failed says how.
pub(super) fn describe_unread(role: &RoleState, snapshot: &Snapshot) -> Option<String> {
    let cause = role.unread.as_ref()?;
    let report = snapshot.latest_report(&role.role).map(|report| &report.outcome);
    match (cause, report) {
        (UnreadCause::Failed, Some(ReportOutcome::Failed { reason })) if !reason.is_empty() => {
            let reason: String = reason.chars().take(MAX_REASON_CHARS).collect();
            Some(format!("{cause}: {}", replace_controls(&reason)))
        }
        _ => Some(cause.to_string()),
    }
}

/// Returns why nothing was decided on a pull that is open.
fn describe_unreadable(plan: &Plan) -> Option<String> {
    matches!(plan.next, Next::Blocked(BlockedCause::Incomplete | BlockedCause::NewerMark))
        .then(|| format!("any role ({})", plan.why.facts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{CliOutcome, Publishing, ReviewFacts, Verdict, VerdictWord};

    const CLEAN: ReviewFacts = ReviewFacts {
        publishing: Publishing::Complete,
        changes_requested: false,
        threshold_met: false,
        shortcoming: false,
        waiting: false,
        worst: Some(Verdict::Approve),
    };

    /// Every row, each with everything that later rows look at (D36).
    #[test]
    fn the_first_row_that_applies_sets_code_and_words() {
        use VerdictWord as Word;
        let all = ReviewFacts { threshold_met: true, shortcoming: true, waiting: true, ..CLEAN };
        let unread = ReviewFacts { threshold_met: false, ..all };
        let waiting = ReviewFacts { shortcoming: false, ..unread };
        let failed = ReviewFacts { publishing: Publishing::Failed, ..all };
        let unfinished = ReviewFacts { publishing: Publishing::Unfinished, ..all };
        let comment = ReviewFacts { worst: Some(Verdict::Comment), ..CLEAN };
        let rows = [
            (failed, CliOutcome::Failed, Word::NotPublished),
            (unfinished, CliOutcome::TryLater, Word::NotPublished),
            (all, CliOutcome::Findings, Word::MeetsThreshold),
            (unread, CliOutcome::Inconclusive, Word::NotReviewed),
            (waiting, CliOutcome::Done, Word::NotReviewed),
            (ReviewFacts { worst: Some(Verdict::RequestChanges), ..CLEAN }, CliOutcome::Done, Word::BlockStays),
            (comment, CliOutcome::Done, Word::NothingBlocking),
            (CLEAN, CliOutcome::Done, Word::Approved),
            (ReviewFacts { worst: None, ..CLEAN }, CliOutcome::Done, Word::NobodyAsked),
        ];
        for (facts, outcome, word) in rows {
            assert_eq!(facts.conclude(), (outcome, word), "{facts:?}");
            let blocked = ReviewFacts { changes_requested: true, ..facts };
            assert_eq!(blocked.conclude(), (outcome, Word::ChangesRequested), "{blocked:?}");
        }
    }
}
