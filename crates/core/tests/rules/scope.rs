//! The scope of a plan chooses its reviews and steps, and changes nothing else.

use proptest::prelude::*;
use referee_core::decide::{PlanScope, decide};
use referee_core::mark::Topic;
use referee_core::model::*;
use referee_core::plan::{Action, Gate, Plan, Step};
use referee_core::say::Ask;

use crate::deliver::done;
use crate::properties::any_stage;
use crate::support::*;

fn decide_in(stage: &Stage, scope: PlanScope) -> Plan {
    decide(&stage.snapshot, &stage.policy, &scope)
}

/// Returns whether `part` is `all` with some steps left out.
fn is_subsequence(part: &[Step], all: &[Step]) -> bool {
    let mut rest = all.iter();
    part.iter().all(|step| rest.any(|other| other == step))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_scope_only_leaves_out_steps_and_reviews(stage in any_stage()) {
        let all = decide_in(&stage, PlanScope::Everything);
        for scope in [PlanScope::Pass, PlanScope::Answers, PlanScope::Delivery] {
            let plan = decide_in(&stage, scope);
            prop_assert!(is_subsequence(&plan.steps, &all.steps));
            prop_assert_eq!(Plan { steps: Vec::new(), ..plan }, Plan { steps: Vec::new(), ..all.clone() });
        }
    }

    #[test]
    fn a_pass_writes_labels_assignees_the_operator_comment_and_the_handoff(stage in any_stage()) {
        for step in decide_in(&stage, PlanScope::Pass).steps {
            let label = matches!(step.action, Action::SetLabel { .. } | Action::Assign { .. });
            let comment = matches!(step.topic(), Some(Topic::Operator { .. } | Topic::Ready { .. }));
            prop_assert!(label || comment, "{step:?}");
        }
        for step in decide_in(&stage, PlanScope::Answers).steps {
            prop_assert!(matches!(step.gate, Gate::Reply | Gate::Resolve), "{step:?}");
        }
    }
}

#[test]
fn a_pass_writes_nothing_on_a_pull_that_takes_no_part_in_dispatch() {
    let mut stage = Stage::all_clear();
    assert!(!decide_in(&stage, PlanScope::Pass).steps.is_empty(), "a handoff");
    stage.work().pulls = referee_core::policy::PullFilter::Label("loop".into());
    assert_eq!(decide_in(&stage, PlanScope::Pass).steps, []);
}

#[test]
fn no_selected_role_selects_every_role() {
    assert_eq!(PlanScope::from_roles([]), PlanScope::Everything);
    let mut stage = Stage::new();
    stage.policy.roles.push(role("security"));
    let due = |scope| decide_in(&stage, scope).reviews.into_iter().map(|brief| brief.role).collect::<Vec<_>>();
    assert_eq!(due(PlanScope::Everything), ["static".into(), "security".into()]);
    assert_eq!(due(PlanScope::from_roles(["security".into()])), [RoleName::from("security")]);
}

// The part of DSP-15 that core decides.
#[test]
fn a_delivery_writes_only_what_records_the_result() {
    let mut stage = done();
    stage.command(person("bob"), MINUTE, Ask::Help);
    let all = decide_in(&stage, PlanScope::Everything);
    let plan = decide_in(&stage, PlanScope::Delivery);
    assert!(!plan.steps.is_empty() && plan.steps.len() < all.steps.len(), "{:?}", steps(&all.steps));
    assert_eq!(plan.delivery, all.delivery);
    assert!(plan.steps.iter().all(|step| step.reason.rule == "deliver"), "{:?}", steps(&plan.steps));
}
