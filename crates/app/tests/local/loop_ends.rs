//! Review, fix, review again: the third run writes nothing.

use serde_json::json;

use crate::test_repo::{TestRepo, read_files};

const QUERY: &str = "def find(db, name):\n    return db.execute(f\"SELECT id FROM users WHERE name = '{name}'\")\n";
const BOUND: &str = "def find(db, name):\n    return db.execute(\"SELECT id FROM users WHERE name = ?\", (name,))\n";

// spec: PUB-1, PUB-2, INC-2, INC-11 @local
#[test]
fn a_fixed_finding_is_resolved_with_its_commit_and_the_third_run_writes_nothing() {
    let repo = TestRepo::new();
    repo.branch("topic", &[("api.py", QUERY)]);
    let first = repo.json(&["review"]);
    assert_eq!(first["findings"][0]["id"], "F1", "{first:#}");
    assert_eq!(first["roles"][0]["own"], "request_changes");
    repo.write("api.py", BOUND);
    let head = repo.commit("Bind the query");
    let second = repo.json(&["review"]);
    assert_eq!(second["roles"][0]["enforced"], "approve", "{second:#}");
    let stands = repo.read_snapshot("L1");
    let thread = &stands["threads"][0];
    assert_ne!(thread["resolved"], json!(null));
    let reply = thread["notes"][1]["text"]["body"].as_str().expect("a reply");
    assert!(reply.contains(&head[..7]), "{reply}");
    let third = repo.json(&["review"]);
    assert_eq!(third["calls"]["writes"], 0);
    assert_eq!(third["steps"], json!([]));
}

// spec: SAF-5 @local
#[test]
fn a_dry_run_writes_nothing() {
    let repo = TestRepo::new();
    repo.branch("topic", &[("api.py", QUERY)]);
    let before = read_files(&repo.dir());
    let ran = repo.run(&["review", "--dry-run"]);
    assert_eq!(ran.code, 20, "{}", ran.err);
    assert!(ran.out.contains("F1"), "{}", ran.out);
    assert!(read_files(&repo.dir()) == before, "a dry run left something behind");
}
