//! The comment that asks a person to decide (LOOP-4, LOOP-11, DSP-16).

use super::coverage::{time, usd};
use super::phrase::{coded, comma, command, ids, kind, name, names, place, severity, title};
use crate::model::snapshot::WorkOutcome;
use crate::model::{Figures, FindingId, Login, RoleName, Severity, Sha, ThreadId};
use crate::plan::{Cause, JobKind};
use crate::sanitise::{Page, SafeText};

/// What the operator comment is made from.
#[derive(Debug, Clone)]
pub struct OperatorNote<'a> {
    /// Who is asked: the one mention that referee ever writes.
    pub operator: Option<&'a Login>,
    /// The name people command referee by.
    pub bot: &'a Login,
    /// What stopped the loop.
    pub stop: Stop<'a>,
    /// Rounds used.
    pub round: u32,
    /// Of how many.
    pub rounds: u32,
    /// The head it is about.
    pub head: &'a Sha,
    /// The roles that asked for changes, or failed.
    pub reviewers: Vec<&'a RoleName>,
    /// The convergence report: what a person has to decide on, gravest first.
    pub findings: Vec<OpenFinding<'a>>,
    /// What a person can do, and only what works here.
    pub options: Vec<Choice>,
    /// What all roles took on this pull.
    pub spent: Figures,
    /// What the pull may take, in millionths of a dollar.
    pub budget: u64,
}

/// What stopped the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop<'a> {
    /// The rounds are used up (LOOP-2).
    Rounds,
    /// A type of worker was started at as many changes as there are rounds.
    Heads {
        /// Which type.
        kind: JobKind,
        /// At how many.
        heads: usize,
    },
    /// As many workers were started as one pull may have.
    Jobs {
        /// How many.
        jobs: usize,
    },
    /// The pull took what it may take (LOOP-9).
    Budget {
        /// Of what: `tokens`, `money`, `runs`, `writes`.
        over: &'static str,
    },
    /// Reviewers failed as often as they may (LOOP-11).
    Failed {
        /// Which roles.
        roles: Vec<&'a RoleName>,
    },
    /// Findings that only a person can settle.
    Findings,
    /// A worker could not do it (DSP-16).
    Worker {
        /// Which type.
        kind: JobKind,
        /// What it was to answer.
        cause: String,
        /// How it ended; `None` if it went away twice without a word.
        outcome: Option<WorkOutcome>,
    },
    /// Two programs answer each other (LOOP-8).
    Echo {
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
pub enum Choice {
    /// Merge it as it is; these findings are dismissed first, since they hold the own block up.
    Merge {
        /// Which; empty where nothing of referee's blocks.
        dismiss: Vec<FindingId>,
    },
    /// Approve it: no worker starts at this head any more.
    Approve,
    /// `rounds +1`.
    Rounds,
    /// Close and reopen: rounds and workers count from there.
    Reopen,
    /// Push the fix by hand: only that change is reviewed.
    Push,
    /// `retry`.
    Retry,
    /// `break-glass <reason>`.
    BreakGlass,
    /// Raise the budget in the config.
    Budget,
    /// `pause`.
    Pause,
}

impl Stop<'_> {
    /// The cause that the plan names.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Rounds | Self::Heads { .. } | Self::Jobs { .. } => Cause::RoundCap,
            Self::Budget { .. } => Cause::Budget,
            Self::Failed { .. } => Cause::ReviewerFailed,
            Self::Findings | Self::Worker { .. } | Self::Echo { .. } => Cause::NeedsHuman,
        }
    }
}

/// The words of the operator comment: whom it asks and why, what stands open, and what works from here.
pub fn operator(note: &OperatorNote<'_>) -> SafeText {
    let mut page = Page::new();
    match note.operator {
        Some(operator) => page.mention(operator).lit(", this pull needs your decision: "),
        None => page.lit("This pull needs a person's decision: "),
    };
    stop(&mut page, note);
    page.blank_line()
        .lit("Head ")
        .code(note.head.short())
        .lit(" · round ")
        .num(note.round)
        .lit(" of ")
        .num(note.rounds);
    if !note.reviewers.is_empty() {
        page.lit(" · reviewed by ");
        names(&mut page, note.reviewers.iter().map(|role| role.as_str()));
    }
    page.lit(" · ");
    usd(&mut page, note.spent.micro_usd);
    page.lit(" of ");
    usd(&mut page, note.budget);
    page.lit(" USD, ");
    time(&mut page, note.spent.seconds);
    convergence(&mut page, note);
    if !note.options.is_empty() {
        page.blank_line().lit("What works from here:\n");
    }
    for choice in &note.options {
        page.lit("\n- ");
        offer(&mut page, choice, note.bot);
    }
    page.blank_line().lit("Until then nothing is started at this head.");
    page.finish()
}

fn stop(page: &mut Page, note: &OperatorNote<'_>) {
    match &note.stop {
        Stop::Rounds => page.lit("round ").num(note.round).lit(" of ").num(note.rounds).lit(" is used up."),
        Stop::Heads { kind: of, heads } => {
            page.code(kind(*of)).lit(" workers were started at ").num(*heads).lit(" heads, as many as may be.")
        }
        Stop::Jobs { jobs } => page.num(*jobs).lit(" workers were started here, as many as one pull may have."),
        Stop::Budget { over } => page.lit("it took all the ").lit(over).lit(" that one pull may take."),
        Stop::Failed { roles } => {
            names(page, roles.iter().map(|role| role.as_str()));
            page.lit(" failed as often as a reviewer may, so this head is not reviewed.")
        }
        Stop::Findings => page.lit("what is left can be settled by a person only."),
        Stop::Worker { kind: of, cause, outcome } => {
            page.lit("the ").code(kind(*of)).lit(" worker ").lit(match outcome {
                None => "went away twice without a word",
                Some(WorkOutcome::Done) => "was done, and its cause is still there",
                Some(WorkOutcome::NothingToDo) => "found nothing to do, and its cause is still there",
                Some(WorkOutcome::NeedsHuman) => "asks for it",
                Some(WorkOutcome::Failed) => "failed",
            });
            page.lit(" (cause ");
            coded(page, cause);
            page.lit(").")
        }
        Stop::Echo { threads } => {
            page.lit("two programs answer each other in ").num(threads.len()).lit(" of its threads.")
        }
    };
}

/// Which findings recur, which attack the previous fix, and what to decide.
fn convergence(page: &mut Page, note: &OperatorNote<'_>) {
    if note.findings.is_empty() {
        return;
    }
    page.blank_line().lit("| Open | Rounds | Where |\n|---|---|---|");
    let mut told = 0;
    for finding in &note.findings {
        if page.len() > ROWS {
            break;
        }
        row(page, finding);
        told += 1;
    }
    let rest = note.findings.get(told..).unwrap_or_default();
    for (at, finding) in rest.iter().enumerate() {
        if page.len() > IDS {
            page.lit(" and ").num(rest.len() - at).lit(" more");
            break;
        }
        if at == 0 {
            page.blank_line().lit("Also open: ");
        } else {
            page.lit(", ");
        }
        page.finding(finding.id);
    }
    questions(page, note);
}

fn questions(page: &mut Page, note: &OperatorNote<'_>) {
    let recur = note.findings.iter().filter(|it| it.rounds.len() > 1).map(|it| it.id).collect();
    let attack = note.findings.iter().filter(|it| it.attacks_fix).map(|it| it.id).collect();
    let before = page.len();
    ask(page, before, recur, " came back round after round: must it be fixed, or is it accepted?");
    ask(page, before, attack, " sits where an earlier fix went: is the fix wrong, or is the finding?");
    for finding in &note.findings {
        if let Some(why) = finding.needs_human.filter(|_| page.len() < IDS) {
            item(page, before);
            page.finding(finding.id);
            page.lit(": ").lit(why);
        }
    }
    if page.len() == before {
        page.blank_line().lit("None of them came back: one more round may end it.");
    }
}

fn ask(page: &mut Page, before: usize, which: Vec<FindingId>, question: &'static str) {
    if !which.is_empty() {
        item(page, before);
        ids(page, which.into_iter());
        page.lit(question);
    }
}

fn item(page: &mut Page, before: usize) {
    page.lit(if page.len() == before { "\n\nTo decide:\n\n- " } else { "\n- " });
}

fn row(page: &mut Page, finding: &OpenFinding<'_>) {
    page.lit("\n| **").lit(severity(finding.severity)).lit("** ");
    page.finding(finding.id);
    page.lit(" ").safe(&title(finding.title)).lit(" · ");
    name(page, finding.role.as_str());
    page.lit(" | ");
    for (at, round) in finding.rounds.iter().take(20).enumerate() {
        comma(page, at);
        page.num(*round);
    }
    page.lit(" | ");
    place(page, finding.path, finding.line, "");
    page.lit(" |");
}

fn offer(page: &mut Page, choice: &Choice, bot: &Login) {
    match choice {
        Choice::Merge { dismiss } if dismiss.is_empty() => {
            page.lit("Merge it as it is: nothing of referee's blocks it.");
        }
        Choice::Merge { dismiss } => {
            page.lit("Merge it as it is: ");
            let named: String = dismiss.iter().take(DISMISS).map(|id| format!("{id} ")).collect();
            command(page, bot, &format!("dismiss {named}<reason>"));
            if dismiss.len() > DISMISS {
                page.lit(", and so for ").num(dismiss.len() - DISMISS).lit(" more,");
            }
            page.lit(" takes the block away, then merge; they stay listed as accepted.");
        }
        Choice::Approve => {
            page.lit("Approve it yourself: no worker starts at this head any more. It lifts nobody's block.");
        }
        Choice::Rounds => {
            command(page, bot, "rounds +1");
            page.lit(": one round more, for a fix that is nearly there.");
        }
        Choice::Reopen => {
            page.lit("Close and reopen it: rounds and workers count from there, for a change that was reworked.");
        }
        Choice::Push => {
            page.lit("Push the last fix by hand: only what you change is reviewed.");
        }
        Choice::Retry => {
            command(page, bot, "retry");
            page.lit(": it is tried again at this head, for an outage that is over.");
        }
        Choice::BreakGlass => {
            command(page, bot, "break-glass <reason>");
            page.lit(": own blocks are lifted at this head, on the record, for what cannot wait.");
        }
        Choice::Budget => {
            page.lit("Raise ").code("[budget] pull").lit(" in the config: it goes on from where it stopped.");
        }
        Choice::Pause => {
            command(page, bot, "pause");
            page.lit(": nothing is started here until ");
            command(page, bot, "resume");
            page.lit(".");
        }
    }
}

const ROWS: usize = 20_000;
const IDS: usize = 40_000;
const DISMISS: usize = 50;
