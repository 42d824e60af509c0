//! Blocks, approvals, failed reviewers: what must never be approved.

use proptest::prelude::*;
use referee_core::decide::{PlanScope, decide};
use referee_core::facts::Facts;
use referee_core::mark::Topic;
use referee_core::model::*;
use referee_core::plan::{Action, BlockedCause, JobKind, Next, Plan};
use referee_core::policy::ApprovalMode;

use crate::any::{Scene, any_scene, report};
use crate::dice::dice;
use crate::play::any_play;
use crate::tell::{approves, resolutions, topic, with_roles_told_apart};
use crate::{cases, holds};

holds!(cases(250), i03_a_live_block_bars_ready_and_approval, i03);
holds!(cases(250), i06_i07_an_approval_is_posted_only_where_all_of_it_holds, i07);
holds!(cases(250), i08_a_role_has_one_standing_review, i08);
holds!(cases(250), i32_a_failed_reviewer_satisfies_nothing, i32_failed);

// I3
// spec: D29 @core
fn i03(scene: &Scene) -> Result<(), TestCaseError> {
    let scene = &with_roles_told_apart(scene.clone());
    let facts = Facts::new(&scene.snapshot, &scene.policy);
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let may_block = |role: &RoleName| scene.policy.role(role).is_some_and(|role| role.blocks);
    let own = |it: &&referee_core::plan::RoleState| it.own == Some(Verdict::RequestChanges) && may_block(&it.role);
    let blockers: Vec<_> = plan.roles.iter().filter(own).collect();
    if facts.break_glass.is_some() || (facts.external_blocks.is_empty() && blockers.is_empty()) {
        return Ok(());
    }
    let ready = |step: &referee_core::plan::Step| {
        let label = scene.policy.work.as_ref().map(|work| work.ready.as_str());
        matches!(&step.action, Action::SetLabel { name, on: true } if Some(name.as_str()) == label)
            || matches!(topic(step), Some(Topic::Ready { .. }))
    };
    prop_assert!(!plan.steps.iter().any(ready));
    // D29: a bot's block from an older head is not active.
    let applies = |role: &RoleName| facts.role(role).is_some_and(|it| it.applies);
    let active = facts.external_blocks.iter().any(|it| !it.is_bot() || it.at_head)
        || blockers.iter().any(|it| it.at_head || !applies(&it.role));
    let fits = match &plan.next {
        Next::Idle | Next::Wait(_) | Next::Blocked(_) => true,
        Next::Spawn(job) if active => job.kind == JobKind::Findings,
        Next::Spawn(job) => matches!(job.kind, JobKind::Rebase | JobKind::CiFix),
        Next::Ready => false,
    };
    prop_assert!(fits, "active: {active}, {:?}", plan.next);
    if !facts.external_blocks.is_empty() {
        prop_assert_eq!(approves(&plan), Vec::<&RoleName>::new(), "a person blocks");
    }
    for role in approves(&plan) {
        let identity = facts.role(role).map(|it| it.identity);
        let sibling = blockers.iter().find(|it| facts.role(&it.role).map(|it| it.identity) == identity);
        prop_assert!(sibling.is_none(), "{role} approves while {sibling:?} blocks");
    }
    Ok(())
}

// I6, I7: checks are not part of it (SPEC).
fn i07(scene: &Scene) -> Result<(), TestCaseError> {
    let scene = &with_roles_told_apart(scene.clone());
    let facts = Facts::new(&scene.snapshot, &scene.policy);
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    for step in &plan.steps {
        let Action::PostReview { role, verdict, commit, .. } = &step.action else {
            prop_assert!(!step.approves);
            continue;
        };
        prop_assert_eq!(step.approves, *verdict == Verdict::Approve);
        prop_assert_eq!(commit, &scene.snapshot.pull.head);
        if *verdict != Verdict::Approve {
            continue;
        }
        prop_assert!(scene.policy.approve != ApprovalMode::Off);
        prop_assert!(scene.snapshot.capabilities.verdicts != Support::Unsupported);
        prop_assert!(!scene.snapshot.pull.author.has_login(&step.by), "nobody approves the own pull");
        if scene.policy.approve == ApprovalMode::Lift || facts.break_glass.is_some() {
            let posted = plan.steps.iter().any(|it| {
                matches!(&it.action, Action::PostReview { verdict: Verdict::RequestChanges, .. }) && it.by == step.by
            });
            prop_assert!(
                posted || facts.newest_counted_verdict(&step.by) == Some(Verdict::RequestChanges),
                "lifts nothing"
            );
        }
        if facts.break_glass.is_some() {
            continue;
        }
        prop_assert!(facts.external_blocks.is_empty());
        let state = plan.roles.iter().find(|it| it.role == *role).expect("a role that posts has a state");
        prop_assert_eq!((state.own, state.enforced), (Some(Verdict::Approve), Some(Verdict::Approve)));
        for it in &facts.roles {
            let at_head = plan.roles.iter().any(|state| state.role == it.role.name && state.at_head);
            prop_assert!(at_head || !it.role.blocks || !it.matches_changed_files, "{} has not read this", it.role.name);
        }
    }
    Ok(())
}

// I8: the old approval is superseded after the block was posted (D5), and a plan posts once per role.
fn i08(scene: &Scene) -> Result<(), TestCaseError> {
    let scene = with_roles_told_apart(scene.clone());
    let facts = Facts::new(&scene.snapshot, &scene.policy);
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    for role in &facts.roles {
        let posts: Vec<(usize, Verdict)> = { plan.steps.iter().enumerate() }
            .filter_map(|(at, step)| match &step.action {
                Action::PostReview { role: of, verdict, .. } if *of == role.role.name => Some((at, *verdict)),
                _ => None,
            })
            .collect();
        prop_assert!(posts.len() <= 1, "{posts:?}");
        let Some(standing) = role.standing else { continue };
        if 1 < scene.snapshot.reviews.iter().filter(|review| review.id == standing.review.id).count() {
            continue;
        }
        let superseded = plan
            .steps
            .iter()
            .position(|step| matches!(&step.action, Action::Supersede { review, .. } if *review == standing.review.id));
        if let (Some((posted, Verdict::RequestChanges)), Verdict::Approve) = (posts.first(), standing.posted_as) {
            let editable = standing.review.edit.is_some();
            prop_assert!(!editable || superseded.is_some_and(|at| *posted < at));
        } else {
            prop_assert_eq!(superseded, None);
        }
    }
    Ok(())
}

// I32
fn i32_failed(scene: &Scene) -> Result<(), TestCaseError> {
    let scene = &with_roles_told_apart(scene.clone());
    let facts = Facts::new(&scene.snapshot, &scene.policy);
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    for role in &facts.roles {
        let failed = matches!(role.report.map(|it| &it.outcome), Some(ReportOutcome::Failed { .. }));
        let before = role.is_current_for(&scene.snapshot.changes.patch);
        let state = plan.roles.iter().find(|it| it.role == role.role.name);
        if failed && !before {
            prop_assert!(state.is_none_or(|it| it.own != Some(Verdict::Approve) && !it.at_head));
            prop_assert!(facts.break_glass.is_some() || !approves(&plan).contains(&&role.role.name));
        }
        if failed {
            // Not a sibling's, which may have read everything and posts with the same login.
            let is_of_role =
                |id: &ThreadId| role.known_findings.iter().any(|it| it.thread.is_some_and(|it| it.id == *id));
            let fixed = |step: &&referee_core::plan::Step| {
                matches!(&step.action, Action::Resolve { thread, .. } if is_of_role(thread))
                    && step.reason.rule == "fixed"
            };
            prop_assert_eq!(plan.steps.iter().filter(fixed).count(), 0);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(250))]

    // I4
    #[test]
    fn i04_a_truncated_read_decides_nothing(mut scene in any_scene()) {
        scene.snapshot.complete = Completeness::truncated("threads");
        let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
        prop_assert!(plan.steps.is_empty() && plan.delivery.is_none());
        prop_assert_eq!(plan.next, Next::Blocked(BlockedCause::Incomplete));
    }

    // I4, D43: where the own reviews were read, approvals are withdrawn and nothing else is done.
    #[test]
    fn i04_a_truncated_read_at_most_withdraws_approvals(mut scene in any_scene()) {
        scene.snapshot.complete = Completeness::Truncated { what: "threads".into(), own_reviews_read: true };
        let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
        prop_assert!(plan.delivery.is_none() && plan.reviews.is_empty());
        prop_assert_eq!(plan.next, Next::Blocked(BlockedCause::Incomplete));
        let is_open = scene.snapshot.pull.state == PullState::Open;
        for step in &plan.steps {
            let withdraws = matches!(
                &step.action,
                Action::PostReview { verdict: Verdict::RequestChanges, .. }
                    | Action::Supersede { .. }
                    | Action::SetStatus { state: CheckState::Fail, .. }
            );
            prop_assert!(is_open && withdraws && !step.approves, "{:?}", step);
        }
    }

    // I24: model output adds findings; it never makes a verdict milder, an approval or a resolution.
    #[test]
    fn i24_one_more_finding_widens_nothing(scene in any_play(), mut rolls in dice(40)) {
        let before = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
        let mut more = scene.clone();
        let Some(said) = more.snapshot.evidence.reports.last_mut() else { return Ok(()) };
        let said_role = said.role.clone();
        said.findings.extend(report(&mut rolls).findings.into_iter().map(|it| RaisedFinding { same_as: None, ..it }));
        let after = decide(&more.snapshot, &more.policy, &PlanScope::Everything);
        let own = |plan: &Plan| plan.roles.iter().find(|it| it.role == said_role).and_then(|it| it.own);
        prop_assert!(own(&before) <= own(&after), "{:?} became {:?}", own(&before), own(&after));
        for role in approves(&after) {
            prop_assert!(approves(&before).contains(&role));
        }
        prop_assert_eq!(resolutions(&before), resolutions(&after));
        prop_assert_eq!(before.delivery, after.delivery);
    }
}
