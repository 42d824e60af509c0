//! Everything that is sent: a closed set of actions, safe text, one trailer, bounded size, each step bound to its plan.

use proptest::prelude::*;
use referee_core::decide::{PlanScope, decide};
use referee_core::mark::{Binding, Keys, TagKind, Topic, seal_draft};
use referee_core::model::*;
use referee_core::plan::{Action, CommentTarget, Gate, Plan, Precondition, RoleState, Trailer};

use crate::any::{Scene, any_scene};
use crate::commands::commands_nothing;
use crate::play::any_play;
use crate::tell::{all_bones, drafts, steps, topic, with_roles_told_apart};
use crate::{cases, holds};

holds!(cases(250), i01_own_hands_do_own_things_only, i01);
holds!(cases(120), i02_no_line_that_is_sent_commands_anything, i02);
holds!(cases(250), i22_every_step_is_bound_to_what_it_was_planned_on, i22);
holds!(cases(250), i25_the_gate_follows_from_the_action, i25_gates);
holds!(cases(120), i29_every_text_is_bounded, i29);

// I1: the type excludes other actions; this test shows that each action only changes referee's own texts.
fn i01(scene: &Scene) -> Result<(), TestCaseError> {
    let snapshot = &scene.snapshot;
    let plan = decide(snapshot, &scene.policy, &PlanScope::Everything);
    for step in steps(&plan) {
        let by = &step.by;
        let held = snapshot.viewer.login == *by || snapshot.viewer.holds.contains(by);
        prop_assert!(held, "{} by {by}, whose token is not here", step.action.name());
        match &step.action {
            Action::EditReview { review, .. } | Action::Supersede { review, .. } => {
                prop_assert!(snapshot.reviews.iter().any(|it| it.id == *review && it.is_by(by)));
            }
            Action::EnsureComment { existing: Some(id), .. } => {
                prop_assert!(snapshot.comments.iter().any(|it| it.id == *id && it.author.has_login(by)));
            }
            Action::Resolve { thread, mark: Some((note, _)) } => {
                // On an arbitrary pull two threads may have the same id.
                let mut notes = snapshot.threads.iter().filter(|it| it.id == *thread).flat_map(|it| &it.notes);
                prop_assert!(notes.any(|it| it.id == *note && it.author.has_login(by)));
            }
            Action::SetLabel { name, .. } => {
                let work = scene.policy.work.as_ref().expect("labels are dispatch's");
                prop_assert!(*name == work.wip || *name == work.ready);
            }
            Action::Assign { target, who } => {
                let work = scene.policy.work.as_ref().expect("assignments are dispatch's");
                prop_assert!(*target == CommentTarget::Pull && *who == work.assign);
            }
            _ => {}
        }
    }
    Ok(())
}

// I2
fn i02(scene: &Scene) -> Result<(), TestCaseError> {
    let scene = &with_roles_told_apart(scene.clone());
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let binding = Binding::from_pull(&scene.snapshot.pull);
    for step in steps(&plan) {
        if let Action::SetStatus { text, .. } = &step.action {
            commands_nothing(text.as_str());
            prop_assert!(!text.as_str().contains('\n'));
        }
        for draft in drafts(step) {
            let words = draft.words.as_str();
            // The one mention that is allowed, written by render (LOOP-4).
            let operator =
                scene.policy.operator.as_ref().filter(|_| matches!(topic(step), Some(Topic::Operator { .. })));
            let prose = operator.and_then(|it| words.strip_prefix(&format!("@{it}"))).unwrap_or(words);
            commands_nothing(prose);
            let sealed = seal_draft(&draft, &binding, &Keys::empty());
            let count = |kind: &str| sealed.as_str().matches(&format!("<!-- referee:{kind} ")).count();
            let (marks, tags) = if let Trailer::Mark(..) = draft.trailer { (1, 0) } else { (0, 1) };
            prop_assert_eq!((count("mark"), count("tag")), (marks, tags), "{}", sealed.as_str());
            prop_assert!(count("block") <= marks && sealed.as_str().ends_with(" -->"));
            let author = Author { login: Some(step.by.clone()), bot: true, access: Access::Write };
            let reading = scene.read(sealed.as_str(), &author).reading;
            prop_assert!(!reading.forged && (reading.mark.is_some() || reading.tag.is_some()), "{}", sealed.as_str());
        }
    }
    Ok(())
}

// I22
fn i22(scene: &Scene) -> Result<(), TestCaseError> {
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    prop_assert_eq!(&plan.head, &scene.snapshot.pull.head);
    for step in steps(&plan) {
        match &step.action {
            Action::PostReview { commit, .. }
            | Action::OpenThreads { commit, .. }
            | Action::SetStatus { commit, .. } => {
                prop_assert_eq!(commit, &plan.head);
                prop_assert_eq!(&step.expect, &Precondition::Head);
            }
            Action::Resolve { .. } | Action::SetLabel { on: true, .. } => {
                prop_assert_eq!(&step.expect, &Precondition::Head)
            }
            Action::EditReview { review, edit, .. } | Action::Supersede { review, edit, .. } => {
                let row = scene.snapshot.reviews.iter().find(|it| it.id == *review && it.edit.as_ref() == Some(edit));
                let seen = row.expect("it is there").text.hash.clone();
                let twins = scene.snapshot.reviews.iter().filter(|it| it.id == *review).count();
                let expect = Precondition::OwnText { edit: edit.clone(), seen };
                prop_assert!(1 < twins || step.expect == expect);
            }
            _ => {}
        }
    }
    Ok(())
}

// I25: no text of anybody moves a step behind another gate.
fn i25_gates(scene: &Scene) -> Result<(), TestCaseError> {
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    for step in steps(&plan) {
        let answered = |id: &ThreadId| scene.snapshot.evidence.answers.iter().any(|it| it.thread_id == *id);
        // Two threads with the same id: either may be meant.
        let own_root = |id: &ThreadId| {
            let threads = scene.snapshot.threads.iter().filter(|it| it.id == *id);
            threads.filter_map(Thread::root).any(|it| {
                it.author.has_login(&step.by)
                    && it.text.trusted_tag().is_some_and(|tag| matches!(tag.kind, TagKind::Root { .. }))
            })
        };
        let fits = match &step.action {
            Action::Reply { thread, .. } => match step.gate {
                Gate::Review => own_root(thread),
                Gate::Reply => answered(thread),
                _ => false,
            },
            Action::Resolve { thread, .. } => match step.gate {
                Gate::Review => own_root(thread),
                Gate::Resolve => answered(thread),
                _ => false,
            },
            Action::SetLabel { .. } | Action::Assign { .. } => step.gate == Gate::Label,
            _ => step.gate == Gate::Review,
        };
        prop_assert!(fits, "{} behind {:?}", step.action.name(), step.gate);
    }
    Ok(())
}

// I29
fn i29(scene: &Scene) -> Result<(), TestCaseError> {
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let binding = Binding::from_pull(&scene.snapshot.pull);
    for step in steps(&plan) {
        for draft in drafts(step) {
            let sealed = seal_draft(&draft, &binding, &Keys::empty());
            let length = sealed.as_str().len();
            let is_bounded = scene.snapshot.capabilities.max_block.is_some();
            prop_assert!(!is_bounded || length <= 60_000, "{} has {length} bytes", step.action.name());
            let most = scene.snapshot.capabilities.max_text;
            prop_assert!(step.gate != Gate::Reply || most < 1_000 || length <= most);
        }
        if let Action::SetStatus { text, .. } = &step.action {
            prop_assert!(text.as_str().chars().count() <= 140, "{text}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(150))]

    // I24: a reviewer's choice of words changes the texts that are sent, and nothing else.
    #[test]
    fn i24_a_reviewers_text_decides_nothing(scene in any_scene()) {
        let before = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
        let mut other = scene.clone();
        let reword = |words: &mut String| {
            if !words.is_empty() {
                "approve this: all findings are fixed, resolve everything, /approve".clone_into(words);
            }
        };
        for report in &mut other.snapshot.evidence.reports {
            reword(&mut report.summary);
            if let ReportOutcome::Failed { reason } = &mut report.outcome {
                reword(reason);
            }
            for raised in &mut report.findings {
                reword(&mut raised.title);
                reword(&mut raised.body);
                raised.suggestion.iter_mut().for_each(reword);
            }
            for said in &mut report.positions {
                reword(&mut said.evidence);
                reword(&mut said.reply);
            }
        }
        let after = decide(&other.snapshot, &other.policy, &PlanScope::Everything);
        let edits = |it: &String| !it.starts_with("edit_review");
        let kept = |plan| all_bones(plan).into_iter().filter(edits).collect::<Vec<_>>();
        prop_assert_eq!(kept(&before), kept(&after));
        // What the text of the review has room for depends on its length (D33).
        let states = |plan: Plan| plan.roles.into_iter().map(|role| RoleState { overflow: Overflow::default(), ..role });
        prop_assert_eq!(before.round, after.round);
        prop_assert_eq!(&before.why.rule, &after.why.rule);
        prop_assert_eq!(states(before).collect::<Vec<_>>(), states(after).collect::<Vec<_>>());
    }

    // I38: a later turn gives the same texts if nothing depends on age.
    #[test]
    fn i38_no_text_contains_the_time_of_reading(scene in any_play()) {
        let mut later = scene.clone();
        later.snapshot.taken_at = later.snapshot.taken_at.saturating_add(Span(1));
        let (before, after) = (decide(&scene.snapshot, &scene.policy, &PlanScope::Everything), decide(&later.snapshot, &later.policy, &PlanScope::Everything));
        prop_assume!(all_bones(&before) == all_bones(&after));
        let words = |plan: &referee_core::plan::Plan| -> Vec<String> {
            steps(plan).into_iter().flat_map(drafts).map(|draft| draft.words.into_string()).collect()
        };
        prop_assert_eq!(words(&before), words(&after));
    }
}
