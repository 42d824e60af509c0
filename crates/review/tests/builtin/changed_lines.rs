//! Findings are limited to the lines and files of the change.

use referee_core::model::SubmittedOutcome;

use crate::test_change::{TestChange, repository_rules, rule_lines};

const UNWRAP: &str = "
id: no-unwrap
language: Rust
severity: warning
message: $X may not be there
note: Say what happens then.
rule: { pattern: $X.unwrap() }
fix: $X?
";

const RULES: &[(&str, &str)] = &[(".referee/rules/no-unwrap.yml", UNWRAP)];

#[test]
fn only_added_lines_have_findings() {
    let text = "fn f() {\n    a.unwrap();\n    b.unwrap();\n    c.unwrap();\n}\n";
    let change = TestChange::default().changes(
        "src/a.rs",
        text,
        &[(1, " fn f() {\n     a.unwrap();\n+    b.unwrap();\n     c.unwrap();\n }\n")],
    );
    let report = change.review_with(&repository_rules(RULES));
    assert_eq!(rule_lines(&report), [("no-unwrap", 3)]);
    let finding = &report.findings[0];
    assert_eq!((finding.title.as_str(), finding.body.as_str()), ("b may not be there", "Say what happens then."));
    assert_eq!(finding.suggestion.as_deref(), Some("    b?;"));
    assert!(report.deterministic);
    assert_eq!(report.head.as_str(), "head");
}

#[test]
fn a_match_over_several_lines_counts_if_one_of_them_is_added() {
    let text = "fn f() {\n    a\n        .b()\n        .unwrap();\n}\n";
    let change = TestChange::default().changes("a.rs", text, &[(2, "     a\n+        .b()\n         .unwrap();\n")]);
    let report = change.review_with(&repository_rules(RULES));
    assert_eq!(rule_lines(&report), [("no-unwrap", 2)]);
    assert_eq!(report.findings[0].end_line, Some(4));
}

#[test]
fn a_renamed_file_has_findings_on_added_lines_only() {
    let text = "fn f() {\n    a.unwrap();\n    b.unwrap();\n}\n";
    let moved = TestChange::default().renames("old.rs", "new.rs", text, &[]);
    assert_eq!(moved.review_with(&repository_rules(RULES)).outcome, SubmittedOutcome::Clean);
    let edited = TestChange::default().renames("old.rs", "new.rs", text, &[(3, "-    b;\n+    b.unwrap();\n")]);
    let report = edited.review_with(&repository_rules(RULES));
    assert_eq!(rule_lines(&report), [("no-unwrap", 3)]);
    assert_eq!(report.findings[0].path, "new.rs");
}

#[test]
fn coverage_lists_read_and_skipped_files() {
    let mut change = TestChange::default()
        .adds("src/a.rs", "fn f() {}\n")
        .adds("src/Cargo.lock", "x.unwrap()\n")
        .adds("docs/b.rs", "fn f() { a.unwrap() }\n")
        .deletes("src/gone.rs", "-fn f() { a.unwrap() }\n")
        .adds_binary("src/c.rs", b"a.unwrap()")
        .adds_submodule("src/lib");
    change.paths = vec!["src/**".into()];
    change.exclude = vec!["**/*.lock".into()];
    let report = change.review_with(&repository_rules(RULES));
    let coverage = report.coverage.expect("a review has coverage");
    assert_eq!(coverage.read, ["src/a.rs", "src/gone.rs", "src/c.rs", "src/lib"]);
    let skipped: Vec<(&str, &str)> =
        coverage.skipped.iter().map(|file| (file.path.as_str(), file.why.as_str())).collect();
    assert_eq!(skipped, [("src/Cargo.lock", "excluded"), ("docs/b.rs", "excluded")]);
    assert_eq!(report.outcome, SubmittedOutcome::Clean);
}

#[test]
fn the_selection_gives_a_reason_for_each_skipped_file() {
    let large = vec![b'a'; (10 << 20) + 1];
    let change = TestChange::default()
        .adds_binary("a.png", b"\x89PNG")
        .adds("zero.txt", b"a\0b")
        .deletes("gone.txt", "-a\n")
        .adds_submodule("lib")
        .adds("large.txt", large);
    let skipped = change.with_change_set(|change| change.select_files(&[], &[])).skipped;
    let reasons: Vec<&str> = skipped.iter().map(|file| file.why.as_str()).collect();
    assert_eq!(reasons, ["binary", "binary", "deleted", "submodule", "too large"]);
}

#[test]
fn added_lines_are_ranges_at_the_head() {
    let change = TestChange::default().changes(
        "a.txt",
        "",
        &[(3, " a\n+b\n+c\n-d\n e\n-f\n+g\n\\ No newline at end of file\n"), (40, "+h\n")],
    );
    let ranges: Vec<_> = change.with_change_set(|change| change.added_lines(0).collect());
    assert_eq!(ranges, [4..=5, 7..=7, 40..=40]);
    assert_eq!(change.with_change_set(|change| change.added_lines(9).count()), 0, "no such file");
}

#[test]
fn crlf_line_ends_are_handled() {
    let text = "fn f() {\r\n    a.unwrap();\r\n}\r\n";
    let report = TestChange::default().adds("a.rs", text).review_with(&repository_rules(RULES));
    assert_eq!(rule_lines(&report), [("no-unwrap", 2)]);
    assert_eq!(report.findings[0].suggestion.as_deref(), Some("    a?;"));
}

#[test]
fn the_order_of_findings_is_deterministic() {
    let mut change = TestChange::default();
    for file in 0..40 {
        change = change.adds(&format!("src/{}.rs", 97 - file * 2), "fn f() { b.unwrap(); }\nfn g() { a.unwrap(); }\n");
    }
    let first = change.review_with(&repository_rules(RULES));
    assert_eq!(first.findings.len(), 80);
    assert!(first.findings.is_sorted_by_key(|finding| (finding.path.clone(), finding.line)));
    for _ in 0..4 {
        assert_eq!(change.review_with(&repository_rules(RULES)), first);
    }
}

#[test]
fn a_call_chain_gives_one_finding_per_line() {
    let report =
        TestChange::default().adds("a.rs", "fn f() { a.unwrap().b.unwrap(); }\n").review_with(&repository_rules(RULES));
    assert_eq!(rule_lines(&report), [("no-unwrap", 1)]);
}

#[test]
fn a_comment_on_the_base_suppresses_a_rule_on_the_next_line() {
    let text = "fn f() {\n    // referee: ignore other, no-unwrap\n    a.unwrap();\n    // referee: ignore other\n    b.unwrap();\n}\n";
    let hunks = [(3, "-    a();\n+    a.unwrap();\n"), (5, "-    b();\n+    b.unwrap();\n")];
    let report = TestChange::default().changes("a.rs", text, &hunks).review_with(&repository_rules(RULES));
    assert_eq!(rule_lines(&report), [("no-unwrap", 5)]);
    assert_eq!(report.summary, "1 suppressed in the source.");
}

// The author of a change must not be able to accept findings on it (D10).
#[test]
fn a_comment_that_the_change_adds_suppresses_nothing() {
    let text = "fn f() {\n    // referee: ignore no-unwrap\n    a.unwrap();\n    b.unwrap(); // referee: ignore no-unwrap\n}\n";
    let report = TestChange::default().adds("a.rs", text).review_with(&repository_rules(RULES));
    assert_eq!(rule_lines(&report), [("no-unwrap", 3), ("no-unwrap", 4)]);
    assert_eq!(report.summary, "");
}
