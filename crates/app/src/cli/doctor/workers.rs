//! The workers' part of `referee doctor`: whether each one can run, and in which sandbox.

use referee_sandbox::{Tier, resolve_requirements};

use super::{DoctorLine, DoctorState, doctor_line};
use crate::config::ResolvedConfig;

/// Adds one line for each worker of the operator file.
pub(super) fn check_workers(config: &ResolvedConfig, lines: &mut Vec<DoctorLine>) {
    for (name, entry) in &config.workers {
        lines.push(match resolve_requirements(entry.sandbox, &entry.egress) {
            Err(error) => super::failed_line("workers", &error.into()),
            Ok((Tier::Bubblewrap, egress)) => {
                let hosts: Vec<String> = egress.iter().map(ToString::to_string).collect();
                let hosts = if hosts.is_empty() { "no network".to_owned() } else { hosts.join(", ") };
                doctor_line(DoctorState::Ok, "workers", format!("`{name}` runs in tier 2 and reaches {hosts}"))
            }
            Ok((tier, _)) => doctor_line(
                DoctorState::Warn,
                "workers",
                format!(
                    "`{name}` runs in tier {}: it reaches the whole network and reads every file of the user",
                    tier as u8
                ),
            )
            .with_hint("set `sandbox = 2` and list the hosts it needs in `egress`"),
        });
    }
}
