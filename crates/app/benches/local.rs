//! The command line against what a user has anyway, as ratios of one run.
//!
//! ```text
//! cargo bench -p referee --bench local
//! ```

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Files of the large change, and lines that it adds to each.
const FILES: usize = 3_000;
const LINES: usize = 50;
/// Local pulls of the status table.
const PULLS: usize = 1_000;
/// Quiet turns.
const QUIET: usize = 100;

fn main() {
    let mut table = "| | time | relative to | ratio |\n|---|---:|---|---:|\n".to_owned();
    start(&mut table);
    large_change("txt", "without language rules", &mut table);
    large_change("py", "with language rules", &mut table);
    many_pulls(&mut table);
    say(&table);
    say(&quiet_turns());
}

fn start(table: &mut String) {
    let repo = Repo::new();
    let git = median(41, || repo.run("git", &["--version"]));
    let referee = median(41, || repo.referee(&["--version"]));
    row(table, "`referee --version`", referee, "`git --version`", git);
}

fn large_change(extension: &str, what: &str, table: &mut String) {
    let repo = Repo::new();
    for file in 0..FILES {
        repo.write(&format!("src/f{file}.{extension}"), &text(file, 10));
    }
    repo.commit("Before");
    repo.run("git", &["switch", "--quiet", "--create", "topic"]);
    for file in 0..FILES {
        repo.write(&format!("src/f{file}.{extension}"), &text(file, 10 + LINES));
    }
    repo.commit("After");
    let git = median(5, || repo.run("git", &["diff", "-M", "main", "topic"]));
    let dry = median(3, || repo.referee(&["review", "--dry-run", "--quiet"]));
    row(table, &format!("`review --dry-run`, {FILES} files, {what}"), dry, "`git diff -M`", git);
    let first = median(1, || repo.referee(&["review", "--quiet"]));
    row(table, "first `review` of it", first, "`git diff -M`", git);
    let second = median(3, || repo.referee(&["review", "--quiet"]));
    row(table, "second `review`, nothing to write", second, "`git diff -M`", git);
    if let Some(kilobytes) = repo.peak(&["review", "--dry-run", "--quiet"]) {
        let _ = writeln!(table, "| peak memory of it | {} MB | | |", kilobytes / 1024);
    }
}

fn many_pulls(table: &mut String) {
    let repo = Repo::new();
    repo.write("a.txt", "one\n");
    repo.commit("Before");
    for pull in 0..PULLS {
        repo.run("git", &["branch", &format!("topic-{pull}"), "main"]);
    }
    repo.run("git", &["switch", "--quiet", "--create", "topic"]);
    repo.write("a.txt", "one\ntwo\n");
    repo.commit("After");
    for pull in 0..PULLS {
        repo.run("git", &["branch", "--force", &format!("topic-{pull}"), "topic"]);
        repo.referee(&["local", "open", &format!("main..topic-{pull}"), "--quiet"]);
    }
    repo.referee(&["review", "L1", "--quiet"]);
    let one = median(5, || repo.referee(&["explain", "L1"]));
    let all = median(5, || repo.referee(&["status"]));
    row(table, &format!("`status` of {PULLS} pulls"), all, "`explain` of one", one);
}

fn quiet_turns() -> String {
    let repo = Repo::new();
    repo.run("git", &["switch", "--quiet", "--create", "topic"]);
    repo.write("a.py", "print(1)\n");
    repo.commit("After");
    repo.referee(&["review", "--quiet"]);
    repo.referee(&["review", "--quiet"]);
    let before = repo.journal();
    for _ in 0..QUIET {
        repo.referee(&["review", "--quiet"]);
    }
    format!("{QUIET} quiet turns: the journal had {before} bytes, it has {}\n", repo.journal())
}

/// Plain lines, no two files alike.
fn text(file: usize, lines: usize) -> String {
    let mut text = String::new();
    for line in 0..lines {
        let _ = writeln!(text, "value_{file}_{line} = compute({file}, {line}, \"some words to read\")");
    }
    text
}

struct Repo {
    dir: TempDir,
}

impl Repo {
    fn new() -> Self {
        let repo = Self { dir: TempDir::new().expect("a folder") };
        repo.run("git", &["init", "--quiet", "--initial-branch=main"]);
        repo.run("git", &["config", "user.name", "Ada"]);
        repo.run("git", &["config", "user.email", "ada@example.org"]);
        repo.run("git", &["config", "gc.auto", "0"]);
        repo.write("README.md", "bench\n");
        repo.commit("Begin");
        repo
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn commit(&self, message: &str) {
        self.run("git", &["add", "--all"]);
        self.run("git", &["commit", "--quiet", "--message", message]);
    }

    fn referee(&self, args: &[&str]) -> Duration {
        self.run(env!("CARGO_BIN_EXE_referee"), args)
    }

    fn run(&self, program: &str, args: &[&str]) -> Duration {
        let begun = Instant::now();
        let status = command(program, self.dir.path()).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let took = begun.elapsed();
        assert!(status.expect("it runs").code().is_some_and(|code| matches!(code, 0 | 10 | 20)), "{program} {args:?}");
        took
    }

    /// The peak memory that the `time` program tells, where there is one.
    fn peak(&self, args: &[&str]) -> Option<u64> {
        let output = command("/usr/bin/time", self.dir.path())
            .args(["-f", "%M", env!("CARGO_BIN_EXE_referee")])
            .args(args)
            .output()
            .ok()?;
        String::from_utf8_lossy(&output.stderr).lines().last()?.trim().parse().ok()
    }

    fn journal(&self) -> u64 {
        let path = self.dir.path().join(".git/referee/state.db");
        std::fs::metadata(path).expect("a journal").len()
    }
}

fn command(program: &str, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env("HOME", dir).stdin(Stdio::null());
    command
}

fn median(times: usize, mut once: impl FnMut() -> Duration) -> Duration {
    let mut took: Vec<Duration> = (0..times).map(|_| once()).collect();
    took.sort_unstable();
    took[times / 2]
}

fn row(table: &mut String, what: &str, took: Duration, beside: &str, other: Duration) {
    let ratio = took.as_secs_f64() / other.as_secs_f64();
    let _ = writeln!(table, "| {what} | {:.1} ms | {beside} | {ratio:.2} |", took.as_secs_f64() * 1e3);
}

#[expect(clippy::print_stdout, reason = "a bench prints its table")]
fn say(text: &str) {
    println!("{text}");
}
