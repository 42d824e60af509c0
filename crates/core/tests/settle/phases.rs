//! The phase of a pull.

use referee_core::decide::settle::settle;
use referee_core::model::{
    CheckOutcome, CheckState, Class, Completeness, Confidence, LocalCheck, Login, Resolution, Snapshot, Support,
};
use referee_core::policy::Policy;
use referee_core::triage::{Phase, SettleOutcome, ThreadFilter, compute_phase, update_phase_after_settling};

use crate::support::{HEAD, OLD, answer, apply, bot, own_thread, person, sha, snapshot, thread, triage};

fn now(snapshot: &Snapshot) -> Phase {
    compute_phase(snapshot, &Policy::default(), &ThreadFilter::default()).phase
}

fn passed(head: &str) -> Option<LocalCheck> {
    Some(LocalCheck { outcome: CheckOutcome::Passed, head: sha(head) })
}

fn resolve(snapshot: &mut Snapshot, at: usize) {
    snapshot.threads[at].resolved = Some(Resolution { by: person("bob"), at: None });
}

// spec: TRI-8 @core
#[test]
fn the_first_row_that_applies_wins() {
    let mut snapshot = snapshot(vec![thread("H", bot("lint")), thread("V", bot("lint")), thread("O", bot("lint"))]);
    triage(&mut snapshot).threads[0].requires_human_decision = true;
    triage(&mut snapshot).threads.truncate(2);
    snapshot.evidence.check = passed(HEAD);

    let complete = std::mem::replace(&mut snapshot.complete, Completeness::truncated("x"));
    assert_eq!(compute_phase(&snapshot, &Policy::default(), &ThreadFilter::default()).why.rule, "incomplete");
    snapshot.complete = complete;
    assert_eq!(now(&snapshot), Phase::Blocked);
    resolve(&mut snapshot, 0);
    assert_eq!(now(&snapshot), Phase::FixingReviewFindings);
    resolve(&mut snapshot, 1);
    assert_eq!(now(&snapshot), Phase::ReviewTriage);
    resolve(&mut snapshot, 2);
    assert_eq!(now(&snapshot), Phase::Verified);
    snapshot.threads[0].resolved = None;
    assert_eq!(now(&snapshot), Phase::Blocked, "a person is still asked");
}

// spec: TRI-8 @core
#[test]
fn a_question_has_its_thread_text_and_author() {
    let mut snapshot = snapshot(vec![thread("T", person("bob")), thread("U", bot("lint")), thread("G", person("dan"))]);
    let items = &mut triage(&mut snapshot).threads;
    items[0].requires_human_decision = true;
    items[0].recommended_action = "keep the old\nAPI?".to_owned();
    items[1].classification = Class::NeedsHuman;
    items[2].confidence = Confidence::Low;
    let ask = |policy: &Policy| {
        let blocked = compute_phase(&snapshot, policy, &ThreadFilter::default());
        assert_eq!(blocked.phase, Phase::Blocked);
        let line = |q: &referee_core::triage::Question| format!("{} {} {} {}", q.thread, q.url, q.who, q.question);
        blocked.questions.iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(
        ask(&Policy::default()),
        [
            "T https://forge.test/T bob keep the old API?",
            "U https://forge.test/U alice the token is in the log",
            "G https://forge.test/G dan the token is in the log"
        ]
    );
    let carol = Policy { operator: Some(Login::from("carol")), ..Policy::default() };
    assert!(ask(&carol).iter().all(|line| line.contains(" carol ")));
}

// spec: TRI-8 @core
#[test]
fn verified_needs_checks_that_passed_at_this_head() {
    let failed = Some(LocalCheck { outcome: CheckOutcome::Failed, head: sha(HEAD) });
    for (check, watched, live, expected) in [
        (None, None, CheckState::Pass, Phase::Unverified),
        (passed(HEAD), None, CheckState::Pass, Phase::Verified),
        (passed(OLD), None, CheckState::Pass, Phase::Unverified),
        (failed.clone(), passed(HEAD), CheckState::Pass, Phase::Unverified),
        (None, passed(HEAD), CheckState::Pass, Phase::Verified),
        (None, passed(OLD), CheckState::Pass, Phase::Unverified),
        (passed(HEAD), None, CheckState::Fail, Phase::Unverified),
        (passed(HEAD), None, CheckState::Pending, Phase::Unverified),
        (passed(HEAD), failed, CheckState::Pass, Phase::Unverified),
    ] {
        let mut snapshot = snapshot(Vec::new());
        snapshot.evidence.check = check;
        snapshot.evidence.watched = watched;
        snapshot.checks.all[0].state = live;
        assert_eq!(now(&snapshot), expected, "{:?} {live:?}", snapshot.evidence);
    }
    let mut none = snapshot(Vec::new());
    none.evidence.check = passed(HEAD);
    none.checks.all.clear();
    assert_eq!(now(&none), Phase::Unverified);
    let optional = Policy { ci_required: false, ..Policy::default() };
    assert_eq!(compute_phase(&none, &optional, &ThreadFilter::default()).phase, Phase::Verified);
}

// spec: TRI-8 @core
#[test]
fn a_filter_hides_no_open_thread_from_the_phase() {
    let mut outdated = thread("T", bot("lint"));
    outdated.outdated = true;
    let mut snapshot = snapshot(vec![outdated]);
    snapshot.evidence.check = passed(HEAD);
    triage(&mut snapshot).threads.clear();
    for filter in
        [ThreadFilter::default(), ThreadFilter { authors: vec!["nobody".to_owned()], ..ThreadFilter::include_all() }]
    {
        let found = compute_phase(&snapshot, &Policy::default(), &filter);
        assert_eq!(found.phase, Phase::ReviewTriage);
        assert_eq!(found.why.facts[1], "1 of them excluded from this scan");
    }
}

// spec: TRI-8 @core
#[test]
fn phases_are_stored_by_name_and_final_reported_is_unknown() {
    for phase in [Phase::Blocked, Phase::FixingReviewFindings, Phase::ReviewTriage, Phase::Unverified, Phase::Verified]
    {
        let stored = serde_json::to_string(&phase).expect("plain data");
        assert_eq!(stored, format!("\"{phase}\""));
        assert_eq!(serde_json::from_str::<Phase>(&stored).expect("what was stored"), phase);
    }
    assert!(serde_json::from_str::<Phase>("\"final_reported\"").is_err());
}

// spec: FIX-10 @core
#[test]
fn answering_changes_the_phase_only_as_the_forge_confirms() {
    let policy = Policy::default();
    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    snapshot.evidence.answers = vec![answer("T", Class::Valid)];
    snapshot.evidence.check = passed(HEAD);
    let look = |snapshot: &Snapshot| compute_phase(snapshot, &policy, &ThreadFilter::default());
    let before = look(&snapshot);
    assert_eq!(before.phase, Phase::FixingReviewFindings);

    let plan = settle(&snapshot, &policy);
    apply(&mut snapshot, &plan.steps);
    let fresh = look(&snapshot);
    assert_eq!(fresh.phase, Phase::Verified);
    assert_eq!(
        update_phase_after_settling(before.clone(), &SettleOutcome::Preview, fresh.clone()),
        before,
        "a preview never verifies"
    );
    assert_eq!(update_phase_after_settling(before.clone(), &SettleOutcome::Done, fresh.clone()).phase, Phase::Verified);
    let failed = SettleOutcome::Failed { what: "resolve thread `T`: 403".to_owned() };
    let blocked = update_phase_after_settling(before, &failed, fresh);
    assert_eq!((blocked.phase, blocked.why.facts), (Phase::Blocked, vec!["resolve thread `T`: 403".to_owned()]));
}

// spec: FIX-10, FIX-12 @core
#[test]
fn a_thread_marked_in_text_counts_as_resolved_here_too() {
    let mut snapshot = snapshot(vec![own_thread("T")]);
    snapshot.capabilities.resolve = Support::Emulated;
    snapshot.evidence.answers = vec![answer("T", Class::Valid)];
    snapshot.evidence.check = passed(HEAD);
    let plan = settle(&snapshot, &Policy::default());
    apply(&mut snapshot, &plan.steps);
    assert_eq!(now(&snapshot), Phase::Verified);
    snapshot.threads[0].notes.push(crate::support::note("later", person("bob"), "no"));
    assert_eq!(now(&snapshot), Phase::FixingReviewFindings);
}
