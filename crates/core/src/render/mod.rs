//! Renders every text that referee posts or prints about a plan. Equal inputs give equal texts.

mod accounting;
mod command_response;
mod coverage;
mod explain;
mod findings;
mod headline;
mod notice;
mod operator;
mod phrase;
mod plan;
mod pull_description;
pub mod reply;
mod status;
mod summary;
mod summary_text;
mod summary_words;
mod superseded;
mod terminal;
mod thread;
mod thread_root;
mod topic;
mod worker;

pub use accounting::{render_accounting, render_overflow};
pub use command_response::{CommandPermission, CommandResponse, CommandResponseKind, render_command_response};
pub use explain::{ExplainHeading, PersonVerdict, render_explanation};
pub use notice::{BlockingNotice, render_notice};
pub use operator::{OpenFinding, OperatorNote, OperatorOption, StopReason, render_operator_note};
pub use phrase::{render_failure, render_report_summary, render_title};
pub use plan::render_plan;
pub use pull_description::{PullDescription, render_pull_description};
pub use status::{render_status, render_unread_status};
pub use summary::{Summary, SummaryFinding, SummaryNote};
pub use summary_text::render_summary;
pub use summary_words::{SummaryWords, split_summary};
pub use superseded::render_superseded;
pub use terminal::{TerminalSafe, is_terminal_unsafe, render_report_words};
pub use thread::{
    HintReason, SettlementReason, render_acceptance_hint, render_accepted_reply, render_concession, render_contest,
    render_fixed_reply, render_rebuttal, render_rule_reply, render_settled_root, render_worsened_reply,
};
pub use thread_root::{RootWords, ThreadRoot, render_thread_root, split_thread_root};
pub use topic::{BreakGlassNote, JobNote, ReadyNote, render_break_glass_note, render_job_note, render_ready_note};
pub use worker::{FixPlanItem, FixPlanNote, FixSubject, SelfReviewNote, render_fix_plan, render_self_review};
