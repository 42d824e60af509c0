//! Workers, labels and handoffs: bounded, at most once, and only with referee's identities.

use proptest::prelude::*;
use referee_core::decide::{PlanScope, ProtocolLine, decide, schedule};
use referee_core::facts::Facts;
use referee_core::mark::Topic;
use referee_core::model::*;
use referee_core::plan::{Action, Delivery, Next};

use crate::any::{Scene, any_scene};
use crate::play::any_play;
use crate::tell::{steps, topic};
use crate::{cases, holds};

holds!(cases(250), i20_only_an_own_label_is_taken_off, i20);
holds!(cases(250), i21_a_handoff_happens_once_and_when_nothing_is_left, i21);

// I20
fn i20(scene: &Scene) -> Result<(), TestCaseError> {
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let (snapshot, facts) = (&scene.snapshot, Facts::new(&scene.snapshot, &scene.policy));
    for step in &plan.steps {
        let Action::SetLabel { name, on: false } = &step.action else { continue };
        let work = scene.policy.work.as_ref().expect("labels are dispatch's");
        let label = snapshot.pull.label(name).expect("a label that is there");
        let by = label.by.as_ref().expect("an own label has its author");
        prop_assert!(facts.is_own_login(by) || work.user == *by);
        if *name != work.ready {
            let old = label.at.is_some_and(|at| work.wip_max_age < snapshot.taken_at - at);
            let ended = snapshot.evidence.result.is_some();
            prop_assert!(ended || (old && snapshot.live_lease().is_none()));
        }
    }
    Ok(())
}

// I21
fn i21(scene: &Scene) -> Result<(), TestCaseError> {
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let facts = Facts::new(&scene.snapshot, &scene.policy);
    let handoffs = plan.steps.iter().filter(|step| matches!(topic(step), Some(Topic::Ready { .. }))).count();
    prop_assert!(handoffs <= 1);
    if handoffs == 1 {
        prop_assert_eq!(&plan.next, &Next::Ready);
        prop_assert!(
            !facts.work.handed_off && facts.external_blocks.is_empty() && scene.snapshot.live_lease().is_none()
        );
        prop_assert!(scene.snapshot.pull.mergeable != Mergeable::Conflict && !scene.snapshot.pull.draft);
        prop_assert!(matches!(scene.snapshot.checks.combined_state(), CheckState::Pass | CheckState::None));
        for role in facts.roles.iter().filter(|it| it.applies && !it.role.ad_hoc) {
            let state = plan.roles.iter().find(|it| it.role == role.role.name);
            prop_assert!(state.is_some_and(|it| it.at_head), "{} has not read this", role.role.name);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(200))]

    // I18: a worker without an outcome starts at most twice per cause; then the pull waits for somebody.
    #[test]
    fn i18_dispatch_ends(mut scene in any_play()) {
        let mut started: Vec<(String, bool)> = Vec::new();
        scene.snapshot.evidence = Evidence::default();
        for _ in 0..40 {
            let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
            for step in steps(&plan) {
                scene.perform(step);
            }
            let Next::Spawn(job) = plan.next else { return Ok(()) };
            let key = (job.cause.clone(), job.retry);
            prop_assert!(!started.contains(&key), "{key:?} twice: {started:?}");
            started.push(key);
            let most = scene.policy.work.as_ref().map_or(0, |work| work.max_jobs as usize);
            prop_assert!(started.len() <= most);
            let beside = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything).next;
            prop_assert!(!matches!(beside, Next::Spawn(_)), "a second worker beside the first");
            scene.snapshot.taken_at = scene.snapshot.taken_at.saturating_add(Span::from_hours(2));
        }
        prop_assert!(false, "never quiet: {started:?}");
    }

    // I19
    #[test]
    fn i19_one_worker_a_pass_and_none_beside_another(scenes in prop::collection::vec(any_play(), 1..4)) {
        let mut plans = Vec::new();
        for (at, scene) in scenes.iter().enumerate() {
            let mut plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
            plan.pull = PullNumber(at as u64);
            plans.push(plan);
        }
        let (policy, viewer) = (&scenes[0].policy, &scenes[0].snapshot.viewer);
        let board = Board { taken_at: Time(0), pulls: Vec::new(), ..Board::default() };
        let pass = schedule(&board, &plans, policy, viewer);
        let spawns = pass.lines.iter().filter(|line| matches!(line, ProtocolLine::Spawn { .. })).count();
        prop_assert!(spawns <= 1);
        prop_assert_eq!(spawns, usize::from(plans.iter().any(|plan| matches!(plan.next, Next::Spawn(_)))));
    }

    // I19: under a live lease nothing starts, and the result of an older epoch is not delivered.
    #[test]
    fn i19_a_live_lease_and_its_epoch_hold(mut scene in any_scene(), epoch in 1u64..4) {
        let until = scene.snapshot.taken_at.saturating_add(Span::from_hours(1));
        prop_assume!(scene.snapshot.taken_at < until);
        scene.snapshot.lease = Some(Lease { by: "host".into(), epoch, since: Time(0), until });
        let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
        prop_assert!(!matches!(plan.next, Next::Spawn(_) | Next::Ready));
        if let Some(Delivery::Push { epoch: of, over, .. }) = &plan.delivery {
            prop_assert!(epoch <= *of);
            prop_assert_eq!(over, &scene.snapshot.pull.head);
        }
    }
}
