//! Gates: what this run may do. Shut gates are a dry run; there is no second code path.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::plan::{Gate, Step};
use referee_core::policy::{ApprovalMode, GateSetting};

/// What this run may do.
#[derive(Clone, Debug)]
pub struct Gates {
    settings: BTreeMap<Gate, GateSetting>,
    requested: BTreeSet<Gate>,
    approve: ApprovalMode,
    is_dry_run: bool,
}

/// Which gates the command line asks to open (`--apply-replies`, `--run`).
pub type RequestedGates = BTreeSet<Gate>;

/// Proof that a gate was open. Only `Gates` makes one.
#[derive(Debug)]
pub struct Permit {
    gate: Gate,
}

/// Why a step may not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WithheldReason {
    /// A dry run: every gate is shut.
    DryRun,
    /// The gate is off.
    GateOff(Gate),
    /// The gate is `ask`, and nobody asked.
    NotRequested(Gate),
    /// Approving posts are off.
    ApproveOff,
}

impl Gates {
    /// Gates as the policy sets them, opened further by what the command line asks.
    pub fn new(settings: BTreeMap<Gate, GateSetting>, asked: RequestedGates, approve: ApprovalMode) -> Self {
        Self { settings, requested: asked, approve, is_dry_run: false }
    }

    /// All shut.
    pub fn dry_run() -> Self {
        Self { settings: BTreeMap::new(), requested: BTreeSet::new(), approve: ApprovalMode::Off, is_dry_run: true }
    }

    /// Whether this is a dry run: nothing is written, not even down.
    pub fn is_dry_run(&self) -> bool {
        self.is_dry_run
    }

    /// A permit for the step, or why there is none.
    pub fn permit_step(&self, step: &Step) -> Result<Permit, WithheldReason> {
        if step.approves && !self.is_dry_run && self.approve == ApprovalMode::Off {
            return Err(WithheldReason::ApproveOff);
        }
        self.permit_gate(step.gate)
    }

    /// A permit for a gate alone: deliveries and workers.
    pub fn permit_gate(&self, gate: Gate) -> Result<Permit, WithheldReason> {
        if self.is_dry_run {
            return Err(WithheldReason::DryRun);
        }
        match self.settings.get(&gate).copied().unwrap_or(GateSetting::Off) {
            GateSetting::On => Ok(Permit { gate }),
            GateSetting::Ask if self.requested.contains(&gate) => Ok(Permit { gate }),
            GateSetting::Ask => Err(WithheldReason::NotRequested(gate)),
            GateSetting::Off => Err(WithheldReason::GateOff(gate)),
        }
    }
}

impl Permit {
    /// Which gate was open.
    pub fn gate(&self) -> Gate {
        self.gate
    }
}
