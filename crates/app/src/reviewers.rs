//! Runs the reviewers of the roles between the two halves of a turn and collects their reports.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use referee_core::model::{FindingState, Position, Sha, Submission, SubmittedFinding, SubmittedPosition};
use referee_core::plan::{Brief, Plan};
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

/// The inputs of all reviewers of a run.
#[derive(Debug)]
pub(crate) struct ReviewInputs<'a> {
    /// The checkout that the command was started in, if any.
    pub(crate) checkout: Option<&'a Git>,
    pub(crate) source: &'a GitSource,
    /// The merge base of the change and its base branch.
    pub(crate) merge_base: &'a Sha,
    /// The commit whose rules and guidance apply (SAF-2).
    pub(crate) trusted_commit: Option<&'a Sha>,
    pub(crate) head: &'a Sha,
    pub(crate) config: &'a ResolvedConfig,
}

/// Limit of a command's output; a command that prints more fails.
const MAX_COMMAND_OUTPUT_BYTES: usize = 64 << 20;

/// Runs the reviewer of each brief. A reviewer that fails yields a failed report, not an error. Calls `on_report` with each
/// report at once, so that it is saved even if the run is stopped during the next reviewer.
pub(crate) fn run_reviewers(
    inputs: &ReviewInputs<'_>,
    plan: &Plan,
    briefs: &[Brief],
    progress: &Progress,
    on_report: impl Fn(&Submission) -> Result<(), Failure>,
) -> Result<Vec<Submission>, Failure> {
    for brief in briefs {
        check_reviewer(inputs.config, brief)?;
    }
    let diff = inputs.source.diff(inputs.merge_base, inputs.head).map_err(to_failure)?;
    let files = parse_diff(&diff).map_err(to_failure)?;
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let contents = inputs.source.read_files(inputs.head, &paths).map_err(to_failure)?;
    let change = ChangeSet { head: inputs.head, files: &files, contents: &contents };
    let mut reports = Vec::new();
    for brief in briefs {
        let Some(role) = inputs.config.roles.iter().find(|role| role.name == brief.role) else { continue };
        let role_progress = progress.begin_role(&brief.role);
        let started_at = Instant::now();
        let span = tracing::info_span!("reviewer", role = %brief.role);
        let mut report = span.in_scope(|| run_reviewer(inputs, brief, role, &change))?;
        report.figures.seconds = started_at.elapsed().as_secs();
        report.figures.runs = 1;
        if role.reviewer == ReviewerKind::Builtin {
            answer_disputes(&mut report, plan);
        }
        report.run = new_run_id();
        role_progress.finish(&report);
        on_report(&report)?;
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
        let is_same = |finding: &&SubmittedFinding| finding.path == line.path && finding.title == line.title;
        let Some(finding) = report.findings.iter().find(is_same) else { continue };
        let location = finding.line.map_or_else(|| finding.path.clone(), |line| format!("{}:{line}", finding.path));
        let rule = finding.rule.as_deref().unwrap_or("the rule");
        report.positions.push(SubmittedPosition {
            finding: line.id,
            position: Position::Stands,
            evidence: location.clone(),
            reply: format!("`{rule}` still matches at `{location}`. {}", finding.body.trim()),
        });
    }
}

/// Returns a unique id for a run, so that two equal failures count as two attempts (LOOP-11).
fn new_run_id() -> String {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}.{}", since_epoch.as_nanos(), std::process::id())
}

fn run_reviewer(
    inputs: &ReviewInputs<'_>,
    brief: &Brief,
    role: &RoleConfig,
    change: &ChangeSet<'_>,
) -> Result<Submission, Failure> {
    let policy = &inputs.config.policy;
    let paths = policy.role(&role.name).map(|role| role.paths.as_slice()).unwrap_or_default();
    let selection = change.select_files(paths, &inputs.config.exclude);
    match &role.reviewer {
        ReviewerKind::Builtin => {
            let rules = load_rules(inputs)?.with_levels(inputs.config.rule_levels(&role.name));
            Ok(builtin::review_change(brief, change, &selection, &rules))
        }
        ReviewerKind::Command(name) => {
            let command = resolve_command(inputs.config, role, name)?;
            let tree = HeadCheckout::prepare(inputs)?;
            Ok(command::run_command(&command, tree.dir(), brief, &selected_paths(change, &selection)))
        }
        ReviewerKind::Model(model) => Err(reject_model(role, model)),
    }
}

/// Fails if the reviewer of a brief cannot be started. All are checked before the first one runs: a mistake in the config
/// must not cost a review.
fn check_reviewer(config: &ResolvedConfig, brief: &Brief) -> Result<(), Failure> {
    let Some(role) = config.roles.iter().find(|role| role.name == brief.role) else { return Ok(()) };
    match &role.reviewer {
        ReviewerKind::Builtin => Ok(()),
        ReviewerKind::Command(name) => resolve_command(config, role, name).map(drop),
        ReviewerKind::Model(model) => Err(reject_model(role, model)),
    }
}

fn reject_model(role: &RoleConfig, model: &str) -> Failure {
    Failure::usage(format!("role `{}` uses the model `{model}`, and this build runs no models", role.name))
        .with_hint("set `builtin = true` or a `command` for the role")
}

/// Loads the embedded rules and the repository's rules at the trusted commit.
pub(crate) fn load_rules(inputs: &ReviewInputs<'_>) -> Result<RuleSet, Failure> {
    let embedded = load_embedded_rules()?;
    let Some(trusted) = inputs.trusted_commit else { return Ok(embedded) };
    let mut paths = inputs.source.git().list_files(trusted, ".gitleaks.toml")?;
    paths.extend(
        inputs.source.git().list_files(trusted, ".referee/rules")?.into_iter().filter(|path| path.ends_with(".yml")),
    );
    if paths.is_empty() {
        return Ok(embedded);
    }
    let path_refs: Vec<&str> = paths.iter().map(String::as_str).collect();
    let texts = inputs.source.read_files(trusted, &path_refs).map_err(to_failure)?;
    let repository_rules: Vec<(String, String)> = paths
        .into_iter()
        .zip(texts)
        .filter_map(|(path, text)| Some((path, String::from_utf8_lossy(&text?).into_owned())))
        .collect();
    embedded.with_repository_rules(&repository_rules).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(|error| format!("  {error}")).collect();
        Failure::usage(format!("the repository's rules at {} are invalid\n{}", trusted.short(), lines.join("\n")))
            .with_hint("fix them on the default branch, where referee reads them")
    })
}

/// Loads the rules that are part of the program.
pub(crate) fn load_embedded_rules() -> Result<RuleSet, Failure> {
    RuleSet::load_embedded().map_err(to_failure)
}

fn resolve_command(config: &ResolvedConfig, role: &RoleConfig, name: &str) -> Result<ReviewCommand, Failure> {
    let entry = config.commands.get(name).ok_or_else(|| {
        Failure::usage(format!(
            "role `{}` uses the command `{name}`, which the operator file does not define",
            role.name
        ))
        .with_hint("define it there, or name another file with `--operator FILE`; a repository cannot define commands")
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
        levels: config.rule_levels(&role.name),
    })
}

/// Returns the paths of the selected files.
pub(crate) fn selected_paths(change: &ChangeSet<'_>, selection: &FileSelection) -> Vec<String> {
    selection.files.iter().filter_map(|index| change.files.get(*index)).map(|file| file.path.clone()).collect()
}

/// A work tree at the head: the user's checkout if it is clean and at the head, else a temporary one.
enum HeadCheckout {
    InPlace(PathBuf),
    Temporary(Worktree, #[expect(dead_code, reason = "dropping it deletes the directory")] tempfile::TempDir),
}

impl HeadCheckout {
    fn prepare(inputs: &ReviewInputs<'_>) -> Result<Self, Failure> {
        if let Some((git, root)) = inputs.checkout.and_then(|git| Some((git, git.work_tree_root()?)))
            && git.head()?.commit() == Some(inputs.head)
            && git.is_clean()?
        {
            return Ok(Self::InPlace(root.to_owned()));
        }
        let directory = tempfile::tempdir().map_err(to_failure)?;
        let tree = inputs.source.git().add_worktree(&directory.path().join("head"), inputs.head)?;
        Ok(Self::Temporary(tree, directory))
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
