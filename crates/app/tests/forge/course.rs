//! A change with moving findings on a real server behind a proxy, to count requests.
//!
//! Each reviewer runs in a checkout at the head, as in CI, and gets the same findings as rdjson.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use referee_core::model::{PullNumber, ThreadId};
use referee_testkit::proxy::LoggedRequest;
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::site::{RunOutput, TestSite};

/// A pull with findings in each of its files.
pub(crate) struct Course {
    pub(crate) site: TestSite,
    pub(crate) pull: PullNumber,
    paths: Vec<String>,
    /// Findings in each file.
    each: usize,
    /// Lines that were put above them.
    above: usize,
}

/// What a run cost, and what it left of the threads.
#[derive(Debug)]
pub(crate) struct Spent {
    pub(crate) log: Vec<LoggedRequest>,
    pub(crate) opened: usize,
    pub(crate) deleted: usize,
    /// Answers of people that are gone, or whose question is.
    pub(crate) lost: usize,
}

/// Lines from one finding to the next.
const APART: usize = 10;
/// One role, whose report is handed in.
const CONFIG: &str = "version = 1\n[[role]]\nname = \"lint\"\nbuiltin = true\nblocks = false\n";
/// Whose answers are looked for.
const AUTHOR: &str = "alice";

impl Course {
    pub(crate) fn new(build: ServerBuild, files: usize, each: usize) -> Self {
        Self::with_base(build, &[("referee.toml", CONFIG)], files, each)
    }

    /// The same in a repository without a config: the built-in role is configured, and `lint` is not.
    pub(crate) fn without_config(build: ServerBuild, files: usize, each: usize) -> Self {
        Self::with_base(build, &[("README.md", "A repository\n")], files, each)
    }

    fn with_base(build: ServerBuild, base: &[(&str, &str)], files: usize, each: usize) -> Self {
        let site = TestSite::new(build, base);
        let paths: Vec<String> = (0..files).map(|file| format!("src/part{file}.txt")).collect();
        let texts: Vec<String> = (0..files).map(|file| text(file, (each + 1) * APART)).collect();
        let changed: Vec<(&str, &str)> =
            paths.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
        let pull = site.open("feature", &changed);
        let course = Self { site, pull, paths, each, above: 0 };
        course.git(&["clone", "--quiet", &course.site.repo.url(), "."]);
        course
    }

    /// `referee review` with the findings.
    pub(crate) fn referee(&self) -> Spent {
        let (page, report) = (self.site.page(self.pull), self.site.path("findings.json"));
        std::fs::write(&report, self.findings().to_string()).expect("a file");
        let report = report.display().to_string();
        self.count(|| {
            let args = ["review", &page, "--role", "lint", "--report", &report, "--report-format", "rdjson"];
            let ran = RunOutput::from_output(
                self.site.referee(&args).current_dir(self.checkout()).output().expect("referee runs"),
            );
            assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
        })
    }

    /// The author answers on the first thread.
    pub(crate) fn answer(&self) {
        let roots = self.notes(|by| by != AUTHOR);
        let root = roots.first().expect("a thread");
        self.site.at(AUTHOR, self.pull).reply(&ThreadId(root.to_string()), "This one is on purpose: see the manual.");
    }

    /// A push that moves every line with a finding.
    pub(crate) fn move_lines(&mut self) {
        self.above += 3;
        self.site.at(AUTHOR, self.pull).commit(|folder| {
            for path in &self.paths {
                let old = std::fs::read_to_string(folder.join(path)).expect("the file");
                std::fs::write(folder.join(path), format!("one\ntwo\nthree\n{old}")).expect("the file");
            }
        });
    }

    /// A push that gives the first file another name.
    pub(crate) fn rename(&mut self) {
        let new = "src/renamed.txt".to_owned();
        self.site.at(AUTHOR, self.pull).rename(&self.paths[0], &new);
        self.paths[0] = new;
    }

    /// The reviews with threads, all of them open here.
    pub(crate) fn open_reviews(&self) -> usize {
        let reviews = self.site.at(AUTHOR, self.pull).list_reviews();
        reviews.iter().filter(|review| review["comments_count"].as_u64().is_some_and(|count| count > 0)).count()
    }

    /// Runs something in a checkout at the head, and counts.
    pub(crate) fn count(&self, run: impl FnOnce()) -> Spent {
        let head = self.site.at(AUTHOR, self.pull).head();
        self.git(&["fetch", "--quiet", "origin"]);
        self.git(&["checkout", "--quiet", "--detach", head.as_str()]);
        let tool = |by: &str| by != AUTHOR;
        let (roots, answers) = (self.notes(tool), self.notes(|by| by == AUTHOR));
        self.site.proxy.forget();
        run();
        let log = self.site.proxy.log();
        let (now, answered) = (self.notes(tool), self.notes(|by| by == AUTHOR));
        let first_gone = roots.first().is_some_and(|first| !now.contains(first));
        let lost = if first_gone { answers.len() } else { answers.difference(&answered).count() };
        let (opened, deleted) = (now.difference(&roots).count(), roots.difference(&now).count());
        Spent { log, opened, deleted, lost }
    }

    /// The numbers of all inline comments of those people, lowest first.
    fn notes(&self, by: impl Fn(&str) -> bool) -> BTreeSet<u64> {
        let author = self.site.at(AUTHOR, self.pull);
        let reviews = author.list_reviews();
        let notes = reviews.iter().flat_map(|review| author.list_notes(&review["id"].to_string()));
        let of_them = notes.filter(|note| by(note["user"]["login"].as_str().unwrap_or_default()));
        of_them.filter_map(|note| note["id"].as_u64()).collect()
    }

    /// The findings as they are at the head, as rdjson.
    pub(crate) fn findings(&self) -> Value {
        let all = self.paths.iter().enumerate().flat_map(|(file, path)| {
            (1..=self.each).map(move |nth| {
                let row = nth * APART;
                json!({
                    "message": format!("value_{file}_{row} is computed and never read"),
                    "code": { "value": "unread" },
                    "severity": "WARNING",
                    "location": { "path": path, "range": { "start": { "line": row + self.above } } },
                })
            })
        });
        json!({ "source": { "name": "lint" }, "diagnostics": all.collect::<Vec<_>>() })
    }

    /// The checkout that the reviewers run in.
    pub(crate) fn checkout(&self) -> PathBuf {
        let folder = self.site.path("checkout");
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn git(&self, args: &[&str]) {
        let status = Command::new("git").args(args).current_dir(self.checkout()).env("HOME", self.checkout()).status();
        assert!(status.expect("git runs").success(), "git {args:?}");
    }
}

impl Spent {
    pub(crate) fn reads(&self) -> usize {
        self.log.iter().filter(|seen| seen.is_read()).count()
    }

    pub(crate) fn writes(&self) -> usize {
        self.log.len() - self.reads()
    }
}

/// Lines of which no two are alike.
fn text(file: usize, lines: usize) -> String {
    let mut text = String::new();
    for line in 1..=lines {
        let _ = writeln!(text, "value_{file}_{line} = compute({file}, {line})");
    }
    text
}
