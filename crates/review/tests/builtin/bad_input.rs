//! Whatever the bytes are, the review ends and says what it read.

use proptest::prelude::*;
use referee_core::model::SubmittedOutcome;

use crate::desk::{Desk, own, places};

const RULE: &str = "id: open\nlanguage: python\nseverity: warning\nmessage: opened\nrule:\n  pattern: open($X)\n  not:\n    inside: { kind: with_statement, stopBy: end }\n";

#[test]
fn a_text_in_another_encoding_is_read_by_text_rules_only() {
    let rules = own(&[(".referee/rules/a.yml", RULE)]);
    let report = Desk::default().adds("a.py", b"open('caf\xe9')\n<<<<<<< HEAD\n").review_by(&rules);
    assert_eq!(places(&report), [("conflict-marker", 2)]);
    assert_eq!(report.summary, "1 read by text rules only (not UTF-8).");
    assert_eq!(report.coverage.expect("a review has coverage").read, ["a.py"]);
}

#[test]
fn a_hundred_thousand_lines_are_read() {
    let rules = own(&[(".referee/rules/a.yml", RULE)]);
    let text = format!("{}open(1)\n<<<<<<< HEAD\n", "x = 1\n".repeat(100_000));
    let edited = Desk::default().changes("a.py", &text, &[(100_000, " x = 1\n+open(1)\n+<<<<<<< HEAD\n")]);
    assert_eq!(places(&edited.review_by(&rules)), [("open", 100_001), ("conflict-marker", 100_002)]);
    let new = Desk::default().adds("a.txt", &text);
    assert_eq!(places(&new.review_by(&rules)), [("conflict-marker", 100_002)]);
}

#[test]
fn code_that_is_nested_without_end_is_read_as_far_as_people_nest() {
    let rules = own(&[(".referee/rules/a.yml", RULE)]);
    let text = format!("open(1)\n{}open(2){}\n", "(".repeat(20_000), ")".repeat(20_000));
    let report = Desk::default().adds("a.py", text).review_by(&rules);
    assert_eq!(places(&report), [("open", 1)]);
}

#[test]
fn nothing_at_all_is_clean() {
    let report = Desk::default().review();
    assert_eq!(report.outcome, SubmittedOutcome::Clean);
    assert!(report.coverage.is_some());
}

#[test]
fn hunks_past_the_end_of_the_text_are_no_findings() {
    let report = Desk::default().changes("a.py", "a\n", &[(90, "+<<<<<<< HEAD\n"), (0, "+b\n")]).review();
    assert_eq!(places(&report), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_end_the_review(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        text in "(\\PC|[\n\r\t(){}\"'#=:;.]|token = |<<<<<<< |open|print|fn |def |ghp_){0,60}",
        end in prop::sample::select(vec!["rs", "py", "js", "ts", "tsx", "go", "env", "txt"]),
    ) {
        let path = format!("a.{end}");
        let desk = Desk::default().adds(&path, bytes).adds(&path, &text).changes(&path, &text, &[(2, "+a\n"), (7, "+b\n c\n")]);
        let report = desk.review();
        prop_assert_eq!(report.coverage.expect("a review has coverage").skipped.len() <= 1, true);
        for found in &report.findings {
            prop_assert!(!found.title.is_empty() && !found.title.contains('\n'));
        }
    }
}
