//! `comments` and `fix-comments`, with the threads of people and of other bots.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use referee_core::model::ThreadId;
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::on_each_server;
use crate::pull_view::string;
use crate::site::RunOutput;
use crate::test_pull::{TestPull, finding, lines};

on_each_server! {
    threads_are_listed_and_nothing_is_written
    a_triage_is_accepted_completely_or_not_at_all
    answers_are_previewed_then_sent_each_behind_its_gate
    repeated_answers_are_sent_once
    each_class_requires_its_own_evidence
    failed_checks_block_a_resolution_and_a_checkout_identifies_the_pull
}

/// Everything that a config may allow, so that only the rule under test says no.
const GENEROUS: &str = "[threads]\nauto_resolve = [\"already_fixed\", \"stale\"]\nresolve_invalid = true\n\
                        reply_needs_human = true\n";

fn listed(test_pull: &TestPull, args: &[&str]) -> Vec<String> {
    let scan = test_pull.site.json("comments", test_pull.pull, args);
    let threads = scan["threads"].as_array().unwrap_or_else(|| panic!("{scan:#}"));
    threads.iter().map(|thread| string(&thread["threadId"])).collect()
}

/// What a triage says of a thread.
fn item(thread: &str, class: &str) -> Value {
    json!({
        "threadId": thread, "classification": class, "confidence": "high", "reason": "the code says so",
        "recommendedAction": "look at it", "filesToInspect": [], "filesToChange": [], "checksToRun": [],
        "canResolveAfterChecks": false, "requiresHumanDecision": class == "needs_human",
    })
}

fn triage(test_pull: &TestPull, args: &[&str], items: &[Value]) -> RunOutput {
    let file = payload(test_pull, "triage", items);
    test_pull.site.on("comments", test_pull.pull, &[&["--triage-payload", &file], args].concat())
}

/// An answer with everything that one may say, as far as `fields` does not say otherwise; a `null` leaves a field out.
fn answer(test_pull: &TestPull, thread: &str, class: &str, fields: &Value) -> Value {
    let head = test_pull.as_("alice").head();
    let mut answer = json!({
        "threadId": thread, "classification": class, "fixSummary": "the bound is checked first",
        "evidence": "line 3 checks it", "commitSha": head,
        "verification": [{ "command": "make test", "status": "passed", "headSha": head }],
    });
    for (key, value) in fields.as_object().expect("an object") {
        answer[key] = value.clone();
    }
    answer.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
    answer
}

fn fix(test_pull: &TestPull, args: &[&str], answers: &[Value]) -> RunOutput {
    let file = payload(test_pull, "fix", answers);
    test_pull.site.proxy.forget();
    test_pull.site.on("fix-comments", test_pull.pull, &[&["--payload", &file], args].concat())
}

fn fixed(test_pull: &TestPull, args: &[&str], answers: &[Value]) -> Value {
    document(&fix(test_pull, &[args, &["--json"]].concat(), answers))
}

fn payload(test_pull: &TestPull, name: &str, items: &[Value]) -> String {
    let path = test_pull.site.path(&format!("{name}.json"));
    std::fs::write(&path, json!({ "prNumber": test_pull.pull.0, "threads": items }).to_string()).expect("a file");
    path.display().to_string()
}

fn document(ran: &RunOutput) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", ran.out, ran.err))
}

/// The steps of a turn: what, on which thread, with which end.
fn steps(turn: &Value) -> Vec<String> {
    let steps = turn["steps"].as_array().expect("steps").iter();
    steps.map(|step| [&step["action"], &step["target"], &step["receipt"]].map(string).join(" ")).collect()
}

/// A thread of referee itself.
fn own_thread(test_pull: &TestPull) -> String {
    test_pull.report("alpha", json!({ "findings": [finding("warning", "Name is short", 20)] }));
    test_pull.talk().notes("referee")[0]["id"].to_string()
}

// spec: TRI-1, TRI-4, TRI-9, TRI-10 @gitea @forgejo
fn threads_are_listed_and_nothing_is_written(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let ruths = test_pull.as_("ruth").open_thread("a.txt", 1, "why one?");
    let bots = test_pull.as_("sec").open_thread("a.txt", 5, "five is unsafe").to_string();
    let settled = test_pull.as_("ruth").open_thread("a.txt", 9, "nine?");
    test_pull.as_("ruth").resolve(&settled);
    test_pull.as_("ruth").open_thread("a.txt", 12, "twelve?");
    test_pull.as_("alice").reply(&ruths, "why not?");
    // Words on the pull itself are no thread.
    test_pull.as_("ruth").comment("what is this for?");
    test_pull.push(&[12]);
    let ours = own_thread(&test_pull);
    let (ruths, settled) = (ruths.to_string(), settled.to_string());
    test_pull.site.proxy.forget();
    assert_eq!(listed(&test_pull, &[]), [&ruths, &bots, &ours].map(String::clone));
    assert_eq!(listed(&test_pull, &["--all"]), [&ruths, &bots, &settled, &ours].map(String::clone));
    assert_eq!(listed(&test_pull, &["--include-outdated"]).len(), 4);
    assert_eq!(listed(&test_pull, &["--author", "RUTH", "--author", "sec[bot]"]), [&ruths, &bots].map(String::clone));
    assert_eq!(listed(&test_pull, &["--path", "src"]), [""; 0]);
    assert_eq!(listed(&test_pull, &["--path", "*.txt"]).len(), 3);
    assert_eq!(test_pull.site.on("comments", test_pull.pull, &["--all", "--unresolved"]).code, 2);
    let scan = test_pull.site.json("comments", test_pull.pull, &[]);
    assert_eq!((&scan["schema"], &scan["phase"]), (&json!("referee/comments-1"), &json!("review_triage")));
    let thread = &scan["threads"][0];
    let source = if build == ServerBuild::Forgejo10 { "forgejo-rest" } else { "gitea-rest" };
    assert_eq!((&thread["source"], &thread["author"]), (&json!(source), &json!("ruth")));
    assert_eq!((&thread["path"], &thread["line"], &thread["isResolved"]), (&json!("a.txt"), &json!(1), &json!(false)));
    assert_eq!((&thread["canReply"], &thread["canResolve"]), (&json!(true), &json!(build != ServerBuild::Forgejo10)));
    assert_eq!(
        (&thread["latestComment"]["body"], &thread["latestComment"]["author"]),
        (&json!("why not?"), &json!("alice"))
    );
    assert_eq!(thread["firstComment"]["databaseId"].to_string(), ruths);
    assert_eq!(thread["firstComment"]["viewerCanUpdate"], false, "another's words are not ours to edit");
    assert!(thread["url"].as_str().is_some_and(|url| url.contains("/pulls/")), "{thread:#}");
    let words = [(); 2].map(|()| test_pull.site.on("comments", test_pull.pull, &[]).out);
    assert_eq!(words[0], words[1]);
    assert_eq!(test_pull.site.proxy.write_count(), 0, "{:#?}", test_pull.site.proxy.log());
}

// spec: TRI-3, TRI-5, TRI-6, TRI-7, TRI-8, TRI-11 @gitea @forgejo
fn a_triage_is_accepted_completely_or_not_at_all(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "[loop]\noperator = \"owner\"");
    let [one, two] = [3, 9].map(|line| test_pull.as_("ruth").open_thread("a.txt", line, "is that right?").to_string());
    let stands = test_pull.talk();
    let right = [item(&one, "valid"), item(&two, "needs_human")];
    let with = |key: &str, value: Value| {
        let mut items = right.clone();
        items[0][key] = value;
        items.to_vec()
    };
    for (items, named) in [
        (with("classification", json!("wrong")), "/threads/0/classification"),
        (with("replyBody", json!("Fixed in 9c1f2ab")), "/threads/0/replyBody"),
        (vec![right[0].clone()], "missing"),
        (vec![right[0].clone(), right[0].clone()], "twice"),
        ([&right[..], &[item("999999", "valid")]].concat(), "999999"),
    ] {
        let refused = triage(&test_pull, &[], &items);
        assert!(refused.code == 2 && refused.err.contains(named), "{named}: {}", refused.err);
    }
    assert_eq!(test_pull.site.json("comments", test_pull.pull, &[])["triage"], json!(null));
    let dry = document(&triage(&test_pull, &["--dry-run", "--json"], &right));
    assert_eq!((&dry["phase"], &test_pull.explain()["phase"]), (&json!("blocked"), &json!("review_triage")));
    let taken = triage(&test_pull, &[], &with("replyBody", json!("We take the lock first.")));
    assert_eq!(taken.code, 12, "{}", taken.err);
    assert!(taken.out.contains(&format!("owner decides on `{two}`")), "{}", taken.out);
    let scan = test_pull.site.json("comments", test_pull.pull, &[]);
    assert_eq!((&scan["phase"], &test_pull.explain()["phase"]), (&json!("blocked"), &json!("blocked")), "{scan:#}");
    assert_eq!(scan["triage"]["threads"][0]["latestNote"], scan["threads"][0]["latestComment"]["id"]);
    assert!(!scan.to_string().contains("take the lock"), "a draft is not kept");
    assert_eq!(triage(&test_pull, &[], &[item(&one, "valid"), item(&two, "invalid")]).code, 0);
    assert_eq!(test_pull.explain()["phase"], "fixing_review_findings");
    // A bound that is hit is never an empty list.
    let cut = test_pull.site.on("comments", test_pull.pull, &["--max-threads", "1", "--json"]);
    assert_eq!((cut.code, &document(&cut)["complete"]), (12, &json!(false)), "{}", cut.out);
    assert_eq!(test_pull.talk(), stands, "nothing of all that is on the pull");
}

// spec: FIX-1, FIX-2, FIX-3, FIX-4, FIX-7, FIX-10, FIX-11, FIX-12 @gitea @forgejo
fn answers_are_previewed_then_sent_each_behind_its_gate(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let one = test_pull.as_("ruth").open_thread("a.txt", 3, "three may be missing").to_string();
    let ours = own_thread(&test_pull);
    let answers = [&one, &ours].map(|thread| answer(&test_pull, thread, "valid", &json!({})));
    let barred = fixed(&test_pull, &["--apply"], &answers);
    assert!(barred["refused"].to_string().contains("no triage is stored"), "{barred:#}");
    assert_eq!(triage(&test_pull, &[], &[item(&one, "valid"), item(&ours, "valid")]).code, 0);
    let stands = test_pull.talk();
    for args in [&[][..], &["--dry-run", "--apply"]] {
        let ran = fix(&test_pull, &[args, &["--json"]].concat(), &answers);
        assert_eq!(ran.code, 10, "{args:?}: {}", ran.err);
        let planned = steps(&document(&ran));
        assert!(
            planned.contains(&format!("reply {one} planned")) && planned.contains(&format!("resolve {ours} planned")),
            "{planned:?}"
        );
        assert_eq!(test_pull.site.proxy.write_count(), 0);
    }
    let later = test_pull.as_("sec").open_thread("a.txt", 30, "thirty?").to_string();
    let refused = fixed(&test_pull, &[], &[answer(&test_pull, &later, "valid", &json!({}))]);
    assert!(refused["refused"].to_string().contains("the stored triage does not name it"), "{refused:#}");
    assert_eq!(fix(&test_pull, &["--apply"], &[json!({ "threadId": one, "classification": "fine" })]).code, 2);
    assert_eq!(test_pull.talk().notes("referee"), stands.notes("referee"), "a preview leaves nothing behind");

    let turn = fixed(&test_pull, &["--apply-replies"], &answers);
    assert!(steps(&turn).contains(&format!("reply {one} done")), "{turn:#}");
    let replied = test_pull.talk();
    replied.assert_keeps(&stands);
    assert_eq!(replied.notes("referee").len(), 3, "{replied:#?}");
    assert!(replied.notes("referee").iter().all(|note| note["resolver"].is_null()));
    let turn = fixed(&test_pull, &["--apply-resolutions"], &answers);
    let ends = steps(&turn);
    let resolved = test_pull.talk();
    if build == ServerBuild::Forgejo10 {
        // This server has no resolve API: referee's root note says so, another's thread stays, and both are reported.
        assert_eq!(ends, [format!("resolve {ours} done")], "{turn:#}");
        assert_eq!(turn["steps"][0]["note"], "marked in the text: this forge cannot resolve");
        assert!(turn["refused"].to_string().contains(&format!("cannot_resolve: thread `{one}`")), "{turn:#}");
        assert!(resolved.notes("referee")[0]["body"].to_string().contains("**Settled**"));
        assert_eq!(resolved.notes("ruth"), stands.notes("ruth"));
        assert!(!listed(&test_pull, &[]).contains(&ours), "a marked one counts as resolved");
    } else {
        assert!(
            ends.contains(&format!("resolve {one} done")) && ends.contains(&format!("resolve {ours} done")),
            "{turn:#}"
        );
        assert_eq!(resolved.notes("ruth")[0]["resolver"]["login"], "referee");
        assert_eq!(listed(&test_pull, &[]), [later]);
    }
    let pull = test_pull.as_("alice").fetch_pull();
    assert_eq!(
        (&pull["state"], resolved.rows().iter().filter(|row| row["state"] == "APPROVED").count()),
        (&json!("open"), 0)
    );
    test_pull.talk().assert_keeps(&replied);
}

// spec: FIX-8, FIX-9 @gitea @forgejo
fn repeated_answers_are_sent_once(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let one = test_pull.as_("ruth").open_thread("a.txt", 3, "three may be missing");
    let words = "confidential words of a reply";
    let answers = [answer(&test_pull, one.as_str(), "valid", &json!({ "commitSha": null, "replyBody": words }))];
    let notes = || test_pull.talk().notes("referee").len();
    let apply = |name: &str| {
        let ran = fix(&test_pull, &["--detached", "--apply", "--json"], &answers);
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        assert!(!ran.out.contains(words), "{name}: {}", ran.out);
        steps(&document(&ran))
    };
    assert_eq!(apply("first"), [format!("reply {one} done")]);
    assert_eq!((apply("again"), test_pull.site.proxy.write_count()), (vec![], 0));
    let outcomes = test_pull.site.json("comments", test_pull.pull, &["--all"])["outcomes"].clone();
    assert_eq!(outcomes[0]["reply"], "done", "{outcomes:#}");
    assert!(!outcomes.to_string().contains(words));
    test_pull.site.forget();
    assert_eq!((apply("with the store lost"), notes()), (vec![], 1), "the Tag says that it was answered");
    test_pull.as_("ruth").reply(&ThreadId(one.to_string()), "are you sure?");
    assert_eq!((apply("asked again"), notes()), (vec![format!("reply {one} done")], 2));
    assert_eq!((apply("and not twice"), notes()), (vec![], 2));
}

// spec: FIX-5, FIX-13 @gitea @forgejo
fn each_class_requires_its_own_evidence(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], GENEROUS);
    let before = test_pull.as_("ruth").send("GET", "/branches/main", None).json::<Value>().expect("a branch")["commit"]
        ["id"]
        .clone();
    let ruths = test_pull.as_("ruth").open_thread("a.txt", 3, "three may be missing").to_string();
    let ours = own_thread(&test_pull);
    let older = json!([{ "command": "make", "status": "passed", "headSha": before }]);
    for (thread, class, fields, wanted) in [
        (&ours, "valid", json!({}), "reply resolve"),
        (&ours, "valid", json!({ "verification": null }), ""),
        (&ours, "valid", json!({ "verification": older }), "reply"),
        (&ours, "valid", json!({ "commitSha": "0".repeat(40) }), "reply"),
        (&ours, "already_fixed", json!({}), "reply resolve"),
        (&ours, "already_fixed", json!({ "evidence": null }), ""),
        (&ours, "needs_human", json!({}), "reply"),
        (&ours, "invalid", json!({}), "reply resolve"),
        (&ruths, "invalid", json!({}), "reply"),
    ] {
        let turn = fixed(&test_pull, &["--detached"], &[answer(&test_pull, thread, class, &fields)]);
        let verbs: Vec<String> =
            steps(&turn).iter().filter_map(|step| step.split(' ').next().map(str::to_owned)).collect();
        // Where another's thread cannot be resolved, the attempt is reported as not permitted.
        assert_eq!(verbs.join(" "), wanted, "{class} {fields}: {turn:#}");
    }
    assert_eq!(test_pull.site.proxy.write_count(), 0);
}

// spec: FIX-6, TRI-2, TRI-8 @gitea @forgejo
fn failed_checks_block_a_resolution_and_a_checkout_identifies_the_pull(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "[review]\nci = \"required\"\n[checks]\nfirst = [\"true\"]");
    let other = test_pull.site.open("other", &[("b.txt", &lines(5, &[]))]);
    let ours = own_thread(&test_pull);
    assert_eq!(triage(&test_pull, &[], &[item(&ours, "valid")]).code, 0);
    let would = |why: &str| {
        let turn = fixed(&test_pull, &[], &[answer(&test_pull, &ours, "valid", &json!({}))]);
        let verbs: Vec<String> =
            steps(&turn).iter().filter_map(|step| step.split(' ').next().map(str::to_owned)).collect();
        assert!(why.is_empty() || turn["refused"].to_string().contains(why), "{why}: {turn:#}");
        verbs.join(" ")
    };
    assert_eq!(would("no checks, and the policy requires them"), "reply");
    let here = test_pull.site.clone_of("topic");
    let run = |args: &[&str]| {
        let mut command = test_pull.site.referee(args);
        command.current_dir(&here).env("REFEREE_FORGE_URL", test_pull.site.proxy.url());
        RunOutput::from_output(command.output().expect("referee runs"))
    };
    // The pull of the branch, and the one that is named.
    let number = |args: &[&str]| document(&run(&[&["comments", "--json"], args].concat()))["prNumber"].clone();
    assert_eq!(number(&[]), test_pull.pull.0);
    assert_eq!(number(&["--pr", &other.0.to_string()]), other.0);
    assert_eq!(number(&[]), test_pull.pull.0, "the one used last is of another branch");
    // The forge's checks and the repository's own, both of this head. The first may be late.
    let page = test_pull.site.page(test_pull.pull);
    let mut watch = test_pull.site.referee(&["watch", &page]);
    let mut watching = watch.stderr(Stdio::piped()).spawn().expect("referee runs");
    let mut told = BufReader::new(watching.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    assert_eq!(told.next().as_deref(), Some("no check has reported yet"));
    test_pull.as_("ruth").report_check("build", "failure");
    assert_eq!((watching.wait().expect("it ends").code(), told.next().as_deref()), (Some(1), Some("checks failed")));
    let watched = test_pull.site.on("watch", test_pull.pull, &["--once", "--json"]);
    assert_eq!((watched.code, &document(&watched)["state"]), (1, &json!("fail")), "{}", watched.err);
    assert_eq!(would(""), "reply");
    test_pull.as_("ruth").report_check("build", "success");
    assert_eq!(test_pull.site.on("watch", test_pull.pull, &["--once"]).code, 0);
    let failed = run(&["check", "--", "false"]);
    assert_eq!(failed.code, 1, "{}", failed.err);
    assert_eq!(would("`referee check` failed"), "reply");
    let passed = run(&["check", "--json"]);
    assert_eq!(
        (passed.code, &document(&passed)["stored"]),
        (0, &json!(test_pull.as_("alice").head().as_str())),
        "{}",
        passed.err
    );
    assert_eq!(would(""), "reply resolve");
    // `status` tells both pulls from there.
    let status = document(&run(&["status", "--json"]));
    let names: Vec<String> =
        status["pulls"].as_array().expect("pulls").iter().map(|row| string(&row["pull"])).collect();
    for pull in [test_pull.pull, other] {
        assert!(names.iter().any(|name| name.ends_with(&format!("#{}", pull.0))), "{status:#}");
    }
    let turn = fixed(&test_pull, &["--apply"], &[answer(&test_pull, &ours, "valid", &json!({}))]);
    assert_eq!(turn["phase"], "verified", "{turn:#}");
}
