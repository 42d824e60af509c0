//! What a worker runs in: an environment of its own, limits, a deadline, and in tier 2 a machine that has nothing else on it.
//!
//! ```text
//!  run ──stdin── guard ── enter ─► agent                    tiers 0 and 1
//!   │            guard ── bwrap ── enter ─► agent           tier 2
//!   └─ relay ◄────── a UNIX socket ── tunnel (in enter)
//! ```
//!
//! `guard` and `enter` are this same program again (`referee cage …`). The guard inherits whatever the agent leaves behind,
//! and ends it all when its stdin ends: at the deadline, and when whoever ran it is gone.

mod egress;
mod env;
mod limits;
mod tier;

#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod manual_run;
#[cfg(target_os = "linux")]
mod output_log;
#[cfg(target_os = "linux")]
pub(crate) mod probe;
#[cfg(target_os = "linux")]
mod reaper;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
pub(crate) mod subcommand;
#[cfg(target_os = "linux")]
mod tunnel;

use std::path::PathBuf;
use std::time::Duration;

use crate::failure::Failure;

#[cfg(target_os = "linux")]
pub(crate) use bubblewrap::is_installed;
pub(crate) use egress::Egress;
pub(crate) use limits::ResourceLimits;
pub(crate) use tier::{Tier, resolve_requirements};

/// Where and how a worker runs.
#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    /// How much of the machine it sees.
    pub(crate) tier: Tier,
    /// The work copy: where it starts, and what it may change.
    pub(crate) work_dir: PathBuf,
    /// The job folder; it may write there too.
    pub(crate) job_dir: PathBuf,
    /// An empty folder that is its home, from tier 1 on.
    pub(crate) home_dir: PathBuf,
    /// What it may reach in tier 2; below, nobody is between it and the network.
    pub(crate) egress: Vec<Egress>,
    /// What its entry's `env` names, with values. In tier 2 a value that is the path of a file or folder makes that readable.
    pub(crate) env: Vec<(String, String)>,
    /// How long it may take.
    pub(crate) timeout: Duration,
    /// Where its prints go.
    pub(crate) log_path: PathBuf,
    /// How much of the machine it may use.
    pub(crate) limits: ResourceLimits,
}

/// How a worker ended. None of these says that it did its work: that is in its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SandboxExit {
    /// With this code.
    Exited(i32),
    /// By a signal that was not the cage's.
    Signalled,
    /// At the deadline.
    TimedOut,
}

/// A sign of life, about once a second and once at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunProgress {
    /// Since the start.
    pub(crate) elapsed: Duration,
    /// How many bytes were printed.
    pub(crate) output_bytes: u64,
    /// Whether the log has less than that.
    pub(crate) truncated: bool,
}

impl Sandbox {
    /// Runs a program to its end, with `prompt` on its stdin. When this returns, nothing that it started runs any more.
    #[cfg(target_os = "linux")]
    pub(crate) fn run(
        &self,
        argv: &[String],
        prompt: &str,
        tick: &mut dyn FnMut(RunProgress),
    ) -> Result<SandboxExit, Failure> {
        run::run(self, argv, prompt, tick)
    }

    /// Runs nothing: what the cage is made of is Linux's.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn run(
        &self,
        _argv: &[String],
        _prompt: &str,
        _tick: &mut dyn FnMut(RunProgress),
    ) -> Result<SandboxExit, Failure> {
        Err(Failure::usage("no worker runs here: this system is not Linux")
            .hint("print with `referee dispatch` instead"))
    }
}
