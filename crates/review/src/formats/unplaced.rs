//! Findings without a file of the repository. No thread can hold them, so the summary lists them.

use referee_core::model::{Severity, SubmittedFinding};

/// Further findings are only counted.
const MAX_LISTED_FINDINGS: usize = 20;

#[derive(Debug, Default)]
pub(super) struct UnplacedFindings {
    listed: Vec<String>,
    omitted_count: usize,
    /// The first finding that must not end in an approval.
    blocking: Option<String>,
}

impl UnplacedFindings {
    pub(super) fn add(&mut self, finding: &SubmittedFinding) {
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let location = if finding.path.is_empty() { String::new() } else { format!("{}{line}: ", finding.path) };
        let is_blocking = match finding.path.is_empty() {
            true => Severity::Warning <= finding.severity,
            false => finding.severity == Severity::Critical,
        };
        if is_blocking && self.blocking.is_none() {
            self.blocking = Some(format!("{location}{}", finding.title));
        }
        if self.listed.len() == MAX_LISTED_FINDINGS {
            self.omitted_count += 1;
            return;
        }
        self.listed.push(format!("- {location}{}", finding.title));
    }

    /// Returns why the report is incomplete. A message without a file, such as a failed build, says something about the
    /// run itself, and a critical finding outside the repository cannot be posted: neither must end in an approval.
    pub(super) fn describe_gap(&self) -> Option<String> {
        let first = self.blocking.as_ref()?;
        Some(format!("the tool reports a problem that is in no file of this repository: {first}"))
    }

    /// Renders the list for the summary; `None` if it is empty.
    pub(super) fn render(&self) -> Option<String> {
        if self.listed.is_empty() {
            return None;
        }
        let head = match self.listed.len() + self.omitted_count {
            1 => "1 finding is in no file of this repository:".to_owned(),
            count => format!("{count} findings are in no file of this repository:"),
        };
        let more = if self.omitted_count > 0 { format!("\n- and {} more", self.omitted_count) } else { String::new() };
        Some(format!("{head}\n{}{more}", self.listed.join("\n")))
    }
}
