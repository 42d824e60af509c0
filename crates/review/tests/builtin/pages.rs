//! Every rule has a page.

use referee_review::builtin::RuleSet;

#[test]
fn every_rule_has_a_complete_page() {
    let rules = RuleSet::load_embedded().expect("the embedded rules can be read");
    let ids = rules.ids();
    assert!(ids.is_sorted() && ids.len() >= 48);
    for id in ids {
        let page = rules.find_page(id).expect("it has a page");
        assert_eq!(page.id, id);
        assert!(!page.title.is_empty() && !page.why.is_empty() && !page.fix.is_empty(), "{id}");
        assert!(page.bad_example.is_some() && page.good_example.is_some(), "{id} has samples");
    }
    assert!(rules.find_page("no-such-rule").is_none());
}

#[test]
fn a_page_is_rendered_as_markdown() {
    let rules = RuleSet::load_embedded().expect("the embedded rules can be read");
    insta::assert_snapshot!(rules.find_page("conflict-marker").expect("it has a page").render(), @"
    # conflict-marker

    A merge conflict is committed

    Severity: critical
    Reads: any file

    ## Why it matters

    The file holds both sides of a conflict and the lines that tell them apart, so it can neither be built nor read.

    ## It finds

        <<<<<<< HEAD
        limit = 10
        =======
        limit = 20
        >>>>>>> feature

    ## It leaves alone

        Limits
        =======
        The limit is 10 <<<<<<< not 20.

    ## How to mend it

    Settle the conflict and take the marker lines out.

    ## How to silence it

    Answer the finding: `won't fix:` and the reason. Once that code is on the default branch, a comment
    `referee: ignore conflict-marker` on the line above keeps later changes of the line quiet; one that the change itself
    brings does not count.
    ");
}
