//! Threads as the fixing side reads them: what is open, who is asked, what was checked. Nothing in here
//! makes a step; `decide::settle` does, from what is read here.

mod checked;
mod claim;
mod filter;
mod own;
mod payload;
mod phase;
mod scan;
mod summary;
mod view;
mod weigh;

pub use checked::{Checked, checked, checked_before};
pub(crate) use checked::{proven, word as check_word};
pub use claim::{claims_completion, claims_resolution};
pub use filter::{Filter, Outdated, Resolved};
pub use own::{Closed, Opener, Own};
pub use payload::{Fault, TriagePayload, check_triage};
pub use phase::{Applied, Phase, PhaseNow, Question, after_settling, phase};
pub use scan::{Scan, Seen, remember, scan};
pub use summary::summary;
pub use view::{NoteView, ThreadView};
pub use weigh::{Priority, Weighed, weigh};
