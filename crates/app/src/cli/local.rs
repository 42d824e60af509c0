//! `referee local`: what people do on a local pull. No other part of referee calls these.

use clap::{Args, Subcommand};
use referee_core::mark::strip_hidden_comments;
use referee_core::model::{FindingId, Login, PullNumber, PullState, Snapshot, ThreadId};
use referee_core::plan::Plan;
use referee_forge::local::format_local_name;
use referee_turn::Inbox;
use serde_json::json;

use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::output::render_columns;
use crate::session::local::LocalCheckout;
use crate::session::reference::PullReference;
use crate::session::{Options, PullSession};
use crate::store::StoreAccess;

/// What people do on a local pull
#[derive(Debug, Args)]
pub(super) struct LocalArgs {
    /// Whose hand it is; the git user when left out
    #[arg(long = "as", value_name = "NAME", global = true)]
    by: Option<String>,
    #[command(subcommand)]
    verb: LocalCommand,
}

#[derive(Debug, Subcommand)]
enum LocalCommand {
    /// All pulls
    List,
    /// Open a pull for a range, without a review
    Open {
        /// `A..B`; the current branch when left out
        range: Option<String>,
    },
    /// A pull with everything that was written on it
    Show {
        /// `L7`
        pull: Option<String>,
    },
    /// Comment on the pull, or on a line of it
    Comment {
        /// `L7`
        pull: String,
        /// `PATH:LINE`, then the text; the text alone comments on the pull
        #[arg(num_args = 1..=2, required = true, value_names = ["PATH:LINE", "TEXT"])]
        words: Vec<String>,
    },
    /// Reply in a thread
    Reply {
        /// `L7`
        pull: String,
        /// `F2`, or a thread's id
        thread: String,
        /// What to say
        text: String,
    },
    /// Resolve a thread
    Resolve {
        /// `L7`
        pull: String,
        /// `F2`, or a thread's id
        thread: String,
    },
    /// Reopen a pull, or a thread
    Reopen {
        /// `L7`
        pull: String,
        /// `F2`, or a thread's id; the pull itself when left out
        thread: Option<String>,
    },
    /// Approve a pull
    Approve {
        /// `L7`
        pull: String,
        /// What to say
        #[arg(default_value = "")]
        text: String,
    },
    /// Ask for changes
    Block {
        /// `L7`
        pull: String,
        /// What to say
        #[arg(default_value = "")]
        text: String,
    },
    /// Close a pull
    Close {
        /// `L7`
        pull: String,
    },
}

impl LocalArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let reads = matches!(self.verb, LocalCommand::List | LocalCommand::Show { .. });
        let mut checkout = LocalCheckout::open(options, if reads { StoreAccess::Read } else { StoreAccess::Write })?;
        let by = self.by.as_deref().map_or_else(|| checkout.user.clone(), Login::from);
        let pull = match &self.verb {
            LocalCommand::List => return list_pulls(&checkout, out),
            LocalCommand::Open { range } => checkout.resolve_pull(&PullReference::parse_optional(range.as_deref())?)?,
            LocalCommand::Show { pull } => checkout.resolve_pull(&PullReference::parse_optional(pull.as_deref())?)?,
            LocalCommand::Comment { pull, .. }
            | LocalCommand::Reply { pull, .. }
            | LocalCommand::Resolve { pull, .. }
            | LocalCommand::Reopen { pull, .. }
            | LocalCommand::Approve { pull, .. }
            | LocalCommand::Block { pull, .. }
            | LocalCommand::Close { pull } => checkout.resolve_pull(&PullReference::parse_optional(Some(pull))?)?,
        };
        let forge = checkout.forge.clone();
        let hands = forge.as_user(&by);
        let did = match &self.verb {
            LocalCommand::List => return Ok(CliOutcome::Done),
            LocalCommand::Show { .. } => return show_pull(checkout, pull, options, out).await,
            LocalCommand::Open { .. } => "opened".to_owned(),
            LocalCommand::Comment { words, .. } => match words.as_slice() {
                [text] => format!("commented ({})", hands.comment(pull, text)?),
                [spot, text, ..] => {
                    let (path, line) = parse_location(spot)?;
                    format!("opened thread {}", hands.open_thread(pull, path, line, text)?)
                }
                [] => return Err(Failure::usage("there is nothing to say")),
            },
            LocalCommand::Reply { thread, text, .. } => {
                let thread = find_thread(checkout, pull, thread, options, out).await?;
                hands.reply(pull, &thread, text)?;
                format!("replied in thread {thread}")
            }
            LocalCommand::Resolve { thread, .. } => {
                let thread = find_thread(checkout, pull, thread, options, out).await?;
                hands.resolve_thread(pull, &thread)?;
                format!("resolved thread {thread}")
            }
            LocalCommand::Reopen { thread: Some(thread), .. } => {
                let thread = find_thread(checkout, pull, thread, options, out).await?;
                hands.reopen_thread(pull, &thread)?;
                format!("reopened thread {thread}")
            }
            LocalCommand::Reopen { thread: None, .. } => hands.reopen(pull).map(|()| "reopened".to_owned())?,
            LocalCommand::Approve { text, .. } => hands.approve(pull, text).map(|_| "approved".to_owned())?,
            LocalCommand::Block { text, .. } => {
                hands.request_changes(pull, text).map(|_| "asked for changes".to_owned())?
            }
            LocalCommand::Close { .. } => hands.close(pull).map(|()| "closed".to_owned())?,
        };
        let name = format_local_name(pull);
        if out.json {
            out.print_json(&json!({ "schema": "referee/local-1", "pull": name, "by": by, "did": did }));
        }
        out.print_info(&format!("{name}: {by} {did}\nnext: `referee review {name}` takes it in"));
        Ok(CliOutcome::Done)
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
        out.print_info("no pulls yet\nnext: `referee review` opens one for the current branch");
    }
    Ok(CliOutcome::Done)
}

async fn load_pull(
    checkout: LocalCheckout,
    pull: PullNumber,
    options: &Options,
    out: &Console,
) -> Result<(Snapshot, Plan), Failure> {
    let session = PullSession::open_local(checkout, pull, options, out).await?;
    session.begin(&Inbox { evidence: session.load_evidence()?, ..Inbox::default() }).await
}

/// Everything that was written, as it stands.
async fn show_pull(
    checkout: LocalCheckout,
    pull: PullNumber,
    options: &Options,
    out: &Console,
) -> Result<CliOutcome, Failure> {
    let (snapshot, _) = load_pull(checkout, pull, options, out).await?;
    if out.json {
        out.print_json(&json!({ "schema": "referee/local-1", "snapshot": snapshot }));
        return Ok(CliOutcome::Done);
    }
    let words = |text: &str, indent: &str| -> String {
        let shown = strip_hidden_comments(text);
        shown.trim().lines().map(|line| format!("{}\n", format!("{indent}{line}").trim_end())).collect()
    };
    out.print_data(&format!("{} {} · {}\n", format_local_name(pull), snapshot.pull.title, snapshot.pull.head.short()));
    for review in &snapshot.reviews {
        let verdict = review.verdict().map(|verdict| verdict.to_string()).unwrap_or_default();
        out.print_data(&format!("\nreview {} by {}: {verdict}\n", review.id, review.author.display_name()));
        out.print_data(&words(review.text.body_or_empty(), "  "));
    }
    for thread in &snapshot.threads {
        let checkout = match (&thread.path, thread.line) {
            (Some(path), Some(line)) => format!("{path}:{line}"),
            (Some(path), None) => path.clone(),
            (None, _) => "the pull".to_owned(),
        };
        let state = if thread.resolved.is_some() { "resolved" } else { "open" };
        out.print_data(&format!("\nthread {} on {checkout}, {state}\n", thread.id));
        for note in &thread.notes {
            out.print_data(&format!("  {}:\n{}", note.author.display_name(), words(note.text.body_or_empty(), "    ")));
        }
    }
    for comment in &snapshot.comments {
        out.print_data(&format!(
            "\ncomment by {}\n{}",
            comment.author.display_name(),
            words(comment.text.body_or_empty(), "  ")
        ));
    }
    out.print_info(&format!("\nnext: `referee explain {}` says whose turn it is", format_local_name(pull)));
    Ok(CliOutcome::Done)
}

fn parse_location(spot: &str) -> Result<(&str, u32), Failure> {
    let parsed = spot.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?)));
    parsed.ok_or_else(|| Failure::usage(format!("`{spot}` is no checkout")).with_hint("write `src/a.rs:88`"))
}

/// A thread by its finding, or by its own id.
async fn find_thread(
    checkout: LocalCheckout,
    pull: PullNumber,
    name: &str,
    options: &Options,
    out: &Console,
) -> Result<ThreadId, Failure> {
    let (snapshot, plan) = load_pull(checkout, pull, options, out).await?;
    let (role, id) = name.rsplit_once('/').map_or((None, name), |(role, id)| (Some(role), id));
    if let Some(number) = id.strip_prefix(['F', 'f']).and_then(|digits| digits.parse().ok()) {
        let named: Vec<_> = plan
            .findings
            .iter()
            .filter(|line| line.id == FindingId(number) && role.is_none_or(|role| line.role == role))
            .collect();
        return match named.as_slice() {
            [line] => line.thread.map(ThreadId::from).ok_or_else(|| {
                Failure::usage(format!("{} has no thread of its own: it stands in the summary", line.id)).with_hint(
                    format!(
                        "command it on the pull: `referee local comment {} \"/referee dismiss {} <reason>\"`",
                        format_local_name(pull),
                        line.id
                    ),
                )
            }),
            [] => Err(Failure::usage(format!("there is no finding `{name}` on {}", format_local_name(pull)))
                .with_hint(format!("`referee explain {}` lists them", format_local_name(pull)))),
            several => {
                let names: Vec<String> = several.iter().map(|line| format!("`{}/{}`", line.role, line.id)).collect();
                Err(Failure::usage(format!("`{name}` may be {}", names.join(" or "))))
            }
        };
    }
    let found = snapshot.threads.iter().find(|thread| thread.id.as_str() == name);
    found.map(|thread| thread.id.clone()).ok_or_else(|| {
        Failure::usage(format!("there is no thread `{name}` on {}", format_local_name(pull)))
            .with_hint(format!("`referee comments {}` lists them", format_local_name(pull)))
    })
}
