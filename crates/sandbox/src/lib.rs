//! Runs untrusted programs: a scrubbed environment, resource limits, a deadline, and in tier 2 an isolated file system
//! and network. This crate knows nothing of pulls, reviews or forges.
//!
//! ```text
//!  Sandbox::run ── guard ── enter ─► program                tiers 0 and 1
//!       │          guard ── bwrap ── enter ─► program       tier 2
//!       └─ relay ◄────── UNIX socket ── tunnel (in enter)
//! ```
//!
//! `guard` and `enter` are this executable started again (`referee sandbox …`, see [`run_if_invoked`]). The guard is
//! the subreaper of everything the program starts. It kills all of it when its stdin closes: at the deadline, and when
//! the process that runs the sandbox dies.

mod egress;
mod error;
mod limits;
mod program;
mod tier;

#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod environment;
#[cfg(target_os = "linux")]
mod helper_process;
#[cfg(target_os = "linux")]
mod manual_run;
#[cfg(target_os = "linux")]
mod output_log;
pub mod probe;
#[cfg(target_os = "linux")]
mod reaper;
#[cfg(target_os = "linux")]
mod redactor;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod seccomp;
pub mod supervisor;
#[cfg(target_os = "linux")]
mod tunnel;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

pub use egress::Egress;
pub use error::{SandboxError, SandboxErrorKind};
pub use limits::ResourceLimits;
pub use program::is_installed;
pub use tier::{Tier, resolve_requirements};

/// Where and how an untrusted program runs.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub tier: Tier,
    /// The working directory; the program may write there.
    pub work_dir: PathBuf,
    /// Input and result files of the job; the program may write there too.
    pub job_dir: PathBuf,
    /// An empty directory that is `HOME` from tier 1 on.
    pub home_dir: PathBuf,
    /// What the program may connect to in tier 2. Lower tiers do not restrict the network.
    pub egress: Vec<Egress>,
    /// Additional environment variables. In tier 2 the file or folder that a value names becomes readable.
    pub env: Vec<(String, String)>,
    pub timeout: Duration,
    /// Receives stdout and stderr of the program, up to [`ResourceLimits::log_bytes`].
    pub log_path: PathBuf,
    /// Byte strings that the log shows as `***`, longest first.
    pub secrets: Vec<Vec<u8>>,
    pub limits: ResourceLimits,
}

/// How the program ended. None of these says whether it did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxExit {
    /// It exited with this code.
    Exited(i32),
    /// A signal killed it that the sandbox did not send.
    Signalled,
    /// It was killed at the deadline.
    TimedOut,
}

/// Progress of a run, reported about once a second and once at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunProgress {
    pub elapsed: Duration,
    /// Bytes printed so far.
    pub output_bytes: u64,
    /// Whether the log holds fewer bytes than were printed.
    pub truncated: bool,
}

impl Sandbox {
    /// Runs a program to its end, with `prompt` on its stdin. When this returns, no process that the program started is
    /// left.
    #[cfg(target_os = "linux")]
    pub fn run(
        &self,
        argv: &[String],
        prompt: &str,
        on_progress: &mut dyn FnMut(RunProgress),
    ) -> Result<SandboxExit, SandboxError> {
        run::run(self, argv, prompt, on_progress)
    }

    /// Refuses to run anything: the sandbox needs Linux.
    #[cfg(not(target_os = "linux"))]
    pub fn run(
        &self,
        _argv: &[String],
        _prompt: &str,
        _on_progress: &mut dyn FnMut(RunProgress),
    ) -> Result<SandboxExit, SandboxError> {
        Err(SandboxError::requires_linux())
    }
}

/// Runs a helper of the sandbox if this process was started as one (`referee sandbox …`), and returns its exit code.
/// `main` calls this before it parses its arguments. The helpers appear in no help text and no completion.
pub fn run_if_invoked() -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    return helper_process::run_if_invoked();
    #[cfg(not(target_os = "linux"))]
    None
}
