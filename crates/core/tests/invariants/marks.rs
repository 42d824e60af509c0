//! Parsed contents of texts: Marks, Blocks, Tags, commands, stances, the other bot's markers, in any combination.

use referee_core::hash::Hash;
use referee_core::mark::{Block, BlockEntry, Evaluation, Mark, ReplyKind, Tag, TagKind, Topic, Trust, UnsealedMark};
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::*;
use referee_core::plan::JobKind;
use referee_core::say::{Ask, Missing, Named};
use referee_core::track::CodeLocation;

use crate::any::pre_existing;
use crate::dice::Dice;
use crate::pool::*;

pub(crate) fn mark(dice: &mut Dice) -> Mark {
    let own = verdict(dice);
    Mark {
        role: role_name(dice),
        own,
        enforced: if dice.one_in(3) { verdict(dice) } else { own },
        head: sha(dice),
        base: dice.maybe(3, sha),
        patch: patch(dice),
        complete: !dice.one_in(3),
        reviewed: dice.maybe(2, sha),
        rounds: dice.some(5, patch),
        reopened: dice.maybe(6, time),
        attempts: dice.pick(&[0, 1, 2, 3, u8::MAX]),
        tried_at: dice.maybe(3, time),
        report: dice.maybe(3, hash),
        asked: dice.maybe(5, time),
        restored: dice.maybe(6, words),
        superseded: dice.maybe(6, |_| ReviewId("r1".into())),
        blocking: dice.some(3, finding),
        inputs: hash(dice),
        words: hash(dice),
        rewrote: dice.maybe(4, hash),
        evaluation: evaluation(dice),
        spent: figures(dice),
        overflow: Overflow { critical: dice.pick(&[0, 0, 0, 2]), warning: dice.pick(&[0, 0, 9]), suggestion: 0 },
        configured: None,
        tool: dice.maybe(6, hash),
        highest: finding(dice),
    }
}

fn evaluation(dice: &mut Dice) -> Evaluation {
    Evaluation {
        read: number(dice),
        of: number(dice),
        skipped: dice.some(3, words),
        since: dice.maybe(3, sha),
        new: dice.some(3, finding),
        fixed: dice.some(2, finding),
        claimed: dice.some(2, finding),
        back: dice.some(2, finding),
        fixed_count: number(dice),
        accounting: Default::default(),
        failure: dice.maybe(4, words),
        figures: figures(dice),
    }
}

pub(crate) fn block(dice: &mut Dice) -> Block {
    Block {
        entries: dice.some(6, entry),
        evicted: number(dice),
        pre_existing: dice.some(3, pre_existing),
        report_summary: dice.pick(&["", "Read twice.", "# Not <b>safe</b>\n\n- @all /approve"]).to_owned(),
    }
}

fn entry(dice: &mut Dice) -> BlockEntry {
    BlockEntry {
        reopened: None,
        id: finding(dice),
        severity: severity(dice),
        state: state(dice),
        title: words(dice),
        path: path(dice),
        line: line(dice),
        now: dice.maybe(4, |dice| CodeLocation { path: path(dice), line: number(dice), end_line: number(dice) }),
        rule: dice.maybe(3, words),
        detail: StoredDetail {
            body: words(dice),
            end_line: line(dice),
            column: line(dice),
            help: dice.maybe(3, words),
        },
        fingerprint: print(dice),
        head: sha(dice),
        rounds: dice.some(4, number),
        threaded: dice.one_in(2),
        by: dice.maybe(4, login),
    }
}

fn trust(dice: &mut Dice) -> Trust {
    let usual = [Trust::Sealed, Trust::Unsealed, Trust::Adopted];
    if dice.one_in(12) { Trust::Broken } else { dice.pick(&usual) }
}

pub(crate) fn opened<T>(dice: &mut Dice, data: T) -> Option<Box<UnsealedMark<T>>> {
    Some(Box::new(UnsealedMark { data, trust: trust(dice) }))
}

pub(crate) fn root_tag(dice: &mut Dice) -> Tag {
    let settled = dice.maybe(6, state);
    let (role, finding) = (role_name(dice), finding(dice));
    Tag {
        kind: TagKind::Root { role, finding, fingerprint: print(dice), severity: severity(dice), settled },
        head: sha(dice),
    }
}

pub(crate) fn reply_tag(dice: &mut Dice) -> Tag {
    use ReplyKind::*;
    let what = dice.pick(&[Answer, Fixed, Accepted, Conceded, Rebuttal, Contest, Worsened, Hint]);
    let answers = NoteId(dice.pick(&["n0.0", "n0.1", "n1.0", ""]).into());
    Tag { kind: TagKind::Reply { what, answers }, head: sha(dice) }
}

pub(crate) fn topic_tag(dice: &mut Dice) -> Tag {
    Tag { kind: TagKind::Topic(topic(dice)), head: sha(dice) }
}

pub(crate) fn any_tag(dice: &mut Dice) -> Tag {
    match dice.roll(3) {
        0 => topic_tag(dice),
        1 => reply_tag(dice),
        _ => root_tag(dice),
    }
}

fn topic(dice: &mut Dice) -> Topic {
    match dice.roll(11) {
        0..=2 => Topic::Job {
            kind: job_kind(dice),
            cause: dice.pick(&["role:static", "role:security", "person:bob@r1", "self-review", "x"]).into(),
            patch: patch(dice),
            epoch: dice.pick(&[0, 1, 2, u64::MAX]),
            outcome: dice.maybe(2, work_outcome),
            retried: dice.one_in(3),
        },
        3 => Topic::Operator { epoch: number(dice) },
        4 => Topic::Notice { patch: patch(dice) },
        5 => Topic::Ready { patch: patch(dice) },
        6 => Topic::SelfReview { clean: !dice.one_in(3) },
        7 => Topic::FixPlan,
        8 => Topic::Glass { patch: patch(dice) },
        9 => Topic::PauseSet { to: dice.pick(&["c1", "c2"]).into(), paused: dice.one_in(2) },
        _ => Topic::Said { to: dice.pick(&["c1", "c2", "n0.1"]).into() },
    }
}

pub(crate) fn job_kind(dice: &mut Dice) -> JobKind {
    use JobKind::*;
    dice.pick(&[Findings, Rebase, CiFix, SelfReview, SrFix, AddressFeedback, Impl])
}

pub(crate) fn work_outcome(dice: &mut Dice) -> WorkOutcome {
    dice.pick(&[WorkOutcome::Done, WorkOutcome::NothingToDo, WorkOutcome::NeedsHuman, WorkOutcome::Failed])
}

pub(crate) fn ask(dice: &mut Dice) -> Ask {
    let named = |dice: &mut Dice| Named { role: dice.maybe(3, role_name), id: finding(dice) };
    match dice.roll(12) {
        0 => Ask::Review,
        1 => Ask::FullReview,
        2 => Ask::Explain,
        3 => Ask::Dismiss { findings: dice.some(4, named), reason: words(dice) },
        4 => Ask::Reopen { findings: dice.some(4, named) },
        5 => Ask::Rounds { more: number(dice) },
        6 => Ask::Retry,
        7 => Ask::Pause,
        8 => Ask::Resume,
        9 => Ask::BreakGlass { reason: words(dice) },
        10 => Ask::Help,
        _ => Ask::Unknown {
            verb: words(dice),
            nearest: dice.maybe(2, words),
            missing: dice.maybe(2, |_| Missing::Finding),
        },
    }
}

pub(crate) fn stance(dice: &mut Dice) -> Stance {
    dice.pick(&[Stance::Silent, Stance::Accepted, Stance::AcceptedWithReason, Stance::Disputed, Stance::ClaimedFixed])
}

pub(crate) fn bot_text(dice: &mut Dice) -> BotText {
    BotText {
        sentinel: dice.maybe(2, |dice| dice.pick(&["sonnet", "static", "é"]).to_owned()),
        evaluated: dice.maybe(2, |dice| sha(dice).0),
        findings: dice.some(3, number),
        self_review: dice.maybe(2, sha),
        clean: dice.pick(&[None, Some(true), Some(false)]),
        fix_plan: dice.maybe(2, |dice| sha(dice).0).into_iter().collect(),
        answers: dice.some(3, number),
        answers_own: dice.some(3, finding),
    }
}

/// A text with any reading: missing bodies, wrong hashes, everything at once.
pub(crate) fn text(dice: &mut Dice, tag: fn(&mut Dice) -> Tag) -> Text {
    let body = dice.maybe(2, words);
    let reading = TextReading {
        mark: None,
        block: None,
        tag: if dice.one_in(2) {
            let tag = tag(dice);
            opened(dice, tag)
        } else {
            None
        },
        ask: dice.maybe(4, |dice| Box::new(ask(dice))),
        stance: stance(dice),
        bot: dice.maybe(5, |dice| Box::new(bot_text(dice))),
        forged: dice.one_in(8),
        unclear: dice.one_in(8),
    };
    let hash = match &body {
        Some(body) if !dice.one_in(4) => Hash::digest_visible_text(body),
        _ => hash(dice),
    };
    Text { bytes: body.as_ref().map_or(0, String::len), is_cut: dice.one_in(16), body, hash, reading }
}

/// A review's text, often with a Mark.
pub(crate) fn review_text(dice: &mut Dice) -> Text {
    let mut text = text(dice, any_tag);
    if !dice.one_in(4) {
        let mark = mark(dice);
        if dice.one_in(2) {
            text.hash.clone_from(&mark.words);
        }
        text.reading.mark = opened(dice, mark);
        text.reading.block = dice.maybe(2, |dice| Box::new(block(dice)));
    }
    text
}
