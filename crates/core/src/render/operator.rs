//! The comment that asks a person to decide (LOOP-4, LOOP-11, DSP-16).

use super::coverage::{write_duration, write_usd};
use super::phrase::{
    job_kind_name, render_title, severity_name, write_code, write_comma, write_command, write_finding_ids,
    write_location, write_name, write_names,
};
use crate::model::snapshot::WorkOutcome;
use crate::model::{FindingId, Login, RoleName, RunCost, Severity, Sha, ThreadId};
use crate::plan::{BlockedCause, JobKind};
use crate::sanitise::{MarkdownBuilder, SafeText};

/// What the operator comment is made from.
#[derive(Debug, Clone)]
pub struct OperatorNote<'a> {
    /// Who is asked: the one mention that referee ever writes.
    pub operator: Option<&'a Login>,
    /// The name people command referee by.
    pub bot: &'a Login,
    /// What stopped the loop.
    pub stop_reason: StopReason<'a>,
    /// Rounds used.
    pub round: u32,
    /// Of how many.
    pub max_rounds: u32,
    /// The head it is about.
    pub head: &'a Sha,
    /// The roles that asked for changes, or failed.
    pub reviewers: Vec<&'a RoleName>,
    /// The convergence report: what a person has to decide on, gravest first.
    pub findings: Vec<OpenFinding<'a>>,
    /// What a person can do, and only what works here.
    pub options: Vec<OperatorOption>,
    /// What all roles took on this pull.
    pub spent: RunCost,
    /// What the pull may take, in millionths of a dollar.
    pub budget_micro_usd: u64,
}

/// What stopped the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason<'a> {
    /// The rounds are used up (LOOP-2).
    RoundLimit,
    /// A type of worker was started at as many changes as there are rounds.
    HeadLimit {
        /// Which type.
        kind: JobKind,
        /// At how many.
        heads: usize,
    },
    /// As many workers were started as one pull may have.
    JobLimit {
        /// How many.
        jobs: usize,
    },
    /// The pull took what it may take (LOOP-9).
    BudgetSpent {
        /// Of what: `tokens`, `money`, `runs`, `writes`.
        resource: &'static str,
    },
    /// Reviewers failed as often as they may (LOOP-11).
    ReviewersFailed {
        /// Which roles.
        roles: Vec<&'a RoleName>,
    },
    /// Findings that only a person can settle.
    UnsettledFindings,
    /// A worker could not do it (DSP-16).
    Worker {
        /// Which type.
        kind: JobKind,
        /// What it was to answer.
        cause: String,
        /// How it ended; `None` if it crashed twice.
        outcome: Option<WorkOutcome>,
    },
    /// Two programs answer each other (LOOP-8).
    BotLoop {
        /// In which threads.
        threads: Vec<&'a ThreadId>,
    },
}

/// A finding in the convergence report.
#[derive(Debug, Clone)]
pub struct OpenFinding<'a> {
    /// Whose.
    pub role: &'a RoleName,
    /// Its id.
    pub id: FindingId,
    /// How grave.
    pub severity: Severity,
    /// In a line. Tainted when new: made safe and cut to 80 characters like a remembered one, or the text would
    /// change once the finding is remembered.
    pub title: &'a str,
    /// The file.
    pub path: &'a str,
    /// The line.
    pub line: Option<u32>,
    /// The rounds in which it blocked, this one included: more than one is a finding that recurs.
    pub rounds: Vec<u32>,
    /// It was raised where the fix of an earlier finding went.
    pub attacks_fix: bool,
    /// Why only a person can settle it.
    pub needs_human: Option<&'static str>,
}

/// Something that a person can do, and that works here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperatorOption {
    /// Merge it as it is; these findings are dismissed first, since they hold the own block up.
    Merge {
        /// Which; empty where nothing of referee's blocks.
        dismiss: Vec<FindingId>,
    },
    /// Approve it: no worker starts at this head any more.
    Approve,
    /// `rounds +1`.
    AddRound,
    /// Close and reopen: rounds and workers count from there.
    Reopen,
    /// Push the fix by hand: only that change is reviewed.
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
    /// The cause that the plan names.
    pub fn cause(&self) -> BlockedCause {
        match self {
            Self::RoundLimit | Self::HeadLimit { .. } | Self::JobLimit { .. } => BlockedCause::RoundCap,
            Self::BudgetSpent { .. } => BlockedCause::Budget,
            Self::ReviewersFailed { .. } => BlockedCause::ReviewerFailed,
            Self::UnsettledFindings | Self::Worker { .. } | Self::BotLoop { .. } => BlockedCause::NeedsHuman,
        }
    }
}

/// The words of the operator comment: whom it asks and why, what stands open, and what works from here.
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
        write_names(&mut page, note.reviewers.iter().map(|role| role.as_str()));
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
            .literal(" heads, as many as may be."),
        StopReason::JobLimit { jobs } => {
            page.number(*jobs).literal(" workers were started here, as many as one pull may have.")
        }
        StopReason::BudgetSpent { resource: over } => {
            page.literal("it took all the ").literal(over).literal(" that one pull may take.")
        }
        StopReason::ReviewersFailed { roles } => {
            write_names(page, roles.iter().map(|role| role.as_str()));
            page.literal(" failed as often as a reviewer may, so this head is not reviewed.")
        }
        StopReason::UnsettledFindings => page.literal("what is left can be settled by a person only."),
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

/// Which findings recur, which attack the previous fix, and what to decide.
fn write_convergence(page: &mut MarkdownBuilder, note: &OperatorNote<'_>) {
    if note.findings.is_empty() {
        return;
    }
    page.blank_line().literal("| Open | Rounds | Where |\n|---|---|---|");
    let mut told = 0;
    for finding in &note.findings {
        if page.len() > TABLE_LIMIT_BYTES {
            break;
        }
        write_finding_row(page, finding);
        told += 1;
    }
    let rest = note.findings.get(told..).unwrap_or_default();
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
