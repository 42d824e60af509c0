//! A reviewer that never approves: in every round it finds something else in the code that was just changed.

use std::io::Read;

use referee_core::model::{
    Coverage, FindingId, Position, RoleName, RunCost, Severity, Sha, Submission, SubmittedFinding, SubmittedOutcome,
    SubmittedPosition,
};
use referee_core::track::Side;
use serde::Deserialize;

use crate::console::Console;
use crate::failure::{CliOutcome, Failure};

/// The part of a command reviewer's brief (`referee/brief-1`) that the pedant uses.
#[derive(Deserialize)]
struct PedantBrief {
    role: RoleName,
    head: Sha,
    round: u32,
    priors: Vec<String>,
    files: Vec<String>,
}

/// Path, title and line of the finding of each round.
const WISHES: &[(&str, &str, u32)] = &[
    ("web/login.js", "`mayEdit` decides about rights in the browser", 5),
    ("web/login.js", "`mayEdit` compares roles by their names", 6),
    ("web/login.js", "`mayEdit` knows two roles now, and there will be a third", 6),
    ("web/login.js", "`mayEdit` should not exist", 5),
];

/// Reads a brief from stdin and writes a report to stdout.
pub(super) fn review(out: &Console) -> Result<CliOutcome, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string());
    let brief: PedantBrief = read
        .and_then(|_| serde_json::from_str(&text).map_err(|error| error.to_string()))
        .map_err(|error| Failure::usage(format!("standard input holds no brief: {error}")))?;
    let round = brief.round.max(1) as usize;
    let (path, title, line) = WISHES[(round - 1).min(WISHES.len() - 1)];
    let finding = SubmittedFinding {
        title: title.to_owned(),
        body: "It would be cleaner otherwise.".to_owned(),
        severity: Severity::Critical,
        path: path.to_owned(),
        line: Some(line),
        end_line: None,
        column: None,
        help: None,
        side: Side::New,
        rule: Some(format!("wish-{round}")),
        suggestion: None,
    };
    let parse_id = |prior: &String| prior.strip_prefix('F')?.parse().ok().map(FindingId);
    let fixed = brief.priors.iter().filter_map(parse_id).map(|finding| SubmittedPosition {
        finding,
        position: Position::Fixed,
        evidence: format!("{path}:{line} was rewritten"),
        reply: String::new(),
    });
    out.print_json(&Submission {
        schema: "referee/report-1".to_owned(),
        role: brief.role,
        head: brief.head,
        outcome: SubmittedOutcome::Findings,
        reason: String::new(),
        coverage: Some(Coverage { read: brief.files, skipped: Vec::new() }),
        summary: String::new(),
        findings: vec![finding],
        positions: fixed.collect(),
        deterministic: false,
        run: String::new(),
        left_out: Default::default(),
        tool: None,
        figures: RunCost::default(),
    });
    Ok(CliOutcome::Done)
}
