//! Every class with every evidence under every policy: which steps are planned, and which never are.

use std::collections::BTreeSet;

use referee_core::decide::settle::settle;
use referee_core::model::{Answer, CheckOutcome, CheckState, Class, LocalCheck, Snapshot, Thread, Verification};
use referee_core::plan::{Action, Gate};
use referee_core::policy::Policy;
use referee_core::triage::claims_resolution;

use crate::support::{
    HEAD, ME, OLD, answer, apply, bot, own_thread, person, sha, snapshot, thread, triage, verification,
};

const CLASSES: [Class; 5] = [Class::Valid, Class::Invalid, Class::Stale, Class::AlreadyFixed, Class::NeedsHuman];
const BOTH: [bool; 2] = [false, true];

/// One case, with the terms of the specification.
struct Case<'a> {
    answer: &'a Answer,
    thread: &'a Thread,
    policy: &'a Policy,
    by_person: bool,
    human: bool,
    check: &'a Option<LocalCheck>,
    forge: CheckState,
}

impl Case<'_> {
    fn at_head(&self) -> bool {
        let mut lines = self.answer.verification.iter().filter(|line| line.head_sha == sha(HEAD)).peekable();
        lines.peek().is_some() && lines.all(|line| line.status == CheckOutcome::Passed)
    }

    fn reply(&self) -> bool {
        let verified = self.answer.verification.iter().any(|line| line.status == CheckOutcome::Passed);
        match self.answer.classification {
            Class::Valid => self.answer.fix_summary.is_some() && verified,
            Class::AlreadyFixed | Class::Stale => self.answer.evidence.is_some() && verified,
            Class::Invalid => self.answer.evidence.is_some(),
            Class::NeedsHuman => false,
        }
    }

    fn resolve(&self) -> bool {
        let class = self.answer.classification;
        let allowed = self.policy.threads.auto_resolve.contains(&class);
        let by_class = match class {
            Class::Valid => self.answer.commit_sha.is_some() && self.answer.commit_reachable && self.at_head(),
            Class::AlreadyFixed => allowed && self.answer.evidence.is_some() && self.at_head(),
            Class::Stale => allowed && (self.answer.evidence.is_some() || self.thread.outdated) && self.at_head(),
            Class::Invalid => self.policy.threads.resolve_invalid && self.answer.evidence.is_some() && !self.by_person,
            Class::NeedsHuman => false,
        };
        let own = match self.check {
            Some(check) => check.outcome == CheckOutcome::Passed && check.head == sha(HEAD),
            None => self.at_head(),
        };
        by_class && !self.human && own && self.forge == CheckState::Pass
    }
}

// spec: FIX-5, FIX-6, FIX-8, FIX-13 @core
#[test]
fn every_class_with_every_evidence_under_every_policy() {
    let mut counts = (0_u32, 0_u32, 0_u32);
    for opened in [thread("T", person("bob")), thread("T", bot("lint")), own_thread("T")] {
        for outdated in BOTH {
            let mut snapshot = snapshot(vec![Thread { outdated, ..opened.clone() }]);
            for human in BOTH {
                triage(&mut snapshot).threads[0].requires_human_decision = human;
                for policy in policies() {
                    each_evidence(&mut snapshot, &policy, human, &mut counts);
                }
            }
        }
    }
    let (cases, replies, resolutions) = counts;
    println!("FIX-5: {cases} cases, {replies} reply, {resolutions} resolve");
    assert_eq!(cases, 103_680);
    assert!(replies > 0 && resolutions > 0);
}

fn each_evidence(snapshot: &mut Snapshot, policy: &Policy, human: bool, counts: &mut (u32, u32, u32)) {
    let checks = [
        None,
        Some(LocalCheck { outcome: CheckOutcome::Passed, head: sha(HEAD) }),
        Some(LocalCheck { outcome: CheckOutcome::Failed, head: sha(HEAD) }),
    ];
    for check in checks {
        for forge in [CheckState::Pass, CheckState::Fail, CheckState::Pending] {
            snapshot.evidence.check = check.clone();
            snapshot.checks.all[0].state = forge;
            for answer in answers() {
                snapshot.evidence.answers = vec![answer];
                one(snapshot, policy, human, counts);
            }
        }
    }
}

fn one(snapshot: &mut Snapshot, policy: &Policy, human: bool, counts: &mut (u32, u32, u32)) {
    let root = &snapshot.threads[0].notes[0];
    let case = Case {
        answer: &snapshot.evidence.answers[0],
        thread: &snapshot.threads[0],
        policy,
        by_person: !root.author.bot,
        human,
        check: &snapshot.evidence.check,
        forge: snapshot.checks.all[0].state,
    };
    let (reply, resolve) = (case.reply(), case.resolve());
    let plan = settle(snapshot, policy);
    let gates: Vec<_> = plan.steps.iter().map(|step| step.gate).collect();
    let mut expected = Vec::from_iter(reply.then_some(Gate::Reply));
    expected.extend(resolve.then_some(Gate::Resolve));
    let label = || format!("{:?} {human} {:?}", snapshot.evidence.answers[0], snapshot.evidence.check);
    assert_eq!(gates, expected, "{}", label());

    // I12: what a person must decide is resolved under no policy. FIX-13: nor is a person's thread resolved as invalid.
    let class = snapshot.evidence.answers[0].classification;
    assert!(!resolve || !(human || class == Class::NeedsHuman), "{}", label());
    assert_eq!(plan.blocked.is_some(), human || class == Class::NeedsHuman, "{}", label());
    // I15: a resolution names its evidence.
    for step in &plan.steps {
        assert_eq!(step.by.as_str(), ME);
        assert!(step.reason.facts.len() >= 3, "{:?}", step.reason);
        if let Action::Reply { text, .. } = &step.action {
            assert!(!claims_resolution(text.words.as_str()));
        }
    }
    // I16, and nothing is dropped silently: each half is a step, or a refusal with its rule.
    assert!(plan.steps.iter().filter(|step| step.gate == Gate::Resolve).count() <= policy.threads.max_resolve);
    assert_eq!(plan.steps.len() + plan.refused.len(), 2, "{}", label());
    assert!(plan.refused.iter().all(|refusal| !refusal.why.facts.is_empty()));
    assert_eq!(plan.outcomes.len(), 1);

    // I9: applying the plan leaves nothing to do.
    if !plan.steps.is_empty() {
        let before = snapshot.threads.clone();
        apply(snapshot, &plan.steps);
        assert_eq!(settle(snapshot, policy).steps, []);
        snapshot.threads = before;
    }
    counts.0 += 1;
    counts.1 += u32::from(reply);
    counts.2 += u32::from(resolve);
}

fn policies() -> Vec<Policy> {
    let mut all = Vec::new();
    for resolve_invalid in BOTH {
        for auto_resolve in [BTreeSet::new(), BTreeSet::from([Class::Stale, Class::AlreadyFixed])] {
            let mut policy = Policy::default();
            policy.threads.resolve_invalid = resolve_invalid;
            policy.threads.auto_resolve = auto_resolve;
            all.push(policy);
        }
    }
    all
}

fn answers() -> Vec<Answer> {
    let mut all = Vec::new();
    let lines: [Vec<Verification>; 4] = [
        vec![],
        vec![verification(CheckOutcome::Passed, HEAD)],
        vec![verification(CheckOutcome::Failed, HEAD)],
        vec![verification(CheckOutcome::Passed, OLD)],
    ];
    for class in CLASSES {
        for (fix, evidence) in BOTH.into_iter().flat_map(|fix| BOTH.map(|evidence| (fix, evidence))) {
            for lines in &lines {
                for (commit, reachable) in [(false, false), (true, false), (true, true)] {
                    let mut said = answer("T", class);
                    said.fix_summary = said.fix_summary.filter(|_| fix);
                    said.evidence = said.evidence.filter(|_| evidence);
                    said.commit_sha = said.commit_sha.filter(|_| commit);
                    said.commit_reachable = reachable;
                    said.verification.clone_from(lines);
                    all.push(said);
                }
            }
        }
    }
    all
}
