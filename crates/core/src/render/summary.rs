//! What a role's summary is made from. All of it is on the forge or in the policy, so any later turn can make the
//! same text again; its hash says whether there is anything to write (PUB-2).

use std::hash::{Hash, Hasher};

use crate::decide::FindingRemark;
use crate::mark::Evaluation;
use crate::model::{FindingId, Login, PreExisting, RoleName, RunCost, Severity, Sha, Verdict};

/// What a role's summary is made from.
#[derive(Clone, Debug, Hash)]
pub struct Summary<'a> {
    /// Whose summary.
    pub role: &'a RoleName,
    /// Named on the command line only.
    pub ad_hoc: bool,
    /// The own verdict.
    pub own_verdict: Verdict,
    /// What is enforced.
    pub enforced_verdict: Verdict,
    /// The form of the row that carries it: a verdict in another form says so.
    pub posted_verdict: Verdict,
    /// Why own, enforced and form differ, or what else people should know.
    pub notes: &'a [SummaryNote<'a>],
    /// The head it was evaluated against.
    pub head: &'a Sha,
    /// The evaluation was complete.
    pub complete: bool,
    /// Failed attempts at this change.
    pub attempts: u8,
    /// Which round this is.
    pub round: u32,
    /// Of how many.
    pub max_rounds: u32,
    /// What the run came to.
    pub evaluation: &'a Evaluation,
    /// What all runs of the role took here.
    pub spent: RunCost,
    /// What the pull may take, in millionths of a dollar.
    pub budget_micro_usd: u64,
    /// Findings that count, gravest first.
    pub open_findings: &'a [SummaryFinding<'a>],
    /// Findings that people accepted.
    pub accepted_findings: &'a [SummaryFinding<'a>],
    /// Findings that were forgotten for want of room.
    pub evicted_count: u32,
    /// The first of the findings outside the change; `evaluation` counts all of them.
    pub pre_existing: &'a [PreExisting],
    /// The name people command referee by.
    pub bot: &'a Login,
}

/// One finding in a summary.
#[derive(Clone, Debug)]
pub struct SummaryFinding<'a> {
    /// Its id.
    pub id: FindingId,
    /// How grave.
    pub severity: Severity,
    /// In a line; made safe here.
    pub title: &'a str,
    /// The file.
    pub path: &'a str,
    /// The line.
    pub line: Option<u32>,
    /// It is one of those that the own verdict blocks for (INC-12): always told, whatever the room.
    pub blocking: bool,
    /// Its thread's page, where it has one.
    pub thread_url: &'a str,
    /// What people should know of it.
    pub remark: FindingRemark<'a>,
    /// Who accepted it.
    pub accepted_by: Option<&'a Login>,
}

/// Why own, enforced and form differ, or what else people should know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SummaryNote<'a> {
    /// A sibling blocks (PUB-7).
    Escalated {
        /// Which.
        by: &'a RoleName,
    },
    /// Approving waits for somebody (D19).
    Waiting {
        /// Roles and people.
        on: Vec<&'a str>,
    },
    /// Nothing blocks any more, but the block stays until the verdict approves (PUB-6).
    BlockStays,
    /// An own approval counted at a head that was not read (PUB-6, PUB-15).
    HeadUnread,
    /// The glass is broken (D25).
    GlassBroken {
        by: &'a str,
        /// Why; tainted.
        reason: &'a str,
    },
    /// The verdict was posted again because it had lost its weight (PUB-20).
    Restored {
        /// By whose act.
        by: &'a str,
    },
    /// Verdicts are posted as comments here: own pull, or `approve = "off"`.
    PostedAsComment {
        /// In words.
        because: &'static str,
    },
    /// A person with write access dismissed it, and that is respected at this change.
    Dismissed {
        /// Who.
        by: &'a str,
    },
    /// Roles that do not apply to this change (D19).
    RolesNotAsked {
        /// Which.
        roles: Vec<&'a str>,
    },
}

impl Hash for SummaryFinding<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Self::hash_slice(std::slice::from_ref(self), state);
    }

    /// Title and path are most of the bytes, and are left out: the one is the Block's own, the other changes with the
    /// head alone, and Block and Mark are compared by themselves. Most of the rest is the page that all threads are on:
    /// it is told where it changes.
    fn hash_slice<H: Hasher>(lines: &[Self], state: &mut H) {
        let mut before = "";
        for Self { id, severity, title: _, path: _, line, blocking, thread_url: url, remark, accepted_by: by } in lines
        {
            let (page, place) = url.bytes().rposition(|b| b == b'#').map_or((*url, ""), |at| url.split_at(at));
            let other = (page != before).then_some(page);
            (id, severity, line, blocking, other, place, remark, by).hash(state);
            before = page;
        }
    }
}

impl Summary<'_> {
    /// The hash of what the text is made from, and of the wording's own version.
    pub fn hash_inputs(&self) -> crate::hash::Hash {
        crate::hash::Hash::digest_value(&(WORDING_VERSION, self))
    }
}

/// Raised when the wording changes, so that standing summaries are written anew once.
const WORDING_VERSION: u32 = 1;
