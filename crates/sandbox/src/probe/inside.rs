//! The part of the probes that runs inside the sandbox.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::table::{PROBES, ProbeMethod};

/// `Ok` says how the attempt was stopped, `Err` what it got through to.
pub(super) type ProbeResult = Result<String, String>;

/// What the probes inside need to know of the machine outside.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProbeFacts {
    pub(super) tier: u8,
    /// A file that must not be readable inside.
    pub(super) secret: String,
    /// The folder of that file, which must not be writable inside.
    pub(super) outside: String,
    /// A file in the machine's `/dev/shm` that must not be readable inside; `None` if there is no `/dev/shm`.
    pub(super) shared: Option<String>,
    /// The user's real home.
    pub(super) home: String,
    /// The process that runs the probes.
    pub(super) pid: i32,
    /// A TCP port of this machine that is not in `egress`.
    pub(super) unlisted_tcp_port: u16,
    /// A UDP port of this machine.
    pub(super) udp_port: u16,
    /// A TCP port of this machine that is in `egress`.
    pub(super) listed_tcp_port: u16,
    /// The name of a UNIX socket in the abstract namespace, which has no file.
    pub(super) abstract_name: String,
}

/// Runs every probe of the tier and writes each result as a line of JSON. Results are written one by one, so that a
/// probe that crashes takes only the later ones along.
pub(crate) fn run_inside_probes(facts: &ProbeFacts) -> io::Result<()> {
    let path = std::env::var_os("REFEREE_JOB").map(PathBuf::from).unwrap_or_default().join("answers");
    let mut answers = File::create(path)?;
    for probe in PROBES.iter().filter(|probe| probe.min_tier as u8 <= facts.tier) {
        if let ProbeMethod::InSandbox(attempt) = probe.method {
            let line = serde_json::to_string(&(probe.name, attempt(facts)))?;
            writeln!(answers, "{line}")?;
        }
    }
    Ok(())
}
