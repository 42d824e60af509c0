//! Other programs, and more findings than a pull has room for.

use referee_core::model::ThreadId;
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::on_each_server;
use crate::site::TestSite;
use crate::test_pull::{TestPull, config, critical, role_verdicts, state};

on_each_server! { a_program_accepts_resolves_dismisses_and_commands_nothing }

// spec: D31 @gitea @forgejo
fn a_program_accepts_resolves_dismisses_and_commands_nothing(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "[people]\nbots = [\"se*\"]");
    test_pull.report("alpha", critical(3));
    let root = ThreadId(test_pull.talk().notes("referee")[0]["id"].to_string());
    let sec = test_pull.as_("sec");
    let acts: [&dyn Fn(); 5] = [
        &|| drop(sec.reply(&root, "won't fix: accepted risk, by design")),
        &|| drop(sec.reply(&root, "I disagree")),
        &|| drop(sec.comment("@referee dismiss F1 known and harmless")),
        &|| drop(sec.comment("@referee pause")),
        &|| drop(sec.approve("fine by me")),
    ];
    for (number, act) in acts.iter().enumerate() {
        act();
        let turn = test_pull.report("alpha", critical(3));
        assert!(state(&turn, "F1").1, "after act {number}: {turn:#}");
        assert_eq!(role_verdicts(&turn, "alpha").0, "request_changes", "after act {number}: {turn:#}");
        assert_eq!(turn["calls"]["writes"], 0, "after act {number}: {turn:#}");
    }
    test_pull.as_("ruth").comment("@referee dismiss F1 known and harmless");
    assert!(!state(&test_pull.report("alpha", critical(3)), "F1").1, "a person does");
}

/// Findings on lines 1 to `count`, every hundredth critical.
fn many(count: u32, fixed: impl Fn(u32) -> bool) -> Value {
    let finding = |n: u32| {
        let severity = if n.is_multiple_of(100) { "critical" } else { "warning" };
        json!({ "title": format!("Unused value number {n}"), "body": format!("Value {n} is computed in vain."),
                "severity": severity, "path": "a.txt", "line": n, "rule": "unused" })
    };
    json!({ "findings": (1..=count).filter(|n| !fixed(*n)).map(finding).collect::<Vec<_>>() })
}

/// Returns how many findings count: those with an id, and those that fit nowhere.
fn count_findings(turn: &Value) -> (u64, u64) {
    let findings = turn["findings"].as_array().expect("findings");
    for finding in findings {
        let title = finding["title"].as_str().unwrap_or_default();
        assert!(title.starts_with("Unused value number "), "{finding}");
    }
    let overflow = turn["roles"][0]["overflow"].as_object().map_or(0, |by| by.values().filter_map(Value::as_u64).sum());
    (findings.iter().filter(|finding| finding["counts"] == true).count() as u64, overflow)
}

// spec: D33, PUB-24 @gitea
#[test]
fn seven_hundred_findings_are_known_or_counted_in_every_run() {
    let build = ServerBuild::Gitea127;
    let lines = |fixed: &dyn Fn(u32) -> bool| -> String {
        (1..=700).map(|n| if fixed(n) { format!("line {n}\n") } else { format!("value_{n} = {n}\n") }).collect()
    };
    let site = TestSite::new(build, &[("README.md", "# shop\n"), ("referee.toml", &config(&["alpha"], ""))]);
    let pull = site.open("topic", &[("a.txt", &lines(&|_| false))]);
    let test_pull = TestPull::on(site, pull);
    let first = test_pull.report("alpha", many(700, |_| false));
    let (known, overflow) = count_findings(&first);
    assert_eq!(known + overflow, 700, "{known} known, {overflow} overflow");
    assert!(known >= 100, "{known}");
    assert_eq!(role_verdicts(&first, "alpha").0, "request_changes");
    let again = test_pull.report("alpha", many(700, |_| false));
    assert_eq!((count_findings(&again), &again["calls"]["writes"]), ((known, overflow), &json!(0)));
    let half = |n: u32| n.is_multiple_of(2);
    test_pull.as_("alice").push("a.txt", |_| lines(&half));
    let turn = test_pull.report("alpha", many(700, half));
    let (known, overflow) = count_findings(&turn);
    assert_eq!(role_verdicts(&turn, "alpha").0, "request_changes", "{known} {overflow}");
    assert!(known + overflow >= 350, "nothing is forgotten: {known} {overflow}");
    test_pull.assert_quiet();
    // What fits nowhere is cleared by a person, not by silence.
    test_pull.as_("alice").push("a.txt", |_| lines(&|_| true));
    let turn = test_pull.report("alpha", json!({}));
    let (_, overflow) = count_findings(&turn);
    assert_eq!(role_verdicts(&turn, "alpha").0 == "approve", overflow == 0, "{turn:#}");
    test_pull.as_("ruth").comment("@referee dismiss overflow read all of them");
    let turn = test_pull.report("alpha", json!({}));
    assert_eq!(count_findings(&turn).1, 0, "{turn:#}");
}
