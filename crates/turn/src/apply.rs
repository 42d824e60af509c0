//! Applies a plan, step by step, behind its gates.
//!
//! | result of a step | consequence |
//! |---|---|
//! | its gate is closed | withheld, and the run continues |
//! | the process was asked to end | the run ends |
//! | the head moved, before a step that depends on it | the run ends: plan again (PUB-15) |
//! | done, already so, marked in text | the run continues |
//! | not permitted, unsupported | refused, and the run continues, unless the step posts a block |
//! | the forge refuses the request, or its response is invalid | failed, and the run continues; after a block it ends, for another plan would fail too |
//! | it links a review that this plan posted | the run ends: read its address and plan again (PUB-5) |
//! | the reply before a resolution failed | the resolution is left for the next run: a resolved thread needs its explanation |
//! | the resolution before a reply failed | the reply is left for the next run: an open thread with it would read as reopened |
//! | outcome unknown, try later, not found | the run ends: read before sending anything again |

use referee_core::mark::{Binding, seal_draft};
use referee_core::model::{CommentId, Completeness, Login, ReviewId, Snapshot, ThreadId, Verdict};
use referee_core::plan::{Action, Plan, Precondition, Step};
use referee_forge::{ActionRequest, FetchedPull, ForgeError, PerformOutcome, PlanBasis, Recovery, WithheldReason};

use crate::journal::Intent;
use crate::receipt::{Receipt, StepOutcome};
use crate::turn::TurnContext;

/// The result of applying a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ApplyOutcome {
    /// One per step.
    pub(crate) receipts: Vec<Receipt>,
    /// The run ended early: everything must be read again.
    pub(crate) ended_early: bool,
    /// The forge refuses a block, on which the other steps depend. Another plan would fail the same way.
    pub(crate) gave_up: bool,
    /// An approval was posted, so head and siblings are read once more (PUB-15, D6).
    pub(crate) approved: bool,
    /// The next step needs the address of a review that this plan posted. It and the steps after it have no receipt: the
    /// next plan contains them.
    pub(crate) awaits_address: bool,
    /// The number of writes that were sent.
    pub(crate) writes: usize,
    /// Reviews that were posted: a later read without one of them is stale (D6).
    pub(crate) reviews: Vec<ReviewId>,
    /// Comments that were posted.
    pub(crate) comments: Vec<CommentId>,
    /// The head was read and is the plan's head.
    head_checked: bool,
    /// A write failed, so the forge's state may differ from the snapshot.
    write_failed: bool,
    /// Threads in which a reply or a resolution failed.
    failed_threads: Vec<ThreadId>,
    /// The identities whose reviews are on the forge now.
    posted_by: Vec<Login>,
}

/// Whether the head has to be read before the first write of a plan (PUB-15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadCheck {
    Due,
    /// The read that the plan was made on ended with the head, and nothing slow happened since.
    JustRead,
}

impl HeadCheck {
    /// The texts of an unchanged head are known, so gathering takes no time in which the head could move.
    pub(crate) fn after_read(fetched: &FetchedPull, before: &Snapshot) -> Self {
        let is_known = fetched.head_read_last && fetched.pull.head == before.pull.head;
        if is_known { Self::JustRead } else { Self::Due }
    }
}

/// Applies a plan that was decided from this snapshot.
pub(crate) async fn apply_plan(
    context: &TurnContext<'_>,
    snapshot: &Snapshot,
    plan: &Plan,
    head: HeadCheck,
) -> ApplyOutcome {
    let binding = snapshot_binding(snapshot);
    Application { context, binding: &binding, snapshot: Some(snapshot), plan, head }.run().await
}

/// Returns the binding that the texts of a pull are signed with.
pub(crate) fn snapshot_binding(snapshot: &Snapshot) -> Binding {
    Binding { forge: snapshot.pull.forge.clone(), repo: snapshot.pull.repo, pull: snapshot.pull.number }
}

/// Applies a plan whose texts are signed with that binding; an issue has no snapshot.
pub(crate) async fn apply_plan_with_binding(context: &TurnContext<'_>, binding: &Binding, plan: &Plan) -> ApplyOutcome {
    Application { context, binding, snapshot: None, plan, head: HeadCheck::Due }.run().await
}

/// A plan that is being applied.
struct Application<'a> {
    context: &'a TurnContext<'a>,
    binding: &'a Binding,
    /// The snapshot that was decided from; read completely, because a step may be permitted (LOOP-7).
    snapshot: Option<&'a Snapshot>,
    plan: &'a Plan,
    head: HeadCheck,
}

impl Application<'_> {
    async fn run(&self) -> ApplyOutcome {
        let mut out = ApplyOutcome::default();
        for (index, step) in self.plan.steps.iter().enumerate() {
            let mut receipt =
                Receipt { step: index, action: step.action.name(), outcome: StepOutcome::Planned, note: String::new() };
            if out.has_failed_in_thread(step) {
                "another step in its thread failed".clone_into(&mut receipt.note);
            } else if !out.ended_early {
                self.apply_step(step, &mut receipt, &mut out).await;
            }
            if out.awaits_address {
                break;
            }
            out.receipts.push(receipt);
        }
        out
    }

    async fn apply_step(&self, step: &Step, receipt: &mut Receipt, out: &mut ApplyOutcome) {
        let permit = match self.context.gates.permit_step(step) {
            Ok(permit) => permit,
            Err(withheld) => {
                receipt.outcome = StepOutcome::Withheld;
                receipt.note = describe_withheld(&withheld).to_owned();
                return;
            }
        };
        if self.context.is_interrupted() {
            return out.stop_early(receipt, StepOutcome::Planned, "interrupted");
        }
        if let Action::Supersede { successor: None, .. } = &step.action {
            out.awaits_address = out.posted_by.contains(&step.by);
            "the block was not posted".clone_into(&mut receipt.note);
            return;
        }
        let just_read = self.head == HeadCheck::JustRead && out.writes == 0 && !out.write_failed;
        out.head_checked |= just_read;
        if step.expect == Precondition::Head && !just_read && (!out.head_checked || posts_at_head(step)) {
            match self.context.forge.fetch_head(self.plan.pull).await {
                Ok(head) if head == self.plan.head => out.head_checked = true,
                Ok(_) => return out.stop_early(receipt, StepOutcome::Planned, "the head moved"),
                Err(error) => return out.stop_early(receipt, StepOutcome::Failed, &error.to_string()),
            }
        }
        let sealed = step.action.map_text(|draft| seal_draft(draft, self.binding, self.context.keys));
        let head = self.plan.head.as_str();
        let intent = Intent { pull: self.plan.pull, step: receipt.step, action: receipt.action, head };
        if let Err(why) = self.context.journal.record_intent(&intent) {
            return out.stop_early(receipt, StepOutcome::Failed, &why);
        }
        let basis = self.basis(out);
        let request = ActionRequest { action: &sealed, by: &step.by, expect: &step.expect, permit: &permit, basis };
        let performed = self.context.forge.perform(self.plan.pull, &request).await;
        out.record_outcome(step, receipt, performed);
        self.context.journal.record_receipt(&intent, receipt);
    }

    /// Returns what the adapter need not read again. After a failed write that is nothing.
    fn basis(&self, out: &ApplyOutcome) -> PlanBasis<'_> {
        let Some(snapshot) = self.snapshot else {
            return PlanBasis { head_is_checked: out.head_checked, ..PlanBasis::default() };
        };
        let is_current = snapshot.complete == Completeness::Complete && !out.write_failed;
        PlanBasis {
            reviews: &snapshot.reviews,
            current_for: is_current.then_some(&snapshot.viewer.login),
            head_is_checked: out.head_checked,
        }
    }
}

/// Returns the thread that a step replies in or resolves.
fn find_thread<T>(action: &Action<T>) -> Option<&ThreadId> {
    match action {
        Action::Reply { thread, .. } | Action::Resolve { thread, .. } => Some(thread),
        _ => None,
    }
}

/// Returns whether a step posts a review or threads at the head, which is read again right before each of them
/// (PUB-15).
fn posts_at_head(step: &Step) -> bool {
    matches!(step.action, Action::PostReview { .. } | Action::OpenThreads { .. })
}

impl ApplyOutcome {
    /// Returns whether a read shows everything that was posted here; only then it may be decided from.
    pub(crate) fn is_visible_in(&self, snapshot: &Snapshot) -> bool {
        self.reviews.iter().all(|id| snapshot.reviews.iter().any(|review| review.id == *id))
            && self.comments.iter().all(|id| snapshot.comments.iter().any(|comment| comment.id == *id))
    }

    fn has_failed_in_thread(&self, step: &Step) -> bool {
        find_thread(&step.action).is_some_and(|thread| self.failed_threads.contains(thread))
    }

    fn record_outcome(&mut self, step: &Step, receipt: &mut Receipt, performed: Result<PerformOutcome, ForgeError>) {
        let posts = matches!(step.action, Action::PostReview { .. });
        if posts && matches!(performed, Ok(PerformOutcome::Done(_) | PerformOutcome::AlreadySo)) {
            self.posted_by.push(step.by.clone());
        }
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
            Err(error) => {
                self.write_failed = true;
                self.record_error(step, receipt, &error);
            }
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
            // Later steps depend on a block; any other step may fail on its own.
            Recovery::Report if blocks => {
                self.gave_up = true;
                self.stop_early(receipt, StepOutcome::Failed, &error.to_string());
            }
            Recovery::Report => {
                let refused = matches!(error, ForgeError::Forbidden(_) | ForgeError::Unsupported(_));
                receipt.outcome = if refused { StepOutcome::Refused } else { StepOutcome::Failed };
                receipt.note = error.to_string();
                if let (Some(thread), false) = (find_thread(&step.action), refused) {
                    self.failed_threads.push(thread.clone());
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
        WithheldReason::NotRequested(_) => "its gate is `ask`, and the command line does not ask for it",
        WithheldReason::ApproveOff => "approving is off",
    }
}
