//! The part of a plan that a caller carries out. It is an input of `decide`: no caller drops steps afterwards.
//!
//! | scope | caller | reviews | steps |
//! |---|---|---|---|
//! | `Everything` | `explain`, `review` | of every role | all |
//! | `Roles` | `review --role` | of these roles | all |
//! | `Pass` | `dispatch` | of every role | labels, assignees, the operator comment, the handoff; none on a pull that takes no part in dispatch |
//! | `Answers` | `fix-comments`, a worker's answers | of every role | replies and resolutions of the fixing side |
//! | `Delivery` | a worker's result | of every role | those that record the result |
//!
//! Findings, refusals and `next` are the same in every scope.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::facts::Facts;
use crate::mark::Topic;
use crate::model::RoleName;
use crate::plan::{Action, Gate, Step};
use crate::rule::Rule;

/// The part of a plan that a caller carries out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanScope {
    /// All reviews and all steps.
    #[default]
    Everything,
    /// Reviews of these roles only; other roles run in another process.
    Roles(BTreeSet<RoleName>),
    /// The steps of a dispatch pass on one pull.
    Pass,
    /// Answers to threads: replies and resolutions.
    Answers,
    /// The steps that record a worker's result.
    Delivery,
}

impl PlanScope {
    /// Returns the scope of these roles; an empty list means everything.
    pub fn from_roles(roles: impl IntoIterator<Item = RoleName>) -> Self {
        let roles: BTreeSet<RoleName> = roles.into_iter().collect();
        if roles.is_empty() { Self::Everything } else { Self::Roles(roles) }
    }

    /// Returns whether this process runs the role's reviewer.
    pub(super) fn includes_role(&self, role: &RoleName) -> bool {
        match self {
            Self::Roles(roles) => roles.contains(role),
            Self::Everything | Self::Pass | Self::Answers | Self::Delivery => true,
        }
    }

    pub(super) fn includes_step(&self, facts: &Facts<'_>, step: &Step) -> bool {
        match self {
            Self::Everything | Self::Roles(_) => true,
            Self::Pass => facts.dispatch_policy().is_some() && is_pass_step(step),
            Self::Answers => matches!(step.gate, Gate::Reply | Gate::Resolve),
            Self::Delivery => step.reason.rule == Rule::Deliver,
        }
    }
}

fn is_pass_step(step: &Step) -> bool {
    match &step.action {
        Action::SetLabel { .. } | Action::Assign { .. } => true,
        _ => matches!(step.topic(), Some(Topic::Operator { .. } | Topic::Ready { .. })),
    }
}
