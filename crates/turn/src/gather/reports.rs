//! Interprets reports: matches findings with prior ones, finds where the diff allows a comment, and what is in the
//! delta.

use referee_core::facts::{Facts, KnownFinding, RoleFacts};
use referee_core::hash::Hash;
use referee_core::mark::shorten_rule;
use referee_core::model::{
    Accounting, FindingPosition, Position, PreExisting, RaisedFinding, Report, ReportOutcome, Sha, Snapshot,
    Submission, SubmittedFinding, SubmittedOutcome, SubmittedPosition,
};
use referee_core::policy::Policy;
use referee_core::track::{
    AnchorHash, CodeLocation, DiffAnchors, Fingerprint, ObservedFinding, PriorFinding, extract_lines, match_findings,
    match_tool_findings,
};

use super::{GatherError, delta::DeltaCache, locate_finding};
use crate::source::Source;

pub(super) fn interpret_reports(
    snapshot: &Snapshot,
    policy: &Policy,
    submissions: &[Submission],
    source: &dyn Source,
    deltas: &mut DeltaCache<'_>,
) -> Result<Vec<Report>, GatherError> {
    let facts = Facts::new(snapshot, policy);
    let anchors = DiffAnchors::new(&snapshot.changes.files);
    let mut reports = Vec::new();
    for submission in submissions {
        let role = facts.role(&submission.role);
        let known = role.map_or(&[][..], |role| &role.known_findings);
        let mut positions = Vec::new();
        for stated in &submission.positions {
            positions.push(interpret_position(stated, known, deltas)?);
        }
        let (raised, outside): (Vec<&SubmittedFinding>, Vec<&SubmittedFinding>) =
            submission.findings.iter().partition(|found| is_in_change(&anchors, submission, found));
        let sightings = build_sightings(submission, &raised, source, &snapshot.pull.head)?;
        // A finding that the report calls fixed is not raised again by it: a similar finding is a different one.
        let open: Vec<&KnownFinding<'_>> = known.iter().filter(|known| !is_fixed(&positions, known)).collect();
        let priors: Vec<PriorFinding> = open.iter().map(|known| build_prior(submission, known)).collect();
        let match_raised = if submission.deterministic { match_tool_findings } else { match_findings };
        let same_as = match_raised(&priors, &sightings);
        let mut findings = Vec::new();
        for ((found, seen), same) in raised.into_iter().zip(&sightings).zip(same_as) {
            findings.push(RaisedFinding {
                title: found.title.clone(),
                body: found.body.clone(),
                severity: found.severity,
                path: found.path.clone(),
                line: found.line,
                end_line: found.end_line,
                column: found.column,
                side: found.side,
                rule: found.rule.clone(),
                help: found.help.clone(),
                suggestion: found.suggestion.clone(),
                fingerprint: seen.fingerprint.clone(),
                anchor: anchors.resolve_anchor(&seen.location, found.side),
                same_as: same.and_then(|at| open.get(at)).map(|known| known.id),
                in_delta: is_in_delta(role, found, deltas)?,
            });
        }
        let intake = count_intake(submission, outside.len());
        reports.push(Report {
            role: submission.role.clone(),
            head: submission.head.clone(),
            outcome: report_outcome(submission),
            summary: submission.summary.clone(),
            findings,
            pre_existing: outside.into_iter().map(to_pre_existing).collect(),
            positions,
            deterministic: submission.deterministic,
            intake,
            tool: submission.tool.as_deref().map(Hash::digest),
            figures: submission.figures,
            digest: compute_digest(submission),
        });
    }
    Ok(reports)
}

/// Counts the results of a report, and those that are no findings of this change (PUB-23).
fn count_intake(submission: &Submission, pre_existing: usize) -> Accounting {
    let count = |results: usize| u32::try_from(results).unwrap_or(u32::MAX);
    let left_out = submission.left_out;
    Accounting {
        received: count(submission.findings.len()).saturating_add(left_out.not_shown()),
        pre_existing: left_out.pre_existing.saturating_add(count(pre_existing)),
        ..left_out
    }
}

/// Returns whether a finding is about this change. A deterministic program reports whole files, including what was
/// there before; a model that goes beyond the diff does so on purpose.
fn is_in_change(anchors: &DiffAnchors<'_>, submission: &Submission, found: &SubmittedFinding) -> bool {
    !submission.deterministic || anchors.overlaps_diff(&locate_submitted(found), found.side)
}

fn to_pre_existing(found: &SubmittedFinding) -> PreExisting {
    PreExisting { title: found.title.clone(), path: found.path.clone(), line: found.line }
}

fn locate_submitted(found: &SubmittedFinding) -> CodeLocation {
    let line = found.line.unwrap_or_default();
    CodeLocation { path: found.path.clone(), line, end_line: found.end_line.unwrap_or(line).max(line) }
}

/// Converts the outcome. A report without coverage counts as one that read no file.
fn report_outcome(submission: &Submission) -> ReportOutcome {
    let coverage = || submission.coverage.clone().unwrap_or_default();
    match submission.outcome {
        SubmittedOutcome::Findings => ReportOutcome::Findings(coverage()),
        SubmittedOutcome::Clean => ReportOutcome::Clean(coverage()),
        SubmittedOutcome::Failed => ReportOutcome::Failed { reason: submission.reason.clone() },
    }
}

fn compute_digest(submission: &Submission) -> Hash {
    let content = serde_json::to_string(submission).unwrap_or_default();
    Hash::digest_parts([content.as_str(), submission.run.as_str()])
}

fn build_sightings(
    submission: &Submission,
    raised: &[&SubmittedFinding],
    source: &dyn Source,
    head: &Sha,
) -> Result<Vec<ObservedFinding>, GatherError> {
    let paths: Vec<&str> = raised.iter().map(|found| found.path.as_str()).collect();
    let texts = source.read_files(head, &paths)?;
    let seen = raised.iter().zip(texts).map(|(found, text)| {
        let location = locate_submitted(found);
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
        let code = text.as_deref().map_or("", |text| extract_lines(text, location.line, location.end_line));
        let role = submission.role.as_str();
        ObservedFinding {
            role: role.to_owned(),
            rule: found.rule.as_deref().map(shorten_rule),
            title: found.title.clone(),
            fingerprint: Fingerprint::from_finding(role, found.rule.as_deref(), &found.title, code),
            anchor: text.as_deref().map(|_| AnchorHash::from_code(code)),
            location,
        }
    });
    Ok(seen.collect())
}

/// Returns whether the report says that a prior finding is fixed, and its code, or the cited code, changed (D9).
fn is_fixed(positions: &[FindingPosition], known: &KnownFinding<'_>) -> bool {
    let tracked = || known.track.is_some_and(|tracked| tracked.changed);
    let position = positions.iter().find(|it| it.finding == known.id);
    position.is_some_and(|it| it.position == Position::Fixed && (it.cited_changed || tracked()))
}

fn build_prior(submission: &Submission, known: &KnownFinding<'_>) -> PriorFinding {
    PriorFinding {
        observed: ObservedFinding {
            role: submission.role.as_str().to_owned(),
            rule: known.rule.map(shorten_rule),
            title: known.title.to_owned(),
            location: locate_finding(known),
            fingerprint: known.fingerprint.clone(),
            anchor: None,
        },
        track: known.track.map(|tracked| tracked.track.clone()),
    }
}

/// Returns whether a finding is in code that changed since the role's last complete review; always true for the first
/// one.
fn is_in_delta(
    role: Option<&RoleFacts<'_>>,
    found: &SubmittedFinding,
    deltas: &mut DeltaCache<'_>,
) -> Result<bool, GatherError> {
    let reviewed = role.and_then(|role| role.standing).and_then(|standing| standing.mark.reviewed.as_ref());
    let Some(reviewed) = reviewed else { return Ok(true) };
    Ok(deltas.since(reviewed)?.is_none_or(|delta| delta.touches(&found.path, found.line, found.end_line)))
}

fn interpret_position(
    stated: &SubmittedPosition,
    known: &[KnownFinding<'_>],
    deltas: &mut DeltaCache<'_>,
) -> Result<FindingPosition, GatherError> {
    let head = known.iter().find(|known| known.id == stated.finding).map(|known| known.head);
    let cited_changed = match (head, parse_citation(&stated.evidence)) {
        (Some(head), Some((path, line))) => {
            deltas.since(head)?.is_some_and(|delta| delta.touches(path, Some(line), None))
        }
        _ => false,
    };
    Ok(FindingPosition {
        finding: stated.finding,
        position: stated.position,
        evidence: stated.evidence.clone(),
        reply: stated.reply.clone(),
        cited_changed,
    })
}

/// Returns the first `path:line` in a text.
fn parse_citation(evidence: &str) -> Option<(&str, u32)> {
    evidence.split_whitespace().find_map(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '.' && c != '_' && c != '-');
        let (path, line) = word.rsplit_once(':')?;
        let line = line.parse().ok()?;
        path.contains(['.', '/']).then_some((path, line))
    })
}
