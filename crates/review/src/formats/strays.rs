//! Findings that have no place in the repository: told in words, since no thread can hold them.

use referee_core::model::{Found, Severity};

/// How many are told one by one.
const TOLD: usize = 20;

#[derive(Debug, Default)]
pub(super) struct Strays {
    told: Vec<String>,
    more: usize,
    grave: bool,
}

impl Strays {
    pub(super) fn add(&mut self, found: &Found) {
        self.grave |= found.severity == Severity::Critical;
        if self.told.len() == TOLD {
            self.more += 1;
            return;
        }
        let line = found.line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = if found.path.is_empty() { String::new() } else { format!("{}{line}: ", found.path) };
        self.told.push(format!("- {place}{}", found.title));
    }

    /// A critical finding that cannot be raised must not end in an approval either: such a run is not complete.
    pub(super) fn is_grave(&self) -> bool {
        self.grave
    }

    /// For the summary.
    pub(super) fn words(&self) -> Option<String> {
        if self.told.is_empty() {
            return None;
        }
        let head = match self.told.len() + self.more {
            1 => "1 finding has no place in this repository:".to_owned(),
            count => format!("{count} findings have no place in this repository:"),
        };
        let more = if self.more > 0 { format!("\n- and {} more", self.more) } else { String::new() };
        Some(format!("{head}\n{}{more}", self.told.join("\n")))
    }
}
