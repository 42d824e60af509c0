//! The class table, row by row.

use referee_core::decide::settle::{AnswerResult, settle};
use referee_core::model::{Class, Confidence, NoteId};
use referee_core::plan::{BlockedCause, Gate};
use referee_core::policy::{GateSetting, Policy};

use crate::support::{HEAD, answer, bot, note, own_thread, person, snapshot, steps, thread, triage};

/// The steps planned for one answer to a bot's thread, after `change` modified the snapshot and the policy.
fn planned(class: Class, change: impl FnOnce(&mut referee_core::model::Snapshot, &mut Policy)) -> Vec<String> {
    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    snapshot.evidence.answers = vec![answer("T", class)];
    let mut policy = Policy::default();
    change(&mut snapshot, &mut policy);
    steps(&settle(&snapshot, &policy).steps)
}

// spec: FIX-5 @core
#[test]
fn valid() {
    assert_eq!(planned(Class::Valid, |_, _| {}), ["reply T", "resolve T"]);
    assert_eq!(planned(Class::Valid, |s, _| s.evidence.answers[0].fix_summary = None), ["resolve T"]);
    assert_eq!(planned(Class::Valid, |s, _| s.evidence.answers[0].commit_sha = None), ["reply T"]);
    assert_eq!(planned(Class::Valid, |s, _| s.evidence.answers[0].commit_reachable = false), ["reply T"]);
    assert_eq!(planned(Class::Valid, |s, _| s.evidence.answers[0].verification.clear()), [""; 0]);
}

// spec: FIX-5, FIX-7 @core
#[test]
fn already_fixed_and_stale_need_the_class_in_auto_resolve() {
    for class in [Class::AlreadyFixed, Class::Stale] {
        assert_eq!(planned(class, |_, _| {}), ["reply T"]);
        let allow = |policy: &mut Policy| policy.threads.auto_resolve = [class].into();
        assert_eq!(planned(class, |_, p| allow(p)), ["reply T", "resolve T"]);
        assert_eq!(
            planned(class, |s, p| {
                allow(p);
                s.evidence.answers[0].evidence = None;
            }),
            [""; 0]
        );
        assert_eq!(
            planned(class, |s, p| {
                allow(p);
                s.evidence.answers[0].verification.clear();
            }),
            [""; 0]
        );
    }
}

// spec: FIX-5 @core
#[test]
fn an_outdated_thread_replaces_evidence_and_nothing_else() {
    let outdated = |s: &mut referee_core::model::Snapshot, p: &mut Policy| {
        p.threads.auto_resolve = [Class::Stale].into();
        s.threads[0].outdated = true;
        s.evidence.answers[0].evidence = None;
    };
    assert_eq!(planned(Class::Stale, outdated), ["resolve T"]);
    assert_eq!(
        planned(Class::Stale, |s, p| {
            outdated(s, p);
            s.evidence.answers[0].verification.clear();
        }),
        [""; 0]
    );
    assert_eq!(
        planned(Class::AlreadyFixed, |s, p| {
            outdated(s, p);
            p.threads.auto_resolve = [Class::AlreadyFixed].into();
        }),
        [""; 0],
        "outdated is no evidence that the code has it"
    );
}

// spec: FIX-5 @core
#[test]
fn invalid_is_answered_and_resolved_by_explicit_policy_only() {
    assert_eq!(planned(Class::Invalid, |_, _| {}), ["reply T"]);
    assert_eq!(planned(Class::Invalid, |_, p| p.threads.resolve_invalid = true), ["reply T", "resolve T"]);
    assert_eq!(planned(Class::Invalid, |_, p| p.threads.auto_resolve = [Class::Invalid].into()), ["reply T"]);
    assert_eq!(
        planned(Class::Invalid, |s, p| {
            p.threads.resolve_invalid = true;
            s.evidence.answers[0].evidence = None;
        }),
        [""; 0]
    );
}

// spec: FIX-5 @core
#[test]
fn needs_human_is_silent_by_default_and_never_resolved() {
    assert_eq!(planned(Class::NeedsHuman, |_, _| {}), [""; 0]);
    let all = |_: &mut referee_core::model::Snapshot, p: &mut Policy| {
        p.threads.reply_needs_human = true;
        p.threads.resolve_invalid = true;
        p.threads.auto_resolve = [Class::NeedsHuman, Class::Valid].into();
    };
    assert_eq!(planned(Class::NeedsHuman, all), ["reply T"]);

    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    snapshot.evidence.answers = vec![answer("T", Class::NeedsHuman)];
    let blocked = settle(&snapshot, &Policy::default()).blocked.expect("a person is asked");
    assert_eq!(blocked.cause, BlockedCause::NeedsHuman);
    assert!(blocked.why.facts.iter().any(|fact| fact.contains('T')), "{blocked:?}");
}

// spec: FIX-5 @core
#[test]
fn a_stored_human_decision_beats_every_flag() {
    for detached in [false, true] {
        for class in [Class::Valid, Class::NeedsHuman] {
            let human = planned(Class::Valid, |s, _| {
                s.evidence.detached = detached;
                let item = &mut triage(s).threads[0];
                item.classification = class;
                item.requires_human_decision = class == Class::Valid;
            });
            assert_eq!(human, ["reply T"], "detached {detached}, {class:?}");
        }
    }
}

// spec: FIX-7 @core
#[test]
fn every_step_waits_for_a_gate_that_asks() {
    let mut snapshot = snapshot(vec![thread("T", bot("lint")), own_thread("O")]);
    snapshot.evidence.answers = vec![answer("T", Class::Valid), answer("O", Class::Valid)];
    let policy = Policy::default();
    let plan = settle(&snapshot, &policy);
    assert_eq!(steps(&plan.steps), ["reply T", "resolve T", "reply O", "resolve O"]);
    let gates: Vec<_> = plan.steps.iter().map(|step| step.gate).collect();
    assert_eq!(gates, [Gate::Reply, Gate::Resolve, Gate::Reply, Gate::Resolve], "own threads too");
    assert!(plan.steps.iter().all(|step| policy.gates[&step.gate] == GateSetting::Ask && !step.approves));
}

// spec: FIX-7 @core
#[test]
fn nothing_is_mass_resolved() {
    let policy = Policy::default();
    for (count, resolutions) in [(20, 20), (21, 0)] {
        let ids: Vec<_> = (0..count).map(|n| format!("T{n:02}")).collect();
        let mut snapshot = snapshot(ids.iter().map(|id| thread(id, bot("lint"))).collect());
        snapshot.evidence.answers = ids.iter().map(|id| answer(id, Class::Valid)).collect();
        let plan = settle(&snapshot, &policy);
        let resolved = plan.steps.iter().filter(|step| step.gate == Gate::Resolve).count();
        let replied = plan.steps.iter().filter(|step| step.gate == Gate::Reply).count();
        assert_eq!((resolved, replied), (resolutions, count), "replies are still sent");
        assert_eq!(plan.blocked.is_some(), resolutions == 0);
        if let Some(blocked) = plan.blocked {
            assert_eq!((blocked.cause, blocked.why.rule.name()), (BlockedCause::NeedsHuman, "mass_resolve"));
            assert!(plan.outcomes.iter().all(|outcome| outcome.resolve == AnswerResult::Refused));
        }
    }
}

// spec: FIX-13 @core
#[test]
fn a_persons_thread_is_never_resolved_as_invalid() {
    let mut policy = Policy::default();
    policy.threads.resolve_invalid = true;
    let ghost = referee_core::model::Author::default();
    for (author, planned) in
        [(person("bob"), vec!["reply T"]), (ghost, vec!["reply T"]), (bot("lint"), vec!["reply T", "resolve T"])]
    {
        let mut snapshot = snapshot(vec![thread("T", author)]);
        snapshot.evidence.answers = vec![answer("T", Class::Invalid)];
        assert_eq!(steps(&settle(&snapshot, &policy).steps), planned);
    }
    let mut copied = snapshot(vec![own_thread("T")]);
    copied.threads[0].notes[0].author = person("mallory");
    copied.evidence.answers = vec![answer("T", Class::Invalid)];
    assert_eq!(steps(&settle(&copied, &policy).steps), ["reply T"], "a copied Tag makes nobody us");
    // referee's account without a Tag: a person uses it by hand.
    let mut by_hand = snapshot(vec![thread("T", person(crate::support::ME))]);
    by_hand.evidence.answers = vec![answer("T", Class::Invalid)];
    assert_eq!(steps(&settle(&by_hand, &policy).steps), ["reply T"]);
}

// spec: FIX-13 @core
#[test]
fn an_uncertain_triage_of_a_persons_note_needs_a_person() {
    for (author, detached, expected) in [
        (person("bob"), false, vec![]),
        (person("bob"), true, vec!["reply T", "resolve T"]),
        (bot("lint"), false, vec!["reply T", "resolve T"]),
    ] {
        let mut snapshot = snapshot(vec![thread("T", author)]);
        snapshot.evidence.answers = vec![answer("T", Class::Valid)];
        snapshot.evidence.detached = detached;
        triage(&mut snapshot).threads[0].confidence = Confidence::Low;
        let plan = settle(&snapshot, &Policy::default());
        assert_eq!(steps(&plan.steps), expected);
        assert_eq!(plan.blocked.is_some(), expected.is_empty());
    }
}

#[test]
fn an_unseen_note_prevents_the_resolution() {
    let mut snapshot = snapshot(vec![thread("T", person("bob"))]);
    snapshot.evidence.answers = vec![answer("T", Class::Valid)];
    triage(&mut snapshot).threads[0].latest_note = Some(NoteId::from("T-1"));
    assert_eq!(steps(&settle(&snapshot, &Policy::default()).steps), ["reply T", "resolve T"]);
    snapshot.threads[0].notes.push(note("T-2", person("bob"), "and the password too"));
    let plan = settle(&snapshot, &Policy::default());
    assert_eq!(steps(&plan.steps), ["reply T"]);
    assert_eq!(plan.refused[0].why.rule, "unseen_note");
}

#[test]
fn every_reason_names_its_rule_and_its_thread() {
    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    snapshot.evidence.answers = vec![answer("T", Class::Valid)];
    let plan = settle(&snapshot, &Policy::default());
    let why = &plan.steps[1].reason;
    assert_eq!(why.rule, "resolve");
    let short = &HEAD[..7];
    assert_eq!(
        why.facts,
        [
            "thread `T`".to_owned(),
            "valid".to_owned(),
            format!("the head has {short}"),
            format!("verified at {short}"),
            "checks passed".to_owned(),
        ]
    );
}
