//! Renders the explanation of a pull's state: a heading, and the lines of the plan.

use std::fmt::Write as _;

use super::plan::{render_plan, write_line};
use super::terminal::TerminalSafe;
use crate::facts::Facts;
use crate::model::{CheckState, Checks, Login, ReviewWeight, Verdict};
use crate::plan::{Next, Plan, WaitingOn};

/// Facts about a pull that its plan does not contain.
#[derive(Clone, Debug)]
pub struct ExplainHeading<'a> {
    /// For example `acme/api#7`.
    pub name: String,
    /// The finding's title, as the reviewer wrote it; untrusted.
    pub title: &'a str,
    /// The login of the author.
    pub author: &'a str,
    /// Who is asked when a person must decide.
    pub operator: Option<&'a Login>,
    /// Rounds allowed.
    pub max_rounds: u32,
    /// The latest verdict of each person.
    pub person_verdicts: Vec<PersonVerdict<'a>>,
    /// The checks at the head.
    pub checks: &'a Checks,
    /// The cost so far, in millionths of a dollar.
    pub spent_micro_usd: u64,
    /// The limit, in millionths of a dollar.
    pub budget_micro_usd: u64,
    /// A verdict of referee no longer counts because somebody requested a new review (PUB-20).
    pub verdict_lost_to_request: bool,
}

/// The verdict of a person or another bot.
#[derive(Clone, Debug)]
pub struct PersonVerdict<'a> {
    pub name: &'a str,
    pub verdict: Verdict,
    /// The review is of the current head.
    pub at_head: bool,
}

impl<'a> ExplainHeading<'a> {
    /// Collects the heading from facts. It contains no time of reading, so that equal facts give equal text.
    pub fn from_facts(facts: &Facts<'a>) -> Self {
        let (snapshot, policy) = (facts.snapshot, facts.policy);
        let spent = facts.roles.iter().filter_map(|role| role.standing).map(|it| it.mark.spent.micro_usd);
        Self {
            name: format!("{}{}", snapshot.pull.repo_name, snapshot.pull.number),
            title: &snapshot.pull.title,
            author: snapshot.pull.author.display_name(),
            operator: policy.operator.as_ref(),
            max_rounds: facts.rounds_allowed(),
            person_verdicts: collect_person_verdicts(facts),
            checks: &snapshot.checks,
            spent_micro_usd: spent.fold(0, u64::saturating_add),
            budget_micro_usd: policy.budget.micro_usd,
            verdict_lost_to_request: snapshot
                .reviews
                .iter()
                .any(|it| facts.is_own_author(&it.author) && it.counts == ReviewWeight::Requested),
        }
    }
}

fn collect_person_verdicts<'a>(facts: &Facts<'a>) -> Vec<PersonVerdict<'a>> {
    let mut latest: Vec<PersonVerdict<'a>> = Vec::new();
    for review in &facts.snapshot.reviews {
        let Some(verdict) = review.verdict() else { continue };
        if facts.is_own_author(&review.author) {
            continue;
        }
        let name = review.author.display_name();
        let at_head = review.commit.as_ref() == Some(&facts.snapshot.pull.head);
        match latest.iter_mut().find(|it| it.name == name) {
            // A comment revokes nothing (DSP-5).
            Some(before) if verdict != Verdict::Comment || before.verdict == Verdict::Comment => {
                *before = PersonVerdict { name, verdict, at_head };
            }
            Some(_) => {}
            None => latest.push(PersonVerdict { name, verdict, at_head }),
        }
    }
    latest
}

/// Renders the explanation in lines for a terminal.
pub fn render_explanation(plan: &Plan, heading: &ExplainHeading<'_>) -> String {
    let mut out = String::with_capacity(2048);
    let _ = write!(
        out,
        "{} {} · {} · round {} of {} · ",
        TerminalSafe(&heading.name),
        TerminalSafe(heading.title),
        TerminalSafe(plan.head.short()),
        plan.round,
        heading.max_rounds,
    );
    write_whose_turn(&mut out, plan, heading);
    out.push('\n');
    for person in &heading.person_verdicts {
        write_line(&mut out, "person", |out| {
            let at = if person.at_head { "at this head" } else { "at an older head" };
            let _ = write!(out, "{} {}, {at}", TerminalSafe(person.name), person.verdict);
        });
    }
    write_line(&mut out, "checks", |out| write_checks(out, heading.checks));
    write_line(&mut out, "spent", |out| {
        let _ = write!(out, "{} of {} USD", Usd(heading.spent_micro_usd), Usd(heading.budget_micro_usd));
    });
    if heading.verdict_lost_to_request {
        write_line(&mut out, "hole", |out| {
            out.push_str(
                "a request for review took the weight of a verdict; \
                 `block_on_official_review_requests` in the rules of the base branch closes that",
            );
        });
    }
    write_line(&mut out, "why", |out| {
        let rule = plan.why.rule;
        if let Some(number) = rule.number() {
            let _ = write!(out, "rule {number}: ");
        }
        out.push_str(rule.explanation());
    });
    out.push_str(&render_plan(plan));
    out
}

fn write_checks(out: &mut String, checks: &Checks) {
    let state = checks.combined_state();
    out.push_str(match state {
        CheckState::Pass => "passed: ",
        CheckState::Fail => "failed: ",
        CheckState::Pending => "pending: ",
        CheckState::None => "none",
    });
    let mut names = checks.names_in_state(state);
    if state == CheckState::Pending {
        names.extend(checks.names_in_state(CheckState::None));
    }
    for (at, name) in names.iter().take(MAX_CHECK_NAMES).enumerate() {
        let _ = write!(out, "{}{}", if at > 0 { ", " } else { "" }, TerminalSafe(name));
    }
    if names.len() > MAX_CHECK_NAMES {
        let _ = write!(out, " and {} more", names.len() - MAX_CHECK_NAMES);
    }
}

const MAX_CHECK_NAMES: usize = 5;

/// Writes what the pull waits for.
fn write_whose_turn(out: &mut String, plan: &Plan, heading: &ExplainHeading<'_>) {
    let operator = TerminalSafe(heading.operator.map_or("the operator", Login::as_str));
    let _ = match &plan.next {
        Next::Idle => write!(out, "nothing to do"),
        Next::Wait(WaitingOn::Author) => write!(out, "waiting for the author ({})", TerminalSafe(heading.author)),
        Next::Wait(WaitingOn::Operator) => write!(out, "waiting for {operator}"),
        Next::Wait(WaitingOn::Person(login)) => write!(out, "waiting for {}", TerminalSafe(login.as_str())),
        Next::Wait(WaitingOn::Reviewer(_)) if !plan.reviews.is_empty() => write!(out, "a review is due"),
        Next::Wait(WaitingOn::Reviewer(_)) => write!(out, "waiting for other reviewers"),
        Next::Wait(WaitingOn::Checks) => write!(out, "waiting for the checks"),
        Next::Wait(WaitingOn::Worker) => write!(out, "a worker is under way"),
        Next::Wait(WaitingOn::Forge) => write!(out, "waiting for the forge"),
        Next::Spawn(job) => write!(out, "a worker is due: {}", job.kind),
        Next::Ready => write!(out, "ready"),
        Next::Blocked(_) => write!(out, "blocked, {operator} decides"),
    };
}

struct Usd(u64);

impl std::fmt::Display for Usd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cents = self.0.saturating_add(5_000) / 10_000;
        write!(f, "{}.{:02}", cents / 100, cents % 100)
    }
}
