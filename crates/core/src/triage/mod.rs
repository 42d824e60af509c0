//! Threads from the author's point of view: which are open, who has to decide, what was checked. Planning steps is done
//! in `decide::settle`.

mod checks;
mod completion_claims;
mod filter;
mod own_identities;
mod payload;
mod phase;
mod scan;
mod summary;
mod unthreaded;
mod view;
mod weigh;

pub use checks::{CheckEvidence, evaluate_checks, evaluate_checks_without_payload};
pub(crate) use checks::{describe_outcome, evaluate_verifications};
pub use completion_claims::{claims_resolution, find_completion_claim};
pub use filter::{OutdatedThreads, ResolvedThreads, ThreadFilter};
pub use own_identities::{Opener, OwnIdentities, ThreadClosure};
pub use payload::{PayloadFault, TriagePayload, validate_triage};
pub use phase::{Phase, PhaseNow, Question, SettleOutcome, compute_phase, update_phase_after_settling};
pub use scan::{SeenThreads, ThreadScan, build_triage, scan_threads};
pub use summary::render_summary;
pub use unthreaded::{UnthreadedFinding, find_named_finding, list_unthreaded, render_unthreaded};
pub use view::{NoteView, ThreadView};
pub use weigh::{Priority, WeighedItem, weigh_item};
