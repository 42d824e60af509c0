//! Lease and dispatch, checked exhaustively: two or three dispatchers on one pull and one cause, with a crash at any call,
//! a lease that runs out at any moment, and workers that die, fail, outlive their lease or deliver (DSP-14, DSP-16, D8).
//!
//! A dispatcher goes: look, claim (a compare-and-set on the epoch it saw), look again, record the job on the pull, look
//! once more, print. Whether a view allows a start, and whether a result may be delivered, is asked of the decision core.
//! The last look must answer as the one before it, the own lease and record left out, and know no higher epoch: the
//! lease alone cannot tell, since whoever took it over may have given it back.
//!
//! Two twins must fail: the source documents' order (read the label, add the label, start), and the same protocol without
//! the last look: a claim that ran out unnoticed is only seen there.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use referee_core::decide::decide;
use referee_core::facts::Facts;
use referee_core::mark::{Tag, TagKind, Topic, Trust, UnsealedMark};
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::*;
use referee_core::plan::{self, JobKind, Next};
use referee_core::policy::{DispatchPolicy, Policy, PullFilter};
use referee_core::track::PatchId;
use stateright::{Checker, Model, Property};

/// A job's record on the pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Record {
    epoch: u8,
    outcome: Option<Word>,
    retried: bool,
    /// More than an hour ago.
    old: bool,
}

/// How a worker ended, by its own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Word {
    Done,
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Held {
    epoch: u8,
    live: bool,
}

/// What anybody can read on the forge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Forge {
    records: Vec<Record>,
    lease: Option<Held>,
    /// A worker's commit is the head now.
    moved: bool,
    /// The source documents' mutex.
    label: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Stage {
    Idle,
    /// May start, as far as it saw; this was the lease's epoch then.
    Looked {
        seen: u8,
    },
    /// Holds the lease, as far as it knows.
    Claimed {
        epoch: u8,
    },
    Recording {
        epoch: u8,
        retry: bool,
    },
    /// Recorded, and about to look once more.
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
enum Worker {
    Runs {
        epoch: u8,
    },
    /// Its result was let through; the push comes now.
    Delivers {
        epoch: u8,
        word: Word,
    },
}

/// Dispatchers are alike, and so are workers: both are kept sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    forge: Forge,
    dispatchers: Vec<Stage>,
    workers: Vec<Worker>,
    /// The last epoch that any claim got.
    epoch: u8,
    first_starts: u8,
    second_starts: u8,
    pushes: u8,
    /// Something happened that no later state can undo.
    wrong: Option<Wrong>,
    passes: u8,
    crashes: u8,
    expiries: u8,
    hours: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wrong {
    StaleDelivery,
    EarlyRetry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Go(usize),
    Crash(usize),
    /// The lease runs out, whoever is at work.
    Expire,
    /// An hour passes: what is recorded is old, and no lease lives.
    Hour,
    Check(usize, Word),
    Push(usize),
    Die(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Referee,
    /// Prints right after recording.
    WithoutLastLook,
    /// Read the label, add the label, start: no lease, no record.
    Sources,
}

/// What somebody else has to be kept from: the cause that the worker answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// A person asks for changes: one cause whatever the head.
    Person,
    /// A check failed: one cause per change.
    Check,
}

/// How much may happen.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    dispatchers: usize,
    /// Of all dispatchers together.
    passes: u8,
    crashes: u8,
    expiries: u8,
    hours: u8,
}

struct Dispatch {
    bounds: Bounds,
    order: Order,
    core: Core,
}

impl Model for Dispatch {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            forge: Forge::default(),
            dispatchers: vec![Stage::Idle; self.bounds.dispatchers],
            workers: Vec::new(),
            epoch: 0,
            first_starts: 0,
            second_starts: 0,
            pushes: 0,
            wrong: None,
            passes: 0,
            crashes: 0,
            expiries: 0,
            hours: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        for (at, stage) in state.dispatchers.iter().enumerate() {
            let idle = *stage == Stage::Idle;
            let alike = 0 < at && state.dispatchers[at - 1] == *stage;
            if !alike && (!idle || state.passes < self.bounds.passes) {
                actions.push(Step::Go(at));
            }
            if !alike && !idle && state.crashes < self.bounds.crashes {
                actions.push(Step::Crash(at));
            }
        }
        for (at, worker) in state.workers.iter().enumerate() {
            match worker {
                Worker::Runs { .. } => {
                    actions.extend([Step::Check(at, Word::Done), Step::Check(at, Word::Failed), Step::Die(at)]);
                }
                Worker::Delivers { .. } => actions.push(Step::Push(at)),
            }
        }
        if state.forge.lease.is_some_and(|lease| lease.live) && state.expiries < self.bounds.expiries {
            actions.push(Step::Expire);
        }
        if state.hours < self.bounds.hours {
            actions.push(Step::Hour);
        }
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut state = last.clone();
        match step {
            Step::Go(at) => self.go(&mut state, at),
            // Its lease runs out by itself, and it comes back with its next pass.
            Step::Crash(at) => {
                state.crashes += 1;
                state.dispatchers[at] = Stage::Idle;
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
            Step::Check(at, word) => self.check(&mut state, at, word),
            Step::Push(at) => push(&mut state, at),
            Step::Die(at) => drop(state.workers.remove(at)),
        }
        state.dispatchers.sort_unstable();
        state.workers.sort_unstable();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONE_START, |_, state: &State| state.first_starts <= 1),
            Property::always("one retry, after an hour without an outcome", |_, state: &State| {
                state.second_starts <= 1 && state.wrong != Some(Wrong::EarlyRetry)
            }),
            Property::always("a stale epoch delivers nothing", |_, state: &State| {
                state.wrong != Some(Wrong::StaleDelivery)
            }),
            Property::always("one push for one cause", |_, state: &State| state.pushes <= 1),
            Property::always(
                "nothing is lost: an hour later the next pass retries or asks a person",
                |model: &Dispatch, state: &State| {
                    !state.is_quiet() || model.order == Order::Sources || model.heals(state)
                },
            ),
            Property::sometimes("a worker is started", |_, state: &State| state.first_starts == 1),
            Property::sometimes("a worker is started again", |_, state: &State| state.second_starts == 1),
            Property::sometimes("a worker delivers", |_, state: &State| state.pushes == 1),
            Property::sometimes("a stale worker is refused", |model: &Dispatch, state: &State| {
                let stale = |worker: &Worker| match *worker {
                    Worker::Runs { epoch } if epoch < state.forge.epoch() => Some(epoch),
                    _ => None,
                };
                let mut stale = state.workers.iter().filter_map(stale);
                stale.any(|epoch| !model.core.delivers(&state.forge, epoch, Word::Done))
            }),
            Property::sometimes("a person is asked", |model: &Dispatch, state: &State| {
                state.second_starts == 1 && model.core.next(&state.forge) == Answer::Blocked
            }),
        ]
    }
}

const ONE_START: &str = "never two first starts for one cause and change";

impl Dispatch {
    /// The next call of a dispatcher's pass.
    fn go(&self, state: &mut State, at: usize) {
        let forge = &state.forge;
        let next = match state.dispatchers[at] {
            Stage::Idle => {
                state.passes += 1;
                let free = Stage::Looked { seen: forge.lease.map_or(0, |lease| lease.epoch) };
                match (self.order, self.core.next(forge)) {
                    (Order::Sources, _) => (!forge.label).then_some(free),
                    (_, Answer::Spawn { .. }) => Some(free),
                    (_, Answer::Blocked | Answer::Wait) => None,
                }
            }
            Stage::Looked { .. } if self.order == Order::Sources => {
                state.forge.label = true;
                Some(Stage::Printing { epoch: 1, retry: false })
            }
            Stage::Looked { seen } => claim(state, seen).map(|epoch| Stage::Claimed { epoch }),
            Stage::Claimed { epoch } => match self.core.next(&forge.without(epoch)) {
                Answer::Spawn { retry } => {
                    if retry && !forge.records.iter().any(|it| it.old && it.outcome.is_none() && !it.retried) {
                        state.wrong = Some(Wrong::EarlyRetry);
                    }
                    Some(Stage::Recording { epoch, retry })
                }
                Answer::Wait | Answer::Blocked => {
                    release(&mut state.forge, epoch);
                    None
                }
            },
            Stage::Recording { epoch, retry } => {
                state.forge.records.push(Record { epoch, outcome: None, retried: retry, old: false });
                Some(match self.order {
                    Order::WithoutLastLook => Stage::Printing { epoch, retry },
                    Order::Referee | Order::Sources => Stage::Recorded { epoch, retry },
                })
            }
            Stage::Recorded { epoch, retry } => {
                let same = self.core.next(&forge.without(epoch)) == Answer::Spawn { retry };
                let mine = same && self.core.epoch(forge) == epoch;
                if !mine {
                    release(&mut state.forge, epoch);
                }
                mine.then_some(Stage::Printing { epoch, retry })
            }
            Stage::Printing { epoch, retry } => {
                state.first_starts += u8::from(!retry);
                state.second_starts += u8::from(retry);
                state.workers.push(Worker::Runs { epoch });
                None
            }
        };
        state.dispatchers[at] = next.unwrap_or(Stage::Idle);
    }

    /// A worker ends: its result meets the pull as it is now.
    fn check(&self, state: &mut State, at: usize, word: Word) {
        let Worker::Runs { epoch } = state.workers[at] else { return };
        if self.order == Order::Sources {
            state.workers[at] = Worker::Delivers { epoch, word };
        } else if self.core.delivers(&state.forge, epoch, word) {
            if epoch < state.forge.epoch() {
                state.wrong = Some(Wrong::StaleDelivery);
            }
            state.workers[at] = Worker::Delivers { epoch, word };
        } else {
            state.workers.remove(at);
            release(&mut state.forge, epoch);
        }
    }

    /// What the next pass does about a pull on which nobody is at work.
    fn heals(&self, state: &State) -> bool {
        let newest = state.forge.records.iter().max_by_key(|record| record.epoch);
        let expected = match newest {
            _ if state.forge.moved => return true,
            None => Answer::Spawn { retry: false },
            Some(Record { outcome: None, retried: false, .. }) => Answer::Spawn { retry: true },
            Some(_) => Answer::Blocked,
        };
        self.core.next(&state.forge) == expected
    }
}

/// Takes the lease if nobody holds it, or over if it ran out and is still the one that was seen.
fn claim(state: &mut State, seen: u8) -> Option<u8> {
    let free = state.forge.lease.is_none_or(|lease| !lease.live && lease.epoch == seen);
    free.then(|| {
        state.epoch += 1;
        state.forge.lease = Some(Held { epoch: state.epoch, live: true });
        state.epoch
    })
}

/// A lease of another epoch is not given back.
fn release(forge: &mut Forge, epoch: u8) {
    forge.lease = forge.lease.filter(|lease| lease.epoch != epoch);
}

/// A push is a compare-and-set on the head that the worker started from.
fn push(state: &mut State, at: usize) {
    let Worker::Delivers { epoch, word } = state.workers.remove(at) else { return };
    if word == Word::Done && !state.forge.moved {
        state.forge.moved = true;
        state.pushes += 1;
    }
    if let Some(record) = state.forge.records.iter_mut().find(|record| record.epoch == epoch) {
        record.outcome = Some(word);
    }
    release(&mut state.forge, epoch);
}

impl State {
    /// Nobody is at work, and has not been for an hour.
    fn is_quiet(&self) -> bool {
        self.workers.is_empty()
            && self.dispatchers.iter().all(|stage| *stage == Stage::Idle)
            && self.forge.lease.is_none_or(|lease| !lease.live)
            && self.forge.records.iter().all(|record| record.old)
    }
}

impl Forge {
    /// As the holder of that lease sees it: its own lease and its own record are nobody else's work.
    fn without(&self, epoch: u8) -> Self {
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

/// What the decision core says of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Spawn { retry: bool },
    Wait,
    Blocked,
}

/// The decision core, asked once for each view.
struct Core {
    why: Why,
    kind: JobKind,
    cause: String,
    asked: Mutex<HashMap<Forge, Answer>>,
    delivered: Mutex<HashMap<(Forge, u8, Word), bool>>,
}

const NOW: i64 = 1_000_000;
const HOUR: i64 = 3_600;

impl Core {
    fn new(why: Why) -> Self {
        let (asked, delivered) = Default::default();
        let mut core = Self { why, kind: JobKind::Findings, cause: String::new(), asked, delivered };
        let Next::Spawn(job) = decide(&core.snapshot(&Forge::default()), &policy()).next else {
            panic!("{why:?} starts nobody")
        };
        (core.kind, core.cause) = (job.kind, job.cause);
        core
    }

    fn next(&self, forge: &Forge) -> Answer {
        let mut asked = self.asked.lock().expect("no test thread panicked");
        *asked.entry(forge.clone()).or_insert_with(|| match decide(&self.snapshot(forge), &policy()).next {
            Next::Spawn(job) => Answer::Spawn { retry: job.retry },
            Next::Blocked(cause) => {
                assert_eq!(cause, plan::BlockedCause::NeedsHuman);
                Answer::Blocked
            }
            Next::Wait(_) | Next::Review(_) | Next::Ready | Next::Idle => Answer::Wait,
        })
    }

    /// The highest epoch that the pull remembers.
    fn epoch(&self, forge: &Forge) -> u8 {
        let (snapshot, policy) = (self.snapshot(forge), policy());
        u8::try_from(Facts::new(&snapshot, &policy).highest_epoch()).expect("few epochs")
    }

    /// Whether a worker's result is taken.
    fn delivers(&self, forge: &Forge, epoch: u8, word: Word) -> bool {
        let mut delivered = self.delivered.lock().expect("no test thread panicked");
        *delivered.entry((forge.clone(), epoch, word)).or_insert_with(|| {
            let mut snapshot = self.snapshot(forge);
            snapshot.evidence.result = Some(WorkResult {
                kind: self.kind,
                epoch: u64::from(epoch),
                started_at: sha('a'),
                outcome: outcome(word),
                summary: String::new(),
                head: Some(sha('b')),
                patch: Some(PatchId("after".to_owned())),
                files: Vec::new(),
                escapes: Vec::new(),
                clean: None,
                plan: Vec::new(),
                pull: None,
            });
            let plan = decide(&snapshot, &policy());
            let refused = plan.refused.iter().any(|refusal| refusal.why.rule == "deliver");
            assert_eq!(plan.delivery.is_some(), !refused && word == Word::Done, "{:?}", plan.refused);
            !refused
        })
    }

    /// The pull with these records and this lease on it.
    fn snapshot(&self, forge: &Forge) -> Snapshot {
        let mut snapshot = pull(forge.moved);
        match self.why {
            Why::Person => snapshot.reviews.push(block_of("bob")),
            Why::Check if forge.moved => snapshot.checks.all = vec![check(CheckState::Pending)],
            Why::Check => snapshot.checks.all = vec![check(CheckState::Fail)],
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

    fn record(&self, at: usize, record: &Record) -> Comment {
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

fn outcome(word: Word) -> WorkOutcome {
    match word {
        Word::Done => WorkOutcome::Done,
        Word::Failed => WorkOutcome::Failed,
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

fn check(state: CheckState) -> Check {
    Check { name: "test".to_owned(), state }
}

fn block_of(name: &str) -> Review {
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
            reopens: Vec::new(),
            pushes: Vec::new(),
            url: String::new(),
        },
        reviews: Vec::new(),
        threads: Vec::new(),
        comments: Vec::new(),
        checks: Checks { all: vec![check(CheckState::Pass)], own: Vec::new() },
        changes: Changes { patch: PatchId(patch.to_owned()), ..Changes::default() },
        evidence: Evidence::default(),
        lease: None,
    }
}

fn checked(order: Order, why: Why, bounds: Bounds) -> impl Checker<Dispatch> {
    Dispatch { bounds, order, core: Core::new(why) }.checker().spawn_bfs().join()
}

// spec: DSP-14, DSP-16, D8 @core
#[test]
#[expect(clippy::print_stdout, reason = "the number of states is part of the proof")]
fn one_cause_starts_one_worker_and_one_retry_whoever_crashes() {
    let two = Bounds { dispatchers: 2, passes: 4, crashes: 1, expiries: 1, hours: 2 };
    let late = Bounds { crashes: 0, expiries: 0, hours: 3, ..two };
    let three = Bounds { dispatchers: 3, passes: 3, crashes: 0, expiries: 1, hours: 2 };
    let mut all = vec![two, late, three];
    if std::env::var("REFEREE_SCALE").is_ok_and(|scale| scale == "10") {
        let more = Bounds { passes: 5, crashes: 1, hours: 3, ..two };
        all.extend([more, Bounds { dispatchers: 3, passes: 4, hours: 2, ..more }]);
    }
    for bounds in all {
        for why in [Why::Person, Why::Check] {
            let checked = checked(Order::Referee, why, bounds);
            println!("{why:?}, {bounds:?}: {} states", checked.unique_state_count());
            checked.assert_properties();
        }
    }
}

#[test]
fn the_sources_own_order_fails_the_same_check() {
    let bounds = Bounds { dispatchers: 2, passes: 2, crashes: 0, expiries: 0, hours: 0 };
    let checked = checked(Order::Sources, Why::Check, bounds);
    assert!(checked.discovery(ONE_START).is_some(), "the check must be able to fail");
}

#[test]
fn a_record_that_is_not_looked_at_again_fails_the_same_check() {
    let bounds = Bounds { dispatchers: 2, passes: 2, crashes: 0, expiries: 1, hours: 0 };
    let checked = checked(Order::WithoutLastLook, Why::Check, bounds);
    assert!(checked.discovery(ONE_START).is_some(), "the check must be able to fail");
}
