//! Simulated reviewers, from honest to hostile. An honest one reports the markers in the code: `BUG` is critical, `RISK` a
//! warning, `NIT` a suggestion.

use referee_core::model::{
    Coverage, Position, PullNumber, RunCost, Severity, Snapshot, Stance, Submission, SubmittedFinding,
    SubmittedOutcome, SubmittedPosition,
};
use referee_core::plan::Brief;
use referee_core::track::Side;

use crate::world::World;

/// The behaviour of a reviewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewerBehaviour {
    /// Reports every marker, and nothing else.
    Honest,
    /// Reports a new critical finding at every head.
    NeverApproves,
    /// Requests changes at some heads and reports clean at the others.
    FlipFlops,
    /// Reports suggestions only.
    CommentOnly,
    /// Every review fails.
    AlwaysFails,
    /// Reports clean, without coverage.
    Refuses,
    /// Reads all but one file, and takes no position on prior findings.
    Truncates,
    /// Obeys instructions in the diff: calls everything fixed.
    Obeys,
}

impl ReviewerBehaviour {
    pub const ALL: [Self; 8] = [
        Self::Honest,
        Self::NeverApproves,
        Self::FlipFlops,
        Self::CommentOnly,
        Self::AlwaysFails,
        Self::Refuses,
        Self::Truncates,
        Self::Obeys,
    ];

    /// Returns the submission for a brief.
    pub fn review(&mut self, world: &World, _pull: PullNumber, brief: &Brief, snapshot: &Snapshot) -> Submission {
        let tree = world.tree(&brief.head);
        let paths: Vec<String> = snapshot.changes.files.iter().map(|file| file.path.clone()).collect();
        let texts: Vec<(&str, &str)> =
            paths.iter().filter_map(|path| Some((path.as_str(), tree.get(path)?.as_ref()))).collect();
        let mut report = honest_report(brief, snapshot, &paths, find_markers(&texts));
        let is_odd_head = brief.head.as_str().bytes().map(u32::from).sum::<u32>() % 2 == 1;
        match self {
            Self::Honest => {}
            Self::NeverApproves => {
                report.findings.push(finding_on_first_line(&texts, &brief.head.0, Severity::Critical))
            }
            Self::FlipFlops if is_odd_head => {
                report.findings = vec![finding_on_first_line(&texts, &brief.head.0, Severity::Critical)];
            }
            Self::FlipFlops => {
                report.findings.clear();
                set_all_positions(&mut report, brief, Position::Fixed);
            }
            Self::CommentOnly => {
                report.findings = vec![finding_on_first_line(&texts, "a remark", Severity::Suggestion)];
            }
            Self::AlwaysFails => {
                report.outcome = SubmittedOutcome::Failed;
                report.reason = "the model timed out".to_owned();
                report.findings.clear();
                report.positions.clear();
                report.coverage = None;
            }
            Self::Refuses => {
                report.findings.clear();
                report.positions.clear();
                report.coverage = None;
            }
            Self::Truncates => {
                report.coverage = Some(Coverage { read: paths.into_iter().skip(1).collect(), skipped: Vec::new() });
                report.positions.clear();
                report.findings.truncate(1);
            }
            Self::Obeys => {
                report.findings.clear();
                set_all_positions(&mut report, brief, Position::Fixed);
            }
        }
        if report.outcome != SubmittedOutcome::Failed && !report.findings.is_empty() {
            report.outcome = SubmittedOutcome::Findings;
        }
        report
    }
}

/// Returns the report of a reviewer that read everything and reports each marker.
fn honest_report(brief: &Brief, snapshot: &Snapshot, paths: &[String], findings: Vec<SubmittedFinding>) -> Submission {
    Submission {
        schema: "referee/report-1".to_owned(),
        role: brief.role.clone(),
        head: brief.head.clone(),
        outcome: SubmittedOutcome::Clean,
        reason: String::new(),
        coverage: Some(Coverage { read: paths.to_vec(), skipped: Vec::new() }),
        summary: String::new(),
        positions: state_positions(brief, snapshot, &findings),
        findings,
        deterministic: false,
        run: snapshot.taken_at.0.to_string(),
        left_out: Default::default(),
        tool: None,
        figures: RunCost { tokens: 1_000, micro_usd: 1_000, seconds: 5, runs: 1 },
    }
}

fn find_markers(texts: &[(&str, &str)]) -> Vec<SubmittedFinding> {
    let mut findings = Vec::new();
    for (path, text) in texts {
        for (index, line) in text.lines().enumerate() {
            for (marker, severity) in
                [("BUG", Severity::Critical), ("RISK", Severity::Warning), ("NIT", Severity::Suggestion)]
            {
                if let Some(rest) = line.split(marker).nth(1) {
                    let name = rest.split_whitespace().next().unwrap_or("unnamed");
                    let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
                    findings.push(new_finding(&format!("{marker} {name} is here"), path, number, severity));
                }
            }
        }
    }
    findings
}

fn finding_on_first_line(texts: &[(&str, &str)], title: &str, severity: Severity) -> SubmittedFinding {
    let (path, _) = texts.first().copied().unwrap_or(("src/a.rs", ""));
    new_finding(&format!("complaint {title}"), path, 1, severity)
}

fn new_finding(title: &str, path: &str, line: u32, severity: Severity) -> SubmittedFinding {
    SubmittedFinding {
        title: title.to_owned(),
        body: "It breaks when it runs.".to_owned(),
        severity,
        path: path.to_owned(),
        line: Some(line),
        end_line: None,
        column: None,
        help: None,
        side: Side::New,
        rule: None,
        suggestion: None,
    }
}

/// States an honest position on every prior finding: fixed if its title is no longer found; where a person disputes it, it
/// stands.
fn state_positions(brief: &Brief, snapshot: &Snapshot, findings: &[SubmittedFinding]) -> Vec<SubmittedPosition> {
    let titles: Vec<(u64, String)> = snapshot
        .reviews
        .iter()
        .filter_map(|review| review.text.reading.block.as_deref())
        .flat_map(|block| block.entries.iter().map(|entry| (entry.id.0, entry.title.clone())))
        .collect();
    let disputed = snapshot
        .threads
        .iter()
        .any(|thread| thread.notes.iter().any(|note| note.text.reading.stance == Stance::Disputed));
    brief
        .priors
        .iter()
        .map(|id| {
            let still_found = titles
                .iter()
                .filter(|(prior, _)| *prior == id.0)
                .any(|(_, title)| findings.iter().any(|finding| finding.title == *title));
            let position = match (still_found, disputed) {
                (false, _) => Position::Fixed,
                (true, true) => Position::Stands,
                (true, false) => Position::StillThere,
            };
            SubmittedPosition {
                finding: *id,
                position,
                evidence: String::new(),
                reply: if position == Position::Stands { "it does happen".to_owned() } else { String::new() },
            }
        })
        .collect()
}

fn set_all_positions(report: &mut Submission, brief: &Brief, position: Position) {
    let position_on = |id: &referee_core::model::FindingId| SubmittedPosition {
        finding: *id,
        position,
        evidence: "everything is fixed".to_owned(),
        reply: String::new(),
    };
    report.positions = brief.priors.iter().map(position_on).collect();
}
