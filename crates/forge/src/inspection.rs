//! What `referee doctor` shows about a forge.

/// The results of an inspection, in the order people want to read them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    pub items: Vec<InspectionItem>,
}

/// One thing that was inspected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectionItem {
    pub status: HealthStatus,
    /// What was inspected, in one word.
    pub subject: &'static str,
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The health of one inspected thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HealthStatus {
    Fine,
    /// It works, and could be better.
    Warning,
    /// A review cannot work like this.
    Bad,
    /// The token may not ask, or the server does not say.
    Unknown,
}
