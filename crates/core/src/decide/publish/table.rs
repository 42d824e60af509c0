//! The publishing table: what one identity does with its roles' verdicts. Small values in, small values out, so
//! that every combination can be tried.
//!
//! What is enforced for a role, first match:
//!
//! | rule | when | enforced |
//! |---|---|---|
//! | `glass` | the glass is broken at this change (D25) | approve |
//! | `own-block` | the role's own verdict blocks | request changes |
//! | `escalated` | a sibling's own verdict blocks, and this role may block (PUB-7, D3) | request changes |
//! | `held-down` | a sibling's own verdict blocks, and this role may not block | comment |
//! | `unread` | an own approval counts at a change that was not read (PUB-6, PUB-15) | request changes |
//! | `block-stays` | the own block still stands, no sibling lifts it, and the verdict does not approve or must wait (PUB-6, D19) | request changes |
//! | `waiting` | approving waits for a role or a person (D19) | comment |
//! | `approves` | the own verdict approves | approve |
//! | `comments` | otherwise | comment |
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
//! Last, for the identity as a whole: if a role approves and the forge would still count a block of ours, the last
//! such role posts an approval (PUB-21); if somebody's request for our review is open and every verdict is
//! current, the gravest is posted again (PUB-20).

use crate::model::Verdict;
use crate::policy::Approve;

/// One role of an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Voice {
    /// Its own verdict now; a role that never spoke is silent.
    pub own: Option<Verdict>,
    /// Its verdict may block.
    pub blocks: bool,
    /// It has a complete verdict for this very change.
    pub current: bool,
    /// Its standing review.
    pub standing: Option<Held>,
    /// Its standing approval counts at a change that it did not read: the fresh report there failed or is
    /// incomplete, or the head moved while it was posted.
    pub unread: bool,
}

/// A standing review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Held {
    /// The form it was posted in.
    pub form: Verdict,
    /// Whether the forge still goes by it.
    pub weight: Weight,
}

/// Whether the forge still goes by a review, judged per identity (D17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weight {
    /// It counts.
    Counts,
    /// The forge replaced it by a newer verdict of the same identity.
    Replaced,
    /// Dismissed by a push, or by somebody who may not lift it, or taken by a request for review.
    Lost,
    /// Dismissed by somebody who may: respected at this change (PUB-20).
    Respected,
    /// The forge never counts this identity's verdicts, or the row is a comment: posting again changes nothing.
    Weightless,
}

/// What holds for the identity as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bearing {
    /// Its newest verdict that the forge counts.
    pub newest: Option<Verdict>,
    /// How approving verdicts are posted.
    pub approve: Approve,
    /// Verdicts can be posted at all: not its own pull, and the forge has them.
    pub verdicts: bool,
    /// Somebody waits for a role or a person before approving (D19).
    pub waits: bool,
    /// The glass is broken at this change.
    pub glass: bool,
    /// Somebody's request for its review is open and unanswered.
    pub requested: bool,
}

/// What happens to one role's review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// What is enforced.
    pub enforced: Verdict,
    /// Why.
    pub rule: Rule,
    /// What is done.
    pub act: Act,
}

/// What is done with a role's review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// The role is silent.
    Silent,
    /// The standing review is kept, and edited if its text differs.
    Keep,
    /// A new review in that form.
    Post(Verdict),
    /// A new review in that form, then the old approval is marked as superseded.
    PostAndSupersede(Verdict),
}

/// The rows of the first table, and the two of the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is a row of the table above")]
pub enum Rule {
    Silent,
    Glass,
    OwnBlock,
    Escalated,
    HeldDown,
    Unread,
    BlockStays,
    Waiting,
    Approves,
    Comments,
    Lifts,
    Answers,
}

/// Walks the table for one identity: one row for each voice, in order.
pub fn walk(voices: &[Voice], bearing: &Bearing) -> Vec<Row> {
    let mut newest = bearing.newest;
    let mut rows: Vec<Row> = Vec::with_capacity(voices.len());
    for voice in voices {
        let row = row(voice, voices, bearing, newest);
        if let Act::Post(form) | Act::PostAndSupersede(form) = row.act
            && form != Verdict::Comment
        {
            newest = Some(form);
        }
        rows.push(row);
    }
    lift(&mut rows, bearing, newest);
    answer(&mut rows, voices, bearing, newest);
    rows
}

fn row(voice: &Voice, voices: &[Voice], bearing: &Bearing, newest: Option<Verdict>) -> Row {
    let Some(own) = voice.own else {
        return Row { enforced: Verdict::Comment, rule: Rule::Silent, act: Act::Silent };
    };
    let (enforced, rule) = enforce(voice, own, voices, bearing, newest);
    let act =
        if rule == Rule::Glass { break_glass(voice, bearing, newest) } else { act(voice, enforced, bearing, newest) };
    Row { enforced, rule, act }
}

fn enforce(
    voice: &Voice,
    own: Verdict,
    voices: &[Voice],
    bearing: &Bearing,
    newest: Option<Verdict>,
) -> (Verdict, Rule) {
    let sibling_blocks = voices.iter().any(|it| it.blocks && it.own == Some(Verdict::RequestChanges));
    let block_stands = voice.standing.is_some_and(|held| {
        held.form == Verdict::RequestChanges && held.weight != Weight::Respected && stands(held, newest)
    });
    let approval_counts =
        voice.standing.is_some_and(|held| held.form == Verdict::Approve && held.weight == Weight::Counts);
    let may = bearing.verdicts && bearing.approve != Approve::Off;
    let another_approves = voices.iter().any(|it| it.own == Some(Verdict::Approve)) && !bearing.waits;
    if bearing.glass {
        (Verdict::Approve, Rule::Glass)
    } else if own == Verdict::RequestChanges {
        (Verdict::RequestChanges, Rule::OwnBlock)
    } else if sibling_blocks && voice.blocks {
        (Verdict::RequestChanges, Rule::Escalated)
    } else if sibling_blocks {
        (Verdict::Comment, Rule::HeldDown)
    } else if voice.unread && approval_counts && !another_approves {
        (Verdict::RequestChanges, Rule::Unread)
    } else if own == Verdict::Approve && !bearing.waits {
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
fn stands(held: Held, newest: Option<Verdict>) -> bool {
    match held.weight {
        Weight::Counts | Weight::Respected | Weight::Weightless => true,
        Weight::Replaced => newest.is_some_and(|newest| held.form <= newest),
        Weight::Lost => false,
    }
}

fn act(voice: &Voice, enforced: Verdict, bearing: &Bearing, newest: Option<Verdict>) -> Act {
    let form = form(enforced, bearing, newest);
    let Some(held) = voice.standing else { return Act::Post(form) };
    match (held.form, enforced) {
        (Verdict::RequestChanges, Verdict::RequestChanges) => {
            if stands(held, newest) || form == Verdict::Comment {
                Act::Keep
            } else {
                Act::Post(form)
            }
        }
        (Verdict::RequestChanges | Verdict::Approve, Verdict::Comment) => Act::Keep,
        (Verdict::RequestChanges, Verdict::Approve) => Act::Post(form),
        (Verdict::Approve, Verdict::RequestChanges) => {
            if form == Verdict::Comment {
                Act::Keep
            } else {
                Act::PostAndSupersede(form)
            }
        }
        (Verdict::Approve, Verdict::Approve) => {
            let dismissed = matches!(held.weight, Weight::Lost) && form == Verdict::Approve;
            if dismissed { Act::Post(form) } else { Act::Keep }
        }
        (Verdict::Comment, _) => {
            if form == Verdict::Comment {
                Act::Keep
            } else {
                Act::Post(form)
            }
        }
    }
}

/// The form a verdict is posted in (D27).
fn form(enforced: Verdict, bearing: &Bearing, newest: Option<Verdict>) -> Verdict {
    let may = bearing.verdicts && bearing.approve != Approve::Off;
    match enforced {
        Verdict::RequestChanges if may => Verdict::RequestChanges,
        Verdict::Approve if may => {
            let lifts = newest == Some(Verdict::RequestChanges);
            if lifts || bearing.approve == Approve::On { Verdict::Approve } else { Verdict::Comment }
        }
        _ => Verdict::Comment,
    }
}

/// Broken glass lifts an own block that counts, and posts nothing else (D25).
fn break_glass(voice: &Voice, bearing: &Bearing, newest: Option<Verdict>) -> Act {
    let may = bearing.verdicts && bearing.approve != Approve::Off;
    match voice.standing {
        _ if may && newest == Some(Verdict::RequestChanges) => Act::Post(Verdict::Approve),
        None => Act::Post(Verdict::Comment),
        Some(_) => Act::Keep,
    }
}

/// PUB-21 (3): nobody who approves leaves a block of ours behind that the forge counts.
fn lift(rows: &mut [Row], bearing: &Bearing, newest: Option<Verdict>) {
    if newest != Some(Verdict::RequestChanges) || !bearing.verdicts || bearing.approve == Approve::Off {
        return;
    }
    if let Some(row) = rows.iter_mut().rev().find(|row| row.rule == Rule::Approves) {
        row.act = Act::Post(Verdict::Approve);
        row.rule = Rule::Lifts;
    }
}

/// PUB-20: an open request for our review is answered by the gravest verdict, once nothing is left to review.
fn answer(rows: &mut [Row], voices: &[Voice], bearing: &Bearing, newest: Option<Verdict>) {
    let current = voices.iter().all(|voice| voice.own.is_none() || voice.current);
    let posts = rows.iter().any(|row| matches!(row.act, Act::Post(_) | Act::PostAndSupersede(_)));
    if !bearing.requested || !current || posts || bearing.glass {
        return;
    }
    let gravest = rows.iter().filter(|row| row.act != Act::Silent).map(|row| row.enforced).max();
    let Some(row) = rows.iter_mut().find(|row| row.act != Act::Silent && Some(row.enforced) == gravest) else { return };
    let form = form(row.enforced, bearing, newest);
    // A block that may only be said as a comment here is better left where it stands.
    if row.rule != Rule::BlockStays || form == Verdict::RequestChanges {
        row.act = Act::Post(form);
        row.rule = Rule::Answers;
    }
}

impl Rule {
    /// The row's name, as `explain` prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Glass => "glass",
            Self::OwnBlock => "own-block",
            Self::Escalated => "escalated",
            Self::HeldDown => "held-down",
            Self::Unread => "unread",
            Self::BlockStays => "block-stays",
            Self::Waiting => "waiting",
            Self::Approves => "approves",
            Self::Comments => "comments",
            Self::Lifts => "lifts",
            Self::Answers => "answers",
        }
    }
}
