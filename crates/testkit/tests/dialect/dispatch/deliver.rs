//! What becomes of what a worker left: pushed first, then recorded; or refused, and recorded as that.

use std::sync::Mutex;

use referee_core::mark::Keys;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{Answer, CheckState, Class, PullNumber, Sha, Span, WorkResult};
use referee_core::plan::{Delivery, Gate};
use referee_core::policy::ApprovalMode;
use referee_forge::{Forge, ForgeError, Gates, Permit, RequestedGates};
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::{CallFault, Effect, EffectKind, FaultAt, WorldClient, block_on};
use referee_turn::{
    ClaimedWorker, DeliveryFailure, DeliveryOutcome, DeliveryTarget, SpawnMode, deliver, post_answers, release_worker,
    run_pass,
};

use super::{Project, open};
use crate::adapter::{forge, probed};

/// A project whose one pull has a failing check, and the worker that was started for it.
struct Bench {
    project: Project,
    seat: WorldClient,
    pull: PullNumber,
    held: ClaimedWorker,
}

impl Bench {
    fn new() -> Self {
        let mut project = Project::new(Dialect::Gitea127.quirks());
        project.policy.protected = vec![".gitea/**".to_owned()];
        let pull = project.pull("f");
        project.by("rodin", Some(pull)).report_check("ci", CheckState::Fail);
        let seat = project.seat();
        let held = run(&project, &seat).expect("a worker is started");
        Self { project, seat, pull, held }
    }

    fn rodin(&self) -> referee_testkit::WorldPerson {
        self.project.by("rodin", Some(self.pull))
    }

    fn result(&self, head: Option<Sha>) -> WorkResult {
        result(&self.held, head)
    }

    /// Delivers, with a push as the worker's shell does it. The effects are those of the record alone.
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
        let (gates, keys) = (running(), Keys::empty());
        let desk = self.project.desk(&self.seat, &gates, &keys);
        let target = Via(|delivery: &Delivery, permit: &Permit| {
            assert_eq!(permit.gate(), Gate::Work);
            assert_eq!(self.project.world.take_effects(), [], "nothing is recorded before the push");
            let Delivery::Push { commit, over, .. } = delivery else { panic!("{delivery:?}") };
            push(commit, over).map(|()| delivery.clone())
        });
        let base = Sha::from("");
        let delivered = block_on(deliver(&desk, &self.held, result, &base, &target)).expect("everything can be read");
        (delivered, self.project.world.take_effects())
    }
}

/// A delivery target that does what a closure says.
struct Via<F>(F);

#[async_trait::async_trait]
impl<F: Fn(&Delivery, &Permit) -> Result<Delivery, DeliveryFailure> + Send + Sync> DeliveryTarget for Via<F> {
    async fn accept(&self, delivery: &Delivery, permit: &Permit) -> Result<Delivery, DeliveryFailure> {
        (self.0)(delivery, permit)
    }
}

/// One pass that runs what it starts.
fn run<F: Forge>(project: &Project, forge: &F) -> Option<ClaimedWorker> {
    let (gates, keys) = (running(), Keys::empty());
    let passed = block_on(run_pass(&project.desk(forge, &gates, &keys), SpawnMode::Run, |_| {}));
    let _ = project.world.take_effects();
    passed.expect("everything can be read").claimed_worker
}

fn running() -> Gates {
    let settings = Gate::ALL.iter().map(|gate| (*gate, gate.default_setting())).collect();
    Gates::new(settings, RequestedGates::from([Gate::Label, Gate::Work, Gate::Reply]), ApprovalMode::Lift)
}

fn result(held: &ClaimedWorker, head: Option<Sha>) -> WorkResult {
    WorkResult {
        kind: held.job.kind,
        epoch: held.job.epoch,
        started_at: held.job.head.clone().unwrap_or_else(|| Sha::from("")),
        outcome: WorkOutcome::Done,
        summary: "mended".to_owned(),
        head,
        patch: None,
        files: Vec::new(),
        escapes: Vec::new(),
        clean: None,
        plan: Vec::new(),
        pull: Some(("Add it".to_owned(), "As asked.".to_owned())),
    }
}

/// What the record says after an edit.
fn recorded(effects: &[Effect]) -> Vec<&str> {
    effects
        .iter()
        .filter_map(|it| match &it.kind {
            EffectKind::CommentEdited { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

fn has(effects: &[Effect], what: &EffectKind) -> bool {
    effects.iter().any(|it| it.kind == *what)
}

fn wip_off() -> EffectKind {
    EffectKind::Unlabelled { name: "wip".to_owned() }
}

fn why(delivered: &DeliveryOutcome) -> String {
    delivered.refused.iter().flat_map(|it| it.why.facts.clone()).collect::<Vec<_>>().join("; ")
}

// spec: DSP-14 @core
#[test]
fn what_a_worker_left_is_pushed_then_recorded_and_its_claim_given_back_last() {
    let bench = Bench::new();
    let other = bench.project.seat();
    assert!(run(&bench.project, &other).is_none(), "a worker is at it");
    let commit = bench.rodin().prepare_commit("src/f.rs", |_| "fn a() { }\n".into());
    let (delivered, effects) = bench.deliver(&bench.result(Some(commit.clone())));
    assert!(matches!(&delivered.delivery, Some(Delivery::Push { commit: it, .. }) if *it == commit), "{delivered:?}");
    assert_eq!(bench.rodin().head(), commit);
    assert!(matches!(recorded(&effects)[..], [text] if text.contains("mended")), "{effects:?}");
    assert!(has(&effects, &wip_off()) && !effects.iter().any(|it| matches!(it.kind, EffectKind::Released { .. })));
    let (gates, keys) = (open(), Keys::empty());
    block_on(release_worker(&bench.project.desk(&bench.seat, &gates, &keys), &bench.held));
    assert!(bench.project.world.take_effects().iter().any(|it| matches!(it.kind, EffectKind::Released { .. })));
}

// spec: DSP-14 @core
#[test]
fn a_head_that_moved_and_a_lease_that_was_taken_over_get_nothing() {
    let bench = Bench::new();
    let commit = bench.rodin().prepare_commit("src/f.rs", |_| "fn a() { }\n".into());
    let moved = bench.rodin().push("src/g.rs", |_| "fn g() {}\n".into());
    let nothing = |_: &Sha, _: &Sha| panic!("nothing may be pushed");
    let (delivered, effects) = bench.deliver_by(&bench.result(Some(commit)), nothing);
    assert!(delivered.delivery.is_none() && why(&delivered).contains("the head moved"), "{delivered:?}");
    assert_eq!((bench.rodin().head(), recorded(&effects)), (moved, Vec::new()));

    let bench = Bench::new();
    bench.project.world.wait(Span::from_hours(2));
    let second = run(&bench.project, &bench.project.seat()).expect("the first one went away");
    assert!(second.job.epoch > bench.held.job.epoch);
    let commit = bench.rodin().prepare_commit("src/f.rs", |_| "fn a() { }\n".into());
    let (delivered, effects) = bench.deliver_by(&bench.result(Some(commit)), nothing);
    assert!(delivered.delivery.is_none() && why(&delivered).contains("taken over"), "{delivered:?}");
    assert_eq!(effects, [], "the other one's record and label are left alone");
}

#[test]
fn what_a_worker_may_not_touch_is_measured_not_asked() {
    let bench = Bench::new();
    let commit = bench.rodin().prepare_commit(".gitea/workflows/ci.yml", |_| "on: push\n".into());
    let (delivered, effects) = bench.deliver_by(&bench.result(Some(commit)), |_, _| panic!("it is protected"));
    assert!(why(&delivered).contains("`.gitea/workflows/ci.yml` is protected"), "{delivered:?}");
    assert!(recorded(&effects)[0].contains("Not delivered"), "{effects:?}");

    let bench = Bench::new();
    bench.rodin().push_base(".gitea/workflows/ci.yml", |_| "on: push\n".into());
    let commit = bench.rodin().prepare_rebase();
    let (delivered, _) = bench.deliver(&bench.result(Some(commit.clone())));
    assert!(delivered.delivery.is_some(), "the base changed it, not the pull: {delivered:?}");
    assert_eq!(bench.rodin().head(), commit);

    let bench = Bench::new();
    let (delivered, _) =
        bench.deliver_by(&bench.result(Some(Sha::from("0".repeat(40).as_str()))), |_, _| panic!("it is not there"));
    assert!(delivered.delivery.is_none(), "{delivered:?}");
}

#[test]
fn a_push_that_fails_is_a_failure_and_one_whose_answer_is_lost_is_looked_for() {
    let bench = Bench::new();
    let commit = bench.rodin().prepare_commit("src/f.rs", |_| "fn a() { }\n".into());
    let refused = |_: &Sha, _: &Sha| Err(DeliveryFailure("the branch is protected".to_owned()));
    let (delivered, effects) = bench.deliver_by(&bench.result(Some(commit.clone())), refused);
    assert!(delivered.delivery.is_none() && why(&delivered).contains("the branch is protected"), "{delivered:?}");
    assert!(recorded(&effects)[0].contains("the branch is protected"), "{effects:?}");
    assert!(has(&effects, &wip_off()), "{effects:?}");

    let bench = Bench::new();
    let commit = bench.rodin().prepare_commit("src/f.rs", |_| "fn a() { }\n".into());
    let (delivered, effects) = bench.deliver_by(&bench.result(Some(commit)), |commit, over| {
        bench.rodin().push_with_lease(commit, over).expect("it gets there");
        Err(DeliveryFailure("the connection broke".to_owned()))
    });
    assert!(delivered.delivery.is_some(), "{delivered:?}");
    assert!(!recorded(&effects)[0].contains("Not delivered"), "{effects:?}");

    let mut bench = Bench::new();
    bench.project.policy.gates.insert(Gate::Work, referee_core::policy::GateSetting::Off);
    let commit = bench.rodin().prepare_commit("src/f.rs", |_| "fn a() { }\n".into());
    let (gates, keys) = (open(), Keys::empty());
    let desk = bench.project.desk(&bench.seat, &gates, &keys);
    let target = Via(|_: &Delivery, _: &Permit| panic!("nobody asked for work"));
    let result = bench.result(Some(commit));
    let delivered = block_on(deliver(&desk, &bench.held, &result, &Sha::from(""), &target)).expect("it can be read");
    assert!(why(&delivered).contains("`work`"), "{delivered:?}");
    let _ = bench.project.world.take_effects();
}

#[test]
fn answers_are_said_at_the_new_head_and_nothing_else_is() {
    let bench = Bench::new();
    let thread = bench.project.by("sonnet-bot", Some(bench.pull)).open_thread("src/f.rs", 1, "name it");
    let commit = bench.rodin().prepare_commit("src/f.rs", |_| "fn named() {}\n".into());
    let _ = bench.deliver(&bench.result(Some(commit.clone())));
    let said = Answer {
        thread_id: thread.clone(),
        classification: Class::Invalid,
        fix_summary: None,
        evidence: Some("it has a name".to_owned()),
        verification: Vec::new(),
        commit_sha: Some(commit),
        commit_reachable: false,
        reply_body: None,
    };
    let (gates, keys) = (running(), Keys::empty());
    let desk = bench.project.desk(&bench.seat, &gates, &keys);
    for expected in [1, 0] {
        let turn = block_on(post_answers(&desk, bench.pull, vec![said.clone()])).expect("everything can be read");
        assert!(!turn.needs_rerun, "{turn:?}");
        let effects = bench.project.world.take_effects();
        assert!(
            effects.iter().all(|it| matches!(&it.kind, EffectKind::Replied { thread: it, .. } if *it == thread)),
            "{effects:?}"
        );
        assert_eq!(effects.len(), expected);
    }
}

// spec: DSP-18 @core
#[test]
fn a_branch_for_an_issue_is_opened_once_whoever_loses_the_answer() {
    for (dialect, fault) in [(Dialect::Gitea127, None), (Dialect::Forgejo10, Some(CallFault::LoseReply))] {
        let project = Project::new(dialect.quirks());
        let server = FakeServer::open(dialect, &project.world);
        let alice = project.by("alice", None);
        let issue = alice.open_issue(&[]);
        let base = alice.push_base("README.md", |_| "about\n".into());
        let seat = project.seat();
        let forge = forge(&server, &seat, &probed(dialect));
        let held = run(&project, &forge).expect("the issue is taken");
        let commit = alice.prepare_branch("src/new.rs", "fn new() {}\n");
        let result = result(&held, Some(commit.clone()));
        let (gates, keys) = (running(), Keys::empty());
        let desk = project.desk(&forge, &gates, &keys);
        let opened = Mutex::new(Vec::new());
        for _ in 0..2 {
            let target = Via(|delivery: &Delivery, permit: &Permit| {
                if let Some(fault) = fault {
                    project.world.inject_fault(FaultAt::Write(1), fault);
                }
                let number = match block_on(seat.open_pull(delivery, seat.login(), permit)) {
                    Err(ForgeError::OutcomeUnknown) => block_on(seat.open_pull(delivery, seat.login(), permit)),
                    answered => answered,
                };
                opened
                    .lock()
                    .expect("no thread panicked")
                    .push(number.map_err(|error| DeliveryFailure(error.to_string()))?);
                Ok(delivery.clone())
            });
            let delivered = block_on(deliver(&desk, &held, &result, &base, &target)).expect("everything can be read");
            assert!(
                matches!(&delivered.delivery, Some(Delivery::OpenPull { branch, .. }) if *branch == format!("referee/issue-{}", issue.0)),
                "{delivered:?}"
            );
        }
        let effects = project.world.take_effects();
        assert_eq!(
            effects.iter().filter(|it| matches!(it.kind, EffectKind::PullOpened { .. })).count(),
            1,
            "{fault:?}: {effects:?}"
        );
        let opened = opened.into_inner().expect("no thread panicked");
        assert!(matches!(opened[..], [one, two] if one == two), "{opened:?}");
        assert_eq!(recorded(&effects).len(), 1, "{effects:?}");
    }
}
