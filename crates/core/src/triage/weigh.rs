//! What an author's kind changes (TRI-10): how soon somebody looks and how sure to be. Never the class: a program's
//! finding is neither true nor false by default.
//!
//! | opened by | priority | confidence |
//! |---|---|---|
//! | a person | high | one step lower where the triage tells them that they are wrong |
//! | a role of ours | normal | as said |
//! | another program | low | as said |

use super::Opener;
use crate::model::{Class, Confidence, TriageItem};

/// How soon somebody should look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Later.
    Low,
    /// In turn.
    Normal,
    /// First.
    High,
}

/// A triaged thread with its author's kind taken into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeighedItem {
    /// As the triage says, always.
    pub class: Class,
    /// How sure.
    pub confidence: Confidence,
    /// How soon.
    pub priority: Priority,
}

/// The table above.
pub fn weigh_item(item: &TriageItem, opener: Opener) -> WeighedItem {
    let wrong = matches!(item.classification, Class::Invalid | Class::Stale);
    let confidence = match (opener, item.confidence) {
        (Opener::Person, Confidence::High) if wrong => Confidence::Medium,
        (Opener::Person, Confidence::Medium) if wrong => Confidence::Low,
        (_, said) => said,
    };
    let priority = match opener {
        Opener::Person => Priority::High,
        Opener::Own => Priority::Normal,
        Opener::Bot => Priority::Low,
    };
    WeighedItem { class: item.classification, confidence, priority }
}
