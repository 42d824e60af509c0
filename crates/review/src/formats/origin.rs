use std::path::Path;

use referee_core::model::{Ended, Figures, RoleName, Sha, Submission};

/// Whose report it is, and what is known of its making beside its text.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// For which role.
    pub role: &'a RoleName,
    /// What was checked out when the tool ran.
    pub head: &'a Sha,
    /// Where that was: absolute paths below it are the repository's.
    pub root: Option<&'a Path>,
    /// The change's files: what a complete run has read.
    pub files: &'a [String],
    /// How the tool ended.
    pub ended: Ending,
}

/// How a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Referee ran it, and its exit code and the end of its output are as they should be.
    Well,
    /// A file was handed in, or something still held the output when the tool had ended.
    Unknown,
}

/// The schema of every report.
pub(crate) const SCHEMA: &str = "referee/report-1";

impl Origin<'_> {
    /// A report that says only why there is none (INC-15).
    pub fn failed(&self, reason: String) -> Submission {
        Submission { outcome: Ended::Failed, reason, ..self.blank() }
    }

    /// A tool's report that says nothing yet.
    pub(crate) fn blank(&self) -> Submission {
        Submission {
            schema: SCHEMA.to_owned(),
            role: self.role.clone(),
            head: self.head.clone(),
            outcome: Ended::Clean,
            reason: String::new(),
            coverage: None,
            summary: String::new(),
            findings: Vec::new(),
            positions: Vec::new(),
            deterministic: true,
            run: String::new(),
            figures: Figures::default(),
        }
    }
}
