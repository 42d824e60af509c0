//! Lost workers, detected by the server's clock with a lease of one second.

use referee_testkit::server::ServerBuild;
use serde_json::Value;

use super::{Project, row, until, why};
use crate::on_each_server;

on_each_server! { a_lost_worker_is_restarted_once_and_then_a_person_is_asked }

// spec: DSP-4, DSP-9, DSP-16 @gitea @forgejo
fn a_lost_worker_is_restarted_once_and_then_a_person_is_asked(build: ServerBuild) {
    let project = Project::new(build);
    let [red, planned, stale, foreign] = project.pulls(["red", "planned", "stale", "foreign"]);
    let as_ = |login: &str, it: &super::OpenedPull| project.site.at(login, it.pull);
    as_("alice", &red).report_check("ci", "failure");
    as_("alice", &planned).report_check("ci", "failure");
    // A worker's answer that quotes a stranger's copy of a Mark is still an answer (PUB-12).
    let quote = "> <!-- referee:mark v1 alpha;aa1;x - -->";
    as_("referee", &planned).comment(&format!("{quote}\n\nFix plan for {}: mend it", planned.head));
    as_("referee", &stale).label("wip");
    as_("ruth", &foreign).label("wip");
    // S6: who works on one pull holds up no other.
    assert_eq!(project.lines(&[]), [red.spawn("ci-fix")]);
    assert_eq!(project.lines(&[]), [""; 0]);
    for it in [&red, &planned] {
        let [rule, kind, on, facts] = why(&project.json(&project.file), it.pull);
        assert_eq!([rule.as_str(), &kind, &on], ["checks-failed", "wait", "worker"], "{facts}");
    }

    let later = project.write_project_file("later", "wip_max_age: 1s\n");
    let is = |document: &Value, it: &super::OpenedPull, next: &str| why(document, it.pull)[1] == next;
    let aged =
        |document: &Value| is(document, &stale, "ready") && [&red, &planned].iter().all(|it| is(document, it, "spawn"));
    let document: Value = until(|| Some(project.json(&later)).filter(aged));
    for it in [&red, &planned] {
        let [rule, kind, on, facts] = why(&document, it.pull);
        assert_eq!([rule.as_str(), &kind, &on], ["checks-failed", "spawn", "ci-fix"], "{facts}");
        assert!(facts.contains("second start"), "{facts}");
    }
    assert_eq!(
        row(&document, foreign.pull)["refused"][0]["what"],
        "remove `wip`",
        "{:#}",
        row(&document, foreign.pull)
    );
    let handoffs = [&stale, &foreign].map(|it| format!("HANDOFF:{}", it.pull.0));
    assert_eq!(project.lines_for(&later, &[]), [&handoffs[..], &[red.spawn("ci-fix")]].concat());
    assert_eq!(project.labels(stale.pull), ["ready"]);
    let mut labels = project.labels(foreign.pull);
    labels.sort();
    assert_eq!(labels, ["ready", "wip"], "somebody else's is left alone");
    // The second start is the last, also of one that left a plan and no record.
    assert_eq!(project.lines_for(&later, &[]), [planned.spawn("ci-fix")]);
    let gone = |document: &Value| [&red, &planned].iter().all(|it| is(document, it, "blocked"));
    let document = until(|| {
        assert_eq!(project.lines_for(&later, &[]), [""; 0]);
        Some(project.json(&later)).filter(gone)
    });
    // The steps of the dry run are written now.
    assert_eq!(project.lines_for(&later, &[]), [""; 0]);
    for it in [&red, &planned] {
        let [rule, _, cause, facts] = why(&document, it.pull);
        assert_eq!([rule.as_str(), &cause], ["checks-failed", "needs_human"], "{facts}");
        assert!(facts.contains("crashed twice"), "{facts}");
        let comments = format!("/issues/{}/comments?page=1&limit=50", it.pull.0);
        let all: Vec<Value> = as_("ruth", it).send("GET", &comments, None).json().expect("comments");
        let asks = |row: &&Value| row["body"].as_str().is_some_and(|text| text.contains("@ruth, this pull needs"));
        assert_eq!(all.iter().filter(asks).count(), 1, "one operator comment: {all:#?}");
    }
    project.assert_harmless();
}
