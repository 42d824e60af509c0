//! Renders replies to people's commands (LOOP-12).

use super::explain::{ExplainHeading, render_explanation};
use super::phrase::{write_code, write_comma, write_command, write_name, write_names};
use crate::facts::Facts;
use crate::model::Login;
use crate::plan::Plan;
use crate::sanitise::{MarkdownBuilder, SafeText};
use crate::say::{Ask, Named};

/// The input of a reply to a command.
#[derive(Debug, Clone)]
pub struct CommandResponse<'a> {
    /// The login that people address commands to.
    pub bot: &'a Login,
    pub kind: CommandResponseKind<'a>,
}

/// The content of a reply to a command.
#[derive(Debug, Clone)]
pub enum CommandResponseKind<'a> {
    /// The list of commands.
    Help,
    Unknown {
        /// The verb that the person typed; untrusted.
        verb: &'a str,
        /// The most similar known verb.
        nearest: Option<&'a str>,
    },
    /// The explanation of the pull's state.
    Explain {
        /// The plan, without this reply.
        plan: &'a Plan,
        facts: &'a Facts<'a>,
    },
    /// A confirmation of `pause`.
    Paused { by: &'a str },
    /// A confirmation of `resume`.
    Resumed { by: &'a str },
    /// The command was edited, so it does not count.
    Edited { ask: &'a Ask },
    /// The person may not give this command.
    NotAllowed { ask: &'a Ask, permission: CommandPermission<'a> },
    NoSuchFinding {
        /// As the person wrote them.
        names: Vec<&'a Named>,
    },
}

/// Who may give a command.
#[derive(Debug, Clone)]
pub enum CommandPermission<'a> {
    /// People with write access other than the pull's author.
    WritersButAuthor,
    /// `None` if none is configured.
    Operator(Option<&'a Login>),
    /// People who may use break-glass.
    GlassBreakers(Vec<&'a Login>),
    /// People with write access.
    Writers,
}

/// Renders the reply.
pub fn render_command_response(note: &CommandResponse<'_>) -> SafeText {
    let mut page = MarkdownBuilder::new();
    match &note.kind {
        CommandResponseKind::Help => write_help(&mut page, note.bot),
        CommandResponseKind::Unknown { verb, nearest } => {
            page.literal("Unknown command ");
            write_code(&mut page, verb);
            if let Some(nearest) = nearest {
                page.literal("; did you mean ");
                write_code(&mut page, nearest);
                page.literal("?");
            } else {
                page.literal(".");
            }
            page.literal(" See ");
            write_command(&mut page, note.bot, "help");
        }
        CommandResponseKind::Explain { plan, facts } => {
            let mut lines = render_explanation(plan, &ExplainHeading::from_facts(facts));
            lines.truncate(lines.floor_char_boundary(MAX_EXPLANATION_BYTES));
            page.code_block("text", &lines, MAX_EXPLANATION_LINES);
        }
        CommandResponseKind::Paused { by } => {
            page.literal("Paused by ");
            write_name(&mut page, by);
            page.literal(": no reviewer and no worker starts here until ");
            write_command(&mut page, note.bot, "resume");
        }
        CommandResponseKind::Resumed { by } => {
            page.literal("Resumed by ");
            write_name(&mut page, by);
        }
        CommandResponseKind::Edited { ask } => {
            page.literal("Nothing was done: an edited comment is not a command. Write ")
                .code_span(verb_name(ask))
                .literal(" in a new comment.");
        }
        CommandResponseKind::NotAllowed { ask, permission: who } => {
            page.literal("Nothing was done: ").code_span(verb_name(ask)).literal(" is for ");
            write_permission(&mut page, who);
        }
        CommandResponseKind::NoSuchFinding { names } => {
            page.literal("Nothing was done: there is no ");
            for (at, named) in names.iter().take(10).enumerate() {
                write_comma(&mut page, at);
                if let Some(role) = &named.role {
                    write_name(&mut page, role.as_str());
                    page.literal("/");
                }
                page.finding(named.id);
            }
            page.literal(" here");
        }
    }
    page.finish()
}

fn write_help(page: &mut MarkdownBuilder, bot: &Login) {
    page.literal(
        "As the first line of a comment that is not edited:\n\n| Say | Who may | What happens |\n|---|---|---|",
    );
    for (words, who, what) in HELP_ROWS {
        page.literal("\n| ");
        write_command(page, bot, words);
        page.literal(" | ").literal(who).literal(" | ").literal(what).literal(" |");
    }
}

const HELP_ROWS: [(&str, &str, &str); 11] = [
    ("review", WRITE_ACCESS, "what changed is looked at again"),
    ("full review", WRITE_ACCESS, "everything is looked at again"),
    ("explain", "anyone", "why the pull is where it is"),
    ("dismiss F4 <reason>", "write access, but not the pull's author", "F4 stays as it is and stops counting"),
    ("reopen F4", WRITE_ACCESS, "takes a dismissal back"),
    ("rounds +1", "the operator", "one round more, until the pull is reopened"),
    ("retry", WRITE_ACCESS, "a failed reviewer tries again at this head"),
    ("pause", WRITE_ACCESS, "no reviewer and no worker starts here"),
    ("resume", WRITE_ACCESS, "it goes on"),
    ("break-glass <reason>", "who the config names, else the operator", "own blocks are lifted at this head"),
    ("help", "anyone", "this"),
];
const WRITE_ACCESS: &str = "write access";

fn verb_name(ask: &Ask) -> &'static str {
    match ask {
        Ask::Review => "review",
        Ask::FullReview => "full review",
        Ask::Explain => "explain",
        Ask::Dismiss { .. } | Ask::DismissOverflow { .. } => "dismiss",
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

fn write_permission(page: &mut MarkdownBuilder, who: &CommandPermission<'_>) {
    match who {
        CommandPermission::Writers => page.literal("people with write access"),
        CommandPermission::WritersButAuthor => page.literal("people with write access other than the pull's author"),
        CommandPermission::Operator(None) => page.literal("the operator, and the config names none"),
        CommandPermission::Operator(Some(operator)) => {
            page.literal("the operator (");
            write_name(page, operator.as_str());
            page.literal(")")
        }
        CommandPermission::GlassBreakers(may) if may.is_empty() => {
            page.literal("the operator, and the config names none")
        }
        CommandPermission::GlassBreakers(may) => {
            write_names(page, may.iter().map(|login| login.as_str()));
            page
        }
    };
}

const MAX_EXPLANATION_LINES: usize = 100;
const MAX_EXPLANATION_BYTES: usize = 20_000;
