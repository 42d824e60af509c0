//! Deciding again after the steps were applied.

use referee_core::decide::settle::{AnswerResult, MAX_STORED_OUTCOMES, ThreadOutcome, append_outcomes, settle};
use referee_core::mark::{ReplyKind, Tag, TagKind, Trust};
use referee_core::model::{CheckState, Class, NoteId, Resolution};
use referee_core::policy::Policy;

use crate::support::{ME, answer, apply, bot, note, own_thread, person, sha, snapshot, steps, tag, thread};

// spec: FIX-8 @core
#[test]
fn done_is_done() {
    for opened in [thread("T", person("bob")), thread("T", bot("lint")), own_thread("T")] {
        let mut snapshot = snapshot(vec![opened]);
        snapshot.evidence.answers = vec![answer("T", Class::Valid)];
        let first = settle(&snapshot, &Policy::default());
        assert_eq!(steps(&first.steps), ["reply T", "resolve T"]);
        apply(&mut snapshot, &first.steps);
        let second = settle(&snapshot, &Policy::default());
        assert_eq!((second.steps, second.refused), (vec![], vec![]));
        assert_eq!(
            (second.outcomes[0].reply, second.outcomes[0].resolve),
            (AnswerResult::Already, AnswerResult::Already)
        );
    }
}

// spec: FIX-8 @core
#[test]
fn a_thread_resolved_by_somebody_else_is_a_success() {
    let mut snapshot = snapshot(vec![thread("T", person("bob"))]);
    snapshot.evidence.answers = vec![answer("T", Class::Valid)];
    snapshot.threads[0].resolved = Some(Resolution { by: person("carol"), at: None });
    let plan = settle(&snapshot, &Policy::default());
    assert_eq!((plan.steps.len(), plan.refused.len(), plan.blocked), (0, 0, None));
    snapshot.threads[0].resolved = None;
    assert_eq!(settle(&snapshot, &Policy::default()).steps.len(), 2, "reopened: it is looked at again");
}

// spec: FIX-4, FIX-8 @core
#[test]
fn a_reply_is_sent_once_for_each_latest_note() {
    let mut snapshot = snapshot(vec![thread("T", person("bob"))]);
    snapshot.evidence.answers = vec![answer("T", Class::Valid)];
    snapshot.checks.all[0].state = CheckState::Fail;
    let policy = Policy::default();

    let plan = settle(&snapshot, &policy);
    assert_eq!(steps(&plan.steps), ["reply T"], "said although checks fail");
    assert_eq!(plan.outcomes[0].answers, Some(NoteId::from("T-1")));
    apply(&mut snapshot, &plan.steps);
    let plan = settle(&snapshot, &policy);
    assert_eq!((steps(&plan.steps).len(), plan.outcomes[0].reply), (0, AnswerResult::Already));

    snapshot.threads[0].notes.push(note("T-3", person("bob"), "and the password?"));
    let plan = settle(&snapshot, &policy);
    assert_eq!((steps(&plan.steps), plan.outcomes[0].answers.clone()), (vec!["reply T".into()], Some("T-3".into())));
    apply(&mut snapshot, &plan.steps);
    assert_eq!(settle(&snapshot, &policy).steps, []);

    snapshot.checks.all[0].state = CheckState::Pass;
    assert_eq!(steps(&settle(&snapshot, &policy).steps), ["resolve T"]);
}

// spec: FIX-8 @core
#[test]
fn an_answer_to_an_older_note_answers_no_newer_one() {
    let mut snapshot = snapshot(vec![thread("T", person("bob"))]);
    snapshot.evidence.answers = vec![answer("T", Class::Valid)];
    let plan = settle(&snapshot, &Policy::default());
    snapshot.threads[0].notes.push(note("late", person("bob"), "wait"));
    apply(&mut snapshot, &plan.steps[..1]);
    assert_eq!(steps(&settle(&snapshot, &Policy::default()).steps), ["reply T", "resolve T"]);
}

// spec: FIX-8 @core
#[test]
fn each_kind_of_reply_needs_an_answer_or_not() {
    for (what, asks) in [
        (ReplyKind::Fixed, false),
        (ReplyKind::Accepted, false),
        (ReplyKind::Conceded, false),
        (ReplyKind::Rebuttal, true),
        (ReplyKind::Contest, true),
        (ReplyKind::Worsened, true),
    ] {
        let mut snapshot = snapshot(vec![own_thread("T")]);
        snapshot.evidence.answers = vec![answer("T", Class::Valid)];
        let plan = settle(&snapshot, &Policy::default());
        apply(&mut snapshot, &plan.steps[..1]);
        let mut said = note("said", bot(ME), "…");
        tag(&mut said, Tag { kind: TagKind::Reply { what, answers: "T-2".into() }, head: sha("h") });
        snapshot.threads[0].notes.push(said);
        let replies = steps(&settle(&snapshot, &Policy::default()).steps).contains(&"reply T".to_owned());
        assert_eq!(replies, asks, "{what:?}");
    }
}

// spec: FIX-8 @core
#[test]
fn a_strangers_tag_answers_nothing_and_an_edited_answer_is_not_repeated() {
    let mut snapshot = snapshot(vec![thread("T", person("bob"))]);
    snapshot.evidence.answers = vec![answer("T", Class::Valid)];
    let kind = TagKind::Reply { what: ReplyKind::Answer, answers: "T-1".into() };
    let mut copied = note("T-2", person("mallory"), "fixed");
    tag(&mut copied, Tag { kind: kind.clone(), head: sha("h") });
    snapshot.threads[0].notes.push(copied);
    assert_eq!(settle(&snapshot, &Policy::default()).steps.len(), 2);

    let mut edited = note("T-2", bot(ME), "somebody changed this");
    tag(&mut edited, Tag { kind, head: sha("h") });
    edited.text.reading.tag.as_mut().expect("just put there").trust = Trust::Broken;
    snapshot.threads[0].notes[1] = edited;
    assert_eq!(steps(&settle(&snapshot, &Policy::default()).steps), ["resolve T"]);
}

// spec: FIX-9 @core
#[test]
fn stored_outcomes_are_bounded_and_contain_no_texts() {
    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    let mut said = answer("T", Class::Valid);
    said.reply_body = Some("secret plan: masked everywhere".to_owned());
    snapshot.evidence.answers = vec![said];
    let plan = settle(&snapshot, &Policy::default());
    let outcome = plan.outcomes[0].clone();
    assert_eq!(outcome.answers, Some(NoteId::from("T-1")), "the note that was answered");
    let stored = serde_json::to_string(&outcome).expect("plain data");
    for words in ["secret plan", "the token is masked", "`mask` is called"] {
        assert!(!stored.contains(words), "{stored}");
        assert!(!format!("{:?}", plan.refused).contains(words));
    }

    let numbered = |n: usize| ThreadOutcome { thread: format!("T{n}").as_str().into(), ..outcome.clone() };
    let kept = append_outcomes(
        (0..MAX_STORED_OUTCOMES).map(numbered).collect(),
        (MAX_STORED_OUTCOMES..MAX_STORED_OUTCOMES + 3).map(numbered),
    );
    assert_eq!(kept.len(), MAX_STORED_OUTCOMES);
    assert_eq!(kept.first().map(|oldest| oldest.thread.as_str()), Some("T3"));
    assert_eq!(kept.last().map(|newest| newest.thread.clone()), Some(numbered(MAX_STORED_OUTCOMES + 2).thread));
}

// spec: FIX-9 @core
#[test]
fn only_a_planned_result_can_change() {
    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    snapshot.evidence.answers = vec![answer("T", Class::AlreadyFixed)];
    let outcome = settle(&snapshot, &Policy::default()).outcomes[0].clone();
    assert_eq!((outcome.reply, outcome.resolve), (AnswerResult::Planned, AnswerResult::Refused));
    let after = outcome.with_applied(Some(AnswerResult::Done), Some(AnswerResult::Done));
    assert_eq!((after.reply, after.resolve), (AnswerResult::Done, AnswerResult::Refused));
}
