//! Slow work between two turns: each role's reviewer runs, and its report comes back.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use referee_core::model::{Sha, Submission};
use referee_core::plan::{Brief, Plan};
use referee_git::{Git, Worktree, parse_diff};
use referee_review::builtin::{self, Rules};
use referee_review::command::{self, Command};
use referee_review::formats::Format;
use referee_review::{Change, Selection};
use referee_turn::Source;

use crate::config::{Reviewer, RoleSetup, Setup};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::source::Texts;
use crate::stand::stand_by;

/// What every reviewer of a run reads.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    /// The checkout that the command was started in.
    pub(crate) checkout: Option<&'a Git>,
    /// The texts of the repository.
    pub(crate) texts: &'a Texts,
    /// Where the change parted from its base.
    pub(crate) from: &'a Sha,
    /// Whose rules and guidance count (SAF-2).
    pub(crate) trusted: Option<&'a Sha>,
    /// The head.
    pub(crate) head: &'a Sha,
    /// Who reviews.
    pub(crate) setup: &'a Setup,
}

/// The most that a command may print.
const MOST_OUTPUT: usize = 64 << 20;

/// Runs the reviewers of the briefs. What goes wrong with one is its report's word, not ours. `finished` is told of each
/// report as soon as it is there: the next reviewer may take long, and may be the one at which somebody stops the run.
pub(crate) fn run(
    reading: &Reading<'_>,
    plan: &Plan,
    briefs: &[Brief],
    progress: &Progress,
    finished: impl Fn(&Submission) -> Result<(), Failure>,
) -> Result<Vec<Submission>, Failure> {
    let raw = reading.texts.diff(reading.from, reading.head).map_err(unreadable)?;
    let files = parse_diff(&raw).map_err(unreadable)?;
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let texts = reading.texts.files(reading.head, &paths).map_err(unreadable)?;
    let change = Change { head: reading.head, files: &files, texts: &texts };
    let mut reports = Vec::new();
    for brief in briefs {
        let Some(role) = reading.setup.roles.iter().find(|role| role.name == brief.role) else { continue };
        let work = progress.begin(&brief.role);
        let begun = Instant::now();
        let mut report = one(reading, brief, role, &change)?;
        report.figures.seconds = begun.elapsed().as_secs();
        report.figures.runs = 1;
        if role.reviewer == Reviewer::Builtin {
            stand_by(&mut report, plan);
        }
        report.run = run_id();
        work.end(&report);
        finished(&report)?;
        reports.push(report);
    }
    Ok(reports)
}

/// A name for a run: two that fail alike are two attempts (LOOP-11).
fn run_id() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}.{}", since.as_nanos(), std::process::id())
}

fn one(reading: &Reading<'_>, brief: &Brief, role: &RoleSetup, change: &Change<'_>) -> Result<Submission, Failure> {
    let policy = &reading.setup.policy;
    let paths = policy.role(&role.name).map(|role| role.paths.as_slice()).unwrap_or_default();
    let selection = change.select(paths, &reading.setup.exclude);
    match &role.reviewer {
        Reviewer::Builtin => Ok(builtin::review(brief, change, &selection, &rules(reading)?)),
        Reviewer::Command(name) => {
            let command = program(reading.setup, role, name)?;
            let tree = Tree::at(reading)?;
            Ok(command::run(&command, tree.dir(), brief, &named(change, &selection)))
        }
        Reviewer::Model(model) => {
            let message = format!("role `{}` asks the model `{model}`, and this build runs no models yet", role.name);
            Err(Failure::usage(message).hint("give the role `builtin = true` or a `command`"))
        }
    }
}

/// The embedded rules, and the repository's own as they are at the base.
pub(crate) fn rules(reading: &Reading<'_>) -> Result<Rules, Failure> {
    let embedded = embedded()?;
    let Some(trusted) = reading.trusted else { return Ok(embedded) };
    let mut paths = reading.texts.git().under(trusted, ".gitleaks.toml")?;
    paths.extend(
        reading.texts.git().under(trusted, ".referee/rules")?.into_iter().filter(|path| path.ends_with(".yml")),
    );
    if paths.is_empty() {
        return Ok(embedded);
    }
    let named: Vec<&str> = paths.iter().map(String::as_str).collect();
    let texts = reading.texts.files(trusted, &named).map_err(unreadable)?;
    let own: Vec<(String, String)> = paths
        .into_iter()
        .zip(texts)
        .filter_map(|(path, text)| Some((path, String::from_utf8_lossy(&text?).into_owned())))
        .collect();
    embedded.with_repository(&own).map_err(|errors| {
        let each: Vec<String> = errors.iter().map(|error| format!("  {error}")).collect();
        Failure::usage(format!("the repository's own rules at {} are wrong\n{}", trusted.short(), each.join("\n")))
            .hint("mend them on the default branch: rules count as they are there")
    })
}

/// The rules that the program brings.
pub(crate) fn embedded() -> Result<Rules, Failure> {
    Rules::embedded().map_err(unreadable)
}

fn program(setup: &Setup, role: &RoleSetup, name: &str) -> Result<Command, Failure> {
    let entry = setup.commands.get(name).ok_or_else(|| {
        Failure::usage(format!("role `{}` runs the command `{name}`, which no operator file names", role.name))
            .hint("name the file with `--operator FILE`; programs never come from the repository")
    })?;
    let format = Format::from_str(&entry.format).map_err(unreadable)?;
    let timeout = Duration::from_secs(entry.timeout.0.unsigned_abs());
    Ok(Command {
        argv: entry.argv.clone(),
        format,
        ok_codes: entry.ok_codes.clone(),
        timeout,
        max_output: MOST_OUTPUT,
        env: Vec::new(),
    })
}

/// The files that a reviewer reads.
pub(crate) fn named(change: &Change<'_>, selection: &Selection) -> Vec<String> {
    selection.files.iter().filter_map(|at| change.files.get(*at)).map(|file| file.path.clone()).collect()
}

/// A work tree at the head: this one, if it is just that; else one of its own.
enum Tree {
    Here(PathBuf),
    Apart(Worktree, #[expect(dead_code, reason = "the folder goes when this does")] tempfile::TempDir),
}

impl Tree {
    fn at(reading: &Reading<'_>) -> Result<Self, Failure> {
        if let Some((git, top)) = reading.checkout.and_then(|git| Some((git, git.top()?)))
            && git.head()?.commit() == Some(reading.head)
            && git.is_clean()?
        {
            return Ok(Self::Here(top.to_owned()));
        }
        let folder = tempfile::tempdir().map_err(unreadable)?;
        let tree = reading.texts.git().add_worktree(&folder.path().join("head"), reading.head)?;
        Ok(Self::Apart(tree, folder))
    }

    fn dir(&self) -> &Path {
        match self {
            Self::Here(dir) => dir,
            Self::Apart(tree, _) => tree.dir(),
        }
    }
}

fn unreadable(error: impl std::fmt::Display) -> Failure {
    Failure::failed(error.to_string())
}
