//! What never leaves, whatever a pull says.

use referee_testkit::server::{OWNER, ServerBuild};
use serde_json::json;

use crate::on_each_server;
use crate::play::{Play, config, critical, finding, lines, position, role};
use crate::site::{Ran, Site};

on_each_server! {
    only_what_is_allowed_leaves_in_a_whole_loop
    the_config_of_the_base_counts_and_none_of_the_head
    a_dry_run_writes_nowhere
    hostile_words_are_only_words
    a_token_that_may_not_write_statuses_still_speaks
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
fn only_what_is_allowed_leaves_in_a_whole_loop(build: ServerBuild) {
    let play =
        Play::new(build, &["alpha", "beta"], &format!("[gates]\napprove = \"on\"\n[loop]\noperator = \"{OWNER}\""));
    let mut sent = Vec::new();
    let mut step = |name: &str, report| {
        play.report(name, report);
        sent.extend(play.site.proxy.log());
    };
    step("alpha", critical(3));
    step("beta", json!({}));
    play.as_("ruth").comment("/referee help");
    play.as_("alice").request_review("referee");
    step("beta", json!({}));
    play.push(&[3]);
    step("alpha", position("F1", "fixed", "a.txt:3"));
    step("beta", json!({}));
    play.as_(OWNER).comment("/referee break-glass the site is down");
    step("alpha", json!({}));
    let shape = |path: &str| {
        let path = path.split('?').next().unwrap_or_default();
        let path = path.split_once(&play.site.repo.full_name()).map_or(path, |(_, rest)| rest);
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
    let pull = play.as_("alice").fetch_pull();
    assert_eq!((&pull["state"], &pull["merged"]), (&json!("open"), &json!(false)));
    assert!(play.talk().rows().iter().all(|row| row["user"]["login"] != "referee" || row["state"] != "PENDING"));
}

// spec: SAF-2 @gitea @forgejo
fn the_config_of_the_base_counts_and_none_of_the_head(build: ServerBuild) {
    let site = Site::new(build, &[("README.md", "# shop\n"), ("referee.toml", &config(&["alpha"], ""))]);
    let tame =
        "version = 1\n[gates]\napprove = \"off\"\n[[role]]\nname = \"alpha\"\ncommand = \"alpha\"\nblocks = false\n";
    let pull = site.open("topic", &[("a.txt", &lines(40, &[])), ("referee.toml", tame)]);
    let play = Play::on(site, pull);
    let turn = play.report("alpha", critical(3));
    assert_eq!(role(&turn, "alpha").0, "request_changes", "{turn:#}");
    assert_eq!(play.talk().newest(), Some(("REQUEST_CHANGES".to_owned(), true)));
    play.quiet();
    // A broken one on the head breaks nothing; on the base it is said.
    play.as_("alice").push("referee.toml", |_| "version = \"none".to_owned());
    assert_eq!(role(&play.report("alpha", critical(3)), "alpha").0, "request_changes");
    play.as_("ruth").push_base("referee.toml", |_| "version = 1\n[[rolle]]\n".to_owned());
    let ran = play.site.on("review", play.pull, &[]);
    assert!(ran.code == 2 && ran.err.contains("rolle"), "{} {}", ran.code, ran.err);
}

// spec: SAF-5 @gitea @forgejo
fn a_dry_run_writes_nowhere(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", critical(3));
    let (stands, status) = (play.talk(), play.site.run(&["status", "--json"]).out);
    let file = play.site.full_report(play.pull, "alpha", json!({}));
    play.site.proxy.forget();
    let turn = play.site.told("review", play.pull, &["--role", "alpha", "--report", &file, "--dry-run"]);
    assert!(!turn["steps"].as_array().expect("steps").is_empty(), "{turn:#}");
    play.site.on("review", play.pull, &["--dry-run"]);
    play.site.on("explain", play.pull, &[]);
    assert_eq!(play.site.proxy.write_count(), 0, "{:#?}", play.site.proxy.log());
    assert_eq!((play.talk(), play.site.run(&["status", "--json"]).out), (stands, status));
}

// spec: PUB-16 @gitea @forgejo
fn hostile_words_are_only_words(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    let mut hostile = finding("critical", "@ruth <script>alert(1)</script> ![x](http://evil.example/p.png)", 3);
    hostile["body"] = json!(
        "/merge\n/close\n@referee dismiss F1 fine\nthanks @alice and @owner/team\n<img src=x onerror=y>\n\
        \u{202e}txt\u{202c}\n<!-- referee:mark v1 alpha;aa1;x - -->\n<!-- referee:tag v1 rc-;alpha;9 - -->\nfixes #1"
    );
    play.report("alpha", json!({ "findings": [hostile], "summary": "/approve\n@alice look <b>here</b>" }));
    let talk = play.talk();
    let texts = [talk.last(), talk.notes("referee")[0]["body"].to_string()];
    for text in &texts {
        for word in ["<script", "<img", "![x]", "\u{202e}", "<b>", "alpha;aa1", "alpha;9"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
        assert!(!text.lines().any(|line| line.starts_with('/')), "{text}");
        assert_eq!(text.matches("<!-- referee:mark").count() + text.matches("<!-- referee:tag").count(), 1, "{text}");
    }
    // Nobody was called: the server would have told them.
    for who in ["alice", OWNER, "ruth"] {
        let told = play.site.repo.server().send_as(who, "GET", "/notifications?all=true", None);
        let told = String::from_utf8_lossy(&told.body).into_owned();
        let name = play.site.repo.full_name();
        assert!(who == "alice" || who == OWNER || !told.contains(&name), "{who}: {told}");
    }
    play.quiet();
}

// spec: PUB-19 @gitea @forgejo
fn a_token_that_may_not_write_statuses_still_speaks(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    let file = play.site.full_report(play.pull, "alpha", critical(3));
    let page = play.site.page(play.pull);
    let mut command = play.site.referee(&["review", &page, "--role", "alpha", "--report", &file, "--json"]);
    command.env("REFEREE_TOKEN", play.site.repo.server().token("passer-by"));
    let ran = Ran::of(command.output().expect("referee runs"));
    let turn: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error} {}", ran.err));
    let status = { turn["steps"].as_array().into_iter().flatten() }.find(|step| step["action"] == "set_status");
    assert_eq!(status.expect("a status")["note"], "this token may not do it", "{turn:#}");
    let rows = play.talk().rows().to_vec();
    assert!(
        rows.iter().any(|row| row["user"]["login"] == "passer-by" && row["state"] == "REQUEST_CHANGES"),
        "{turn:#}"
    );
    assert_eq!(play.talk().notes("passer-by").len(), 1);
}
