//! The evidence that an answer needs before it is posted, and before its thread is resolved.

use serde_json::{Value, json};

use crate::answers::{GENEROUS, answer, document, fix, fixed, item, open, own_thread, standing, steps, thread, triage};
use crate::test_repo::TestRepo;

/// What a preview would do: `reply`, `resolve`, both or nothing.
fn would(repo: &TestRepo, args: &[&str], answer: &Value) -> String {
    let turn = fixed(repo, args, std::slice::from_ref(answer));
    let steps = steps(&turn);
    let verbs: Vec<&str> = steps.iter().filter_map(|step| step.split(' ').next()).collect();
    verbs.join(" ")
}

// spec: FIX-5 @local
#[test]
fn each_class_requires_its_own_evidence() {
    let repo = TestRepo::new();
    let before = repo.head();
    open(&repo);
    let one = own_thread(&repo, "src/b.txt", 2, "beta is spelled wrong");
    let strict = repo.write_outside("strict.toml", "version = 1\n");
    let generous = repo.write_outside("generous.toml", GENEROUS);
    repo.git(&["branch", "elsewhere", &before]);
    repo.git(&["switch", "--quiet", "elsewhere"]);
    let elsewhere = repo.commit("On no pull");
    repo.git(&["switch", "--quiet", "topic"]);
    let failed = json!([{ "command": "make", "status": "failed", "headSha": repo.head() }]);
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
        let answer = answer(&repo, &one, class, fields);
        assert_eq!(would(&repo, &["--detached", "--config", &strict], &answer), by_default, "by default: {answer:#}");
        assert_eq!(would(&repo, &["--detached", "--config", &generous], &answer), at_most, "at most: {answer:#}");
    }
    // D26: a stored need for a person blocks resolution whatever the payload and the flags say.
    let mut asks = item(&one, "valid");
    asks["requiresHumanDecision"] = json!(true);
    assert_eq!(triage(&repo, &[], &[asks]).code, 12);
    let sure = answer(&repo, &one, "valid", json!({}));
    for args in [&["--config", &generous][..], &["--config", &generous, "--detached"]] {
        assert_eq!(would(&repo, args, &sure), "reply");
        let ran = fix(&repo, &[args, &["--apply-resolutions"]].concat(), std::slice::from_ref(&sure));
        assert_eq!(ran.code, 12, "{}", ran.err);
        assert!(standing(&repo, &one)["resolved"].is_null());
    }
    // Outdated: the forge's word replaces the textual evidence, and nothing else.
    let old = thread(&repo, "bob", "a.py:3", "three?");
    repo.write("a.py", "one = 1\ntwo = 2\ndrei = 3\nfour = 4\n");
    repo.commit("Another name");
    for (fields, wanted) in [
        (json!({ "evidence": null }), "resolve"),
        (json!({ "evidence": null, "verification": null }), ""),
        (json!({}), "reply resolve"),
    ] {
        let answer = answer(&repo, &old, "stale", fields);
        assert_eq!(would(&repo, &["--detached", "--config", &generous], &answer), wanted, "{answer:#}");
        assert!(!would(&repo, &["--detached", "--config", &strict], &answer).contains("resolve"));
    }
}

// spec: FIX-6 @local
#[test]
fn a_resolution_needs_checks_that_passed_at_the_head() {
    let repo =
        TestRepo::with_config("version = 1\n[checks]\nfirst = [\"true\"]\nsecond = [\"test\", \"-e\", \"a.py\"]\n");
    open(&repo);
    let one = thread(&repo, "bob", "src/b.txt:1", "alpha?");
    triage(&repo, &[], &[item(&one, "valid")]);
    let sure = || answer(&repo, &one, "valid", json!({}));
    let line = |status: &str| json!([{ "command": "make", "status": status, "headSha": repo.head() }]);

    // No check state: the payload's own lines at the head are the evidence, each of them passed.
    assert_eq!(would(&repo, &[], &sure()), "reply resolve");
    for status in ["failed", "skipped", "timed_out", "unknown"] {
        let mut lines = line("passed");
        lines.as_array_mut().expect("lines").extend(line(status).as_array().cloned().expect("lines"));
        assert_eq!(
            would(&repo, &[], &answer(&repo, &one, "valid", json!({ "verification": lines }))),
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
        repo.run_expecting(code, &[&["check"], argv].concat());
        assert_eq!(would(&repo, &[], &sure()), if code == 0 { "reply resolve" } else { "reply" }, "{argv:?}");
    }
    let list = repo.run_expecting(0, &["check", "--list"]);
    assert!(list.out.contains("first") && list.out.contains("test -e a.py"), "{}", list.out);
    // The lines of the answer are needed beside the state, at this head.
    let older = json!([{ "command": "make", "status": "passed", "headSha": repo.git(&["rev-parse", "main"]) }]);
    assert_eq!(would(&repo, &[], &answer(&repo, &one, "valid", json!({ "verification": older }))), "reply");

    // A work tree that differs from the head proves nothing of the head: the state stays what it was.
    repo.run_expecting(1, &["check", "--", "false"]);
    repo.write("a.py", "other\n");
    let dirty = document(&repo.run_expecting(0, &["check", "--json", "--", "true"]));
    assert_eq!((&dirty["outcome"], &dirty["stored"]), (&json!("passed"), &json!(null)));
    assert_eq!(would(&repo, &[], &sure()), "reply");
    repo.git(&["checkout", "--quiet", "a.py"]);
    repo.run_expecting(0, &["check"]);
    assert_eq!(would(&repo, &[], &sure()), "reply resolve");
    // A moved head: what passed before it proves nothing.
    repo.write("a.py", "one = 1\n");
    repo.commit("Less");
    assert_eq!(would(&repo, &[], &sure()), "reply");
    let none = repo.write_outside("none.toml", "version = 1\n[threads]\nrequire_checks = false\n");
    assert_eq!(would(&repo, &["--config", &none], &sure()), "reply resolve", "unless none are required");
    repo.run_expecting(0, &["check"]);
    assert_eq!(would(&repo, &[], &sure()), "reply resolve");

    // No CI at all passes only where the policy does not require it (D15); there is none to watch here.
    let watched = repo.json(&["watch", "L1", "--once"]);
    assert_eq!(watched["state"], "none");
    let required = repo.write_outside("required.toml", "version = 1\n[review]\nci = \"required\"\n");
    let turn = fixed(&repo, &["--config", &required], &[sure()]);
    assert_eq!(steps(&turn), [format!("reply {one} planned")]);
    assert!(turn["refused"].to_string().contains("no checks, and the policy requires them"), "{turn:#}");
}
