//! Encodes and decodes Marks.

use super::data::{Evaluation, Mark};
use super::field::{FieldReader, FieldWriter, decode_runs, decode_text, encode_runs, encode_text};
use super::limits::{MAX_ROUNDS, count_forgotten_rounds, placeholder_round};
use crate::hash::Hash;
use crate::model::{Accounting, FindingId, Overflow, ReviewId, RoleName, RunCost, Sha, Time, Verdict};
use crate::track::PatchId;

/// Maximum size of a sealed Mark.
pub const MAX_MARK_BYTES: usize = 2_000;

/// Encodes a Mark that fits the limits, and the hash of its Block.
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
        overflow,
        configured,
        tool,
        highest,
    } = mark;
    let mut out = FieldWriter::default();
    out.write_text(role.as_str())
        .write_raw(&encode_verdicts(*own, *enforced, *complete))
        .write_text(head.as_str())
        .write_optional_text(base.as_ref().map(Sha::as_str))
        .write_text(&patch.0)
        .write_optional_text(reviewed.as_ref().map(Sha::as_str))
        .write_raw(&encode_rounds(rounds))
        .write_optional_number(reopened.map(|at| at.0))
        .write_number(attempts)
        .write_optional_number(tried_at.map(|at| at.0))
        .write_optional_text(report.as_ref().map(|hash| hash.0.as_str()))
        .write_optional_number(asked.map(|at| at.0))
        .write_optional_text(restored.as_deref())
        .write_optional_text(superseded.as_ref().map(ReviewId::as_str))
        .write_raw(&encode_runs(blocking.iter().map(|id| id.0)))
        .write_text(&inputs.0)
        .write_text(&words.0)
        .write_optional_text(rewrote.as_ref().map(|hash| hash.0.as_str()));
    encode_evaluation(&mut out, evaluation);
    encode_figures(&mut out, *spent);
    out.write_number(highest.0)
        .write_optional_text(block.map(|hash| hash.0.as_str()))
        .write_raw(&encode_overflow(*overflow))
        .write_optional_text(configured.as_ref().map(|hash| hash.0.as_str()))
        .write_optional_text(tool.as_ref().map(|hash| hash.0.as_str()));
    out.finish()
}

/// Decodes a Mark and the hash of its Block.
pub(super) fn decode_mark(payload: &str) -> Option<(Mark, Option<Hash>)> {
    let mut fields = FieldReader::new(payload);
    let role = RoleName(fields.read_text()?);
    let mut letters = fields.read_raw()?.chars();
    let mut mark = Mark {
        role,
        own: read_verdict(letters.next()?)?,
        enforced: read_verdict(letters.next()?)?,
        complete: match letters.next()? {
            '0' => false,
            '1' => true,
            _ => return None,
        },
        head: Sha(fields.read_text()?),
        base: fields.read_optional_text()?.map(Sha),
        patch: PatchId(fields.read_text()?),
        reviewed: fields.read_optional_text()?.map(Sha),
        rounds: decode_rounds(fields.read_raw()?)?,
        reopened: fields.read_optional_number()?.map(Time),
        attempts: fields.read_number()?,
        tried_at: fields.read_optional_number()?.map(Time),
        report: fields.read_optional_text()?.map(Hash),
        asked: fields.read_optional_number()?.map(Time),
        restored: fields.read_optional_text()?,
        superseded: fields.read_optional_text()?.map(ReviewId),
        blocking: decode_ids(fields.read_raw()?)?,
        inputs: Hash(fields.read_text()?),
        words: Hash(fields.read_text()?),
        rewrote: fields.read_optional_text()?.map(Hash),
        evaluation: decode_evaluation(&mut fields)?,
        spent: decode_figures(&mut fields)?,
        highest: FindingId(fields.read_number()?),
        overflow: Overflow::default(),
        configured: None,
        tool: None,
    };
    let block = fields.read_optional_text()?.map(Hash);
    mark.overflow = decode_overflow(fields.read_raw()?)?;
    mark.configured = fields.read_optional_text()?.map(Hash);
    mark.tool = fields.read_optional_text()?.map(Hash);
    Some((mark, block))
}

/// Returns the placeholder for a Mark of a newer version, of which only the trust is used.
pub(super) fn placeholder_mark() -> Mark {
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
        spent: RunCost::default(),
        overflow: Overflow::default(),
        configured: None,
        tool: None,
        highest: FindingId(0),
    }
}

fn encode_verdicts(own: Verdict, enforced: Verdict, complete: bool) -> String {
    let complete = if complete { '1' } else { '0' };
    [verdict_letter(own), verdict_letter(enforced), complete].iter().collect()
}

/// Encodes the number of placeholder rounds, then the patch ids of the others.
fn encode_rounds(rounds: &[PatchId]) -> String {
    let forgotten = count_forgotten_rounds(rounds);
    let mut field = forgotten.to_string();
    for patch in rounds.iter().skip(forgotten) {
        field.push(',');
        field.push_str(&encode_text(&patch.0));
    }
    field
}

fn decode_rounds(field: &str) -> Option<Vec<PatchId>> {
    let mut parts = field.split(',');
    let forgotten: usize = parts.next()?.parse().ok()?;
    if forgotten > MAX_ROUNDS {
        return None;
    }
    let mut rounds: Vec<PatchId> = (1..=forgotten).map(placeholder_round).collect();
    for part in parts {
        rounds.push(PatchId(decode_text(part)?));
    }
    Some(rounds)
}

fn encode_evaluation(out: &mut FieldWriter, evaluation: &Evaluation) {
    let Evaluation { read, of, skipped, since, new, fixed, fixed_count, claimed, back, accounting, failure, figures } =
        evaluation;
    out.write_number(read)
        .write_number(of)
        .write_list(skipped.iter().map(String::as_str))
        .write_optional_text(since.as_ref().map(Sha::as_str))
        .write_raw(&encode_runs(new.iter().map(|id| id.0)))
        .write_raw(&encode_runs(fixed.iter().map(|id| id.0)))
        .write_raw(&encode_runs(claimed.iter().map(|id| id.0)))
        .write_raw(&encode_runs(back.iter().map(|id| id.0)))
        .write_number(fixed_count)
        .write_raw(&encode_counts(&accounting.to_counts()))
        .write_optional_text(failure.as_deref());
    encode_figures(out, *figures);
}

fn decode_evaluation(fields: &mut FieldReader<'_>) -> Option<Evaluation> {
    Some(Evaluation {
        read: fields.read_number()?,
        of: fields.read_number()?,
        skipped: fields.read_list()?,
        since: fields.read_optional_text()?.map(Sha),
        new: decode_ids(fields.read_raw()?)?,
        fixed: decode_ids(fields.read_raw()?)?,
        claimed: decode_ids(fields.read_raw()?)?,
        back: decode_ids(fields.read_raw()?)?,
        fixed_count: fields.read_number()?,
        accounting: Accounting::from_counts(decode_counts(fields.read_raw()?)?),
        failure: fields.read_optional_text()?,
        figures: decode_figures(fields)?,
    })
}

fn encode_overflow(overflow: Overflow) -> String {
    let Overflow { critical, warning, suggestion } = overflow;
    encode_counts(&[critical, warning, suggestion])
}

fn decode_overflow(field: &str) -> Option<Overflow> {
    let [critical, warning, suggestion] = decode_counts(field)?;
    Some(Overflow { critical, warning, suggestion })
}

/// Encodes counts as a list. Trailing zeros are left out.
fn encode_counts(counts: &[u32]) -> String {
    let used = counts.iter().rposition(|count| *count > 0).map_or(1, |last| last + 1);
    counts.iter().take(used).map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn decode_counts<const N: usize>(field: &str) -> Option<[u32; N]> {
    let mut counts = [0; N];
    for (index, part) in field.split(',').enumerate() {
        *counts.get_mut(index)? = part.parse().ok()?;
    }
    Some(counts)
}

fn encode_figures(out: &mut FieldWriter, figures: RunCost) {
    let RunCost { tokens, micro_usd, seconds, runs } = figures;
    out.write_number(tokens).write_number(micro_usd).write_number(seconds).write_number(runs);
}

fn decode_figures(fields: &mut FieldReader<'_>) -> Option<RunCost> {
    Some(RunCost {
        tokens: fields.read_number()?,
        micro_usd: fields.read_number()?,
        seconds: fields.read_number()?,
        runs: fields.read_number()?,
    })
}

fn decode_ids(field: &str) -> Option<Vec<FindingId>> {
    Some(decode_runs(field)?.into_iter().map(FindingId).collect())
}

fn verdict_letter(verdict: Verdict) -> char {
    match verdict {
        Verdict::Approve => 'a',
        Verdict::Comment => 'c',
        Verdict::RequestChanges => 'r',
    }
}

fn read_verdict(letter: char) -> Option<Verdict> {
    match letter {
        'a' => Some(Verdict::Approve),
        'c' => Some(Verdict::Comment),
        'r' => Some(Verdict::RequestChanges),
        _ => None,
    }
}
