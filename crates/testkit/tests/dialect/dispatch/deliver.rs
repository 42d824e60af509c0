//! What becomes of what a worker left: pushed first, then recorded; or refused, and recorded as that.

use std::sync::Mutex;

use referee_core::mark::Keys;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{Answer, CheckState, Class, PullNumber, Sha, Span, WorkResult};
use referee_core::plan::{Delivery, Gate};
use referee_core::policy::Approve;
use referee_forge::{Asked, Forge, ForgeError, Gates, Permit};
use referee_testkit::dialect::{Dialect, Server};
use referee_testkit::{At, Effect, Fault, Seat, What, block_on};
use referee_turn::{Delivered, DeliveryTarget, Held, Then, Undelivered, answer, deliver, pass, release};

use super::{Project, open};
use crate::adapter::{forge, probed};

/// A project whose one pull has a failing check, and the worker that was started for it.
struct Bench {
    project: Project,
    seat: Seat,
    pull: PullNumber,
    held: Held,
}

impl Bench {
    fn new() -> Self {
        let mut project = Project::new(Dialect::Gitea127.quirks());
        project.policy.protected = vec![".gitea/**".to_owned()];
        let pull = project.pull("f");
        project.by("rodin", Some(pull)).check("ci", CheckState::Fail);
        let seat = project.seat();
        let held = run(&project, &seat).expect("a worker is started");
        Self { project, seat, pull, held }
    }

    fn rodin(&self) -> referee_testkit::Person {
        self.project.by("rodin", Some(self.pull))
    }

    fn result(&self, head: Option<Sha>) -> WorkResult {
        result(&self.held, head)
    }

    /// Delivers, with a push as the worker's shell does it. The effects are those of the record alone.
    fn deliver(&self, result: &WorkResult) -> (Delivered, Vec<Effect>) {
        self.deliver_by(result, |commit, over| {
            self.rodin().push_over(commit, over).map_err(|error| Undelivered(error.to_string()))
        })
    }

    fn deliver_by(
        &self,
        result: &WorkResult,
        push: impl Fn(&Sha, &Sha) -> Result<(), Undelivered> + Send + Sync,
    ) -> (Delivered, Vec<Effect>) {
        let _ = self.project.world.effects();
        let (gates, keys) = (running(), Keys::none());
        let desk = self.project.desk(&self.seat, &gates, &keys);
        let target = Via(|delivery: &Delivery, permit: &Permit| {
            assert_eq!(permit.gate(), Gate::Work);
            assert_eq!(self.project.world.effects(), [], "nothing is recorded before the push");
            let Delivery::Push { commit, over, .. } = delivery else { panic!("{delivery:?}") };
            push(commit, over).map(|()| delivery.clone())
        });
        let base = Sha::from("");
        let delivered = block_on(deliver(&desk, &self.held, result, &base, &target)).expect("everything can be read");
        (delivered, self.project.world.effects())
    }
}

/// A delivery target that does what a closure says.
struct Via<F>(F);

#[async_trait::async_trait]
impl<F: Fn(&Delivery, &Permit) -> Result<Delivery, Undelivered> + Send + Sync> DeliveryTarget for Via<F> {
    async fn accept(&self, delivery: &Delivery, permit: &Permit) -> Result<Delivery, Undelivered> {
        (self.0)(delivery, permit)
    }
}

/// One pass that runs what it starts.
fn run<F: Forge>(project: &Project, forge: &F) -> Option<Held> {
    let (gates, keys) = (running(), Keys::none());
    let passed = block_on(pass(&project.desk(forge, &gates, &keys), Then::Run, |_| {}));
    let _ = project.world.effects();
    passed.expect("everything can be read").held
}

fn running() -> Gates {
    let settings = Gate::ALL.iter().map(|gate| (*gate, gate.default_setting())).collect();
    Gates::new(settings, Asked::from([Gate::Label, Gate::Work, Gate::Reply]), Approve::Lift)
}

fn result(held: &Held, head: Option<Sha>) -> WorkResult {
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
        .filter_map(|it| match &it.what {
            What::CommentEdited { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

fn has(effects: &[Effect], what: &What) -> bool {
    effects.iter().any(|it| it.what == *what)
}

fn wip_off() -> What {
    What::Unlabelled { name: "wip".to_owned() }
}

fn why(delivered: &Delivered) -> String {
    delivered.refused.iter().flat_map(|it| it.why.facts.clone()).collect::<Vec<_>>().join("; ")
}

// spec: DSP-14 @core
#[test]
fn what_a_worker_left_is_pushed_then_recorded_and_its_claim_given_back_last() {
    let bench = Bench::new();
    let other = bench.project.seat();
    assert!(run(&bench.project, &other).is_none(), "a worker is at it");
    let commit = bench.rodin().prepare("src/f.rs", |_| "fn a() { }\n".into());
    let (delivered, effects) = bench.deliver(&bench.result(Some(commit.clone())));
    assert!(matches!(&delivered.delivery, Some(Delivery::Push { commit: it, .. }) if *it == commit), "{delivered:?}");
    assert_eq!(bench.rodin().head(), commit);
    assert!(matches!(recorded(&effects)[..], [text] if text.contains("mended")), "{effects:?}");
    assert!(has(&effects, &wip_off()) && !effects.iter().any(|it| matches!(it.what, What::Released { .. })));
    let (gates, keys) = (open(), Keys::none());
    block_on(release(&bench.project.desk(&bench.seat, &gates, &keys), &bench.held));
    assert!(bench.project.world.effects().iter().any(|it| matches!(it.what, What::Released { .. })));
}

// spec: DSP-14 @core
#[test]
fn a_head_that_moved_and_a_lease_that_was_taken_over_get_nothing() {
    let bench = Bench::new();
    let commit = bench.rodin().prepare("src/f.rs", |_| "fn a() { }\n".into());
    let moved = bench.rodin().push("src/g.rs", |_| "fn g() {}\n".into());
    let nothing = |_: &Sha, _: &Sha| panic!("nothing may be pushed");
    let (delivered, effects) = bench.deliver_by(&bench.result(Some(commit)), nothing);
    assert!(delivered.delivery.is_none() && why(&delivered).contains("the head moved"), "{delivered:?}");
    assert_eq!((bench.rodin().head(), recorded(&effects)), (moved, Vec::new()));

    let bench = Bench::new();
    bench.project.world.wait(Span::hours(2));
    let second = run(&bench.project, &bench.project.seat()).expect("the first one went away");
    assert!(second.job.epoch > bench.held.job.epoch);
    let commit = bench.rodin().prepare("src/f.rs", |_| "fn a() { }\n".into());
    let (delivered, effects) = bench.deliver_by(&bench.result(Some(commit)), nothing);
    assert!(delivered.delivery.is_none() && why(&delivered).contains("taken over"), "{delivered:?}");
    assert_eq!(effects, [], "the other one's record and label are left alone");
}

#[test]
fn what_a_worker_may_not_touch_is_measured_not_asked() {
    let bench = Bench::new();
    let commit = bench.rodin().prepare(".gitea/workflows/ci.yml", |_| "on: push\n".into());
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
    let commit = bench.rodin().prepare("src/f.rs", |_| "fn a() { }\n".into());
    let refused = |_: &Sha, _: &Sha| Err(Undelivered("the branch is protected".to_owned()));
    let (delivered, effects) = bench.deliver_by(&bench.result(Some(commit.clone())), refused);
    assert!(delivered.delivery.is_none() && why(&delivered).contains("the branch is protected"), "{delivered:?}");
    assert!(recorded(&effects)[0].contains("the branch is protected"), "{effects:?}");
    assert!(has(&effects, &wip_off()), "{effects:?}");

    let bench = Bench::new();
    let commit = bench.rodin().prepare("src/f.rs", |_| "fn a() { }\n".into());
    let (delivered, effects) = bench.deliver_by(&bench.result(Some(commit)), |commit, over| {
        bench.rodin().push_over(commit, over).expect("it gets there");
        Err(Undelivered("the connection broke".to_owned()))
    });
    assert!(delivered.delivery.is_some(), "{delivered:?}");
    assert!(!recorded(&effects)[0].contains("Not delivered"), "{effects:?}");

    let mut bench = Bench::new();
    bench.project.policy.gates.insert(Gate::Work, referee_core::policy::Setting::Off);
    let commit = bench.rodin().prepare("src/f.rs", |_| "fn a() { }\n".into());
    let (gates, keys) = (open(), Keys::none());
    let desk = bench.project.desk(&bench.seat, &gates, &keys);
    let target = Via(|_: &Delivery, _: &Permit| panic!("nobody asked for work"));
    let result = bench.result(Some(commit));
    let delivered = block_on(deliver(&desk, &bench.held, &result, &Sha::from(""), &target)).expect("it can be read");
    assert!(why(&delivered).contains("`work`"), "{delivered:?}");
    let _ = bench.project.world.effects();
}

#[test]
fn answers_are_said_at_the_new_head_and_nothing_else_is() {
    let bench = Bench::new();
    let thread = bench.project.by("sonnet-bot", Some(bench.pull)).note("src/f.rs", 1, "name it");
    let commit = bench.rodin().prepare("src/f.rs", |_| "fn named() {}\n".into());
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
    let (gates, keys) = (running(), Keys::none());
    let desk = bench.project.desk(&bench.seat, &gates, &keys);
    for expected in [1, 0] {
        let turn = block_on(answer(&desk, bench.pull, vec![said.clone()])).expect("everything can be read");
        assert!(!turn.unsettled, "{turn:?}");
        let effects = bench.project.world.effects();
        assert!(
            effects.iter().all(|it| matches!(&it.what, What::Replied { thread: it, .. } if *it == thread)),
            "{effects:?}"
        );
        assert_eq!(effects.len(), expected);
    }
}

// spec: DSP-18 @core
#[test]
fn a_branch_for_an_issue_is_opened_once_whoever_loses_the_answer() {
    for (dialect, fault) in [(Dialect::Gitea127, None), (Dialect::Forgejo10, Some(Fault::LoseReply))] {
        let project = Project::new(dialect.quirks());
        let server = Server::open(dialect, &project.world);
        let alice = project.by("alice", None);
        let issue = alice.open_issue(&[]);
        let base = alice.push_base("README.md", |_| "about\n".into());
        let seat = project.seat();
        let forge = forge(&server, &seat, &probed(dialect));
        let held = run(&project, &forge).expect("the issue is taken");
        let commit = alice.prepare_branch("src/new.rs", "fn new() {}\n");
        let result = result(&held, Some(commit.clone()));
        let (gates, keys) = (running(), Keys::none());
        let desk = project.desk(&forge, &gates, &keys);
        let opened = Mutex::new(Vec::new());
        for _ in 0..2 {
            let target = Via(|delivery: &Delivery, permit: &Permit| {
                if let Some(fault) = fault {
                    project.world.fault(At::Write(1), fault);
                }
                let number = match block_on(seat.open_pull(delivery, permit)) {
                    Err(ForgeError::Unknown) => block_on(seat.open_pull(delivery, permit)),
                    answered => answered,
                };
                opened
                    .lock()
                    .expect("no thread panicked")
                    .push(number.map_err(|error| Undelivered(error.to_string()))?);
                Ok(delivery.clone())
            });
            let delivered = block_on(deliver(&desk, &held, &result, &base, &target)).expect("everything can be read");
            assert!(
                matches!(&delivered.delivery, Some(Delivery::OpenPull { branch, .. }) if *branch == format!("referee/issue-{}", issue.0)),
                "{delivered:?}"
            );
        }
        let effects = project.world.effects();
        assert_eq!(
            effects.iter().filter(|it| matches!(it.what, What::PullOpened { .. })).count(),
            1,
            "{fault:?}: {effects:?}"
        );
        let opened = opened.into_inner().expect("no thread panicked");
        assert!(matches!(opened[..], [one, two] if one == two), "{opened:?}");
        assert_eq!(recorded(&effects).len(), 1, "{effects:?}");
    }
}
