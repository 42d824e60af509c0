//! What every forge must keep, in memory or real: one suite over any `Forge`, each clause by its name.
//!
//! A clause sets its own pull up through a `Stage`, acts through the forge under test, and reads back through the
//! same forge. It is kept, broken with what was seen instead, or skipped with the reason why it cannot be staged.

mod bench;
mod clauses;
mod on_world;
mod sealed;
mod stage;
mod texts;

use std::fmt;

use bench::Bench;
pub use bench::{Believed, Words};
pub use on_world::OnWorld;
pub use sealed::sealed_suite;
pub use stage::{Made, Stage, Staged};

/// How the suite ended, clause by clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// All clauses in the order of the suite.
    pub clauses: Vec<Clause>,
}

/// One clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// What must be so.
    pub name: &'static str,
    /// Whether it is.
    pub end: End,
}

/// How a clause ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It is so.
    Kept,
    /// It is not, and this was seen instead.
    Broken(String),
    /// It could not be staged here.
    Skipped(String),
}

/// Runs every clause.
pub async fn suite<S: Stage>(stage: &S, words: &Words<'_>) -> Contract {
    let bench = Bench::new(stage, words);
    let mut clauses = Vec::new();
    clauses::run(&bench, &mut clauses).await;
    Contract { clauses }
}

impl Contract {
    /// The names of clauses that are not kept.
    pub fn broken(&self) -> Vec<&'static str> {
        self.named(|end| matches!(end, End::Broken(_)))
    }

    /// The names of clauses that could not be staged.
    pub fn skipped(&self) -> Vec<&'static str> {
        self.named(|end| matches!(end, End::Skipped(_)))
    }

    fn named(&self, which: impl Fn(&End) -> bool) -> Vec<&'static str> {
        self.clauses.iter().filter(|clause| which(&clause.end)).map(|clause| clause.name).collect()
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Clause { name, end } in &self.clauses {
            let name = name.replace('_', " ");
            match end {
                End::Kept => writeln!(f, "kept     {name}")?,
                End::Broken(seen) => writeln!(f, "BROKEN   {name}: {seen}")?,
                End::Skipped(why) => writeln!(f, "skipped  {name}: {why}")?,
            }
        }
        Ok(())
    }
}
