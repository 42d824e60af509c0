//! The cost of reading and tracking a large change, compared with the `git diff` that it comes from.
//!
//! `cargo bench -p referee-testkit --bench track`
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

#[path = "track/change.rs"]
mod change;
#[path = "support/random.rs"]
mod random;
#[path = "support/repo.rs"]
mod repo;
#[path = "track/work.rs"]
mod work;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use change::Change;
use referee_core::model::Sha;
use referee_git::Git;
use repo::Repo;
use work::{BlobTexts, work};

const FILES: usize = 3_000;
const FINDINGS: usize = 600;
const REPETITIONS: usize = 9;

/// Set for a child process that does the work once and prints its peak memory.
const CHILD_VARIABLE: &str = "REFEREE_BENCH_CHILD";

fn main() {
    if let Ok(job) = std::env::var(CHILD_VARIABLE) {
        return run_child(&job);
    }
    measure_time();
    measure_memory();
}

fn measure_time() {
    let (change, repo, old, new) = prepare(FILES);
    let git = Git::from_dir(&repo.dir);
    let mut figures: [(&str, Vec<Duration>); 5] = [
        ("`git diff -M` to /dev/null", Vec::new()),
        ("parse the diff, patch-id, track, validate anchors", Vec::new()),
        ("… of which parsing the diff", Vec::new()),
        ("the diff with referee's git options", Vec::new()),
        ("texts of the changed files from git", Vec::new()),
    ];
    let mut summary = String::new();
    for _ in 0..REPETITIONS {
        figures[0].1.push(time_call(|| plain_diff(&repo, &old, &new)).0);
        let (elapsed, diff) = time_call(|| git.diff(&old, &new).expect("git diff"));
        figures[3].1.push(elapsed);
        let (elapsed, texts) = time_call(|| BlobTexts::read(&git, &diff));
        figures[4].1.push(elapsed);
        let (elapsed, result) = time_call(|| work(&diff, &texts, &change.findings));
        figures[1].1.push(elapsed);
        figures[2].1.push(result.reading);
        summary = result.summary;
    }
    println!("{} files, {} changed lines, {} findings: {summary}\n", FILES, change.lines, change.findings.len());
    println!("| | median of {REPETITIONS} | relative to `git diff` |\n|---|---:|---:|");
    let base = median(&mut figures[0].1).as_secs_f64();
    for (name, times) in &mut figures {
        let elapsed = median(times).as_secs_f64();
        println!("| {name} | {:.0} ms | {:.2} × |", elapsed * 1e3, elapsed / base);
    }
}

/// Measures the peak memory of the same work in child processes, at a quarter, half and the full size.
fn measure_memory() {
    println!("\n| files | findings | peak memory |\n|---:|---:|---:|");
    for part in [4, 2, 1] {
        let files = FILES / part;
        let (change, repo, old, new) = prepare(files);
        let job = format!("{} {} {} {files}", repo.dir.display(), old.as_str(), new.as_str());
        let executable = std::env::current_exe().expect("the path of this program");
        let output = Command::new(executable)
            .env(CHILD_VARIABLE, job)
            .stdout(Stdio::piped())
            .output()
            .expect("run the child process");
        let peak = String::from_utf8_lossy(&output.stdout);
        println!("| {files} | {} | {} |", change.findings.len(), peak.trim());
    }
}

fn run_child(job: &str) {
    let fields: Vec<&str> = job.split(' ').collect();
    let [dir, old, new, files] = fields[..] else { panic!("a job has four fields") };
    let change = Change::findings_only(files.parse().expect("a number"), FINDINGS);
    let git = Git::from_dir(dir);
    let diff = git.diff(&Sha::from(old), &Sha::from(new)).expect("git diff");
    let texts = BlobTexts::read(&git, &diff);
    work(&diff, &texts, &change.findings);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("not known here");
    println!("{}", peak.trim());
}

fn prepare(files: usize) -> (Change, Repo, Sha, Sha) {
    let change = Change::new(files, FINDINGS);
    let repo = Repo::new(&format!("track-{files}"));
    let commits = repo.commits([&change.old, &change.new].into_iter());
    let [old, new] = commits.try_into().expect("two commits");
    (change, repo, old, new)
}

fn plain_diff(repo: &Repo, old: &Sha, new: &Sha) {
    let mut command = repo.git(&["diff", "-M", old.as_str(), new.as_str()]);
    assert!(command.stdout(Stdio::null()).status().expect("run git").success());
}

fn time_call<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
