//! Review, fix, review again, quiet.

use serde_json::json;

use crate::shop::{Shop, contents};

const QUERY: &str = "def find(db, name):\n    return db.execute(f\"SELECT id FROM users WHERE name = '{name}'\")\n";
const BOUND: &str = "def find(db, name):\n    return db.execute(\"SELECT id FROM users WHERE name = ?\", (name,))\n";

// spec: PUB-1, PUB-2, INC-2, INC-11 @local
#[test]
fn a_fixed_finding_is_resolved_with_its_commit_and_the_third_run_writes_nothing() {
    let shop = Shop::new();
    shop.branch("topic", &[("api.py", QUERY)]);
    let first = shop.json(&["review"]);
    assert_eq!(first["findings"][0]["id"], "F1", "{first:#}");
    assert_eq!(first["roles"][0]["own"], "request_changes");
    shop.write("api.py", BOUND);
    let head = shop.commit("Bind the query");
    let second = shop.json(&["review"]);
    assert_eq!(second["roles"][0]["enforced"], "approve", "{second:#}");
    let stands = shop.stands("L1");
    let thread = &stands["threads"][0];
    assert_ne!(thread["resolved"], json!(null));
    let reply = thread["notes"][1]["text"]["body"].as_str().expect("a reply");
    assert!(reply.contains(&head[..7]), "{reply}");
    let third = shop.json(&["review"]);
    assert_eq!(third["calls"]["writes"], 0);
    assert_eq!(third["steps"], json!([]));
}

// spec: SAF-5 @local
#[test]
fn a_dry_run_writes_nowhere() {
    let shop = Shop::new();
    shop.branch("topic", &[("api.py", QUERY)]);
    let before = contents(&shop.dir());
    let ran = shop.run(&["review", "--dry-run"]);
    assert_eq!(ran.code, 20, "{}", ran.err);
    assert!(ran.out.contains("F1"), "{}", ran.out);
    assert!(contents(&shop.dir()) == before, "a dry run left something behind");
}
