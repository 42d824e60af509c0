//! What other programs say and do on a pull (D31).

use serde_json::json;

use crate::publish::repo_with_topic;
use crate::pull_view::{finding, role_verdicts};

// spec: D31, INC-6 @local
#[test]
fn a_program_accepts_resolves_dismisses_and_commands_nothing() {
    let repo = repo_with_topic(&["alpha"], "");
    repo.report("alpha", json!({ "findings": [finding("critical", "Token is logged", 3)] }));
    let acts: [&[&str]; 5] = [
        &["reply", "L1", "F1", "won't fix: accepted risk, by design", "--as", "renovate-bot"],
        &["reply", "L1", "F1", "accepted risk: it is a test", "--as", "deps[bot]"],
        &["resolve", "L1", "F1", "--as", "ci_bot"],
        &["comment", "L1", "/referee dismiss F1 known and harmless", "--as", "bot-7"],
        &["comment", "L1", "/referee pause", "--as", "renovate-bot"],
    ];
    for act in acts {
        repo.run_expecting(0, &[&["local"], act].concat());
        let turn = repo.json(&["review", "L1"]);
        assert_eq!(turn["findings"][0]["counts"], true, "after {act:?}: {turn:#}");
        assert_eq!(role_verdicts(&turn, "alpha").0, "request_changes", "after {act:?}: {turn:#}");
        assert_ne!(turn["next"]["why"].as_str().map(|why| why.starts_with("paused")), Some(true), "{turn:#}");
    }
    repo.run_expecting(0, &["local", "comment", "L1", "/referee dismiss F1 known and harmless"]);
    let turn = repo.json(&["review", "L1"]);
    assert_eq!(turn["findings"][0]["state"], "accepted", "a person does: {turn:#}");
}

// spec: D31 @local
#[test]
fn the_config_names_the_programs() {
    let repo = repo_with_topic(&["alpha"], "[people]\nbots = [\"robot-*\"]");
    repo.report("alpha", json!({ "findings": [finding("warning", "Loop is slow", 3)] }));
    let dismiss = |by: &str| {
        repo.run_expecting(0, &["local", "comment", "L1", "/referee dismiss F1 known", "--as", by]);
        repo.json(&["review", "L1"])["findings"][0]["state"].clone()
    };
    assert_eq!(dismiss("robot-7"), "open");
    assert_eq!(dismiss("ci-bot"), "accepted", "the list replaces the default");
}
