//! The review finishes on any input and reports what it read.

use proptest::prelude::*;
use referee_core::model::SubmittedOutcome;

use crate::test_change::{TestChange, repository_rules, rule_lines};

const RULE: &str = "id: open\nlanguage: python\nseverity: warning\nmessage: opened\nrule:\n  pattern: open($X)\n  not:\n    inside: { kind: with_statement, stopBy: end }\n";

#[test]
fn text_that_is_not_utf8_is_checked_by_text_rules_only() {
    let rules = repository_rules(&[(".referee/rules/a.yml", RULE)]);
    let report = TestChange::default().adds("a.py", b"open('caf\xe9')\n<<<<<<< HEAD\n").review_with(&rules);
    assert_eq!(rule_lines(&report), [("conflict-marker", 2)]);
    assert_eq!(report.summary, "1 checked by text rules only (not UTF-8).");
    assert_eq!(report.coverage.expect("a review has coverage").read, ["a.py"]);
}

#[test]
fn a_hundred_thousand_lines_are_reviewed() {
    let rules = repository_rules(&[(".referee/rules/a.yml", RULE)]);
    let text = format!("{}open(1)\n<<<<<<< HEAD\n", "x = 1\n".repeat(100_000));
    let edited = TestChange::default().changes("a.py", &text, &[(100_000, " x = 1\n+open(1)\n+<<<<<<< HEAD\n")]);
    assert_eq!(rule_lines(&edited.review_with(&rules)), [("open", 100_001), ("conflict-marker", 100_002)]);
    let new = TestChange::default().adds("a.txt", &text);
    assert_eq!(rule_lines(&new.review_with(&rules)), [("conflict-marker", 100_002)]);
}

#[test]
fn deeply_nested_code_is_scanned_to_a_limited_depth() {
    let rules = repository_rules(&[(".referee/rules/a.yml", RULE)]);
    let text = format!("open(1)\n{}open(2){}\n", "(".repeat(20_000), ")".repeat(20_000));
    let report = TestChange::default().adds("a.py", text).review_with(&rules);
    assert_eq!(rule_lines(&report), [("open", 1)]);
}

#[test]
fn an_empty_change_is_clean() {
    let report = TestChange::default().review();
    assert_eq!(report.outcome, SubmittedOutcome::Clean);
    assert!(report.coverage.is_some());
}

#[test]
fn hunks_past_the_end_of_the_text_give_no_findings() {
    let report = TestChange::default().changes("a.py", "a\n", &[(90, "+<<<<<<< HEAD\n"), (0, "+b\n")]).review();
    assert_eq!(rule_lines(&report), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_reviewed(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        text in "(\\PC|[\n\r\t(){}\"'#=:;.]|token = |<<<<<<< |open|print|fn |def |ghp_){0,60}",
        end in prop::sample::select(vec!["rs", "py", "js", "ts", "tsx", "go", "env", "txt"]),
    ) {
        let path = format!("a.{end}");
        let change = TestChange::default().adds(&path, bytes).adds(&path, &text).changes(&path, &text, &[(2, "+a\n"), (7, "+b\n c\n")]);
        let report = change.review();
        prop_assert_eq!(report.coverage.expect("a review has coverage").skipped.len() <= 1, true);
        for finding in &report.findings {
            prop_assert!(!finding.title.is_empty() && !finding.title.contains('\n'));
        }
    }
}
