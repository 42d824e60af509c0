//! Heads that referee cannot push to: dispatch waits for the author and starts no worker.

use referee_testkit::server::{OWNER, ServerBuild};
use serde_json::json;

use super::{OpenedPull, Project, why};
use crate::on_each_server;

on_each_server! { a_head_without_push_access_waits_for_its_author }

// spec: DSP-5, DSP-10 @gitea @forgejo
fn a_head_without_push_access_waits_for_its_author(build: ServerBuild) {
    let project = Project::new(build);
    let [guarded, free] = project.pulls(["guarded", "free"]);
    for it in [&guarded, &free] {
        project.site.at("alice", it.pull).report_check("ci", "failure");
    }
    // A branch that is alice's alone, though the repository lets the fixing side push.
    let rule = json!({
        "rule_name": "guarded", "branch_name": "guarded", "enable_push": true, "enable_push_whitelist": true,
        "push_whitelist_usernames": ["alice"],
    });
    let answer = project.site.repo.as_(OWNER).send("POST", "/branch_protections", Some(&rule));
    assert!(answer.is_success(), "{}", String::from_utf8_lossy(&answer.body));
    let stranger = project.site.repo.as_("passer-by");
    let fork = stranger.open_from_fork("fork", &[("src/fork.rs", "fn a() {}\n")]);
    project.site.at("alice", fork).report_check("ci", "failure");
    // Servers differ in what they take for granted.
    let lets_in = |may: bool| {
        let body = json!({ "allow_maintainer_edit": may });
        let answer = stranger.send("PATCH", &format!("/pulls/{}", fork.0), Some(&body));
        assert!(answer.is_success(), "{}", String::from_utf8_lossy(&answer.body));
    };
    lets_in(true);
    assert_eq!(why(&project.json(&project.file), fork)[1], "spawn");
    lets_in(false);

    let waits = |pull, rule: &str, on: &str| {
        let [is_rule, kind, is_on, facts] = why(&project.json(&project.file), pull);
        assert_eq!([is_rule.as_str(), &kind, &is_on], [rule, "wait", on], "{pull}: {facts}");
    };
    waits(guarded.pull, "checks-failed", "author");
    let explained = project.site.on("explain", guarded.pull, &["--project", &project.file]);
    assert!(explained.out.contains("next     wait for the author"), "{explained:?}");
    waits(fork, "checks-failed", "author");
    // It does not delay other pulls.
    assert_eq!(project.lines(&[]), [free.spawn("ci-fix")]);
    assert_eq!(project.lines(&[]), [""; 0]);

    // A person's block as well, until the author answers it.
    project.site.at("ruth", fork).block("not like this");
    waits(fork, "changes-requested", "author");
    assert_eq!(project.lines(&[]), [""; 0]);
    let head = stranger.on(fork).push("src/fork.rs", |_| "fn b() {}\n".to_owned());
    waits(fork, "changes-requested", "ruth");
    // A pull that needs no push is handed to a person like any other.
    project.settle(&OpenedPull { pull: fork, head });
    project.site.at("ruth", fork).approve("now it is");
    assert_eq!(project.lines(&[]), [format!("HANDOFF:{}", fork.0)]);
    project.assert_harmless();
}
