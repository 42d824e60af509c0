//! Gates: what a run is permitted to write. A dry run has all gates closed; there is no second code path for it.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::plan::{Gate, Step};
use referee_core::policy::{ApprovalMode, GateSetting};

/// The gates of a run.
#[derive(Clone, Debug)]
pub struct Gates {
    settings: BTreeMap<Gate, GateSetting>,
    requested: BTreeSet<Gate>,
    approve: ApprovalMode,
    is_dry_run: bool,
}

/// The gates that the command line asks to open (`--apply-replies`, `--run`).
pub type RequestedGates = BTreeSet<Gate>;

/// Proof that a gate was open. Only `Gates` issues one.
#[derive(Debug)]
pub struct Permit {
    gate: Gate,
}

/// Why a step is withheld.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WithheldReason {
    DryRun,
    GateOff(Gate),
    /// The gate is set to `ask`, and the command line did not ask.
    NotRequested(Gate),
    /// The policy turns approving reviews off.
    ApproveOff,
}

impl Gates {
    /// Creates the gates that the policy sets and the command line opens.
    pub fn new(settings: BTreeMap<Gate, GateSetting>, asked: RequestedGates, approve: ApprovalMode) -> Self {
        Self { settings, requested: asked, approve, is_dry_run: false }
    }

    /// Creates gates that are all shut.
    pub fn dry_run() -> Self {
        Self { settings: BTreeMap::new(), requested: BTreeSet::new(), approve: ApprovalMode::Off, is_dry_run: true }
    }

    /// Returns whether this is a dry run: nothing is written to the forge or to the journal.
    pub fn is_dry_run(&self) -> bool {
        self.is_dry_run
    }

    /// Returns a permit for the step, or why it is withheld.
    pub fn permit_step(&self, step: &Step) -> Result<Permit, WithheldReason> {
        if step.approves && !self.is_dry_run && self.approve == ApprovalMode::Off {
            return Err(WithheldReason::ApproveOff);
        }
        self.permit_gate(step.gate)
    }

    /// Returns a permit for a gate without a step: deliveries and workers.
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
    /// Returns the gate that was open.
    pub fn gate(&self) -> Gate {
        self.gate
    }
}
