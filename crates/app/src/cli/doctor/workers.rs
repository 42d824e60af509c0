//! Whether the workers of the operator file could run, and what would keep them.

use referee_sandbox::{Tier, resolve_requirements};

use super::{DoctorLine, DoctorState, doctor_line};
use crate::config::ResolvedConfig;

/// One line for each worker.
pub(super) fn check_workers(setup: &ResolvedConfig, lines: &mut Vec<DoctorLine>) {
    for (name, entry) in &setup.workers {
        lines.push(match resolve_requirements(entry.sandbox, &entry.egress) {
            Err(error) => super::failed_line("workers", &error.into()),
            Ok((Tier::Bubblewrap, egress)) => {
                let reached: Vec<String> = egress.iter().map(ToString::to_string).collect();
                let reached = if reached.is_empty() { "nothing".to_owned() } else { reached.join(", ") };
                doctor_line(DoctorState::Ok, "workers", format!("`{name}` runs in tier 2 and reaches {reached}"))
            }
            Ok((tier, _)) => doctor_line(
                DoctorState::Warn,
                "workers",
                format!(
                    "`{name}` runs in tier {}: it reaches the whole network and reads what the user may",
                    tier as u8
                ),
            )
            .with_hint("`sandbox = 2` with its `egress` listed closes that"),
        });
    }
}
