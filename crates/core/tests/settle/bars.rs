//! Preconditions of every answer, and which thread ids are known.

use referee_core::decide::settle::{AnswerResult, settle};
use referee_core::model::{Class, Completeness, Snapshot};
use referee_core::plan::BlockedCause;
use referee_core::policy::Policy;

use crate::support::{answer, bot, item, snapshot, steps, thread, triage};

fn answered() -> Snapshot {
    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    snapshot.evidence.answers = vec![answer("T", Class::Valid)];
    snapshot
}

// spec: FIX-3 @core
#[test]
fn a_bar_refuses_everything_and_still_previews() {
    type Change = fn(&mut Snapshot, &mut Policy);
    let bars: [(&str, Option<BlockedCause>, Change); 7] = [
        ("incomplete", Some(BlockedCause::Incomplete), |s, _| {
            s.complete = Completeness::truncated("threads");
        }),
        ("disabled", None, |_, p| p.threads.enabled = false),
        ("other_pull", None, |s, _| s.evidence.answers_for = Some(8)),
        ("no_triage", None, |s, _| s.evidence.triage = None),
        ("triage_of_other_pull", None, |s, _| triage(s).pr_number = 8),
        ("triage_failed", None, |s, _| triage(s).failed = true),
        ("triage_incomplete", Some(BlockedCause::Incomplete), |s, _| triage(s).complete = false),
    ];
    for (rule, cause, change) in bars {
        let (mut snapshot, mut policy) = (answered(), Policy::default());
        change(&mut snapshot, &mut policy);
        let plan = settle(&snapshot, &policy);
        assert_eq!(plan.steps, [], "{rule}");
        assert!(plan.refused.iter().all(|refusal| refusal.why.rule == rule), "{:?}", plan.refused);
        assert_eq!(plan.blocked.map(|blocked| blocked.cause), cause, "{rule}");
        let preview: Vec<_> = plan.refused.iter().map(|refusal| refusal.what.as_str()).collect();
        assert_eq!(preview, ["answer threads", "reply in thread `T`", "resolve thread `T`"], "{rule}");
        let said = plan.refused[1].why.facts.join("\n");
        assert!(said.contains("would say: ") && said.contains("the token is masked"), "{said}");
        assert_eq!((plan.outcomes[0].reply, plan.outcomes[0].resolve), (AnswerResult::Refused, AnswerResult::Refused));
    }
}

// spec: FIX-3 @core
#[test]
fn the_bar_is_asked_before_ids_are_matched() {
    let mut snapshot = answered();
    triage(&mut snapshot).pr_number = 8;
    triage(&mut snapshot).threads = vec![item("elsewhere", Class::Valid)];
    let plan = settle(&snapshot, &Policy::default());
    assert!(plan.refused.iter().all(|refusal| refusal.why.rule == "triage_of_other_pull"), "{:?}", plan.refused);
}

// spec: FIX-3 @core
#[test]
fn detached_ignores_the_triage_and_no_other_precondition() {
    let mut snapshot = answered();
    snapshot.evidence.detached = true;
    let mut policy = Policy::default();
    for change in [
        (|s| s.evidence.triage = None) as fn(&mut Snapshot),
        |s| s.evidence.triage = Some(crate::support::snapshot(Vec::new()).evidence.triage.expect("a triage")),
        |s| triage(s).failed = true,
        |s| triage(s).pr_number = 8,
    ] {
        change(&mut snapshot);
        assert_eq!(steps(&settle(&snapshot, &policy).steps), ["reply T", "resolve T"]);
    }
    snapshot.evidence.answers_for = Some(7);
    assert_eq!(settle(&snapshot, &policy).steps.len(), 2, "the right pull is no bar");
    assert_eq!(settle(&snapshot, &policy).failed_precondition, None);
    snapshot.evidence.answers_for = Some(8);
    assert_eq!(settle(&snapshot, &policy).steps, []);
    snapshot.evidence.answers_for = None;
    policy.threads.enabled = false;
    assert_eq!(settle(&snapshot, &policy).steps, []);
}

#[test]
fn ids_are_matched_one_by_one() {
    let mut snapshot = snapshot(vec![thread("T", bot("lint")), thread("U", bot("lint")), thread("V", bot("lint"))]);
    snapshot.evidence.answers = ["T", "T", "U", "V", "W"].map(|id| answer(id, Class::Valid)).to_vec();
    triage(&mut snapshot).threads.retain(|item| item.thread_id.as_str() != "U");
    let plan = settle(&snapshot, &Policy::default());
    assert_eq!(steps(&plan.steps), ["reply V", "resolve V"]);
    let rules: Vec<_> = plan.refused.iter().map(|refusal| refusal.why.rule.name()).collect();
    assert_eq!(rules, ["named_twice", "named_twice", "not_triaged", "no_such_thread"]);
}

#[test]
fn without_answers_nothing_is_planned() {
    let mut policy = Policy::default();
    policy.threads.enabled = false;
    let plan = settle(&snapshot(vec![thread("T", bot("lint"))]), &policy);
    assert_eq!(plan, referee_core::decide::settle::Settlement::default());
}
