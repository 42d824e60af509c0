//! Does a plan, step by step, behind its gates.
//!
//! | what a step meets | then |
//! |---|---|
//! | a shut gate | withheld, and the run goes on |
//! | a moved head, before a step that speaks of the head | the run ends: plan again (PUB-15) |
//! | done, already so, marked in text | the run goes on |
//! | not permitted, unsupported | refused, and the run goes on, unless a block was to be posted |
//! | the forge refuses the request, or answers nonsense | failed, and the run goes on, unless a block was to be posted |
//! | a resolution whose reply failed | left for the next run: nobody could say later why it is resolved |
//! | an unknown outcome, later, not found | the run ends: read before anything is sent again |

use referee_core::mark::{Binding, Keys, seal_draft};
use referee_core::model::{CommentId, ReviewId, Snapshot, ThreadId, Verdict};
use referee_core::plan::{Action, Plan, Precondition, Step};
use referee_forge::{ActionRequest, Forge, ForgeError, Gates, PerformOutcome, Recovery, WithheldReason};

use crate::journal::{Intent, Journal};
use crate::receipt::{Receipt, StepOutcome};

/// What came of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApplyOutcome {
    /// One for each step.
    pub receipts: Vec<Receipt>,
    /// The run ended early: everything must be read again.
    pub ended_early: bool,
    /// An approval was posted: head and siblings are read once more (PUB-15, D6).
    pub approved: bool,
    /// How many writes left.
    pub writes: usize,
    /// Reviews that were made: a later read that lacks one is older than it (D6).
    pub reviews: Vec<ReviewId>,
    /// Comments that were made.
    pub comments: Vec<CommentId>,
    /// Threads in which a reply failed.
    failed_reply_threads: Vec<ThreadId>,
}

/// Does a plan.
pub async fn apply_plan(
    forge: &dyn Forge,
    journal: &dyn Journal,
    gates: &Gates,
    keys: &Keys,
    snapshot: &Snapshot,
    plan: &Plan,
) -> ApplyOutcome {
    apply_plan_with_binding(forge, journal, gates, keys, &snapshot_binding(snapshot), plan).await
}

/// What a text on a pull is sealed for.
pub(crate) fn snapshot_binding(snapshot: &Snapshot) -> Binding {
    Binding { forge: snapshot.pull.forge.clone(), repo: snapshot.pull.repo, pull: snapshot.pull.number }
}

/// Does a plan whose texts are sealed for that place: an issue has no snapshot.
pub(crate) async fn apply_plan_with_binding(
    forge: &dyn Forge,
    journal: &dyn Journal,
    gates: &Gates,
    keys: &Keys,
    binding: &Binding,
    plan: &Plan,
) -> ApplyOutcome {
    let mut out = ApplyOutcome::default();
    let mut head_checked = false;
    for (at, step) in plan.steps.iter().enumerate() {
        let mut receipt =
            Receipt { step: at, action: step.action.name(), outcome: StepOutcome::Planned, note: String::new() };
        if out.is_missing_reply(step) {
            "its reply failed".clone_into(&mut receipt.note);
        } else if !out.ended_early {
            apply_step(forge, journal, gates, keys, binding, plan, step, &mut head_checked, &mut receipt, &mut out)
                .await;
        }
        out.receipts.push(receipt);
    }
    out
}

#[expect(clippy::too_many_arguments, reason = "one step takes all that the run holds")]
async fn apply_step(
    forge: &dyn Forge,
    journal: &dyn Journal,
    gates: &Gates,
    keys: &Keys,
    binding: &Binding,
    plan: &Plan,
    step: &Step,
    head_checked: &mut bool,
    receipt: &mut Receipt,
    out: &mut ApplyOutcome,
) {
    let permit = match gates.permit_step(step) {
        Ok(permit) => permit,
        Err(withheld) => {
            receipt.outcome = StepOutcome::Withheld;
            receipt.note = describe_withheld(&withheld).to_owned();
            return;
        }
    };
    if step.expect == Precondition::Head && !*head_checked {
        match forge.fetch_head(plan.pull).await {
            Ok(head) if head == plan.head => *head_checked = true,
            Ok(_) => return out.stop_early(receipt, StepOutcome::Planned, "the head moved"),
            Err(error) => return out.stop_early(receipt, StepOutcome::Failed, &error.to_string()),
        }
    }
    let sealed = step.action.map_text(|draft| seal_draft(draft, binding, keys));
    let intent = Intent { pull: plan.pull, step: receipt.step, action: receipt.action, head: plan.head.as_str() };
    if let Err(why) = journal.record_intent(&intent) {
        return out.stop_early(receipt, StepOutcome::Failed, &why);
    }
    let errand = ActionRequest { action: &sealed, by: &step.by, expect: &step.expect, permit: &permit };
    let performed = forge.perform(plan.pull, &errand).await;
    out.record_outcome(step, receipt, performed);
    journal.record_receipt(&intent, receipt);
}

impl ApplyOutcome {
    /// Whether a read is younger than all that was made here: only such a read may be decided on again.
    pub fn is_visible_in(&self, snapshot: &Snapshot) -> bool {
        self.reviews.iter().all(|id| snapshot.reviews.iter().any(|review| review.id == *id))
            && self.comments.iter().all(|id| snapshot.comments.iter().any(|comment| comment.id == *id))
    }

    fn is_missing_reply(&self, step: &Step) -> bool {
        matches!(&step.action, Action::Resolve { thread, .. } if self.failed_reply_threads.contains(thread))
    }

    fn record_outcome(&mut self, step: &Step, receipt: &mut Receipt, performed: Result<PerformOutcome, ForgeError>) {
        match performed {
            Ok(PerformOutcome::Done(made)) => {
                receipt.outcome = StepOutcome::Done;
                self.writes += 1;
                self.approved |= step.approves;
                self.reviews.extend(made.review);
                self.comments.extend(made.comment);
            }
            Ok(PerformOutcome::MarkedInText) => {
                receipt.outcome = StepOutcome::Done;
                self.writes += 1;
                "marked in the text: this forge cannot resolve".clone_into(&mut receipt.note);
            }
            Ok(PerformOutcome::AlreadySo) => receipt.outcome = StepOutcome::AlreadySo,
            Ok(PerformOutcome::NotPermitted) => {
                receipt.outcome = StepOutcome::Refused;
                "this token may not do it".clone_into(&mut receipt.note);
            }
            Err(error) => self.record_error(step, receipt, &error),
        }
    }

    fn record_error(&mut self, step: &Step, receipt: &mut Receipt, error: &ForgeError) {
        let blocks = matches!(&step.action, Action::PostReview { verdict: Verdict::RequestChanges, .. });
        match error.recovery() {
            Recovery::Reread => {
                let unknown = *error == ForgeError::OutcomeUnknown;
                self.writes += usize::from(unknown);
                let outcome = if unknown { StepOutcome::Unknown } else { StepOutcome::Planned };
                self.stop_early(receipt, outcome, &error.to_string());
            }
            Recovery::RetryLater => self.stop_early(receipt, StepOutcome::Failed, &error.to_string()),
            // What follows a block leans on it; anything else may fail alone.
            Recovery::Report if blocks => self.stop_early(receipt, StepOutcome::Failed, &error.to_string()),
            Recovery::Report => {
                let refused = matches!(error, ForgeError::Forbidden(_) | ForgeError::Unsupported(_));
                receipt.outcome = if refused { StepOutcome::Refused } else { StepOutcome::Failed };
                receipt.note = error.to_string();
                if let (Action::Reply { thread, .. }, false) = (&step.action, refused) {
                    self.failed_reply_threads.push(thread.clone());
                }
            }
        }
    }

    fn stop_early(&mut self, receipt: &mut Receipt, outcome: StepOutcome, note: &str) {
        receipt.outcome = outcome;
        note.clone_into(&mut receipt.note);
        self.ended_early = true;
    }
}

fn describe_withheld(withheld: &WithheldReason) -> &'static str {
    match withheld {
        WithheldReason::DryRun => "a dry run",
        WithheldReason::GateOff(_) => "its gate is off",
        WithheldReason::NotRequested(_) => "its gate asks, and nobody asked",
        WithheldReason::ApproveOff => "approving is off",
    }
}
