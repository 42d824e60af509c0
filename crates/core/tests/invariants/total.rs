//! `decide` is total and deterministic: any pull gives a plan, and equal pulls give equal plans.

use proptest::prelude::*;
use referee_core::decide::{PlanScope, decide, schedule};
use referee_core::model::{Board, Time};
use referee_core::render::render_plan;

use crate::any::any_scene;
use crate::cases;

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain values")
}

proptest! {
    #![proptest_config(cases(600))]

    // I38
    #[test]
    fn i38_equal_inputs_give_equal_bytes(scene in any_scene()) {
        let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
        let copy = scene.clone();
        prop_assert_eq!(json(&plan), json(&decide(&copy.snapshot, &copy.policy, &PlanScope::Everything)));
        prop_assert_eq!(plan.pull, scene.snapshot.pull.number);
        prop_assert_eq!(&plan.head, &scene.snapshot.pull.head);
        // A stored turn is decided in the same way (SRV-5), and every plan can be rendered.
        let stored = serde_json::from_str(&json(&scene.snapshot)).expect("a snapshot is read back");
        prop_assert_eq!(json(&plan), json(&decide(&stored, &scene.policy, &PlanScope::Everything)));
        prop_assert!(render_plan(&plan).ends_with('\n'));
    }

    /// A pass over any plan is total too.
    #[test]
    fn any_pass_comes_to_something(scene in any_scene()) {
        let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
        let board = Board { taken_at: Time(0), pulls: vec![plan.pull], ..Board::default() };
        let pass = schedule(&board, &[plan.clone(), plan], &scene.policy, &scene.snapshot.viewer);
        prop_assert!(pass.lines.len() <= 2);
    }
}
