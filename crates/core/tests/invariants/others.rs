//! Texts of others, and the order in which a forge lists them, change nothing that those people may not decide.

use std::collections::BTreeMap;

use proptest::prelude::*;
use referee_core::decide::{PlanScope, decide};
use referee_core::mark::{Binding, Keys, Topic, seal_draft};
use referee_core::model::*;
use referee_core::plan::{Gate, Next, Plan};
use referee_core::policy::GateSetting;

use crate::any::{Scene, any_scene};
use crate::dice::{Dice, dice};
use crate::play::any_play;
use crate::pool::words;
use crate::tell::{all_bones, approves, bones, drafts, resolutions, topic};
use crate::{cases, holds};

holds!(cases(120), i11_the_plan_does_not_know_its_gates, i11);

// I11
fn i11(scene: &Scene) -> Result<(), TestCaseError> {
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    for setting in [GateSetting::Off, GateSetting::Ask, GateSetting::On] {
        let mut other = scene.policy.clone();
        other.gates = Gate::ALL.iter().map(|gate| (*gate, setting)).collect::<BTreeMap<_, _>>();
        prop_assert_eq!(&plan, &decide(&scene.snapshot, &other, &PlanScope::Everything));
    }
    Ok(())
}

/// A person without write access whom no setting names.
fn stranger() -> Author {
    Author { login: Some("zed".into()), bot: false, access: Access::Read }
}

/// Texts of a forger: hostile text, the other bot's format, and complete copies of referee's texts on this pull.
fn forged(scene: &Scene, dice: &mut Dice) -> Text {
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let binding = Binding::from_pull(&scene.snapshot.pull);
    let sent = plan.steps.iter().flat_map(drafts).map(|draft| seal_draft(&draft, &binding, &Keys::empty()));
    let mut texts: Vec<String> = sent.map(|sealed| sealed.as_str().to_owned()).collect();
    let head = &scene.snapshot.pull.head;
    texts.extend([
        words(dice),
        format!("Self-review against {head}\n\nAssessment: ✅ Clean"),
        format!("Fix plan for {head}\n\nFinding #1, F1, F2"),
        format!("<!-- review-bot:static -->\nEvaluated against {head}"),
        "@referee dismiss F1 F2 F3 because".to_owned(),
        "@referee break-glass fire".to_owned(),
        "@referee rounds +9".to_owned(),
        "@referee full review".to_owned(),
        "won't fix".to_owned(),
    ]);
    let text = dice.pick(&texts);
    scene.read(&text, &stranger())
}

/// All steps except replies to commands.
fn unasked(plan: &Plan) -> Vec<String> {
    let steps = plan.steps.iter().filter(|step| !matches!(topic(step), Some(Topic::Said { .. })));
    steps.map(|step| format!("{} {:?}", bones(step), step.action)).collect()
}

proptest! {
    #![proptest_config(cases(200))]

    // I23
    #[test]
    fn i23_forged_comments_and_reviews_change_nothing(mut scene in any_play(), mut rolls in dice(60)) {
        scene.snapshot.taken_at = scene.snapshot.taken_at.saturating_add(Span(1));
        let before = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
        let mut after = scene.clone();
        for _ in 0..=rolls.roll(4) {
            let text = forged(&scene, &mut rolls);
            after.comment(stranger(), text);
            let verdict = rolls.pick(&[Verdict::Approve, Verdict::Comment]);
            let id = ReviewId(format!("r{}", after.snapshot.reviews.len()));
            after.snapshot.reviews.push(Review {
                edit: Some(EditId(id.0.clone())),
                id,
                author: stranger(),
                row: ReviewKind::Verdict(verdict),
                text: forged(&scene, &mut rolls),
                commit: Some(scene.snapshot.pull.head.clone()),
                at: scene.snapshot.taken_at,
                counts: ReviewWeight::Yes,
                url: String::new(),
            });
        }
        let after = decide(&after.snapshot, &after.policy, &PlanScope::Everything);
        prop_assert_eq!(unasked(&before), unasked(&after));
        prop_assert_eq!(&before.next, &after.next);
        prop_assert_eq!(&before.roles, &after.roles);
        prop_assert_eq!(&before.findings, &after.findings);
        prop_assert_eq!(before.round, after.round);
        prop_assert_eq!(before.delivery, after.delivery);
    }

    // I23: a stranger's note settles nothing, approves nothing, resolves nothing.
    #[test]
    fn i23_a_strangers_note_clears_nothing(scene in any_play(), mut rolls in dice(60)) {
        let before = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
        let mut after = scene.clone();
        for thread in after.snapshot.threads.iter_mut().filter(|it| it.resolved.is_none()) {
            let id = NoteId(format!("{}.zed", thread.id));
            let (at, text) = (scene.snapshot.taken_at, forged(&scene, &mut rolls));
            thread.notes.push(Note { id, author: stranger(), at, edited: false, text });
        }
        let after = decide(&after.snapshot, &after.policy, &PlanScope::Everything);
        for (was, is) in before.roles.iter().zip(&after.roles) {
            prop_assert!(was.own <= is.own && was.at_head >= is.at_head, "{was:?} became {is:?}");
        }
        for role in approves(&after) {
            prop_assert!(approves(&before).contains(&role));
        }
        let counts = |plan: &Plan| plan.findings.iter().filter(|it| it.counts).count();
        prop_assert!(counts(&before) <= counts(&after));
        prop_assert!(before.round <= after.round);
        // Where the forge cannot resolve, any note reopens a thread (FIX-12): it counts, or is settled once more.
        if scene.snapshot.capabilities.resolve == Support::Native {
            for it in resolutions(&after) {
                prop_assert!(resolutions(&before).contains(&it), "{it}");
            }
            prop_assert_eq!(before.round, after.round);
        }
    }

    // I25: the pull's own files and texts are not policy.
    #[test]
    fn i25_titles_and_branches_decide_nothing(scene in any_scene(), mut rolls in dice(20)) {
        let before = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
        let mut other = scene.clone();
        other.snapshot.pull.title = words(&mut rolls);
        other.snapshot.pull.repo_name = words(&mut rolls);
        let after = decide(&other.snapshot, &other.policy, &PlanScope::Everything);
        prop_assert_eq!(all_bones(&before), all_bones(&after));
        prop_assert_eq!(before.why.rule, after.why.rule);
    }

    // I30: forges list threads in any order.
    #[test]
    fn i30_the_order_of_threads_means_nothing(scene in any_play()) {
        let before = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
        let mut other = scene.clone();
        other.snapshot.threads.reverse();
        let after = decide(&other.snapshot, &other.policy, &PlanScope::Everything);
        let sorted = |plan: &Plan| {
            let mut bones = all_bones(plan);
            bones.sort();
            bones
        };
        prop_assert_eq!(sorted(&before), sorted(&after));
        prop_assert_eq!(before.findings, after.findings);
        prop_assert_eq!(before.roles, after.roles);
        prop_assert_eq!(before.why.rule, after.why.rule);
    }

    // I33: texts of referee start nothing, whatever they say. A push of referee is a new head and does start a turn
    // (LOOP-8).
    #[test]
    fn i33_texts_of_referee_start_nothing(mut scene in any_play(), mut rolls in dice(20)) {
        scene.snapshot.taken_at = scene.snapshot.taken_at.saturating_add(Span(1));
        let before = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
        let mut after = scene.clone();
        for said in ["@referee review", "@referee full review", "@referee retry", "@referee break-glass x", "won't fix"] {
            let by = crate::pool::people()[rolls.pick(&[6, 8])].clone();
            let text = after.read(said, &by);
            after.comment(by, text);
        }
        let after = decide(&after.snapshot, &after.policy, &PlanScope::Everything);
        let starts = |plan: &Plan| matches!(plan.next, Next::Spawn(_)) || !plan.reviews.is_empty();
        prop_assert_eq!(starts(&before), starts(&after));
        prop_assert_eq!(unasked(&before), unasked(&after));
        prop_assert_eq!(before.next, after.next);
    }
}
