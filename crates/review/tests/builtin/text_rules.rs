//! Text rules.

use referee_review::builtin::RuleSet;

use crate::test_change::{TestChange, rule_lines};

#[test]
fn the_examples_on_the_pages_of_text_rules_hold() {
    let rules = RuleSet::load_embedded().expect("the embedded rules can be read");
    for id in ["conflict-marker", "bidi-control", "hidden-character"] {
        let page = rules.find_page(id).expect("it has a page");
        let hits = |text: Option<String>| {
            let report = TestChange::default().adds("a.txt", text.expect("it has a sample")).review();
            rule_lines(&report).iter().any(|(rule, _)| *rule == id)
        };
        assert!(hits(page.bad_example), "{id}");
        assert!(!hits(page.good_example), "{id}");
    }
    for id in ["merge-leftover", "committed-env-file", "committed-key-file"] {
        let page = rules.find_page(id).expect("it has a page");
        let hits = |path: Option<String>| {
            let report = TestChange::default().adds(&path.expect("it has a sample"), "A=1\n").review();
            rule_lines(&report) == [(id, 0)]
        };
        assert!(hits(page.bad_example), "{id}");
        assert!(!hits(page.good_example), "{id}");
    }
}

#[test]
fn a_conflict_and_a_single_marker_give_one_finding_each() {
    let text = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\nd\n>>>>>>> y\n<<<<<<< z\n";
    let report = TestChange::default().adds("a.txt", text).review();
    let lines: Vec<_> = report.findings.iter().map(|finding| (finding.line, finding.end_line)).collect();
    assert_eq!(lines, [(Some(2), Some(6)), (Some(8), None), (Some(9), None)]);
}

#[test]
fn a_huge_file_is_reported_by_the_size_of_its_added_lines() {
    let huge = "a line of text\n".repeat(80_000);
    assert_eq!(rule_lines(&TestChange::default().adds("a.txt", &huge).review()), [("huge-text", 0)]);
    let edited = TestChange::default().changes("a.txt", &huge, &[(1, "+a line of text\n")]);
    assert_eq!(rule_lines(&edited.review()), []);
    let picture = vec![1; (5 << 20) + 1];
    assert_eq!(rule_lines(&TestChange::default().adds_binary("a.png", &picture).review()), [("huge-binary", 0)]);
    assert_eq!(rule_lines(&TestChange::default().adds_binary("a.png", &picture[1..]).review()), []);
}

#[test]
fn a_file_that_existed_before_is_not_reported() {
    let change =
        TestChange::default().changes(".env", "A=1\n", &[(1, "+A=1\n")]).changes("a.rej", "a\n", &[(1, "+a\n")]);
    assert_eq!(rule_lines(&change.review()), []);
}
