//! Gates: what this run may do. Shut gates are a dry run; there is no second code path.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::plan::{Gate, Step};
use referee_core::policy::{Approve, Setting};

/// What this run may do.
#[derive(Clone, Debug)]
pub struct Gates {
    settings: BTreeMap<Gate, Setting>,
    asked: BTreeSet<Gate>,
    approve: Approve,
    shut: bool,
}

/// Which gates the command line asks to open (`--apply-replies`, `--run`).
pub type Asked = BTreeSet<Gate>;

/// Proof that a gate was open. Only `Gates` makes one.
#[derive(Debug)]
pub struct Permit {
    gate: Gate,
}

/// Why a step may not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// A dry run: every gate is shut.
    DryRun,
    /// The gate is off.
    Off(Gate),
    /// The gate is `ask`, and nobody asked.
    NotAsked(Gate),
    /// Approving posts are off.
    ApproveOff,
}

impl Gates {
    /// Gates as the policy sets them, opened further by what the command line asks.
    pub fn new(settings: BTreeMap<Gate, Setting>, asked: Asked, approve: Approve) -> Self {
        Self { settings, asked, approve, shut: false }
    }

    /// All shut.
    pub fn dry_run() -> Self {
        Self { settings: BTreeMap::new(), asked: BTreeSet::new(), approve: Approve::Off, shut: true }
    }

    /// Whether this is a dry run: nothing is written, not even down.
    pub fn are_shut(&self) -> bool {
        self.shut
    }

    /// A permit for the step, or why there is none.
    pub fn permit(&self, step: &Step) -> Result<Permit, Withheld> {
        if step.approves && !self.shut && self.approve == Approve::Off {
            return Err(Withheld::ApproveOff);
        }
        self.open(step.gate)
    }

    /// A permit for a gate alone: deliveries and workers.
    pub fn open(&self, gate: Gate) -> Result<Permit, Withheld> {
        if self.shut {
            return Err(Withheld::DryRun);
        }
        match self.settings.get(&gate).copied().unwrap_or(Setting::Off) {
            Setting::On => Ok(Permit { gate }),
            Setting::Ask if self.asked.contains(&gate) => Ok(Permit { gate }),
            Setting::Ask => Err(Withheld::NotAsked(gate)),
            Setting::Off => Err(Withheld::Off(gate)),
        }
    }
}

impl Permit {
    /// Which gate was open.
    pub fn gate(&self) -> Gate {
        self.gate
    }
}
