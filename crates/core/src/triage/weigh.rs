//! Priority and confidence by the kind of opener (TRI-10). The class does not change: a bot's finding is neither right
//! nor wrong by default.
//!
//! | opened by | priority | confidence |
//! |---|---|---|
//! | a person | high | one step lower if the triage contradicts the person |
//! | a role of referee | normal | unchanged |
//! | another bot | low | unchanged |

use super::Opener;
use crate::model::{Class, Confidence, TriageItem};

/// Priority of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    Low,
    Normal,
    High,
}

/// The triage of a thread, weighed by its opener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeighedItem {
    /// Unchanged from the triage.
    pub class: Class,
    pub confidence: Confidence,
    pub priority: Priority,
}

/// Weighs a triage item according to the table above.
pub fn weigh_item(item: &TriageItem, opener: Opener) -> WeighedItem {
    let contradicts_opener = matches!(item.classification, Class::Invalid | Class::Stale);
    let confidence = match (opener, item.confidence) {
        (Opener::Person, Confidence::High) if contradicts_opener => Confidence::Medium,
        (Opener::Person, Confidence::Medium) if contradicts_opener => Confidence::Low,
        (_, confidence) => confidence,
    };
    let priority = match opener {
        Opener::Person => Priority::High,
        Opener::Own => Priority::Normal,
        Opener::Bot => Priority::Low,
    };
    WeighedItem { class: item.classification, confidence, priority }
}
