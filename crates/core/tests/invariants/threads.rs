//! Threads: who may settle them, with what evidence, how many at once.

use proptest::prelude::*;
use referee_core::decide::{PlanScope, decide};
use referee_core::facts::{Facts, may_accept};
use referee_core::mark::{ReplyKind, TagKind};
use referee_core::model::*;
use referee_core::plan::{Action, Gate, NewThread, Plan, Step};
use referee_core::say::Ask;
use referee_core::triage::claims_resolution;

use crate::any::Scene;
use crate::tell::with_roles_told_apart;
use crate::{cases, holds};

holds!(cases(250), i12_what_a_person_decides_is_never_resolved, i12);
holds!(cases(250), i13_a_resolved_thread_gets_a_twin_only_if_it_is_worse, i13);
holds!(cases(250), i14_unasked_only_own_threads_are_resolved, i14);
holds!(cases(250), i15_a_resolution_has_its_evidence, i15);
holds!(cases(250), i16_nothing_is_mass_resolved, i16);
holds!(cases(250), i17_nothing_is_called_resolved_before_it_is, i17);
holds!(cases(250), i37_only_one_who_may_clears_a_finding, i37);

fn resolves(plan: &Plan) -> Vec<(usize, &Step, &ThreadId)> {
    let found = plan.steps.iter().enumerate().filter_map(|(at, step)| match &step.action {
        Action::Resolve { thread, .. } => Some((at, step, thread)),
        _ => None,
    });
    found.collect()
}

fn thread<'a>(scene: &'a Scene, id: &ThreadId) -> &'a Thread {
    scene.snapshot.threads.iter().find(|it| it.id == *id).expect("a plan names threads that are there")
}

// I12: for answers of the fixing side; a reviewer's statement about its own finding is I15.
fn i12(scene: &Scene) -> Result<(), TestCaseError> {
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let evidence = &scene.snapshot.evidence;
    let triage = evidence.triage.iter().filter(|it| it.pr_number == scene.snapshot.pull.number.0);
    let items: Vec<_> = triage.flat_map(|it| &it.threads).collect();
    for (_, _, id) in resolves(&plan).into_iter().filter(|(_, step, _)| step.gate == Gate::Resolve) {
        let item = items.iter().find(|it| it.thread_id == *id);
        prop_assert!(!item.is_some_and(|it| it.requires_human_decision || it.classification == Class::NeedsHuman));
        let answer = evidence.answers.iter().find(|it| it.thread_id == *id).expect("an answer");
        prop_assert!(answer.classification != Class::NeedsHuman);
    }
    Ok(())
}

// I13: that nothing is ever unresolved needs no test: there is no such action.
fn i13(scene: &Scene) -> Result<(), TestCaseError> {
    let scene = with_roles_told_apart(scene.clone());
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let facts = Facts::new(&scene.snapshot, &scene.policy);
    for (role, new) in plan.steps.iter().flat_map(opened) {
        let role = facts.role(role).expect("a role of the policy");
        // No id is above the highest number.
        let above = new.finding != FindingId(u64::MAX);
        let known = role.known_findings.iter().find(|it| above && it.id == new.finding);
        let Some(known) = known.filter(|it| it.thread.is_some_and(|it| it.resolved.is_some())) else { continue };
        let raised = role.report.and_then(|it| it.find_reraised(known.id));
        let fixed = known.state == FindingState::Fixed || known.thread.is_some_and(|it| said(it, ReplyKind::Fixed));
        prop_assert!(raised.is_some_and(|it| fixed || known.severity < it.severity), "{known:?}");
    }
    Ok(())
}

fn opened(step: &Step) -> Vec<(&RoleName, &NewThread)> {
    match &step.action {
        Action::PostReview { role, threads, .. } | Action::OpenThreads { role, threads, .. } => {
            threads.iter().map(|it| (role, it)).collect()
        }
        _ => Vec::new(),
    }
}

fn said(thread: &Thread, word: ReplyKind) -> bool {
    let tags = thread.notes.iter().filter_map(|it| it.text.trusted_tag());
    { tags }.any(|tag| matches!(&tag.kind, TagKind::Reply { what, .. } if *what == word))
}

// I14: for resolutions that nobody requested; with `fix-comments` a person may request any thread.
fn i14(scene: &Scene) -> Result<(), TestCaseError> {
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    for (_, step, id) in resolves(&plan) {
        if step.gate == Gate::Resolve {
            prop_assert!(scene.snapshot.evidence.answers.iter().any(|it| it.thread_id == *id));
            continue;
        }
        prop_assert_eq!(step.gate, Gate::Review);
        // On an arbitrary pull two threads may have the same id.
        let named = scene.snapshot.threads.iter().filter(|it| it.id == *id);
        let tagged = |it: &Note| it.text.trusted_tag().is_some_and(|tag| matches!(tag.kind, TagKind::Root { .. }));
        prop_assert!(named.filter_map(Thread::root).any(|root| root.author.has_login(&step.by) && tagged(root)));
    }
    Ok(())
}

// I15
fn i15(scene: &Scene) -> Result<(), TestCaseError> {
    let scene = &with_roles_told_apart(scene.clone());
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let (snapshot, facts) = (&scene.snapshot, Facts::new(&scene.snapshot, &scene.policy));
    for (_, step, id) in resolves(&plan) {
        if step.gate == Gate::Resolve {
            let answer = snapshot.evidence.answers.iter().find(|it| it.thread_id == *id).expect("an answer");
            let at_head = answer.verification.iter().filter(|it| it.head_sha == snapshot.pull.head);
            let passed = at_head.clone().count() > 0 && { at_head }.all(|it| it.status == CheckOutcome::Passed);
            prop_assert!(passed || answer.classification == Class::Invalid);
            let auto = scene.policy.threads.auto_resolve.contains(&answer.classification);
            let allowed = match answer.classification {
                Class::Valid => answer.commit_sha.is_some() && answer.commit_reachable,
                Class::AlreadyFixed | Class::Stale => auto,
                Class::Invalid => scene.policy.threads.resolve_invalid,
                Class::NeedsHuman => false,
            };
            prop_assert!(allowed);
        } else if step.reason.rule == "fixed" {
            let Some(TagKind::Root { role, finding, .. }) =
                thread(scene, id).root().and_then(|root| root.text.trusted_tag()).map(|tag| &tag.kind)
            else {
                return Err(TestCaseError::fail("an own root"));
            };
            let role = facts.role(role).expect("a role");
            let report = role.report.expect("a report");
            prop_assert!(role.report_covers_head, "only a complete report resolves");
            let said = report.position(*finding);
            prop_assert!(said.map_or(report.deterministic, |it| it.position == Position::Fixed), "from omission");
            let of_it = |it: &&TrackedFinding| it.role == role.role.name && it.finding == *finding;
            // A deterministic report says `fixed` by absence; its rules read the whole file.
            let changed = |it: &TrackedFinding| it.changed || (said.is_none() && it.file_changed);
            let tracked = snapshot.changes.tracks.iter().find(of_it).is_some_and(changed);
            prop_assert!(tracked || said.is_some_and(|it| it.cited_changed), "nothing changed");
        }
    }
    Ok(())
}

// I16: with `max_resolve`, for a reviewer's and the fixing side's resolutions together.
fn i16(scene: &Scene) -> Result<(), TestCaseError> {
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    prop_assert!(resolves(&plan).len() <= scene.policy.threads.max_resolve);
    Ok(())
}

// I17
fn i17(scene: &Scene) -> Result<(), TestCaseError> {
    let scene = &with_roles_told_apart(scene.clone());
    let twins = |id: &ThreadId| 1 < scene.snapshot.threads.iter().filter(|it| it.id == *id).count();
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let resolves = resolves(&plan);
    for (at, step) in plan.steps.iter().enumerate() {
        let Action::Reply { thread: id, text } = &step.action else { continue };
        // A reviewer's statement about its own finding is quoted; the fixing side's text is not (FIX-4).
        prop_assert!(step.gate != Gate::Reply || !claims_resolution(text.words.as_str()), "{}", text.words);
        // A reply that settles a thread comes after its resolution, never before.
        let later = resolves.iter().any(|(then, other, thread)| at < *then && *thread == id && other.gate == step.gate);
        prop_assert!(step.gate != Gate::Review || !later || twins(id));
    }
    Ok(())
}

// I37: for every severity; for critical findings D10 excludes the author.
fn i37(scene: &Scene) -> Result<(), TestCaseError> {
    let scene = &with_roles_told_apart(scene.clone());
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    let (snapshot, facts) = (&scene.snapshot, Facts::new(&scene.snapshot, &scene.policy));
    for role in &facts.roles {
        for known in &role.known_findings {
            let lines: Vec<_> =
                plan.findings.iter().filter(|it| it.role == role.role.name.as_str() && it.id == known.id).collect();
            // Two stored findings with one id: it is unknown which one is meant.
            let same_id = role.known_findings.iter().filter(|it| it.id == known.id).count();
            let ([line], 1) = (lines.as_slice(), same_id) else { continue };
            prop_assert!(known.severity <= line.severity, "milder without a word");
            if line.counts || known.state.is_settled() {
                continue;
            }
            let may = |by: &Author| may_accept(snapshot, &scene.policy, by, known.severity);
            let dismissed = facts.commands.iter().any(|it| it.allowed && matches!(it.ask, Ask::Dismiss { .. }));
            let notes = known.thread.map_or(&[][..], |it| it.notes.as_slice());
            let person = |it: &&Note| !it.author.bot && may(&it.author) && !facts.is_own_author(&it.author);
            let word = |stance| notes.iter().filter(person).any(|it| it.text.reading.stance == stance);
            let resolved = known.thread.and_then(|it| it.resolved.as_ref());
            let resolved = resolved.is_some_and(|it| may(&it.by) || facts.is_own_author(&it.by));
            let ours = notes.iter().filter(|it| it.author.has_login(role.identity)).any(|it| {
                let kind = it.text.trusted_tag().map(|tag| &tag.kind);
                matches!(kind, Some(TagKind::Reply { what, .. }) if what.settled_state().is_some())
            });
            let said = role.report.and_then(|it| it.position(known.id)).map(|it| it.position);
            let cleared = match line.state {
                FindingState::Fixed => role.report_covers_head || ours,
                FindingState::Refuted => (said == Some(Position::Conceded) && word(Stance::Disputed)) || ours,
                FindingState::Accepted => {
                    let informal = known.severity < Severity::Critical && word(Stance::Accepted);
                    dismissed || resolved || informal || word(Stance::AcceptedWithReason) || ours
                }
                _ => false,
            };
            prop_assert!(cleared, "{line:?}");
        }
    }
    Ok(())
}
