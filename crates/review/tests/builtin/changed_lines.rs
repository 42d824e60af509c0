//! Which lines and files a review speaks of.

use referee_core::model::SubmittedOutcome;

use crate::desk::{Desk, own, places};

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
fn a_finding_touches_an_added_line() {
    let text = "fn f() {\n    a.unwrap();\n    b.unwrap();\n    c.unwrap();\n}\n";
    let desk = Desk::default().changes(
        "src/a.rs",
        text,
        &[(1, " fn f() {\n     a.unwrap();\n+    b.unwrap();\n     c.unwrap();\n }\n")],
    );
    let report = desk.review_by(&own(RULES));
    assert_eq!(places(&report), [("no-unwrap", 3)]);
    let found = &report.findings[0];
    assert_eq!((found.title.as_str(), found.body.as_str()), ("b may not be there", "Say what happens then."));
    assert_eq!(found.suggestion.as_deref(), Some("    b?;"));
    assert!(report.deterministic);
    assert_eq!(report.head.as_str(), "head");
}

#[test]
fn a_match_over_several_lines_counts_when_one_of_them_is_added() {
    let text = "fn f() {\n    a\n        .b()\n        .unwrap();\n}\n";
    let desk = Desk::default().changes("a.rs", text, &[(2, "     a\n+        .b()\n         .unwrap();\n")]);
    let report = desk.review_by(&own(RULES));
    assert_eq!(places(&report), [("no-unwrap", 2)]);
    assert_eq!(report.findings[0].end_line, Some(4));
}

#[test]
fn a_renamed_file_speaks_of_its_new_lines_alone() {
    let text = "fn f() {\n    a.unwrap();\n    b.unwrap();\n}\n";
    let moved = Desk::default().renames("old.rs", "new.rs", text, &[]);
    assert_eq!(moved.review_by(&own(RULES)).outcome, SubmittedOutcome::Clean);
    let edited = Desk::default().renames("old.rs", "new.rs", text, &[(3, "-    b;\n+    b.unwrap();\n")]);
    let report = edited.review_by(&own(RULES));
    assert_eq!(places(&report), [("no-unwrap", 3)]);
    assert_eq!(report.findings[0].path, "new.rs");
}

#[test]
fn coverage_says_what_was_read_and_what_was_not() {
    let mut desk = Desk::default()
        .adds("src/a.rs", "fn f() {}\n")
        .adds("src/Cargo.lock", "x.unwrap()\n")
        .adds("docs/b.rs", "fn f() { a.unwrap() }\n")
        .deletes("src/gone.rs", "-fn f() { a.unwrap() }\n")
        .adds_binary("src/c.rs", b"a.unwrap()")
        .adds_submodule("src/lib");
    desk.paths = vec!["src/**".into()];
    desk.exclude = vec!["**/*.lock".into()];
    let report = desk.review_by(&own(RULES));
    let coverage = report.coverage.expect("a review has coverage");
    assert_eq!(coverage.read, ["src/a.rs", "src/gone.rs", "src/c.rs", "src/lib"]);
    let skipped: Vec<(&str, &str)> = coverage.skipped.iter().map(|it| (it.path.as_str(), it.why.as_str())).collect();
    assert_eq!(skipped, [("src/Cargo.lock", "excluded"), ("docs/b.rs", "excluded")]);
    assert_eq!(report.outcome, SubmittedOutcome::Clean);
}

#[test]
fn the_selection_says_why_a_file_is_left_out() {
    let large = vec![b'a'; (10 << 20) + 1];
    let desk = Desk::default()
        .adds_binary("a.png", b"\x89PNG")
        .adds("zero.txt", b"a\0b")
        .deletes("gone.txt", "-a\n")
        .adds_submodule("lib")
        .adds("large.txt", large);
    let skipped = desk.look(|change| change.select_files(&[], &[])).skipped;
    let whys: Vec<&str> = skipped.iter().map(|it| it.why.as_str()).collect();
    assert_eq!(whys, ["binary", "binary", "deleted", "submodule", "too large"]);
}

#[test]
fn added_lines_are_runs_of_the_new_side() {
    let desk = Desk::default().changes(
        "a.txt",
        "",
        &[(3, " a\n+b\n+c\n-d\n e\n-f\n+g\n\\ No newline at end of file\n"), (40, "+h\n")],
    );
    let runs: Vec<_> = desk.look(|change| change.added_lines(0).collect());
    assert_eq!(runs, [4..=5, 7..=7, 40..=40]);
    assert_eq!(desk.look(|change| change.added_lines(9).count()), 0, "no such file");
}

#[test]
fn line_ends_of_another_system_change_nothing() {
    let text = "fn f() {\r\n    a.unwrap();\r\n}\r\n";
    let report = Desk::default().adds("a.rs", text).review_by(&own(RULES));
    assert_eq!(places(&report), [("no-unwrap", 2)]);
    assert_eq!(report.findings[0].suggestion.as_deref(), Some("    a?;"));
}

#[test]
fn the_order_is_the_same_on_every_run() {
    let mut desk = Desk::default();
    for file in 0..40 {
        desk = desk.adds(&format!("src/{}.rs", 97 - file * 2), "fn f() { b.unwrap(); }\nfn g() { a.unwrap(); }\n");
    }
    let first = desk.review_by(&own(RULES));
    assert_eq!(first.findings.len(), 80);
    assert!(first.findings.is_sorted_by_key(|it| (it.path.clone(), it.line)));
    for _ in 0..4 {
        assert_eq!(desk.review_by(&own(RULES)), first);
    }
}

#[test]
fn a_chain_is_one_finding_a_line() {
    let report = Desk::default().adds("a.rs", "fn f() { a.unwrap().b.unwrap(); }\n").review_by(&own(RULES));
    assert_eq!(places(&report), [("no-unwrap", 1)]);
}

#[test]
fn a_comment_of_the_base_silences_one_rule_on_the_next_line() {
    let text = "fn f() {\n    // referee: ignore other, no-unwrap\n    a.unwrap();\n    // referee: ignore other\n    b.unwrap();\n}\n";
    let hunks = [(3, "-    a();\n+    a.unwrap();\n"), (5, "-    b();\n+    b.unwrap();\n")];
    let report = Desk::default().changes("a.rs", text, &hunks).review_by(&own(RULES));
    assert_eq!(places(&report), [("no-unwrap", 5)]);
    assert_eq!(report.summary, "1 suppressed in the source.");
}

// A change that could silence its own review would let its author accept what only others may (D10).
#[test]
fn a_comment_that_the_change_brings_silences_nothing() {
    let text = "fn f() {\n    // referee: ignore no-unwrap\n    a.unwrap();\n    b.unwrap(); // referee: ignore no-unwrap\n}\n";
    let report = Desk::default().adds("a.rs", text).review_by(&own(RULES));
    assert_eq!(places(&report), [("no-unwrap", 3), ("no-unwrap", 4)]);
    assert_eq!(report.summary, "");
}
