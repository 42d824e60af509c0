//! `referee doctor --sandbox`: tests the sandbox of workers by trying to break out of it.
//!
//! `--json` is `referee/sandbox-1`: the `tier`, and `probes` of `name`, `tried`, `state` (`held open not_promised`), `words`.

use referee_sandbox::probe::{self, ProbeOutcome, ProbeState};
use referee_sandbox::{Tier, resolve_requirements};
use serde_json::json;

use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::output::render_columns;

/// Runs every probe in the given tier, or in the highest available one.
pub(super) fn run_probes(tier: Option<u8>, out: &Console) -> Result<CliOutcome, Failure> {
    let tier = match tier {
        Some(tier) => resolve_requirements(tier, &[])?.0,
        None => pick_highest_tier(out),
    };
    let outcomes = probe::run_all(tier)?;
    if out.json {
        out.print_json(&json!({ "schema": "referee/sandbox-1", "tier": tier as u8, "probes": outcomes }));
    } else {
        let row = |outcome: &ProbeOutcome| {
            let state = match outcome.state {
                ProbeState::Held => "held",
                ProbeState::Open => "OPEN",
                ProbeState::NotPromised => "–",
            };
            [state.to_owned(), outcome.name.to_owned(), outcome.tried.to_owned(), outcome.words.clone()]
        };
        out.print_data(&render_columns(&outcomes.iter().map(row).collect::<Vec<_>>(), out));
    }
    let count = |state| outcomes.iter().filter(|outcome| outcome.state == state).count();
    let (held, open, not_promised) = (count(ProbeState::Held), count(ProbeState::Open), count(ProbeState::NotPromised));
    out.print_line(&format!("tier {}: {held} held, {open} open, {not_promised} not promised", tier as u8));
    if open > 0 {
        out.print_info("next: do not run workers in this tier on this machine");
        return Ok(CliOutcome::Failed);
    }
    Ok(CliOutcome::Done)
}

fn pick_highest_tier(out: &Console) -> Tier {
    match Tier::Bubblewrap.check_available() {
        Ok(()) => Tier::Bubblewrap,
        Err(reason) => {
            out.print_always(&format!("warning: tier 2 is not available: {reason}"));
            Tier::OwnHome
        }
    }
}
