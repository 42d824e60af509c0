//! `referee review`: runs the reviewers and publishes their findings.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use referee_core::decide::PlanScope;
use referee_core::model::{RoleName, Severity, Sha, Snapshot, Submission};
use referee_core::plan::Brief;
use referee_core::policy::{Policy, Role};
use referee_forge::{Gates, RequestedGates};
use referee_review::formats::{self, ReportContext};
use referee_turn::{BegunTurn, Inbox, Receipt, StepOutcome, Turn};

use super::PullArgs;
use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::output::{FailThreshold, OutputFormat, ReviewEnding, pluralize};
use crate::progress::Progress;
use crate::reviewers::{self, ReviewInputs};
use crate::session::{Options, PullSession, SessionAccess};
use crate::{output, payload};

/// Run the reviewers and publish their findings
#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    #[command(flatten)]
    which: PullArgs,
    /// Run only this role; may be given more than once
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
    /// Publish a finished report of one role, from a file or `-`
    #[arg(long, value_name = "FILE", requires = "roles")]
    report: Option<PathBuf>,
    /// The format of the report [default: recognised by its content]
    #[arg(long, value_name = "FORMAT", requires = "report")]
    report_format: Option<formats::Format>,
    /// Also save the reports to this file
    #[arg(long, value_name = "FILE")]
    report_out: Option<PathBuf>,
    /// Review the whole change again, not only what is new
    #[arg(long)]
    full: bool,
    /// Exit with 20 when this is met: the verdict requests changes, or a finding is at least this severe
    /// [default: verdict on local pulls, never on a forge]
    #[arg(long, value_name = "WHEN")]
    fail_on: Option<FailOn>,
    /// Run the reviewers without writing anything
    #[arg(long)]
    dry_run: bool,
    /// The output format
    #[arg(long, value_name = "FORMAT", default_value = "human", conflicts_with = "json")]
    format: OutputFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Never,
    Verdict,
    Critical,
    Warning,
    Any,
}

impl ReviewArgs {
    /// Reviews a range of commits and writes nothing.
    pub(super) fn preview(range: String) -> Self {
        Self {
            which: PullArgs::from_text(range),
            roles: Vec::new(),
            report: None,
            report_format: None,
            report_out: None,
            full: false,
            fail_on: None,
            dry_run: true,
            format: OutputFormat::Human,
        }
    }

    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let access = if self.dry_run { SessionAccess::Read } else { SessionAccess::Write };
        let mut session = PullSession::open(options, self.which.text(), access, out).await?;
        session.store.warnings().iter().for_each(|note| out.print_line(&format!("warning: {note}")));
        session.config.warnings.iter().for_each(|warning| out.print_line(&format!("warning: {warning}")));
        self.admit_roles(&mut session.config.policy)?;
        if !self.dry_run {
            session.mark_used()?;
        }
        let turn = self.run_turn(&session, out).await?;
        let format = if out.json { OutputFormat::Json } else { self.format };
        let ending = ReviewEnding::from_turn(&turn, &session.config.policy, self.choose_threshold(&session, format));
        output::print_turn(&session, &turn, &ending, format, out);
        Ok(ending.outcome)
    }

    /// Checks that the roles of the command line are configured. With `--report`, adds an unknown one as an ad hoc
    /// role.
    fn admit_roles(&self, policy: &mut Policy) -> Result<(), Failure> {
        for name in &self.roles {
            let role = RoleName::from(name.as_str());
            if policy.role(&role).is_some() {
                continue;
            }
            if self.report.is_none() {
                let known: Vec<String> = policy.roles.iter().map(|role| format!("`{}`", role.name)).collect();
                return Err(Failure::usage(format!("there is no role `{name}`"))
                    .with_hint(format!("the config names {}", known.join(", "))));
            }
            policy.roles.push(Role { blocks: false, ad_hoc: true, ..Role::new(role) });
        }
        match (&self.report, self.roles.as_slice()) {
            (Some(_), [_]) | (None, _) => Ok(()),
            (Some(_), _) => Err(Failure::usage("a report is for one role").with_hint("give `--role` once")),
        }
    }

    /// Runs one turn: begins it, takes or makes the reports, and finishes it with them.
    async fn run_turn(&self, session: &PullSession, out: &Console) -> Result<Turn, Failure> {
        let gates = if self.dry_run {
            Gates::dry_run()
        } else {
            Gates::new(session.config.policy.gates.clone(), RequestedGates::new(), session.config.policy.approve)
        };
        let mut inbox = Inbox { evidence: session.load_evidence()?, ..Inbox::default() };
        inbox.evidence.full = self.full;
        inbox.scope = PlanScope::from_roles(self.roles.iter().map(|name| RoleName::from(name.as_str())));
        let fetched = session.read().await?;
        let saved = session.store.load_pending_reports(&session.key, &fetched.pull.head)?;
        if !saved.is_empty() {
            out.print_line(&format!("{} saved by an earlier run and not posted yet", pluralize(saved.len(), "report")));
        }
        inbox.reports.extend(saved.into_iter().map(|saved| saved.report));
        let begun = session.begin_with(fetched, &inbox).await?;
        let reports = match &self.report {
            Some(path) => vec![self.take_report(path, session, &begun.snapshot)?],
            None => self.run_reviewers(session, &begun, out)?,
        };
        self.write_reports(&reports)?;
        inbox.reports.extend(reports);
        let turn = session.finish(&begun, &gates, &inbox, out).await?;
        self.mark_posted(session, &begun.snapshot.pull.head, &inbox.reports, &turn)?;
        Ok(turn)
    }

    /// Runs the reviewers of the roles that are due.
    fn run_reviewers(
        &self,
        session: &PullSession,
        begun: &BegunTurn,
        out: &Console,
    ) -> Result<Vec<Submission>, Failure> {
        let BegunTurn { snapshot, plan, .. } = begun;
        out.print_line(&describe_start(session, snapshot, &plan.reviews));
        if plan.reviews.is_empty() {
            return Ok(Vec::new());
        }
        let inputs = ReviewInputs {
            checkout: session.checkout.as_ref(),
            source: &session.source,
            merge_base: snapshot.changes.merge_base.as_ref().unwrap_or(&snapshot.pull.base_sha),
            trusted_commit: session.trusted.as_ref().map(|tip| &tip.commit),
            head: &snapshot.pull.head,
            config: &session.config,
        };
        let save = |report: &Submission| self.save_report(session, report);
        reviewers::run_reviewers(&inputs, plan, &plan.reviews, &Progress::new(out), save)
    }

    /// Marks the reports of a turn that wrote everything as posted.
    fn mark_posted(
        &self,
        session: &PullSession,
        head: &Sha,
        reports: &[Submission],
        turn: &Turn,
    ) -> Result<(), Failure> {
        let undone =
            |it: &Receipt| matches!(it.outcome, StepOutcome::Failed | StepOutcome::Unknown | StepOutcome::Planned);
        if self.dry_run || turn.needs_rerun || turn.receipts.iter().any(undone) {
            return Ok(());
        }
        // Another process may have saved a report meanwhile that this turn does not know.
        let mut saved = session.store.load_pending_reports(&session.key, head)?;
        saved.retain(|saved| reports.contains(&saved.report));
        Ok(session.store.mark_posted(&saved.iter().map(|saved| saved.id).collect::<Vec<_>>())?)
    }

    /// Saves reports before anything is posted, so that a run that fails loses none.
    fn save_report(&self, session: &PullSession, report: &Submission) -> Result<(), Failure> {
        if self.dry_run {
            return Ok(());
        }
        Ok(session.store.save_report(&session.key, report)?)
    }

    fn write_reports(&self, reports: &[Submission]) -> Result<(), Failure> {
        let Some(path) = &self.report_out else { return Ok(()) };
        let written = match reports {
            [report] => serde_json::to_vec_pretty(report),
            reports => serde_json::to_vec_pretty(reports),
        };
        let bytes = written.map_err(|error| Failure::failed(error.to_string()))?;
        std::fs::write(path, bytes)
            .map_err(|error| Failure::failed(format!("`{}` cannot be written: {error}", path.display())))
    }

    /// Reads the report of the command line, and saves it.
    fn take_report(&self, path: &Path, session: &PullSession, snapshot: &Snapshot) -> Result<Submission, Failure> {
        let files: Vec<String> = snapshot.changes.files.iter().map(|file| file.path.clone()).collect();
        let bytes = payload::read_bytes(path)?;
        let [role] = self.roles.as_slice() else { return Err(Failure::usage("a report is for one role")) };
        let role = RoleName::from(role.as_str());
        let origin = ReportContext {
            role: &role,
            head: &snapshot.pull.head,
            checkout_root: session.checkout.as_ref().and_then(|git| git.work_tree_root()),
            changed_files: &files,
            tool_exit: formats::ToolExit::Unknown,
            levels: &session.config.rule_levels(&role),
        };
        let recognised = || formats::Format::recognise(&bytes).unwrap_or(formats::Format::Referee);
        let format = self.report_format.unwrap_or_else(recognised);
        let report = formats::parse_report(format, &bytes, &origin).map_err(|error| {
            Failure::usage(format!("nothing was taken from `{}`: {error}", path.display()))
                .with_hint("`--report-format` names its format; `referee schema report` prints referee's own")
        })?;
        self.save_report(session, &report)?;
        Ok(report)
    }

    fn choose_threshold(&self, session: &PullSession, format: OutputFormat) -> FailThreshold {
        match self.fail_on {
            Some(FailOn::Never) => FailThreshold::Never,
            Some(FailOn::Verdict) => FailThreshold::Verdict,
            Some(FailOn::Critical) => FailThreshold::Severity(Severity::Critical),
            Some(FailOn::Warning) => FailThreshold::Severity(Severity::Warning),
            Some(FailOn::Any) => FailThreshold::Severity(Severity::Suggestion),
            // An uploaded SARIF file carries its findings; a failed job would hide the upload.
            None if session.is_local() && format != OutputFormat::Sarif => FailThreshold::Verdict,
            None => FailThreshold::Never,
        }
    }
}

fn describe_start(session: &PullSession, snapshot: &Snapshot, briefs: &[Brief]) -> String {
    let (pull, files) = (&snapshot.pull, pluralize(snapshot.changes.files.len(), "file"));
    let what = format!("{}: {}..{}, {files}", session.name, pull.base, pull.head.short());
    match briefs {
        [] => format!("looking at {what}"),
        briefs => {
            let roles: Vec<&str> = briefs.iter().map(|brief| brief.role.as_str()).collect();
            format!("reviewing {what}, by {}", roles.join(", "))
        }
    }
}
