//! Reviews of other accounts than dispatch's: roles without `identity` (PUB-12), and other programs (D32).

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::{OpenedPull, Project, RunOutput, evaluated, why};
use crate::on_each_server;

on_each_server! {
    dispatch_reads_the_marks_of_review_users
    a_program_that_asks_at_every_head_is_stopped_at_the_cap
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

// spec: D32, LOOP-4 @gitea @forgejo
fn a_program_that_asks_at_every_head_is_stopped_at_the_cap(build: ServerBuild) {
    for sentinel in [true, false] {
        let project = Project::new(build);
        let [mut it] = project.pulls(["asked"]);
        let mut spawned = 0;
        for round in 1..=5 {
            let words = if sentinel { evaluated(&it.head, "") } else { format!("not yet, {round}") };
            project.site.at("sec", it.pull).block(&words);
            let lines = project.lines(&[]);
            let spawns = lines.iter().any(|line| *line == it.spawn("findings"));
            assert_eq!(spawns, round < 3, "round {round}: {lines:?}");
            spawned += usize::from(spawns);
            if spawns {
                project.site.at("referee", it.pull).unlabel("wip");
            }
            it.head = project.site.at("alice", it.pull).push("src/asked.rs", |_| format!("fn round_{round}() {{}}\n"));
            project.settle(&it);
        }
        let path = format!("/issues/{}/comments", it.pull.0);
        let asks: Vec<Value> = project.site.at("ruth", it.pull).send("GET", &path, None).json().expect("comments");
        let asks = asks.iter().filter(|note| note["body"].as_str().is_some_and(|body| body.starts_with("@ruth")));
        assert_eq!((spawned, asks.count()), (2, 1), "sentinel: {sentinel}");
    }
}
