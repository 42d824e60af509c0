use super::merge_reports;
use crate::hash::Hash;
use crate::model::{
    Coverage, FindingId, FindingPosition, Position, PreExisting, RaisedFinding, Report, ReportOutcome, RoleName,
    RunCost, Severity, Sha,
};
use crate::track::{Anchor, Fingerprint, Side};

fn make_finding(title: &str, line: u32, severity: Severity) -> RaisedFinding {
    RaisedFinding {
        title: title.to_owned(),
        body: title.to_owned(),
        severity,
        path: "src/a.rs".to_owned(),
        line: Some(line),
        end_line: None,
        side: Side::New,
        rule: None,
        suggestion: None,
        fingerprint: Fingerprint(title.to_owned()),
        anchor: Anchor::Line,
        same_as: None,
        in_delta: true,
    }
}

fn make_report(role: &str, findings: Vec<RaisedFinding>, position: Position) -> Report {
    let coverage = Coverage { read: vec!["src/a.rs".to_owned()], skipped: Vec::new() };
    Report {
        role: RoleName::from(role),
        head: Sha::from("abc"),
        outcome: if findings.is_empty() { ReportOutcome::Clean(coverage) } else { ReportOutcome::Findings(coverage) },
        summary: String::new(),
        findings,
        pre_existing: vec![PreExisting { title: "long line".to_owned(), path: "src/old.rs".to_owned(), line: Some(1) }],
        positions: vec![FindingPosition {
            finding: FindingId(1),
            position,
            evidence: String::new(),
            reply: String::new(),
            cited_changed: false,
        }],
        deterministic: false,
        figures: RunCost { tokens: 10, micro_usd: 10, seconds: 1, runs: 1 },
        digest: Hash::digest(role),
    }
}

// spec: INC-18 @core
#[test]
fn reports_of_one_role_are_merged() {
    let one =
        make_report("security", vec![make_finding("token is logged here", 3, Severity::Warning)], Position::Fixed);
    let two = make_report(
        "security",
        vec![
            make_finding("the token is logged here", 3, Severity::Critical),
            make_finding("index is out of bounds", 3, Severity::Warning),
        ],
        Position::StillThere,
    );
    let merged = merge_reports(vec![one, make_report("style", Vec::new(), Position::Fixed), two]);
    assert_eq!(merged.iter().map(|it| it.role.as_str()).collect::<Vec<_>>(), ["security", "style"]);
    let security = &merged[0];
    let findings: Vec<_> = security.findings.iter().map(|it| (it.title.as_str(), it.severity)).collect();
    assert_eq!(findings, [("token is logged here", Severity::Critical), ("index is out of bounds", Severity::Warning)]);
    assert_eq!(security.pre_existing.len(), 1);
    assert_eq!(security.positions.len(), 1, "one position for each prior finding");
    assert_eq!(security.positions[0].position, Position::StillThere, "one `fixed` does not outweigh it");
    assert_eq!(security.figures.runs, 2);
}

// spec: INC-15 @core
#[test]
fn a_failed_report_makes_the_merged_one_incomplete() {
    let mut failed = make_report("security", Vec::new(), Position::Fixed);
    failed.outcome = ReportOutcome::Failed { reason: "timed out".to_owned() };
    let merged = merge_reports(vec![make_report("security", Vec::new(), Position::Fixed), failed.clone()]);
    let ReportOutcome::Clean(coverage) = &merged[0].outcome else { panic!("{merged:?}") };
    assert!(coverage.skipped.iter().any(|it| it.why == "timed out"), "the failure is listed as skipped");
    assert_eq!(
        merge_reports(vec![failed.clone(), failed])[0].coverage(),
        None,
        "if all reports failed, the merged one failed"
    );
}
