//! The data of a pull: plain values with accessors, no decisions.

pub mod accounting;
pub mod answer;
pub mod author;
pub mod board;
pub mod checks;
pub mod commit_audit;
pub mod finding;
pub mod id;
pub mod pull;
pub mod report;
pub mod review;
pub mod snapshot;
pub mod submission;
pub mod text;
pub mod thread;
pub mod time;

pub use accounting::{Accounting, HeldBack, Overflow};
pub use answer::{Answer, CheckOutcome, Class, Confidence, LocalCheck, Triage, TriageItem, Verification};
pub use author::{Access, Author};
pub use board::{Board, Issue};
pub use checks::{Check, CheckState, Checks};
pub use commit_audit::{CommitAudit, ProtectedLink, RebaseAudit};
pub use finding::{FindingDetail, FindingState, Position, Severity, Stance, StoredDetail};
pub use id::{
    CommentId, EditId, FindingId, IssueNumber, Login, NoteId, PullNumber, RepoId, ReviewId, RoleName, Sha, ThreadId,
};
pub use pull::{Label, Mergeable, Pull, PullState, Push, ReviewRequest};
pub use report::{Coverage, FindingPosition, PreExisting, RaisedFinding, Report, ReportOutcome, RunCost, SkippedFile};
pub use review::{Review, ReviewKind, ReviewWeight, Verdict};
pub use snapshot::{
    Capabilities, Changes, Completeness, Evidence, Lease, Snapshot, Support, TrackedFinding, Viewer, WorkResult,
};
pub use submission::{Submission, SubmittedFinding, SubmittedOutcome, SubmittedPosition};
pub use text::{BotText, MAX_READ_TEXT_BYTES, Text, TextReading};
pub use thread::{Comment, Note, Resolution, Thread};
pub use time::{Span, Time};
