use std::path::Path;

use referee_core::model::{RoleName, RunCost, Sha, Submission, SubmittedOutcome};

/// Whose report it is, and what is known of its making beside its text.
#[derive(Clone, Copy, Debug)]
pub struct ReportContext<'a> {
    /// For which role.
    pub role: &'a RoleName,
    /// What was checked out when the tool ran.
    pub head: &'a Sha,
    /// Where that was: absolute paths below it are the repository's.
    pub checkout_root: Option<&'a Path>,
    /// The change's files: what a complete run has read.
    pub changed_files: &'a [String],
    /// How the tool ended.
    pub tool_exit: ToolExit,
}

/// How a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolExit {
    /// Referee ran it, and its exit code and the end of its output are as they should be.
    Completed,
    /// A file was handed in, or something still held the output when the tool had ended.
    Unknown,
}

/// The schema of every report.
pub(crate) const REPORT_SCHEMA: &str = "referee/report-1";

impl ReportContext<'_> {
    /// A report that says only why there is none (INC-15).
    pub fn failed_report(&self, reason: String) -> Submission {
        Submission { outcome: SubmittedOutcome::Failed, reason, ..self.empty_report() }
    }

    /// A tool's report that says nothing yet.
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
            figures: RunCost::default(),
        }
    }
}
