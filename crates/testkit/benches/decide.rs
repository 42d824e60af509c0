//! The cost of deciding on a busy pull (nothing to do, a report to publish) and of gathering the snapshot, compared with
//! parsing the same snapshot from JSON.
//!
//! `cargo bench -p referee-testkit --bench decide`
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

#[path = "decide/pull.rs"]
mod pull;
#[path = "support/random.rs"]
mod random;
#[path = "decide/recorded.rs"]
mod recorded;
#[path = "decide/texts.rs"]
mod texts;

use std::hint::black_box;
use std::time::{Duration, Instant};

use pull::BenchPull;
use recorded::RecordedSource;
use referee_core::decide::{PlanScope, decide};
use referee_core::model::Snapshot;
use referee_core::plan::{Action, Plan};
use referee_core::policy::Policy;
use referee_turn::{Inbox, gather_snapshot};

const REPETITIONS: usize = 301;

fn main() {
    let bench = BenchPull::prepare();
    let policy = &bench.policy;
    // `max_inline` equal to the number of findings, so that every finding gets a thread.
    let wide = Policy { max_inline: pull::FINDINGS, ..policy.clone() };
    let (quiet, fresh) = (&bench.quiet, &bench.fresh);
    let json = serde_json::to_vec(fresh).expect("serialise the snapshot");
    check_plans(quiet, fresh, policy, &wide);
    let empty_inbox = Inbox::default();
    let source = RecordedSource::new(&bench.world);

    // Timed alone, as in a sweep over unchanged pulls; below, interleaved with jobs that evict the caches.
    let mut quiet_alone = TimedJob::new("decide, quiet, in sequence", 200);
    for _ in 0..REPETITIONS {
        quiet_alone.time(|| (), |()| decide(black_box(quiet), policy, &PlanScope::Everything));
    }
    let mut quiet_interleaved = TimedJob::new("decide, quiet, interleaved", 20);
    let mut default_limit = TimedJob::new("decide, 40 findings, 15 threads", 1);
    let mut all_inline = TimedJob::new("decide, 40 findings, 40 threads", 1);
    let mut parse = TimedJob::new("parse that snapshot from JSON", 1);
    let mut gather_quiet = TimedJob::new("gather, quiet", 1);
    let mut gather_report = TimedJob::new("gather, 40 findings", 1);
    let read = |fetched, inbox| gather_snapshot(fetched, &source, inbox, policy, &bench.keys).expect("a snapshot");
    for _ in 0..REPETITIONS {
        quiet_interleaved.time(|| (), |()| decide(black_box(quiet), policy, &PlanScope::Everything));
        default_limit.time(|| (), |()| decide(black_box(fresh), policy, &PlanScope::Everything));
        all_inline.time(|| (), |()| decide(black_box(fresh), &wide, &PlanScope::Everything));
        parse.time(|| (), |()| serde_json::from_slice::<Snapshot>(black_box(&json)).expect("a snapshot"));
        gather_quiet.time(|| bench.fetched_quiet.clone(), |fetched| read(fetched, &empty_inbox));
        gather_report.time(|| bench.fetched.clone(), |fetched| read(fetched, &bench.inbox));
    }

    println!("{}; as JSON {} kB\n", pull::size(fresh), json.len() / 1000);
    println!("| | median of {REPETITIONS} | per second and core | relative to parsing |\n|---|---:|---:|---:|");
    let base = parse.median();
    for job in [
        &mut quiet_alone,
        &mut quiet_interleaved,
        &mut default_limit,
        &mut all_inline,
        &mut parse,
        &mut gather_quiet,
        &mut gather_report,
    ] {
        let seconds = job.median();
        let name = job.name;
        println!("| {name} | {:.1} µs | {:.0} | {:.1} % |", seconds * 1e6, 1.0 / seconds, 100.0 * seconds / base);
    }
}

/// A timed job: `calls` calls per sample, including dropping their results.
struct TimedJob {
    name: &'static str,
    calls: u32,
    times: Vec<Duration>,
}

impl TimedJob {
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

    /// Returns the median in seconds.
    fn median(&mut self) -> f64 {
        self.times.sort_unstable();
        self.times[self.times.len() / 2].as_secs_f64()
    }
}

/// Checks that the timed plans have the expected contents.
fn check_plans(quiet: &Snapshot, fresh: &Snapshot, policy: &Policy, wide: &Policy) {
    let plan = decide(quiet, policy, &PlanScope::Everything);
    assert!(plan.steps.is_empty(), "the quiet pull has steps: {:?}", plan.steps);
    for (policy, inline) in [(policy, policy.max_inline), (wide, pull::FINDINGS)] {
        let plan = decide(fresh, policy, &PlanScope::Everything);
        let new = plan.findings.iter().filter(|line| line.state == referee_core::model::FindingState::New).count();
        assert_eq!((new, count_threads(&plan)), (pull::FINDINGS, inline), "findings and threads to publish");
    }
}

fn count_threads(plan: &Plan) -> usize {
    let threads_in = |action: &Action| match action {
        Action::PostReview { threads, .. } | Action::OpenThreads { threads, .. } => threads.len(),
        _ => 0,
    };
    plan.steps.iter().map(|step| threads_in(&step.action)).sum()
}
