//! What an answer must bring before it is sent, and before its thread is resolved.

use serde_json::{Value, json};

use crate::answers::{GENEROUS, answer, document, fix, fixed, item, open, own_thread, standing, steps, thread, triage};
use crate::shop::Shop;

/// What a preview would do: `reply`, `resolve`, both or nothing.
fn would(shop: &Shop, args: &[&str], answer: &Value) -> String {
    let turn = fixed(shop, args, std::slice::from_ref(answer));
    let steps = steps(&turn);
    let verbs: Vec<&str> = steps.iter().filter_map(|step| step.split(' ').next()).collect();
    verbs.join(" ")
}

// spec: FIX-5 @local
#[test]
fn each_class_needs_its_own_proof() {
    let shop = Shop::new();
    let before = shop.head();
    open(&shop);
    let one = own_thread(&shop, "src/b.txt", 2, "beta is spelled wrong");
    let strict = shop.file("strict.toml", "version = 1\n");
    let generous = shop.file("generous.toml", GENEROUS);
    shop.git(&["branch", "elsewhere", &before]);
    shop.git(&["switch", "--quiet", "elsewhere"]);
    let elsewhere = shop.commit("On no pull");
    shop.git(&["switch", "--quiet", "topic"]);
    let failed = json!([{ "command": "make", "status": "failed", "headSha": shop.head() }]);
    let older = json!([{ "command": "make", "status": "passed", "headSha": before }]);
    let unproven = json!({ "evidence": null, "fixSummary": null });
    for (class, fields, by_default, at_most) in [
        ("valid", json!({}), "reply resolve", "reply resolve"),
        ("valid", json!({ "fixSummary": null }), "resolve", "resolve"),
        ("valid", json!({ "fixSummary": "  " }), "resolve", "resolve"),
        ("valid", json!({ "verification": null }), "", ""),
        ("valid", json!({ "verification": failed }), "", ""),
        ("valid", json!({ "verification": older }), "reply", "reply"),
        ("valid", json!({ "commitSha": null }), "reply", "reply"),
        ("valid", json!({ "commitSha": elsewhere }), "reply", "reply"),
        ("valid", json!({ "commitSha": "0".repeat(40) }), "reply", "reply"),
        ("already_fixed", json!({}), "reply", "reply resolve"),
        ("already_fixed", json!({ "evidence": null }), "", ""),
        ("already_fixed", json!({ "verification": null }), "", ""),
        ("already_fixed", json!({ "verification": older }), "reply", "reply"),
        ("stale", json!({}), "reply", "reply resolve"),
        ("stale", json!({ "evidence": null }), "", ""),
        ("stale", json!({ "verification": null }), "", ""),
        ("invalid", json!({ "verification": null }), "reply", "reply"),
        ("invalid", json!({}), "reply", "reply resolve"),
        ("invalid", unproven.clone(), "", ""),
        ("invalid", json!({ "evidence": null, "replyBody": "beta is a name" }), "reply", "reply resolve"),
        ("needs_human", json!({}), "", "reply"),
        ("needs_human", unproven, "", ""),
    ] {
        let answer = answer(&shop, &one, class, fields);
        assert_eq!(would(&shop, &["--detached", "--config", &strict], &answer), by_default, "by default: {answer:#}");
        assert_eq!(would(&shop, &["--detached", "--config", &generous], &answer), at_most, "at most: {answer:#}");
    }
    // D26: a stored need for a person blocks resolution whatever the payload and the flags say.
    let mut asks = item(&one, "valid");
    asks["requiresHumanDecision"] = json!(true);
    assert_eq!(triage(&shop, &[], &[asks]).code, 12);
    let sure = answer(&shop, &one, "valid", json!({}));
    for args in [&["--config", &generous][..], &["--config", &generous, "--detached"]] {
        assert_eq!(would(&shop, args, &sure), "reply");
        let ran = fix(&shop, &[args, &["--apply-resolutions"]].concat(), std::slice::from_ref(&sure));
        assert_eq!(ran.code, 12, "{}", ran.err);
        assert!(standing(&shop, &one)["resolved"].is_null());
    }
    // Outdated: the forge's word replaces the textual evidence, and nothing else.
    let old = thread(&shop, "bob", "a.py:3", "three?");
    shop.write("a.py", "one = 1\ntwo = 2\ndrei = 3\nfour = 4\n");
    shop.commit("Another name");
    for (fields, wanted) in [
        (json!({ "evidence": null }), "resolve"),
        (json!({ "evidence": null, "verification": null }), ""),
        (json!({}), "reply resolve"),
    ] {
        let answer = answer(&shop, &old, "stale", fields);
        assert_eq!(would(&shop, &["--detached", "--config", &generous], &answer), wanted, "{answer:#}");
        assert!(!would(&shop, &["--detached", "--config", &strict], &answer).contains("resolve"));
    }
}

// spec: FIX-6 @local
#[test]
fn a_resolution_needs_checks_that_passed_at_the_head() {
    let shop = Shop::with_config("version = 1\n[checks]\nfirst = [\"true\"]\nsecond = [\"test\", \"-e\", \"a.py\"]\n");
    open(&shop);
    let one = thread(&shop, "bob", "src/b.txt:1", "alpha?");
    triage(&shop, &[], &[item(&one, "valid")]);
    let sure = || answer(&shop, &one, "valid", json!({}));
    let line = |status: &str| json!([{ "command": "make", "status": status, "headSha": shop.head() }]);

    // No check state: the payload's own lines at the head are the evidence, each of them passed.
    assert_eq!(would(&shop, &[], &sure()), "reply resolve");
    for status in ["failed", "skipped", "timed_out", "unknown"] {
        let mut lines = line("passed");
        lines.as_array_mut().expect("lines").extend(line(status).as_array().cloned().expect("lines"));
        assert_eq!(
            would(&shop, &[], &answer(&shop, &one, "valid", json!({ "verification": lines }))),
            "reply",
            "{status}"
        );
    }
    // A check state: that one counts, whatever the payload says.
    for (argv, code) in [
        (&["--", "false"][..], 1),
        (&["--timeout", "0", "--", "sleep", "60"], 1),
        (&["--", "./no-such-program"], 1),
        (&["--", "true"], 0),
        (&[], 0),
    ] {
        shop.ends(code, &[&["check"], argv].concat());
        assert_eq!(would(&shop, &[], &sure()), if code == 0 { "reply resolve" } else { "reply" }, "{argv:?}");
    }
    let list = shop.ends(0, &["check", "--list"]);
    assert!(list.out.contains("first") && list.out.contains("test -e a.py"), "{}", list.out);
    // The lines of the answer are needed beside the state, at this head.
    let older = json!([{ "command": "make", "status": "passed", "headSha": shop.git(&["rev-parse", "main"]) }]);
    assert_eq!(would(&shop, &[], &answer(&shop, &one, "valid", json!({ "verification": older }))), "reply");

    // A work tree that differs from the head proves nothing of the head: the state stays what it was.
    shop.ends(1, &["check", "--", "false"]);
    shop.write("a.py", "other\n");
    let dirty = document(&shop.ends(0, &["check", "--json", "--", "true"]));
    assert_eq!((&dirty["outcome"], &dirty["stored"]), (&json!("passed"), &json!(null)));
    assert_eq!(would(&shop, &[], &sure()), "reply");
    shop.git(&["checkout", "--quiet", "a.py"]);
    shop.ends(0, &["check"]);
    assert_eq!(would(&shop, &[], &sure()), "reply resolve");
    // A moved head: what passed before it proves nothing.
    shop.write("a.py", "one = 1\n");
    shop.commit("Less");
    assert_eq!(would(&shop, &[], &sure()), "reply");
    let none = shop.file("none.toml", "version = 1\n[threads]\nrequire_checks = false\n");
    assert_eq!(would(&shop, &["--config", &none], &sure()), "reply resolve", "unless none are required");
    shop.ends(0, &["check"]);
    assert_eq!(would(&shop, &[], &sure()), "reply resolve");

    // No CI at all passes only where the policy does not require it (D15); there is none to watch here.
    let watched = shop.json(&["watch", "L1", "--once"]);
    assert_eq!(watched["state"], "none");
    let required = shop.file("required.toml", "version = 1\n[review]\nci = \"required\"\n");
    let turn = fixed(&shop, &["--config", &required], &[sure()]);
    assert_eq!(steps(&turn), [format!("reply {one} planned")]);
    assert!(turn["refused"].to_string().contains("no checks, and the policy requires them"), "{turn:#}");
}
