//! A reviewer that is never content: whatever the author does, it finds something else in what was just changed.

use std::io::Read;

use referee_core::model::{
    Coverage, FindingId, Position, RoleName, RunCost, Severity, Sha, Submission, SubmittedFinding, SubmittedOutcome,
    SubmittedPosition,
};
use referee_core::track::Side;
use serde::Deserialize;

use crate::console::Console;
use crate::failure::{CliOutcome, Failure};

/// What a command reviewer is told on its standard input (`referee/brief-1`).
#[derive(Deserialize)]
struct PedantBrief {
    role: RoleName,
    head: Sha,
    round: u32,
    priors: Vec<String>,
    files: Vec<String>,
}

/// What it asks for, round by round.
const WISHES: &[(&str, &str, u32)] = &[
    ("web/login.js", "`mayEdit` decides about rights in the browser", 5),
    ("web/login.js", "`mayEdit` compares roles by their names", 6),
    ("web/login.js", "`mayEdit` knows two roles now, and there will be a third", 6),
    ("web/login.js", "`mayEdit` should not exist", 5),
];

/// Reads a brief, writes a report.
pub(super) fn review(out: &Console) -> Result<CliOutcome, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string());
    let told: PedantBrief = read
        .and_then(|_| serde_json::from_str(&text).map_err(|error| error.to_string()))
        .map_err(|error| Failure::usage(format!("no brief on standard input: {error}")))?;
    let round = told.round.max(1) as usize;
    let (path, title, line) = WISHES[(round - 1).min(WISHES.len() - 1)];
    let finding = SubmittedFinding {
        title: title.to_owned(),
        body: "It would be cleaner otherwise.".to_owned(),
        severity: Severity::Critical,
        path: path.to_owned(),
        line: Some(line),
        end_line: None,
        side: Side::New,
        rule: Some(format!("wish-{round}")),
        suggestion: None,
    };
    let named = |prior: &String| prior.strip_prefix('F')?.parse().ok().map(FindingId);
    let fixed = told.priors.iter().filter_map(named).map(|finding| SubmittedPosition {
        finding,
        position: Position::Fixed,
        evidence: format!("{path}:{line} was written anew"),
        reply: String::new(),
    });
    out.print_json(&Submission {
        schema: "referee/report-1".to_owned(),
        role: told.role,
        head: told.head,
        outcome: SubmittedOutcome::Findings,
        reason: String::new(),
        coverage: Some(Coverage { read: told.files, skipped: Vec::new() }),
        summary: String::new(),
        findings: vec![finding],
        positions: fixed.collect(),
        deterministic: false,
        run: String::new(),
        figures: RunCost::default(),
    });
    Ok(CliOutcome::Done)
}
