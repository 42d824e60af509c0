//! What accepts a finding, and what only seems to (D39, D40, D41).

use insta::assert_snapshot;
use referee_core::model::{FindingState, Thread};
use referee_testkit::scenario::{ScenarioRun, report, warning};

use crate::findings::finding_state;
use crate::{blocked, security};

const ACCEPTED: (FindingState, bool) = (FindingState::Accepted, false);

// spec: INC-6, D39 @core
#[test]
fn a_critical_finding_is_accepted_only_with_a_reason_and_one_hint_says_so() {
    for words in
        ["Acknowledged.", "won't fix", "Acknowledged, please fix this before the merge", "a wontfix is unacceptable"]
    {
        let mut s = blocked(security("words of acceptance"));
        s.by("bob").replies(1, words).turn().discard_effects();
        assert!(finding_state(&s, 1).1, "{words}");
        let hint = s.conversation(1).lines().last().map(str::to_owned).unwrap_or_default();
        assert!(
            hint.starts_with("referee-bot: ") && hint.contains("@referee-bot dismiss F1 <reason>"),
            "{words}: {hint}"
        );
        assert_eq!(s.turn().steps(), "nothing to write", "{words}");
        s.by("bob").replies(1, words).turn().discard_effects();
        assert_eq!(s.turn().steps(), "nothing to write", "{words}: one hint per thread");
        assert_eq!(s.conversation(1).matches("dismiss F1").count(), 1, "{words}");
        s.by("bob").replies(1, "accepted risk: the log is private").turn().discard_effects();
        assert_eq!(finding_state(&s, 1), ACCEPTED, "{words}");
    }
    let mut s = blocked(security("who gets no hint"));
    s.by("mallory").replies(1, "Acknowledged.").turn().discard_effects();
    assert_eq!(s.conversation(1).lines().count(), 2, "{}", s.conversation(1));
}

// spec: D39 @core
#[test]
fn the_hint_names_the_words_that_count() {
    let mut s = blocked(security("a hint"));
    s.by("bob").replies(1, "won't fix").turn().discard_effects();
    assert_snapshot!(s.conversation(1), @"
    referee-bot: **critical** F1 · security / the token is logged / It breaks when it runs.
    bob: won't fix
    referee-bot: A critical finding needs a reason, so this does not accept F1. / To accept it, begin a note with `won't fix:` or `accepted risk:` and the reason, or write a new comment on the pull: `@referee-bot dismiss F1 <reason>`
    ");
}

// spec: INC-6, D39 @core
#[test]
fn a_warning_is_accepted_by_plain_words() {
    let mut s = open_warning("a warning");
    s.by("bob").replies(1, "By design, please fix it").turn().discard_effects();
    assert!(finding_state(&s, 1).1 && s.conversation(1).contains("This does not accept F1."), "{}", s.conversation(1));
    s.by("bob").replies(1, "By design.").turn().discard_effects();
    assert_eq!(finding_state(&s, 1), ACCEPTED);
}

// spec: INC-7, D39 @core
#[test]
fn a_conceded_critical_finding_waits_for_a_person_to_accept_it() {
    let mut s = blocked(security("conceded"));
    s.by("bob").replies(1, "I disagree, the log is private").by("bob").commands("review");
    s.report(report("security").concedes(1)).turn().discard_effects();
    assert!(finding_state(&s, 1).1);
    assert!(s.conversation(1).contains("The reviewer agrees"), "{}", s.conversation(1));
    assert_eq!(s.turn().steps(), "nothing to write");
    s.by("bob").replies(1, "won't fix: the log is private").turn().discard_effects();
    assert_eq!(finding_state(&s, 1), ACCEPTED);
}

// spec: D12, D39 @core
#[test]
fn the_acceptance_of_a_critical_finding_is_confirmed_in_its_thread() {
    let mut s = blocked(security("resolved by a maintainer"));
    s.by("bob").resolves(1).turn().discard_effects();
    assert_eq!(finding_state(&s, 1), ACCEPTED);
    assert!(s.conversation(1).contains("accepted by bob"), "{}", s.conversation(1));
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: D40 @core
#[test]
fn an_edited_note_accepts_nothing_and_its_author_is_asked_once() {
    for words in ["won't fix: the log is private", "Acknowledged.", "accepted risk: private"] {
        for mut s in [blocked(security("a critical finding")), open_warning("a warning")] {
            s.by("bob").replies(1, "why?");
            edit_last_note(&mut s, "alice", words);
            s.turn().discard_effects();
            assert!(finding_state(&s, 1).1, "{words}");
            let said = s.conversation(1);
            assert!(said.contains("An edited note does not count") && !said.contains("begin a note"), "{said}");
            assert_eq!(s.turn().steps(), "nothing to write", "{words}");
        }
    }
}

// spec: D40 @core
#[test]
fn only_a_command_undoes_what_was_recorded() {
    let mut s = blocked(security("accepted, then edited"));
    s.by("bob").replies(1, "won't fix: the log is private").turn().discard_effects();
    edit_note(&mut s, 1, "alice", "please fix");
    s.turn().discard_effects();
    assert_eq!(finding_state(&s, 1), ACCEPTED);

    let mut s = blocked(security("reopened, then edited"));
    s.by("bob").commands("dismiss F1 private").turn().discard_effects();
    s.by("bob").commands("reopen F1").turn().discard_effects();
    assert!(finding_state(&s, 1).1);
    edit_last_command(&mut s, "alice", "never mind");
    s.turn().discard_effects();
    assert!(finding_state(&s, 1).1, "the reopening is recorded in the Block");
    assert_eq!(s.turn().steps(), "nothing to write");
    s.by("bob").commands("dismiss F1 private").turn().discard_effects();
    assert_eq!(finding_state(&s, 1), ACCEPTED);
    edit_last_command(&mut s, "alice", "never mind");
    s.turn().discard_effects();
    assert_eq!(finding_state(&s, 1), ACCEPTED, "the dismissal is recorded in the Block");

    let mut s = security("paused, then edited").open_pull();
    s.by("bob").commands("pause").turn().discard_effects();
    edit_last_command(&mut s, "alice", "never mind");
    s.turn().discard_effects();
    assert_eq!(s.plan().why.rule, "paused");
    s.by("bob").commands("resume").turn().discard_effects();
    assert!(!s.plan().reviews.is_empty());
}

// spec: D41 @core
#[test]
fn words_that_some_referee_posted_accept_nothing() {
    for end in ["\n\n<!-- referee:tag v1 an,x,y forged -->", "\n<!-- referee:tag", "\n\n<!-- REFEREE:mark v9 -->\n"] {
        let mut s = blocked(security("posted by another account"));
        s.by("bob").replies(1, &format!("won't fix: accepted risk{end}")).turn().discard_effects();
        assert!(finding_state(&s, 1).1, "{end}");
    }
}

fn open_warning(title: &'static str) -> ScenarioRun {
    let mut s = security(title).open_pull();
    s.report(report("security").finds(warning("the token is logged").at("src/a.rs", 4))).turn().discard_effects();
    s
}

fn edit_last_note(s: &mut ScenarioRun, by: &str, words: &str) {
    let thread = thread(s);
    edit_note(s, thread.notes.len() - 1, by, words);
}

fn edit_note(s: &mut ScenarioRun, index: usize, by: &str, words: &str) {
    let id = thread(s).notes[index].id.clone();
    s.by(by).does("edits a note", |person| person.edit_note(&id, words));
}

fn edit_last_command(s: &mut ScenarioRun, by: &str, words: &str) {
    let snapshot = s.snapshot();
    let command = snapshot.comments.iter().rev().find(|comment| comment.text.ask().is_some()).expect("a command");
    s.by(by).does("edits a command", |person| person.edit_comment(&command.id, words));
}

fn thread(s: &ScenarioRun) -> Thread {
    s.find_thread(referee_core::model::FindingId(1)).expect("a thread")
}
