use std::path::Path;

use referee_core::model::{Accounting, RoleName, RunCost, Sha, Submission, SubmittedOutcome};

use crate::levels::RuleLevels;

/// What is known of a report besides its text.
#[derive(Clone, Copy, Debug)]
pub struct ReportContext<'a> {
    pub role: &'a RoleName,
    /// The commit that was checked out when the tool ran.
    pub head: &'a Sha,
    /// The folder of the checkout. Absolute paths below it are paths of the repository.
    pub checkout_root: Option<&'a Path>,
    /// The changed files. They are the coverage of a complete run.
    pub changed_files: &'a [String],
    pub tool_exit: ToolExit,
    /// The severities that the config sets for the role's results.
    pub levels: &'a RuleLevels,
}

/// How a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolExit {
    /// Referee ran the tool, its exit code is accepted, and its output was read to the end.
    Completed,
    /// The report comes from a file, or a descendant of the tool still held the output open.
    Unknown,
}

pub(crate) const REPORT_SCHEMA: &str = "referee/report-1";

impl ReportContext<'_> {
    /// Returns a failed report (INC-15).
    pub(crate) fn failed_report(&self, reason: String) -> Submission {
        Submission { outcome: SubmittedOutcome::Failed, reason, ..self.empty_report() }
    }

    /// Returns a report of a tool without content.
    pub(crate) fn empty_report(&self) -> Submission {
        Submission {
            schema: REPORT_SCHEMA.to_owned(),
            role: self.role.clone(),
            head: self.head.clone(),
            outcome: SubmittedOutcome::Clean,
            reason: String::new(),
            coverage: None,
            summary: String::new(),
            findings: Vec::new(),
            positions: Vec::new(),
            deterministic: true,
            run: String::new(),
            left_out: Accounting::default(),
            tool: None,
            figures: RunCost::default(),
        }
    }
}
