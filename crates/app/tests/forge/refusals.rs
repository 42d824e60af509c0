//! What a server refuses for good: no finding loses its explanation, and later runs are quiet (PUB-13).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use referee_core::model::PullNumber;
use referee_testkit::proxy::{ProxyFault, RequestMatcher};
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::on_each_server;
use crate::pull_view::{ServerPullView, string};
use crate::site::TestSite;
use crate::test_pull::{TestPull, config, finding};

on_each_server! {
    a_refused_thread_takes_no_other_with_it_and_its_text_is_in_the_summary
    a_review_that_is_refused_as_a_whole_is_an_error_and_heals
    findings_in_files_with_odd_names_are_posted
    findings_in_files_named_in_invalid_utf8_are_posted
}

fn four_findings() -> Value {
    let findings: Vec<Value> =
        (1..=4_u32).map(|n| finding("critical", &format!("Token {n} is logged"), 3 * n)).collect();
    json!({ "findings": findings })
}

// spec: PUB-13 @gitea @forgejo
fn a_refused_thread_takes_no_other_with_it_and_its_text_is_in_the_summary(build: ServerBuild) {
    for status in [413, 422] {
        let test_pull = TestPull::new(build, &["alpha"], "");
        let comment =
            RequestMatcher::nth_write(1).with_path("/reviews").with_body("\"new_position\":6,").and_following();
        test_pull.site.proxy.inject_fault(ProxyFault::Refused(status), comment);
        let file = test_pull.site.full_report(test_pull.pull, "alpha", four_findings());
        let args = ["--role", "alpha", "--report", file.as_str()];
        let codes: Vec<i32> = (0..3).map(|_| test_pull.site.on("review", test_pull.pull, &args).code).collect();
        assert_eq!(codes, [0, 0, 0], "{status}");
        let talk = test_pull.talk();
        assert_eq!(talk.notes("referee").len(), 3, "{status}: the other threads are open");
        let summary = talk.last_review_text();
        assert!(summary.contains("Token 2 is logged, in more words."), "{status}: {summary}");
        let turn = test_pull.site.json("review", test_pull.pull, &args);
        assert_eq!(
            (&turn["calls"]["writes"], turn["findings"].as_array().map(Vec::len)),
            (&json!(0), Some(4)),
            "{turn:#}"
        );
    }
}

// spec: PUB-13 @gitea @forgejo
fn a_review_that_is_refused_as_a_whole_is_an_error_and_heals(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let any = RequestMatcher::nth_write(1).with_path("/reviews").and_following();
    test_pull.site.proxy.inject_fault(ProxyFault::Refused(422), any);
    let file = test_pull.site.full_report(test_pull.pull, "alpha", four_findings());
    let args = ["--role", "alpha", "--report", file.as_str()];
    for _ in 0..2 {
        let ran = test_pull.site.on("review", test_pull.pull, &args);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("refused on purpose"), "{}", ran.err);
        assert_eq!(test_pull.talk().notes("referee").len(), 0, "no thread without its review");
    }
    test_pull.site.proxy.forget();
    assert_eq!(test_pull.site.on("review", test_pull.pull, &args).code, 0);
    assert_eq!(test_pull.talk().notes("referee").len(), 4);
    test_pull.report("alpha", four_findings());
    test_pull.assert_quiet();
}

/// Opens a pull by alice that adds files whose names only git can write.
fn open_pull_with_files(site: &TestSite, paths: &[&OsStr], text: &str) -> PullNumber {
    let clone = site.clone_of("main");
    let git = |args: &[&str]| {
        let ran = std::process::Command::new("git").args(args).current_dir(&clone).output().expect("git runs");
        assert!(ran.status.success(), "{args:?}: {ran:?}");
    };
    git(&["checkout", "--quiet", "-b", "odd"]);
    for path in paths {
        let path = clone.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    git(&["add", "."]);
    git(&["-c", "user.name=alice", "-c", "user.email=alice@example.org", "commit", "--quiet", "-m", "Add odd names"]);
    let token = site.repo.server().token("alice");
    let url = site.repo.url().replacen("://", &format!("://alice:{token}@"), 1);
    git(&["push", "--quiet", &url, "odd"]);
    let body = json!({ "title": "odd", "head": "odd", "base": "main" });
    let opened: Value = site.repo.as_("alice").send("POST", "/pulls", Some(&body)).json().expect("a pull");
    PullNumber(opened["number"].as_u64().expect("a number"))
}

// spec: PUB-13 @gitea @forgejo
fn findings_in_files_named_in_invalid_utf8_are_posted(build: ServerBuild) {
    let site = TestSite::new(build, &[("README.md", "# shop\n")]);
    let names: [&[u8]; 3] = [b"sign\xe9.py", b"d\xff\xfe/deep.py", b"plain.py"];
    let secret = "AWS_KEY = \"AKIAZ7QHX3M2PLKD5WVT\"\n";
    let pull = open_pull_with_files(&site, &names.map(OsStr::from_bytes), secret);
    for _ in 0..2 {
        let ran = site.on("review", pull, &[]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    site.forget();
    let turn = site.json("review", pull, &[]);
    let found: Vec<String> =
        turn["findings"].as_array().expect("findings").iter().map(|finding| string(&finding["path"])).collect();
    assert_eq!((&turn["calls"]["writes"], found.len()), (&json!(0), names.len()), "{turn:#}");
    let summary = ServerPullView::read(&site.at("alice", pull)).last_review_text();
    for name in [r"sign\351.py", r"d\377\376/deep.py", "plain.py"] {
        assert!(found.iter().any(|path| path.contains(name)), "{name}: {found:?}");
        assert!(summary.contains(name), "{name}: {summary}");
    }
}

// spec: PUB-13 @gitea @forgejo
fn findings_in_files_with_odd_names_are_posted(build: ServerBuild) {
    let names = [
        "a b.txt",
        "it's.txt",
        "back\\slash.txt",
        "ünï/cödé.txt",
        "tab\there.txt",
        "new\nline.txt",
        "#hash?.txt",
        "\"quoted\".txt",
    ];
    let site = TestSite::new(build, &[("README.md", "# shop\n"), ("referee.toml", &config(&["alpha"], ""))]);
    let paths: Vec<&OsStr> = names.iter().map(OsStr::new).collect();
    let pull = open_pull_with_files(&site, &paths, "one\ntwo\nthree\n");
    let findings: Vec<Value> = names
        .iter()
        .map(|name| {
            json!({ "title": format!("Odd {name:?}"), "body": format!("Why {name:?}."), "severity": "critical",
                            "path": name, "line": 2 })
        })
        .collect();
    let report = json!({ "findings": findings, "coverage": { "read": names, "skipped": [] } });
    let file = site.full_report(pull, "alpha", report);
    let args = ["--role", "alpha", "--report", file.as_str()];
    let codes: Vec<i32> = (0..2).map(|_| site.on("review", pull, &args).code).collect();
    assert_eq!(codes, [0, 0]);
    let turn = site.json("review", pull, &args);
    assert_eq!(
        (&turn["calls"]["writes"], turn["findings"].as_array().map(Vec::len)),
        (&json!(0), Some(names.len())),
        "{turn:#}"
    );
}
