//! Findings that have no place in the repository: told in words, since no thread can hold them.

use referee_core::model::{Severity, SubmittedFinding};

/// How many are told one by one.
const MAX_LISTED_FINDINGS: usize = 20;

#[derive(Debug, Default)]
pub(super) struct UnplacedFindings {
    listed: Vec<String>,
    omitted_count: usize,
    has_critical: bool,
}

impl UnplacedFindings {
    pub(super) fn add(&mut self, found: &SubmittedFinding) {
        self.has_critical |= found.severity == Severity::Critical;
        if self.listed.len() == MAX_LISTED_FINDINGS {
            self.omitted_count += 1;
            return;
        }
        let line = found.line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = if found.path.is_empty() { String::new() } else { format!("{}{line}: ", found.path) };
        self.listed.push(format!("- {place}{}", found.title));
    }

    /// A critical finding that cannot be raised must not end in an approval either: such a run is not complete.
    pub(super) fn has_critical(&self) -> bool {
        self.has_critical
    }

    /// For the summary.
    pub(super) fn render(&self) -> Option<String> {
        if self.listed.is_empty() {
            return None;
        }
        let head = match self.listed.len() + self.omitted_count {
            1 => "1 finding has no place in this repository:".to_owned(),
            count => format!("{count} findings have no place in this repository:"),
        };
        let more = if self.omitted_count > 0 { format!("\n- and {} more", self.omitted_count) } else { String::new() };
        Some(format!("{head}\n{}{more}", self.listed.join("\n")))
    }
}
