//! The spec in scenes: each test plays a few turns of the real turn on a forge in memory.

mod decisions;
mod findings;
mod guards;
mod publish;
mod restore;
mod safety;
mod tales;

use referee_core::model::Verdict;
use referee_testkit::scenario::{FindingBuilder, Scenario, ScenarioRun, critical, report};

/// One blocking role.
fn security(title: &'static str) -> Scenario {
    Scenario::new(title).role("security")
}

/// What it finds in `scenario::CODE`.
fn leak() -> FindingBuilder {
    critical("the token is logged").at("src/a.rs", 4)
}

/// The line that takes it away.
const FIX: &str = "    log(\"login\");";

/// Opened, and blocked by F1.
fn blocked(scenario: Scenario) -> ScenarioRun {
    let mut scene = scenario.open_pull();
    scene.report(report("security").finds(leak())).turn().discard_effects();
    scene
}

/// The forms in which the bot posted, oldest first.
fn posted(scene: &ScenarioRun) -> Vec<Verdict> {
    scene.own_reviews().iter().filter_map(referee_core::model::Review::verdict).collect()
}
