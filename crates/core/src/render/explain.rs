//! Why a pull is where it is: the heading, and the plan's lines.

use std::fmt::Write as _;

use super::plain::Plain;
use super::plan::{line, plan_lines};
use crate::facts::Facts;
use crate::model::{CheckState, Checks, Counts, Login, Verdict};
use crate::plan::{Next, OnWhom, Plan};

/// What a plan does not know of its pull.
#[derive(Clone, Debug)]
pub struct Heading<'a> {
    /// `acme/api#7`, or however people know it.
    pub name: String,
    /// The pull's title; tainted.
    pub title: &'a str,
    /// Who opened it.
    pub author: &'a str,
    /// Who is asked when a person must decide.
    pub operator: Option<&'a Login>,
    /// Rounds allowed.
    pub rounds: u32,
    /// What people say, the latest of each: name, verdict, the commit it is for.
    pub people: Vec<Person<'a>>,
    /// The checks at the head.
    pub checks: &'a Checks,
    /// What the pull took, in millionths of a dollar.
    pub spent: u64,
    /// What it may take.
    pub budget: u64,
    /// Somebody took the weight of an own verdict by asking for it again (PUB-20).
    pub asked_away: bool,
}

/// What a person, or another bot, says.
#[derive(Clone, Debug)]
pub struct Person<'a> {
    /// Who.
    pub name: &'a str,
    /// What.
    pub verdict: Verdict,
    /// For the head as it is.
    pub at_head: bool,
}

impl<'a> Heading<'a> {
    /// From what is known of the pull. The moment it was read at is not told: equal facts read alike.
    pub fn of(facts: &Facts<'a>) -> Self {
        let (snapshot, policy) = (facts.snapshot, facts.policy);
        let spent = facts.roles.iter().filter_map(|role| role.standing).map(|it| it.mark.spent.micro_usd);
        Self {
            name: format!("{}{}", snapshot.pull.repo_name, snapshot.pull.number),
            title: &snapshot.pull.title,
            author: snapshot.pull.author.name(),
            operator: policy.operator.as_ref(),
            rounds: facts.rounds_allowed(),
            people: people(facts),
            checks: &snapshot.checks,
            spent: spent.fold(0, u64::saturating_add),
            budget: policy.budget.micro_usd,
            asked_away: snapshot
                .reviews
                .iter()
                .any(|it| facts.is_own_author(&it.author) && it.counts == Counts::Requested),
        }
    }
}

fn people<'a>(facts: &Facts<'a>) -> Vec<Person<'a>> {
    let mut latest: Vec<Person<'a>> = Vec::new();
    for review in &facts.snapshot.reviews {
        let Some(verdict) = review.verdict() else { continue };
        if facts.is_own_author(&review.author) {
            continue;
        }
        let name = review.author.name();
        let at_head = review.commit.as_ref() == Some(&facts.snapshot.pull.head);
        match latest.iter_mut().find(|it| it.name == name) {
            // A comment takes nothing back (DSP-5).
            Some(before) if verdict != Verdict::Comment || before.verdict == Verdict::Comment => {
                *before = Person { name, verdict, at_head };
            }
            Some(_) => {}
            None => latest.push(Person { name, verdict, at_head }),
        }
    }
    latest
}

/// Why a pull is where it is, in lines for a terminal.
pub fn explain(plan: &Plan, heading: &Heading<'_>) -> String {
    let mut out = String::with_capacity(2048);
    let _ = write!(
        out,
        "{} {} · {} · round {} of {} · ",
        Plain(&heading.name),
        Plain(heading.title),
        Plain(plan.head.short()),
        plan.round,
        heading.rounds,
    );
    turn(&mut out, plan, heading);
    out.push('\n');
    for person in &heading.people {
        line(&mut out, "person", |out| {
            let at = if person.at_head { "at this head" } else { "at an older head" };
            let _ = write!(out, "{} {}, {at}", Plain(person.name), person.verdict);
        });
    }
    line(&mut out, "checks", |out| checks(out, heading.checks));
    line(&mut out, "spent", |out| {
        let _ = write!(out, "{} of {} USD", Usd(heading.spent), Usd(heading.budget));
    });
    if heading.asked_away {
        line(&mut out, "hole", |out| {
            out.push_str(
                "a request for review took the weight of a verdict; \
                 `block_on_official_review_requests` in the rules of the base branch closes that",
            );
        });
    }
    out.push_str(&plan_lines(plan));
    out
}

fn checks(out: &mut String, checks: &Checks) {
    let state = checks.state();
    out.push_str(match state {
        CheckState::Pass => "passed: ",
        CheckState::Fail => "failed: ",
        CheckState::Pending => "pending: ",
        CheckState::None => "none",
    });
    let mut names = checks.named(state);
    if state == CheckState::Pending {
        names.extend(checks.named(CheckState::None));
    }
    for (at, name) in names.iter().take(NAMES).enumerate() {
        let _ = write!(out, "{}{}", if at > 0 { ", " } else { "" }, Plain(name));
    }
    if names.len() > NAMES {
        let _ = write!(out, " and {} more", names.len() - NAMES);
    }
}

const NAMES: usize = 5;

/// Whose turn it is.
fn turn(out: &mut String, plan: &Plan, heading: &Heading<'_>) {
    let operator = Plain(heading.operator.map_or("the operator", Login::as_str));
    let _ = match &plan.next {
        Next::Idle => write!(out, "nothing to do"),
        Next::Wait(OnWhom::Author) => write!(out, "waiting for the author ({})", Plain(heading.author)),
        Next::Wait(OnWhom::Operator) => write!(out, "waiting for {operator}"),
        Next::Wait(OnWhom::Person(login)) => write!(out, "waiting for {}", Plain(login.as_str())),
        Next::Wait(OnWhom::Reviewer(_)) => write!(out, "waiting for other reviewers"),
        Next::Wait(OnWhom::Checks) => write!(out, "waiting for the checks"),
        Next::Wait(OnWhom::Worker) => write!(out, "a worker is under way"),
        Next::Wait(OnWhom::Forge) => write!(out, "waiting for the forge"),
        Next::Review(_) => write!(out, "a review is due"),
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
