//! `referee replay`: a stored turn is decided again, and the difference is shown.

use std::path::PathBuf;

use clap::Args;
use referee_core::decide::decide;
use referee_core::hash::Hash;
use referee_core::policy::Policy;
use referee_core::render::render_plan;
use serde_json::json;

use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::payload;
use crate::session::Options;
use crate::session::local::{LocalCheckout, now};
use crate::session::reference::PullReference;
use crate::store::{Store, StoreAccess};

/// Decide a stored turn again
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// The turn's number, as `referee explain` lists it
    turn: i64,
    /// Decide by this policy instead (`referee schema policy`)
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Whose turn it is, where the pull is on a forge
    #[arg(long = "pr", value_name = "PULL")]
    pr: Option<String>,
}

impl ReplayArgs {
    pub(super) fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let store = match PullReference::parse_optional(self.pr.as_deref())? {
            PullReference::Remote(_) | PullReference::Numbered(_) => Store::open_for_forges(StoreAccess::Read, now),
            _ => LocalCheckout::open(options, StoreAccess::Read)?.store,
        };
        let Some(stored) = store.load_turn(self.turn)? else {
            return Err(Failure::usage(format!("there is no turn {}", self.turn))
                .with_hint("`referee explain` lists the turns of a pull"));
        };
        let policy: Policy = match &self.policy {
            Some(path) => payload::parse_payload(path, "policy")?,
            None => stored.policy,
        };
        let plan = decide(&stored.snapshot, &policy, &stored.scope);
        let text = serde_json::to_string(&plan).map_err(|error| Failure::failed(error.to_string()))?;
        let same = Hash::digest(text).0 == stored.plan_hash;
        let lines = render_plan(&plan);
        if out.json {
            let receipts: serde_json::Value = serde_json::from_str(&stored.receipts).unwrap_or_default();
            out.print_json(&json!({
                "schema": "referee/replay-1", "turn": self.turn, "same": same,
                "then": stored.plan_text.lines().collect::<Vec<_>>(), "now": lines.lines().collect::<Vec<_>>(),
                "receipts": receipts, "plan": plan,
            }));
        } else {
            out.print_data(&render_difference(&stored.plan_text, &lines));
        }
        out.print_info(if same { "decided alike" } else { "decided otherwise" });
        Ok(CliOutcome::Done)
    }
}

/// The lines of both plans: `-` then, `+` now.
fn render_difference(then: &str, now: &str) -> String {
    let (then, now): (Vec<&str>, Vec<&str>) = (then.lines().collect(), now.lines().collect());
    let gone = then.iter().filter(|line| !now.contains(line)).map(|line| format!("- {line}\n"));
    let come = now.iter().map(|line| if then.contains(line) { format!("  {line}\n") } else { format!("+ {line}\n") });
    gone.chain(come).collect()
}
