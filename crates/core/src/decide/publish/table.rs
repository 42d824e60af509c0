//! The publishing table: what one identity does with its roles' verdicts. Small values in, small values out, so
//! that every combination can be tried.
//!
//! What is enforced for a role, first match:
//!
//! | rule | when | enforced |
//! |---|---|---|
//! | `silent` | the role has no verdict yet | nothing |
//! | `glass` | break-glass holds at this change (D25) | approve |
//! | `own-block` | the role's own verdict requests changes | request changes |
//! | `escalated` | a sibling's own verdict blocks, and this role may block (PUB-7, D3) | request changes |
//! | `held-down` | a sibling's own verdict blocks, and this role may not block | comment |
//! | `unread` | an own approval counts at a change that was not read (PUB-6, PUB-15) | request changes |
//! | `approves` | the own verdict approves, and nothing is waited for | approve |
//! | `block-stays` | the own block still stands, and no sibling lifts it (PUB-6, D19) | request changes |
//! | `waiting` | approving waits for a role or a person (D19) | comment |
//! | `comments` | none of these | comment |
//!
//! What is done with the role's standing review, by its form and what is enforced:
//!
//! | standing | enforced | done |
//! |---|---|---|
//! | none | any | post (PUB-1) |
//! | any | same form, and it still stands | keep: edit if the text differs (PUB-2, PUB-3, D17) |
//! | request changes | request changes, lost its weight | post again (D17, PUB-20) |
//! | request changes | comment | keep (PUB-6) |
//! | request changes | approve | post; the old block stays as history (PUB-6) |
//! | approve | request changes | post, then supersede the approval (PUB-5, D5) |
//! | approve | comment | keep (PUB-6) |
//! | approve | approve, dismissed | post again with `approve = on`, else keep (D27) |
//! | comment | another form | post |
//!
//! Last, for the identity as a whole:
//!
//! | rule | when | done |
//! |---|---|---|
//! | `lifts` | a role approves, and the forge still counts an own block (PUB-21) | the last such role posts an approval |
//! | `answers` | a request for the own review is open, and every verdict is current (PUB-20) | the worst verdict is posted again |

use crate::model::Verdict;
use crate::policy::ApprovalMode;
use crate::rule::Rule;

/// One role of an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublishInput {
    /// Its own verdict now; a role that never spoke is silent.
    pub own_verdict: Option<Verdict>,
    /// Its verdict may block.
    pub may_block: bool,
    /// It has a complete verdict for this very change.
    pub is_current: bool,
    /// Its standing review.
    pub standing: Option<StandingVerdict>,
    /// Its standing approval counts at a change that it did not read: the fresh report there failed or is
    /// incomplete, or the head moved while it was posted.
    pub has_unread_approval: bool,
}

/// A standing review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StandingVerdict {
    /// The form it was posted in.
    pub posted_as: Verdict,
    /// Whether the forge still goes by it.
    pub weight: StandingWeight,
}

/// Whether the forge still goes by a review, judged per identity (D17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StandingWeight {
    /// It counts.
    Counts,
    /// The forge replaced it by a newer verdict of the same identity.
    Replaced,
    /// Dismissed by a push, or by somebody who may not lift it, or taken by a request for review.
    Lost,
    /// Dismissed by somebody who may: respected at this change (PUB-20).
    DismissalRespected,
    /// The forge never counts this identity's verdicts, or the row is a comment: posting again changes nothing.
    NeverCounted,
}

/// What holds for the identity as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdentityContext {
    /// Its newest verdict that the forge counts.
    pub newest_verdict: Option<Verdict>,
    /// How approving verdicts are posted.
    pub approve: ApprovalMode,
    /// Verdicts can be posted at all: not its own pull, and the forge has them.
    pub can_post_verdicts: bool,
    /// Somebody waits for a role or a person before approving (D19).
    pub must_wait: bool,
    /// The glass is broken at this change.
    pub glass_broken: bool,
    /// Somebody's request for its review is open and unanswered.
    pub review_requested: bool,
}

/// What happens to one role's review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublishDecision {
    /// What is enforced.
    pub enforced: Verdict,
    /// Why.
    pub rule: Rule,
    /// What is done.
    pub action: PublishAction,
}

/// What is done with a role's review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublishAction {
    /// The role is silent.
    Silent,
    /// The standing review is kept, and edited if its text differs.
    Keep,
    /// A new review in that form.
    Post(Verdict),
    /// A new review in that form, then the old approval is marked as superseded.
    PostAndSupersede(Verdict),
}

/// Walks the table for one identity: one row for each voice, in order.
pub fn decide_for_identity(voices: &[PublishInput], bearing: &IdentityContext) -> Vec<PublishDecision> {
    let mut newest = bearing.newest_verdict;
    let mut rows: Vec<PublishDecision> = Vec::with_capacity(voices.len());
    for voice in voices {
        let row = decide_for_role(voice, voices, bearing, newest);
        if let PublishAction::Post(form) | PublishAction::PostAndSupersede(form) = row.action
            && form != Verdict::Comment
        {
            newest = Some(form);
        }
        rows.push(row);
    }
    lift_own_block(&mut rows, bearing, newest);
    answer_review_request(&mut rows, voices, bearing, newest);
    rows
}

fn decide_for_role(
    voice: &PublishInput,
    voices: &[PublishInput],
    bearing: &IdentityContext,
    newest: Option<Verdict>,
) -> PublishDecision {
    let Some(own) = voice.own_verdict else {
        return PublishDecision { enforced: Verdict::Comment, rule: Rule::Silent, action: PublishAction::Silent };
    };
    let (enforced, rule) = enforce_verdict(voice, own, voices, bearing, newest);
    let act = if rule == Rule::Glass {
        choose_break_glass_action(voice, bearing, newest)
    } else {
        choose_action(voice, enforced, bearing, newest)
    };
    PublishDecision { enforced, rule, action: act }
}

fn enforce_verdict(
    voice: &PublishInput,
    own: Verdict,
    voices: &[PublishInput],
    bearing: &IdentityContext,
    newest: Option<Verdict>,
) -> (Verdict, Rule) {
    let sibling_blocks = voices.iter().any(|it| it.may_block && it.own_verdict == Some(Verdict::RequestChanges));
    let block_stands = voice.standing.is_some_and(|held| {
        held.posted_as == Verdict::RequestChanges
            && held.weight != StandingWeight::DismissalRespected
            && still_stands(held, newest)
    });
    let approval_counts =
        voice.standing.is_some_and(|held| held.posted_as == Verdict::Approve && held.weight == StandingWeight::Counts);
    let may = bearing.can_post_verdicts && bearing.approve != ApprovalMode::Off;
    let another_approves = voices.iter().any(|it| it.own_verdict == Some(Verdict::Approve)) && !bearing.must_wait;
    if bearing.glass_broken {
        (Verdict::Approve, Rule::Glass)
    } else if own == Verdict::RequestChanges {
        (Verdict::RequestChanges, Rule::OwnBlock)
    } else if sibling_blocks && voice.may_block {
        (Verdict::RequestChanges, Rule::Escalated)
    } else if sibling_blocks {
        (Verdict::Comment, Rule::HeldDown)
    } else if voice.has_unread_approval && approval_counts && !another_approves {
        (Verdict::RequestChanges, Rule::UnreadApproval)
    } else if own == Verdict::Approve && !bearing.must_wait {
        (Verdict::Approve, Rule::Approves)
    } else if block_stands && !(another_approves && may) {
        (Verdict::RequestChanges, Rule::BlockStays)
    } else if own == Verdict::Approve {
        (Verdict::Comment, Rule::Waiting)
    } else {
        (Verdict::Comment, Rule::Comments)
    }
}

/// Whether a review still stands. One that a newer verdict of the same identity replaced does, as long as that
/// verdict is the same or worse: two blocking roles must not repost each other for ever (D17).
fn still_stands(held: StandingVerdict, newest: Option<Verdict>) -> bool {
    match held.weight {
        StandingWeight::Counts | StandingWeight::DismissalRespected | StandingWeight::NeverCounted => true,
        StandingWeight::Replaced => newest.is_some_and(|newest| held.posted_as <= newest),
        StandingWeight::Lost => false,
    }
}

fn choose_action(
    voice: &PublishInput,
    enforced: Verdict,
    bearing: &IdentityContext,
    newest: Option<Verdict>,
) -> PublishAction {
    let form = choose_posted_verdict(enforced, bearing, newest);
    let Some(held) = voice.standing else { return PublishAction::Post(form) };
    match (held.posted_as, enforced) {
        (Verdict::RequestChanges, Verdict::RequestChanges) => {
            if still_stands(held, newest) || form == Verdict::Comment {
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
            let dismissed = matches!(held.weight, StandingWeight::Lost) && form == Verdict::Approve;
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

/// The form a verdict is posted in (D27).
fn choose_posted_verdict(enforced: Verdict, bearing: &IdentityContext, newest: Option<Verdict>) -> Verdict {
    let may = bearing.can_post_verdicts && bearing.approve != ApprovalMode::Off;
    match enforced {
        Verdict::RequestChanges if may => Verdict::RequestChanges,
        Verdict::Approve if may => {
            let lifts = newest == Some(Verdict::RequestChanges);
            if lifts || bearing.approve == ApprovalMode::On { Verdict::Approve } else { Verdict::Comment }
        }
        _ => Verdict::Comment,
    }
}

/// Broken glass lifts an own block that counts, and posts nothing else (D25).
fn choose_break_glass_action(
    voice: &PublishInput,
    bearing: &IdentityContext,
    newest: Option<Verdict>,
) -> PublishAction {
    let may = bearing.can_post_verdicts && bearing.approve != ApprovalMode::Off;
    match voice.standing {
        _ if may && newest == Some(Verdict::RequestChanges) => PublishAction::Post(Verdict::Approve),
        None => PublishAction::Post(Verdict::Comment),
        Some(_) => PublishAction::Keep,
    }
}

/// PUB-21 (3): nobody who approves leaves a block of ours behind that the forge counts.
fn lift_own_block(rows: &mut [PublishDecision], bearing: &IdentityContext, newest: Option<Verdict>) {
    if newest != Some(Verdict::RequestChanges) || !bearing.can_post_verdicts || bearing.approve == ApprovalMode::Off {
        return;
    }
    if let Some(row) = rows.iter_mut().rev().find(|row| row.rule == Rule::Approves) {
        row.action = PublishAction::Post(Verdict::Approve);
        row.rule = Rule::Lifts;
    }
}

/// PUB-20: an open request for our review is answered by the gravest verdict, once nothing is left to review.
fn answer_review_request(
    rows: &mut [PublishDecision],
    voices: &[PublishInput],
    bearing: &IdentityContext,
    newest: Option<Verdict>,
) {
    let current = voices.iter().all(|voice| voice.own_verdict.is_none() || voice.is_current);
    let posts =
        rows.iter().any(|row| matches!(row.action, PublishAction::Post(_) | PublishAction::PostAndSupersede(_)));
    if !bearing.review_requested || !current || posts || bearing.glass_broken {
        return;
    }
    let gravest = rows.iter().filter(|row| row.action != PublishAction::Silent).map(|row| row.enforced).max();
    let Some(row) = rows.iter_mut().find(|row| row.action != PublishAction::Silent && Some(row.enforced) == gravest)
    else {
        return;
    };
    let form = choose_posted_verdict(row.enforced, bearing, newest);
    // A block that may only be said as a comment here is better left where it stands.
    if row.rule != Rule::BlockStays || form == Verdict::RequestChanges {
        row.action = PublishAction::Post(form);
        row.rule = Rule::Answers;
    }
}
