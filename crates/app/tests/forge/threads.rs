//! `comments` and `fix-comments`, with the threads of people and of other bots.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use referee_core::model::ThreadId;
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::on_each_server;
use crate::play::{Play, finding, lines};
use crate::site::Ran;
use crate::talk::word;

on_each_server! {
    threads_are_listed_as_they_are_and_nothing_is_written
    a_triage_is_taken_whole_or_not_at_all
    answers_are_previewed_then_sent_each_behind_its_gate
    answering_twice_is_answering_once
    each_class_needs_its_own_proof
    checks_bar_a_resolution_and_a_checkout_names_the_pull
}

/// Everything that a config may allow, so that only the rule under test says no.
const GENEROUS: &str = "[threads]\nauto_resolve = [\"already_fixed\", \"stale\"]\nresolve_invalid = true\n\
                        reply_needs_human = true\n";

fn listed(play: &Play, args: &[&str]) -> Vec<String> {
    let scan = play.site.told("comments", play.pull, args);
    let threads = scan["threads"].as_array().unwrap_or_else(|| panic!("{scan:#}"));
    threads.iter().map(|thread| word(&thread["threadId"])).collect()
}

/// What a triage says of a thread.
fn item(thread: &str, class: &str) -> Value {
    json!({
        "threadId": thread, "classification": class, "confidence": "high", "reason": "the code says so",
        "recommendedAction": "look at it", "filesToInspect": [], "filesToChange": [], "checksToRun": [],
        "canResolveAfterChecks": false, "requiresHumanDecision": class == "needs_human",
    })
}

fn triage(play: &Play, args: &[&str], items: &[Value]) -> Ran {
    let file = payload(play, "triage", items);
    play.site.on("comments", play.pull, &[&["--triage-payload", &file], args].concat())
}

/// An answer with everything that one may say, as far as `fields` does not say otherwise; a `null` leaves a field out.
fn answer(play: &Play, thread: &str, class: &str, fields: &Value) -> Value {
    let head = play.as_("alice").head();
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

fn fix(play: &Play, args: &[&str], answers: &[Value]) -> Ran {
    let file = payload(play, "fix", answers);
    play.site.proxy.forget();
    play.site.on("fix-comments", play.pull, &[&["--payload", &file], args].concat())
}

fn fixed(play: &Play, args: &[&str], answers: &[Value]) -> Value {
    document(&fix(play, &[args, &["--json"]].concat(), answers))
}

fn payload(play: &Play, name: &str, items: &[Value]) -> String {
    let path = play.site.path(&format!("{name}.json"));
    std::fs::write(&path, json!({ "prNumber": play.pull.0, "threads": items }).to_string()).expect("a file");
    path.display().to_string()
}

fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", ran.out, ran.err))
}

/// The steps of a turn: what, on which thread, with which end.
fn steps(turn: &Value) -> Vec<String> {
    let steps = turn["steps"].as_array().expect("steps").iter();
    steps.map(|step| [&step["action"], &step["target"], &step["receipt"]].map(word).join(" ")).collect()
}

/// A thread of referee itself.
fn own_thread(play: &Play) -> String {
    play.report("alpha", json!({ "findings": [finding("warning", "Name is short", 20)] }));
    play.talk().notes("referee")[0]["id"].to_string()
}

// spec: TRI-1, TRI-4, TRI-9, TRI-10 @gitea @forgejo
fn threads_are_listed_as_they_are_and_nothing_is_written(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    let ruths = play.as_("ruth").open_thread("a.txt", 1, "why one?");
    let bots = play.as_("sec").open_thread("a.txt", 5, "five is unsafe").to_string();
    let settled = play.as_("ruth").open_thread("a.txt", 9, "nine?");
    play.as_("ruth").resolve(&settled);
    play.as_("ruth").open_thread("a.txt", 12, "twelve?");
    play.as_("alice").reply(&ruths, "why not?");
    // Words on the pull itself are no thread.
    play.as_("ruth").comment("what is this for?");
    play.push(&[12]);
    let ours = own_thread(&play);
    let (ruths, settled) = (ruths.to_string(), settled.to_string());
    play.site.proxy.forget();
    assert_eq!(listed(&play, &[]), [&ruths, &bots, &ours].map(String::clone));
    assert_eq!(listed(&play, &["--all"]), [&ruths, &bots, &settled, &ours].map(String::clone));
    assert_eq!(listed(&play, &["--include-outdated"]).len(), 4);
    assert_eq!(listed(&play, &["--author", "RUTH", "--author", "sec[bot]"]), [&ruths, &bots].map(String::clone));
    assert_eq!(listed(&play, &["--path", "src"]), [""; 0]);
    assert_eq!(listed(&play, &["--path", "*.txt"]).len(), 3);
    assert_eq!(play.site.on("comments", play.pull, &["--all", "--unresolved"]).code, 2);
    let scan = play.site.told("comments", play.pull, &[]);
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
    let words = [(); 2].map(|()| play.site.on("comments", play.pull, &[]).out);
    assert_eq!(words[0], words[1]);
    assert_eq!(play.site.proxy.write_count(), 0, "{:#?}", play.site.proxy.log());
}

// spec: TRI-3, TRI-5, TRI-6, TRI-7, TRI-8, TRI-11 @gitea @forgejo
fn a_triage_is_taken_whole_or_not_at_all(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "[loop]\noperator = \"owner\"");
    let [one, two] = [3, 9].map(|line| play.as_("ruth").open_thread("a.txt", line, "is that right?").to_string());
    let stands = play.talk();
    let right = [item(&one, "valid"), item(&two, "needs_human")];
    let with = |key: &str, value: Value| {
        let mut items = right.clone();
        items[0][key] = value;
        items.to_vec()
    };
    for (items, named) in [
        (with("classification", json!("wrong")), "/threads/0/classification"),
        (with("replyBody", json!("Fixed in 9c1f2ab")), "/threads/0/replyBody"),
        (vec![right[0].clone()], "left out"),
        (vec![right[0].clone(), right[0].clone()], "twice"),
        ([&right[..], &[item("999999", "valid")]].concat(), "999999"),
    ] {
        let refused = triage(&play, &[], &items);
        assert!(refused.code == 2 && refused.err.contains(named), "{named}: {}", refused.err);
    }
    assert_eq!(play.site.told("comments", play.pull, &[])["triage"], json!(null));
    let dry = document(&triage(&play, &["--dry-run", "--json"], &right));
    assert_eq!((&dry["phase"], &play.explain()["phase"]), (&json!("blocked"), &json!("review_triage")));
    let taken = triage(&play, &[], &with("replyBody", json!("We take the lock first.")));
    assert_eq!(taken.code, 12, "{}", taken.err);
    assert!(taken.out.contains(&format!("owner decides on `{two}`")), "{}", taken.out);
    let scan = play.site.told("comments", play.pull, &[]);
    assert_eq!((&scan["phase"], &play.explain()["phase"]), (&json!("blocked"), &json!("blocked")), "{scan:#}");
    assert_eq!(scan["triage"]["threads"][0]["latestNote"], scan["threads"][0]["latestComment"]["id"]);
    assert!(!scan.to_string().contains("take the lock"), "a draft is not kept");
    assert_eq!(triage(&play, &[], &[item(&one, "valid"), item(&two, "invalid")]).code, 0);
    assert_eq!(play.explain()["phase"], "fixing_review_findings");
    // A bound that is hit is never an empty list.
    let cut = play.site.on("comments", play.pull, &["--max-threads", "1", "--json"]);
    assert_eq!((cut.code, &document(&cut)["complete"]), (12, &json!(false)), "{}", cut.out);
    assert_eq!(play.talk(), stands, "nothing of all that is on the pull");
}

// spec: FIX-1, FIX-2, FIX-3, FIX-4, FIX-7, FIX-10, FIX-11, FIX-12 @gitea @forgejo
fn answers_are_previewed_then_sent_each_behind_its_gate(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    let one = play.as_("ruth").open_thread("a.txt", 3, "three may be missing").to_string();
    let ours = own_thread(&play);
    let answers = [&one, &ours].map(|thread| answer(&play, thread, "valid", &json!({})));
    let barred = fixed(&play, &["--apply"], &answers);
    assert!(barred["refused"].to_string().contains("no triage is stored"), "{barred:#}");
    assert_eq!(triage(&play, &[], &[item(&one, "valid"), item(&ours, "valid")]).code, 0);
    let stands = play.talk();
    for args in [&[][..], &["--dry-run", "--apply"]] {
        let ran = fix(&play, &[args, &["--json"]].concat(), &answers);
        assert_eq!(ran.code, 10, "{args:?}: {}", ran.err);
        let planned = steps(&document(&ran));
        assert!(
            planned.contains(&format!("reply {one} planned")) && planned.contains(&format!("resolve {ours} planned")),
            "{planned:?}"
        );
        assert_eq!(play.site.proxy.write_count(), 0);
    }
    let later = play.as_("sec").open_thread("a.txt", 30, "thirty?").to_string();
    let refused = fixed(&play, &[], &[answer(&play, &later, "valid", &json!({}))]);
    assert!(refused["refused"].to_string().contains("the stored triage does not name it"), "{refused:#}");
    assert_eq!(fix(&play, &["--apply"], &[json!({ "threadId": one, "classification": "fine" })]).code, 2);
    assert_eq!(play.talk().notes("referee"), stands.notes("referee"), "a preview leaves nothing behind");

    let turn = fixed(&play, &["--apply-replies"], &answers);
    assert!(steps(&turn).contains(&format!("reply {one} done")), "{turn:#}");
    let replied = play.talk();
    replied.keeps(&stands);
    assert_eq!(replied.notes("referee").len(), 3, "{replied:#?}");
    assert!(replied.notes("referee").iter().all(|note| note["resolver"].is_null()));
    let turn = fixed(&play, &["--apply-resolutions"], &answers);
    let ends = steps(&turn);
    let resolved = play.talk();
    if build == ServerBuild::Forgejo10 {
        // Nobody can resolve there: the own root says it, another's thread stays as it is, and both are told.
        assert_eq!(ends, [format!("resolve {ours} done")], "{turn:#}");
        assert_eq!(turn["steps"][0]["note"], "marked in the text: this forge cannot resolve");
        assert!(turn["refused"].to_string().contains(&format!("cannot_resolve: thread `{one}`")), "{turn:#}");
        assert!(resolved.notes("referee")[0]["body"].to_string().contains("**Settled**"));
        assert_eq!(resolved.notes("ruth"), stands.notes("ruth"));
        assert!(!listed(&play, &[]).contains(&ours), "a marked one counts as resolved");
    } else {
        assert!(
            ends.contains(&format!("resolve {one} done")) && ends.contains(&format!("resolve {ours} done")),
            "{turn:#}"
        );
        assert_eq!(resolved.notes("ruth")[0]["resolver"]["login"], "referee");
        assert_eq!(listed(&play, &[]), [later]);
    }
    let pull = play.as_("alice").fetch_pull();
    assert_eq!(
        (&pull["state"], resolved.rows().iter().filter(|row| row["state"] == "APPROVED").count()),
        (&json!("open"), 0)
    );
    play.talk().keeps(&replied);
}

// spec: FIX-8, FIX-9 @gitea @forgejo
fn answering_twice_is_answering_once(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    let one = play.as_("ruth").open_thread("a.txt", 3, "three may be missing");
    let words = "confidential words of a reply";
    let answers = [answer(&play, one.as_str(), "valid", &json!({ "commitSha": null, "replyBody": words }))];
    let notes = || play.talk().notes("referee").len();
    let apply = |name: &str| {
        let ran = fix(&play, &["--detached", "--apply", "--json"], &answers);
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        assert!(!ran.out.contains(words), "{name}: {}", ran.out);
        steps(&document(&ran))
    };
    assert_eq!(apply("first"), [format!("reply {one} done")]);
    assert_eq!((apply("again"), play.site.proxy.write_count()), (vec![], 0));
    let outcomes = play.site.told("comments", play.pull, &["--all"])["outcomes"].clone();
    assert_eq!(outcomes[0]["reply"], "done", "{outcomes:#}");
    assert!(!outcomes.to_string().contains(words));
    play.site.forget();
    assert_eq!((apply("with the store lost"), notes()), (vec![], 1), "the Tag says that it was answered");
    play.as_("ruth").reply(&ThreadId(one.to_string()), "are you sure?");
    assert_eq!((apply("asked again"), notes()), (vec![format!("reply {one} done")], 2));
    assert_eq!((apply("and not twice"), notes()), (vec![], 2));
}

// spec: FIX-5, FIX-13 @gitea @forgejo
fn each_class_needs_its_own_proof(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], GENEROUS);
    let before =
        play.as_("ruth").send("GET", "/branches/main", None).json::<Value>().expect("a branch")["commit"]["id"].clone();
    let ruths = play.as_("ruth").open_thread("a.txt", 3, "three may be missing").to_string();
    let ours = own_thread(&play);
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
        let turn = fixed(&play, &["--detached"], &[answer(&play, thread, class, &fields)]);
        let verbs: Vec<String> =
            steps(&turn).iter().filter_map(|step| step.split(' ').next().map(str::to_owned)).collect();
        // Where nobody can resolve another's thread, the attempt is told as such.
        assert_eq!(verbs.join(" "), wanted, "{class} {fields}: {turn:#}");
    }
    assert_eq!(play.site.proxy.write_count(), 0);
}

// spec: FIX-6, TRI-2, TRI-8 @gitea @forgejo
fn checks_bar_a_resolution_and_a_checkout_names_the_pull(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "[review]\nci = \"required\"\n[checks]\nfirst = [\"true\"]");
    let other = play.site.open("other", &[("b.txt", &lines(5, &[]))]);
    let ours = own_thread(&play);
    assert_eq!(triage(&play, &[], &[item(&ours, "valid")]).code, 0);
    let would = |why: &str| {
        let turn = fixed(&play, &[], &[answer(&play, &ours, "valid", &json!({}))]);
        let verbs: Vec<String> =
            steps(&turn).iter().filter_map(|step| step.split(' ').next().map(str::to_owned)).collect();
        assert!(why.is_empty() || turn["refused"].to_string().contains(why), "{why}: {turn:#}");
        verbs.join(" ")
    };
    assert_eq!(would("no checks, and the policy requires them"), "reply");
    let here = play.site.clone_of("topic");
    let run = |args: &[&str]| Ran::of(play.site.referee(args).current_dir(&here).output().expect("referee runs"));
    // The pull of the branch, and the one that is named.
    let number = |args: &[&str]| document(&run(&[&["comments", "--json"], args].concat()))["prNumber"].clone();
    assert_eq!(number(&[]), play.pull.0);
    assert_eq!(number(&["--pr", &other.0.to_string()]), other.0);
    assert_eq!(number(&[]), play.pull.0, "the one used last is of another branch");
    // The forge's checks and the repository's own, both of this head. The first may be late.
    let page = play.site.page(play.pull);
    let mut watch = play.site.referee(&["watch", &page]);
    let mut watching = watch.stderr(Stdio::piped()).spawn().expect("referee runs");
    let mut told = BufReader::new(watching.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    assert_eq!(told.next().as_deref(), Some("no check has reported yet"));
    play.as_("ruth").report_check("build", "failure");
    assert_eq!((watching.wait().expect("it ends").code(), told.next().as_deref()), (Some(1), Some("checks failed")));
    let watched = play.site.on("watch", play.pull, &["--once", "--json"]);
    assert_eq!((watched.code, &document(&watched)["state"]), (1, &json!("fail")), "{}", watched.err);
    assert_eq!(would(""), "reply");
    play.as_("ruth").report_check("build", "success");
    assert_eq!(play.site.on("watch", play.pull, &["--once"]).code, 0);
    let failed = run(&["check", "--", "false"]);
    assert_eq!(failed.code, 1, "{}", failed.err);
    assert_eq!(would("`referee check` failed"), "reply");
    let passed = run(&["check", "--json"]);
    assert_eq!(
        (passed.code, &document(&passed)["stored"]),
        (0, &json!(play.as_("alice").head().as_str())),
        "{}",
        passed.err
    );
    assert_eq!(would(""), "reply resolve");
    // `status` tells both pulls from there.
    let status = document(&run(&["status", "--json"]));
    let names: Vec<String> = status["pulls"].as_array().expect("pulls").iter().map(|row| word(&row["pull"])).collect();
    for pull in [play.pull, other] {
        assert!(names.iter().any(|name| name.ends_with(&format!("#{}", pull.0))), "{status:#}");
    }
    let turn = fixed(&play, &["--apply"], &[answer(&play, &ours, "valid", &json!({}))]);
    assert_eq!(turn["phase"], "verified", "{turn:#}");
}
