//! What deciding costs on a busy pull: nothing to do, a report to publish, and making the snapshot, beside the time
//! that reading the same snapshot from JSON takes.
//!
//! `cargo bench -p referee-testkit --bench decide`
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

#[path = "decide/pull.rs"]
mod pull;
#[path = "support/random.rs"]
mod random;
#[path = "decide/recorded.rs"]
mod recorded;
#[path = "decide/words.rs"]
mod words;

use std::hint::black_box;
use std::time::{Duration, Instant};

use pull::Stage;
use recorded::Recorded;
use referee_core::decide::decide;
use referee_core::model::Snapshot;
use referee_core::plan::{Action, Plan};
use referee_core::policy::Policy;
use referee_turn::{Inbox, gather_snapshot};

const REPETITIONS: usize = 301;

fn main() {
    let stage = Stage::set();
    let policy = &stage.policy;
    // As many threads as findings: nothing is spared by the default of `max_inline`.
    let wide = Policy { max_inline: pull::FINDINGS, ..policy.clone() };
    let (quiet, fresh) = (&stage.quiet, &stage.fresh);
    let json = serde_json::to_vec(fresh).expect("a snapshot can be written");
    check(quiet, fresh, policy, &wide);
    let nothing = Inbox::default();
    let source = Recorded::of(&stage.world);

    // By itself, as a sweep over unchanged pulls does it; and below, between jobs that empty the caches.
    let mut steadily = Job::new("decide, quiet, one after the other", 200);
    for _ in 0..REPETITIONS {
        steadily.time(|| (), |()| decide(black_box(quiet), policy));
    }
    let mut quietly = Job::new("decide, quiet, between the others", 20);
    let mut by_default = Job::new("decide, 40 findings, 15 threads", 1);
    let mut widely = Job::new("decide, 40 findings, 40 threads", 1);
    let mut parse = Job::new("parse that snapshot from JSON", 1);
    let mut gathering = Job::new("gather, quiet", 1);
    let mut gathering_report = Job::new("gather, 40 findings", 1);
    let read = |fetched, inbox| gather_snapshot(fetched, &source, inbox, policy, &stage.keys).expect("a snapshot");
    for _ in 0..REPETITIONS {
        quietly.time(|| (), |()| decide(black_box(quiet), policy));
        by_default.time(|| (), |()| decide(black_box(fresh), policy));
        widely.time(|| (), |()| decide(black_box(fresh), &wide));
        parse.time(|| (), |()| serde_json::from_slice::<Snapshot>(black_box(&json)).expect("a snapshot"));
        gathering.time(|| stage.fetched_quiet.clone(), |fetched| read(fetched, &nothing));
        gathering_report.time(|| stage.fetched.clone(), |fetched| read(fetched, &stage.inbox));
    }

    println!("{}; as JSON {} kB\n", pull::size(fresh), json.len() / 1000);
    println!("| | median of {REPETITIONS} | a second and core | beside parsing |\n|---|---:|---:|---:|");
    let base = parse.median();
    for job in
        [&mut steadily, &mut quietly, &mut by_default, &mut widely, &mut parse, &mut gathering, &mut gathering_report]
    {
        let took = job.median();
        let name = job.name;
        println!("| {name} | {:.1} µs | {:.0} | {:.1} % |", took * 1e6, 1.0 / took, 100.0 * took / base);
    }
}

/// Something that is timed: so many calls at once, dropping what they give included.
struct Job {
    name: &'static str,
    calls: u32,
    times: Vec<Duration>,
}

impl Job {
    fn new(name: &'static str, calls: u32) -> Self {
        Self { name, calls, times: Vec::new() }
    }

    fn time<I, T>(&mut self, prepare: impl Fn() -> I, run: impl Fn(I) -> T) {
        let inputs: Vec<I> = (0..self.calls).map(|_| prepare()).collect();
        let start = Instant::now();
        for input in inputs {
            black_box(run(input));
        }
        self.times.push(start.elapsed() / self.calls);
    }

    /// In seconds.
    fn median(&mut self) -> f64 {
        self.times.sort_unstable();
        self.times[self.times.len() / 2].as_secs_f64()
    }
}

/// What is timed is what it is said to be.
fn check(quiet: &Snapshot, fresh: &Snapshot, policy: &Policy, wide: &Policy) {
    let plan = decide(quiet, policy);
    assert!(plan.steps.is_empty(), "not quiet: {:?}", plan.steps);
    for (policy, inline) in [(policy, policy.max_inline), (wide, pull::FINDINGS)] {
        let plan = decide(fresh, policy);
        let new = plan.findings.iter().filter(|it| it.state == referee_core::model::FindingState::New).count();
        assert_eq!((new, threads(&plan)), (pull::FINDINGS, inline), "findings and threads to publish");
    }
}

fn threads(plan: &Plan) -> usize {
    let of = |action: &Action| match action {
        Action::PostReview { threads, .. } | Action::OpenThreads { threads, .. } => threads.len(),
        _ => 0,
    };
    plan.steps.iter().map(|step| of(&step.action)).sum()
}
