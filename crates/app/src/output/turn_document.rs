//! The JSON document of a turn, `referee/turn-1`.

use referee_core::model::{
    Accounting, FindingState, HeldBack, Overflow, ReportOutcome as Reported, RoleName, Severity, Snapshot, Verdict,
};
use referee_core::plan::{Action, BlockedCause, Brief, Next, Plan, Reason, Refusal, Scope, Step, WaitingOn};
use referee_turn::{Receipt, StepOutcome};
use schemars::JsonSchema;
use serde::Serialize;

use super::review_ending::describe_unread;

/// What a turn document is built from: an applied turn, or a plan that was only computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnView<'a> {
    pub(crate) snapshot: &'a Snapshot,
    /// The last plan of the turn.
    pub(crate) plan: &'a Plan,
    /// The steps of all plans of the turn.
    pub(crate) steps: &'a [Step],
    /// One per step, in the same order; empty where nothing was applied.
    pub(crate) receipts: &'a [Receipt],
    /// The round limit of the policy.
    pub(crate) max_rounds: u32,
    pub(crate) calls: Calls,
}

/// The document that `review`, `explain` and `fix-comments` print with `--json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TurnDocument {
    schema: &'static str,
    pull: TurnPull,
    roles: Vec<TurnRole>,
    findings: Vec<TurnFinding>,
    steps: Vec<StepEntry>,
    refused: Vec<RefusalEntry>,
    next: NextEntry,
    reviews: Vec<ReviewEntry>,
    /// Where the results of each report of this run went (PUB-23).
    accounting: Vec<AccountingEntry>,
    calls: Calls,
    /// The phase of the threads (TRI-8). Only `comments` and `fix-comments` set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct TurnPull {
    forge: String,
    repo: String,
    number: u64,
    head: String,
    base: String,
    round: u32,
    rounds: u32,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct TurnRole {
    role: String,
    /// Outcome of the role's report in this run.
    outcome: Option<&'static str>,
    /// What that report says as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    own: Option<Verdict>,
    enforced: Option<Verdict>,
    at_head: bool,
    /// Why the role, which this run selects, has not read the head completely.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_reviewed: Option<String>,
    /// Open findings that fit nowhere on the pull (D33).
    #[serde(skip_serializing_if = "Overflow::is_empty")]
    #[schemars(default)]
    overflow: Overflow,
}

/// Where the results of one report went. Every result is in exactly one of the counts after `received`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct AccountingEntry {
    role: String,
    received: u32,
    new: u32,
    known: u32,
    /// Equal to another result of the same report (D38).
    merged: u32,
    held_back: u32,
    /// Why results were held back.
    #[serde(skip_serializing_if = "HeldBack::is_empty")]
    #[schemars(default)]
    held_back_because: HeldBack,
    pre_existing: u32,
    without_place: u32,
    outside: u32,
    off: u32,
    unsupported: u32,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct TurnFinding {
    id: String,
    role: String,
    severity: Severity,
    path: String,
    line: Option<u32>,
    end_line: Option<u32>,
    column: Option<u32>,
    title: String,
    body: String,
    rule: Option<String>,
    /// Web page of the rule.
    help: Option<String>,
    state: FindingState,
    /// Whether the finding still counts against the pull.
    counts: bool,
    thread: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct StepEntry {
    action: &'static str,
    target: Option<String>,
    reason: String,
    receipt: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default)]
    note: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct RefusalEntry {
    what: String,
    why: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct NextEntry {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<BlockedCause>,
    why: String,
}

/// A role that should read this head now (D29).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct ReviewEntry {
    role: String,
    scope: ReviewScopeEntry,
    /// The head that was last read completely, for the scope `since`.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    why: String,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ReviewScopeEntry {
    /// Everything the pull changes.
    Whole,
    /// What changed since an earlier head, and the open findings.
    Since,
}

/// Number of requests sent to the forge.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Calls {
    pub(crate) reads: usize,
    pub(crate) writes: usize,
}

impl From<referee_forge::RequestCounts> for Calls {
    fn from(counts: referee_forge::RequestCounts) -> Self {
        let referee_forge::RequestCounts { reads, writes } = counts;
        Self { reads, writes }
    }
}

impl TurnDocument {
    pub(crate) fn from_view(view: &TurnView<'_>) -> Self {
        let TurnView { snapshot, plan, steps, receipts, max_rounds: rounds, calls } = *view;
        let pull = &snapshot.pull;
        Self {
            schema: "referee/turn-1",
            pull: TurnPull {
                forge: pull.forge.clone(),
                repo: pull.repo_name.clone(),
                number: pull.number.0,
                head: pull.head.to_string(),
                base: pull.base.clone(),
                round: plan.round,
                rounds,
            },
            roles: plan.roles.iter().map(|role| build_role(role, snapshot)).collect(),
            findings: plan.findings.iter().map(build_finding).collect(),
            steps: steps.iter().enumerate().map(|(index, step)| build_step(step, receipts.get(index))).collect(),
            refused: plan.refused.iter().map(build_refusal).collect(),
            next: build_next(plan),
            reviews: plan.reviews.iter().map(build_review).collect(),
            accounting: plan.accounting.iter().map(build_accounting).collect(),
            calls,
            phase: None,
        }
    }
}

fn build_role(role: &referee_core::plan::RoleState, snapshot: &Snapshot) -> TurnRole {
    let report = snapshot.latest_report(&role.role);
    let outcome = report.map(|report| match report.outcome {
        Reported::Findings(_) => "findings",
        Reported::Clean(_) => "clean",
        Reported::Failed { .. } => "failed",
    });
    TurnRole {
        role: role.role.to_string(),
        outcome,
        summary: report.map(|report| report.summary.clone()).filter(|summary| !summary.is_empty()),
        own: role.own,
        enforced: role.enforced,
        at_head: role.at_head,
        not_reviewed: describe_unread(role, snapshot),
        overflow: role.overflow,
    }
}

fn build_accounting((role, accounting): &(RoleName, Accounting)) -> AccountingEntry {
    let Accounting { received, new, known, merged, held_back, pre_existing, without_place, outside, off, unsupported } =
        *accounting;
    AccountingEntry {
        role: role.to_string(),
        received,
        new,
        known,
        merged,
        held_back: held_back.total(),
        held_back_because: held_back,
        pre_existing,
        without_place,
        outside,
        off,
        unsupported,
    }
}

fn build_finding(line: referee_core::plan::FindingLine<'_>) -> TurnFinding {
    TurnFinding {
        id: line.id.to_string(),
        role: line.role.to_string(),
        severity: line.severity,
        path: line.path.to_string(),
        line: line.line,
        end_line: line.detail.end_line,
        column: line.detail.column,
        title: line.title.to_owned(),
        body: line.detail.body.to_owned(),
        rule: line.rule.map(str::to_owned),
        help: line.detail.help.map(str::to_owned),
        state: line.state,
        counts: line.counts,
        thread: line.thread.map(str::to_owned),
    }
}

pub(super) fn build_step(step: &Step, receipt: Option<&Receipt>) -> StepEntry {
    StepEntry {
        action: step.action.name(),
        target: describe_target(&step.action),
        reason: format_reason(&step.reason),
        receipt: receipt.map_or(StepOutcome::Planned, |receipt| receipt.outcome).name(),
        note: receipt.map(|receipt| receipt.note.clone()).unwrap_or_default(),
    }
}

pub(super) fn build_refusal(refusal: &Refusal) -> RefusalEntry {
    RefusalEntry { what: refusal.what.clone(), why: format_reason(&refusal.why) }
}

/// Returns what a step acts on: a role, or an object by its id on the forge.
fn describe_target(action: &Action) -> Option<String> {
    Some(match action {
        Action::PostReview { role, .. } | Action::OpenThreads { role, .. } => role.to_string(),
        Action::EditReview { review, .. } | Action::Supersede { review, .. } => review.to_string(),
        Action::Reply { thread, .. } | Action::Resolve { thread, .. } => thread.to_string(),
        Action::EnsureComment { existing, .. } => return existing.as_ref().map(ToString::to_string),
        Action::SetLabel { name, .. } => name.clone(),
        Action::Assign { who, .. } => return who.as_ref().map(ToString::to_string),
        Action::SetStatus { context, .. } => context.clone(),
    })
}

pub(super) fn build_next(plan: &Plan) -> NextEntry {
    let (kind, on, cause) = match &plan.next {
        Next::Idle => ("idle", None, None),
        Next::Wait(waiting_on) => ("wait", Some(describe_waiting_on(waiting_on)), None),
        Next::Spawn(job) => ("spawn", Some(job.kind.to_string()), None),
        Next::Ready => ("ready", None, None),
        Next::Blocked(cause) => ("blocked", None, Some(*cause)),
    };
    NextEntry { kind, on, cause, why: format_reason(&plan.why) }
}

pub(super) fn build_review(brief: &Brief) -> ReviewEntry {
    let (scope, since) = match &brief.scope {
        Scope::Whole => (ReviewScopeEntry::Whole, None),
        Scope::Since(head) => (ReviewScopeEntry::Since, Some(head.to_string())),
    };
    ReviewEntry { role: brief.role.to_string(), scope, since, why: format_reason(&brief.why) }
}

fn describe_waiting_on(waiting_on: &WaitingOn) -> String {
    match waiting_on {
        WaitingOn::Author => "author".to_owned(),
        WaitingOn::Person(login) => login.to_string(),
        WaitingOn::Operator => "operator".to_owned(),
        WaitingOn::Reviewer(names) => join_role_names(names.iter().map(String::as_str)),
        WaitingOn::Checks => "checks".to_owned(),
        WaitingOn::Worker => "worker".to_owned(),
        WaitingOn::Forge => "forge".to_owned(),
    }
}

fn join_role_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

pub(super) fn format_reason(reason: &Reason) -> String {
    if reason.facts.is_empty() {
        reason.rule.to_string()
    } else {
        format!("{}: {}", reason.rule, reason.facts.join(", "))
    }
}
