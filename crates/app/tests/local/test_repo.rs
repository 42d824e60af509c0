//! A temporary repository, in which tests run the program through its command line.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A repository with a `main` branch and the user `ada`, isolated from the machine's settings.
pub(crate) struct TestRepo {
    root: TempDir,
    /// The time that runs see. `None` is the system clock.
    clock: Cell<Option<i64>>,
}

/// Exit code and output of a run.
#[derive(Debug)]
pub(crate) struct RunOutput {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl TestRepo {
    /// Creates a repository with one commit on `main`.
    pub(crate) fn new() -> Self {
        let repo = Self { root: TempDir::new().expect("a folder"), clock: Cell::new(None) };
        std::fs::create_dir_all(repo.dir()).expect("a folder");
        std::fs::create_dir_all(repo.root.path().join("home")).expect("a folder");
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo.git(&["config", "user.name", "Ada"]);
        repo.git(&["config", "user.email", "ada@example.org"]);
        repo.write("README.md", "# shop\n");
        repo.commit("Begin");
        repo
    }

    /// Creates a repository with a config on `main`.
    pub(crate) fn with_config(config: &str) -> Self {
        let repo = Self::new();
        repo.write("referee.toml", config);
        repo.commit("Configure the review");
        repo
    }

    /// Advances the clock of the program and of git. From the first call on, each run also advances it by one second.
    pub(crate) fn advance_clock(&self, seconds: i64) {
        let now = self.clock.get().unwrap_or(1_800_000_000);
        self.clock.set(Some(now + seconds));
    }

    /// Copies the repository into another temporary directory.
    pub(crate) fn duplicate(&self) -> Self {
        let twin = Self { root: TempDir::new().expect("a folder"), clock: self.clock.clone() };
        let copied =
            Command::new("cp").arg("-a").args([self.dir(), self.path_outside("home")]).arg(twin.root.path()).status();
        assert!(copied.expect("cp runs").success());
        twin
    }

    /// The work tree.
    pub(crate) fn dir(&self) -> PathBuf {
        self.root.path().join("repo")
    }

    /// Returns a path outside the repository.
    pub(crate) fn path_outside(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a file of the work tree.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.dir().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Commits everything and returns the commit id.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.head()
    }

    /// Creates a branch, commits these files on it and returns the commit id.
    pub(crate) fn branch(&self, name: &str, files: &[(&str, &str)]) -> String {
        self.git(&["switch", "--quiet", "--create", name]);
        files.iter().for_each(|(path, text)| self.write(path, text));
        self.commit(&format!("Work on {name}"))
    }

    /// Returns the id of the current commit.
    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git as ada and returns its output.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let mut git = self.command("git");
        if let Some(now) = self.tick() {
            let date = format!("@{now} +0000");
            git.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        }
        let output = git.args(args).output().expect("git runs");
        let (out, err) = (to_text(&output.stdout), to_text(&output.stderr));
        assert!(output.status.success(), "git {args:?}: {err}");
        out.trim().to_owned()
    }

    /// Runs the program.
    pub(crate) fn run(&self, args: &[&str]) -> RunOutput {
        RunOutput::from_output(self.referee(args).output().expect("referee runs"))
    }

    /// Runs the program and asserts its exit code.
    pub(crate) fn run_expecting(&self, code: i32, args: &[&str]) -> RunOutput {
        let ran = self.run(args);
        assert_eq!(ran.code, code, "referee {args:?}\n{}\n{}", ran.out, ran.err);
        ran
    }

    /// Runs the program with `--json` and returns its document, whatever the exit code.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", ran.out, ran.err))
    }

    /// Runs the program with `input` on its stdin.
    pub(crate) fn run_with_stdin(&self, args: &[&str], input: impl AsRef<[u8]>) -> RunOutput {
        let file = self.path_outside("stdin");
        std::fs::write(&file, input).expect("a file");
        let stdin = std::fs::File::open(file).expect("a file");
        RunOutput::from_output(self.referee(args).stdin(stdin).output().expect("referee runs"))
    }

    /// Returns the command line of a run that is not started yet.
    pub(crate) fn referee(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_referee"));
        command.args(args);
        if let Some(now) = self.tick() {
            command.env("REFEREE_TEST_NOW", now.to_string());
        }
        command
    }

    fn tick(&self) -> Option<i64> {
        let now = self.clock.get()?;
        self.clock.set(Some(now + 1));
        Some(now)
    }

    /// Writes a file outside the repository and returns its path as an argument.
    pub(crate) fn write_outside(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path_outside(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    }

    /// Hands in a report of a role for the current head.
    pub(crate) fn report(&self, role: &str, report: Value) -> RunOutput {
        let path = self.write_outside("report.json", self.full_report(role, report).to_string());
        self.run(&["review", "--role", role, "--report", &path])
    }

    /// Hands in a report of a role for the current head and returns the document of the run.
    pub(crate) fn report_json(&self, role: &str, report: Value) -> Value {
        let path = self.write_outside("report.json", self.full_report(role, report).to_string());
        self.json(&["review", "--role", role, "--report", &path])
    }

    /// Writes the user's operator file.
    pub(crate) fn write_operator_file(&self, text: &str) {
        let folder = self.path_outside("home/.config/referee");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("operator.toml"), text).expect("a file");
    }

    /// Installs a shell script as reviewer of the roles with `command = "reader"`. It runs in a checkout of the head.
    /// `entry` is added to its entry in the operator file.
    pub(crate) fn install_reviewer(&self, script: &str, entry: &str) {
        let script = self.write_outside("reader.sh", script);
        self.write_operator_file(&format!("[commands.reader]\nargv = [\"sh\", {script:?}]\n{entry}\n"));
    }

    /// Completes a report with the required fields that it does not set.
    pub(crate) fn full_report(&self, role: &str, report: Value) -> Value {
        let changed = self.git(&["diff", "--name-only", "main...HEAD"]);
        let mut full = serde_json::json!({
            "schema": "referee/report-1", "role": role, "head": self.head(),
            "outcome": if report.get("findings").is_some() { "findings" } else { "clean" },
            "coverage": { "read": changed.lines().collect::<Vec<_>>(), "skipped": [] },
        });
        for (key, value) in report.as_object().expect("an object") {
            full[key] = value.clone();
        }
        full
    }

    /// Returns the snapshot of a pull from `referee local show --json`.
    pub(crate) fn read_snapshot(&self, pull: &str) -> Value {
        self.json(&["local", "show", pull])["snapshot"].take()
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("a PATH"))
            .env("HOME", self.root.path().join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .env("TMPDIR", self.root.path())
            .current_dir(self.dir())
            .stdin(Stdio::null());
        command
    }
}

impl RunOutput {
    pub(crate) fn from_output(output: Output) -> Self {
        let code = output.status.code().unwrap_or(-1);
        Self { code, out: to_text(&output.stdout), err: to_text(&output.stderr) }
    }
}

fn to_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the files under a folder with their contents. Leaves out empty WAL files and WAL indexes, which SQLite creates
/// and removes for readers.
pub(crate) fn read_files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let (name, bytes) = (path.to_string_lossy(), std::fs::read(&path).unwrap_or_default());
            let is_reader_file = name.ends_with("-shm") || (name.ends_with("-wal") && bytes.is_empty());
            if !is_reader_file {
                all.push((path.clone(), bytes));
            }
        }
    }
    all.sort();
    all
}

/// Returns the files that differ from `before`.
pub(crate) fn changed_files(dir: &Path, before: &[(PathBuf, Vec<u8>)]) -> Vec<PathBuf> {
    let after = read_files(dir);
    let new = after.iter().filter(|file| !before.contains(file));
    let gone = before.iter().filter(|(path, _)| !path.exists());
    new.chain(gone).map(|(path, _)| path.strip_prefix(dir).expect("below").to_owned()).collect()
}
