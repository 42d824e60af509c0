//! `referee fix-comments`: answers are previewed, posted and resolved, each behind its gate and its evidence.

use serde_json::{Value, json};

use crate::answers::{
    GENEROUS, answer, conforms, document, document_of_schema, fix, fixed, item, open, own_thread, said, standing,
    steps, thread, triage,
};
use crate::test_repo::{TestRepo, read_files};

/// A pull with one thread of bob's that is triaged as that.
fn with_thread(repo: &TestRepo, class: &str) -> String {
    open(repo);
    let one = thread(repo, "bob", "a.py:3", "three may be missing");
    triage(repo, &[], &[item(&one, class)]);
    one
}

// spec: FIX-1, FIX-2, FIX-7, FIX-11 @local
#[test]
fn a_preview_is_the_default_and_each_flag_opens_only_its_gate() {
    let repo = TestRepo::new();
    let one = with_thread(&repo, "valid");
    let two = thread(&repo, "bob", "src/b.txt:1", "alpha?");
    let answers = [answer(&repo, &one, "valid", json!({}))];
    let schema = document_of_schema(&repo, "fix");
    jsonschema::validate(&schema, &json!({ "prNumber": 1, "threads": answers })).expect("it fits");
    let planned = [format!("reply {one} planned"), format!("resolve {one} planned")];

    let before = read_files(&repo.dir());
    for args in
        [&[][..], &["--dry-run"], &["--dry-run", "--apply"], &["--apply-replies", "--apply-resolutions", "--dry-run"]]
    {
        let ran = fix(&repo, &[args, &["--json"]].concat(), &answers);
        assert_eq!(ran.code, 10, "{args:?}: {}", ran.err);
        let turn = document(&ran);
        conforms(&repo, "turn", &turn);
        assert_eq!(steps(&turn), planned, "{args:?}");
        assert_eq!(turn["calls"]["writes"], 0);
    }
    let piped = json!({ "prNumber": 1, "threads": answers }).to_string();
    assert_eq!(repo.run_with_stdin(&["fix-comments", "--payload", "-"], piped).code, 10);
    assert!(read_files(&repo.dir()) == before, "a preview left something behind");

    // Ids must match the stored triage, unless that is not to be looked at; everything wrong is named at once.
    let other = [answer(&repo, &two, "valid", json!({}))];
    let refused = fixed(&repo, &[], &other);
    assert_eq!(steps(&refused), [""; 0]);
    assert!(refused["refused"].to_string().contains("the stored triage does not name it"), "{refused:#}");
    assert_eq!(steps(&fixed(&repo, &["--detached"], &other)).len(), 2);
    let wrong = [
        json!({ "threadId": one, "classification": "fine" }),
        json!({ "threadId": two, "verification": [{ "command": "x", "status": "green", "headSha": 7 }] }),
        json!({ "threadId": "t9", "classification": "valid", "commitReachable": true }),
    ];
    let refused = fix(&repo, &["--apply"], &wrong);
    assert_eq!(refused.code, 2);
    for word in ["/threads/0/classification", "/threads/1/verification/0/status", "commitReachable", &one, &two, "t9"] {
        assert!(refused.err.contains(word), "`{word}` is missing:\n{}", refused.err);
    }
    for status in ["passed", "failed", "skipped", "timed_out", "unknown"] {
        let line = json!([{ "command": "x", "status": status, "headSha": repo.head() }]);
        let turn = fixed(&repo, &[], &[answer(&repo, &one, "valid", json!({ "verification": line }))]);
        assert_eq!(steps(&turn).len(), if status == "passed" { 2 } else { 0 }, "{status}: {turn:#}");
    }

    // One gate at a time; then nothing else of the pull, of git or of the work tree has changed.
    let refs = || (repo.git(&["for-each-ref"]), repo.git(&["status", "--porcelain"]), repo.git(&["log", "--all"]));
    let (git, reviews) = (refs(), repo.read_snapshot("L1")["reviews"].clone());
    let ran = fix(&repo, &["--apply-replies", "--json"], &answers);
    assert_eq!(ran.code, 10, "the other gate is shut: {}", ran.err);
    assert_eq!(steps(&document(&ran)), [format!("reply {one} done"), format!("resolve {one} withheld")]);
    let replied = standing(&repo, &one);
    assert_eq!((replied["notes"].as_array().map(Vec::len), &replied["resolved"]), (Some(2), &json!(null)));
    let ran = fix(&repo, &["--apply-resolutions", "--json"], &answers);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(steps(&document(&ran)), [format!("resolve {one} done")]);
    assert_ne!(standing(&repo, &one)["resolved"], json!(null));
    assert_eq!(refs(), git);
    let now = repo.read_snapshot("L1");
    assert_eq!(now["reviews"], reviews, "nothing is approved or blocked");
    assert_eq!((&now["pull"]["state"], &now["pull"]["labels"]), (&json!("open"), &json!([])));

    // What the config shuts no flag opens, and what it opens is still not done unasked.
    let shut = repo.write_outside("shut.toml", "version = 1\n[gates]\nreply = \"off\"\nresolve = \"off\"\n");
    let wide = repo.write_outside("wide.toml", "version = 1\n[gates]\nreply = \"on\"\nresolve = \"on\"\n");
    let stood = standing(&repo, &two);
    for (config, args) in [(&shut, &["--apply"][..]), (&wide, &[])] {
        let ran = fix(&repo, &[args, &["--detached", "--config", config]].concat(), &other);
        assert_eq!(ran.code, 10, "{}", ran.err);
        assert_eq!(standing(&repo, &two), stood);
    }
}

// spec: FIX-7 @local
#[test]
fn too_many_resolutions_in_one_run_need_a_person() {
    let repo = TestRepo::with_config("version = 1\n[threads]\nmax_resolve = 2\n");
    open(&repo);
    let threads = ["a.py:1", "a.py:2", "a.py:3"].map(|place| thread(&repo, "bob", place, "?"));
    triage(&repo, &[], &threads.each_ref().map(|it| item(it, "valid")));
    let answers = threads.each_ref().map(|it| answer(&repo, it, "valid", json!({})));
    let ran = fix(&repo, &["--apply", "--json"], &answers);
    assert_eq!(ran.code, 12, "a person decides: {}", ran.err);
    let turn = document(&ran);
    assert_eq!(turn["next"]["kind"], "blocked");
    assert_eq!(steps(&turn), threads.each_ref().map(|it| format!("reply {it} done")), "replies go on");
    let open =
        repo.read_snapshot("L1")["threads"].as_array().expect("threads").iter().all(|it| it["resolved"].is_null());
    assert!(open, "the first two of three would be as wrong as all");
    // Two at a time are two decisions; classes beyond `valid` need the config's word.
    assert_eq!(fix(&repo, &["--apply"], &answers[..2]).code, 0);
    triage(&repo, &[], &[item(&threads[2], "already_fixed")]);
    let last = [answer(&repo, &threads[2], "already_fixed", json!({}))];
    let turn = fixed(&repo, &["--apply"], &last);
    assert!(turn["refused"].to_string().contains("`threads.auto_resolve`"), "{turn:#}");
    let generous = repo.write_outside("generous.toml", GENEROUS);
    assert_eq!(
        steps(&fixed(&repo, &["--apply", "--config", &generous], &last)),
        [format!("resolve {} done", threads[2])]
    );
}

// spec: FIX-3 @local
#[test]
fn nothing_is_sent_while_a_guard_blocks_every_answer_and_the_preview_names_it() {
    let repo = TestRepo::new();
    open(&repo);
    let one = thread(&repo, "bob", "a.py:3", "three may be missing");
    let two = thread(&repo, "bob", "a.py:4", "and four");
    let answers = [answer(&repo, &one, "valid", json!({}))];
    let stood = repo.read_snapshot("L1")["threads"].clone();
    let barred = |why: &str, code: i32, args: &[&str], answers: &[Value]| {
        for apply in [&[][..], &["--apply"]] {
            let ran = fix(&repo, &[args, apply, &["--json"]].concat(), answers);
            let wanted = if apply.is_empty() { 10 } else { code };
            assert_eq!(ran.code, wanted, "{why} {apply:?}: {}", ran.err);
            let turn = document(&ran);
            assert_eq!(steps(&turn), [""; 0], "{why}");
            assert!(turn["refused"][0]["why"].as_str().is_some_and(|it| it.contains(why)), "{why}: {turn:#}");
            assert!(
                turn["refused"].to_string().contains("the bound is checked first"),
                "the preview says what: {turn:#}"
            );
            assert_eq!(repo.read_snapshot("L1")["threads"], stood, "{why}");
        }
    };
    barred("no triage is stored", 10, &[], &answers);
    // Incomplete: a bound was hit while it was triaged.
    assert_eq!(triage(&repo, &["--max-threads", "1"], &[item(&one, "valid")]).code, 12);
    barred("the stored triage is incomplete", 12, &[], &answers);
    let both = [item(&one, "valid"), item(&two, "valid")];
    assert_eq!(triage(&repo, &[], &both).code, 0);
    let off = repo.write_outside("off.toml", "version = 1\n[threads]\nenabled = false\n");
    barred("`threads.enabled` is false", 10, &["--config", &off], &answers);
    barred("`threads.enabled` is false", 10, &["--config", &off, "--detached"], &answers);
    // A stored triage that failed, or that is of another pull, as another hand left it.
    for (change, why) in [
        ("json_set(value, '$.failed', json('true'))", "the stored triage failed"),
        ("json_set(value, '$.failed', json('false'), '$.prNumber', 2)", "the stored triage is of"),
    ] {
        let db = rusqlite::Connection::open(repo.dir().join(".git/referee/state.db")).expect("the store");
        db.execute(&format!("UPDATE memory SET value = {change} WHERE kind = 'triage'"), []).expect("a row");
        barred(why, 10, &[], &answers);
        let detached = fix(&repo, &["--detached"], &answers);
        assert_eq!(detached.code, 10, "{}", detached.err);
        assert!(detached.out.contains("plan     reply"), "{}", detached.out);
    }
    assert_eq!(triage(&repo, &[], &both).code, 0);
    // The payload is for another pull than the one that is named; asked before ids are matched.
    let path = repo.write_outside("other.json", json!({ "prNumber": 7, "threads": answers }).to_string());
    for args in [&["--apply"][..], &["--apply", "--detached"]] {
        let ran = repo.run(&[&["fix-comments", "--pr", "L1", "--payload", &path, "--json"], args].concat());
        assert_eq!(ran.code, 2, "{}", ran.err);
        let turn = document(&ran);
        assert!(turn["refused"][0]["why"].as_str().is_some_and(|it| it.starts_with("other_pull")), "{turn:#}");
    }
    let unknown = [answer(&repo, "t99", "valid", json!({}))];
    let turn = fixed(&repo, &["--config", &off], &unknown);
    assert!(turn["refused"][0]["why"].as_str().is_some_and(|it| it.starts_with("disabled")), "{turn:#}");
    assert_eq!(repo.read_snapshot("L1")["threads"], stood);
    assert_eq!(fix(&repo, &["--apply"], &answers).code, 0, "and with nothing in the way it is sent");
}

// spec: FIX-4 @local
#[test]
fn a_reply_uses_the_template_of_the_repository_and_never_claims_a_resolution_early() {
    let config = "version = 1\n[threads]\nreply_template = \".referee/reply.txt\"\n";
    let repo = TestRepo::with_config(config);
    repo.write(".referee/reply.txt", "Taken up at {{ path }}: {{ fix_summary }}\n");
    repo.commit("Our own words");
    open(&repo);
    let [one, two, three] = ["a.py:1", "a.py:2", "a.py:3"].map(|place| thread(&repo, "bob", place, "?"));
    triage(&repo, &[], &[&one, &two, &three].map(|it| item(it, "valid")));
    // Checks fail: replies are posted, nothing is resolved, and no reply claims a resolution.
    repo.run_expecting(1, &["check", "--", "false"]);
    let answers = [
        answer(&repo, &one, "valid", json!({})),
        answer(&repo, &two, "valid", json!({ "replyBody": "Bob, the lock is taken first now" })),
        answer(&repo, &three, "valid", json!({ "replyBody": "This is resolved now", "commitSha": null })),
    ];
    let turn = fixed(&repo, &["--apply"], &answers);
    assert_eq!(steps(&turn), [&one, &two, &three].map(|it| format!("reply {it} done")), "{turn:#}");
    assert!(turn["refused"].to_string().contains("`referee check` failed"), "{turn:#}");
    assert!(turn["refused"].to_string().contains("replyBody says that the thread is resolved"), "{turn:#}");
    let [a, b, c] = [&one, &two, &three].map(|it| standing(&repo, it));
    assert!(said(&a, 1).starts_with("Taken up at a.py: the bound is checked first"), "{}", said(&a, 1));
    assert!(said(&b, 1).starts_with("Bob, the lock is taken first now"), "{}", said(&b, 1));
    assert!(said(&c, 1).starts_with("Taken up at a.py"), "{}", said(&c, 1));
    for thread in [&a, &b, &c] {
        assert!(thread["resolved"].is_null() && !said(thread, 1).to_lowercase().contains("resolved"), "{thread:#}");
    }
    // Checks pass: the threads are resolved and count as resolved.
    repo.run_expecting(0, &["check", "--", "true"]);
    let turn = fixed(&repo, &["--apply"], &answers[..2]);
    assert_eq!(steps(&turn), [&one, &two].map(|it| format!("resolve {it} done")), "{turn:#}");
    let scan = repo.json(&["comments", "--all"]);
    let resolved: Vec<&Value> =
        scan["threads"].as_array().expect("threads").iter().map(|it| &it["isResolved"]).collect();
    assert_eq!(resolved, [true, true, false]);
    assert_eq!(scan["outcomes"].as_array().and_then(|all| all.last()).expect("an outcome")["resolve"], "done");
    // A template that claims too much, or that breaks, gives way to the built-in words, and that is said.
    let four = thread(&repo, "bob", "a.py:4", "?");
    for text in ["Resolved!", "{{ nonsense", "{{ unknown }}"] {
        repo.git(&["switch", "--quiet", "main"]);
        repo.write(".referee/reply.txt", text);
        repo.commit("Other words");
        repo.git(&["switch", "--quiet", "topic"]);
        let turn = fixed(&repo, &["--detached"], &[answer(&repo, &four, "valid", json!({}))]);
        assert!(turn["refused"].to_string().contains("the built-in reply is used"), "{text}: {turn:#}");
    }
    let turn = fix(&repo, &["--detached", "--apply"], &[answer(&repo, &four, "valid", json!({}))]);
    assert_eq!(turn.code, 0, "{}", turn.err);
    assert!(said(&standing(&repo, &four), 1).contains("the bound is checked first"));
}

// spec: FIX-8 @local
#[test]
fn repeated_answers_are_sent_once_even_without_the_store() {
    let repo = TestRepo::new();
    let one = with_thread(&repo, "valid");
    let answers = [answer(&repo, &one, "valid", json!({ "commitSha": null }))];
    let notes = || standing(&repo, &one)["notes"].as_array().map_or(0, Vec::len);
    let apply = |args: &[&str], answers: &[Value]| {
        let ran = fix(&repo, &[&["--apply", "--json"], args].concat(), answers);
        assert_eq!(ran.code, 0, "{}", ran.err);
        steps(&document(&ran))
    };
    assert_eq!(apply(&[], &answers), [format!("reply {one} done")]);
    assert_eq!(apply(&[], &answers), [""; 0]);
    let lose = || {
        for name in ["state.db", "state.db-wal", "state.db-shm"] {
            let _ = std::fs::remove_file(repo.dir().join(".git/referee").join(name));
        }
    };
    lose();
    assert_eq!(apply(&["--detached"], &answers), [""; 0], "the Tag says that it was answered");
    assert_eq!(notes(), 2);
    // Somebody writes: the latest comment is another one, and has no answer yet.
    repo.run_expecting(0, &["local", "reply", "L1", &one, "are you sure?", "--as", "bob"]);
    assert_eq!(apply(&["--detached"], &answers), [format!("reply {one} done")]);
    assert_eq!(apply(&["--detached"], &answers), [""; 0]);
    assert_eq!(notes(), 4);
    // Resolved, by whomever: nothing is left to do, and that is success.
    let whole = [answer(&repo, &one, "valid", json!({}))];
    assert_eq!(apply(&["--detached"], &whole), [format!("resolve {one} done")]);
    assert_eq!(apply(&["--detached"], &whole), [""; 0]);
    lose();
    assert_eq!(apply(&["--detached"], &whole), [""; 0]);
    // Reopened, it is open again: resolved anew, and not answered anew.
    repo.run_expecting(0, &["local", "reopen", "L1", &one, "--as", "bob"]);
    assert_eq!(apply(&["--detached"], &whole), [format!("resolve {one} done")]);
    assert_eq!(notes(), 4);
}

// spec: FIX-9, FIX-10 @local
#[test]
fn outcomes_are_stored_without_texts_and_a_failure_blocks_without_quoting_them() {
    let repo = TestRepo::new();
    let one = with_thread(&repo, "valid");
    let words = "confidential words of a reply";
    let answers = [answer(&repo, &one, "valid", json!({ "replyBody": words }))];
    repo.run_expecting(0, &["check", "--", "true"]);
    let stored = || repo.json(&["explain", "L1"])["phase"].clone();
    // A preview verifies nothing, and is no outcome.
    assert_eq!(fixed(&repo, &[], &answers)["phase"], "fixing_review_findings");
    assert_eq!((stored(), &repo.json(&["comments"])["outcomes"]), (json!("fixing_review_findings"), &json!([])));

    // The forge cannot write: the run fails, the pull is blocked by that, and no error repeats the words.
    let forge = rusqlite::Connection::open(repo.dir().join(".git/referee/referee.db")).expect("the forge");
    let trigger = "CREATE TRIGGER full BEFORE INSERT ON notes BEGIN SELECT RAISE(ABORT, 'no room left'); END;";
    forge.execute_batch(trigger).expect("a trigger");
    let ran = fix(&repo, &["--apply", "--json"], &answers);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let turn = document(&ran);
    assert_eq!((&turn["phase"], &stored()), (&json!("blocked"), &json!("blocked")), "{turn:#}");
    assert!(turn["steps"][0]["note"].as_str().is_some_and(|note| note.contains("no room left")), "{turn:#}");
    assert_eq!(steps(&turn), [format!("reply {one} failed"), format!("resolve {one} planned")]);
    assert!(standing(&repo, &one)["resolved"].is_null(), "it is not resolved without a word");
    let plain = fix(&repo, &["--apply"], &answers);
    assert!(plain.out.contains("no room left"), "the reason is told: {}", plain.out);
    for text in [&ran.out, &ran.err, &plain.out, &plain.err] {
        assert!(!text.contains(words), "{text}");
    }
    let failed = repo.json(&["comments"])["outcomes"].clone();
    assert_eq!(failed[0]["reply"], "failed", "{failed:#}");
    forge.execute_batch("DROP TRIGGER full;").expect("no trigger");

    // Success with checks and nothing in the way: towards verified.
    let latest = standing(&repo, &one)["notes"][0]["id"].clone();
    let turn = fixed(&repo, &["--apply"], &answers);
    assert_eq!((&turn["phase"], &stored()), (&json!("verified"), &json!("verified")), "{turn:#}");
    let scan = repo.json(&["comments", "--all"]);
    conforms(&repo, "comments", &scan);
    let last = scan["outcomes"].as_array().and_then(|all| all.last()).expect("an outcome");
    assert_eq!(last["answers"], latest, "the comment that was answered");
    assert_eq!([&last["thread"], &last["reply"], &last["resolve"]], [&json!(one), &json!("done"), &json!("done")]);
    assert!(!scan["outcomes"].to_string().contains(words));
    // Bounded, the newest kept: however many there were before.
    let db = rusqlite::Connection::open(repo.dir().join(".git/referee/state.db")).expect("the store");
    let mut many = vec![last.clone(); 500];
    many.iter_mut().for_each(|it| it["thread"] = json!("old"));
    db.execute("UPDATE memory SET value = ?1 WHERE kind = 'outcomes'", [json!(many).to_string()]).expect("a row");
    assert_eq!(fix(&repo, &["--apply"], &answers).code, 0);
    let kept = repo.json(&["comments"])["outcomes"].clone();
    assert_eq!(kept.as_array().map(Vec::len), Some(200));
    assert_eq!((&kept[198]["thread"], &kept[199]["thread"]), (&json!("old"), &json!(one)));
}

// spec: FIX-13 @local
#[test]
fn a_persons_thread_gets_a_reply_and_stays_open() {
    let repo = TestRepo::with_config(GENEROUS);
    open(&repo);
    let ours = own_thread(&repo, "src/b.txt", 2, "beta is spelled wrong");
    let bobs = thread(&repo, "bob", "a.py:3", "three may be missing");
    triage(&repo, &[], &[item(&ours, "invalid"), item(&bobs, "invalid")]);
    repo.run_expecting(0, &["check", "--", "true"]);
    let answers = [&ours, &bobs].map(|it| answer(&repo, it, "invalid", json!({})));
    let turn = fixed(&repo, &["--apply"], &answers);
    assert!(turn["refused"].to_string().contains("a person opened it"), "{turn:#}");
    assert_eq!(standing(&repo, &bobs)["notes"].as_array().map(Vec::len), Some(2), "it is replied to");
    assert!(standing(&repo, &bobs)["resolved"].is_null(), "and left open");
    assert!(!standing(&repo, &ours)["resolved"].is_null(), "ours may be: {turn:#}");
    // A guess about what a person wrote is a question for a person, whatever the answer is sure of.
    let mut guess = item(&bobs, "valid");
    guess["confidence"] = json!("low");
    let scan = document(&triage(&repo, &["--json"], std::slice::from_ref(&guess)));
    assert_eq!((&scan["phase"], &scan["questions"][0]["thread"]), (&json!("blocked"), &json!(bobs)));
    repo.run_expecting(0, &["local", "reply", "L1", &bobs, "well?", "--as", "bob"]);
    triage(&repo, &[], &[guess]);
    let sure = [answer(&repo, &bobs, "valid", json!({}))];
    let ran = fix(&repo, &["--apply", "--json"], &sure);
    assert_eq!(ran.code, 12, "{}", ran.err);
    assert!(standing(&repo, &bobs)["resolved"].is_null());
}
