//! Arguments at an unchanged head: the built-in rules answer once, then a person decides (D30).

use serde_json::json;

use crate::pull_view::{PullView, body};
use crate::test_repo::TestRepo;

/// Reviews a branch with one finding of the built-in rules.
fn review_with_finding() -> TestRepo {
    let repo = TestRepo::new();
    repo.branch(
        "topic",
        &[(
            "a.py",
            "import subprocess\n\n\ndef run(name):\n    return subprocess.check_output('ls ' + name, shell=True)\n",
        )],
    );
    let turn = repo.json(&["review"]);
    assert_eq!(turn["findings"].as_array().map(Vec::len), Some(1), "{turn:#}");
    repo
}

fn reply(repo: &TestRepo, words: &str, by: &[&str]) {
    repo.run_expecting(0, &[&["local", "reply", "L1", "F1", words], by].concat());
}

fn notes(repo: &TestRepo) -> Vec<String> {
    let talk = PullView::read(repo);
    talk.threads()[0]["notes"].as_array().expect("notes").iter().map(body).collect()
}

// spec: D30 @local
#[test]
fn a_rule_answers_a_dispute_once_at_the_same_head_and_then_a_person_decides() {
    let repo = review_with_finding();
    reply(&repo, "I disagree, the name is checked by the caller", &[]);
    let turn = repo.json(&["review"]);
    assert_ne!(turn["next"]["cause"], "needs_human", "{turn:#}");
    let said = notes(&repo);
    assert_eq!(said.len(), 3, "{said:#?}");
    assert!(said[2].starts_with("The rule still matches at `a.py:5`."), "{}", said[2]);
    assert_eq!(repo.json(&["review"])["calls"]["writes"], 0, "one answer");
    reply(&repo, "I disagree, it is", &[]);
    let turn = repo.json(&["review"]);
    assert_eq!((&turn["next"]["cause"], notes(&repo).len()), (&json!("needs_human"), 4), "{turn:#}");
    assert_eq!(repo.json(&["review"])["calls"]["writes"], 0);
    // A new head is another occasion.
    repo.write("b.py", "x = 1\n");
    repo.commit("Add a file");
    repo.json(&["review"]);
    assert_eq!(notes(&repo).len(), 5, "{:#?}", notes(&repo));
}

// spec: D30 @local
#[test]
fn questions_and_claims_are_answered_and_other_words_are_not() {
    for (words, answer) in [
        ("Why is that a problem?", Some("The rule still matches at")),
        ("This is fixed now", Some("Not fixed at this head")),
        ("Thanks, looking into it", None),
    ] {
        let repo = review_with_finding();
        reply(&repo, words, &[]);
        let turn = repo.json(&["review"]);
        let said = notes(&repo);
        assert_eq!(said.get(2).is_some(), answer.is_some(), "{words}: {said:#?} {turn:#}");
        assert!(answer.is_none_or(|answer| said[2].contains(answer)), "{words}: {said:#?}");
        assert_eq!(repo.json(&["review"])["calls"]["writes"], 0, "{words}");
        reply(&repo, words, &[]);
        assert_eq!(repo.json(&["review"])["calls"]["writes"], 0, "{words}, said twice");
    }
}

// spec: D30, D31 @local
#[test]
fn neither_programs_nor_referee_s_own_answers_keep_an_argument_alive() {
    let repo = review_with_finding();
    reply(&repo, "I disagree", &["--as", "other-bot"]);
    assert_eq!(repo.json(&["review"])["calls"]["writes"], 0);
    reply(&repo, "I disagree", &[]);
    repo.json(&["review"]);
    reply(&repo, "I disagree", &["--as", "other-bot"]);
    let turn = repo.json(&["review"]);
    assert_ne!(turn["next"]["cause"], "needs_human", "{turn:#}");
    assert_eq!(notes(&repo).len(), 5, "{:#?}", notes(&repo));
}
