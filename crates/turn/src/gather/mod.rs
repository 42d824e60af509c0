//! Builds a snapshot from the forge's data, git's view of the change, and new input. Parses Marks and commands, and
//! tracks findings. The snapshot contains no source text.

mod authors;
mod delta;
mod outdated;
mod reports;
pub(crate) mod texts;

use std::collections::{BTreeMap, BTreeSet};

use referee_core::decide::PlanScope;
use referee_core::facts::{Facts, KnownFinding, RoleFacts};
use referee_core::mark::Keys;
use referee_core::merge;
use referee_core::model::{Changes, Completeness, Evidence, Mergeable, Sha, Snapshot, Submission, TrackedFinding};
use referee_core::policy::Policy;
use referee_core::track::{ChangedFile, CodeLocation, FileDiff, PatchId, Track, count_lines, follow_locations};
use referee_forge::FetchedPull;
use thiserror::Error;

use crate::source::{Source, SourceError};
use delta::Delta;

/// The input of a turn besides the forge's data: what arrived since the last turn, and the scope of the command.
#[derive(Clone, Debug, Default)]
pub struct Inbox {
    /// Reports, as reviewers wrote them.
    pub reports: Vec<Submission>,
    /// Everything else; `gather_snapshot` fills its reports.
    pub evidence: Evidence,
    /// The part of the plan that the caller applies.
    pub scope: PlanScope,
}

/// Why no snapshot could be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GatherError {
    /// A commit or file could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// git's diff could not be parsed.
    #[error("the diff cannot be parsed: {0}")]
    Diff(String),
}

pub fn gather_snapshot(
    mut fetched: FetchedPull,
    source: &dyn Source,
    inbox: &Inbox,
    policy: &Policy,
    keys: &Keys,
) -> Result<Snapshot, GatherError> {
    authors::classify_authors(&mut fetched, policy);
    let FetchedPull {
        taken_at,
        viewer,
        capabilities,
        mut complete,
        is_fresh: _,
        head_read_last: _,
        pull,
        reviews,
        threads,
        comments,
        checks,
        lease,
        memento: _,
    } = fetched;
    let changes = match source.load_changes(&pull.base_sha, &pull.head) {
        Err(GatherError::Source(SourceError::TooLarge(what))) => {
            complete = mark_unread_change(complete, what);
            Changes::default()
        }
        Err(GatherError::Diff(why)) => {
            complete = mark_unread_change(complete, format!("the diff ({why})"));
            Changes::default()
        }
        loaded => loaded?,
    };
    let mut snapshot = Snapshot {
        taken_at,
        viewer,
        capabilities,
        complete,
        pull,
        reviews,
        threads,
        comments,
        checks,
        changes,
        evidence: inbox.evidence.clone(),
        lease,
    };
    // A forge updates `mergeable` seconds after a push to the base, or never. git's answer is current.
    if !snapshot.pull.draft && snapshot.complete == Completeness::Complete {
        snapshot.pull.mergeable = match source.check_mergeable(&snapshot.pull.base_sha, &snapshot.pull.head) {
            Mergeable::Unknown => snapshot.pull.mergeable,
            by_git => by_git,
        };
    }
    texts::parse_snapshot_texts(&mut snapshot, policy, keys);
    let mut deltas = delta::DeltaCache::new(source, &snapshot.pull.head);
    let (tracks, unreachable) = track_findings(&snapshot, policy, &mut deltas)?;
    snapshot.changes.tracks = tracks;
    snapshot.changes.unreachable = unreachable;
    outdated::mark_outdated_threads(&mut snapshot, &mut deltas)?;
    let interpreted = reports::interpret_reports(&snapshot, policy, &inbox.reports, source, &mut deltas)?;
    snapshot.evidence.reports = merge::merge_reports(interpreted);
    for answer in &mut snapshot.evidence.answers {
        let reachable = |commit: &Sha| source.is_ancestor(commit, &snapshot.pull.head).unwrap_or(false);
        answer.commit_reachable = answer.commit_sha.as_ref().is_some_and(reachable);
    }
    Ok(snapshot)
}

/// Returns how complete a pull is whose change cannot be read: referee's reviews may still be complete.
fn mark_unread_change(complete: Completeness, what: String) -> Completeness {
    match complete {
        Completeness::Complete => Completeness::Truncated { what, own_reviews_read: true },
        truncated @ Completeness::Truncated { .. } => truncated,
    }
}

/// Computes what a head changes since its merge base.
pub fn compute_changes<S: Source + ?Sized>(source: &S, base: &Sha, head: &Sha) -> Result<Changes, GatherError> {
    let merge_base = source.merge_base(base, head)?;
    let from = merge_base.as_ref().unwrap_or(base);
    let raw = source.diff(from, head)?;
    let diff = referee_git::parse_diff(&raw).map_err(|error| GatherError::Diff(error.to_string()))?;
    let old_paths: Vec<&str> = diff.iter().map(|file| file.old_path.as_deref().unwrap_or(&file.path)).collect();
    let new_paths: Vec<&str> = diff.iter().map(|file| file.path.as_str()).collect();
    let old = source.read_files(from, &old_paths)?;
    let new = source.read_files(head, &new_paths)?;
    let files: Vec<ChangedFile> = diff
        .iter()
        .zip(old.iter().zip(&new))
        .map(|(file, (old, new))| {
            let length = |text: &Option<Vec<u8>>| text.as_deref().map(count_lines);
            file.to_changed_file(length(old), length(new))
        })
        .collect();
    let old_text = |file: &FileDiff<'_>| {
        let at = diff.iter().position(|it| std::ptr::eq(it, file))?;
        old.get(at)?.as_deref()
    };
    let patch = PatchId::from_files(&diff, old_text);
    Ok(Changes { merge_base, patch, files, tracks: Vec::new(), unreachable: Default::default() })
}

/// Tracks the code of each prior finding from its head to the current one; each earlier head is read once.
fn track_findings(
    snapshot: &Snapshot,
    policy: &Policy,
    deltas: &mut delta::DeltaCache<'_>,
) -> Result<(Vec<TrackedFinding>, BTreeSet<Sha>), GatherError> {
    let facts = Facts::new(snapshot, policy);
    let mut unreachable = BTreeSet::new();
    let mut by_head: BTreeMap<&Sha, Vec<(&RoleFacts<'_>, &KnownFinding<'_>)>> = BTreeMap::new();
    for role in &facts.roles {
        let reviewed = role.standing.and_then(|standing| standing.mark.reviewed.as_ref());
        if let Some(head) = reviewed.filter(|head| **head != snapshot.pull.head)
            && deltas.since(head)?.is_none()
        {
            unreachable.insert(head.clone());
        }
        for known in &role.known_findings {
            by_head.entry(known.head).or_default().push((role, known));
        }
    }
    let mut tracks = Vec::new();
    for (head, findings) in by_head {
        let Some(delta) = deltas.since(head)? else { continue };
        let locations: Vec<CodeLocation> = findings.iter().map(|(_, known)| locate_finding(known)).collect();
        for ((role, known), track) in findings.iter().zip(follow_locations(&locations, &delta.file_changes())) {
            let changed = matches!(track, Track::Changed(_) | Track::Gone);
            let file_changed = delta.changes_file(known.path);
            tracks.push(TrackedFinding {
                role: role.role.name.clone(),
                finding: known.id,
                track,
                changed,
                file_changed,
            });
        }
    }
    Ok((tracks, unreachable))
}

fn locate_finding(known: &KnownFinding<'_>) -> CodeLocation {
    let line = known.line.unwrap_or_default();
    CodeLocation { path: known.path.to_owned(), line, end_line: line }
}

impl Delta {
    /// Returns whether anything changed at a location of the new head.
    fn touches(&self, path: &str, line: Option<u32>, end_line: Option<u32>) -> bool {
        let line = line.unwrap_or_default();
        let location = CodeLocation { path: path.to_owned(), line, end_line: end_line.unwrap_or(line).max(line) };
        referee_core::track::is_touched(&location, &self.file_changes())
    }
}
