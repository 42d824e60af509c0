//! Random users: seeded histories of what people, bots, linters and crashes do to a pull, through the real program. An
//! oracle that wrote the files itself knows every defect in them; everything else is judged from the outside.
//!
//! ```text
//! cargo test -p referee --test random
//! REFEREE_HISTORY_SEED=7 REFEREE_HISTORIES=100 cargo test -p referee --test random
//! REFEREE_HISTORY_SEED=7 REFEREE_HISTORY=42 cargo test -p referee --test random on_a_forge
//! ```

mod checks;
mod dice;
mod history;
mod hosted;
mod local;
mod planted;
mod run_output;
mod site;
mod tree;
mod workspace;

use history::History;
use planted::Planted;
use site::Venue;

/// Histories of a plain `cargo test`. `.ci/run` and `.ci/soak` play more.
const HISTORIES: u64 = 1;

// spec: PUB-23, PUB-24, D36, LOOP-10 @local
#[test]
fn random_histories_in_a_local_repository_keep_every_promise() {
    play_histories(Venue::Local);
}

// spec: PUB-23, PUB-24, D36, D42, LOOP-10 @gitea @forgejo
#[test]
fn random_histories_on_a_forge_keep_every_promise() {
    play_histories(Venue::Hosted);
}

/// Plays the histories of the seed, or the one that `REFEREE_HISTORY` names.
fn play_histories(venue: Venue) {
    let seed = number("REFEREE_HISTORY_SEED").unwrap_or(1);
    let all = 0..number("REFEREE_HISTORIES").unwrap_or(HISTORIES);
    for nth in number("REFEREE_HISTORY").map_or(all, |nth| nth..nth + 1) {
        let mut history = History::new(venue, seed.wrapping_mul(1_000).wrapping_add(nth), None);
        if let Err(breach) = history.play() {
            let log = history.log.join("\n  ");
            panic!("{breach}\n\nREFEREE_HISTORY_SEED={seed} REFEREE_HISTORY={nth}, on {venue:?}:\n  {log}");
        }
    }
}

#[test]
fn every_planted_fault_is_seen() {
    let seed = number("REFEREE_HISTORY_SEED").unwrap_or(1);
    for planted in Planted::ALL {
        let seen = (0..4).any(|nth| History::new(Venue::Local, seed.wrapping_add(nth), Some(planted)).play().is_err());
        assert!(seen, "no history noticed {planted:?}");
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}
