//! What `threads` says of every role, and the later stages build on.

use std::borrow::Cow;

use crate::facts::{KnownFinding, RoleFacts};
use crate::model::{FindingId, FindingState, Login, RoleName, Severity, Sha, ThreadId, Time, Verdict};
use crate::plan::NewThread;
use crate::track::Fingerprint;

/// One role with its findings judged.
#[derive(Debug)]
pub struct RoleJudgement<'a> {
    /// The role.
    pub role: &'a RoleFacts<'a>,
    /// All its findings, by id: those that are settled too.
    pub findings: Vec<JudgedFinding<'a>>,
    /// Its own verdict now (INC-12); `None` if it never spoke.
    pub own_verdict: Option<Verdict>,
    /// Its findings are grave enough to block.
    pub reaches_blocking_threshold: bool,
    /// It has a complete verdict for this very change, a fresh report included (D19).
    pub is_current: bool,
    /// What was done with the fresh report.
    pub report_status: ReportStatus<'a>,
    /// Threads to be opened with the next post, or beside the standing review.
    pub new_threads: Vec<NewThread>,
    /// Findings of the report that were not raised: below the floor, outside the delta, or known and settled.
    pub held_back: usize,
}

/// What a fresh report amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportStatus<'a> {
    /// There is none.
    Absent,
    /// Complete, and of this head.
    Complete,
    /// It may add findings; it neither resolves nor approves (INC-15).
    Incomplete {
        /// What is missing.
        why: &'static str,
    },
    /// Nothing can be said.
    Failed {
        /// Why.
        reason: &'a str,
    },
}

/// One finding, judged.
#[derive(Clone, Debug)]
pub struct JudgedFinding<'a> {
    /// Its id.
    pub id: FindingId,
    /// How grave, now.
    pub severity: Severity,
    /// Where it stands.
    pub state: FindingState,
    /// It counts towards the own verdict.
    pub counts: bool,
    /// Its title, made safe and cut as it is remembered: the same text in this turn and in the next.
    pub title: Cow<'a, str>,
    /// The file, now.
    pub path: &'a str,
    /// The line, now.
    pub line: Option<u32>,
    /// The rule that found it.
    pub rule: Option<&'a str>,
    /// Its identity.
    pub fingerprint: &'a Fingerprint,
    /// The head at which it was raised or last worsened.
    pub head: &'a Sha,
    /// Its thread, once it has one.
    pub thread: Option<&'a ThreadId>,
    /// The thread's page.
    pub thread_url: &'a str,
    /// A thread is opened in this plan.
    pub opens_thread: bool,
    /// Who accepted it.
    pub accepted_by: Option<&'a Login>,
    /// When somebody said `reopen`, the last word on it.
    pub reopened_at: Option<Time>,
    /// What people should know of it.
    pub remark: FindingRemark<'a>,
    /// What was known before.
    pub known: Option<&'a KnownFinding<'a>>,
    /// It is not settled, and only a person can settle it.
    pub needs_human_reason: Option<&'static str>,
    /// It was new, fixed, worsened or settled by this turn's report.
    pub change: FindingChange,
}

/// What people should know of a finding, in the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FindingRemark<'a> {
    /// Nothing.
    #[default]
    None,
    /// The thread was resolved by one who may not accept it (D12).
    ResolvedBy(&'a str),
    /// The reviewer says fixed, but the code did not change (D9).
    ClaimedFixed,
    /// It was settled and is back: broken again, or graver (INC-10, D12).
    ReopenedIn(&'a Sha),
}

/// What this turn's report did to a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FindingChange {
    /// Nothing.
    #[default]
    Unchanged,
    /// Raised it.
    Raised,
    /// Found it fixed.
    Fixed,
    /// Found it worse.
    Worsened,
    /// Gave in, or a person accepted it.
    Settled,
}

impl RoleJudgement<'_> {
    /// The role's name.
    pub fn name(&self) -> &RoleName {
        &self.role.role.name
    }

    /// The rubric (INC-12), for an evaluation that is complete or not.
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

    /// Findings that count, gravest first, then by id.
    pub fn counting_findings(&self) -> Vec<&JudgedFinding<'_>> {
        let mut counting = Vec::with_capacity(self.findings.len());
        counting.extend(self.findings.iter().filter(|it| it.counts));
        counting.sort_by_key(|it: &&JudgedFinding<'_>| (std::cmp::Reverse(it.severity), it.id));
        counting
    }

    /// Whether this role is asked about this change: it looks at files of it, or blocks now. Its standing verdict has
    /// no say in what is told, since the next turn sees another one.
    pub fn is_involved(&self) -> bool {
        self.role.matches_changed_files || self.is_blocking()
    }

    /// Whether this role blocks now.
    pub fn is_blocking(&self) -> bool {
        self.role.role.blocks && self.own_verdict == Some(Verdict::RequestChanges)
    }
}
