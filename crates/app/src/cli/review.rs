//! `referee review`: the reviewers run, and what they found is published.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use referee_core::decide::PlanScope;
use referee_core::model::{ReportOutcome as Reported, RoleName, Severity, Sha, Submission};
use referee_core::plan::{Brief, Next};
use referee_core::policy::{Policy, Role};
use referee_forge::{Gates, RequestedGates};
use referee_review::formats::{self, ReportContext};
use referee_turn::{Inbox, PublishMode, Receipt, StepOutcome, Turn};

use super::PullArgs;
use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::output::{OutputFormat, pluralize};
use crate::progress::Progress;
use crate::reviewers::{self, ReviewInputs};
use crate::session::{Options, PullSession, SessionAccess};
use crate::store::TextRetention;
use crate::{output, payload};

/// Run the reviewers, and publish what they found
#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    #[command(flatten)]
    which: PullArgs,
    /// Only this role; may be given more than once
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
    /// Take a finished report for one role, from a file or `-`
    #[arg(long, value_name = "FILE", requires = "roles")]
    report: Option<PathBuf>,
    /// The report's format
    #[arg(long, value_name = "FORMAT", default_value = "referee", requires = "report")]
    report_format: formats::Format,
    /// Keep the reports here too
    #[arg(long, value_name = "FILE")]
    report_out: Option<PathBuf>,
    /// Review everything again, not only what changed
    #[arg(long)]
    full: bool,
    /// Exit 20 when a finding is at least so grave [default: critical on local pulls, never on a forge]
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// Run the reviewers, write nothing
    #[arg(long)]
    dry_run: bool,
    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "human", conflicts_with = "json")]
    format: OutputFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Never,
    Critical,
    Warning,
    Any,
}

impl ReviewArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let access = if self.dry_run { SessionAccess::Read } else { SessionAccess::Write };
        let mut session = PullSession::open(options, self.which.text(), access, out).await?;
        session.store.warnings().iter().for_each(|note| out.print_info(&format!("warning: {note}")));
        let keep_texts = session.config.journal_texts;
        session.store.set_text_retention(if keep_texts { TextRetention::Full } else { TextRetention::HashOnly });
        session.config.warnings.iter().for_each(|warning| out.print_info(&format!("warning: {warning}")));
        self.admit_roles(&mut session.config.policy)?;
        if !self.dry_run {
            session.mark_used()?;
        }
        let turn = self.run_turn(&session, out).await?;
        let format = if out.json { OutputFormat::Json } else { self.format };
        output::print_turn(&session, &turn, format, out);
        Ok(self.choose_ending(&session, &turn, format))
    }

    /// Roles of the command line must be known; with a report, one that the config does not name is ad hoc.
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
            let ad_hoc = Role { name: role, identity: None, blocks: false, paths: Vec::new(), ad_hoc: true };
            policy.roles.push(ad_hoc);
        }
        match (&self.report, self.roles.as_slice()) {
            (Some(_), [_]) | (None, _) => Ok(()),
            (Some(_), _) => Err(Failure::usage("a report is for one role").with_hint("give `--role` once")),
        }
    }

    /// One turn; two where reviewers run in between.
    async fn run_turn(&self, session: &PullSession, out: &Console) -> Result<Turn, Failure> {
        let gates = if self.dry_run {
            Gates::dry_run()
        } else {
            Gates::new(session.config.policy.gates.clone(), RequestedGates::new(), session.config.policy.approve)
        };
        let mut inbox = Inbox { evidence: session.load_evidence()?, ..Inbox::default() };
        inbox.evidence.full = self.full;
        inbox.scope = PlanScope::from_roles(self.roles.iter().map(|name| RoleName::from(name.as_str())));
        let begun = session.begin(&inbox).await?;
        let (snapshot, plan) = (&begun.snapshot, &begun.plan);
        let head = snapshot.pull.head.clone();
        let saved = session.store.load_pending_reports(&session.key, &head)?;
        if !saved.is_empty() {
            out.print_info(&format!("{} saved by an earlier run and not posted yet", pluralize(saved.len(), "report")));
        }
        inbox.reports.extend(saved.iter().map(|saved| saved.report.clone()));
        let from = snapshot.changes.merge_base.as_ref().unwrap_or(&snapshot.pull.base_sha);
        let fresh = match &self.report {
            Some(path) => {
                let files = snapshot.changes.files.iter().map(|file| file.path.clone()).collect();
                let report = self.parse_report(path, session, &head, files)?;
                self.save_report(session, &report)?;
                vec![report]
            }
            None => {
                let briefs = select_briefs(&plan.reviews, &inbox.reports);
                out.print_info(&describe_start(
                    session,
                    &snapshot.pull.base,
                    &head,
                    snapshot.changes.files.len(),
                    &briefs,
                ));
                let reading = ReviewInputs {
                    checkout: session.checkout.as_ref(),
                    source: &session.source,
                    merge_base: from,
                    trusted_commit: session.trusted.as_ref().map(|tip| &tip.commit),
                    head: &head,
                    config: &session.config,
                };
                if briefs.is_empty() {
                    Vec::new()
                } else {
                    reviewers::run_reviewers(&reading, plan, &briefs, &Progress::new(out), |report| {
                        self.save_report(session, report)
                    })?
                }
            }
        };
        self.write_reports(&fresh)?;
        inbox.reports.extend(fresh);
        let turn = session.finish(&begun, &gates, &inbox, self.choose_publishing(session)).await?;
        let cut = turn
            .receipts
            .iter()
            .any(|it| matches!(it.outcome, StepOutcome::Failed | StepOutcome::Unknown | StepOutcome::Planned));
        if !self.dry_run && !turn.needs_rerun && !cut {
            // Another process may have saved one meanwhile, which was not looked at here.
            let mut saved = session.store.load_pending_reports(&session.key, &head)?;
            saved.retain(|saved| inbox.reports.contains(&saved.report));
            session.store.mark_posted(&saved.iter().map(|saved| saved.id).collect::<Vec<_>>())?;
        }
        Ok(turn)
    }

    /// Roles that are left out here run in other processes (D6).
    fn choose_publishing(&self, session: &PullSession) -> PublishMode {
        let left_out = |role: &Role| !self.roles.iter().any(|name| *name == role.name.as_str());
        let split = !self.roles.is_empty() && session.config.policy.roles.iter().any(left_out);
        if split && !session.is_local() { PublishMode::Matrix } else { PublishMode::SingleWriter }
    }

    /// Saved before anything is posted: a run that fails loses no report.
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

    fn parse_report(
        &self,
        path: &Path,
        session: &PullSession,
        head: &Sha,
        files: Vec<String>,
    ) -> Result<Submission, Failure> {
        let bytes = payload::read_bytes(path)?;
        let [role] = self.roles.as_slice() else { return Err(Failure::usage("a report is for one role")) };
        let origin = ReportContext {
            role: &RoleName::from(role.as_str()),
            head,
            checkout_root: session.checkout.as_ref().and_then(|git| git.work_tree_root()),
            changed_files: &files,
            tool_exit: formats::ToolExit::Unknown,
        };
        formats::parse_report(self.report_format, &bytes, &origin).map_err(|error| {
            Failure::usage(format!("nothing was taken from `{}`: {error}", path.display()))
                .with_hint("`--report-format` names its format; `referee schema report` prints referee's own")
        })
    }

    fn choose_ending(&self, session: &PullSession, turn: &Turn, format: OutputFormat) -> CliOutcome {
        let plan = &turn.plan;
        let usual = if session.is_local() { FailOn::Critical } else { FailOn::Never };
        let at_least = match self.fail_on.unwrap_or(usual) {
            FailOn::Never => None,
            FailOn::Critical => Some(Severity::Critical),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Any => Some(Severity::Suggestion),
        };
        let grave = at_least.is_some_and(|least| plan.findings.iter().any(|it| it.counts && it.severity >= least));
        let failed = |role| {
            turn.snapshot.latest_report(role).is_some_and(|report| matches!(report.outcome, Reported::Failed { .. }))
        };
        let withheld = turn.receipts.iter().any(|receipt| receipt.outcome == StepOutcome::Withheld);
        let unsaid = |receipt: &Receipt| match receipt.outcome {
            StepOutcome::Failed => true,
            StepOutcome::Refused => receipt.action == "post_review",
            _ => false,
        };
        // An uploaded SARIF file carries its findings; a red job would hide the upload.
        if turn.needs_rerun {
            CliOutcome::TryLater
        } else if !session.is_local() && turn.receipts.iter().any(unsaid) {
            CliOutcome::Failed
        } else if grave && format != OutputFormat::Sarif {
            CliOutcome::Findings
        } else if plan.roles.iter().any(|role| failed(&role.role)) {
            CliOutcome::Inconclusive
        } else if matches!(plan.next, Next::Blocked(_)) {
            CliOutcome::HumanNeeded
        } else if withheld {
            CliOutcome::Withheld
        } else {
            CliOutcome::Done
        }
    }
}

/// The briefs whose report is not there already.
fn select_briefs(reviews: &[Brief], reports: &[Submission]) -> Vec<Brief> {
    let there: BTreeSet<&RoleName> = reports.iter().map(|report| &report.role).collect();
    reviews.iter().filter(|brief| !there.contains(&brief.role)).cloned().collect()
}

fn describe_start(session: &PullSession, base: &str, head: &Sha, files: usize, briefs: &[Brief]) -> String {
    let what = format!("{}: {base}..{}, {}", session.name, head.short(), pluralize(files, "file"));
    match briefs {
        [] => format!("looking at {what}"),
        briefs => {
            let roles: Vec<&str> = briefs.iter().map(|brief| brief.role.as_str()).collect();
            format!("reviewing {what}, by {}", roles.join(", "))
        }
    }
}
