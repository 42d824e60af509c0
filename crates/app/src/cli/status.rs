//! `referee status`: all known pulls and whose turn it is, from what the last turn of each left.

use std::collections::BTreeMap;

use clap::Args;
use referee_core::model::PullState;
use referee_forge::local_name;
use serde_json::json;

use super::Common;
use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::place::Place;
use crate::show::columns;
use crate::store::Access;

/// All known pulls, and whose turn it is
#[derive(Debug, Args)]
pub(super) struct Status {}

impl Status {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        let Self {} = self;
        let place = Place::open(common, Access::Read)?;
        let pulls = place.forge.pulls()?;
        let heads: BTreeMap<String, _> = place.git.branches()?.into_iter().collect();
        let last = place.store.latest()?;
        let mut rows = Vec::new();
        for pull in pulls.iter().filter(|pull| pull.state == PullState::Open) {
            let name = local_name(pull.number);
            let moved = |head: &str| heads.get(&pull.branch).is_some_and(|now| now.as_str() != head);
            let (next, why) = match last.get(&name) {
                None => ("review".to_owned(), "never looked at".to_owned()),
                Some(turn) if moved(&turn.head) => {
                    ("review".to_owned(), format!("moved since {}", turn.head.get(..7).unwrap_or(&turn.head)))
                }
                Some(turn) => (line(&turn.lines, "next"), line(&turn.lines, "rule")),
            };
            rows.push((name, pull, next, why));
        }
        if out.json {
            let pulls = rows.iter().map(|(name, pull, next, why)| {
                json!({ "pull": name, "branch": pull.branch, "base": pull.base, "next": next, "why": why })
            });
            out.document(&json!({ "schema": "referee/status-1", "pulls": pulls.collect::<Vec<_>>() }));
        } else {
            let cells = rows.iter().map(|(name, pull, next, why)| {
                let next = if next.contains(':') { next.clone() } else { format!("{next}: {why}") };
                [name.clone(), format!("{} → {}", pull.branch, pull.base), next]
            });
            out.data(&columns(&cells.collect::<Vec<_>>(), out));
        }
        match rows.first() {
            None => out.say("no open pulls\nnext: `referee review` opens one for the current branch"),
            Some((name, ..)) => {
                out.say(&format!(
                    "next: `referee explain {name}` says why; `referee review {name}` takes the next turn"
                ));
            }
        }
        Ok(Ending::Done)
    }
}

/// One labelled line of a plan.
fn line(lines: &str, label: &str) -> String {
    let found = lines.lines().rev().find_map(|line| line.strip_prefix(label));
    found.map(str::trim).unwrap_or_default().to_owned()
}
