//! Whether the cage holds, tried from inside: what a worker might do, done for real.

mod machine;
mod network;
mod process;
mod runs;
mod table;
mod testbed;

use serde::{Deserialize, Serialize};

use super::Tier;
use crate::failure::Failure;

pub(crate) use table::PROBES;
pub(crate) use testbed::ProbeTestbed;

/// One thing that a worker might try.
pub(crate) struct Probe {
    /// Its name.
    pub(crate) name: &'static str,
    /// What is tried.
    pub(crate) description: &'static str,
    /// The lowest tier that promises to hold it. Below, it is not tried: it would succeed.
    pub(crate) min_tier: Tier,
    method: ProbeMethod,
}

/// Held, or what came through.
type ProbeResult = Result<String, String>;

/// Where a probe is tried from.
#[derive(Clone, Copy)]
enum ProbeMethod {
    /// By a worker, among others.
    InSandbox(fn(&ProbeFacts) -> ProbeResult),
    /// With a run of its own.
    SeparateRun(fn(&ProbeTestbed) -> ProbeResult),
}

/// What the probes inside must know of the machine outside.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProbeFacts {
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
pub(crate) struct ProbeOutcome {
    /// The probe's name.
    pub(crate) name: &'static str,
    /// What was tried.
    pub(crate) tried: &'static str,
    /// How it went.
    pub(crate) state: ProbeState,
    /// What was seen.
    pub(crate) words: String,
}

/// How a probe went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProbeState {
    /// As promised.
    Held,
    /// Promised, and not so.
    Open,
    /// This tier does not promise it.
    NotPromised,
}

/// Tries them all in a tier, in the table's order.
pub(crate) fn run_all(tier: Tier) -> Result<Vec<ProbeOutcome>, Failure> {
    let stand = ProbeTestbed::new(tier)?;
    let mut inside = stand.run_inside_probes()?;
    let answer = |probe: &'static Probe| {
        let Probe { name, description: tried, min_tier: from, method: how } = probe;
        let found = match how {
            _ if tier < *from => None,
            ProbeMethod::InSandbox(_) => {
                Some(inside.remove(*name).unwrap_or_else(|| Err("it did not come back".to_owned())))
            }
            ProbeMethod::SeparateRun(run) => Some(run(&stand)),
        };
        let (state, words) = match found {
            None => (ProbeState::NotPromised, String::new()),
            Some(Ok(words)) => (ProbeState::Held, words),
            Some(Err(words)) => (ProbeState::Open, words),
        };
        ProbeOutcome { name, tried, state, words }
    };
    Ok(PROBES.iter().map(answer).collect())
}

/// What the worker of `ask` does: each probe of its tier, a line of JSON each. One that crashes takes only the later ones along.
pub(crate) fn run_inside(facts: &str) -> std::io::Result<()> {
    use std::io::Write;
    let facts: ProbeFacts = serde_json::from_str(facts)?;
    let path = std::env::var_os("REFEREE_JOB").map(std::path::PathBuf::from).unwrap_or_default().join("answers");
    let mut answers = std::fs::File::create(path)?;
    for probe in PROBES.iter().filter(|probe| probe.min_tier as u8 <= facts.tier) {
        if let ProbeMethod::InSandbox(try_it) = probe.method {
            let line = serde_json::to_string(&(probe.name, try_it(&facts)))?;
            writeln!(answers, "{line}")?;
        }
    }
    Ok(())
}
