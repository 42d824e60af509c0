//! Renders a plan in lines for a terminal: no colour, aligned labels, one line per item, so that `grep ^refuse` works.
//!
//! | label | content |
//! |---|---|
//! | `rule` | the rule that decided, with its facts (DSP-12) |
//! | `standing` | one line per role |
//! | `threads` | the states of the findings |
//! | `plan` | one line per step, with its reason |
//! | `refuse` | one line per refused step |
//! | `deliver` | what the worker's shell pushes or opens |
//! | `review` | one line per role that reviews this head now, with the reason (D29) |
//! | `next` | what the pull waits for |

use std::fmt::Write as _;

use super::terminal::{TerminalSafe, write_terminal_safe};
use crate::model::{CheckState, FindingState};
use crate::plan::{
    Action, BlockedCause, Brief, CommentTarget, Delivery, Next, Plan, Reason, RoleState, Scope, WaitingOn,
};

/// Renders the plan; each line ends with a line feed.
pub fn render_plan(plan: &Plan) -> String {
    let mut out = String::with_capacity(1024);
    write_line(&mut out, "rule", |out| write_reason(out, &plan.why));
    for role in &plan.roles {
        write_line(&mut out, "standing", |out| write_role_state(out, role));
    }
    write_line(&mut out, "threads", |out| write_threads(out, plan));
    for step in &plan.steps {
        write_line(&mut out, "plan", |out| {
            write_action(out, &step.action);
            write_reason_suffix(out, &step.reason);
        });
    }
    if plan.steps.is_empty() {
        write_line(&mut out, "plan", |out| out.push_str("nothing to write"));
    }
    for refusal in &plan.refused {
        write_line(&mut out, "refuse", |out| {
            write_terminal_safe(out, &refusal.what);
            write_reason_suffix(out, &refusal.why);
        });
    }
    if let Some(delivery) = &plan.delivery {
        write_line(&mut out, "deliver", |out| write_delivery(out, delivery));
    }
    for brief in &plan.reviews {
        write_line(&mut out, "review", |out| {
            write_brief(out, brief);
            write_reason_suffix(out, &brief.why);
        });
    }
    write_line(&mut out, "next", |out| write_next(out, &plan.next));
    out
}

/// Writes one labelled line.
pub(super) fn write_line(out: &mut String, label: &str, tell: impl FnOnce(&mut String)) {
    let _ = write!(out, "{label:<9}");
    tell(out);
    out.truncate(out.trim_end().len());
    out.push('\n');
}

/// Writes what happens after the turn.
fn write_next(out: &mut String, next: &Next) {
    match next {
        Next::Idle => out.push_str("nothing: the pull is closed or takes no part"),
        Next::Wait(whom) => {
            out.push_str("wait for ");
            write_waited_for(out, whom);
        }
        Next::Spawn(job) => {
            let _ = write!(out, "start worker {} for {}", job.kind, TerminalSafe(&job.cause));
            if let Some(head) = &job.head {
                let _ = write!(out, " at {}", TerminalSafe(head.short()));
            }
            if job.retry {
                out.push_str(", once more");
            }
        }
        Next::Ready => out.push_str("ready: a person may take over"),
        Next::Blocked(cause) => {
            out.push_str("blocked: ");
            out.push_str(describe_cause(*cause));
        }
    }
}

/// Writes the rule's name and its facts.
fn write_reason(out: &mut String, reason: &Reason) {
    out.push_str(reason.rule.name());
    if !reason.facts.is_empty() {
        out.push_str(": ");
        write_joined(out, &reason.facts, |out, fact| write_terminal_safe(out, fact));
    }
}

fn write_reason_suffix(out: &mut String, why: &Reason) {
    out.push_str(" (");
    write_reason(out, why);
    out.push(')');
}

fn write_role_state(out: &mut String, state: &RoleState) {
    let RoleState { role, own, enforced, at_head, unread: _, overflow: _ } = state;
    write_terminal_safe(out, role.as_str());
    let Some(own) = own else {
        out.push_str(" has no verdict yet");
        return;
    };
    let _ = write!(out, " {own}");
    if let Some(enforced) = enforced.filter(|enforced| enforced != own) {
        let _ = write!(out, ", enforced as {enforced}");
    }
    out.push_str(if *at_head { ", at this head" } else { ", not at this head" });
}

fn write_threads(out: &mut String, plan: &Plan) {
    let counting: Vec<_> = plan.findings.iter().filter(|it| it.counts).collect();
    if plan.findings.is_empty() {
        out.push_str("no findings");
        return;
    }
    let _ = write!(out, "{} open", counting.len());
    if !counting.is_empty() {
        out.push_str(" (");
        write_joined(out, &counting, |out, it| {
            let _ = write!(out, "{} {}", it.id, it.severity);
            if let Some(state) = open_state_label(it.state) {
                let _ = write!(out, " {state}");
            }
        });
        out.push(')');
    }
    for (state, word) in SETTLED_LABELS {
        let n = plan.findings.iter().filter(|it| !it.counts && it.state == state).count();
        if n > 0 {
            let _ = write!(out, " · {n} {word}");
        }
    }
}

fn open_state_label(state: FindingState) -> Option<&'static str> {
    match state {
        FindingState::New => Some("new"),
        FindingState::Answered => Some("answered"),
        FindingState::Disputed => Some("disputed"),
        FindingState::Stale => Some("stale"),
        FindingState::Open | FindingState::Fixed | FindingState::Accepted | FindingState::Refuted => None,
    }
}

fn write_action(out: &mut String, action: &Action) {
    let _ = match action {
        Action::PostReview { role, verdict, commit, threads, .. } => {
            let _ =
                write!(out, "post {} as {verdict} at {}", TerminalSafe(role.as_str()), TerminalSafe(commit.short()));
            write_opened_threads(out, threads.iter().map(|thread| thread.finding.to_string()).collect());
            Ok(())
        }
        Action::EditReview { review, .. } => write!(out, "edit review {}", TerminalSafe(review.as_str())),
        Action::Supersede { review, .. } => write!(out, "supersede review {}", TerminalSafe(review.as_str())),
        Action::OpenThreads { role, threads, .. } => {
            let _ = write!(out, "add to the review of {}", TerminalSafe(role.as_str()));
            write_opened_threads(out, threads.iter().map(|thread| thread.finding.to_string()).collect());
            Ok(())
        }
        Action::Reply { thread, .. } => write!(out, "reply in thread {}", TerminalSafe(thread.as_str())),
        Action::Resolve { thread, .. } => write!(out, "resolve thread {}", TerminalSafe(thread.as_str())),
        Action::EnsureComment { existing: Some(comment), .. } => {
            write!(out, "edit comment {}", TerminalSafe(comment.as_str()))
        }
        Action::EnsureComment { existing: None, target, .. } => write!(out, "comment on {}", TargetName(*target)),
        Action::SetLabel { name, on: true } => write!(out, "set label {}", TerminalSafe(name)),
        Action::SetLabel { name, on: false } => write!(out, "remove label {}", TerminalSafe(name)),
        Action::Assign { target, who: Some(who) } => {
            write!(out, "assign {} to {}", TargetName(*target), TerminalSafe(who.as_str()))
        }
        Action::Assign { target, who: None } => write!(out, "unassign {}", TargetName(*target)),
        Action::SetStatus { context, state, text, .. } => {
            write!(
                out,
                "status {} {}: {}",
                TerminalSafe(context),
                check_state_name(*state),
                TerminalSafe(text.as_str())
            )
        }
    };
}

fn write_opened_threads(out: &mut String, findings: Vec<String>) {
    if !findings.is_empty() {
        out.push_str(", threads for ");
        write_joined(out, &findings, |out, id| out.push_str(id));
    }
}

struct TargetName(CommentTarget);

impl std::fmt::Display for TargetName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            CommentTarget::Pull => f.write_str("the pull"),
            CommentTarget::Issue(number) => write!(f, "issue {number}"),
        }
    }
}

fn check_state_name(state: CheckState) -> &'static str {
    match state {
        CheckState::Pass => "pass",
        CheckState::Fail => "fail",
        CheckState::Pending => "pending",
        CheckState::None => "none",
    }
}

fn write_delivery(out: &mut String, delivery: &Delivery) {
    let _ = match delivery {
        Delivery::Push { commit, over, epoch } => {
            write!(out, "push {} over {}, lease {epoch}", TerminalSafe(commit.short()), TerminalSafe(over.short()))
        }
        Delivery::OpenPull { branch, commit, title, epoch, .. } => {
            let (branch, commit, title) =
                (TerminalSafe(branch), TerminalSafe(commit.short()), TerminalSafe(title.as_str()));
            write!(out, "open a pull from {branch} at {commit}: {title}, lease {epoch}")
        }
    };
}

fn write_brief(out: &mut String, brief: &Brief) {
    write_terminal_safe(out, brief.role.as_str());
    match &brief.scope {
        Scope::Whole => out.push_str(" reads everything"),
        Scope::Since(sha) => {
            let _ = write!(out, " reads what changed since {}", TerminalSafe(sha.short()));
        }
    }
    let _ = write!(out, ", round {}", brief.round);
}

fn write_waited_for(out: &mut String, whom: &WaitingOn) {
    match whom {
        WaitingOn::Author => out.push_str("the author: a push or an answer"),
        WaitingOn::Person(login) => {
            let _ = write!(out, "{} to look again", TerminalSafe(login.as_str()));
        }
        WaitingOn::Operator => out.push_str("the operator"),
        WaitingOn::Reviewer(names) => {
            out.push_str("reviews by ");
            write_joined(out, names, |out, name| write_terminal_safe(out, name));
        }
        WaitingOn::Checks => out.push_str("the checks"),
        WaitingOn::Worker => out.push_str("the worker under way"),
        WaitingOn::Forge => out.push_str("the forge: it is read again"),
    }
}

/// Describes why a person must decide.
fn describe_cause(cause: BlockedCause) -> &'static str {
    match cause {
        BlockedCause::RoundCap => "the rounds are used up, a person decides",
        BlockedCause::Budget => "the budget is used up, a person decides",
        BlockedCause::ReviewerFailed => "a reviewer failed at every attempt, a person decides",
        BlockedCause::NeedsHuman => "a person must decide",
        BlockedCause::Incomplete => "not everything could be read",
        BlockedCause::NewerMark => "a newer version of referee wrote here, nothing is changed",
    }
}

/// Writes a list of at most `MAX_LISTED` items, and the number of the others.
fn write_joined<T>(out: &mut String, all: &[T], mut tell: impl FnMut(&mut String, &T)) {
    for (at, one) in all.iter().take(MAX_LISTED).enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        tell(out, one);
    }
    if all.len() > MAX_LISTED {
        let _ = write!(out, " and {} more", all.len() - MAX_LISTED);
    }
}

const MAX_LISTED: usize = 20;

const SETTLED_LABELS: [(FindingState, &str); 5] = [
    (FindingState::Fixed, "fixed"),
    (FindingState::Accepted, "accepted"),
    (FindingState::Refuted, "refuted"),
    (FindingState::Answered, "answered"),
    (FindingState::Stale, "stale"),
];
