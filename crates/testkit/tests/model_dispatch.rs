//! A model of lease and dispatch, checked exhaustively: two or three dispatchers on one pull and one cause, with a crash at
//! any call, a lease that expires at any moment, and workers that die, fail, outlive their lease or deliver (DSP-14,
//! DSP-16, D8).
//!
//! A dispatcher reads, claims the lease (a compare-and-set on the epoch it read), reads again, records the job on the pull,
//! reads once more, and prints. `decide` determines whether a view allows a start and whether a result may be delivered.
//! The last read, without the dispatcher's own lease and record, must lead to the same decision as the one before and show
//! no higher epoch. The lease alone is not enough: another dispatcher may have taken it over and released it.
//!
//! Two variants must fail the check: a label used as a mutex (read the label, add the label, start), and the same protocol
//! without the last read, which is the only one that detects an expired claim.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use referee_core::decide::{PlanScope, decide};
use referee_core::facts::Facts;
use referee_core::mark::{Tag, TagKind, Topic, Trust, UnsealedMark};
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::*;
use referee_core::plan::{self, JobKind, Next};
use referee_core::policy::{DispatchPolicy, Policy, PullFilter};
use referee_core::track::PatchId;
use stateright::{Checker, Model, Property};

/// The record of a job on the pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct JobRecord {
    epoch: u8,
    outcome: Option<ReportedOutcome>,
    retried: bool,
    /// Whether it is older than an hour.
    old: bool,
}

/// The outcome that a worker reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum ReportedOutcome {
    Done,
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ModelLease {
    epoch: u8,
    live: bool,
}

/// The state that everybody can read on the forge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct ModelForge {
    records: Vec<JobRecord>,
    lease: Option<ModelLease>,
    /// Whether a worker's commit is the head.
    moved: bool,
    /// The label of the variant that uses it as a mutex.
    label: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum DispatcherStage {
    Idle,
    /// Read a view that allows a start, with this epoch of the lease.
    HasRead {
        seen: u8,
    },
    /// Acquired the lease, which may have expired since.
    Claimed {
        epoch: u8,
    },
    Recording {
        epoch: u8,
        retry: bool,
    },
    /// Recorded the job; the last read comes next.
    Recorded {
        epoch: u8,
        retry: bool,
    },
    Printing {
        epoch: u8,
        retry: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum ModelWorker {
    Runs {
        epoch: u8,
    },
    /// Its result was accepted; the push comes next.
    Delivers {
        epoch: u8,
        reported: ReportedOutcome,
    },
}

/// The state of the model. Dispatchers and workers are interchangeable, so both lists are kept sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ModelState {
    forge: ModelForge,
    dispatchers: Vec<DispatcherStage>,
    workers: Vec<ModelWorker>,
    /// The highest epoch of any claim.
    epoch: u8,
    first_starts: u8,
    second_starts: u8,
    pushes: u8,
    /// A violation that no later state can undo.
    violation: Option<Violation>,
    passes: u8,
    crashes: u8,
    expiries: u8,
    hours: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Violation {
    StaleDelivery,
    EarlyRetry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Advance(usize),
    Crash(usize),
    /// The lease expires, even if its holder is still at work.
    Expire,
    /// An hour passes: every record is old and every lease has expired.
    Hour,
    Check(usize, ReportedOutcome),
    Push(usize),
    Die(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProtocolVariant {
    Referee,
    /// Prints right after recording, without the last read.
    WithoutLastRead,
    /// Reads the label, adds the label, starts: no lease, no record.
    LabelMutex,
}

/// The cause that starts a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpawnCause {
    /// A person requests changes: one cause for all heads.
    Person,
    /// A check failed: one cause per change.
    Check,
}

/// Bounds of the model.
#[derive(Clone, Copy, Debug)]
struct ModelBounds {
    dispatchers: usize,
    /// The sum over all dispatchers.
    passes: u8,
    crashes: u8,
    expiries: u8,
    hours: u8,
}

struct DispatchModel {
    bounds: ModelBounds,
    variant: ProtocolVariant,
    decisions: CachedDecisions,
}

impl Model for DispatchModel {
    type State = ModelState;
    type Action = Step;

    fn init_states(&self) -> Vec<ModelState> {
        vec![ModelState {
            forge: ModelForge::default(),
            dispatchers: vec![DispatcherStage::Idle; self.bounds.dispatchers],
            workers: Vec::new(),
            epoch: 0,
            first_starts: 0,
            second_starts: 0,
            pushes: 0,
            violation: None,
            passes: 0,
            crashes: 0,
            expiries: 0,
            hours: 0,
        }]
    }

    fn actions(&self, state: &ModelState, actions: &mut Vec<Step>) {
        for (at, stage) in state.dispatchers.iter().enumerate() {
            let idle = *stage == DispatcherStage::Idle;
            let same_as_previous = 0 < at && state.dispatchers[at - 1] == *stage;
            if !same_as_previous && (!idle || state.passes < self.bounds.passes) {
                actions.push(Step::Advance(at));
            }
            if !same_as_previous && !idle && state.crashes < self.bounds.crashes {
                actions.push(Step::Crash(at));
            }
        }
        for (at, worker) in state.workers.iter().enumerate() {
            match worker {
                ModelWorker::Runs { .. } => {
                    actions.extend([
                        Step::Check(at, ReportedOutcome::Done),
                        Step::Check(at, ReportedOutcome::Failed),
                        Step::Die(at),
                    ]);
                }
                ModelWorker::Delivers { .. } => actions.push(Step::Push(at)),
            }
        }
        if state.forge.lease.is_some_and(|lease| lease.live) && state.expiries < self.bounds.expiries {
            actions.push(Step::Expire);
        }
        if state.hours < self.bounds.hours {
            actions.push(Step::Hour);
        }
    }

    fn next_state(&self, last: &ModelState, step: Step) -> Option<ModelState> {
        let mut state = last.clone();
        match step {
            Step::Advance(at) => self.advance_dispatcher(&mut state, at),
            // Its lease expires by itself, and the dispatcher starts another pass.
            Step::Crash(at) => {
                state.crashes += 1;
                state.dispatchers[at] = DispatcherStage::Idle;
                state.passes -= 1;
            }
            Step::Expire => {
                state.expiries += 1;
                state.forge.lease.as_mut()?.live = false;
            }
            Step::Hour => {
                state.hours += 1;
                state.forge.records.iter_mut().for_each(|record| record.old = true);
                state.forge.label = false;
                if let Some(lease) = &mut state.forge.lease {
                    lease.live = false;
                }
            }
            Step::Check(at, reported) => self.check_result(&mut state, at, reported),
            Step::Push(at) => push(&mut state, at),
            Step::Die(at) => drop(state.workers.remove(at)),
        }
        state.dispatchers.sort_unstable();
        state.workers.sort_unstable();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONE_START, |_, state: &ModelState| state.first_starts <= 1),
            Property::always("one retry, after an hour without an outcome", |_, state: &ModelState| {
                state.second_starts <= 1 && state.violation != Some(Violation::EarlyRetry)
            }),
            Property::always("a stale epoch delivers nothing", |_, state: &ModelState| {
                state.violation != Some(Violation::StaleDelivery)
            }),
            Property::always("one push for one cause", |_, state: &ModelState| state.pushes <= 1),
            Property::always(
                "an hour later the next pass retries or asks a person",
                |model: &DispatchModel, state: &ModelState| {
                    !state.is_quiet() || model.variant == ProtocolVariant::LabelMutex || model.recovers(state)
                },
            ),
            Property::sometimes("a worker is started", |_, state: &ModelState| state.first_starts == 1),
            Property::sometimes("a worker is started again", |_, state: &ModelState| state.second_starts == 1),
            Property::sometimes("a worker delivers", |_, state: &ModelState| state.pushes == 1),
            Property::sometimes("a stale worker is refused", |model: &DispatchModel, state: &ModelState| {
                let stale = |worker: &ModelWorker| match *worker {
                    ModelWorker::Runs { epoch } if epoch < state.forge.epoch() => Some(epoch),
                    _ => None,
                };
                let mut stale = state.workers.iter().filter_map(stale);
                stale.any(|epoch| !model.decisions.may_deliver(&state.forge, epoch, ReportedOutcome::Done))
            }),
            Property::sometimes("a person is asked", |model: &DispatchModel, state: &ModelState| {
                state.second_starts == 1 && model.decisions.next(&state.forge) == ViewDecision::Blocked
            }),
        ]
    }
}

const ONE_START: &str = "at most one first start per cause and change";

impl DispatchModel {
    /// Performs the next call of a dispatcher's pass.
    fn advance_dispatcher(&self, state: &mut ModelState, at: usize) {
        let forge = &state.forge;
        let next = match state.dispatchers[at] {
            DispatcherStage::Idle => {
                state.passes += 1;
                let free = DispatcherStage::HasRead { seen: forge.lease.map_or(0, |lease| lease.epoch) };
                match (self.variant, self.decisions.next(forge)) {
                    (ProtocolVariant::LabelMutex, _) => (!forge.label).then_some(free),
                    (_, ViewDecision::Spawn { .. }) => Some(free),
                    (_, ViewDecision::Blocked | ViewDecision::Wait) => None,
                }
            }
            DispatcherStage::HasRead { .. } if self.variant == ProtocolVariant::LabelMutex => {
                state.forge.label = true;
                Some(DispatcherStage::Printing { epoch: 1, retry: false })
            }
            DispatcherStage::HasRead { seen } => claim(state, seen).map(|epoch| DispatcherStage::Claimed { epoch }),
            DispatcherStage::Claimed { epoch } => match self.decisions.next(&forge.without_own(epoch)) {
                ViewDecision::Spawn { retry } => {
                    if retry
                        && !forge.records.iter().any(|record| record.old && record.outcome.is_none() && !record.retried)
                    {
                        state.violation = Some(Violation::EarlyRetry);
                    }
                    Some(DispatcherStage::Recording { epoch, retry })
                }
                ViewDecision::Wait | ViewDecision::Blocked => {
                    release(&mut state.forge, epoch);
                    None
                }
            },
            DispatcherStage::Recording { epoch, retry } => {
                state.forge.records.push(JobRecord { epoch, outcome: None, retried: retry, old: false });
                Some(match self.variant {
                    ProtocolVariant::WithoutLastRead => DispatcherStage::Printing { epoch, retry },
                    ProtocolVariant::Referee | ProtocolVariant::LabelMutex => {
                        DispatcherStage::Recorded { epoch, retry }
                    }
                })
            }
            DispatcherStage::Recorded { epoch, retry } => {
                let same = self.decisions.next(&forge.without_own(epoch)) == ViewDecision::Spawn { retry };
                let still_mine = same && self.decisions.epoch(forge) == epoch;
                if !still_mine {
                    release(&mut state.forge, epoch);
                }
                still_mine.then_some(DispatcherStage::Printing { epoch, retry })
            }
            DispatcherStage::Printing { epoch, retry } => {
                state.first_starts += u8::from(!retry);
                state.second_starts += u8::from(retry);
                state.workers.push(ModelWorker::Runs { epoch });
                None
            }
        };
        state.dispatchers[at] = next.unwrap_or(DispatcherStage::Idle);
    }

    /// Ends a worker: its result is checked against the current pull.
    fn check_result(&self, state: &mut ModelState, at: usize, reported: ReportedOutcome) {
        let ModelWorker::Runs { epoch } = state.workers[at] else { return };
        if self.variant == ProtocolVariant::LabelMutex {
            state.workers[at] = ModelWorker::Delivers { epoch, reported };
        } else if self.decisions.may_deliver(&state.forge, epoch, reported) {
            if epoch < state.forge.epoch() {
                state.violation = Some(Violation::StaleDelivery);
            }
            state.workers[at] = ModelWorker::Delivers { epoch, reported };
        } else {
            state.workers.remove(at);
            release(&mut state.forge, epoch);
        }
    }

    /// Returns whether the next pass recovers a pull on which nobody is at work.
    fn recovers(&self, state: &ModelState) -> bool {
        let newest = state.forge.records.iter().max_by_key(|record| record.epoch);
        let expected = match newest {
            _ if state.forge.moved => return true,
            None => ViewDecision::Spawn { retry: false },
            Some(JobRecord { outcome: None, retried: false, .. }) => ViewDecision::Spawn { retry: true },
            Some(_) => ViewDecision::Blocked,
        };
        self.decisions.next(&state.forge) == expected
    }
}

/// Acquires the lease if it is free, or if it expired and still has the epoch that was read.
fn claim(state: &mut ModelState, seen: u8) -> Option<u8> {
    let free = state.forge.lease.is_none_or(|lease| !lease.live && lease.epoch == seen);
    free.then(|| {
        state.epoch += 1;
        state.forge.lease = Some(ModelLease { epoch: state.epoch, live: true });
        state.epoch
    })
}

/// Releases the lease if it has that epoch.
fn release(forge: &mut ModelForge, epoch: u8) {
    forge.lease = forge.lease.filter(|lease| lease.epoch != epoch);
}

/// Pushes with a compare-and-set on the head that the worker started from.
fn push(state: &mut ModelState, at: usize) {
    let ModelWorker::Delivers { epoch, reported } = state.workers.remove(at) else { return };
    if reported == ReportedOutcome::Done && !state.forge.moved {
        state.forge.moved = true;
        state.pushes += 1;
    }
    if let Some(record) = state.forge.records.iter_mut().find(|record| record.epoch == epoch) {
        record.outcome = Some(reported);
    }
    release(&mut state.forge, epoch);
}

impl ModelState {
    /// Returns whether nobody is at work, and nobody was for an hour.
    fn is_quiet(&self) -> bool {
        self.workers.is_empty()
            && self.dispatchers.iter().all(|stage| *stage == DispatcherStage::Idle)
            && self.forge.lease.is_none_or(|lease| !lease.live)
            && self.forge.records.iter().all(|record| record.old)
    }
}

impl ModelForge {
    /// Returns the view without the lease and the record of that epoch, which are the dispatcher's own.
    fn without_own(&self, epoch: u8) -> Self {
        let mut seen = self.clone();
        release(&mut seen, epoch);
        seen.records.retain(|record| record.epoch != epoch);
        seen
    }

    fn epoch(&self) -> u8 {
        let records = self.records.iter().map(|record| record.epoch);
        records.chain(self.lease.map(|lease| lease.epoch)).max().unwrap_or(0)
    }
}

/// The decision on a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ViewDecision {
    Spawn { retry: bool },
    Wait,
    Blocked,
}

/// The real decision functions, with their results cached per view.
struct CachedDecisions {
    spawn_cause: SpawnCause,
    kind: JobKind,
    cause: String,
    decided: Mutex<HashMap<ModelForge, ViewDecision>>,
    delivered: Mutex<HashMap<(ModelForge, u8, ReportedOutcome), bool>>,
}

const NOW: i64 = 1_000_000;
const HOUR: i64 = 3_600;

impl CachedDecisions {
    fn new(spawn_cause: SpawnCause) -> Self {
        let (decided, delivered) = Default::default();
        let mut decisions = Self { spawn_cause, kind: JobKind::Findings, cause: String::new(), decided, delivered };
        let Next::Spawn(job) =
            decide(&decisions.snapshot(&ModelForge::default()), &policy(), &PlanScope::Everything).next
        else {
            panic!("{spawn_cause:?} starts no worker")
        };
        (decisions.kind, decisions.cause) = (job.kind, job.cause);
        decisions
    }

    fn next(&self, forge: &ModelForge) -> ViewDecision {
        let mut decided = self.decided.lock().expect("no test thread panicked");
        *decided.entry(forge.clone()).or_insert_with(|| {
            match decide(&self.snapshot(forge), &policy(), &PlanScope::Everything).next {
                Next::Spawn(job) => ViewDecision::Spawn { retry: job.retry },
                Next::Blocked(cause) => {
                    assert_eq!(cause, plan::BlockedCause::NeedsHuman);
                    ViewDecision::Blocked
                }
                Next::Wait(_) | Next::Ready | Next::Idle => ViewDecision::Wait,
            }
        })
    }

    /// Returns the highest epoch on the pull.
    fn epoch(&self, forge: &ModelForge) -> u8 {
        let (snapshot, policy) = (self.snapshot(forge), policy());
        u8::try_from(Facts::new(&snapshot, &policy).highest_epoch()).expect("few epochs")
    }

    /// Returns whether a worker's result may be delivered.
    fn may_deliver(&self, forge: &ModelForge, epoch: u8, reported: ReportedOutcome) -> bool {
        let mut delivered = self.delivered.lock().expect("no test thread panicked");
        *delivered.entry((forge.clone(), epoch, reported)).or_insert_with(|| {
            let mut snapshot = self.snapshot(forge);
            snapshot.evidence.result = Some(WorkResult {
                kind: self.kind,
                epoch: u64::from(epoch),
                started_at: sha('a'),
                outcome: outcome(reported),
                summary: String::new(),
                head: Some(sha('b')),
                patch: Some(PatchId("after".to_owned())),
                files: Vec::new(),
                escapes: Vec::new(),
                audit: Some(CommitAudit { descends: true, ..CommitAudit::default() }),
                clean: None,
                plan: Vec::new(),
                pull: None,
            });
            let plan = decide(&snapshot, &policy(), &PlanScope::Everything);
            let refused = plan.refused.iter().any(|refusal| refusal.why.rule == "deliver");
            assert_eq!(plan.delivery.is_some(), !refused && reported == ReportedOutcome::Done, "{:?}", plan.refused);
            !refused
        })
    }

    /// Builds a snapshot of the pull with these records and this lease.
    fn snapshot(&self, forge: &ModelForge) -> Snapshot {
        let mut snapshot = pull(forge.moved);
        match self.spawn_cause {
            SpawnCause::Person => snapshot.reviews.push(block_by("bob")),
            SpawnCause::Check if forge.moved => snapshot.checks.all = vec![named_check(CheckState::Pending)],
            SpawnCause::Check => snapshot.checks.all = vec![named_check(CheckState::Fail)],
        }
        snapshot.comments = forge.records.iter().enumerate().map(|(at, record)| self.record(at, record)).collect();
        snapshot.lease = forge.lease.map(|lease| Lease {
            by: "a host".to_owned(),
            epoch: u64::from(lease.epoch),
            since: Time(NOW - HOUR / 2),
            until: Time(if lease.live { NOW + HOUR / 2 } else { NOW - 1 }),
        });
        snapshot
    }

    fn record(&self, at: usize, record: &JobRecord) -> Comment {
        let topic = Topic::Job {
            kind: self.kind,
            cause: self.cause.clone(),
            patch: PatchId("before".to_owned()),
            epoch: u64::from(record.epoch),
            outcome: record.outcome.map(outcome),
            retried: record.retried,
        };
        let tag = Tag { kind: TagKind::Topic(topic), head: sha('a') };
        let mut text = Text::default();
        text.reading.tag = Some(Box::new(UnsealedMark { data: tag, trust: Trust::Sealed }));
        let author = Author { login: Some("referee".into()), bot: true, access: Access::Write };
        let at_time = Time(NOW - if record.old { 2 * HOUR } else { 60 });
        Comment { id: CommentId(format!("c{at}")), author, at: at_time, edited: false, text, url: String::new() }
    }
}

fn outcome(reported: ReportedOutcome) -> WorkOutcome {
    match reported {
        ReportedOutcome::Done => WorkOutcome::Done,
        ReportedOutcome::Failed => WorkOutcome::Failed,
    }
}

fn policy() -> Policy {
    let work = DispatchPolicy {
        user: "worker".into(),
        wip: "wip".into(),
        ready: "ready".into(),
        bug: "bug".into(),
        assign: None,
        wip_max_age: Span::from_hours(1),
        review_bots: Vec::new(),
        review_users: BTreeSet::new(),
        workers: BTreeSet::new(),
        max_jobs: 12,
        pulls: PullFilter::All,
    };
    Policy { operator: Some("carol".into()), work: Some(work), ..Policy::default() }
}

fn sha(letter: char) -> Sha {
    Sha(letter.to_string().repeat(40))
}

fn named_check(state: CheckState) -> Check {
    Check { name: "test".to_owned(), state }
}

fn block_by(name: &str) -> Review {
    Review {
        id: ReviewId("r1".to_owned()),
        edit: None,
        author: Author { login: Some(name.into()), bot: false, access: Access::Write },
        row: ReviewKind::Verdict(Verdict::RequestChanges),
        text: Text::default(),
        commit: Some(sha('a')),
        at: Time(NOW - 9 * HOUR),
        counts: ReviewWeight::Yes,
        url: String::new(),
    }
}

fn pull(moved: bool) -> Snapshot {
    let (head, patch) = if moved { (sha('b'), "after") } else { (sha('a'), "before") };
    Snapshot {
        taken_at: Time(NOW),
        viewer: Viewer { login: "referee".into(), holds: BTreeSet::from(["referee".into(), "worker".into()]) },
        capabilities: Capabilities::default(),
        complete: Completeness::Complete,
        pull: Pull {
            forge: "memory".to_owned(),
            repo: RepoId(1),
            repo_name: "acme/api".to_owned(),
            number: PullNumber(7),
            title: "Exchange tokens".to_owned(),
            author: Author { login: Some("alice".into()), bot: false, access: Access::Write },
            state: PullState::Open,
            draft: false,
            head,
            head_since: Time(NOW - 10 * HOUR),
            base: "main".to_owned(),
            base_sha: sha('0'),
            mergeable: Mergeable::Clean,
            pushable: Some(true),
            labels: Vec::new(),
            assignees: Vec::new(),
            requests: Vec::new(),
            opened_at: Time(NOW - 100 * HOUR),
            removed_labels: Vec::new(),
            reopens: Vec::new(),
            pushes: Vec::new(),
            url: String::new(),
        },
        reviews: Vec::new(),
        threads: Vec::new(),
        comments: Vec::new(),
        checks: Checks { all: vec![named_check(CheckState::Pass)], own: Vec::new() },
        changes: Changes { patch: PatchId(patch.to_owned()), ..Changes::default() },
        evidence: Evidence::default(),
        lease: None,
    }
}

fn run_checker(variant: ProtocolVariant, spawn_cause: SpawnCause, bounds: ModelBounds) -> impl Checker<DispatchModel> {
    DispatchModel { bounds, variant, decisions: CachedDecisions::new(spawn_cause) }.checker().spawn_bfs().join()
}

// spec: DSP-14, DSP-16, D8 @core
#[test]
#[expect(clippy::print_stdout, reason = "the number of states is part of the proof")]
fn one_cause_starts_one_worker_and_one_retry_despite_crashes() {
    let two = ModelBounds { dispatchers: 2, passes: 4, crashes: 1, expiries: 1, hours: 2 };
    let late = ModelBounds { crashes: 0, expiries: 0, hours: 3, ..two };
    let three = ModelBounds { dispatchers: 3, passes: 3, crashes: 0, expiries: 1, hours: 2 };
    let mut all = vec![two, late, three];
    if std::env::var("REFEREE_SCALE").is_ok_and(|scale| scale == "10") {
        let more = ModelBounds { passes: 5, crashes: 1, hours: 3, ..two };
        all.extend([more, ModelBounds { dispatchers: 3, passes: 4, hours: 2, ..more }]);
    }
    for bounds in all {
        for spawn_cause in [SpawnCause::Person, SpawnCause::Check] {
            let checker = run_checker(ProtocolVariant::Referee, spawn_cause, bounds);
            println!("{spawn_cause:?}, {bounds:?}: {} states", checker.unique_state_count());
            checker.assert_properties();
        }
    }
}

#[test]
fn a_label_as_mutex_fails_the_same_check() {
    let bounds = ModelBounds { dispatchers: 2, passes: 2, crashes: 0, expiries: 0, hours: 0 };
    let checker = run_checker(ProtocolVariant::LabelMutex, SpawnCause::Check, bounds);
    assert!(checker.discovery(ONE_START).is_some(), "the check must be able to fail");
}

#[test]
fn skipping_the_last_read_fails_the_same_check() {
    let bounds = ModelBounds { dispatchers: 2, passes: 2, crashes: 0, expiries: 1, hours: 0 };
    let checker = run_checker(ProtocolVariant::WithoutLastRead, SpawnCause::Check, bounds);
    assert!(checker.discovery(ONE_START).is_some(), "the check must be able to fail");
}
