//! `referee status`: all known pulls and whose turn it is, from what the last turn of each left.
//!
//! Those of this checkout come first, then those of its forge, then those that were looked at on other forges.

use std::collections::BTreeMap;

use clap::Args;
use referee_core::model::{PullState, Sha};
use referee_forge::{Listed, local_name};
use serde_json::json;

use super::Common;
use crate::case::{Forgeside, forgeside};
use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::place::{Place, now};
use crate::show::columns;
use crate::store::{Access, Latest, Store};

/// All known pulls, and whose turn it is
#[derive(Debug, Args)]
pub(super) struct Status {}

/// One pull.
struct Row {
    name: String,
    branch: String,
    base: String,
    next: String,
    why: String,
}

impl Status {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        let Self {} = self;
        let on_forges = Store::of_forges(Access::Read, now).latest()?;
        let listed = forgeside(common)?;
        // Without a forge, and with nothing remembered of one, this is about a checkout.
        let mut rows = match Place::open(common, Access::Read) {
            Ok(place) => local(&place)?,
            Err(failure) if listed.is_none() && on_forges.is_empty() => return Err(failure),
            Err(_) => Vec::new(),
        };
        rows.extend(forge(listed.as_ref(), &on_forges));
        if out.json {
            let pulls = rows.iter().map(|Row { name, branch, base, next, why }| {
                json!({ "pull": name, "branch": branch, "base": base, "next": next, "why": why })
            });
            out.document(&json!({ "schema": "referee/status-1", "pulls": pulls.collect::<Vec<_>>() }));
        } else {
            let cells = rows.iter().map(|Row { name, branch, base, next, why }| {
                let next = if next.contains(':') { next.clone() } else { format!("{next}: {why}") };
                let range = if branch.is_empty() { String::new() } else { format!("{branch} → {base}") };
                [name.clone(), range, next]
            });
            out.data(&columns(&cells.collect::<Vec<_>>(), out));
        }
        match rows.first() {
            None => out.say("no open pulls\nnext: `referee review` opens one for the current branch"),
            Some(Row { name, .. }) => {
                out.say(&format!(
                    "next: `referee explain {name}` says why; `referee review {name}` takes the next turn"
                ));
            }
        }
        Ok(Ending::Done)
    }
}

fn local(place: &Place) -> Result<Vec<Row>, Failure> {
    let heads: BTreeMap<String, Sha> = place.git.branches()?.into_iter().collect();
    let last = place.store.latest()?;
    let pulls = place.forge.pulls()?.into_iter().filter(|pull| pull.state == PullState::Open);
    let row = |pull: referee_forge::LocalPull| {
        let name = local_name(pull.number);
        let (next, why) = turn(last.get(&name), heads.get(&pull.branch));
        Row { name, branch: pull.branch, base: pull.base, next, why }
    };
    Ok(pulls.map(row).collect())
}

/// The open pulls of the forge of this checkout; of other forges, whatever was looked at. Whether those are open still,
/// nobody asked.
fn forge(listed: Option<&Forgeside>, last: &BTreeMap<String, Latest>) -> Vec<Row> {
    let open = listed.into_iter().flat_map(|side| side.pulls.iter().map(move |pull| (side, pull)));
    let open = open.map(|(side, pull): (&Forgeside, &Listed)| {
        let (next, why) = turn(last.get(&side.key(pull.number)), Some(&pull.head));
        Row { name: side.name(pull.number), branch: pull.branch.clone(), base: pull.base.clone(), next, why }
    });
    let elsewhere = last.iter().filter(|(key, _)| !listed.is_some_and(|side| side.holds(key)));
    let elsewhere = elsewhere.map(|(key, latest)| {
        let (next, why) = turn(Some(latest), None);
        Row { name: key.clone(), branch: String::new(), base: String::new(), next, why }
    });
    open.chain(elsewhere).collect()
}

/// Whose turn it is, by the last turn that was played.
fn turn(last: Option<&Latest>, head: Option<&Sha>) -> (String, String) {
    match last {
        None => ("review".to_owned(), "never looked at".to_owned()),
        Some(turn) if head.is_some_and(|now| now.as_str() != turn.head) => {
            ("review".to_owned(), format!("moved since {}", turn.head.get(..7).unwrap_or(&turn.head)))
        }
        Some(turn) => (line(&turn.lines, "next"), line(&turn.lines, "rule")),
    }
}

/// One labelled line of a plan.
fn line(lines: &str, label: &str) -> String {
    let found = lines.lines().rev().find_map(|line| line.strip_prefix(label));
    found.map(str::trim).unwrap_or_default().to_owned()
}
