//! Findings whose path is outside the repository. No thread can hold them, so the summary lists them.

use referee_core::model::{Severity, SubmittedFinding};

/// Further findings are only counted.
const MAX_LISTED_FINDINGS: usize = 20;

#[derive(Debug, Default)]
pub(super) struct UnplacedFindings {
    listed: Vec<String>,
    omitted_count: usize,
    has_critical: bool,
}

impl UnplacedFindings {
    pub(super) fn add(&mut self, finding: &SubmittedFinding) {
        self.has_critical |= finding.severity == Severity::Critical;
        if self.listed.len() == MAX_LISTED_FINDINGS {
            self.omitted_count += 1;
            return;
        }
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let location = if finding.path.is_empty() { String::new() } else { format!("{}{line}: ", finding.path) };
        self.listed.push(format!("- {location}{}", finding.title));
    }

    /// Returns whether a critical finding is among them. It cannot be posted, but must not end in an approval either: the
    /// report then counts as incomplete.
    pub(super) fn has_critical(&self) -> bool {
        self.has_critical
    }

    /// Renders the list for the summary; `None` if it is empty.
    pub(super) fn render(&self) -> Option<String> {
        if self.listed.is_empty() {
            return None;
        }
        let head = match self.listed.len() + self.omitted_count {
            1 => "1 finding is outside this repository:".to_owned(),
            count => format!("{count} findings are outside this repository:"),
        };
        let more = if self.omitted_count > 0 { format!("\n- and {} more", self.omitted_count) } else { String::new() };
        Some(format!("{head}\n{}{more}", self.listed.join("\n")))
    }
}
