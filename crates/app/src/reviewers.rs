//! Slow work between two turns: each role's reviewer runs, and its report comes back.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use referee_core::model::{FindingState, Position, Sha, Submission, SubmittedFinding, SubmittedPosition};
use referee_core::plan::{Brief, Plan};
use referee_core::render::render_title;
use referee_git::{Git, Worktree, parse_diff};
use referee_review::builtin::{self, RuleSet};
use referee_review::command::{self, ReviewCommand};
use referee_review::formats::Format;
use referee_review::{ChangeSet, FileSelection};
use referee_turn::Source;

use crate::config::{ResolvedConfig, ReviewerKind, RoleConfig};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::session::source::GitSource;

/// What every reviewer of a run reads.
#[derive(Debug)]
pub(crate) struct ReviewInputs<'a> {
    /// The checkout that the command was started in.
    pub(crate) checkout: Option<&'a Git>,
    /// The texts of the repository.
    pub(crate) texts: &'a GitSource,
    /// Where the change parted from its base.
    pub(crate) merge_base: &'a Sha,
    /// Whose rules and guidance count (SAF-2).
    pub(crate) trusted_commit: Option<&'a Sha>,
    /// The head.
    pub(crate) head: &'a Sha,
    /// Who reviews.
    pub(crate) setup: &'a ResolvedConfig,
}

/// The most that a command may print.
const MAX_COMMAND_OUTPUT_BYTES: usize = 64 << 20;

/// Runs the reviewers of the briefs. What goes wrong with one is its report's word, not ours. `finished` is told of each
/// report as soon as it is there: the next reviewer may take long, and may be the one at which somebody stops the run.
pub(crate) fn run_reviewers(
    reading: &ReviewInputs<'_>,
    plan: &Plan,
    briefs: &[Brief],
    progress: &Progress,
    finished: impl Fn(&Submission) -> Result<(), Failure>,
) -> Result<Vec<Submission>, Failure> {
    let raw = reading.texts.diff(reading.merge_base, reading.head).map_err(to_failure)?;
    let files = parse_diff(&raw).map_err(to_failure)?;
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let texts = reading.texts.read_files(reading.head, &paths).map_err(to_failure)?;
    let change = ChangeSet { head: reading.head, files: &files, contents: &texts };
    let mut reports = Vec::new();
    for brief in briefs {
        let Some(role) = reading.setup.roles.iter().find(|role| role.name == brief.role) else { continue };
        let work = progress.begin_role(&brief.role);
        let begun = Instant::now();
        let span = tracing::info_span!("reviewer", role = %brief.role);
        let mut report = span.in_scope(|| run_reviewer(reading, brief, role, &change))?;
        report.figures.seconds = begun.elapsed().as_secs();
        report.figures.runs = 1;
        if role.reviewer == ReviewerKind::Builtin {
            answer_disputes(&mut report, plan);
        }
        report.run = new_run_id();
        work.finish(&report);
        finished(&report)?;
        reports.push(report);
    }
    Ok(reports)
}

/// Adds a position for each disputed finding that a built-in rule still reports: where it matches and why that matters.
/// A rule answers once (D11); after that a person decides.
fn answer_disputes(report: &mut Submission, plan: &Plan) {
    let disputed = plan
        .findings
        .iter()
        .filter(|line| line.role == report.role.as_str() && line.counts && line.state == FindingState::Disputed);
    for line in disputed {
        let same =
            |found: &&SubmittedFinding| found.path == line.path && render_title(&found.title).as_str() == line.title;
        let Some(found) = report.findings.iter().find(same) else { continue };
        let place = found.line.map_or_else(|| found.path.clone(), |line| format!("{}:{line}", found.path));
        let rule = found.rule.as_deref().unwrap_or("the rule");
        report.positions.push(SubmittedPosition {
            finding: line.id,
            position: Position::Stands,
            evidence: place.clone(),
            reply: format!("`{rule}` still hits at `{place}`. {}", found.body.trim()),
        });
    }
}

/// A name for a run: two that fail alike are two attempts (LOOP-11).
fn new_run_id() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}.{}", since.as_nanos(), std::process::id())
}

fn run_reviewer(
    reading: &ReviewInputs<'_>,
    brief: &Brief,
    role: &RoleConfig,
    change: &ChangeSet<'_>,
) -> Result<Submission, Failure> {
    let policy = &reading.setup.policy;
    let paths = policy.role(&role.name).map(|role| role.paths.as_slice()).unwrap_or_default();
    let selection = change.select_files(paths, &reading.setup.exclude);
    match &role.reviewer {
        ReviewerKind::Builtin => Ok(builtin::review_change(brief, change, &selection, &load_rules(reading)?)),
        ReviewerKind::Command(name) => {
            let command = resolve_command(reading.setup, role, name)?;
            let tree = HeadCheckout::prepare(reading)?;
            Ok(command::run_command(&command, tree.dir(), brief, &selected_paths(change, &selection)))
        }
        ReviewerKind::Model(model) => {
            let message = format!("role `{}` asks the model `{model}`, and this build runs no models yet", role.name);
            Err(Failure::usage(message).with_hint("give the role `builtin = true` or a `command`"))
        }
    }
}

/// The embedded rules, and the repository's own as they are at the base.
pub(crate) fn load_rules(reading: &ReviewInputs<'_>) -> Result<RuleSet, Failure> {
    let embedded = load_embedded_rules()?;
    let Some(trusted) = reading.trusted_commit else { return Ok(embedded) };
    let mut paths = reading.texts.git().list_files(trusted, ".gitleaks.toml")?;
    paths.extend(
        reading.texts.git().list_files(trusted, ".referee/rules")?.into_iter().filter(|path| path.ends_with(".yml")),
    );
    if paths.is_empty() {
        return Ok(embedded);
    }
    let named: Vec<&str> = paths.iter().map(String::as_str).collect();
    let texts = reading.texts.read_files(trusted, &named).map_err(to_failure)?;
    let own: Vec<(String, String)> = paths
        .into_iter()
        .zip(texts)
        .filter_map(|(path, text)| Some((path, String::from_utf8_lossy(&text?).into_owned())))
        .collect();
    embedded.with_repository_rules(&own).map_err(|errors| {
        let each: Vec<String> = errors.iter().map(|error| format!("  {error}")).collect();
        Failure::usage(format!("the repository's own rules at {} are wrong\n{}", trusted.short(), each.join("\n")))
            .with_hint("mend them on the default branch: rules count as they are there")
    })
}

/// The rules that the program brings.
pub(crate) fn load_embedded_rules() -> Result<RuleSet, Failure> {
    RuleSet::load_embedded().map_err(to_failure)
}

fn resolve_command(setup: &ResolvedConfig, role: &RoleConfig, name: &str) -> Result<ReviewCommand, Failure> {
    let entry = setup.commands.get(name).ok_or_else(|| {
        Failure::usage(format!("role `{}` runs the command `{name}`, which no operator file names", role.name))
            .with_hint("name the file with `--operator FILE`; programs never come from the repository")
    })?;
    let format = Format::from_str(&entry.format).map_err(to_failure)?;
    let timeout = Duration::from_secs(entry.timeout.0.unsigned_abs());
    Ok(ReviewCommand {
        argv: entry.argv.clone(),
        format,
        ok_codes: entry.ok_codes.clone(),
        timeout,
        max_output_bytes: MAX_COMMAND_OUTPUT_BYTES,
        env_names: Vec::new(),
    })
}

/// The files that a reviewer reads.
pub(crate) fn selected_paths(change: &ChangeSet<'_>, selection: &FileSelection) -> Vec<String> {
    selection.files.iter().filter_map(|at| change.files.get(*at)).map(|file| file.path.clone()).collect()
}

/// A work tree at the head: this one, if it is just that; else one of its own.
enum HeadCheckout {
    InPlace(PathBuf),
    Temporary(Worktree, #[expect(dead_code, reason = "the folder goes when this does")] tempfile::TempDir),
}

impl HeadCheckout {
    fn prepare(reading: &ReviewInputs<'_>) -> Result<Self, Failure> {
        if let Some((git, top)) = reading.checkout.and_then(|git| Some((git, git.work_tree_root()?)))
            && git.head()?.commit() == Some(reading.head)
            && git.is_clean()?
        {
            return Ok(Self::InPlace(top.to_owned()));
        }
        let folder = tempfile::tempdir().map_err(to_failure)?;
        let tree = reading.texts.git().add_worktree(&folder.path().join("head"), reading.head)?;
        Ok(Self::Temporary(tree, folder))
    }

    fn dir(&self) -> &Path {
        match self {
            Self::InPlace(dir) => dir,
            Self::Temporary(tree, _) => tree.dir(),
        }
    }
}

fn to_failure(error: impl std::fmt::Display) -> Failure {
    Failure::failed(error.to_string())
}
