//! The input of a role's summary. All of it is on the forge or in the policy, so that a later turn can render the same
//! text; its hash shows whether anything must be written (PUB-2).

use std::hash::{Hash, Hasher};

use crate::decide::FindingRemark;
use crate::mark::Evaluation;
use crate::model::{FindingDetail, FindingId, Login, Overflow, PreExisting, RoleName, RunCost, Severity, Sha, Verdict};

/// The input of a role's summary.
#[derive(Clone, Debug, Hash)]
pub struct Summary<'a> {
    pub role: &'a RoleName,
    /// The role exists on the command line only.
    pub ad_hoc: bool,
    pub own_verdict: Verdict,
    pub enforced_verdict: Verdict,
    /// The verdict that the review is posted with; the text mentions a difference.
    pub posted_verdict: Verdict,
    /// Why own, enforced and posted verdict differ, and other notes for people.
    pub notes: &'a [SummaryNote<'a>],
    /// The head that was evaluated.
    pub head: &'a Sha,
    /// The evaluation was complete.
    pub complete: bool,
    /// Failed attempts at this change.
    pub attempts: u8,
    pub round: u32,
    pub max_rounds: u32,
    pub evaluation: &'a Evaluation,
    /// The cost of all runs of the role on this pull.
    pub spent: RunCost,
    /// The pull's budget, in millionths of a dollar.
    pub budget_micro_usd: u64,
    /// Findings that count, most severe first.
    pub open_findings: &'a [SummaryFinding<'a>],
    /// Findings that people accepted.
    pub accepted_findings: &'a [SummaryFinding<'a>],
    /// The number of findings that were dropped for lack of space.
    pub evicted_count: u32,
    /// Open findings that fit nowhere on the pull (D33).
    pub overflow: Overflow,
    /// The first of the findings outside the change; `evaluation` counts all of them.
    pub pre_existing: &'a [PreExisting],
    /// What the report says as a whole; empty if it says nothing.
    pub report_summary: &'a str,
    /// The login that people address commands to.
    pub bot: &'a Login,
}

/// A finding in a summary.
#[derive(Clone, Debug)]
pub struct SummaryFinding<'a> {
    pub id: FindingId,
    pub severity: Severity,
    /// Sanitised when rendered.
    pub title: &'a str,
    pub path: &'a str,
    pub line: Option<u32>,
    /// The role's own verdict blocks because of it (INC-12); such findings are never left out.
    pub blocking: bool,
    /// Why it matters, and the help page of its rule; shown in a fold where the finding has no thread.
    pub detail: FindingDetail<'a>,
    /// The rule that found it.
    pub rule: Option<&'a str>,
    /// Whether it has a thread, or gets one with this post.
    pub has_thread: bool,
    /// The address of its thread; empty if it has none.
    pub thread_url: &'a str,
    pub remark: FindingRemark<'a>,
    pub accepted_by: Option<&'a Login>,
}

/// A note about the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SummaryNote<'a> {
    /// A sibling blocks (PUB-7).
    Escalated { by: &'a RoleName },
    /// The approval waits for roles or people (D19).
    Waiting { on: Vec<&'a str> },
    /// Nothing blocks any more, but the block stays until the role approves (PUB-6).
    BlockStays,
    /// An approval of the role counted at a head that was not read (PUB-6, PUB-15).
    HeadUnread,
    /// Break-glass is active (D25).
    GlassBroken {
        by: &'a str,
        /// The reviewer's own description of its failure; untrusted.
        reason: &'a str,
    },
    /// The verdict was posted again because it no longer counted (PUB-20).
    Restored {
        /// Whose action took its weight.
        by: &'a str,
    },
    /// Verdicts are posted as comments: the pull is referee's own, or `approve = "off"`.
    PostedAsComment { because: &'static str },
    /// A person with write access dismissed the block; respected at this change.
    Dismissed { by: &'a str },
    /// Roles that do not apply to this change (D19).
    RolesNotAsked { roles: Vec<&'a str> },
}

impl Hash for SummaryFinding<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Self::hash_slice(std::slice::from_ref(self), state);
    }

    /// Title, body and path are most of the bytes and are left out: title and body are compared in the Block, the path only changes
    /// with the head, which is compared in the Mark. The address of the pull's page, the same for most threads, is
    /// hashed only when it differs from the one before.
    fn hash_slice<H: Hasher>(lines: &[Self], state: &mut H) {
        let mut before = "";
        for it in lines {
            let Self { id, severity, title: _, path: _, line, blocking, detail: _, rule: _, has_thread, .. } = it;
            let Self { thread_url: url, remark, accepted_by: by, .. } = it;
            let (page, place) = url.bytes().rposition(|b| b == b'#').map_or((*url, ""), |at| url.split_at(at));
            let other = (page != before).then_some(page);
            (id, severity, line, blocking, has_thread, other, place, remark, by).hash(state);
            before = page;
        }
    }
}

impl Summary<'_> {
    /// Returns the hash of all inputs and of the wording's version.
    pub fn hash_inputs(&self) -> crate::hash::Hash {
        crate::hash::Hash::digest_value(&(WORDING_VERSION, self))
    }
}

/// Increased when the wording changes, so that standing summaries are rewritten once.
const WORDING_VERSION: u32 = 2;
