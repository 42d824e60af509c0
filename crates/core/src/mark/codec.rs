//! Mark ⇄ fields.

use super::data::{Evaluation, Mark};
use super::field::{Fields, Writer, decode, encode, numbers, runs};
use super::fit::{ROUNDS_MAX, forgotten, lost_round};
use crate::hash::Hash;
use crate::model::{Figures, FindingId, ReviewId, RoleName, Sha, Time, Verdict};
use crate::track::PatchId;

/// The most a sealed Mark takes.
pub const MARK_BYTES: usize = 2_000;

/// The fields of a fitted Mark, and the hash of the Block beside it.
pub(super) fn encode_mark(mark: &Mark, block: Option<&Hash>) -> String {
    let Mark {
        role,
        own,
        enforced,
        head,
        base,
        patch,
        complete,
        reviewed,
        rounds,
        reopened,
        attempts,
        tried_at,
        report,
        asked,
        restored,
        superseded,
        blocking,
        inputs,
        words,
        rewrote,
        evaluation,
        spent,
        highest,
    } = mark;
    let mut out = Writer::default();
    out.text(role.as_str())
        .raw(&format!("{}{}{}", letter(*own), letter(*enforced), if *complete { '1' } else { '0' }))
        .text(head.as_str())
        .maybe_text(base.as_ref().map(Sha::as_str))
        .text(&patch.0)
        .maybe_text(reviewed.as_ref().map(Sha::as_str))
        .raw(&encode_rounds(rounds))
        .maybe_number(reopened.map(|at| at.0))
        .number(attempts)
        .maybe_number(tried_at.map(|at| at.0))
        .maybe_text(report.as_ref().map(|hash| hash.0.as_str()))
        .maybe_number(asked.map(|at| at.0))
        .maybe_text(restored.as_deref())
        .maybe_text(superseded.as_ref().map(ReviewId::as_str))
        .raw(&runs(blocking.iter().map(|id| id.0)))
        .text(&inputs.0)
        .text(&words.0)
        .maybe_text(rewrote.as_ref().map(|hash| hash.0.as_str()));
    encode_evaluation(&mut out, evaluation);
    encode_figures(&mut out, *spent);
    out.number(highest.0).maybe_text(block.map(|hash| hash.0.as_str()));
    out.finish()
}

/// The Mark and the hash of the Block beside it.
pub(super) fn decode_mark(payload: &str) -> Option<(Mark, Option<Hash>)> {
    let mut fields = Fields::of(payload);
    let role = RoleName(fields.text()?);
    let mut letters = fields.raw()?.chars();
    let mark = Mark {
        role,
        own: verdict(letters.next()?)?,
        enforced: verdict(letters.next()?)?,
        complete: match letters.next()? {
            '0' => false,
            '1' => true,
            _ => return None,
        },
        head: Sha(fields.text()?),
        base: fields.maybe_text()?.map(Sha),
        patch: PatchId(fields.text()?),
        reviewed: fields.maybe_text()?.map(Sha),
        rounds: decode_rounds(fields.raw()?)?,
        reopened: fields.maybe_number()?.map(Time),
        attempts: fields.number()?,
        tried_at: fields.maybe_number()?.map(Time),
        report: fields.maybe_text()?.map(Hash),
        asked: fields.maybe_number()?.map(Time),
        restored: fields.maybe_text()?,
        superseded: fields.maybe_text()?.map(ReviewId),
        blocking: ids(fields.raw()?)?,
        inputs: Hash(fields.text()?),
        words: Hash(fields.text()?),
        rewrote: fields.maybe_text()?.map(Hash),
        evaluation: decode_evaluation(&mut fields)?,
        spent: decode_figures(&mut fields)?,
        highest: FindingId(fields.number()?),
    };
    Some((mark, fields.maybe_text()?.map(Hash)))
}

/// What stands in for a Mark that a newer referee wrote: nobody looks at more than its trust.
pub(super) fn unreadable_mark() -> Mark {
    Mark {
        role: RoleName(String::new()),
        own: Verdict::Comment,
        enforced: Verdict::Comment,
        head: Sha(String::new()),
        base: None,
        patch: PatchId::default(),
        complete: false,
        reviewed: None,
        rounds: Vec::new(),
        reopened: None,
        attempts: 0,
        tried_at: None,
        report: None,
        asked: None,
        restored: None,
        superseded: None,
        blocking: Vec::new(),
        inputs: Hash::default(),
        words: Hash::default(),
        rewrote: None,
        evaluation: Evaluation::default(),
        spent: Figures::default(),
        highest: FindingId(0),
    }
}

/// How many lost their name, then the others.
fn encode_rounds(rounds: &[PatchId]) -> String {
    let forgotten = forgotten(rounds);
    let mut field = forgotten.to_string();
    for patch in rounds.iter().skip(forgotten) {
        field.push(',');
        field.push_str(&encode(&patch.0));
    }
    field
}

fn decode_rounds(field: &str) -> Option<Vec<PatchId>> {
    let mut parts = field.split(',');
    let forgotten: usize = parts.next()?.parse().ok()?;
    if forgotten > ROUNDS_MAX {
        return None;
    }
    let mut rounds: Vec<PatchId> = (1..=forgotten).map(lost_round).collect();
    for part in parts {
        rounds.push(PatchId(decode(part)?));
    }
    Some(rounds)
}

fn encode_evaluation(out: &mut Writer, evaluation: &Evaluation) {
    let Evaluation { read, of, skipped, since, new, fixed, claimed, back, held_back, pre_existing, failure, figures } =
        evaluation;
    out.number(read)
        .number(of)
        .list(skipped.iter().map(String::as_str))
        .maybe_text(since.as_ref().map(Sha::as_str))
        .raw(&runs(new.iter().map(|id| id.0)))
        .raw(&runs(fixed.iter().map(|id| id.0)))
        .raw(&runs(claimed.iter().map(|id| id.0)))
        .raw(&runs(back.iter().map(|id| id.0)))
        .number(held_back)
        .number(pre_existing)
        .maybe_text(failure.as_deref());
    encode_figures(out, *figures);
}

fn decode_evaluation(fields: &mut Fields<'_>) -> Option<Evaluation> {
    Some(Evaluation {
        read: fields.number()?,
        of: fields.number()?,
        skipped: fields.list()?,
        since: fields.maybe_text()?.map(Sha),
        new: ids(fields.raw()?)?,
        fixed: ids(fields.raw()?)?,
        claimed: ids(fields.raw()?)?,
        back: ids(fields.raw()?)?,
        held_back: fields.number()?,
        pre_existing: fields.number()?,
        failure: fields.maybe_text()?,
        figures: decode_figures(fields)?,
    })
}

fn encode_figures(out: &mut Writer, figures: Figures) {
    let Figures { tokens, micro_usd, seconds, runs } = figures;
    out.number(tokens).number(micro_usd).number(seconds).number(runs);
}

fn decode_figures(fields: &mut Fields<'_>) -> Option<Figures> {
    Some(Figures {
        tokens: fields.number()?,
        micro_usd: fields.number()?,
        seconds: fields.number()?,
        runs: fields.number()?,
    })
}

fn ids(field: &str) -> Option<Vec<FindingId>> {
    Some(numbers(field)?.into_iter().map(FindingId).collect())
}

fn letter(verdict: Verdict) -> char {
    match verdict {
        Verdict::Approve => 'a',
        Verdict::Comment => 'c',
        Verdict::RequestChanges => 'r',
    }
}

fn verdict(letter: char) -> Option<Verdict> {
    match letter {
        'a' => Some(Verdict::Approve),
        'c' => Some(Verdict::Comment),
        'r' => Some(Verdict::RequestChanges),
        _ => None,
    }
}
