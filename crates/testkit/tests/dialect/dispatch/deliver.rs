//! Delivery of a worker's result: pushed, then recorded; or refused, and recorded as refused.

use std::sync::Mutex;

use referee_core::mark::Keys;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{Answer, CheckState, Class, CommitAudit, PullNumber, Sha, Span, WorkResult};
use referee_core::plan::{Delivery, Gate};
use referee_core::policy::ApprovalMode;
use referee_forge::{Forge, ForgeError, Gates, Permit, RequestedGates};
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::{CallFault, Effect, EffectKind, FaultAt, WorldClient, block_on};
use referee_turn::{
    ClaimedWorker, DeliveryFailure, DeliveryOutcome, DeliveryTarget, SpawnMode, deliver, post_answers, release_worker,
    run_pass,
};

use super::{TestProject, default_gates};
use crate::adapter::{forge, probe_server};

/// A project whose only pull has a failing check, and the worker that was started for it.
struct DeliveryFixture {
    project: TestProject,
    client: WorldClient,
    pull: PullNumber,
    worker: ClaimedWorker,
}

impl DeliveryFixture {
    fn new() -> Self {
        let mut project = TestProject::new(Dialect::Gitea127.quirks());
        project.policy.protected = vec![".gitea/**".to_owned()];
        let pull = project.open_pull("f");
        project.by("rodin", Some(pull)).report_check("ci", CheckState::Fail);
        let client = project.client();
        let worker = run(&project, &client).expect("the pass starts a worker");
        Self { project, client, pull, worker }
    }

    fn rodin(&self) -> referee_testkit::WorldPerson {
        self.project.by("rodin", Some(self.pull))
    }

    fn result(&self, head: Option<Sha>) -> WorkResult {
        result(&self.worker, head)
    }

    /// Delivers with a lease-checked push. The returned effects do not include the push.
    fn deliver(&self, result: &WorkResult) -> (DeliveryOutcome, Vec<Effect>) {
        self.deliver_by(result, |commit, over| {
            self.rodin().push_with_lease(commit, over).map_err(|error| DeliveryFailure(error.to_string()))
        })
    }

    fn deliver_by(
        &self,
        result: &WorkResult,
        push: impl Fn(&Sha, &Sha) -> Result<(), DeliveryFailure> + Send + Sync,
    ) -> (DeliveryOutcome, Vec<Effect>) {
        let _ = self.project.world.take_effects();
        let (gates, keys) = (run_gates(), Keys::empty());
        let context = self.project.turn_context(&self.client, &gates, &keys);
        let target = ClosureTarget(|delivery: &Delivery, permit: &Permit| {
            assert_eq!(permit.gate(), Gate::Work);
            assert_eq!(self.project.world.take_effects(), [], "nothing is recorded before the push");
            let Delivery::Push { commit, over, .. } = delivery else { panic!("{delivery:?}") };
            push(commit, over).map(|()| delivery.clone())
        });
        let base = Sha::from("");
        let delivered = block_on(deliver(&context, &self.worker, result, &base, &target)).expect("the reads succeed");
        (delivered, self.project.world.take_effects())
    }
}

/// A delivery target that calls a closure.
struct ClosureTarget<F>(F);

#[async_trait::async_trait]
impl<F: Fn(&Delivery, &Permit) -> Result<Delivery, DeliveryFailure> + Send + Sync> DeliveryTarget for ClosureTarget<F> {
    async fn accept(&self, delivery: &Delivery, permit: &Permit) -> Result<Delivery, DeliveryFailure> {
        (self.0)(delivery, permit)
    }
}

/// Runs one pass in run mode and returns the worker that it started.
fn run<F: Forge>(project: &TestProject, forge: &F) -> Option<ClaimedWorker> {
    let (gates, keys) = (run_gates(), Keys::empty());
    let passed = block_on(run_pass(&project.turn_context(forge, &gates, &keys), SpawnMode::Run, |_| {}));
    let _ = project.world.take_effects();
    passed.expect("the reads succeed").claimed_worker
}

fn run_gates() -> Gates {
    let settings = Gate::ALL.iter().map(|gate| (*gate, gate.default_setting())).collect();
    Gates::new(settings, RequestedGates::from([Gate::Label, Gate::Work, Gate::Reply]), ApprovalMode::Lift)
}

fn result(worker: &ClaimedWorker, head: Option<Sha>) -> WorkResult {
    WorkResult {
        kind: worker.job.kind,
        epoch: worker.job.epoch,
        started_at: worker.job.head.clone().unwrap_or_else(|| Sha::from("")),
        outcome: WorkOutcome::Done,
        summary: "fixed the check".to_owned(),
        head,
        patch: None,
        files: Vec::new(),
        escapes: Vec::new(),
        audit: Some(CommitAudit { descends: true, ..CommitAudit::default() }),
        clean: None,
        plan: Vec::new(),
        pull: Some(("Add it".to_owned(), "As asked.".to_owned())),
    }
}

/// Returns the new texts of edited comments.
fn edited_texts(effects: &[Effect]) -> Vec<&str> {
    effects
        .iter()
        .filter_map(|effect| match &effect.kind {
            EffectKind::CommentEdited { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

fn has_effect(effects: &[Effect], what: &EffectKind) -> bool {
    effects.iter().any(|effect| effect.kind == *what)
}

fn wip_removed() -> EffectKind {
    EffectKind::Unlabelled { name: "wip".to_owned() }
}

fn refusal_facts(delivered: &DeliveryOutcome) -> String {
    delivered.refused.iter().flat_map(|refusal| refusal.why.facts.clone()).collect::<Vec<_>>().join("; ")
}

// spec: DSP-14 @core
#[test]
fn a_result_is_pushed_then_recorded_and_the_claim_is_released_last() {
    let fixture = DeliveryFixture::new();
    let other = fixture.project.client();
    assert!(run(&fixture.project, &other).is_none(), "a worker holds the claim");
    let commit = fixture.rodin().prepare_commit("src/f.rs", |_| "fn a() { }\n".into());
    let (delivered, effects) = fixture.deliver(&fixture.result(Some(commit.clone())));
    assert!(
        matches!(&delivered.delivery, Some(Delivery::Push { commit: pushed, .. }) if *pushed == commit),
        "{delivered:?}"
    );
    assert_eq!(fixture.rodin().head(), commit);
    assert!(matches!(edited_texts(&effects)[..], [text] if text.contains("fixed the check")), "{effects:?}");
    assert!(
        has_effect(&effects, &wip_removed())
            && !effects.iter().any(|effect| matches!(effect.kind, EffectKind::Released { .. }))
    );
    let (gates, keys) = (default_gates(), Keys::empty());
    block_on(release_worker(&fixture.project.turn_context(&fixture.client, &gates, &keys), &fixture.worker));
    assert!(
        fixture.project.world.take_effects().iter().any(|effect| matches!(effect.kind, EffectKind::Released { .. }))
    );
}

// spec: DSP-14 @core
#[test]
fn nothing_is_delivered_after_a_moved_head_or_a_lost_lease() {
    let fixture = DeliveryFixture::new();
    let commit = fixture.rodin().prepare_commit("src/f.rs", |_| "fn a() { }\n".into());
    let moved = fixture.rodin().push("src/g.rs", |_| "fn g() {}\n".into());
    let nothing = |_: &Sha, _: &Sha| panic!("nothing may be pushed");
    let (delivered, effects) = fixture.deliver_by(&fixture.result(Some(commit)), nothing);
    assert!(delivered.delivery.is_none() && refusal_facts(&delivered).contains("the head moved"), "{delivered:?}");
    assert_eq!((fixture.rodin().head(), edited_texts(&effects)), (moved, Vec::new()));

    let fixture = DeliveryFixture::new();
    fixture.project.world.wait(Span::from_hours(2));
    let second = run(&fixture.project, &fixture.project.client()).expect("the first lease expired");
    assert!(second.job.epoch > fixture.worker.job.epoch);
    let commit = fixture.rodin().prepare_commit("src/f.rs", |_| "fn a() { }\n".into());
    let (delivered, effects) = fixture.deliver_by(&fixture.result(Some(commit)), nothing);
    assert!(delivered.delivery.is_none() && refusal_facts(&delivered).contains("taken over"), "{delivered:?}");
    assert_eq!(effects, [], "the record and label of the other worker stay");
}

#[test]
fn changes_of_protected_paths_are_detected_in_the_diff_and_refused() {
    let fixture = DeliveryFixture::new();
    let commit = fixture.rodin().prepare_commit(".gitea/workflows/ci.yml", |_| "on: push\n".into());
    let (delivered, effects) =
        fixture.deliver_by(&fixture.result(Some(commit)), |_, _| panic!("a protected path must not be pushed"));
    assert!(refusal_facts(&delivered).contains("`.gitea/workflows/ci.yml` is protected"), "{delivered:?}");
    assert!(edited_texts(&effects)[0].contains("Not delivered"), "{effects:?}");

    let fixture = DeliveryFixture::new();
    fixture.rodin().push_base(".gitea/workflows/ci.yml", |_| "on: push\n".into());
    let commit = fixture.rodin().prepare_rebase();
    let (delivered, _) = fixture.deliver(&fixture.result(Some(commit.clone())));
    assert!(delivered.delivery.is_some(), "the base changed it, not the pull: {delivered:?}");
    assert_eq!(fixture.rodin().head(), commit);

    let fixture = DeliveryFixture::new();
    let (delivered, _) = fixture.deliver_by(&fixture.result(Some(Sha::from("0".repeat(40).as_str()))), |_, _| {
        panic!("a missing commit must not be pushed")
    });
    assert!(delivered.delivery.is_none(), "{delivered:?}");
}

#[test]
fn a_failed_push_is_recorded_and_a_lost_response_is_verified() {
    let fixture = DeliveryFixture::new();
    let commit = fixture.rodin().prepare_commit("src/f.rs", |_| "fn a() { }\n".into());
    let refused = |_: &Sha, _: &Sha| Err(DeliveryFailure("the branch is protected".to_owned()));
    let (delivered, effects) = fixture.deliver_by(&fixture.result(Some(commit.clone())), refused);
    assert!(
        delivered.delivery.is_none() && refusal_facts(&delivered).contains("the branch is protected"),
        "{delivered:?}"
    );
    assert!(edited_texts(&effects)[0].contains("the branch is protected"), "{effects:?}");
    assert!(has_effect(&effects, &wip_removed()), "{effects:?}");

    let fixture = DeliveryFixture::new();
    let commit = fixture.rodin().prepare_commit("src/f.rs", |_| "fn a() { }\n".into());
    let (delivered, effects) = fixture.deliver_by(&fixture.result(Some(commit)), |commit, over| {
        fixture.rodin().push_with_lease(commit, over).expect("the push succeeds");
        Err(DeliveryFailure("the connection broke".to_owned()))
    });
    assert!(delivered.delivery.is_some(), "{delivered:?}");
    assert!(!edited_texts(&effects)[0].contains("Not delivered"), "{effects:?}");

    let mut fixture = DeliveryFixture::new();
    fixture.project.policy.gates.insert(Gate::Work, referee_core::policy::GateSetting::Off);
    let commit = fixture.rodin().prepare_commit("src/f.rs", |_| "fn a() { }\n".into());
    let (gates, keys) = (default_gates(), Keys::empty());
    let context = fixture.project.turn_context(&fixture.client, &gates, &keys);
    let target = ClosureTarget(|_: &Delivery, _: &Permit| panic!("the work gate is shut"));
    let result = fixture.result(Some(commit));
    let delivered =
        block_on(deliver(&context, &fixture.worker, &result, &Sha::from(""), &target)).expect("the reads succeed");
    assert!(refusal_facts(&delivered).contains("`work`"), "{delivered:?}");
    let _ = fixture.project.world.take_effects();
}

#[test]
fn answers_are_posted_once_at_the_new_head() {
    let fixture = DeliveryFixture::new();
    let thread = fixture.project.by("sonnet-bot", Some(fixture.pull)).open_thread("src/f.rs", 1, "name it");
    let commit = fixture.rodin().prepare_commit("src/f.rs", |_| "fn named() {}\n".into());
    let _ = fixture.deliver(&fixture.result(Some(commit.clone())));
    let answer = Answer {
        thread_id: thread.clone(),
        classification: Class::Invalid,
        fix_summary: None,
        evidence: Some("it has a name".to_owned()),
        verification: Vec::new(),
        commit_sha: Some(commit),
        commit_reachable: false,
        reply_body: None,
    };
    let (gates, keys) = (run_gates(), Keys::empty());
    let context = fixture.project.turn_context(&fixture.client, &gates, &keys);
    for expected in [1, 0] {
        let turn = block_on(post_answers(&context, fixture.pull, vec![answer.clone()])).expect("the reads succeed");
        assert!(!turn.needs_rerun, "{turn:?}");
        let effects = fixture.project.world.take_effects();
        assert!(
            effects.iter().all(
                |effect| matches!(&effect.kind, EffectKind::Replied { thread: replied, .. } if *replied == thread)
            ),
            "{effects:?}"
        );
        assert_eq!(effects.len(), expected);
    }
}

// spec: DSP-18 @core
#[test]
fn a_pull_for_an_issue_is_opened_once_even_if_the_response_is_lost() {
    for (dialect, fault) in [(Dialect::Gitea127, None), (Dialect::Forgejo10, Some(CallFault::LoseReply))] {
        let project = TestProject::new(dialect.quirks());
        let server = FakeServer::open(dialect, &project.world);
        let alice = project.by("alice", None);
        let issue = alice.open_issue(&[]);
        let base = alice.push_base("README.md", |_| "about\n".into());
        let client = project.client();
        let forge = forge(&server, &client, &probe_server(dialect));
        let worker = run(&project, &forge).expect("the pass starts a worker for the issue");
        let commit = alice.prepare_branch("src/new.rs", "fn new() {}\n");
        let result = result(&worker, Some(commit.clone()));
        let (gates, keys) = (run_gates(), Keys::empty());
        let context = project.turn_context(&forge, &gates, &keys);
        let opened = Mutex::new(Vec::new());
        for _ in 0..2 {
            let target = ClosureTarget(|delivery: &Delivery, permit: &Permit| {
                if let Some(fault) = fault {
                    project.world.inject_fault(FaultAt::Write(1), fault);
                }
                let number = match block_on(client.open_pull(delivery, client.login(), permit)) {
                    Err(ForgeError::OutcomeUnknown) => block_on(client.open_pull(delivery, client.login(), permit)),
                    answered => answered,
                };
                opened
                    .lock()
                    .expect("no thread panicked")
                    .push(number.map_err(|error| DeliveryFailure(error.to_string()))?);
                Ok(delivery.clone())
            });
            let delivered = block_on(deliver(&context, &worker, &result, &base, &target)).expect("the reads succeed");
            assert!(
                matches!(&delivered.delivery, Some(Delivery::OpenPull { branch, .. }) if *branch == format!("referee/issue-{}", issue.0)),
                "{delivered:?}"
            );
        }
        let effects = project.world.take_effects();
        assert_eq!(
            effects.iter().filter(|effect| matches!(effect.kind, EffectKind::PullOpened { .. })).count(),
            1,
            "{fault:?}: {effects:?}"
        );
        let opened = opened.into_inner().expect("no thread panicked");
        assert!(matches!(opened[..], [one, two] if one == two), "{opened:?}");
        assert_eq!(edited_texts(&effects).len(), 1, "{effects:?}");
    }
}
