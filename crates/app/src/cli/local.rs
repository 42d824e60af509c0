//! `referee local`: what people do on a local pull. No other part of referee calls these.

use clap::{Args, Subcommand};
use referee_core::mark::visible;
use referee_core::model::{FindingId, Login, PullState, Snapshot, ThreadId};
use referee_core::plan::Plan;
use referee_forge::local_name;
use referee_turn::Inbox;
use serde_json::json;

use super::Common;
use crate::case::Case;
use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::place::Place;
use crate::show::columns;
use crate::store::Access;
use crate::table::Table;
use crate::target::Target;

/// What people do on a local pull
#[derive(Debug, Args)]
pub(super) struct Local {
    /// Whose hand it is; the git user when left out
    #[arg(long = "as", value_name = "NAME", global = true)]
    by: Option<String>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
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

impl Local {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        let reads = matches!(self.verb, Verb::List | Verb::Show { .. });
        let mut place = Place::open(common, if reads { Access::Read } else { Access::Write })?;
        let by = self.by.as_deref().map_or_else(|| place.user.clone(), Login::from);
        let pull = match &self.verb {
            Verb::List => return list(&place, out),
            Verb::Open { range } => place.pull(&Target::read(range.as_deref())?)?,
            Verb::Show { pull } => place.pull(&Target::read(pull.as_deref())?)?,
            Verb::Comment { pull, .. }
            | Verb::Reply { pull, .. }
            | Verb::Resolve { pull, .. }
            | Verb::Reopen { pull, .. }
            | Verb::Approve { pull, .. }
            | Verb::Block { pull, .. }
            | Verb::Close { pull } => place.pull(&Target::read(Some(pull))?)?,
        };
        let forge = place.forge.clone();
        let hands = forge.hands(&by);
        let case = Case::local(place, pull)?;
        let did = match &self.verb {
            Verb::List => return Ok(Ending::Done),
            Verb::Show { .. } => return show(case, common, out),
            Verb::Open { .. } => "opened".to_owned(),
            Verb::Comment { words, .. } => match words.as_slice() {
                [text] => format!("commented ({})", hands.comment(pull, text)?),
                [spot, text, ..] => {
                    let (path, line) = spot_of(spot)?;
                    format!("opened thread {}", hands.open_thread(pull, path, line, text)?)
                }
                [] => return Err(Failure::usage("there is nothing to say")),
            },
            Verb::Reply { thread, text, .. } => {
                let thread = thread_of(case, common, thread, out)?;
                hands.reply(pull, &thread, text)?;
                format!("replied in thread {thread}")
            }
            Verb::Resolve { thread, .. } => {
                let thread = thread_of(case, common, thread, out)?;
                hands.resolve(pull, &thread)?;
                format!("resolved thread {thread}")
            }
            Verb::Reopen { thread: Some(thread), .. } => {
                let thread = thread_of(case, common, thread, out)?;
                hands.reopen_thread(pull, &thread)?;
                format!("reopened thread {thread}")
            }
            Verb::Reopen { thread: None, .. } => hands.reopen(pull).map(|()| "reopened".to_owned())?,
            Verb::Approve { text, .. } => hands.approve(pull, text).map(|_| "approved".to_owned())?,
            Verb::Block { text, .. } => hands.block(pull, text).map(|_| "asked for changes".to_owned())?,
            Verb::Close { .. } => hands.close(pull).map(|()| "closed".to_owned())?,
        };
        let name = local_name(pull);
        if out.json {
            out.document(&json!({ "schema": "referee/local-1", "pull": name, "by": by, "did": did }));
        }
        out.say(&format!("{name}: {by} {did}\nnext: `referee review {name}` takes it in"));
        Ok(Ending::Done)
    }
}

fn list(place: &Place, out: &Out) -> Result<Ending, Failure> {
    let pulls = place.forge.pulls()?;
    if out.json {
        let rows = pulls.iter().map(|pull| {
            json!({ "pull": local_name(pull.number), "branch": pull.branch, "base": pull.base, "state": pull.state,
                    "title": pull.title, "author": pull.author })
        });
        out.document(&json!({ "schema": "referee/local-1", "pulls": rows.collect::<Vec<_>>() }));
        return Ok(Ending::Done);
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
            [local_name(pull.number), state.to_owned(), range, pull.title.clone()]
        })
        .collect();
    out.data(&columns(&rows, out));
    if pulls.is_empty() {
        out.say("no pulls yet\nnext: `referee review` opens one for the current branch");
    }
    Ok(Ending::Done)
}

fn looked(mut case: Case, common: &Common, out: &Out) -> Result<(Snapshot, Plan), Failure> {
    let setup = case.setup(common, out)?;
    let table = Table::new(&case, &setup)?;
    table.look(&Inbox { evidence: table.evidence()?, reports: Vec::new() })
}

/// Everything that was written, as it stands.
fn show(case: Case, common: &Common, out: &Out) -> Result<Ending, Failure> {
    let pull = case.pull;
    let (snapshot, _) = looked(case, common, out)?;
    if out.json {
        out.document(&json!({ "schema": "referee/local-1", "snapshot": snapshot }));
        return Ok(Ending::Done);
    }
    let words = |text: &str, indent: &str| -> String {
        let shown = visible(text);
        shown.trim().lines().map(|line| format!("{}\n", format!("{indent}{line}").trim_end())).collect()
    };
    out.data(&format!("{} {} · {}\n", local_name(pull), snapshot.pull.title, snapshot.pull.head.short()));
    for review in &snapshot.reviews {
        let verdict = review.verdict().map(|verdict| verdict.to_string()).unwrap_or_default();
        out.data(&format!("\nreview {} by {}: {verdict}\n", review.id, review.author.name()));
        out.data(&words(review.text.words(), "  "));
    }
    for thread in &snapshot.threads {
        let place = match (&thread.path, thread.line) {
            (Some(path), Some(line)) => format!("{path}:{line}"),
            (Some(path), None) => path.clone(),
            (None, _) => "the pull".to_owned(),
        };
        let state = if thread.resolved.is_some() { "resolved" } else { "open" };
        out.data(&format!("\nthread {} on {place}, {state}\n", thread.id));
        for note in &thread.notes {
            out.data(&format!("  {}:\n{}", note.author.name(), words(note.text.words(), "    ")));
        }
    }
    for comment in &snapshot.comments {
        out.data(&format!("\ncomment by {}\n{}", comment.author.name(), words(comment.text.words(), "  ")));
    }
    out.say(&format!("\nnext: `referee explain {}` says whose turn it is", local_name(pull)));
    Ok(Ending::Done)
}

fn spot_of(spot: &str) -> Result<(&str, u32), Failure> {
    let parsed = spot.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?)));
    parsed.ok_or_else(|| Failure::usage(format!("`{spot}` is no place")).hint("write `src/a.rs:88`"))
}

/// A thread by its finding, or by its own id.
fn thread_of(case: Case, common: &Common, name: &str, out: &Out) -> Result<ThreadId, Failure> {
    let pull = case.pull;
    let (snapshot, plan) = looked(case, common, out)?;
    let (role, id) = name.rsplit_once('/').map_or((None, name), |(role, id)| (Some(role), id));
    if let Some(number) = id.strip_prefix(['F', 'f']).and_then(|digits| digits.parse().ok()) {
        let named: Vec<_> = plan
            .findings
            .iter()
            .filter(|line| line.id == FindingId(number) && role.is_none_or(|role| line.role == role))
            .collect();
        return match named.as_slice() {
            [line] => line.thread.map(ThreadId::from).ok_or_else(|| {
                Failure::usage(format!("{} has no thread of its own: it stands in the summary", line.id)).hint(format!(
                    "command it on the pull: `referee local comment {} \"/referee dismiss {} <reason>\"`",
                    local_name(pull),
                    line.id
                ))
            }),
            [] => Err(Failure::usage(format!("there is no finding `{name}` on {}", local_name(pull)))
                .hint(format!("`referee explain {}` lists them", local_name(pull)))),
            several => {
                let names: Vec<String> = several.iter().map(|line| format!("`{}/{}`", line.role, line.id)).collect();
                Err(Failure::usage(format!("`{name}` may be {}", names.join(" or "))))
            }
        };
    }
    let found = snapshot.threads.iter().find(|thread| thread.id.as_str() == name);
    found.map(|thread| thread.id.clone()).ok_or_else(|| {
        Failure::usage(format!("there is no thread `{name}` on {}", local_name(pull)))
            .hint(format!("`referee comments {}` lists them", local_name(pull)))
    })
}
