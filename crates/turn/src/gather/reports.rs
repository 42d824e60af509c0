//! Understands reports: which prior finding each raised one is, what may be commented on, what lies in the delta.

use referee_core::facts::{Facts, Known, RoleFacts};
use referee_core::hash::Hash;
use referee_core::model::{
    Ended, Found, Outcome, Position, PositionSaid, PreExisting, Raised, Report, Sha, Snapshot, Stated, Submission,
};
use referee_core::policy::Policy;
use referee_core::track::{AnchorHash, Anchors, Fingerprint, Prior, Sighting, Spot, anchored, assign};

use super::{GatherError, delta::Deltas, spot};
use crate::source::Source;

pub(super) fn understand(
    snapshot: &Snapshot,
    policy: &Policy,
    submissions: &[Submission],
    source: &dyn Source,
    deltas: &mut Deltas<'_>,
) -> Result<Vec<Report>, GatherError> {
    let facts = Facts::new(snapshot, policy);
    let anchors = Anchors::new(&snapshot.changes.files);
    let mut reports = Vec::new();
    for submission in submissions {
        let role = facts.role(&submission.role);
        let known = role.map_or(&[][..], |role| &role.known);
        let mut positions = Vec::new();
        for stated in &submission.positions {
            positions.push(position(stated, known, deltas)?);
        }
        let (raised, outside): (Vec<&Found>, Vec<&Found>) =
            submission.findings.iter().partition(|found| belongs(&anchors, submission, found));
        let sightings = sightings(submission, &raised, source, &snapshot.pull.head)?;
        // What a report calls fixed, and is, it does not raise: a finding like it is another one.
        let open: Vec<&Known<'_>> = known.iter().filter(|known| !is_fixed(&positions, known)).collect();
        let priors: Vec<Prior> = open.iter().map(|known| prior(submission, known)).collect();
        let same_as = assign(&priors, &sightings);
        let mut findings = Vec::new();
        for ((found, seen), same) in raised.into_iter().zip(&sightings).zip(same_as) {
            findings.push(Raised {
                title: found.title.clone(),
                body: found.body.clone(),
                severity: found.severity,
                path: found.path.clone(),
                line: found.line,
                end_line: found.end_line,
                side: found.side,
                rule: found.rule.clone(),
                suggestion: found.suggestion.clone(),
                fingerprint: seen.fingerprint.clone(),
                anchor: anchors.check(&seen.spot, found.side),
                same_as: same.and_then(|at| open.get(at)).map(|known| known.id),
                in_delta: in_delta(role, found, deltas)?,
            });
        }
        reports.push(Report {
            role: submission.role.clone(),
            head: submission.head.clone(),
            outcome: outcome(submission),
            summary: submission.summary.clone(),
            findings,
            pre_existing: outside.into_iter().map(pre_existing).collect(),
            positions,
            deterministic: submission.deterministic,
            figures: submission.figures,
            digest: digest(submission),
        });
    }
    Ok(reports)
}

/// Whether a finding is about this change. A program without judgement reads whole files, and finds what was there
/// before; a model that goes beyond the diff does so on purpose.
fn belongs(anchors: &Anchors<'_>, submission: &Submission, found: &Found) -> bool {
    !submission.deterministic || anchors.shows(&place(found), found.side)
}

fn pre_existing(found: &Found) -> PreExisting {
    PreExisting { title: found.title.clone(), path: found.path.clone(), line: found.line }
}

fn place(found: &Found) -> Spot {
    let line = found.line.unwrap_or_default();
    Spot { path: found.path.clone(), line, end_line: found.end_line.unwrap_or(line).max(line) }
}

/// A report without coverage proves nothing: it counts as one that read no file.
fn outcome(submission: &Submission) -> Outcome {
    let coverage = || submission.coverage.clone().unwrap_or_default();
    match submission.outcome {
        Ended::Findings => Outcome::Findings(coverage()),
        Ended::Clean => Outcome::Clean(coverage()),
        Ended::Failed => Outcome::Failed { reason: submission.reason.clone() },
    }
}

fn digest(submission: &Submission) -> Hash {
    let says = serde_json::to_string(submission).unwrap_or_default();
    Hash::of_parts([says.as_str(), submission.run.as_str()])
}

fn sightings(
    submission: &Submission,
    raised: &[&Found],
    source: &dyn Source,
    head: &Sha,
) -> Result<Vec<Sighting>, GatherError> {
    let paths: Vec<&str> = raised.iter().map(|found| found.path.as_str()).collect();
    let texts = source.files(head, &paths)?;
    let seen = raised.iter().zip(texts).map(|(found, text)| {
        let spot = place(found);
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
        let code = text.as_deref().map_or("", |text| anchored(text, spot.line, spot.end_line));
        let role = submission.role.as_str();
        Sighting {
            role: role.to_owned(),
            rule: found.rule.clone(),
            title: found.title.clone(),
            fingerprint: Fingerprint::of(role, found.rule.as_deref(), &found.title, code),
            anchor: text.as_deref().map(|_| AnchorHash::of(code)),
            spot,
        }
    });
    Ok(seen.collect())
}

/// Whether the report says that a prior finding is fixed, and its code, or what the evidence cites, changed (D9).
fn is_fixed(positions: &[PositionSaid], known: &Known<'_>) -> bool {
    let tracked = || known.track.is_some_and(|tracked| tracked.changed);
    let said = positions.iter().find(|said| said.finding == known.id);
    said.is_some_and(|said| said.position == Position::Fixed && (said.cited_changed || tracked()))
}

fn prior(submission: &Submission, known: &Known<'_>) -> Prior {
    Prior {
        seen: Sighting {
            role: submission.role.as_str().to_owned(),
            rule: known.rule.map(str::to_owned),
            title: known.title.to_owned(),
            spot: spot(known),
            fingerprint: known.fingerprint.clone(),
            anchor: None,
        },
        track: known.track.map(|tracked| tracked.track.clone()),
    }
}

/// Whether a finding lies in what changed since the role's last complete reading; everything does where there was none.
fn in_delta(role: Option<&RoleFacts<'_>>, found: &Found, deltas: &mut Deltas<'_>) -> Result<bool, GatherError> {
    let reviewed = role.and_then(|role| role.standing).and_then(|standing| standing.mark.reviewed.as_ref());
    let Some(reviewed) = reviewed else { return Ok(true) };
    Ok(deltas.since(reviewed)?.is_none_or(|delta| delta.touches(&found.path, found.line, found.end_line)))
}

fn position(stated: &Stated, known: &[Known<'_>], deltas: &mut Deltas<'_>) -> Result<PositionSaid, GatherError> {
    let head = known.iter().find(|known| known.id == stated.finding).map(|known| known.head);
    let cited_changed = match (head, cited(&stated.evidence)) {
        (Some(head), Some((path, line))) => {
            deltas.since(head)?.is_some_and(|delta| delta.touches(path, Some(line), None))
        }
        _ => false,
    };
    Ok(PositionSaid {
        finding: stated.finding,
        position: stated.position,
        evidence: stated.evidence.clone(),
        reply: stated.reply.clone(),
        cited_changed,
    })
}

/// The first `path:line` in a text.
fn cited(evidence: &str) -> Option<(&str, u32)> {
    evidence.split_whitespace().find_map(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '.' && c != '_' && c != '-');
        let (path, line) = word.rsplit_once(':')?;
        let line = line.parse().ok()?;
        path.contains(['.', '/']).then_some((path, line))
    })
}
