//! Reviewers, from honest to hostile. An honest one finds what the code says of itself: `BUG` is critical, `RISK` a
//! warning, `NIT` a suggestion.

use referee_core::model::{
    Coverage, Position, PullNumber, RunCost, Severity, Snapshot, Stance, Submission, SubmittedFinding,
    SubmittedOutcome, SubmittedPosition,
};
use referee_core::plan::Brief;
use referee_core::track::Side;

use crate::world::World;

/// What a reviewer is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewerBehaviour {
    /// Says what is there, and nothing else.
    Honest,
    /// Finds a new critical thing at every head.
    NeverApproves,
    /// Asks for changes at one head, and for none at the next.
    FlipFlops,
    /// Finds suggestions only.
    CommentOnly,
    /// Fails.
    AlwaysFails,
    /// Says clean, and proves nothing.
    Refuses,
    /// Reads half, and leaves priors out.
    Truncates,
    /// Does what the diff tells it to: calls everything fixed.
    Obeys,
}

impl ReviewerBehaviour {
    /// All of them.
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

    /// What it hands in.
    pub fn review(&mut self, world: &World, _pull: PullNumber, brief: &Brief, snapshot: &Snapshot) -> Submission {
        let tree = world.tree(&brief.head);
        let paths: Vec<String> = snapshot.changes.files.iter().map(|file| file.path.clone()).collect();
        let texts: Vec<(&str, &str)> =
            paths.iter().filter_map(|path| Some((path.as_str(), tree.get(path)?.as_ref()))).collect();
        let mut report = Submission {
            schema: "referee/report-1".to_owned(),
            role: brief.role.clone(),
            head: brief.head.clone(),
            outcome: SubmittedOutcome::Clean,
            reason: String::new(),
            coverage: Some(Coverage { read: paths.clone(), skipped: Vec::new() }),
            summary: String::new(),
            findings: find_markers(&texts),
            positions: Vec::new(),
            deterministic: false,
            run: snapshot.taken_at.0.to_string(),
            figures: RunCost { tokens: 1_000, micro_usd: 1_000, seconds: 5, runs: 1 },
        };
        report.positions = state_positions(brief, snapshot, &report.findings);
        let odd = brief.head.as_str().bytes().map(u32::from).sum::<u32>() % 2 == 1;
        match self {
            Self::Honest => {}
            Self::NeverApproves => {
                report.findings.push(finding_on_first_line(&texts, &brief.head.0, Severity::Critical))
            }
            Self::FlipFlops if odd => {
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

fn find_markers(texts: &[(&str, &str)]) -> Vec<SubmittedFinding> {
    let mut found = Vec::new();
    for (path, text) in texts {
        for (at, line) in text.lines().enumerate() {
            for (word, severity) in
                [("BUG", Severity::Critical), ("RISK", Severity::Warning), ("NIT", Severity::Suggestion)]
            {
                if let Some(rest) = line.split(word).nth(1) {
                    let name = rest.split_whitespace().next().unwrap_or("unnamed");
                    let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
                    found.push(new_finding(&format!("{word} {name} is here"), path, number, severity));
                }
            }
        }
    }
    found
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
        side: Side::New,
        rule: None,
        suggestion: None,
    }
}

/// An honest word on every prior finding: fixed if nothing of its name is found any more; where a person disputes it,
/// it stands.
fn state_positions(brief: &Brief, snapshot: &Snapshot, found: &[SubmittedFinding]) -> Vec<SubmittedPosition> {
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
            let there = titles
                .iter()
                .filter(|(of, _)| *of == id.0)
                .any(|(_, title)| found.iter().any(|found| found.title == *title));
            let position = match (there, disputed) {
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
    let stated = |id: &referee_core::model::FindingId| SubmittedPosition {
        finding: *id,
        position,
        evidence: "everything is fixed".to_owned(),
        reply: String::new(),
    };
    report.positions = brief.priors.iter().map(stated).collect();
}
