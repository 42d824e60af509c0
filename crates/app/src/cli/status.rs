//! `referee status`: all known pulls and whose turn it is, from what the last turn of each left.
//!
//! Those of this checkout come first, then those of its forge, then those that were looked at on other forges.

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

/// All known pulls, and whose turn it is
#[derive(Debug, Args)]
pub(super) struct StatusArgs {}

/// One pull.
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
        let on_forges = Store::open_for_forges(StoreAccess::Read, now).load_latest_turns()?;
        let listed = ForgePulls::list(options).await?;
        // Without a forge, and with nothing remembered of one, this is about a checkout.
        let mut rows = match LocalCheckout::open(options, StoreAccess::Read) {
            Ok(place) => list_local(&place)?,
            Err(failure) if listed.is_none() && on_forges.is_empty() => return Err(failure),
            Err(_) => Vec::new(),
        };
        rows.extend(list_forge(listed.as_ref(), &on_forges));
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
            None => out.print_info("no open pulls\nnext: `referee review` opens one for the current branch"),
            Some(StatusRow { name, .. }) => {
                out.print_info(&format!(
                    "next: `referee explain {name}` says why; `referee review {name}` takes the next turn"
                ));
            }
        }
        Ok(CliOutcome::Done)
    }
}

fn list_local(place: &LocalCheckout) -> Result<Vec<StatusRow>, Failure> {
    let heads: BTreeMap<String, Sha> = place.git.branches()?.into_iter().collect();
    let last = place.store.load_latest_turns()?;
    let pulls = place.forge.list_pulls()?.into_iter().filter(|pull| pull.state == PullState::Open);
    let row = |pull: referee_forge::local::LocalPull| {
        let name = format_local_name(pull.number);
        let (next, why) = describe_turn(last.get(&name), heads.get(&pull.branch));
        StatusRow { name, branch: pull.branch, base: pull.base, next, why }
    };
    Ok(pulls.map(row).collect())
}

/// The open pulls of the forge of this checkout; of other forges, whatever was looked at. Whether those are open still,
/// nobody asked.
fn list_forge(listed: Option<&ForgePulls>, last: &BTreeMap<String, LatestTurn>) -> Vec<StatusRow> {
    let open = listed.into_iter().flat_map(|side| side.pulls.iter().map(move |pull| (side, pull)));
    let open = open.map(|(side, pull): (&ForgePulls, &ListedPull)| {
        let (next, why) = describe_turn(last.get(&side.pull_key(pull.number)), Some(&pull.head));
        StatusRow {
            name: side.pull_name(pull.number),
            branch: pull.head_branch.clone(),
            base: pull.base.clone(),
            next,
            why,
        }
    });
    let elsewhere = last.iter().filter(|(key, _)| !listed.is_some_and(|side| side.owns_key(key)));
    let elsewhere = elsewhere.map(|(key, latest)| {
        let (next, why) = describe_turn(Some(latest), None);
        StatusRow { name: key.clone(), branch: String::new(), base: String::new(), next, why }
    });
    open.chain(elsewhere).collect()
}

/// Whose turn it is, by the last turn that was played.
fn describe_turn(last: Option<&LatestTurn>, head: Option<&Sha>) -> (String, String) {
    match last {
        None => ("review".to_owned(), "never looked at".to_owned()),
        Some(turn) if head.is_some_and(|now| now.as_str() != turn.head) => {
            ("review".to_owned(), format!("moved since {}", turn.head.get(..7).unwrap_or(&turn.head)))
        }
        Some(turn) => (find_line(&turn.plan_text, "next"), find_line(&turn.plan_text, "rule")),
    }
}

/// One labelled line of a plan.
fn find_line(lines: &str, label: &str) -> String {
    let found = lines.lines().rev().find_map(|line| line.strip_prefix(label));
    found.map(str::trim).unwrap_or_default().to_owned()
}
