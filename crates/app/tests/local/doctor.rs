//! `referee doctor` with a forge: it reads, reports, and writes nothing.

use referee_core::model::Access;
use referee_testkit::World;
use referee_testkit::dialect::{Dialect, FakeServer};
use serde_json::Value;

use crate::test_repo::TestRepo;

/// The repository of a world.
const REPO: &str = "acme/api";

fn line<'a>(lines: &'a Value, what: &str) -> &'a Value {
    let lines = lines.as_array().expect("lines");
    lines.iter().find(|line| line["what"] == what).unwrap_or_else(|| panic!("nothing of `{what}` in {lines:#?}"))
}

// spec: SAF-7 @gitea @forgejo
#[test]
fn doctor_reads_a_forge_and_writes_nothing() {
    for dialect in Dialect::ALL {
        let world = World::new(dialect.quirks());
        world.admit("alice", Access::Write);
        let seat = world.client("bot");
        world.people().as_("alice").open_pull("feature", &[("a.txt", "one\n")]);
        let server = FakeServer::open(dialect, &world);
        let token = server.issue_token(&seat, seat.login());
        let repo = TestRepo::new();
        let args = ["doctor", "--forge-url", server.base_url(), "--repo", REPO];
        let doctor = |more: &[&str], token: &str| {
            let ran = repo.referee(&[&args, more].concat()).env("REFEREE_TOKEN", token).output().expect("referee runs");
            let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            (ran.status.code(), said(&ran.stdout), said(&ran.stderr))
        };
        let (code, out, err) = doctor(&["--json"], &token);
        let document: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}\n{out}\n{err}"));
        assert_eq!((code, &document["schema"]), (Some(0), &Value::from("referee/doctor-1")), "{document:#}\n{err}");
        assert_eq!(document["forge"]["repo"], REPO, "{document:#}");
        let lines = &document["forge"]["lines"];
        assert!(line(lines, "server")["words"].to_string().contains(dialect.version()), "{lines:#}");
        assert!(line(lines, "token")["words"].to_string().contains("bot"), "{lines:#}");
        let scopes = if dialect == Dialect::Forgejo10 { "unknown" } else { "ok" };
        assert_eq!(line(lines, "scopes")["state"], scopes, "{lines:#}");
        assert_eq!(line(lines, "rights")["state"], "warn", "{lines:#}");
        // A world has a clock of its own.
        assert_eq!(line(lines, "clock")["state"], "warn", "{lines:#}");
        assert_eq!(line(&document["lines"], "may not")["state"], "ok", "{document:#}");

        let (code, words, hints) = doctor(&[], &token);
        assert!(
            code == Some(0) && words.contains(&format!("ok       forge      {REPO} on {}", server.base_url())),
            "{words}"
        );
        assert!(hints.contains("hint: ") && !words.contains(&token) && !hints.contains(&token), "{words}{hints}");

        let (code, words, _) = doctor(&[], "no-such-token");
        assert!(code == Some(1) && words.contains("does not accept"), "{words}");
        assert!(!words.contains("no-such-token"), "{words}");
    }
}

#[test]
fn without_a_forge_doctor_says_so_and_sends_nothing() {
    let repo = TestRepo::new();
    let document = repo.json(&["doctor"]);
    assert!(document.get("forge").is_none(), "{document:#}");
    assert_eq!(line(&document["lines"], "forge")["words"], "none: pull requests are local", "{document:#}");
    let ran = repo.run_expecting(1, &["doctor", "--forge-url", "http://127.0.0.1:1", "--repo", REPO]);
    assert!(ran.out.contains("fail     forge") && ran.err.contains("REFEREE_TOKEN"), "{}{}", ran.out, ran.err);
}
