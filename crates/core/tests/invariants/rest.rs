//! I9: an applied plan leaves nothing to do.

use proptest::prelude::*;
use referee_core::decide::{PlanScope, decide};
use referee_core::model::Evidence;

use crate::any::Scene;
use crate::cases;
use crate::play::any_play;
use crate::tell::{bones, drafts};

/// Left out: after a reopen the operator comment mentions rounds that the Mark records one turn later.
fn is_told_apart(scene: &Scene) -> bool {
    scene.snapshot.pull.reopens.is_empty()
}

fn performed(scene: &Scene) -> Scene {
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let mut after = scene.clone();
    for step in &plan.steps {
        after.perform(step);
    }
    after.recognise();
    after
}

fn describe(scene: &Scene) -> Vec<String> {
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let tell = |step: &referee_core::plan::Step| {
        let words: Vec<String> = drafts(step).into_iter().map(|draft| format!("{draft:?}")).collect();
        format!("{} because {:?}: {words:#?}", bones(step), step.reason)
    };
    plan.steps.iter().map(tell).collect()
}

/// What the pull waits for may follow from what was just written, and change in the next turn: two more turns at most.
fn settled(scene: Scene) -> Scene {
    let next = performed(&scene);
    performed(&next)
}

proptest! {
    #![proptest_config(cases(400))]

    // I9: the same reports submitted again at the same moment.
    #[test]
    fn i09_a_plan_that_was_carried_out_leaves_nothing_to_do(mut scene in any_play()) {
        scene.snapshot.evidence.answers.clear();
        prop_assume!(is_told_apart(&scene));
        let first = describe(&scene);
        let after = settled(performed(&scene));
        prop_assert_eq!(describe(&after), Vec::<String>::new(), "after {:#?}", first);
    }

    // I9: the next turn without new input. A worker's result and answers are events: their consequences belong to the
    // next turn.
    #[test]
    fn i09_the_next_turn_writes_nothing(mut scene in any_play()) {
        scene.snapshot.evidence.result = None;
        scene.snapshot.evidence.answers.clear();
        prop_assume!(is_told_apart(&scene));
        let first = describe(&scene);
        let mut after = performed(&scene);
        after.snapshot.evidence = Evidence::default();
        let after = settled(after);
        prop_assert_eq!(describe(&after), Vec::<String>::new(), "after {:#?}", first);
    }
}
