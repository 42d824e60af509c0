//! The specification as scenarios: each test runs a few real turns on an in-memory forge.

mod acceptance;
mod catalogue;
mod decisions;
mod findings;
mod guards;
mod lost_marks;
mod publish;
mod restore;
mod safety;

use referee_core::model::Verdict;
use referee_testkit::scenario::{FindingBuilder, Scenario, ScenarioRun, critical, report};

/// Returns a scenario with one blocking role.
fn security(title: &'static str) -> Scenario {
    Scenario::new(title).role("security")
}

/// Builds the finding of the security role in `scenario::DEFAULT_FILE`.
fn leak() -> FindingBuilder {
    critical("the token is logged").at("src/a.rs", 4)
}

/// The line that fixes the leak.
const FIX: &str = "    log(\"login\");";

/// Opens the pull and blocks it with F1.
fn blocked(scenario: Scenario) -> ScenarioRun {
    let mut run = scenario.open_pull();
    run.report(report("security").finds(leak())).turn().discard_effects();
    run
}

/// Returns the verdicts that the bot posted, oldest first.
fn posted(run: &ScenarioRun) -> Vec<Verdict> {
    run.own_reviews().iter().filter_map(referee_core::model::Review::verdict).collect()
}
