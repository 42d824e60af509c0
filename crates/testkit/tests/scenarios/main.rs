//! The spec in scenes: each test plays a few turns of the real turn on a forge in memory.

mod decisions;
mod findings;
mod guards;
mod publish;
mod restore;
mod safety;
mod tales;

use referee_core::model::Verdict;
use referee_testkit::scenario::{Find, Scenario, Scene, critical, report};

/// One blocking role.
fn security(title: &'static str) -> Scenario {
    Scenario::new(title).role("security")
}

/// What it finds in `scenario::CODE`.
fn leak() -> Find {
    critical("the token is logged").at("src/a.rs", 4)
}

/// The line that takes it away.
const FIX: &str = "    log(\"login\");";

/// Opened, and blocked by F1.
fn blocked(scenario: Scenario) -> Scene {
    let mut scene = scenario.begin();
    scene.report(report("security").finds(leak())).turn().given();
    scene
}

/// The forms in which the bot posted, oldest first.
fn posted(scene: &Scene) -> Vec<Verdict> {
    scene.own_reviews().iter().filter_map(referee_core::model::Review::verdict).collect()
}
