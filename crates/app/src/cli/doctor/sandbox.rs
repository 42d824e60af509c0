//! `referee doctor --sandbox`: whether what workers run in holds, tried for real.
//!
//! `--json` is `referee/sandbox-1`: the `tier`, and `probes` of `name`, `tried`, `state` (`held open not_promised`), `words`.

use referee_sandbox::probe::{self, ProbeOutcome, ProbeState};
use referee_sandbox::{Tier, resolve_requirements};
use serde_json::json;

use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::output::render_columns;

/// Tries every probe in the tier, or in the highest that can be had.
pub(super) fn run_probes(tier: Option<u8>, out: &Console) -> Result<CliOutcome, Failure> {
    let tier = match tier {
        Some(tier) => resolve_requirements(tier, &[])?.0,
        None => pick_highest_tier(out),
    };
    let answers = probe::run_all(tier)?;
    if out.json {
        out.print_json(&json!({ "schema": "referee/sandbox-1", "tier": tier as u8, "probes": answers }));
    } else {
        let row = |answer: &ProbeOutcome| {
            let state = match answer.state {
                ProbeState::Held => "held",
                ProbeState::Open => "OPEN",
                ProbeState::NotPromised => "–",
            };
            [state.to_owned(), answer.name.to_owned(), answer.tried.to_owned(), answer.words.clone()]
        };
        out.print_data(&render_columns(&answers.iter().map(row).collect::<Vec<_>>(), out));
    }
    let count = |state| answers.iter().filter(|answer| answer.state == state).count();
    let (held, open, rest) = (count(ProbeState::Held), count(ProbeState::Open), count(ProbeState::NotPromised));
    out.print_info(&format!("tier {}: {held} held, {open} did not, {rest} are not promised", tier as u8));
    if open > 0 {
        out.print_info("next: let no worker run in this tier here");
        return Ok(CliOutcome::Failed);
    }
    Ok(CliOutcome::Done)
}

fn pick_highest_tier(out: &Console) -> Tier {
    match Tier::Bubblewrap.check_available() {
        Ok(()) => Tier::Bubblewrap,
        Err(why) => {
            out.print_always(&format!("warning: tier 2 cannot be had: {why}"));
            Tier::OwnHome
        }
    }
}
