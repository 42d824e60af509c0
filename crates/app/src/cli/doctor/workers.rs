//! Whether the workers of the operator file could run, and what would keep them.

use super::{Line, State, line};
use crate::config::Setup;
use crate::worker::cage::{Tier, demanded};

/// One line for each worker.
pub(super) fn look(setup: &Setup, lines: &mut Vec<Line>) {
    for (name, entry) in &setup.workers {
        lines.push(match demanded(entry.sandbox, &entry.egress) {
            Err(failure) => super::failed("workers", &failure),
            Ok((Tier::Sealed, egress)) => {
                let reached: Vec<String> = egress.iter().map(ToString::to_string).collect();
                let reached = if reached.is_empty() { "nothing".to_owned() } else { reached.join(", ") };
                line(State::Ok, "workers", format!("`{name}` runs in tier 2 and reaches {reached}"))
            }
            Ok((tier, _)) => line(
                State::Warn,
                "workers",
                format!(
                    "`{name}` runs in tier {}: it reaches the whole network and reads what the user may",
                    tier as u8
                ),
            )
            .with("`sandbox = 2` with its `egress` listed closes that"),
        });
    }
}
