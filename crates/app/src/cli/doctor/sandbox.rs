//! `referee doctor --sandbox`: whether what workers run in holds, tried for real.
//!
//! `--json` is `referee/sandbox-1`: the `tier`, and `probes` of `name`, `tried`, `state` (`held open not_promised`), `words`.

use serde_json::json;

use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::show::columns;
use crate::worker::cage::probe::{self, Answer, State};
use crate::worker::cage::{Tier, demanded};

/// Tries every probe in the tier, or in the highest that can be had.
pub(super) fn run(tier: Option<u8>, out: &Out) -> Result<Ending, Failure> {
    let tier = match tier {
        Some(tier) => demanded(tier, &[])?.0,
        None => highest(out),
    };
    let answers = probe::all(tier)?;
    if out.json {
        out.document(&json!({ "schema": "referee/sandbox-1", "tier": tier as u8, "probes": answers }));
    } else {
        let row = |answer: &Answer| {
            let state = match answer.state {
                State::Held => "held",
                State::Open => "OPEN",
                State::NotPromised => "–",
            };
            [state.to_owned(), answer.name.to_owned(), answer.tried.to_owned(), answer.words.clone()]
        };
        out.data(&columns(&answers.iter().map(row).collect::<Vec<_>>(), out));
    }
    let count = |state| answers.iter().filter(|answer| answer.state == state).count();
    let (held, open, rest) = (count(State::Held), count(State::Open), count(State::NotPromised));
    out.say(&format!("tier {}: {held} held, {open} did not, {rest} are not promised", tier as u8));
    if open > 0 {
        out.say("next: let no worker run in this tier here");
        return Ok(Ending::Failed);
    }
    Ok(Ending::Done)
}

fn highest(out: &Out) -> Tier {
    match Tier::Sealed.available() {
        Ok(()) => Tier::Sealed,
        Err(why) => {
            out.always(&format!("warning: tier 2 cannot be had: {why}"));
            Tier::Apart
        }
    }
}
