//! Writes that reach the server after the client gave up waiting for the response: the next run recognises them.

use referee_testkit::proxy::{ProxyFault, RequestMatcher};
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::on_each_server;
use crate::pull_view::string;
use crate::test_pull::{TestPull, finding};

on_each_server! { a_write_that_arrives_late_is_recognised }

/// Runs a review whose writes that match are kept from the server until the run is over. Then a run completes what is
/// missing, and the next one, without local state, writes nothing.
fn review_with_late_writes(test_pull: &TestPull, report: Value, late: &[RequestMatcher]) {
    let site = &test_pull.site;
    let file = site.full_report(test_pull.pull, "alpha", report);
    let operator = site.path("operator.toml").display().to_string();
    let args = ["--role", "alpha", "--report", &file, "--operator", &operator];
    site.proxy.forget();
    for when in late {
        site.proxy.inject_fault(ProxyFault::Late, when.clone());
    }
    let ran = site.on("review", test_pull.pull, &args);
    assert!([0, 75].contains(&ran.code), "{ran:?}");
    let statuses = site.proxy.deliver_late_requests();
    assert!(!statuses.is_empty() && statuses.iter().all(|status| *status < 300), "{statuses:?}: {ran:?}");
    let again = site.on("review", test_pull.pull, &args);
    assert_eq!(again.code, 0, "{ran:?} {again:?}");
    site.proxy.forget();
    site.forget();
    let quiet = site.on("review", test_pull.pull, &args);
    assert_eq!((quiet.code, site.proxy.write_count()), (0, 0), "{ran:?} {again:?} {quiet:?}");
}

// spec: PUB-14 @gitea @forgejo
fn a_write_that_arrives_late_is_recognised(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let kind = if build == ServerBuild::Forgejo10 { "forgejo" } else { "gitea" };
    let url = test_pull.site.proxy.url();
    let operator =
        format!("[forge.here.{kind}]\nurl = \"{url}\"\ntimeout = \"3s\"\n[commands.alpha]\nargv = [\"true\"]\n");
    std::fs::write(test_pull.site.path("operator.toml"), operator).expect("a file");

    let found = [finding("critical", "Token is logged", 3), finding("critical", "Key is logged", 20)];
    let review = RequestMatcher::nth_write(1).with_path("/reviews");
    review_with_late_writes(&test_pull, json!({ "findings": found }), &[review]);
    let pull = test_pull.talk();
    assert_eq!((pull.verdicts().len(), pull.notes("referee").len()), (1, 2), "one review with two threads");

    test_pull.push(&[3, 20]);
    let fixed = ["F1", "F2"].map(|id| json!({ "finding": id, "position": "fixed", "evidence": "a.txt:3" }));
    let reply = RequestMatcher::nth_write(1).with_body("Fixed in ");
    let resolution = RequestMatcher::nth_write(1).with_path("/resolve");
    review_with_late_writes(&test_pull, json!({ "positions": fixed }), &[reply, resolution]);
    let pull = test_pull.talk();
    let replies = |note: &&&Value| string(&note["body"]).starts_with("Fixed in ");
    assert_eq!(pull.notes("referee").iter().filter(replies).count(), 2, "one reply in each thread");
    assert_eq!(pull.verdicts().len(), 2, "the block and the approval");
}
