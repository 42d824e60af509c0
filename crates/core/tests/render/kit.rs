//! A summary to start from, and short ways to change it.

use referee_core::decide::FindingRemark;
use referee_core::mark::Evaluation;
use referee_core::model::{FindingId, Login, RoleName, RunCost, Severity, Sha, Verdict};
use referee_core::render::{Summary, SummaryFinding};

/// The data that summaries borrow.
pub(crate) struct Ground {
    pub(crate) role: RoleName,
    pub(crate) head: Sha,
    pub(crate) before: Sha,
    pub(crate) bot: Login,
    pub(crate) bob: Login,
    pub(crate) evaluation: Evaluation,
    open: Vec<SummaryFinding<'static>>,
}

pub(crate) fn sha(start: &str) -> Sha {
    Sha(format!("{start:0<40}"))
}

impl Ground {
    pub(crate) fn new() -> Self {
        Self {
            role: RoleName::from("security"),
            head: sha("9c1f2ab"),
            before: sha("41d0e77"),
            bot: Login::from("referee"),
            bob: Login::from("bob"),
            evaluation: Evaluation {
                read: 15,
                of: 15,
                figures: RunCost { tokens: 212_345, micro_usd: 460_000, seconds: 182, runs: 1 },
                ..Evaluation::default()
            },
            open: vec![
                SummaryFinding {
                    thread_url: "https://git.example/acme/api/pulls/7#c4",
                    ..line(4, Severity::Critical, TOKEN)
                },
                SummaryFinding { path: "src/session.rs", line: Some(41), ..line(6, Severity::Critical, SESSION) },
                line(7, Severity::Warning, "The lock is held across a call to the store"),
                line(8, Severity::Suggestion, "`retry` could be a loop"),
                line(9, Severity::Suggestion, "The name says less than the type"),
            ],
        }
    }

    /// Clean, posted as a comment.
    pub(crate) fn summary(&self) -> Summary<'_> {
        Summary {
            role: &self.role,
            ad_hoc: false,
            own_verdict: Verdict::Approve,
            enforced_verdict: Verdict::Approve,
            posted_verdict: Verdict::Comment,
            notes: &[],
            head: &self.head,
            complete: true,
            attempts: 0,
            round: 0,
            max_rounds: 3,
            evaluation: &self.evaluation,
            spent: RunCost { tokens: 800_000, micro_usd: 1_840_000, seconds: 700, runs: 4 },
            budget_micro_usd: 2_000_000,
            open_findings: &[],
            accepted_findings: &[],
            evicted_count: 0,
            overflow: Default::default(),
            pre_existing: &[],
            report_summary: "",
            bot: &self.bot,
        }
    }

    /// Two blocking findings, one warning, two suggestions.
    pub(crate) fn blocking(&self) -> Summary<'_> {
        Summary {
            own_verdict: Verdict::RequestChanges,
            enforced_verdict: Verdict::RequestChanges,
            posted_verdict: Verdict::RequestChanges,
            round: 2,
            open_findings: &self.open,
            ..self.summary()
        }
    }
}

const TOKEN: &str = "Refresh token is logged when the exchange fails";
const SESSION: &str = "Session id is predictable after a restart";

/// A finding; critical ones block.
pub(crate) fn line(id: u64, severity: Severity, title: &str) -> SummaryFinding<'_> {
    SummaryFinding {
        id: FindingId(id),
        severity,
        blocking: severity == Severity::Critical,
        title,
        path: "src/auth.rs",
        line: Some(88),
        detail: Default::default(),
        rule: None,
        has_thread: true,
        thread_url: "",
        remark: FindingRemark::None,
        accepted_by: None,
    }
}
