//! A plan in lines for a terminal: no colour, labels aligned, one line a thing, so that `grep ^refuse` works.
//!
//! | label | tells |
//! |---|---|
//! | `rule` | which rule decided, and the facts it used (DSP-12) |
//! | `standing` | one line a role |
//! | `threads` | how the findings stand |
//! | `plan` | one line a step, with its reason |
//! | `refuse` | one line for each thing that was considered and not done |
//! | `deliver` | what a worker's shell pushes or opens |
//! | `next` | what happens then |

use std::fmt::Write as _;

use super::plain::{Plain, plain};
use crate::model::{CheckState, FindingState};
use crate::plan::{Action, Brief, Cause, Delivery, Next, OnWhom, Plan, Reason, RoleState, Scope, Target};

/// The plan, line by line; each line ends with a line feed.
pub fn plan_lines(plan: &Plan) -> String {
    let mut out = String::with_capacity(1024);
    line(&mut out, "rule", |out| reason(out, &plan.why));
    for role in &plan.roles {
        line(&mut out, "standing", |out| standing(out, role));
    }
    line(&mut out, "threads", |out| threads(out, plan));
    for step in &plan.steps {
        line(&mut out, "plan", |out| {
            action(out, &step.action);
            because(out, &step.reason);
        });
    }
    if plan.steps.is_empty() {
        line(&mut out, "plan", |out| out.push_str("nothing to write"));
    }
    for refusal in &plan.refused {
        line(&mut out, "refuse", |out| {
            plain(out, &refusal.what);
            because(out, &refusal.why);
        });
    }
    if let Some(delivery) = &plan.delivery {
        line(&mut out, "deliver", |out| deliver(out, delivery));
    }
    line(&mut out, "next", |out| next(out, &plan.next));
    out
}

/// One labelled line.
pub(super) fn line(out: &mut String, label: &str, tell: impl FnOnce(&mut String)) {
    let _ = write!(out, "{label:<9}");
    tell(out);
    out.truncate(out.trim_end().len());
    out.push('\n');
}

/// What happens after the turn.
fn next(out: &mut String, next: &Next) {
    match next {
        Next::Idle => out.push_str("nothing: the pull is closed, or not ours"),
        Next::Wait(whom) => {
            out.push_str("wait for ");
            on_whom(out, whom);
        }
        Next::Review(briefs) => {
            out.push_str("review by ");
            join(out, briefs, brief);
        }
        Next::Spawn(job) => {
            let _ = write!(out, "start worker {} for {}", job.kind, Plain(&job.cause));
            if let Some(head) = &job.head {
                let _ = write!(out, " at {}", Plain(head.short()));
            }
            if job.retry {
                out.push_str(", once more");
            }
        }
        Next::Ready => out.push_str("ready: a person may take over"),
        Next::Blocked(cause) => {
            out.push_str("blocked: ");
            out.push_str(blocked(*cause));
        }
    }
}

/// The rule's name, and the facts it used.
fn reason(out: &mut String, reason: &Reason) {
    plain(out, &reason.rule);
    if !reason.facts.is_empty() {
        out.push_str(": ");
        join(out, &reason.facts, |out, fact| plain(out, fact));
    }
}

fn because(out: &mut String, why: &Reason) {
    out.push_str(" (");
    reason(out, why);
    out.push(')');
}

/// How a role stands.
fn standing(out: &mut String, state: &RoleState) {
    let RoleState { role, own, enforced, at_head } = state;
    plain(out, role.as_str());
    let Some(own) = own else {
        out.push_str(" has not spoken");
        return;
    };
    let _ = write!(out, " {own}");
    if let Some(enforced) = enforced.filter(|enforced| enforced != own) {
        let _ = write!(out, ", enforced as {enforced}");
    }
    out.push_str(if *at_head { ", at this head" } else { ", not at this head" });
}

fn threads(out: &mut String, plan: &Plan) {
    let counting: Vec<_> = plan.findings.iter().filter(|it| it.counts).collect();
    if plan.findings.is_empty() {
        out.push_str("no findings");
        return;
    }
    let _ = write!(out, "{} open", counting.len());
    if !counting.is_empty() {
        out.push_str(" (");
        join(out, &counting, |out, it| {
            let _ = write!(out, "{} {}", it.id, it.severity);
            if let Some(state) = aside(it.state) {
                let _ = write!(out, " {state}");
            }
        });
        out.push(')');
    }
    for (state, word) in SETTLED {
        let n = plan.findings.iter().filter(|it| !it.counts && it.state == state).count();
        if n > 0 {
            let _ = write!(out, " · {n} {word}");
        }
    }
}

fn aside(state: FindingState) -> Option<&'static str> {
    match state {
        FindingState::New => Some("new"),
        FindingState::Answered => Some("answered"),
        FindingState::Disputed => Some("disputed"),
        FindingState::Stale => Some("stale"),
        FindingState::Open | FindingState::Fixed | FindingState::Accepted | FindingState::Refuted => None,
    }
}

fn action(out: &mut String, action: &Action) {
    let _ = match action {
        Action::PostReview { role, verdict, commit, threads, .. } => {
            let _ = write!(out, "post {} as {verdict} at {}", Plain(role.as_str()), Plain(commit.short()));
            opened(out, threads.iter().map(|thread| thread.finding.to_string()).collect());
            Ok(())
        }
        Action::EditReview { review, .. } => write!(out, "edit review {}", Plain(review.as_str())),
        Action::Supersede { review, .. } => write!(out, "supersede review {}", Plain(review.as_str())),
        Action::OpenThreads { role, threads, .. } => {
            let _ = write!(out, "add to the review of {}", Plain(role.as_str()));
            opened(out, threads.iter().map(|thread| thread.finding.to_string()).collect());
            Ok(())
        }
        Action::Reply { thread, .. } => write!(out, "reply in thread {}", Plain(thread.as_str())),
        Action::Resolve { thread, .. } => write!(out, "resolve thread {}", Plain(thread.as_str())),
        Action::EnsureComment { existing: Some(comment), .. } => {
            write!(out, "edit comment {}", Plain(comment.as_str()))
        }
        Action::EnsureComment { existing: None, target, .. } => write!(out, "comment on {}", TargetName(*target)),
        Action::SetLabel { name, on: true } => write!(out, "set label {}", Plain(name)),
        Action::SetLabel { name, on: false } => write!(out, "take label {} off", Plain(name)),
        Action::Assign { target, who: Some(who) } => {
            write!(out, "assign {} to {}", TargetName(*target), Plain(who.as_str()))
        }
        Action::Assign { target, who: None } => write!(out, "unassign {}", TargetName(*target)),
        Action::SetStatus { context, state, text, .. } => {
            write!(out, "status {} {}: {}", Plain(context), check(*state), Plain(text.as_str()))
        }
    };
}

fn opened(out: &mut String, findings: Vec<String>) {
    if !findings.is_empty() {
        out.push_str(", threads for ");
        join(out, &findings, |out, id| out.push_str(id));
    }
}

struct TargetName(Target);

impl std::fmt::Display for TargetName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Target::Pull => f.write_str("the pull"),
            Target::Issue(number) => write!(f, "issue {number}"),
        }
    }
}

fn check(state: CheckState) -> &'static str {
    match state {
        CheckState::Pass => "pass",
        CheckState::Fail => "fail",
        CheckState::Pending => "pending",
        CheckState::None => "none",
    }
}

fn deliver(out: &mut String, delivery: &Delivery) {
    let _ = match delivery {
        Delivery::Push { commit, over, epoch } => {
            write!(out, "push {} over {}, lease {epoch}", Plain(commit.short()), Plain(over.short()))
        }
        Delivery::OpenPull { branch, commit, title, epoch, .. } => {
            let (branch, commit, title) = (Plain(branch), Plain(commit.short()), Plain(title.as_str()));
            write!(out, "open a pull from {branch} at {commit}: {title}, lease {epoch}")
        }
    };
}

fn brief(out: &mut String, brief: &Brief) {
    plain(out, brief.role.as_str());
    match &brief.scope {
        Scope::Whole => out.push_str(" of everything"),
        Scope::Since(sha) => {
            let _ = write!(out, " since {}", Plain(sha.short()));
        }
    }
    let _ = write!(out, ", round {}", brief.round);
}

fn on_whom(out: &mut String, whom: &OnWhom) {
    match whom {
        OnWhom::Author => out.push_str("the author: a push or an answer"),
        OnWhom::Person(login) => {
            let _ = write!(out, "{} to look again", Plain(login.as_str()));
        }
        OnWhom::Operator => out.push_str("the operator"),
        OnWhom::Reviewer(names) => {
            out.push_str("reviews by ");
            join(out, names, |out, name| plain(out, name));
        }
        OnWhom::Checks => out.push_str("the checks"),
        OnWhom::Worker => out.push_str("the worker under way"),
        OnWhom::Forge => out.push_str("the forge: it is read again"),
    }
}

/// Why a person must decide, in short.
fn blocked(cause: Cause) -> &'static str {
    match cause {
        Cause::RoundCap => "the rounds are used up, a person decides",
        Cause::Budget => "the budget is used up, a person decides",
        Cause::ReviewerFailed => "a reviewer failed as often as it may, a person decides",
        Cause::NeedsHuman => "something asks for a person's decision",
        Cause::Incomplete => "not everything could be read",
        Cause::NewerMark => "a newer referee wrote here, nothing is touched",
    }
}

fn join<T>(out: &mut String, all: &[T], mut tell: impl FnMut(&mut String, &T)) {
    for (at, one) in all.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        tell(out, one);
    }
}

const SETTLED: [(FindingState, &str); 5] = [
    (FindingState::Fixed, "fixed"),
    (FindingState::Accepted, "accepted"),
    (FindingState::Refuted, "refuted"),
    (FindingState::Answered, "answered"),
    (FindingState::Stale, "stale"),
];
