//! Reviews under reviewer accounts, dispatch under another one, without `identity` in the config (PUB-12).

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::{OpenedPull, Project, RunOutput, evaluated, why};
use crate::on_each_server;

on_each_server! {
    dispatch_reads_the_marks_of_review_users
}

/// Hands in a report of the role `alpha` as the account `sec`.
fn report_as_reviewer(project: &Project, it: &OpenedPull, report: Value) {
    let site = &project.site;
    let file = site.full_report(it.pull, "alpha", report);
    let page = site.page(it.pull);
    let mut review = site.referee(&["review", &page, "--role", "alpha", "--report", &file]);
    let ran = RunOutput::from_output(
        review.env("REFEREE_TOKEN", site.repo.server().token("sec")).output().expect("referee runs"),
    );
    assert!(matches!(ran.code, 0 | 20), "{ran:?}");
}

// spec: PUB-12 @gitea @forgejo
fn dispatch_reads_the_marks_of_review_users(build: ServerBuild) {
    let project = Project::new(build);
    let text = std::fs::read_to_string(&project.file).expect("the project file");
    let file = project.site.path("apart.yaml");
    std::fs::write(&file, text.replace("review_users: [sec, referee]", "review_users: [sec]")).expect("a file");
    let file = file.display().to_string();
    let [blocked, approved, unread, forged] =
        project.pulls(["role-blocked", "role-approved", "role-unread", "role-forged"]);
    let finding = json!({ "title": "Token is logged", "body": "It leaks.", "severity": "critical",
                          "path": "role/role-blocked.rs", "line": 1 });
    report_as_reviewer(&project, &blocked, json!({ "findings": [finding] }));
    report_as_reviewer(&project, &approved, json!({}));
    // Only an account in `review_users` speaks for the role.
    let talk =
        project.site.at("alice", approved.pull).send("GET", &format!("/pulls/{}/reviews", approved.pull.0), None);
    let reviews: Vec<Value> = talk.json().expect("reviews");
    let mark = reviews.iter().filter_map(|review| review["body"].as_str()).find(|body| body.contains("referee:mark"));
    project.site.at("ruth", forged.pull).review_without_verdict(mark.expect("a Mark"));
    for it in [&blocked, &approved, &unread, &forged] {
        // The words of the other bot are newer than those of the role.
        project.site.at("sec", it.pull).review_without_verdict(&evaluated(&it.head, ""));
    }
    let pass = project.json(&file);
    assert_eq!(why(&pass, blocked.pull)[..2], ["changes-requested".to_owned(), "spawn".to_owned()], "{pass:#}");
    assert_eq!(why(&pass, approved.pull)[1], "ready", "{pass:#}");
    for it in [&unread, &forged] {
        let [rule, next, ..] = why(&pass, it.pull);
        assert_eq!((rule.as_str(), next.as_str()), ("reviews-missing", "wait"), "{pass:#}");
    }
    project.site.proxy.forget();
    let lines = project.lines_for(&file, &[]);
    assert_eq!(lines, [format!("HANDOFF:{}", approved.pull.0), blocked.spawn("findings")]);
    project.assert_harmless();
}
