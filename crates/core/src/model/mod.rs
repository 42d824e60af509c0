//! What is known of a pull: plain values, no behaviour beyond reading them.

pub mod answer;
pub mod board;
pub mod checks;
pub mod finding;
pub mod id;
pub mod person;
pub mod pull;
pub mod report;
pub mod review;
pub mod snapshot;
pub mod submission;
pub mod text;
pub mod thread;
pub mod time;

pub use answer::{Answer, Class, Confidence, LocalCheck, Outcome as CheckOutcome, Triage, TriageItem, Verification};
pub use board::{Board, Issue};
pub use checks::{Check, CheckState, Checks};
pub use finding::{FindingState, Position, Severity, Stance};
pub use id::{
    CommentId, EditId, FindingId, IssueNumber, Login, NoteId, PullNumber, RepoId, ReviewId, RoleName, Sha, ThreadId,
};
pub use person::{Access, Author};
pub use pull::{Label, Mergeable, Pull, PullState, Push, ReviewRequest};
pub use report::{Coverage, Figures, Outcome, PositionSaid, PreExisting, Raised, Report, Skipped};
pub use review::{Counts, Review, Row, Verdict};
pub use snapshot::{
    Capabilities, Changes, Completeness, Evidence, Lease, Snapshot, Support, Tracked, Viewer, WorkResult,
};
pub use submission::{Ended, Found, Stated, Submission};
pub use text::{BotText, Reading, Text};
pub use thread::{Comment, Note, Resolution, Thread};
pub use time::{Span, Time};
