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

use referee_core::mark::{Binding, Keys, seal};
use referee_core::model::{CommentId, ReviewId, Snapshot, ThreadId, Verdict};
use referee_core::plan::{Action, Expect, Plan, Step};
use referee_forge::{Duty, Errand, Forge, ForgeError, Gates, Performed, Withheld};

use crate::journal::{Intent, Journal};
use crate::receipt::{Outcome, Receipt};

/// What came of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// One for each step.
    pub receipts: Vec<Receipt>,
    /// The run ended early: everything must be read again.
    pub stale: bool,
    /// An approval was posted: head and siblings are read once more (PUB-15, D6).
    pub approved: bool,
    /// How many writes left.
    pub writes: usize,
    /// Reviews that were made: a later read that lacks one is older than it (D6).
    pub reviews: Vec<ReviewId>,
    /// Comments that were made.
    pub comments: Vec<CommentId>,
    /// Threads in which a reply failed.
    unanswered: Vec<ThreadId>,
}

/// Does a plan.
pub async fn apply(
    forge: &dyn Forge,
    journal: &dyn Journal,
    gates: &Gates,
    keys: &Keys,
    snapshot: &Snapshot,
    plan: &Plan,
) -> Applied {
    apply_bound(forge, journal, gates, keys, &binding(snapshot), plan).await
}

/// What a text on a pull is sealed for.
pub(crate) fn binding(snapshot: &Snapshot) -> Binding {
    Binding { forge: snapshot.pull.forge.clone(), repo: snapshot.pull.repo, pull: snapshot.pull.number }
}

/// Does a plan whose texts are sealed for that place: an issue has no snapshot.
pub(crate) async fn apply_bound(
    forge: &dyn Forge,
    journal: &dyn Journal,
    gates: &Gates,
    keys: &Keys,
    binding: &Binding,
    plan: &Plan,
) -> Applied {
    let mut out = Applied::default();
    let mut head_checked = false;
    for (at, step) in plan.steps.iter().enumerate() {
        let mut receipt =
            Receipt { step: at, action: step.action.name(), outcome: Outcome::Planned, note: String::new() };
        if out.lacks_its_reply(step) {
            "its reply failed".clone_into(&mut receipt.note);
        } else if !out.stale {
            do_one(forge, journal, gates, keys, binding, plan, step, &mut head_checked, &mut receipt, &mut out).await;
        }
        out.receipts.push(receipt);
    }
    out
}

#[expect(clippy::too_many_arguments, reason = "one step takes all that the run holds")]
async fn do_one(
    forge: &dyn Forge,
    journal: &dyn Journal,
    gates: &Gates,
    keys: &Keys,
    binding: &Binding,
    plan: &Plan,
    step: &Step,
    head_checked: &mut bool,
    receipt: &mut Receipt,
    out: &mut Applied,
) {
    let permit = match gates.permit(step) {
        Ok(permit) => permit,
        Err(withheld) => {
            receipt.outcome = Outcome::Withheld;
            receipt.note = words(&withheld).to_owned();
            return;
        }
    };
    if step.expect == Expect::Head && !*head_checked {
        match forge.head(plan.pull).await {
            Ok(head) if head == plan.head => *head_checked = true,
            Ok(_) => return out.end(receipt, Outcome::Planned, "the head moved"),
            Err(error) => return out.end(receipt, Outcome::Failed, &error.to_string()),
        }
    }
    let sealed = step.action.map(|draft| seal(draft, binding, keys));
    let intent = Intent { pull: plan.pull, step: receipt.step, action: receipt.action, head: plan.head.as_str() };
    if let Err(why) = journal.intend(&intent) {
        return out.end(receipt, Outcome::Failed, &why);
    }
    let errand = Errand { action: &sealed, by: &step.by, expect: &step.expect, permit: &permit };
    let performed = forge.perform(plan.pull, &errand).await;
    out.take(step, receipt, performed);
    journal.conclude(&intent, receipt);
}

impl Applied {
    /// Whether a read is younger than all that was made here: only such a read may be decided on again.
    pub fn is_in(&self, snapshot: &Snapshot) -> bool {
        self.reviews.iter().all(|id| snapshot.reviews.iter().any(|review| review.id == *id))
            && self.comments.iter().all(|id| snapshot.comments.iter().any(|comment| comment.id == *id))
    }

    fn lacks_its_reply(&self, step: &Step) -> bool {
        matches!(&step.action, Action::Resolve { thread, .. } if self.unanswered.contains(thread))
    }

    fn take(&mut self, step: &Step, receipt: &mut Receipt, performed: Result<Performed, ForgeError>) {
        match performed {
            Ok(Performed::Done(made)) => {
                receipt.outcome = Outcome::Done;
                self.writes += 1;
                self.approved |= step.approves;
                self.reviews.extend(made.review);
                self.comments.extend(made.comment);
            }
            Ok(Performed::MarkedInText) => {
                receipt.outcome = Outcome::Done;
                self.writes += 1;
                "marked in the text: this forge cannot resolve".clone_into(&mut receipt.note);
            }
            Ok(Performed::AlreadySo) => receipt.outcome = Outcome::AlreadySo,
            Ok(Performed::NotPermitted) => {
                receipt.outcome = Outcome::Refused;
                "this token may not do it".clone_into(&mut receipt.note);
            }
            Err(error) => self.fail(step, receipt, &error),
        }
    }

    fn fail(&mut self, step: &Step, receipt: &mut Receipt, error: &ForgeError) {
        let blocks = matches!(&step.action, Action::PostReview { verdict: Verdict::RequestChanges, .. });
        match error.duty() {
            Duty::Reread => {
                let unknown = *error == ForgeError::Unknown;
                self.writes += usize::from(unknown);
                let outcome = if unknown { Outcome::Unknown } else { Outcome::Planned };
                self.end(receipt, outcome, &error.to_string());
            }
            Duty::Wait => self.end(receipt, Outcome::Failed, &error.to_string()),
            // What follows a block leans on it; anything else may fail alone.
            Duty::Report if blocks => self.end(receipt, Outcome::Failed, &error.to_string()),
            Duty::Report => {
                let refused = matches!(error, ForgeError::Forbidden(_) | ForgeError::Unsupported(_));
                receipt.outcome = if refused { Outcome::Refused } else { Outcome::Failed };
                receipt.note = error.to_string();
                if let (Action::Reply { thread, .. }, false) = (&step.action, refused) {
                    self.unanswered.push(thread.clone());
                }
            }
        }
    }

    fn end(&mut self, receipt: &mut Receipt, outcome: Outcome, note: &str) {
        receipt.outcome = outcome;
        note.clone_into(&mut receipt.note);
        self.stale = true;
    }
}

fn words(withheld: &Withheld) -> &'static str {
    match withheld {
        Withheld::DryRun => "a dry run",
        Withheld::Off(_) => "its gate is off",
        Withheld::NotAsked(_) => "its gate asks, and nobody asked",
        Withheld::ApproveOff => "approving is off",
    }
}
