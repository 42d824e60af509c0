//! `referee status`: lists all known pull requests with the decision of their last turn.
//!
//! Local pull requests come first, then those of this checkout's forge, then those that earlier runs read on other forges.

use std::collections::BTreeMap;

use clap::Args;
use referee_core::model::{PullState, Sha};
use referee_forge::ListedPull;
use referee_forge::local::format_local_name;
use serde_json::json;

use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::output::render_columns;
use crate::session::Options;
use crate::session::connect::ForgePulls;
use crate::session::local::{LocalCheckout, now};
use crate::store::{LatestTurn, Store, StoreAccess};

/// List all known pull requests and what each one waits for
#[derive(Debug, Args)]
pub(super) struct StatusArgs {}

/// One pull request in the list.
struct StatusRow {
    name: String,
    branch: String,
    base: String,
    next: String,
    why: String,
}

impl StatusArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let Self {} = self;
        let forge_turns = Store::open_for_forges(StoreAccess::Read, now).load_latest_turns()?;
        let listed = ForgePulls::list(options).await?;
        // Without a checkout there may still be pull requests of a forge to list.
        let mut rows = match LocalCheckout::open(options, StoreAccess::Read) {
            Ok(checkout) => list_local(&checkout)?,
            Err(failure) if listed.is_none() && forge_turns.is_empty() => return Err(failure),
            Err(_) => Vec::new(),
        };
        rows.extend(list_forge(listed.as_ref(), &forge_turns));
        if out.json {
            let pulls = rows.iter().map(|StatusRow { name, branch, base, next, why }| {
                json!({ "pull": name, "branch": branch, "base": base, "next": next, "why": why })
            });
            out.print_json(&json!({ "schema": "referee/status-1", "pulls": pulls.collect::<Vec<_>>() }));
        } else {
            let cells = rows.iter().map(|StatusRow { name, branch, base, next, why }| {
                let next = if next.contains(':') { next.clone() } else { format!("{next}: {why}") };
                let range = if branch.is_empty() { String::new() } else { format!("{branch} → {base}") };
                [name.clone(), range, next]
            });
            out.print_data(&render_columns(&cells.collect::<Vec<_>>(), out));
        }
        match rows.first() {
            None => out.print_info("no open pull requests\nnext: `referee review` opens one for the current branch"),
            Some(StatusRow { name, .. }) => {
                out.print_line(&format!(
                    "next: `referee explain {name}` explains it; `referee review {name}` takes the next turn"
                ));
            }
        }
        Ok(CliOutcome::Done)
    }
}

fn list_local(checkout: &LocalCheckout) -> Result<Vec<StatusRow>, Failure> {
    let heads: BTreeMap<String, Sha> = checkout.git.branches()?.into_iter().collect();
    let turns = checkout.store.load_latest_turns()?;
    let pulls = checkout.forge.list_pulls()?.into_iter().filter(|pull| pull.state == PullState::Open);
    let row = |pull: referee_forge::local::LocalPull| {
        let name = format_local_name(pull.number);
        let (next, why) = describe_turn(turns.get(&name), heads.get(&pull.branch));
        StatusRow { name, branch: pull.branch, base: pull.base, next, why }
    };
    Ok(pulls.map(row).collect())
}

/// Lists the open pull requests of this checkout's forge, and those of other forges that the store knows. The latter may
/// be closed by now: their forges are not asked.
fn list_forge(listed: Option<&ForgePulls>, turns: &BTreeMap<String, LatestTurn>) -> Vec<StatusRow> {
    let open = listed.into_iter().flat_map(|forge| forge.pulls.iter().map(move |pull| (forge, pull)));
    let open = open.map(|(forge, pull): (&ForgePulls, &ListedPull)| {
        let (next, why) = describe_turn(turns.get(&forge.pull_key(pull.number)), Some(&pull.head));
        StatusRow {
            name: forge.pull_name(pull.number),
            branch: pull.head_branch.clone(),
            base: pull.base.clone(),
            next,
            why,
        }
    });
    let others = turns.iter().filter(|(key, _)| !listed.is_some_and(|forge| forge.owns_key(key)));
    let others = others.map(|(key, latest)| {
        let (next, why) = describe_turn(Some(latest), None);
        StatusRow { name: key.clone(), branch: String::new(), base: String::new(), next, why }
    });
    open.chain(others).collect()
}

/// Returns what comes next and why, according to the last turn.
fn describe_turn(latest: Option<&LatestTurn>, head: Option<&Sha>) -> (String, String) {
    match latest {
        None => ("review".to_owned(), "not reviewed yet".to_owned()),
        Some(turn) if head.is_some_and(|now| now.as_str() != turn.head) => {
            ("review".to_owned(), format!("new commits since {}", turn.head.get(..7).unwrap_or(&turn.head)))
        }
        Some(turn) => (find_line(&turn.plan_text, "next"), find_line(&turn.plan_text, "rule")),
    }
}

/// Returns the text after `label` in the last line of a plan that starts with it.
fn find_line(lines: &str, label: &str) -> String {
    let text = lines.lines().rev().find_map(|line| line.strip_prefix(label));
    text.map(str::trim).unwrap_or_default().to_owned()
}
