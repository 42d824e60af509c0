//! Whether the cage holds, tried from inside: what a worker might do, done for real.

mod machine;
mod network;
mod own;
mod runs;
mod stand;
mod table;

use serde::{Deserialize, Serialize};

use super::Tier;
use crate::failure::Failure;

pub(crate) use stand::Stand;
pub(crate) use table::PROBES;

/// One thing that a worker might try.
pub(crate) struct Probe {
    /// Its name.
    pub(crate) name: &'static str,
    /// What is tried.
    pub(crate) tried: &'static str,
    /// The lowest tier that promises to hold it. Below, it is not tried: it would succeed.
    pub(crate) from: Tier,
    how: How,
}

/// Held, or what came through.
type Found = Result<String, String>;

/// Where a probe is tried from.
#[derive(Clone, Copy)]
enum How {
    /// By a worker, among others.
    Inside(fn(&Facts) -> Found),
    /// With a run of its own.
    Run(fn(&Stand) -> Found),
}

/// What the probes inside must know of the machine outside.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    tier: u8,
    /// A file that nobody inside may read, and its folder, where nobody may write.
    secret: String,
    outside: String,
    /// The same, in the memory that processes share.
    shared: Option<String>,
    /// The user's real home.
    home: String,
    /// The process that runs the probes.
    pid: i32,
    /// Ports of this machine: one that is not listed, for TCP and UDP, and one that is.
    tcp: u16,
    udp: u16,
    listed: u16,
    /// A socket without a file.
    unnamed: String,
}

/// What became of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Answer {
    /// The probe's name.
    pub(crate) name: &'static str,
    /// What was tried.
    pub(crate) tried: &'static str,
    /// How it went.
    pub(crate) state: State,
    /// What was seen.
    pub(crate) words: String,
}

/// How a probe went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// As promised.
    Held,
    /// Promised, and not so.
    Open,
    /// This tier does not promise it.
    NotPromised,
}

/// Tries them all in a tier, in the table's order.
pub(crate) fn all(tier: Tier) -> Result<Vec<Answer>, Failure> {
    let stand = Stand::build(tier)?;
    let mut inside = stand.ask()?;
    let answer = |probe: &'static Probe| {
        let Probe { name, tried, from, how } = probe;
        let found = match how {
            _ if tier < *from => None,
            How::Inside(_) => Some(inside.remove(*name).unwrap_or_else(|| Err("it did not come back".to_owned()))),
            How::Run(run) => Some(run(&stand)),
        };
        let (state, words) = match found {
            None => (State::NotPromised, String::new()),
            Some(Ok(words)) => (State::Held, words),
            Some(Err(words)) => (State::Open, words),
        };
        Answer { name, tried, state, words }
    };
    Ok(PROBES.iter().map(answer).collect())
}

/// What the worker of `ask` does: each probe of its tier, a line of JSON each. One that crashes takes only the later ones along.
pub(crate) fn inside(facts: &str) -> std::io::Result<()> {
    use std::io::Write;
    let facts: Facts = serde_json::from_str(facts)?;
    let path = std::env::var_os("REFEREE_JOB").map(std::path::PathBuf::from).unwrap_or_default().join("answers");
    let mut answers = std::fs::File::create(path)?;
    for probe in PROBES.iter().filter(|probe| probe.from as u8 <= facts.tier) {
        if let How::Inside(try_it) = probe.how {
            let line = serde_json::to_string(&(probe.name, try_it(&facts)))?;
            writeln!(answers, "{line}")?;
        }
    }
    Ok(())
}
