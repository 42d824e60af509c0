//! Rules for every file.

use referee_review::builtin::RuleSet;

use crate::desk::{Desk, places};

#[test]
fn each_rule_s_page_shows_what_hits_and_what_does_not() {
    let rules = RuleSet::load_embedded().expect("the embedded rules can be read");
    for id in ["conflict-marker", "bidi-control", "hidden-character"] {
        let page = rules.find_page(id).expect("it has a page");
        let hits = |text: Option<String>| {
            let report = Desk::default().adds("a.txt", text.expect("it has a sample")).review();
            places(&report).iter().any(|(rule, _)| *rule == id)
        };
        assert!(hits(page.bad_example), "{id}");
        assert!(!hits(page.good_example), "{id}");
    }
    for id in ["merge-leftover", "committed-env-file", "committed-key-file"] {
        let page = rules.find_page(id).expect("it has a page");
        let hits = |path: Option<String>| {
            let report = Desk::default().adds(&path.expect("it has a sample"), "A=1\n").review();
            places(&report) == [(id, 0)]
        };
        assert!(hits(page.bad_example), "{id}");
        assert!(!hits(page.good_example), "{id}");
    }
}

#[test]
fn a_conflict_is_one_finding_and_a_lone_marker_is_one_too() {
    let text = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\nd\n>>>>>>> y\n<<<<<<< z\n";
    let report = Desk::default().adds("a.txt", text).review();
    let lines: Vec<_> = report.findings.iter().map(|it| (it.line, it.end_line)).collect();
    assert_eq!(lines, [(Some(2), Some(6)), (Some(8), None), (Some(9), None)]);
}

#[test]
fn huge_files_are_told_by_what_was_added() {
    let huge = "a line of text\n".repeat(80_000);
    assert_eq!(places(&Desk::default().adds("a.txt", &huge).review()), [("huge-text", 0)]);
    let edited = Desk::default().changes("a.txt", &huge, &[(1, "+a line of text\n")]);
    assert_eq!(places(&edited.review()), []);
    let picture = vec![1; (5 << 20) + 1];
    assert_eq!(places(&Desk::default().adds_binary("a.png", &picture).review()), [("huge-binary", 0)]);
    assert_eq!(places(&Desk::default().adds_binary("a.png", &picture[1..]).review()), []);
}

#[test]
fn a_file_that_was_there_before_is_left_alone() {
    let desk = Desk::default().changes(".env", "A=1\n", &[(1, "+A=1\n")]).changes("a.rej", "a\n", &[(1, "+a\n")]);
    assert_eq!(places(&desk.review()), []);
}
