//! Answers to people's commands (LOOP-12).

use super::explain::{Heading, explain};
use super::phrase::{coded, comma, command, name, names};
use crate::facts::Facts;
use crate::model::Login;
use crate::plan::Plan;
use crate::sanitise::{Page, SafeText};
use crate::say::{Ask, Named};

/// What an answer to a command is made from.
#[derive(Debug, Clone)]
pub struct SaidNote<'a> {
    /// The name people command referee by.
    pub bot: &'a Login,
    /// What is answered.
    pub word: Word<'a>,
}

/// What is answered to a command.
#[derive(Debug, Clone)]
pub enum Word<'a> {
    /// The commands there are.
    Help,
    /// No such verb.
    Unknown {
        /// What was written; tainted.
        verb: &'a str,
        /// The nearest verb.
        nearest: Option<&'a str>,
    },
    /// Why the pull is where it is.
    Explain {
        /// What is planned, but for this answer.
        plan: &'a Plan,
        /// What it follows from.
        facts: &'a Facts<'a>,
    },
    /// Nothing starts here until `resume`.
    Paused {
        /// By whom.
        by: &'a str,
    },
    /// It goes on.
    Resumed {
        /// By whom.
        by: &'a str,
    },
    /// They may not ask for that.
    NotAllowed {
        /// For what.
        ask: &'a Ask,
        /// Who may.
        who: Who<'a>,
    },
    /// There is no such finding here.
    NoSuchFinding {
        /// As they were named.
        names: Vec<&'a Named>,
    },
}

/// Who may ask for something.
#[derive(Debug, Clone)]
pub enum Who<'a> {
    /// People with write access other than the pull's author.
    WritersButAuthor,
    /// The operator; `None` where the config names none.
    Operator(Option<&'a Login>),
    /// Those who may break glass.
    GlassBreakers(Vec<&'a Login>),
    /// People with write access.
    Writers,
}

/// The words of an answer.
pub fn said(note: &SaidNote<'_>) -> SafeText {
    let mut page = Page::new();
    match &note.word {
        Word::Help => help(&mut page, note.bot),
        Word::Unknown { verb, nearest } => {
            page.lit("Unknown command ");
            coded(&mut page, verb);
            if let Some(nearest) = nearest {
                page.lit("; did you mean ");
                coded(&mut page, nearest);
                page.lit("?");
            } else {
                page.lit(".");
            }
            page.lit(" See ");
            command(&mut page, note.bot, "help");
        }
        Word::Explain { plan, facts } => {
            let mut lines = explain(plan, &Heading::of(facts));
            lines.truncate(lines.floor_char_boundary(LONGEST));
            page.fence("text", &lines, LINES);
        }
        Word::Paused { by } => {
            page.lit("Paused by ");
            name(&mut page, by);
            page.lit(": no reviewer and no worker starts here until ");
            command(&mut page, note.bot, "resume");
        }
        Word::Resumed { by } => {
            page.lit("Resumed by ");
            name(&mut page, by);
        }
        Word::NotAllowed { ask, who } => {
            page.lit("Nothing was done: ").code(verb(ask)).lit(" is for ");
            allowed(&mut page, who);
        }
        Word::NoSuchFinding { names } => {
            page.lit("Nothing was done: there is no ");
            for (at, named) in names.iter().take(10).enumerate() {
                comma(&mut page, at);
                if let Some(role) = &named.role {
                    name(&mut page, role.as_str());
                    page.lit("/");
                }
                page.finding(named.id);
            }
            page.lit(" here");
        }
    }
    page.finish()
}

fn help(page: &mut Page, bot: &Login) {
    page.lit("As the first line of a comment that is not edited:\n\n| Say | Who may | What happens |\n|---|---|---|");
    for (words, who, what) in HELP {
        page.lit("\n| ");
        command(page, bot, words);
        page.lit(" | ").lit(who).lit(" | ").lit(what).lit(" |");
    }
}

const HELP: [(&str, &str, &str); 11] = [
    ("review", WRITERS, "what changed is looked at again"),
    ("full review", WRITERS, "everything is looked at again"),
    ("explain", "anyone", "why the pull is where it is"),
    ("dismiss F4 <reason>", "write access, but not the pull's author", "F4 stays as it is and stops counting"),
    ("reopen F4", WRITERS, "takes a dismissal back"),
    ("rounds +1", "the operator", "one round more, until the pull is reopened"),
    ("retry", WRITERS, "a failed reviewer tries again at this head"),
    ("pause", WRITERS, "no reviewer and no worker starts here"),
    ("resume", WRITERS, "it goes on"),
    ("break-glass <reason>", "who the config names, else the operator", "own blocks are lifted at this head"),
    ("help", "anyone", "this"),
];
const WRITERS: &str = "write access";

fn verb(ask: &Ask) -> &'static str {
    match ask {
        Ask::Review => "review",
        Ask::FullReview => "full review",
        Ask::Explain => "explain",
        Ask::Dismiss { .. } => "dismiss",
        Ask::Reopen { .. } => "reopen",
        Ask::Rounds { .. } => "rounds",
        Ask::Retry => "retry",
        Ask::Pause => "pause",
        Ask::Resume => "resume",
        Ask::BreakGlass { .. } => "break-glass",
        Ask::Help => "help",
        Ask::Unknown { .. } => "this",
    }
}

fn allowed(page: &mut Page, who: &Who<'_>) {
    match who {
        Who::Writers => page.lit("people with write access"),
        Who::WritersButAuthor => page.lit("people with write access other than the pull's author"),
        Who::Operator(None) => page.lit("the operator, and the config names none"),
        Who::Operator(Some(operator)) => {
            page.lit("the operator (");
            name(page, operator.as_str());
            page.lit(")")
        }
        Who::GlassBreakers(may) if may.is_empty() => page.lit("the operator, and the config names none"),
        Who::GlassBreakers(may) => {
            names(page, may.iter().map(|login| login.as_str()));
            page
        }
    };
}

const LINES: usize = 100;
const LONGEST: usize = 20_000;
