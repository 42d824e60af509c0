//! Probes: attempts to break out of the sandbox, made for real from inside it.

#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod runs;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod testbed;

use serde::Serialize;

use super::{SandboxError, Tier};

#[cfg(target_os = "linux")]
use inside::ProbeResult;
#[cfg(target_os = "linux")]
pub(crate) use inside::{ProbeFacts, run_inside_probes};

/// What one probe showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProbeOutcome {
    pub name: &'static str,
    /// What the probe attempted.
    pub tried: &'static str,
    pub state: ProbeState,
    /// What the attempt met with; empty if the probe was not run.
    pub words: String,
}

/// Whether the sandbox stopped a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeState {
    /// The attempt failed, as the tier promises.
    Held,
    /// The attempt succeeded, although the tier promises otherwise.
    Open,
    /// The tier makes no promise; the probe was not run.
    NotPromised,
}

/// Runs every probe that the tier promises to stop, and returns the outcomes in the order of the table.
#[cfg(target_os = "linux")]
pub fn run_all(tier: Tier) -> Result<Vec<ProbeOutcome>, SandboxError> {
    use table::{PROBES, Probe, ProbeMethod};
    let testbed = testbed::ProbeTestbed::new(tier)?;
    let mut inside_results = testbed.run_inside_probes()?;
    let outcome = |probe: &'static Probe| {
        let Probe { name, description, min_tier, method } = probe;
        let result = match method {
            _ if tier < *min_tier => None,
            ProbeMethod::InSandbox(_) => {
                Some(inside_results.remove(*name).unwrap_or_else(|| Err("the probe did not report".to_owned())))
            }
            ProbeMethod::SeparateRun(run) => Some(run(&testbed)),
        };
        let (state, words) = match result {
            None => (ProbeState::NotPromised, String::new()),
            Some(Ok(words)) => (ProbeState::Held, words),
            Some(Err(words)) => (ProbeState::Open, words),
        };
        ProbeOutcome { name, tried: description, state, words }
    };
    Ok(PROBES.iter().map(outcome).collect())
}

/// Refuses: the sandbox requires Linux.
#[cfg(not(target_os = "linux"))]
pub fn run_all(_tier: Tier) -> Result<Vec<ProbeOutcome>, SandboxError> {
    Err(SandboxError::requires_linux())
}
