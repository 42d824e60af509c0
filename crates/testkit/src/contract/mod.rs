//! The contract that every forge adapter must keep: one suite of named clauses over any `Forge`.
//!
//! A clause creates its own pull through a `ContractSetup`, acts through the forge under test, and reads back through the
//! same forge. It ends as kept, broken with the actual behaviour, or skipped because its precondition cannot be set up.

mod clauses;
mod context;
mod drafts;
mod sealed;
mod setup;
mod world_setup;

use std::fmt;

use context::ClauseContext;
pub use context::{TextSealing, TrustCheck};
pub use sealed::run_sealed_suite;
pub use setup::{ContractSetup, CreatedCounts, StagedPull};
pub use world_setup::WorldSetup;

/// The outcome of every clause, in the order of the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractResult {
    pub clauses: Vec<Clause>,
}

/// A clause and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The statement that the clause checks, in snake case.
    pub name: &'static str,
    pub outcome: ClauseOutcome,
}

/// The outcome of a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClauseOutcome {
    Kept,
    /// The forge behaves differently: the actual behaviour.
    Broken(String),
    /// The precondition cannot be set up on this forge: the reason.
    Skipped(String),
}

/// Runs every clause.
pub async fn run_suite<S: ContractSetup>(setup: &S, sealing: &TextSealing<'_>) -> ContractResult {
    let context = ClauseContext::new(setup, sealing);
    let mut clauses = Vec::new();
    clauses::run_all(&context, &mut clauses).await;
    ContractResult { clauses }
}

impl ContractResult {
    /// Returns the names of the broken clauses.
    pub fn broken_clauses(&self) -> Vec<&'static str> {
        self.clause_names(|outcome| matches!(outcome, ClauseOutcome::Broken(_)))
    }

    /// Returns the names of the skipped clauses.
    pub fn skipped_clauses(&self) -> Vec<&'static str> {
        self.clause_names(|outcome| matches!(outcome, ClauseOutcome::Skipped(_)))
    }

    fn clause_names(&self, predicate: impl Fn(&ClauseOutcome) -> bool) -> Vec<&'static str> {
        self.clauses.iter().filter(|clause| predicate(&clause.outcome)).map(|clause| clause.name).collect()
    }
}

impl fmt::Display for ContractResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Clause { name, outcome } in &self.clauses {
            let name = name.replace('_', " ");
            match outcome {
                ClauseOutcome::Kept => writeln!(f, "kept     {name}")?,
                ClauseOutcome::Broken(actual) => writeln!(f, "BROKEN   {name}: {actual}")?,
                ClauseOutcome::Skipped(reason) => writeln!(f, "skipped  {name}: {reason}")?,
            }
        }
        Ok(())
    }
}
