//! The judgement about each role: made by `threads`, used by the later stages.

use crate::facts::{KnownFinding, RoleFacts};
use crate::model::{
    Accounting, FindingDetail, FindingId, FindingState, Login, Overflow, RoleName, Severity, Sha, ThreadId, Time,
    Verdict,
};
use crate::plan::NewThread;
use crate::track::Fingerprint;

/// A role with its findings judged.
#[derive(Debug)]
pub struct RoleJudgement<'a> {
    pub role: &'a RoleFacts<'a>,
    /// All findings of the role by id, settled ones included.
    pub findings: Vec<JudgedFinding<'a>>,
    /// The role's own verdict now (INC-12); `None` if it never reviewed.
    pub own_verdict: Option<Verdict>,
    /// The counting findings are severe enough to block.
    pub reaches_blocking_threshold: bool,
    /// The role has a complete verdict for this change, counting a fresh report (D19).
    pub is_current: bool,
    /// What this turn's report amounts to.
    pub report_status: ReportStatus<'a>,
    /// Threads to open, together with the next post or beside the standing review.
    pub new_threads: Vec<NewThread>,
    /// Where the results of the report went (PUB-23). All zero without a report.
    pub accounting: Accounting,
    /// Open findings that fit nowhere on the pull (D33).
    pub overflow: Overflow,
}

/// The state of a role's report in this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportStatus<'a> {
    /// No report was submitted in this turn.
    Absent,
    /// The report is complete and of this head.
    Complete,
    /// The report may add findings; it neither resolves nor approves (INC-15).
    Incomplete {
        /// What is missing.
        why: &'static str,
    },
    /// The reviewer failed, so nothing is known.
    Failed { reason: &'a str },
}

/// A finding with its state after this turn.
#[derive(Clone, Debug)]
pub struct JudgedFinding<'a> {
    pub id: FindingId,
    pub severity: Severity,
    pub state: FindingState,
    /// It counts toward the role's own verdict.
    pub counts: bool,
    /// The whole title. Untrusted text.
    pub title: &'a str,
    /// The path in the current head.
    pub path: &'a str,
    /// The line in the current head; `None` for a finding on a whole file.
    pub line: Option<u32>,
    pub rule: Option<&'a str>,
    /// Body, range, column and help page.
    pub detail: FindingDetail<'a>,
    pub fingerprint: &'a Fingerprint,
    /// The head at which it was raised or last worsened.
    pub head: &'a Sha,
    /// The thread; `None` until one was opened.
    pub thread: Option<&'a ThreadId>,
    /// The address of the thread's page.
    pub thread_url: &'a str,
    /// This plan opens a thread for it.
    pub opens_thread: bool,
    /// The login of the person who accepted it.
    pub accepted_by: Option<&'a Login>,
    /// When a person reopened it, if that was the last command about it.
    pub reopened_at: Option<Time>,
    pub remark: FindingRemark<'a>,
    /// The finding as the standing summary stores it; `None` if it is new.
    pub known: Option<&'a KnownFinding<'a>>,
    /// Why only a person can settle it; `None` if it is settled or a role can settle it.
    pub needs_human_reason: Option<&'static str>,
    pub change: FindingChange,
}

/// A note beside a finding in the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FindingRemark<'a> {
    #[default]
    None,
    /// The login of a person who resolved the thread without the right to accept the finding (D12).
    ResolvedBy(&'a str),
    /// The reviewer reports it as fixed, but the code did not change (D9).
    ClaimedFixed,
    /// It was settled and came back: broken again, or more severe (INC-10, D12).
    ReopenedIn(&'a Sha),
}

/// What this turn's report did to a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FindingChange {
    #[default]
    Unchanged,
    /// It is new.
    Raised,
    /// The report says that it is fixed.
    Fixed,
    /// The report rates it as more severe.
    Worsened,
    /// The reviewer withdrew it, or a person accepted it.
    Settled,
}

impl RoleJudgement<'_> {
    pub fn name(&self) -> &RoleName {
        &self.role.role.name
    }

    /// Computes the verdict from the counting findings (INC-12).
    ///
    /// | findings that count | evaluation | verdict |
    /// |---|---|---|
    /// | a critical, or `risk_warnings` warnings | any | request changes; comment where the role may not block |
    /// | fewer | incomplete | comment |
    /// | fewer | complete | approve |
    pub fn compute_verdict(&self, complete: bool) -> Verdict {
        match (self.reaches_blocking_threshold, complete) {
            (true, _) if self.role.role.blocks => Verdict::RequestChanges,
            (true, _) | (false, false) => Verdict::Comment,
            (false, true) => Verdict::Approve,
        }
    }

    /// Returns the findings that count, most severe first, then by id.
    pub fn counting_findings(&self) -> Vec<&JudgedFinding<'_>> {
        let mut counting = Vec::with_capacity(self.findings.len());
        counting.extend(self.findings.iter().filter(|it| it.counts));
        counting.sort_by_key(|it: &&JudgedFinding<'_>| (std::cmp::Reverse(it.severity), it.id));
        counting
    }

    /// Returns whether the role has a part in this change: it reviews some of the files, or it blocks now. The standing
    /// verdict is ignored, because the next turn sees another one.
    pub fn is_involved(&self) -> bool {
        self.role.matches_changed_files || self.is_blocking()
    }

    pub fn is_blocking(&self) -> bool {
        self.role.role.blocks && self.own_verdict == Some(Verdict::RequestChanges)
    }
}
