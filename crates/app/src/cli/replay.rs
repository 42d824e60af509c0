//! `referee replay`: decides a stored turn again and shows the difference.

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

/// Decide a stored turn again and show the difference
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// The number of the turn, as listed by `referee explain`
    turn: i64,
    /// Use this policy instead of the stored one (`referee schema policy`)
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// The pull request of the turn, if it is on a forge
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
        out.print_info(if same { "the decision is the same" } else { "the decision differs" });
        Ok(CliOutcome::Done)
    }
}

/// Renders the lines of both plans: `-` for lines of the stored plan only, `+` for new ones.
fn render_difference(stored: &str, replayed: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (stored.lines().collect(), replayed.lines().collect());
    let removed = old.iter().filter(|line| !new.contains(line)).map(|line| format!("- {line}\n"));
    let kept_or_added =
        new.iter().map(|line| if old.contains(line) { format!("  {line}\n") } else { format!("+ {line}\n") });
    removed.chain(kept_or_added).collect()
}
