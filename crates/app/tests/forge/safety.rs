//! What referee never sends, whatever a pull contains.

use referee_testkit::server::{OWNER, ServerBuild};
use serde_json::json;

use crate::on_each_server;
use crate::site::{RunOutput, TestSite};
use crate::test_pull::{TestPull, config, critical, finding, lines, position, role_verdicts};

on_each_server! {
    a_whole_loop_sends_only_allowed_requests
    only_the_config_of_the_base_applies
    a_dry_run_writes_nothing
    hostile_text_is_posted_as_plain_text
    names_of_checks_print_no_lines_and_no_control_characters
    a_token_without_status_permission_still_posts_reviews
}

/// What may leave that changes something: the method, and what its path ends in with numbers and hashes left out.
const WRITES: [(&str, &str); 8] = [
    ("POST", "/pulls/N/reviews"),
    ("POST", "/pulls/N/reviews/N/comments"),
    ("POST", "/pulls/N/comments/N/replies"),
    ("POST", "/pulls/comments/N/resolve"),
    ("POST", "/issues/N/comments"),
    ("POST", "/issues/N/reactions"),
    ("POST", "/statuses/N"),
    ("PATCH", "/issues/comments/N"),
];

// spec: SAF-1, PUB-9 @gitea @forgejo
fn a_whole_loop_sends_only_allowed_requests(build: ServerBuild) {
    let test_pull =
        TestPull::new(build, &["alpha", "beta"], &format!("[gates]\napprove = \"on\"\n[loop]\noperator = \"{OWNER}\""));
    let mut sent = Vec::new();
    let mut step = |name: &str, report| {
        test_pull.report(name, report);
        sent.extend(test_pull.site.proxy.log());
    };
    step("alpha", critical(3));
    step("beta", json!({}));
    test_pull.as_("ruth").comment("/referee help");
    test_pull.as_("alice").request_review("referee");
    step("beta", json!({}));
    test_pull.push(&[3]);
    step("alpha", position("F1", "fixed", "a.txt:3"));
    step("beta", json!({}));
    test_pull.as_(OWNER).comment("/referee break-glass the site is down");
    step("alpha", json!({}));
    let shape = |path: &str| {
        let path = path.split('?').next().unwrap_or_default();
        let path = path.split_once(&test_pull.site.repo.full_name()).map_or(path, |(_, rest)| rest);
        let part =
            |part: &str| if part.len() == 40 || part.parse::<u64>().is_ok() { "N".to_owned() } else { part.to_owned() };
        path.split('/').map(part).collect::<Vec<_>>().join("/")
    };
    let writes: Vec<(String, String)> =
        sent.iter().filter(|seen| !seen.is_read()).map(|seen| (seen.method.clone(), shape(&seen.path))).collect();
    assert!(writes.len() > 8, "{writes:?}");
    for (method, path) in &writes {
        // The own claim is taken back.
        let claim = method == "DELETE" && path == "/issues/N/reactions";
        assert!(claim || WRITES.contains(&(method.as_str(), path.as_str())), "{method} {path}");
    }
    let pull = test_pull.as_("alice").fetch_pull();
    assert_eq!((&pull["state"], &pull["merged"]), (&json!("open"), &json!(false)));
    assert!(test_pull.talk().rows().iter().all(|row| row["user"]["login"] != "referee" || row["state"] != "PENDING"));
}

// spec: SAF-2 @gitea @forgejo
fn only_the_config_of_the_base_applies(build: ServerBuild) {
    let site = TestSite::new(build, &[("README.md", "# shop\n"), ("referee.toml", &config(&["alpha"], ""))]);
    let tame =
        "version = 1\n[gates]\napprove = \"off\"\n[[role]]\nname = \"alpha\"\ncommand = \"alpha\"\nblocks = false\n";
    let pull = site.open("topic", &[("a.txt", &lines(40, &[])), ("referee.toml", tame)]);
    let test_pull = TestPull::on(site, pull);
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(role_verdicts(&turn, "alpha").0, "request_changes", "{turn:#}");
    assert_eq!(test_pull.talk().newest_verdict(), Some(("REQUEST_CHANGES".to_owned(), true)));
    test_pull.assert_quiet();
    // A broken one on the head breaks nothing; on the base it is said.
    test_pull.as_("alice").push("referee.toml", |_| "version = \"none".to_owned());
    assert_eq!(role_verdicts(&test_pull.report("alpha", critical(3)), "alpha").0, "request_changes");
    test_pull.as_("ruth").push_base("referee.toml", |_| "version = 1\n[[rolle]]\n".to_owned());
    let ran = test_pull.site.on("review", test_pull.pull, &[]);
    assert!(ran.code == 2 && ran.err.contains("rolle"), "{} {}", ran.code, ran.err);
}

// spec: SAF-5 @gitea @forgejo
fn a_dry_run_writes_nothing(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    let (stands, status) = (test_pull.talk(), test_pull.site.run(&["status", "--json"]).out);
    let file = test_pull.site.full_report(test_pull.pull, "alpha", json!({}));
    test_pull.site.proxy.forget();
    let turn = test_pull.site.json("review", test_pull.pull, &["--role", "alpha", "--report", &file, "--dry-run"]);
    assert!(!turn["steps"].as_array().expect("steps").is_empty(), "{turn:#}");
    test_pull.site.on("review", test_pull.pull, &["--dry-run"]);
    test_pull.site.on("explain", test_pull.pull, &[]);
    assert_eq!(test_pull.site.proxy.write_count(), 0, "{:#?}", test_pull.site.proxy.log());
    assert_eq!((test_pull.talk(), test_pull.site.run(&["status", "--json"]).out), (stands, status));
}

// spec: PUB-16 @gitea @forgejo
fn hostile_text_is_posted_as_plain_text(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let mut hostile = finding("critical", "@ruth <script>alert(1)</script> ![x](http://evil.example/p.png)", 3);
    hostile["body"] = json!(
        "/merge\n/close\n@referee dismiss F1 fine\nthanks @alice and @owner/team\n<img src=x onerror=y>\n\
        \u{202e}txt\u{202c}\n<!-- referee:mark v1 alpha;aa1;x - -->\n<!-- referee:tag v1 rc-;alpha;9 - -->\nfixes #1"
    );
    test_pull.report("alpha", json!({ "findings": [hostile], "summary": "/approve\n@alice look <b>here</b>" }));
    let talk = test_pull.talk();
    let texts = [talk.last_review_text(), talk.notes("referee")[0]["body"].to_string()];
    for text in &texts {
        for word in ["<script", "<img", "![x]", "\u{202e}", "<b>", "alpha;aa1", "alpha;9"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
        assert!(!text.lines().any(|line| line.starts_with('/')), "{text}");
        assert_eq!(text.matches("<!-- referee:mark").count() + text.matches("<!-- referee:tag").count(), 1, "{text}");
    }
    // Nobody was mentioned: the server would have notified them.
    for who in ["alice", OWNER, "ruth"] {
        let notifications = test_pull.site.repo.server().send_as(who, "GET", "/notifications?all=true", None);
        let notifications = String::from_utf8_lossy(&notifications.body).into_owned();
        let name = test_pull.site.repo.full_name();
        assert!(who == "alice" || who == OWNER || !notifications.contains(&name), "{who}: {notifications}");
    }
    test_pull.assert_quiet();
}

// spec: SAF-6 @gitea @forgejo
fn names_of_checks_print_no_lines_and_no_control_characters(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let name = "ci\u{1b}[2J\u{9b}31m\u{202e}\nHANDOFF: #1 is ready\n::error::no";
    test_pull.as_("alice").report_check(name, "failure");
    test_pull.as_("alice").retitle(&format!("title {name}"));
    test_pull.report("alpha", critical(3));
    for (verb, args) in [
        ("review", &["--dry-run"][..]),
        ("review", &["--dry-run", "--json"]),
        ("review", &["--format", "sarif"]),
        ("review", &["--format", "github"]),
        ("explain", &[]),
        ("explain", &["--json"]),
        ("comments", &[]),
        ("watch", &["--once"]),
    ] {
        let ran = test_pull.site.on(verb, test_pull.pull, args);
        for text in [&ran.out, &ran.err] {
            let is_unsafe = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}');
            assert_eq!(text.chars().find(|c| is_unsafe(*c)), None, "{verb} {args:?}: {text:?}");
            let forged = |line: &&str| line.starts_with("HANDOFF: #1 is ready") || line.starts_with("::error::no");
            assert_eq!(text.lines().find(forged), None, "{verb} {args:?}: {text}");
        }
    }
}

// spec: PUB-19 @gitea @forgejo
fn a_token_without_status_permission_still_posts_reviews(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let file = test_pull.site.full_report(test_pull.pull, "alpha", critical(3));
    let page = test_pull.site.page(test_pull.pull);
    let mut command = test_pull.site.referee(&["review", &page, "--role", "alpha", "--report", &file, "--json"]);
    command.env("REFEREE_TOKEN", test_pull.site.repo.server().token("passer-by"));
    let ran = RunOutput::from_output(command.output().expect("referee runs"));
    let turn: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error} {}", ran.err));
    let status = { turn["steps"].as_array().into_iter().flatten() }.find(|step| step["action"] == "set_status");
    assert_eq!(status.expect("a status")["note"], "this token may not do it", "{turn:#}");
    let rows = test_pull.talk().rows().to_vec();
    assert!(
        rows.iter().any(|row| row["user"]["login"] == "passer-by" && row["state"] == "REQUEST_CHANGES"),
        "{turn:#}"
    );
    assert_eq!(test_pull.talk().notes("passer-by").len(), 1);
}
