//! `referee replay`: a stored turn is decided again, and the difference is shown.

use std::path::PathBuf;

use clap::Args;
use referee_core::decide::decide;
use referee_core::hash::Hash;
use referee_core::policy::Policy;
use referee_core::render::plan_lines;
use serde_json::json;

use super::Common;
use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::payload;
use crate::place::{Place, now};
use crate::store::{Access, Store};
use crate::target::Target;

/// Decide a stored turn again
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// The turn's number, as `referee explain` lists it
    turn: i64,
    /// Decide by this policy instead (`referee schema policy`)
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Whose turn it is, where the pull is on a forge
    #[arg(long = "pr", value_name = "PULL")]
    pr: Option<String>,
}

impl Replay {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        let store = match Target::read(self.pr.as_deref())? {
            Target::Remote(_) | Target::Numbered(_) => Store::of_forges(Access::Read, now),
            _ => Place::open(common, Access::Read)?.store,
        };
        let Some(stored) = store.turn(self.turn)? else {
            return Err(Failure::usage(format!("there is no turn {}", self.turn))
                .hint("`referee explain` lists the turns of a pull"));
        };
        let policy: Policy = match &self.policy {
            Some(path) => payload::parse(path, "policy")?,
            None => stored.policy,
        };
        let plan = decide(&stored.snapshot, &policy);
        let text = serde_json::to_string(&plan).map_err(|error| Failure::failed(error.to_string()))?;
        let same = Hash::of(text).0 == stored.plan;
        let lines = plan_lines(&plan);
        if out.json {
            let receipts: serde_json::Value = serde_json::from_str(&stored.receipts).unwrap_or_default();
            out.document(&json!({
                "schema": "referee/replay-1", "turn": self.turn, "same": same,
                "then": stored.lines.lines().collect::<Vec<_>>(), "now": lines.lines().collect::<Vec<_>>(),
                "receipts": receipts, "plan": plan,
            }));
        } else {
            out.data(&difference(&stored.lines, &lines));
        }
        out.say(if same { "decided alike" } else { "decided otherwise" });
        Ok(Ending::Done)
    }
}

/// The lines of both plans: `-` then, `+` now.
fn difference(then: &str, now: &str) -> String {
    let (then, now): (Vec<&str>, Vec<&str>) = (then.lines().collect(), now.lines().collect());
    let gone = then.iter().filter(|line| !now.contains(line)).map(|line| format!("- {line}\n"));
    let come = now.iter().map(|line| if then.contains(line) { format!("  {line}\n") } else { format!("+ {line}\n") });
    gone.chain(come).collect()
}
