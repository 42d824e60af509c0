//! Bulk content in a repository: one unreadable pull or issue stops no other (D43).

use referee_testkit::proxy::{ProxyFault, RequestMatcher};
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::{Project, why};
use crate::on_each_server;

on_each_server! { a_pull_that_cannot_be_read_is_blocked_alone }

// spec: DSP-1 @gitea @forgejo
fn a_pull_that_cannot_be_read_is_blocked_alone(build: ServerBuild) {
    let project = Project::new(build);
    let [long, broken, failed] = project.pulls(["long", "broken", "failed"]);
    project.site.at("ruth", long.pull).comment(&"so much ".repeat(20_000));
    project.site.at("alice", failed.pull).report_check("ci", "failure");
    let fault = || {
        let path = format!("/pulls/{}/reviews?", broken.pull.0);
        let when = RequestMatcher::nth_read(1).with_path(&path).and_following();
        project.site.proxy.inject_fault(ProxyFault::NullList, when);
    };
    fault();
    let document = project.json(&project.file);
    let [rule, next, cause, facts] = why(&document, long.pull);
    assert_eq!([rule.as_str(), &next, &cause], ["incomplete", "blocked", "incomplete"], "{document:#}");
    assert!(facts.contains("a comment of ruth"), "{facts}");
    let [rule, next, _, facts] = why(&document, broken.pull);
    assert_eq!([rule.as_str(), &next], ["incomplete", "blocked"], "{document:#}");
    assert!(facts.contains(&format!("the reviews of {}", broken.pull)), "{facts}");
    assert_eq!(project.lines(&[]), [failed.spawn("ci-fix")]);
    project.assert_harmless();
}

// On one server: the lists have the same form on all, and the test moves hundreds of megabytes.
// spec: DSP-11 @gitea
#[test]
fn huge_issues_of_an_outsider_stop_no_pass() {
    let project = Project::new(ServerBuild::Gitea127);
    let first = open_issue(&project, "alice", "wanted", "please");
    // The JSON of `&` has six bytes: each text is 1 MB.
    let long = "&".repeat((1 << 20) / 6);
    for _ in 0..40 {
        open_issue(&project, "passer-by", "noise", &long);
    }
    // The comments of an issue are one list without pages.
    for _ in 0..34 {
        let path = format!("/issues/{first}/comments");
        project.site.repo.as_("passer-by").send("POST", &path, Some(&json!({ "body": long })));
    }
    assert_eq!(project.lines(&[]), [format!("SPAWN:impl:{first}:")]);
    assert_eq!(project.lines(&[]), [""; 0], "its record is read among the comments");
    project.assert_harmless();
}

fn open_issue(project: &Project, login: &str, title: &str, body: &str) -> u64 {
    let sent = json!({ "title": title, "body": body });
    let issue: Value = project.site.repo.as_(login).send("POST", "/issues", Some(&sent)).json().expect("an issue");
    issue["number"].as_u64().unwrap_or_else(|| panic!("{issue}"))
}
