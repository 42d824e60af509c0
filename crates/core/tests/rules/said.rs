//! Answers to people's commands.

use referee_core::mark::Topic;
use referee_core::model::*;
use referee_core::say::{Ask, Named};

use crate::support::*;

fn answers(by: Author, ask: Ask) -> Vec<String> {
    let mut stage = Stage::all_clear();
    stage.finding(4, Severity::Suggestion, FindingState::Accepted, "src/a.rs", 3);
    stage.finding(5, Severity::Suggestion, FindingState::Accepted, "src/a.rs", 30);
    stage.command(by, HOUR, ask);
    steps(&stage.plan().steps)
        .into_iter()
        .filter(|step| step.starts_with("said") || step.starts_with("glass"))
        .collect()
}

// spec: LOOP-12 @core
#[test]
fn each_command_has_its_answer() {
    let names = |id| vec![Named { role: None, id: FindingId(id) }];
    let other = || vec![Named { role: Some("other".into()), id: FindingId(4) }];
    let dismiss = |id| Ask::Dismiss { findings: names(id), reason: "known".into() };
    let unknown = || Ask::Unknown { verb: "reviw".into(), nearest: Some("review".into()), missing: None };
    let glass = || Ask::BreakGlass { reason: "fire".into() };
    let answered = &["said c2 by referee"][..];
    let cases: [(Author, Ask, &[&str]); 22] = [
        (person("bob"), Ask::Explain, answered),
        (outsider("eve"), Ask::Explain, answered),
        (outsider("eve"), Ask::Help, answered),
        (program("other"), Ask::Help, &[]),
        (person("bob"), unknown(), answered),
        (outsider("eve"), unknown(), &[]),
        (outsider("alice"), unknown(), &[]),
        (person("bob"), Ask::Pause, answered),
        (person("bob"), Ask::Resume, answered),
        (outsider("eve"), Ask::Pause, &[]),
        (outsider("alice"), Ask::Pause, answered),
        (person("bob"), dismiss(4), &[]),
        (person("bob"), dismiss(9), answered),
        (person("bob"), Ask::Reopen { findings: other() }, answered),
        (person("alice"), dismiss(4), answered),
        (outsider("eve"), dismiss(4), &[]),
        (person("bob"), Ask::Rounds { more: 1 }, answered),
        (person("carol"), Ask::Rounds { more: 1 }, &[]),
        (person("bob"), Ask::Review, &[]),
        (person("bob"), Ask::Retry, &[]),
        (person("bob"), glass(), answered),
        (person("carol"), glass(), &["glass by referee"]),
    ];
    for (by, ask, expected) in cases {
        assert_eq!(answers(by.clone(), ask.clone()), expected, "{} {ask:?}", by.display_name());
    }
}

// spec: LOOP-12, LOOP-8 @core
#[test]
fn a_command_is_answered_once() {
    let mut stage = Stage::all_clear();
    stage.command(person("bob"), HOUR, Ask::Explain);
    for step in &stage.plan().steps {
        stage.apply(step);
    }
    assert!(stage.plan().steps.is_empty(), "{:?}", steps(&stage.plan().steps));
    stage.snapshot.comments[1].edited = true;
    stage.command(person("bob"), 0, Ask::Help);
    assert_eq!(steps(&stage.plan().steps).len(), 1, "an edited comment commands nothing");
}

// spec: INC-13, D25 @core
#[test]
fn a_broken_glass_is_audited_once_for_each_change() {
    let mut stage = Stage::all_clear();
    stage.command(person("carol"), HOUR, Ask::BreakGlass { reason: "fire".into() });
    let plan = stage.plan();
    assert_eq!(steps(&plan.steps), ["glass by referee"]);
    stage.apply(&plan.steps[0]);
    assert!(stage.plan().steps.is_empty());
    stage.snapshot.pull.head = sha('c');
    stage.snapshot.pull.head_since = Time(NOW);
    assert!(stage.plan().steps.is_empty(), "the same change under another name");
    assert_eq!(stage.plan().why.rule, "break-glass");
}

// spec: INC-13, D25 @core
#[test]
fn a_change_of_the_same_second_ends_a_broken_glass_that_was_audited() {
    let mut stage = Stage::all_clear();
    stage.command(person("carol"), 0, Ask::BreakGlass { reason: "fire".into() });
    stage.snapshot.pull.head_since = Time(NOW);
    let audit = stage.plan().steps.remove(0);
    stage.apply(&audit);
    assert_eq!(stage.plan().why.rule, "break-glass");
    stage.snapshot.changes.patch = patch("p2");
    assert_ne!(stage.plan().why.rule, "break-glass");
}

#[test]
fn a_closed_pull_answers_nothing() {
    let mut stage = Stage::all_clear();
    stage.command(person("bob"), HOUR, Ask::Help);
    stage.snapshot.pull.state = PullState::Closed;
    assert!(stage.plan().steps.is_empty());
}

#[test]
fn a_strangers_comment_does_not_answer_a_command() {
    let mut stage = Stage::all_clear();
    stage.command(person("bob"), HOUR, Ask::Help);
    let topic = Topic::Said { to: "c2".into() };
    stage.topic("mallory", MINUTE, topic);
    assert!(steps(&stage.plan().steps).contains(&"said c2 by referee".to_owned()));
}
