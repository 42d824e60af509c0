//! `referee local`: what people do on a local pull request. No other part of referee uses these actions.

use clap::{Args, Subcommand};
use referee_core::mark::strip_hidden_comments;
use referee_core::model::{Author, FindingId, Login, PullNumber, PullState, ThreadId};
use referee_forge::local::format_local_name;
use referee_turn::{BegunTurn, Inbox};
use serde_json::json;

use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::output::render_columns;
use crate::printable::to_one_line;
use crate::session::local::LocalCheckout;
use crate::session::reference::PullReference;
use crate::session::{Options, PullSession};
use crate::store::StoreAccess;

/// Comment on, approve or close a local pull request
#[derive(Debug, Args)]
pub(super) struct LocalArgs {
    /// Act as this user [default: the git user]
    #[arg(long = "as", value_name = "NAME", global = true)]
    by: Option<String>,
    #[command(subcommand)]
    command: LocalCommand,
}

#[derive(Debug, Subcommand)]
enum LocalCommand {
    /// List all local pull requests
    List,
    /// Open a pull request without reviewing it
    Open {
        /// The range `A..B` [default: the current branch]
        range: Option<String>,
    },
    /// Show a pull request with its reviews, threads and comments
    Show {
        /// The pull request, such as `L7` [default: the one of the current branch]
        pull: Option<String>,
    },
    /// Comment on a pull request or on one of its lines
    Comment {
        /// The pull request, such as `L7`
        pull: String,
        /// The line and the text; the text alone comments on the pull request
        #[arg(num_args = 1..=2, required = true, value_names = ["PATH:LINE", "TEXT"])]
        text: Vec<String>,
    },
    /// Reply in a thread
    Reply {
        /// The pull request, such as `L7`
        pull: String,
        /// The finding, such as `F2`, or the id of the thread
        thread: String,
        /// The text of the reply
        text: String,
    },
    /// Resolve a thread
    Resolve {
        /// The pull request, such as `L7`
        pull: String,
        /// The finding, such as `F2`, or the id of the thread
        thread: String,
    },
    /// Reopen a pull request or a thread
    Reopen {
        /// The pull request, such as `L7`
        pull: String,
        /// The finding or the id of the thread [default: reopen the pull request]
        thread: Option<String>,
    },
    /// Approve a pull request
    Approve {
        /// The pull request, such as `L7`
        pull: String,
        /// The text of the review
        #[arg(default_value = "")]
        text: String,
    },
    /// Request changes
    Block {
        /// The pull request, such as `L7`
        pull: String,
        /// The text of the review
        #[arg(default_value = "")]
        text: String,
    },
    /// Close a pull request
    Close {
        /// The pull request, such as `L7`
        pull: String,
    },
}

impl LocalArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let read_only = matches!(self.command, LocalCommand::List | LocalCommand::Show { .. });
        let mut checkout =
            LocalCheckout::open(options, if read_only { StoreAccess::Read } else { StoreAccess::Write })?;
        let user = self.by.as_deref().map_or_else(|| checkout.user.clone(), Login::from);
        if let LocalCommand::List = &self.command {
            return list_pulls(&checkout, out);
        }
        let pull = checkout.resolve_pull(&PullReference::parse_optional(self.command.reference())?)?;
        let forge = checkout.forge.clone();
        let actor = forge.as_user(&user);
        let done = match &self.command {
            LocalCommand::List => return Ok(CliOutcome::Done),
            LocalCommand::Show { .. } => return show_pull(checkout, pull, options, out).await,
            LocalCommand::Open { .. } => "opened".to_owned(),
            LocalCommand::Comment { text, .. } => match text.as_slice() {
                [text] => format!("commented ({})", actor.comment(pull, text)?),
                [location, text, ..] => {
                    let (path, line) = parse_location(location)?;
                    format!("opened thread {}", actor.open_thread(pull, path, line, text)?)
                }
                [] => return Err(Failure::usage("nothing was written: the comment has no text")),
            },
            LocalCommand::Reply { thread, text, .. } => {
                let thread = find_thread(checkout, pull, thread, options, out).await?;
                actor.reply(pull, &thread, text)?;
                format!("replied in thread {thread}")
            }
            LocalCommand::Resolve { thread, .. } => {
                let thread = find_thread(checkout, pull, thread, options, out).await?;
                actor.resolve_thread(pull, &thread)?;
                format!("resolved thread {thread}")
            }
            LocalCommand::Reopen { thread: Some(thread), .. } => {
                let thread = find_thread(checkout, pull, thread, options, out).await?;
                actor.reopen_thread(pull, &thread)?;
                format!("reopened thread {thread}")
            }
            LocalCommand::Reopen { thread: None, .. } => actor.reopen(pull).map(|()| "reopened".to_owned())?,
            LocalCommand::Approve { text, .. } => actor.approve(pull, text).map(|_| "approved".to_owned())?,
            LocalCommand::Block { text, .. } => {
                actor.request_changes(pull, text).map(|_| "asked for changes".to_owned())?
            }
            LocalCommand::Close { .. } => actor.close(pull).map(|()| "closed".to_owned())?,
        };
        let name = format_local_name(pull);
        if out.json {
            out.print_json(&json!({ "schema": "referee/local-1", "pull": name, "by": user, "did": done }));
        }
        out.print_info(&format!("{name}: {user} {done}\nnext: `referee review {name}` reads it"));
        Ok(CliOutcome::Done)
    }
}

impl LocalCommand {
    /// Returns the pull request or range as typed; `None` means the current branch.
    fn reference(&self) -> Option<&str> {
        match self {
            Self::List => None,
            Self::Open { range: pull } | Self::Show { pull } => pull.as_deref(),
            Self::Comment { pull, .. }
            | Self::Reply { pull, .. }
            | Self::Resolve { pull, .. }
            | Self::Reopen { pull, .. }
            | Self::Approve { pull, .. }
            | Self::Block { pull, .. }
            | Self::Close { pull } => Some(pull),
        }
    }
}

fn list_pulls(checkout: &LocalCheckout, out: &Console) -> Result<CliOutcome, Failure> {
    let pulls = checkout.forge.list_pulls()?;
    if out.json {
        let rows = pulls.iter().map(|pull| {
            json!({ "pull": format_local_name(pull.number), "branch": pull.branch, "base": pull.base, "state": pull.state,
                    "title": pull.title, "author": pull.author })
        });
        out.print_json(&json!({ "schema": "referee/local-1", "pulls": rows.collect::<Vec<_>>() }));
        return Ok(CliOutcome::Done);
    }
    let rows: Vec<_> = pulls
        .iter()
        .map(|pull| {
            let state = match pull.state {
                PullState::Open => "open",
                PullState::Closed => "closed",
                PullState::Merged => "merged",
            };
            let range = format!("{} → {}", pull.branch, pull.base);
            [format_local_name(pull.number), state.to_owned(), range, pull.title.clone()]
        })
        .collect();
    out.print_data(&render_columns(&rows, out));
    if pulls.is_empty() {
        out.print_info("no pull requests yet\nnext: `referee review` opens one for the current branch");
    }
    Ok(CliOutcome::Done)
}

async fn load_pull(
    checkout: LocalCheckout,
    pull: PullNumber,
    options: &Options,
    out: &Console,
) -> Result<BegunTurn, Failure> {
    let session = PullSession::open_local(checkout, pull, options, out).await?;
    session.begin(&Inbox { evidence: session.load_evidence()?, ..Inbox::default() }).await
}

/// Prints the reviews, threads and comments of a pull request.
async fn show_pull(
    checkout: LocalCheckout,
    pull: PullNumber,
    options: &Options,
    out: &Console,
) -> Result<CliOutcome, Failure> {
    let BegunTurn { snapshot, .. } = load_pull(checkout, pull, options, out).await?;
    if out.json {
        out.print_json(&json!({ "schema": "referee/local-1", "snapshot": snapshot }));
        return Ok(CliOutcome::Done);
    }
    let indented = |text: &str, indent: &str| -> String {
        let visible = strip_hidden_comments(text);
        visible.trim().lines().map(|line| format!("{}\n", format!("{indent}{line}").trim_end())).collect()
    };
    let title = to_one_line(&snapshot.pull.title);
    out.print_data(&format!("{} {title} · {}\n", format_local_name(pull), snapshot.pull.head.short()));
    for review in &snapshot.reviews {
        let verdict = review.verdict().map(|verdict| verdict.to_string()).unwrap_or_default();
        out.print_data(&format!("\nreview {} by {}: {verdict}\n", review.id, author_name(&review.author)));
        out.print_data(&indented(review.text.body_or_empty(), "  "));
    }
    for thread in &snapshot.threads {
        let location = match (&thread.path, thread.line) {
            (Some(path), Some(line)) => format!("{path}:{line}"),
            (Some(path), None) => path.clone(),
            (None, _) => "the pull request".to_owned(),
        };
        let state = if thread.resolved.is_some() { "resolved" } else { "open" };
        out.print_data(&format!("\nthread {} on {}, {state}\n", thread.id, to_one_line(&location)));
        for note in &thread.notes {
            out.print_data(&format!(
                "  {}:\n{}",
                author_name(&note.author),
                indented(note.text.body_or_empty(), "    ")
            ));
        }
    }
    for comment in &snapshot.comments {
        out.print_data(&format!(
            "\ncomment by {}\n{}",
            author_name(&comment.author),
            indented(comment.text.body_or_empty(), "  ")
        ));
    }
    out.print_info(&format!("\nnext: `referee explain {}` explains what happens next", format_local_name(pull)));
    Ok(CliOutcome::Done)
}

fn author_name(author: &Author) -> String {
    to_one_line(author.display_name())
}

fn parse_location(location: &str) -> Result<(&str, u32), Failure> {
    let parsed = location.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?)));
    parsed.ok_or_else(|| {
        Failure::usage(format!("`{location}` does not name a line"))
            .with_hint("write path and line, such as `src/a.rs:88`")
    })
}

/// Finds a thread by its finding or by its id.
async fn find_thread(
    checkout: LocalCheckout,
    pull: PullNumber,
    name: &str,
    options: &Options,
    out: &Console,
) -> Result<ThreadId, Failure> {
    let BegunTurn { snapshot, plan, .. } = load_pull(checkout, pull, options, out).await?;
    let (role, id) = name.rsplit_once('/').map_or((None, name), |(role, id)| (Some(role), id));
    if let Some(number) = id.strip_prefix(['F', 'f']).and_then(|digits| digits.parse().ok()) {
        let matches: Vec<_> = plan
            .findings
            .iter()
            .filter(|line| line.id == FindingId(number) && role.is_none_or(|role| line.role == role))
            .collect();
        return match matches.as_slice() {
            [line] => line.thread.map(ThreadId::from).ok_or_else(|| {
                Failure::usage(format!("{} has no thread: it is listed in the summary", line.id)).with_hint(format!(
                    "answer it with a command: `referee local comment {} \"/referee dismiss {} <reason>\"`",
                    format_local_name(pull),
                    line.id
                ))
            }),
            [] => Err(Failure::usage(format!("there is no finding `{name}` on {}", format_local_name(pull)))
                .with_hint(format!("`referee explain {}` lists the findings", format_local_name(pull)))),
            several => {
                let names: Vec<String> = several.iter().map(|line| format!("`{}/{}`", line.role, line.id)).collect();
                Err(Failure::usage(format!("`{name}` is ambiguous: it may be {}", names.join(" or "))))
            }
        };
    }
    let found = snapshot.threads.iter().find(|thread| thread.id.as_str() == name);
    found.map(|thread| thread.id.clone()).ok_or_else(|| {
        Failure::usage(format!("there is no thread `{name}` on {}", format_local_name(pull)))
            .with_hint(format!("`referee comments {}` lists the threads", format_local_name(pull)))
    })
}
