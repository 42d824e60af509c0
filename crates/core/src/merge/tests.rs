use super::merge_reports;
use crate::hash::Hash;
use crate::model::{
    Accounting, Coverage, FindingId, FindingPosition, Position, PreExisting, RaisedFinding, Report, ReportOutcome,
    RoleName, RunCost, Severity, Sha,
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
        column: None,
        help: None,
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
        intake: Default::default(),
        tool: None,
        figures: RunCost { tokens: 10, micro_usd: 10, seconds: 1, runs: 1 },
        digest: Hash::digest(format!("{role} {position:?}")),
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
    failed.digest = Hash::digest("timed out");
    let merged = merge_reports(vec![make_report("security", Vec::new(), Position::Fixed), failed.clone()]);
    let ReportOutcome::Clean(coverage) = &merged[0].outcome else { panic!("{merged:?}") };
    assert!(coverage.skipped.iter().any(|it| it.why == "timed out"), "the failure is listed as skipped");
    assert_eq!(
        merge_reports(vec![failed.clone(), failed])[0].coverage(),
        None,
        "if all reports failed, the merged one failed"
    );
}

// spec: PUB-23 @core
#[test]
fn a_linter_that_reports_the_same_twice_is_counted_once() {
    let results = vec![make_finding("variable `y` is never used", 3, Severity::Warning)];
    let run = |digest: &str| Report {
        deterministic: true,
        digest: Hash::digest(digest),
        ..make_report("lint", results.clone(), Position::StillThere)
    };
    let merged = merge_reports(vec![run("command"), run("file")]).remove(0);
    assert_eq!((merged.intake, merged.digest, merged.figures.runs), (Accounting::default(), Hash::digest("file"), 2));
}

// spec: PUB-23 @core
// D38
#[test]
fn equal_results_of_one_report_are_one_finding_and_counted() {
    let finding = |text: &str, column| RaisedFinding {
        rule: Some("F841".to_owned()),
        column: Some(column),
        ..make_finding(text, 3, Severity::Warning)
    };
    let results = vec![
        finding("variable `y` is never used", 1),
        finding("variable `z` is never used", 1),
        finding("variable `z` is never used", 9),
        finding("Variable `z` is never used.", 1),
    ];
    let mut report = make_report("lint", results, Position::StillThere);
    report.intake.received = 4;
    let merged = merge_reports(vec![report.clone(), report.clone()]).remove(0);
    assert_eq!((merged.findings.len(), merged.intake.merged), (3, 1), "the report is the same, handed in twice");
    let older = Report { head: Sha::from("old"), digest: Hash::digest("old"), ..report.clone() };
    let merged = merge_reports(vec![older, report]).remove(0);
    let Accounting { received, merged: same, held_back, .. } = merged.intake;
    assert_eq!((received, same, held_back.unused, merged.findings.len()), (8, 2, 3, 3), "a report of another head");
}
