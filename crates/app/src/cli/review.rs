//! `referee review`: the reviewers run, and what they found is published.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use referee_core::model::{Outcome as Reported, RoleName, Severity, Sha, Submission};
use referee_core::plan::{Brief, Next};
use referee_core::policy::Role;
use referee_forge::{Asked, Gates};
use referee_review::formats::{self, Origin};
use referee_turn::{Inbox, Outcome, Publishing, Receipt, Turn};

use super::{Common, Which};
use crate::case::Case;
use crate::config::Setup;
use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::progress::Progress;
use crate::reviewers::{self, Reading};
use crate::show::{Format, some};
use crate::store::{Access, Texts};
use crate::table::Table;
use crate::{payload, tell};

/// Run the reviewers, and publish what they found
#[derive(Debug, Args)]
pub(super) struct Review {
    #[command(flatten)]
    which: Which,
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
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Never,
    Critical,
    Warning,
    Any,
}

impl Review {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        let access = if self.dry_run { Access::Read } else { Access::Write };
        let mut case = Case::open(common, self.which.words(), access)?;
        case.store.notes().iter().for_each(|note| out.say(&format!("warning: {note}")));
        let mut setup = case.setup(common, out)?;
        case.store.keep_texts(if setup.journal_texts { Texts::On } else { Texts::Off });
        setup.warnings.iter().for_each(|warning| out.say(&format!("warning: {warning}")));
        self.admit(&mut setup)?;
        let table = Table::new(&case, &setup)?;
        if !self.dry_run {
            case.used()?;
        }
        let turn = self.play(&table, out)?;
        let format = if out.json { Format::Json } else { self.format };
        tell::turn(&table, &turn, format, out);
        Ok(self.ending(&table, &turn, format))
    }

    /// Roles of the command line must be known; with a report, one that the config does not name is ad hoc.
    fn admit(&self, setup: &mut Setup) -> Result<(), Failure> {
        for name in &self.roles {
            let role = RoleName::from(name.as_str());
            if setup.policy.role(&role).is_some() {
                continue;
            }
            if self.report.is_none() {
                let known: Vec<String> = setup.policy.roles.iter().map(|role| format!("`{}`", role.name)).collect();
                return Err(Failure::usage(format!("there is no role `{name}`"))
                    .hint(format!("the config names {}", known.join(", "))));
            }
            let ad_hoc = Role { name: role, identity: None, blocks: false, paths: Vec::new(), ad_hoc: true };
            setup.policy.roles.push(ad_hoc);
        }
        match (&self.report, self.roles.as_slice()) {
            (Some(_), [_]) | (None, _) => Ok(()),
            (Some(_), _) => Err(Failure::usage("a report is for one role").hint("give `--role` once")),
        }
    }

    /// One turn; two where reviewers run in between.
    fn play(&self, table: &Table<'_>, out: &Out) -> Result<Turn, Failure> {
        let gates = if self.dry_run {
            Gates::dry_run()
        } else {
            Gates::new(table.setup.policy.gates.clone(), Asked::new(), table.setup.policy.approve)
        };
        let mut inbox = Inbox { evidence: table.evidence()?, reports: Vec::new() };
        inbox.evidence.full = self.full;
        inbox.evidence.only = self.roles.iter().map(|name| RoleName::from(name.as_str())).collect();
        let (snapshot, plan) = table.look(&inbox)?;
        let head = snapshot.pull.head.clone();
        let saved = table.case.store.waiting(&table.case.key, &head)?;
        if !saved.is_empty() {
            out.say(&format!("{} saved by an earlier run and not posted yet", some(saved.len(), "report")));
        }
        inbox.reports.extend(saved.iter().map(|saved| saved.report.clone()));
        let from = snapshot.changes.merge_base.as_ref().unwrap_or(&snapshot.pull.base_sha);
        let fresh = match &self.report {
            Some(path) => {
                let files = snapshot.changes.files.iter().map(|file| file.path.clone()).collect();
                let report = self.handed_in(path, table, &head, files)?;
                self.save(table, &report)?;
                vec![report]
            }
            None => {
                let briefs = wanted(&plan.next, &inbox.reports);
                out.say(&opening(table, &snapshot.pull.base, &head, snapshot.changes.files.len(), &briefs));
                let reading = Reading {
                    checkout: table.case.checkout.as_ref(),
                    texts: &table.case.texts,
                    from,
                    trusted: table.case.trusted.as_ref().map(|(_, commit)| commit),
                    head: &head,
                    setup: table.setup,
                };
                if briefs.is_empty() {
                    Vec::new()
                } else {
                    reviewers::run(&reading, &plan, &briefs, &Progress::new(out), |report| self.save(table, report))?
                }
            }
        };
        self.write_out(&fresh)?;
        inbox.reports.extend(fresh);
        let turn = table.play(&gates, &inbox, self.publishing(table))?;
        let cut =
            turn.receipts.iter().any(|it| matches!(it.outcome, Outcome::Failed | Outcome::Unknown | Outcome::Planned));
        if !self.dry_run && !turn.unsettled && !cut {
            // Another process may have saved one meanwhile, which was not looked at here.
            let mut saved = table.case.store.waiting(&table.case.key, &head)?;
            saved.retain(|saved| inbox.reports.contains(&saved.report));
            table.case.store.posted(&saved.iter().map(|saved| saved.id).collect::<Vec<_>>())?;
        }
        Ok(turn)
    }

    /// Roles that are left out here run in other processes (D6).
    fn publishing(&self, table: &Table<'_>) -> Publishing {
        let left_out = |role: &Role| !self.roles.iter().any(|name| *name == role.name.as_str());
        let split = !self.roles.is_empty() && table.setup.policy.roles.iter().any(left_out);
        if split && !table.case.is_local() { Publishing::Matrix } else { Publishing::Alone }
    }

    /// Saved before anything is posted: a run that fails loses no report.
    fn save(&self, table: &Table<'_>, report: &Submission) -> Result<(), Failure> {
        if self.dry_run {
            return Ok(());
        }
        Ok(table.case.store.save(&table.case.key, report)?)
    }

    fn write_out(&self, reports: &[Submission]) -> Result<(), Failure> {
        let Some(path) = &self.report_out else { return Ok(()) };
        let written = match reports {
            [report] => serde_json::to_vec_pretty(report),
            reports => serde_json::to_vec_pretty(reports),
        };
        let bytes = written.map_err(|error| Failure::failed(error.to_string()))?;
        std::fs::write(path, bytes)
            .map_err(|error| Failure::failed(format!("`{}` cannot be written: {error}", path.display())))
    }

    fn handed_in(&self, path: &Path, table: &Table<'_>, head: &Sha, files: Vec<String>) -> Result<Submission, Failure> {
        let bytes = payload::read(path)?;
        let [role] = self.roles.as_slice() else { return Err(Failure::usage("a report is for one role")) };
        let origin = Origin {
            role: &RoleName::from(role.as_str()),
            head,
            root: table.case.checkout.as_ref().and_then(|git| git.top()),
            files: &files,
            ended: formats::Ending::Unknown,
        };
        formats::parse(self.report_format, &bytes, &origin).map_err(|error| {
            Failure::usage(format!("nothing was taken from `{}`: {error}", path.display()))
                .hint("`--report-format` names its format; `referee schema report` prints referee's own")
        })
    }

    fn ending(&self, table: &Table<'_>, turn: &Turn, format: Format) -> Ending {
        let plan = &turn.plan;
        let usual = if table.case.is_local() { FailOn::Critical } else { FailOn::Never };
        let at_least = match self.fail_on.unwrap_or(usual) {
            FailOn::Never => None,
            FailOn::Critical => Some(Severity::Critical),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Any => Some(Severity::Suggestion),
        };
        let grave = at_least.is_some_and(|least| plan.findings.iter().any(|it| it.counts && it.severity >= least));
        let failed =
            |role| turn.snapshot.report(role).is_some_and(|report| matches!(report.outcome, Reported::Failed { .. }));
        let withheld = turn.receipts.iter().any(|receipt| receipt.outcome == Outcome::Withheld);
        let unsaid = |receipt: &Receipt| match receipt.outcome {
            Outcome::Failed => true,
            Outcome::Refused => receipt.action == "post_review",
            _ => false,
        };
        // An uploaded SARIF file carries its findings; a red job would hide the upload.
        if turn.unsettled {
            Ending::Later
        } else if !table.case.is_local() && turn.receipts.iter().any(unsaid) {
            Ending::Failed
        } else if grave && format != Format::Sarif {
            Ending::Findings
        } else if plan.roles.iter().any(|role| failed(&role.role)) {
            Ending::Inconclusive
        } else if matches!(plan.next, Next::Blocked(_)) {
            Ending::HumanNeeded
        } else if withheld {
            Ending::Withheld
        } else {
            Ending::Done
        }
    }
}

/// The briefs whose report is not there already.
fn wanted(next: &Next, reports: &[Submission]) -> Vec<Brief> {
    let Next::Review(briefs) = next else { return Vec::new() };
    let there: BTreeSet<&RoleName> = reports.iter().map(|report| &report.role).collect();
    briefs.iter().filter(|brief| !there.contains(&brief.role)).cloned().collect()
}

fn opening(table: &Table<'_>, base: &str, head: &Sha, files: usize, briefs: &[Brief]) -> String {
    let what = format!("{}: {base}..{}, {}", table.case.name, head.short(), some(files, "file"));
    match briefs {
        [] => format!("looking at {what}"),
        briefs => {
            let roles: Vec<&str> = briefs.iter().map(|brief| brief.role.as_str()).collect();
            format!("reviewing {what}, by {}", roles.join(", "))
        }
    }
}
