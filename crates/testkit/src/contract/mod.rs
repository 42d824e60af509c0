//! What every forge must keep, in memory or real: one suite over any `Forge`, each clause by its name.
//!
//! A clause sets its own pull up through a `Stage`, acts through the forge under test, and reads back through the
//! same forge. It is kept, broken with what was seen instead, or skipped with the reason why it cannot be staged.

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

/// How the suite ended, clause by clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractResult {
    /// All clauses in the order of the suite.
    pub clauses: Vec<Clause>,
}

/// One clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// What must be so.
    pub name: &'static str,
    /// Whether it is.
    pub outcome: ClauseOutcome,
}

/// How a clause ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClauseOutcome {
    /// It is so.
    Kept,
    /// It is not, and this was seen instead.
    Broken(String),
    /// It could not be staged here.
    Skipped(String),
}

/// Runs every clause.
pub async fn run_suite<S: ContractSetup>(stage: &S, words: &TextSealing<'_>) -> ContractResult {
    let bench = ClauseContext::new(stage, words);
    let mut clauses = Vec::new();
    clauses::run_all(&bench, &mut clauses).await;
    ContractResult { clauses }
}

impl ContractResult {
    /// The names of clauses that are not kept.
    pub fn broken_clauses(&self) -> Vec<&'static str> {
        self.clause_names(|end| matches!(end, ClauseOutcome::Broken(_)))
    }

    /// The names of clauses that could not be staged.
    pub fn skipped_clauses(&self) -> Vec<&'static str> {
        self.clause_names(|end| matches!(end, ClauseOutcome::Skipped(_)))
    }

    fn clause_names(&self, which: impl Fn(&ClauseOutcome) -> bool) -> Vec<&'static str> {
        self.clauses.iter().filter(|clause| which(&clause.outcome)).map(|clause| clause.name).collect()
    }
}

impl fmt::Display for ContractResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Clause { name, outcome: end } in &self.clauses {
            let name = name.replace('_', " ");
            match end {
                ClauseOutcome::Kept => writeln!(f, "kept     {name}")?,
                ClauseOutcome::Broken(seen) => writeln!(f, "BROKEN   {name}: {seen}")?,
                ClauseOutcome::Skipped(why) => writeln!(f, "skipped  {name}: {why}")?,
            }
        }
        Ok(())
    }
}
