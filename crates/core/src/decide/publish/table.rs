//! The publishing table: what an identity does with the verdicts of its roles. Input and output are small values, so
//! that a test can try every combination.
//!
//! The enforced verdict of a role; the first matching rule wins:
//!
//! | rule | when | enforced |
//! |---|---|---|
//! | `silent` | the role has no verdict yet | nothing |
//! | `glass` | break-glass is active at this change (D25) | approve |
//! | `own-block` | the role's own verdict requests changes | request changes |
//! | `escalated` | a sibling's own verdict blocks, and this role may block (PUB-7, D3) | request changes |
//! | `held-down` | a sibling's own verdict blocks, and this role may not block | comment |
//! | `unread` | an approval of the role counts at a change that was not read (PUB-6, PUB-15) | request changes |
//! | `approves` | the role's own verdict approves, and nothing is awaited | approve |
//! | `block-stays` | the role's block still stands, and no sibling lifts it (PUB-6, D19) | request changes |
//! | `waiting` | an approval waits for a role or a person (D19) | comment |
//! | `comments` | none of these | comment |
//!
//! The action on the role's standing review, by its form and the enforced verdict:
//!
//! | standing | enforced | action |
//! |---|---|---|
//! | none | any | post (PUB-1) |
//! | any | same form, and it still stands | keep: edit if the text differs (PUB-2, PUB-3, D17) |
//! | request changes | request changes, no longer counted | post again (D17, PUB-20) |
//! | request changes | comment | keep (PUB-6) |
//! | request changes | approve | post; the old block stays as history (PUB-6) |
//! | approve | request changes | post, then supersede the approval (PUB-5, D5) |
//! | approve | comment | keep (PUB-6) |
//! | approve | approve, dismissed | post again with `approve = on`, else keep (D27) |
//! | comment | another form | post |
//!
//! Finally, for the identity as a whole:
//!
//! | rule | when | action |
//! |---|---|---|
//! | `lifts` | a role approves, and the forge still counts a block of the identity (PUB-21) | the last such role posts an approval |
//! | `answers` | the identity's review is requested, and every verdict is current (PUB-20) | post the worst verdict again |

use crate::model::Verdict;
use crate::policy::ApprovalMode;
use crate::rule::Rule;

/// One role of an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublishInput {
    /// The role's own verdict now; `None` if it has none yet.
    pub own_verdict: Option<Verdict>,
    pub may_block: bool,
    /// The role has a complete verdict for this change.
    pub is_current: bool,
    pub standing: Option<StandingVerdict>,
    /// The standing approval counts at a change that the role did not read: its report there failed or is incomplete,
    /// or the head moved while the approval was posted.
    pub has_unread_approval: bool,
}

/// A role's standing review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StandingVerdict {
    /// The verdict that the review was posted with.
    pub posted_as: Verdict,
    pub weight: StandingWeight,
}

/// Whether the forge still counts a review, judged per identity (D17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StandingWeight {
    Counts,
    /// A newer verdict of the same identity replaced it.
    Replaced,
    /// A push dismissed it, a person who may not lift it dismissed it, or a request for review took its weight.
    Lost,
    /// A person who may dismissed it; respected at this change (PUB-20).
    DismissalRespected,
    /// The forge never counts this identity's verdicts, or the review is a comment: posting again changes nothing.
    NeverCounted,
}

/// Input that is the same for all roles of an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdentityContext {
    /// The newest verdict of the identity that the forge counts.
    pub newest_verdict: Option<Verdict>,
    /// How approving verdicts are posted.
    pub approve: ApprovalMode,
    /// The identity may post verdicts: the pull is not its own, and the forge has verdicts.
    pub can_post_verdicts: bool,
    /// An approval has to wait for a role or a person (D19).
    pub must_wait: bool,
    /// Break-glass is active at this change.
    pub glass_broken: bool,
    /// A request for the identity's review is open and unanswered.
    pub review_requested: bool,
}

/// The decision about one role's review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublishDecision {
    pub enforced: Verdict,
    pub rule: Rule,
    pub action: PublishAction,
}

/// What happens to a role's review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublishAction {
    /// The role has no verdict yet.
    Silent,
    /// The standing review stays, and is edited if its text differs.
    Keep,
    /// A new review with this verdict.
    Post(Verdict),
    /// A new review with this verdict, after which the old approval is marked as superseded.
    PostAndSupersede(Verdict),
}

/// Applies the table to the roles of one identity; returns one decision per role, in the same order.
pub fn decide_for_identity(inputs: &[PublishInput], context: &IdentityContext) -> Vec<PublishDecision> {
    let mut newest = context.newest_verdict;
    let mut rows: Vec<PublishDecision> = Vec::with_capacity(inputs.len());
    for input in inputs {
        let row = decide_for_role(input, inputs, context, newest);
        if let PublishAction::Post(form) | PublishAction::PostAndSupersede(form) = row.action
            && form != Verdict::Comment
        {
            newest = Some(form);
        }
        rows.push(row);
    }
    lift_own_block(&mut rows, context, newest);
    answer_review_request(&mut rows, inputs, context, newest);
    rows
}

fn decide_for_role(
    input: &PublishInput,
    inputs: &[PublishInput],
    context: &IdentityContext,
    newest: Option<Verdict>,
) -> PublishDecision {
    let Some(own) = input.own_verdict else {
        return PublishDecision { enforced: Verdict::Comment, rule: Rule::Silent, action: PublishAction::Silent };
    };
    let (enforced, rule) = enforce_verdict(input, own, inputs, context, newest);
    let act = if rule == Rule::Glass {
        choose_break_glass_action(input, context, newest)
    } else {
        choose_action(input, enforced, context, newest)
    };
    PublishDecision { enforced, rule, action: act }
}

fn enforce_verdict(
    input: &PublishInput,
    own: Verdict,
    inputs: &[PublishInput],
    context: &IdentityContext,
    newest: Option<Verdict>,
) -> (Verdict, Rule) {
    let sibling_blocks = inputs.iter().any(|it| it.may_block && it.own_verdict == Some(Verdict::RequestChanges));
    let block_stands = input.standing.is_some_and(|standing| {
        standing.posted_as == Verdict::RequestChanges
            && standing.weight != StandingWeight::DismissalRespected
            && still_stands(standing, newest)
    });
    let approval_counts = input
        .standing
        .is_some_and(|standing| standing.posted_as == Verdict::Approve && standing.weight == StandingWeight::Counts);
    let may = context.can_post_verdicts && context.approve != ApprovalMode::Off;
    let another_approves = inputs.iter().any(|it| it.own_verdict == Some(Verdict::Approve)) && !context.must_wait;
    if context.glass_broken {
        (Verdict::Approve, Rule::Glass)
    } else if own == Verdict::RequestChanges {
        (Verdict::RequestChanges, Rule::OwnBlock)
    } else if sibling_blocks && input.may_block {
        (Verdict::RequestChanges, Rule::Escalated)
    } else if sibling_blocks {
        (Verdict::Comment, Rule::HeldDown)
    } else if input.has_unread_approval && approval_counts && !another_approves {
        (Verdict::RequestChanges, Rule::UnreadApproval)
    } else if own == Verdict::Approve && !context.must_wait {
        (Verdict::Approve, Rule::Approves)
    } else if block_stands && !(another_approves && may) {
        (Verdict::RequestChanges, Rule::BlockStays)
    } else if own == Verdict::Approve {
        (Verdict::Comment, Rule::Waiting)
    } else {
        (Verdict::Comment, Rule::Comments)
    }
}

/// Returns whether a review still stands. A review that a newer verdict of the same identity replaced stands as long as
/// the newer verdict is the same or worse; otherwise two blocking roles would repost each other forever (D17).
fn still_stands(standing: StandingVerdict, newest: Option<Verdict>) -> bool {
    match standing.weight {
        StandingWeight::Counts | StandingWeight::DismissalRespected | StandingWeight::NeverCounted => true,
        StandingWeight::Replaced => newest.is_some_and(|newest| standing.posted_as <= newest),
        StandingWeight::Lost => false,
    }
}

fn choose_action(
    input: &PublishInput,
    enforced: Verdict,
    context: &IdentityContext,
    newest: Option<Verdict>,
) -> PublishAction {
    let form = choose_posted_verdict(enforced, context, newest);
    let Some(standing) = input.standing else { return PublishAction::Post(form) };
    match (standing.posted_as, enforced) {
        (Verdict::RequestChanges, Verdict::RequestChanges) => {
            if still_stands(standing, newest) || form == Verdict::Comment {
                PublishAction::Keep
            } else {
                PublishAction::Post(form)
            }
        }
        (Verdict::RequestChanges | Verdict::Approve, Verdict::Comment) => PublishAction::Keep,
        (Verdict::RequestChanges, Verdict::Approve) => PublishAction::Post(form),
        (Verdict::Approve, Verdict::RequestChanges) => {
            if form == Verdict::Comment {
                PublishAction::Keep
            } else {
                PublishAction::PostAndSupersede(form)
            }
        }
        (Verdict::Approve, Verdict::Approve) => {
            let dismissed = matches!(standing.weight, StandingWeight::Lost) && form == Verdict::Approve;
            if dismissed { PublishAction::Post(form) } else { PublishAction::Keep }
        }
        (Verdict::Comment, _) => {
            if form == Verdict::Comment {
                PublishAction::Keep
            } else {
                PublishAction::Post(form)
            }
        }
    }
}

/// Chooses the verdict to post with (D27).
fn choose_posted_verdict(enforced: Verdict, context: &IdentityContext, newest: Option<Verdict>) -> Verdict {
    let may = context.can_post_verdicts && context.approve != ApprovalMode::Off;
    match enforced {
        Verdict::RequestChanges if may => Verdict::RequestChanges,
        Verdict::Approve if may => {
            let lifts = newest == Some(Verdict::RequestChanges);
            if lifts || context.approve == ApprovalMode::On { Verdict::Approve } else { Verdict::Comment }
        }
        _ => Verdict::Comment,
    }
}

/// Chooses the action under break-glass: lift a block that counts, post nothing else (D25).
fn choose_break_glass_action(
    input: &PublishInput,
    context: &IdentityContext,
    newest: Option<Verdict>,
) -> PublishAction {
    let may = context.can_post_verdicts && context.approve != ApprovalMode::Off;
    match input.standing {
        _ if may && newest == Some(Verdict::RequestChanges) => PublishAction::Post(Verdict::Approve),
        None => PublishAction::Post(Verdict::Comment),
        Some(_) => PublishAction::Keep,
    }
}

/// PUB-21 (3): an approving role leaves no block of this identity that the forge counts.
fn lift_own_block(rows: &mut [PublishDecision], context: &IdentityContext, newest: Option<Verdict>) {
    if newest != Some(Verdict::RequestChanges) || !context.can_post_verdicts || context.approve == ApprovalMode::Off {
        return;
    }
    if let Some(row) = rows.iter_mut().rev().find(|row| row.rule == Rule::Approves) {
        row.action = PublishAction::Post(Verdict::Approve);
        row.rule = Rule::Lifts;
    }
}

/// PUB-20: answers a request for review with the worst verdict, once every role is current.
fn answer_review_request(
    rows: &mut [PublishDecision],
    inputs: &[PublishInput],
    context: &IdentityContext,
    newest: Option<Verdict>,
) {
    let current = inputs.iter().all(|input| input.own_verdict.is_none() || input.is_current);
    let posts =
        rows.iter().any(|row| matches!(row.action, PublishAction::Post(_) | PublishAction::PostAndSupersede(_)));
    if !context.review_requested || !current || posts || context.glass_broken {
        return;
    }
    let worst = rows.iter().filter(|row| row.action != PublishAction::Silent).map(|row| row.enforced).max();
    let Some(row) = rows.iter_mut().find(|row| row.action != PublishAction::Silent && Some(row.enforced) == worst)
    else {
        return;
    };
    let form = choose_posted_verdict(row.enforced, context, newest);
    // Where a block can only be posted as a comment, the standing block is stronger: leave it.
    if row.rule != Rule::BlockStays || form == Verdict::RequestChanges {
        row.action = PublishAction::Post(form);
        row.rule = Rule::Answers;
    }
}
