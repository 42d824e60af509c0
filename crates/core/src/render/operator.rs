//! Renders the comment that asks a person to decide (LOOP-4, LOOP-11, DSP-16).

use super::coverage::{write_duration, write_usd};
use super::phrase::{
    job_kind_name, render_title, severity_name, write_code, write_comma, write_command, write_finding_ids,
    write_location, write_name, write_names,
};
use crate::model::snapshot::WorkOutcome;
use crate::model::{FindingId, Login, RoleName, RunCost, Severity, Sha, ThreadId};
use crate::plan::{BlockedCause, JobKind};
use crate::sanitise::{MarkdownBuilder, SafeText};

/// The input of the operator comment.
#[derive(Debug, Clone)]
pub struct OperatorNote<'a> {
    /// The person who is asked: the only mention that referee ever writes.
    pub operator: Option<&'a Login>,
    /// The login that people address commands to.
    pub bot: &'a Login,
    pub stop_reason: StopReason<'a>,
    pub round: u32,
    pub max_rounds: u32,
    pub head: &'a Sha,
    /// The roles and other programs that asked for changes, or the roles that failed.
    pub reviewers: Vec<&'a str>,
    /// The findings that a person must decide, most severe first.
    pub findings: Vec<OpenFinding<'a>>,
    /// What a person can do; only options that work here.
    pub options: Vec<OperatorOption>,
    /// The cost of all roles on this pull.
    pub spent: RunCost,
    /// The pull's budget, in millionths of a dollar.
    pub budget_micro_usd: u64,
}

/// Why the loop stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason<'a> {
    /// The rounds are used up (LOOP-2).
    RoundLimit,
    /// A job type was started at as many changes as there are rounds.
    HeadLimit { kind: JobKind, heads: usize },
    /// The pull has as many jobs as it may have.
    JobLimit { jobs: usize },
    /// The pull's budget is used up (LOOP-9).
    BudgetSpent {
        /// `tokens`, `money`, `runs` or `writes`.
        resource: &'static str,
    },
    /// Reviewers failed at every attempt (LOOP-11).
    ReviewersFailed { roles: Vec<&'a RoleName> },
    /// Findings that only a person can settle.
    UnsettledFindings,
    /// A worker failed (DSP-16).
    Worker {
        kind: JobKind,
        cause: String,
        /// How it ended; `None` if it crashed twice.
        outcome: Option<WorkOutcome>,
    },
    /// Two bots answer each other (LOOP-8).
    BotLoop { threads: Vec<&'a ThreadId> },
}

/// A finding in the operator comment.
#[derive(Debug, Clone)]
pub struct OpenFinding<'a> {
    pub role: &'a RoleName,
    pub id: FindingId,
    pub severity: Severity,
    /// Untrusted when new. It is sanitised and cut to 80 characters like a stored one; otherwise the text would change
    /// once the finding is stored.
    pub title: &'a str,
    pub path: &'a str,
    pub line: Option<u32>,
    /// The rounds in which it blocked, counting this one.
    pub rounds: Vec<u32>,
    /// It was raised near the code of an earlier fix.
    pub attacks_fix: bool,
    /// Why only a person can settle it.
    pub needs_human: Option<&'static str>,
}

/// An option that works on this pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperatorOption {
    /// Merge as it is; first dismiss these findings, which cause referee's block.
    Merge {
        /// Empty if referee does not block.
        dismiss: Vec<FindingId>,
    },
    /// Approve: no worker starts at this head afterwards.
    Approve,
    /// `rounds +1`.
    AddRound,
    /// Close and reopen: rounds and jobs start from zero.
    Reopen,
    /// Push a fix by hand: only that change is reviewed.
    PushFix,
    /// `retry`.
    Retry,
    /// `break-glass <reason>`.
    BreakGlass,
    /// Raise the budget in the config.
    RaiseBudget,
    /// `pause`.
    Pause,
}

impl StopReason<'_> {
    /// Returns the cause as the plan has it.
    pub fn cause(&self) -> BlockedCause {
        match self {
            Self::RoundLimit | Self::HeadLimit { .. } | Self::JobLimit { .. } => BlockedCause::RoundCap,
            Self::BudgetSpent { .. } => BlockedCause::Budget,
            Self::ReviewersFailed { .. } => BlockedCause::ReviewerFailed,
            Self::UnsettledFindings | Self::Worker { .. } | Self::BotLoop { .. } => BlockedCause::NeedsHuman,
        }
    }
}

/// Renders the operator comment: whom it asks and why, the open findings, and the options.
pub fn render_operator_note(note: &OperatorNote<'_>) -> SafeText {
    let mut page = MarkdownBuilder::new();
    match note.operator {
        Some(operator) => page.mention(operator).literal(", this pull needs your decision: "),
        None => page.literal("This pull needs a person's decision: "),
    };
    write_stop_reason(&mut page, note);
    page.blank_line()
        .literal("Head ")
        .code_span(note.head.short())
        .literal(" · round ")
        .number(note.round)
        .literal(" of ")
        .number(note.max_rounds);
    if !note.reviewers.is_empty() {
        page.literal(" · reviewed by ");
        write_names(&mut page, note.reviewers.iter().copied());
    }
    page.literal(" · ");
    write_usd(&mut page, note.spent.micro_usd);
    page.literal(" of ");
    write_usd(&mut page, note.budget_micro_usd);
    page.literal(" USD, ");
    write_duration(&mut page, note.spent.seconds);
    write_convergence(&mut page, note);
    if !note.options.is_empty() {
        page.blank_line().literal("What works from here:\n");
    }
    for choice in &note.options {
        page.literal("\n- ");
        write_option(&mut page, choice, note.bot);
    }
    page.blank_line().literal("Until then nothing is started at this head.");
    page.finish()
}

fn write_stop_reason(page: &mut MarkdownBuilder, note: &OperatorNote<'_>) {
    match &note.stop_reason {
        StopReason::RoundLimit => {
            page.literal("round ").number(note.round).literal(" of ").number(note.max_rounds).literal(" is used up.")
        }
        StopReason::HeadLimit { kind: of, heads } => page
            .code_span(job_kind_name(*of))
            .literal(" workers were started at ")
            .number(*heads)
            .literal(" heads, the maximum."),
        StopReason::JobLimit { jobs } => page.number(*jobs).literal(" workers were started on this pull, the maximum."),
        StopReason::BudgetSpent { resource: over } => {
            page.literal("the pull has used up its budget of ").literal(over).literal(".")
        }
        StopReason::ReviewersFailed { roles } => {
            write_names(page, roles.iter().map(|role| role.as_str()));
            page.literal(" failed at every attempt, so this head is not reviewed.")
        }
        StopReason::UnsettledFindings => page.literal("only a person can settle the open findings."),
        StopReason::Worker { kind: of, cause, outcome } => {
            page.literal("the ").code_span(job_kind_name(*of)).literal(" worker ").literal(match outcome {
                None => "crashed twice",
                Some(WorkOutcome::Done) => "was done, and its cause is still there",
                Some(WorkOutcome::NothingToDo) => "found nothing to do, and its cause is still there",
                Some(WorkOutcome::NeedsHuman) => "asks for it",
                Some(WorkOutcome::Failed) => "failed",
            });
            page.literal(" (cause ");
            write_code(page, cause);
            page.literal(").")
        }
        StopReason::BotLoop { threads } => {
            page.literal("two programs answer each other in ").number(threads.len()).literal(" of its threads.")
        }
    };
}

/// Writes the open findings: which recur, which attack an earlier fix.
fn write_convergence(page: &mut MarkdownBuilder, note: &OperatorNote<'_>) {
    if note.findings.is_empty() {
        return;
    }
    page.blank_line().literal("| Open | Rounds | Where |\n|---|---|---|");
    let mut listed = 0;
    for finding in &note.findings {
        if page.len() > TABLE_LIMIT_BYTES {
            break;
        }
        write_finding_row(page, finding);
        listed += 1;
    }
    let rest = note.findings.get(listed..).unwrap_or_default();
    for (at, finding) in rest.iter().enumerate() {
        if page.len() > IDS_LIMIT_BYTES {
            page.literal(" and ").number(rest.len() - at).literal(" more");
            break;
        }
        if at == 0 {
            page.blank_line().literal("Also open: ");
        } else {
            page.literal(", ");
        }
        page.finding(finding.id);
    }
    write_questions(page, note);
}

fn write_questions(page: &mut MarkdownBuilder, note: &OperatorNote<'_>) {
    let recur = note.findings.iter().filter(|it| it.rounds.len() > 1).map(|it| it.id).collect();
    let attack = note.findings.iter().filter(|it| it.attacks_fix).map(|it| it.id).collect();
    let before = page.len();
    write_question(page, before, recur, " came back round after round: must it be fixed, or is it accepted?");
    write_question(page, before, attack, " sits where an earlier fix went: is the fix wrong, or is the finding?");
    for finding in &note.findings {
        if let Some(why) = finding.needs_human.filter(|_| page.len() < IDS_LIMIT_BYTES) {
            begin_question(page, before);
            page.finding(finding.id);
            page.literal(": ").literal(why);
        }
    }
    if page.len() == before {
        page.blank_line().literal("None of them came back: one more round may end it.");
    }
}

fn write_question(page: &mut MarkdownBuilder, before: usize, which: Vec<FindingId>, question: &'static str) {
    if !which.is_empty() {
        begin_question(page, before);
        write_finding_ids(page, which.into_iter());
        page.literal(question);
    }
}

fn begin_question(page: &mut MarkdownBuilder, before: usize) {
    page.literal(if page.len() == before { "\n\nTo decide:\n\n- " } else { "\n- " });
}

fn write_finding_row(page: &mut MarkdownBuilder, finding: &OpenFinding<'_>) {
    page.literal("\n| **").literal(severity_name(finding.severity)).literal("** ");
    page.finding(finding.id);
    page.literal(" ").safe_text(&render_title(finding.title)).literal(" · ");
    write_name(page, finding.role.as_str());
    page.literal(" | ");
    for (at, round) in finding.rounds.iter().take(20).enumerate() {
        write_comma(page, at);
        page.number(*round);
    }
    page.literal(" | ");
    write_location(page, finding.path, finding.line, "");
    page.literal(" |");
}

fn write_option(page: &mut MarkdownBuilder, choice: &OperatorOption, bot: &Login) {
    match choice {
        OperatorOption::Merge { dismiss } if dismiss.is_empty() => {
            page.literal("Merge it as it is: nothing of referee's blocks it.");
        }
        OperatorOption::Merge { dismiss } => {
            page.literal("Merge it as it is: ");
            let named: String = dismiss.iter().take(MAX_DISMISS_IDS).map(|id| format!("{id} ")).collect();
            write_command(page, bot, &format!("dismiss {named}<reason>"));
            if dismiss.len() > MAX_DISMISS_IDS {
                page.literal(", and so for ").number(dismiss.len() - MAX_DISMISS_IDS).literal(" more,");
            }
            page.literal(" takes the block away, then merge; they stay listed as accepted.");
        }
        OperatorOption::Approve => {
            page.literal("Approve it yourself: no worker starts at this head any more. It lifts nobody's block.");
        }
        OperatorOption::AddRound => {
            write_command(page, bot, "rounds +1");
            page.literal(": one round more, for a fix that is nearly there.");
        }
        OperatorOption::Reopen => {
            page.literal("Close and reopen it: rounds and workers count from there, for a change that was reworked.");
        }
        OperatorOption::PushFix => {
            page.literal("Push the last fix by hand: only what you change is reviewed.");
        }
        OperatorOption::Retry => {
            write_command(page, bot, "retry");
            page.literal(": it is tried again at this head, for an outage that is over.");
        }
        OperatorOption::BreakGlass => {
            write_command(page, bot, "break-glass <reason>");
            page.literal(": own blocks are lifted at this head, on the record, for what cannot wait.");
        }
        OperatorOption::RaiseBudget => {
            page.literal("Raise ")
                .code_span("[budget] pull")
                .literal(" in the config: it goes on from where it stopped.");
        }
        OperatorOption::Pause => {
            write_command(page, bot, "pause");
            page.literal(": nothing is started here until ");
            write_command(page, bot, "resume");
            page.literal(".");
        }
    }
}

const TABLE_LIMIT_BYTES: usize = 20_000;
const IDS_LIMIT_BYTES: usize = 40_000;
const MAX_DISMISS_IDS: usize = 50;
