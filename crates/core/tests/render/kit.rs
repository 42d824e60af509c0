//! A summary to start from, and changes to it in a line.

use referee_core::decide::Remark;
use referee_core::mark::Evaluation;
use referee_core::model::{Figures, FindingId, Login, RoleName, Severity, Sha, Verdict};
use referee_core::render::{Line, Summary};

/// What summaries borrow from.
pub(crate) struct Ground {
    pub(crate) role: RoleName,
    pub(crate) head: Sha,
    pub(crate) before: Sha,
    pub(crate) bot: Login,
    pub(crate) bob: Login,
    pub(crate) evaluation: Evaluation,
    open: Vec<Line<'static>>,
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
                figures: Figures { tokens: 212_345, micro_usd: 460_000, seconds: 182, runs: 1 },
                ..Evaluation::default()
            },
            open: vec![
                Line { url: "https://git.example/acme/api/pulls/7#c4", ..line(4, Severity::Critical, TOKEN) },
                Line { path: "src/session.rs", line: Some(41), ..line(6, Severity::Critical, SESSION) },
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
            own: Verdict::Approve,
            enforced: Verdict::Approve,
            form: Verdict::Comment,
            why: &[],
            head: &self.head,
            complete: true,
            attempts: 0,
            round: 0,
            rounds: 3,
            evaluation: &self.evaluation,
            spent: Figures { tokens: 800_000, micro_usd: 1_840_000, seconds: 700, runs: 4 },
            budget: 2_000_000,
            open: &[],
            accepted: &[],
            evicted: 0,
            pre_existing: &[],
            bot: &self.bot,
        }
    }

    /// Two that block, one warning, two suggestions.
    pub(crate) fn blocking(&self) -> Summary<'_> {
        Summary {
            own: Verdict::RequestChanges,
            enforced: Verdict::RequestChanges,
            form: Verdict::RequestChanges,
            round: 2,
            open: &self.open,
            ..self.summary()
        }
    }
}

const TOKEN: &str = "Refresh token is logged when the exchange fails";
const SESSION: &str = "Session id is predictable after a restart";

/// A finding; critical ones block.
pub(crate) fn line(id: u64, severity: Severity, title: &str) -> Line<'_> {
    Line {
        id: FindingId(id),
        severity,
        blocking: severity == Severity::Critical,
        title,
        path: "src/auth.rs",
        line: Some(88),
        url: "",
        remark: Remark::None,
        by: None,
    }
}
