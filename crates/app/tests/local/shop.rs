//! A repository in a folder of its own, and the program run in it as people run it.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A repository with a `main` branch, a user `ada`, and nothing of this machine's settings.
pub(crate) struct Shop {
    root: TempDir,
    /// The time that runs are told; the machine's clock until a test turns this one.
    clock: Cell<Option<i64>>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Shop {
    /// A repository with one commit on `main`.
    pub(crate) fn new() -> Self {
        let shop = Self { root: TempDir::new().expect("a folder"), clock: Cell::new(None) };
        std::fs::create_dir_all(shop.dir()).expect("a folder");
        std::fs::create_dir_all(shop.root.path().join("home")).expect("a folder");
        shop.git(&["init", "--quiet", "--initial-branch=main"]);
        shop.git(&["config", "user.name", "Ada"]);
        shop.git(&["config", "user.email", "ada@example.org"]);
        shop.write("README.md", "# shop\n");
        shop.commit("Begin");
        shop
    }

    /// The same with a config on `main`.
    pub(crate) fn with_config(config: &str) -> Self {
        let shop = Self::new();
        shop.write("referee.toml", config);
        shop.commit("Configure the review");
        shop
    }

    /// The clock of the program and of git goes on by so many seconds, and by one with every run from now on.
    pub(crate) fn later(&self, seconds: i64) {
        let now = self.clock.get().unwrap_or(1_800_000_000);
        self.clock.set(Some(now + seconds));
    }

    /// A copy of the repository as it is, in a folder of its own.
    pub(crate) fn twin(&self) -> Self {
        let twin = Self { root: TempDir::new().expect("a folder"), clock: self.clock.clone() };
        let copied =
            Command::new("cp").arg("-a").args([self.dir(), self.outside("home")]).arg(twin.root.path()).status();
        assert!(copied.expect("cp runs").success());
        twin
    }

    /// The work tree.
    pub(crate) fn dir(&self) -> PathBuf {
        self.root.path().join("repo")
    }

    /// A place outside the repository.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a file of the work tree.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.dir().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Commits everything; the commit's name.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.head()
    }

    /// A new branch with these files on it, committed; the commit's name.
    pub(crate) fn branch(&self, name: &str, files: &[(&str, &str)]) -> String {
        self.git(&["switch", "--quiet", "--create", name]);
        files.iter().for_each(|(path, text)| self.write(path, text));
        self.commit(&format!("Work on {name}"))
    }

    /// The current commit.
    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// git, as ada uses it.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let mut git = self.command("git");
        if let Some(now) = self.tick() {
            let date = format!("@{now} +0000");
            git.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        }
        let output = git.args(args).output().expect("git runs");
        let (out, err) = (words(&output.stdout), words(&output.stderr));
        assert!(output.status.success(), "git {args:?}: {err}");
        out.trim().to_owned()
    }

    /// The program.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.referee(args).output().expect("referee runs"))
    }

    /// The program, which must end so.
    pub(crate) fn ends(&self, code: i32, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, code, "referee {args:?}\n{}\n{}", ran.out, ran.err);
        ran
    }

    /// The document that the program prints with `--json`, whatever it ends with.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", ran.out, ran.err))
    }

    /// The program with something on its standard input.
    pub(crate) fn fed(&self, args: &[&str], input: impl AsRef<[u8]>) -> Ran {
        let file = self.outside("stdin");
        std::fs::write(&file, input).expect("a file");
        let stdin = std::fs::File::open(file).expect("a file");
        Ran::of(self.referee(args).stdin(stdin).output().expect("referee runs"))
    }

    /// The program, not started yet.
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

    /// A file outside the repository; its path as an argument.
    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.outside(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    }

    /// A report for a role at the current head, handed in; how the run ended.
    pub(crate) fn report(&self, role: &str, report: Value) -> Ran {
        let path = self.file("report.json", self.full_report(role, report).to_string());
        self.run(&["review", "--role", role, "--report", &path])
    }

    /// The same; the document of the run.
    pub(crate) fn played(&self, role: &str, report: Value) -> Value {
        let path = self.file("report.json", self.full_report(role, report).to_string());
        self.json(&["review", "--role", role, "--report", &path])
    }

    /// The user's own operator file.
    pub(crate) fn operator(&self, text: &str) {
        let folder = self.outside("home/.config/referee");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("operator.toml"), text).expect("a file");
    }

    /// A program that reviews for the roles with `command = "reader"`: a shell script, run in a checkout of the head.
    /// `entry` are more lines of its entry in the operator file.
    pub(crate) fn reader(&self, script: &str, entry: &str) {
        let script = self.file("reader.sh", script);
        self.operator(&format!("[commands.reader]\nargv = [\"sh\", {script:?}]\n{entry}\n"));
    }

    /// A report with what it must have, unless it says otherwise: `findings`, `positions`, `outcome`, `coverage`.
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

    /// Everything that stands on a pull, as `referee local show --json` tells it.
    pub(crate) fn stands(&self, pull: &str) -> Value {
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

impl Ran {
    fn of(output: Output) -> Self {
        let code = output.status.code().unwrap_or(-1);
        Self { code, out: words(&output.stdout), err: words(&output.stderr) }
    }
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The files under a folder with their contents: what a run changed is what differs. An empty log of a database, and
/// its index, come and go with their readers.
pub(crate) fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
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
            let of_a_reader = name.ends_with("-shm") || (name.ends_with("-wal") && bytes.is_empty());
            if !of_a_reader {
                all.push((path.clone(), bytes));
            }
        }
    }
    all.sort();
    all
}

/// The files that differ from what they were.
pub(crate) fn changed(dir: &Path, before: &[(PathBuf, Vec<u8>)]) -> Vec<PathBuf> {
    let after = contents(dir);
    let new = after.iter().filter(|file| !before.contains(file));
    let gone = before.iter().filter(|(path, _)| !path.exists());
    new.chain(gone).map(|(path, _)| path.strip_prefix(dir).expect("below").to_owned()).collect()
}
