//! Paths as tools write them are resolved to paths of the repository.

use referee_core::model::SubmittedOutcome;
use referee_review::RuleLevels;
use referee_review::formats::{Format, ReportContext, ToolExit, parse_report};

use crate::{HEAD, parse_file};

#[test]
fn all_spellings_of_a_path_are_resolved() {
    let same = [
        "src/lib.rs",
        "./src/lib.rs",
        "src/./lib.rs",
        "src/deep/../lib.rs",
        "src//lib.rs",
        "src\\\\lib.rs",
        ".\\\\src\\\\lib.rs",
        "/checkout/src/lib.rs",
        "/checkout/./src/lib.rs",
        "file:///checkout/src/lib.rs",
        "file://localhost/checkout/src/lib.rs",
        "file:/checkout/src/lib.rs",
        "file:///checkout/src/%6Cib.rs",
        // Under the root of a container or of another machine.
        "/app/src/lib.rs",
        "/__w/api/api/src/lib.rs",
        "file:///builds/acme/api/src/lib.rs",
        "C:/agent/_work/1/s/src/lib.rs",
    ];
    for path in same {
        let report = parse_file(Format::Gitlab, &issue(path, "minor"));
        assert_eq!(report.findings.first().map(|finding| finding.path.as_str()), Some("src/lib.rs"), "{path}");
    }
}

#[test]
fn findings_outside_the_repository_are_listed_in_the_summary() {
    let outside = [
        "../lib.rs",
        "src/../../lib.rs",
        "/checkout",
        "/checkouts/src/other.rs",
        "/usr/lib/lib.rs",
        "/checkout/../lib.rs",
        "/etc/passwd",
        "C:/src/other.rs",
        "file:///etc/passwd",
        "https://example.org/src/lib.rs",
        "",
        ".",
        "..",
        "src/\\u0000",
    ];
    for path in outside {
        let report = parse_file(Format::Gitlab, &issue(path, "minor"));
        assert_eq!((report.outcome, report.findings.len()), (SubmittedOutcome::Clean, 0), "{path}");
        assert!(report.summary.contains("1 finding is in no file of this repository:"), "{path}: {}", report.summary);
        assert!(report.summary.contains("Something is wrong"), "{path}: {}", report.summary);
        let left_out = report.left_out;
        assert_eq!((left_out.without_place, left_out.outside), if path.is_empty() { (1, 0) } else { (0, 1) }, "{path}");
    }
}

#[test]
fn a_critical_finding_outside_the_repository_does_not_end_in_an_approval() {
    let report = parse_file(Format::Gitlab, &issue("/etc/passwd", "critical"));
    assert_eq!((report.outcome, report.coverage), (SubmittedOutcome::Failed, None));
    assert!(report.summary.contains("/etc/passwd:3: Something is wrong"), "{}", report.summary);
}

#[test]
fn many_findings_outside_the_repository_are_counted() {
    let one = issue("/etc/passwd", "minor");
    let one = one.trim_matches(['[', ']']);
    let issues: Vec<String> = (0..30).map(|n| one.replace(":3", &format!(":{}", n + 3))).collect();
    let report = parse_file(Format::Gitlab, &format!("[{}]", issues.join(",")));
    assert!(report.summary.starts_with("30 findings are in no file"), "{}", report.summary);
    assert!(report.summary.ends_with("- and 10 more"), "{}", report.summary);
}

#[test]
fn a_changed_file_with_a_backslash_in_its_name_is_found() {
    let levels = RuleLevels::default();
    let (role, head, files) = ("lint".into(), HEAD.into(), ["src\\odd.rs".to_owned(), "100%25.txt".to_owned()]);
    let context = ReportContext {
        role: &role,
        head: &head,
        checkout_root: None,
        changed_files: &files,
        tool_exit: ToolExit::Unknown,
        levels: &levels,
    };
    for path in ["src\\\\odd.rs", "100%25.txt"] {
        let report = parse_report(Format::Gitlab, issue(path, "minor").as_bytes(), &context).expect("it can be parsed");
        assert_eq!(report.findings[0].path, path.replace("\\\\", "\\"));
    }
    let report =
        parse_report(Format::Gitlab, issue("/checkout/a.rs", "minor").as_bytes(), &context).expect("it can be parsed");
    assert_eq!(report.findings, [], "without the checkout's root, an absolute path cannot be resolved");
}

#[test]
fn a_cargo_workspace_in_a_subfolder_is_found() {
    let (role, head, levels) = ("lint".into(), HEAD.into(), RuleLevels::default());
    let files = ["src/lib.rs".to_owned(), "rust/src/lib.rs".to_owned()];
    let root = Some(std::path::Path::new("/checkout"));
    let context = ReportContext {
        role: &role,
        head: &head,
        checkout_root: root,
        changed_files: &files,
        tool_exit: ToolExit::Unknown,
        levels: &levels,
    };
    let text = include_str!("samples/cargo.jsonl").replace("/checkout/Cargo.toml", "/checkout/rust/Cargo.toml");
    let report = parse_report(Format::Cargo, text.as_bytes(), &context).expect("it can be parsed");
    assert!(report.findings.iter().all(|found| found.path == "rust/src/lib.rs"));
}

fn issue(path: &str, severity: &str) -> String {
    format!(
        r#"[{{"description":"Something is wrong","severity":"{severity}","location":{{"path":"{path}","lines":{{"begin":3}}}}}}]"#
    )
}
