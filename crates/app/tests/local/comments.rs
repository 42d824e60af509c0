//! `referee comments`: threads are listed, a triage is taken, and nothing is written on a pull.

use serde_json::{Value, json};

use crate::answers::{conforms, document, document_of_schema, item, open, thread, triage};
use crate::shop::{Shop, contents};

/// The ids that a scan lists.
fn listed(shop: &Shop, args: &[&str]) -> Vec<String> {
    let scan = shop.json(&[&["comments"], args].concat());
    let threads = scan["threads"].as_array().unwrap_or_else(|| panic!("{scan:#}"));
    threads.iter().map(|thread| thread["threadId"].as_str().expect("an id").to_owned()).collect()
}

fn phase(shop: &Shop, args: &[&str]) -> String {
    let scan = shop.json(&[&["comments"], args].concat());
    scan["phase"].as_str().unwrap_or_else(|| panic!("{scan:#}")).to_owned()
}

// spec: TRI-1, TRI-10 @local
#[test]
fn threads_are_chosen_by_state_author_and_path() {
    let shop = Shop::new();
    open(&shop);
    let ada = thread(&shop, "ada", "a.py:1", "why one?");
    let codex = thread(&shop, "ChatGPT-Codex-Connector[bot]", "src/b.txt:1", "alpha is unsafe");
    let rabbit = thread(&shop, "coderabbitai", "src/deep/c.txt:2", "due is unused");
    let settled = thread(&shop, "bob", "src/b.txt:3", "gamma?");
    shop.ends(0, &["local", "resolve", "L1", &settled, "--as", "bob"]);
    let old = thread(&shop, "bob", "a.py:4", "four?");
    shop.write("a.py", "one = 1\ntwo = 2\nthree = 3\nfive = 5\n");
    shop.commit("Five");
    // Words on the pull itself are no thread.
    shop.ends(0, &["local", "comment", "L1", "what is this for?"]);

    let unresolved = [&ada, &codex, &rabbit].map(String::clone);
    assert_eq!(listed(&shop, &[]), unresolved);
    assert_eq!(listed(&shop, &["--unresolved"]), unresolved);
    assert_eq!(listed(&shop, &["--pr", "L1"]), unresolved);
    assert_eq!(listed(&shop, &["L1"]), unresolved);
    assert_eq!(listed(&shop, &["--all"]), [&ada, &codex, &settled, &rabbit].map(String::clone));
    assert_eq!(listed(&shop, &["--include-outdated"]), [&ada, &old, &codex, &rabbit].map(String::clone));
    let both = shop.run(&["comments", "--all", "--unresolved"]);
    assert_eq!(both.code, 2, "{}", both.err);

    for name in ["codex", "CODEX", "codex[bot]", "chatgpt-codex-connector", "Chatgpt-Codex-Connector[Bot]"] {
        assert_eq!(listed(&shop, &["--author", name]), [codex.as_str()], "{name}");
    }
    for name in ["coderabbit", "CodeRabbit", "coderabbitai[bot]", "CodeRabbitAI"] {
        assert_eq!(listed(&shop, &["--author", name]), [rabbit.as_str()], "{name}");
    }
    assert_eq!(listed(&shop, &["--author", "ADA", "--author", "codex"]), [&ada, &codex].map(String::clone));
    assert!(listed(&shop, &["--author", "nobody"]).is_empty());

    assert_eq!(listed(&shop, &["--path", "src/b.txt"]), [codex.as_str()]);
    for folder in ["src", "src/", "src/**"] {
        assert_eq!(listed(&shop, &["--path", folder]), [&codex, &rabbit].map(String::clone), "{folder}");
    }
    assert_eq!(listed(&shop, &["--path", "*.py", "--path", "src/deep"]), [&ada, &rabbit].map(String::clone));
    assert!(listed(&shop, &["--path", "sr"]).is_empty(), "a folder is more than the beginning of a name");
    assert_eq!(listed(&shop, &["--path", "src", "--author", "coderabbit"]), [rabbit.as_str()]);

    // A program's word has no class until somebody gives it one, and then it counts as a person's would.
    let scan = shop.json(&["comments"]);
    assert_eq!((&scan["triage"], &scan["phase"]), (&json!(null), &json!("review_triage")));
    for (class, phase) in [("valid", "fixing_review_findings"), ("invalid", "review_triage")] {
        for one in [&ada, &codex] {
            let items = unresolved.each_ref().map(|it| item(it, if it == one { class } else { "invalid" }));
            let scan = document(&triage(&shop, &["--json", "--dry-run"], &items));
            assert_eq!(scan["phase"], phase, "{one} {class}");
        }
    }
}

// spec: TRI-2 @local
#[test]
fn the_pull_is_the_named_one_else_the_last_used_of_this_branch_else_that_of_the_branch() {
    let shop = Shop::new();
    shop.git(&["branch", "release"]);
    open(&shop);
    shop.ends(0, &["local", "open", "release..topic"]);
    shop.git(&["switch", "--quiet", "main"]);
    shop.branch("other", &[("o.txt", "o\n")]);
    shop.ends(0, &["local", "open"]);
    let number = |args: &[&str]| shop.json(&[&["comments"], args].concat())["prNumber"].clone();
    assert_eq!(number(&[]), 3, "the pull of the current branch");
    shop.git(&["switch", "--quiet", "topic"]);
    assert_eq!(number(&[]), 1, "the pull of the current branch over the default one");
    assert_eq!(number(&["--pr", "L2"]), 2, "the one that is named");
    assert_eq!(number(&[]), 2, "the one used last, of this branch");
    assert_eq!(number(&["--pr", "L1", "--dry-run"]), 1);
    assert_eq!(number(&[]), 2, "a dry run is no use");
    assert_eq!(number(&["L3"]), 3);
    assert_eq!(number(&[]), 1, "the one used last is of another branch");
    let missing = shop.run(&["comments", "--pr", "L9"]);
    assert_eq!(missing.code, 2, "{}", missing.err);
}

// spec: TRI-3 @local
#[test]
fn a_bound_that_is_hit_blocks_and_is_never_an_empty_list() {
    let shop = Shop::with_config("version = 1\n[threads]\nmax_threads = 2\n");
    open(&shop);
    let first = thread(&shop, "bob", "a.py:1", "one?");
    thread(&shop, "bob", "a.py:2", "two?");
    for text in ["and", "another", "thing"] {
        shop.ends(0, &["local", "reply", "L1", &first, text]);
    }
    let whole = shop.json(&["comments"]);
    assert_eq!((&whole["complete"], &whole["phase"]), (&json!(true), &json!("review_triage")));
    let notes: Vec<&Value> = whole["threads"][0]["comments"].as_array().expect("comments").iter().collect();
    let words: Vec<&str> = notes.iter().map(|note| note["body"].as_str().expect("words")).collect();
    assert_eq!(words, ["one?", "and", "another", "thing"], "every comment of a thread is read");

    thread(&shop, "bob", "a.py:3", "three?");
    for args in [&[][..], &["--max-threads", "1"], &["--path", "nowhere"], &["--author", "nobody"]] {
        let ran = shop.ends(12, &[&["comments"], args].concat());
        assert!(ran.out.contains("not everything could be read"), "{}", ran.out);
        let scan = shop.json(&[&["comments"], args].concat());
        assert_eq!((&scan["complete"], &scan["phase"]), (&json!(false), &json!("blocked")), "{scan:#}");
    }
    let enough = shop.json(&["comments", "--max-threads", "3"]);
    assert_eq!((&enough["complete"], &enough["phase"]), (&json!(true), &json!("review_triage")));
    assert_eq!(shop.run(&["comments", "--max-threads", "0"]).code, 2);
}

// spec: TRI-4 @local
#[test]
fn a_thread_has_the_published_fields_and_no_others() {
    let shop = Shop::new();
    open(&shop);
    let id = thread(&shop, "bob", "src/b.txt:2", "beta?");
    shop.ends(0, &["local", "reply", "L1", &id, "why not?"]);
    let scan = shop.json(&["comments"]);
    conforms(&shop, "comments", &scan);
    assert_eq!(scan["schema"], "referee/comments-1");
    let keys = |value: &Value| -> Vec<String> { value.as_object().expect("an object").keys().cloned().collect() };
    let sorted = |words: &str| -> Vec<String> {
        let mut words: Vec<String> = words.split_whitespace().map(ToOwned::to_owned).collect();
        words.sort();
        words
    };
    let thread = &scan["threads"][0];
    let fields = "threadId prNumber path line startLine isResolved isOutdated author authorAssociation firstComment \
                  comments latestComment createdAt updatedAt url source canResolve canReply";
    assert_eq!(sorted(&keys(thread).join(" ")), sorted(fields));
    let of_a_comment = "id databaseId author authorAssociation body path line createdAt updatedAt url isMinimized \
                        viewerCanUpdate viewerCanDelete";
    for comment in thread["comments"].as_array().expect("comments") {
        assert_eq!(sorted(&keys(comment).join(" ")), sorted(of_a_comment));
    }
    assert_eq!(thread["threadId"], json!(id));
    assert_eq!((&thread["path"], &thread["line"]), (&json!("src/b.txt"), &json!(2)));
    assert_eq!((&thread["startLine"], &thread["source"]), (&json!(null), &json!("local")));
    assert_eq!((&thread["author"], &thread["isResolved"]), (&json!("bob"), &json!(false)));
    assert_eq!((&thread["canResolve"], &thread["canReply"]), (&json!(true), &json!(true)));
    assert_eq!(thread["firstComment"], thread["comments"][0]);
    assert_eq!(thread["latestComment"], thread["comments"][1]);
    assert_eq!(thread["latestComment"]["body"], "why not?");
    assert_eq!(thread["latestComment"]["databaseId"], json!(null), "a local id is no number");
    assert_eq!(thread["latestComment"]["viewerCanUpdate"], json!(false), "another's words are not ours to edit");
    // A comment's id names no thread: the two are different things.
    let note = thread["latestComment"]["id"].as_str().expect("an id");
    let refused = triage(&shop, &[], &[item(note, "valid")]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains(&format!("thread `{note}` is not among the selected threads")), "{}", refused.err);
}

// spec: TRI-5, TRI-6, TRI-11 @local
#[test]
fn a_wrong_triage_is_refused_whole_with_every_fault_named() {
    let shop = Shop::new();
    open(&shop);
    let [one, two, three] =
        ["a.py:1", "a.py:2", "a.py:3"].map(|place| thread(&shop, "bob", place, &format!("what is {place}?")));
    let schema = document_of_schema(&shop, "triage");
    let right = [item(&one, "valid"), item(&two, "invalid"), item(&three, "needs_human")];
    jsonschema::validate(&schema, &json!({ "prNumber": 1, "threads": right })).expect("it fits");
    let with = |at: usize, key: &str, value: Value| {
        let mut items = right.clone();
        items[at][key] = value;
        items.to_vec()
    };
    let without = |at: usize, key: &str| {
        let mut items = right.clone();
        items[at].as_object_mut().expect("an object").remove(key);
        items.to_vec()
    };
    let mut person = with(2, "canResolveAfterChecks", json!(true));
    person[2]["requiresHumanDecision"] = json!(true);
    let cases: &[(Vec<Value>, &[&str])] = &[
        (with(0, "classification", json!("wrong")), &["/threads/0/classification", &one]),
        (with(1, "confidence", json!(3)), &["/threads/1/confidence", &two]),
        (with(0, "latestNote", json!("n1")), &["/threads/0", "latestNote"]),
        (without(1, "reason"), &["/threads/1", "reason", &two]),
        (person, &["/threads/2/canResolveAfterChecks", &three]),
        ([&right[..], &right[..1]].concat(), &["/threads/3/threadId", &one, "twice"]),
        ([&right[..], &[item("t99", "valid")]].concat(), &["/threads/3/threadId", "t99", "selected"]),
        (right[..2].to_vec(), &["/threads", &three, "left out"]),
        (with(0, "replyBody", json!("Fixed in 9c1f2ab")), &["/threads/0/replyBody", &one, "fixed"]),
        (with(0, "replyBody", json!("Done, thanks")), &["/threads/0/replyBody", &one, "done"]),
        (with(0, "replyBody", json!("This is resolved now")), &["/threads/0/replyBody", &one, "resolved"]),
    ];
    for (items, words) in cases {
        let refused = triage(&shop, &[], items);
        assert_eq!(refused.code, 2, "{}", refused.err);
        for word in *words {
            assert!(refused.err.contains(word), "`{word}` is missing:\n{}", refused.err);
        }
    }
    // All at once: a fault in each of thirty items, and each is named.
    let thirty: Vec<Value> = (0..30).map(|at| json!({ "threadId": format!("x{at}"), "reason": at })).collect();
    let refused = triage(&shop, &[], &thirty);
    for at in 0..30 {
        assert!(refused.err.contains(&format!("/threads/{at}/reason: ")), "{at}:\n{}", refused.err);
        assert!(refused.err.contains(&format!("(thread `x{at}`)")), "{at}:\n{}", refused.err);
    }
    // Both rules and several items at once, too.
    let several = triage(&shop, &[], &[item(&one, "valid"), item(&one, "valid"), item("t99", "valid")]);
    for word in ["/threads/1/threadId", "t99", &two, &three] {
        assert!(several.err.contains(word), "`{word}` is missing:\n{}", several.err);
    }
    let path = shop.file("other.json", json!({ "prNumber": 2, "threads": right }).to_string());
    let other = shop.ends(2, &["comments", "--triage-payload", &path]);
    assert!(other.err.contains("/prNumber"), "{}", other.err);
    let path = shop.file("cut.json", "{\"prNumber\": 1, \"threads\": [");
    shop.ends(2, &["comments", "--triage-payload", &path]);

    // Nothing of all that was taken; what is right is, and its draft is posted nowhere.
    assert_eq!(shop.json(&["comments"])["triage"], json!(null));
    let before = shop.stands("L1");
    let draft = "We take the lock first; it will be fixed in the next push.";
    let taken = triage(&shop, &[], &with(0, "replyBody", json!(draft)));
    assert_eq!(taken.code, 12, "{}", taken.err);
    let scan = shop.json(&["comments"]);
    assert_eq!(scan["triage"]["threads"][0]["classification"], "valid", "{scan:#}");
    assert_eq!(shop.stands("L1")["threads"], before["threads"]);
    assert!(!scan.to_string().contains("take the lock"), "a draft is not kept either");
}

// spec: TRI-7 @local
#[test]
fn the_summary_is_the_same_twice_and_what_is_kept_is_bounded() {
    let shop = Shop::new();
    open(&shop);
    let long = "a very long remark about almost nothing ".repeat(200);
    let one = thread(&shop, "bob", "a.py:1", &long);
    shop.ends(0, &["local", "reply", "L1", &one, &long]);
    let [first, second] = [(); 2].map(|()| shop.ends(0, &["comments"]).out);
    assert_eq!(first, second);
    assert!(first.lines().all(|line| line.chars().count() < 200), "{first}");
    assert!(first.contains("a very long remark") && first.contains('…'), "{first}");

    let mut wordy = item(&one, "invalid");
    wordy["reason"] = json!("because ".repeat(5_000));
    wordy["recommendedAction"] = json!("look ".repeat(5_000));
    for list in ["filesToInspect", "filesToChange", "checksToRun"] {
        wordy[list] = json!(vec!["p".repeat(5_000); 500]);
    }
    wordy["replyBody"] = json!("It is as it should be. ".repeat(500));
    assert_eq!(triage(&shop, &[], &[wordy]).code, 0);
    let scan = shop.json(&["comments"]);
    let kept = &scan["triage"]["threads"][0];
    assert!(kept.to_string().len() < 50_000, "{} bytes are kept", kept.to_string().len());
    assert_eq!(kept["reason"].as_str().map(|text| text.chars().count()), Some(500));
    assert_eq!(kept["filesToInspect"].as_array().map(Vec::len), Some(20));
    assert_eq!(kept["replyBody"], json!(null));
    assert_eq!(kept["latestNote"], scan["threads"][0]["latestComment"]["id"]);
    assert_eq!(shop.json(&["comments"]), scan, "the same scan gives the same document");
}

// spec: TRI-8 @local
#[test]
fn a_pull_goes_from_triage_to_verified_and_no_shortcut_leads_there() {
    let shop = Shop::with_config("version = 1\n[loop]\noperator = \"carol\"\n");
    open(&shop);
    let one = thread(&shop, "bob", "a.py:1", "one?");
    let two = thread(&shop, "bob", "src/b.txt:1", "alpha?");
    assert_eq!(phase(&shop, &[]), "review_triage");
    // A dry run changes nothing, neither the triage nor the phase.
    let stored = || shop.json(&["explain", "L1"])["phase"].clone();
    assert_eq!(stored(), "review_triage");
    let both = [item(&one, "valid"), item(&two, "needs_human")];
    let before = contents(&shop.dir());
    assert_eq!(document(&triage(&shop, &["--json", "--dry-run"], &both))["phase"], "blocked");
    assert!(contents(&shop.dir()) == before, "a dry run left something behind");
    assert_eq!(stored(), "review_triage");

    // A person's decision comes before work, and the output says what, where and who.
    let mut asks = both.clone();
    asks[1]["recommendedAction"] = json!("keep alpha or drop it?");
    let ran = triage(&shop, &[], &asks);
    assert_eq!(ran.code, 12, "{}", ran.err);
    assert!(ran.out.contains(&format!("carol decides on `{two}`: keep alpha or drop it?")), "{}", ran.out);
    let asked = shop.json(&["comments"]);
    assert_eq!((&asked["phase"], &stored()), (&json!("blocked"), &json!("blocked")));
    let question = json!([{ "thread": two, "url": format!("L1#{two}"), "question": "keep alpha or drop it?",
                            "who": "carol" }]);
    assert_eq!(asked["questions"], question);
    // A later triage that does not look at that thread does not take the question back.
    assert_eq!(triage(&shop, &["--path", "a.py"], &[item(&one, "invalid")]).code, 12);
    shop.ends(0, &["local", "resolve", "L1", &one, "--as", "bob"]);
    shop.ends(0, &["check", "--", "true"]);
    assert_eq!(phase(&shop, &[]), "blocked", "the checked head does not answer the question");
    assert_eq!(phase(&shop, &["--path", "a.py"]), "blocked", "nor does a filter");

    // Answered by a triage that looks at it: work, then triage, then verified by the check at this head.
    assert_eq!(triage(&shop, &[], &[item(&two, "valid")]).code, 0);
    assert_eq!(phase(&shop, &[]), "fixing_review_findings");
    assert_eq!(triage(&shop, &[], &[item(&two, "invalid")]).code, 0);
    let hidden = shop.json(&["comments", "--path", "a.py"]);
    assert_eq!((&hidden["threads"], &hidden["filtered"]), (&json!([]), &json!(true)));
    assert_eq!(hidden["phase"], "review_triage", "a scan that left a thread out verifies nothing");
    shop.ends(0, &["local", "resolve", "L1", &two, "--as", "bob"]);
    assert_eq!((phase(&shop, &[]).as_str(), &stored()), ("verified", &json!("verified")));
    // A new head is proven by nothing yet.
    shop.write("a.py", "one = 1\n");
    shop.commit("Less");
    assert_ne!(phase(&shop, &[]), "verified");
    shop.run(&["check", "--", "false"]);
    assert_ne!(phase(&shop, &[]), "verified");
    shop.ends(0, &["check", "--", "true"]);
    assert_eq!(phase(&shop, &[]), "verified");
    // An outdated thread that is left out by default is still open.
    let old = thread(&shop, "bob", "a.py:1", "still one?");
    shop.write("a.py", "uno = 1\n");
    shop.commit("Another name");
    shop.ends(0, &["check", "--", "true"]);
    let default = shop.json(&["comments"]);
    assert_eq!((&default["threads"], &default["phase"]), (&json!([]), &json!("review_triage")), "{old}");
    let schema = document_of_schema(&shop, "comments").to_string();
    assert!(!schema.contains("final_reported"), "there is no such phase");
}

// spec: TRI-9 @local
#[test]
fn the_command_writes_on_no_pull() {
    let shop = Shop::new();
    shop.branch("topic", &[("a.py", "one = 1\n")]);
    let none = shop.ends(3, &["comments"]);
    assert!(none.err.contains("no pull"), "{}", none.err);
    assert_eq!(shop.json(&["local", "list"])["pulls"], json!([]), "a scan opens no pull");
    shop.ends(0, &["local", "open"]);
    let one = thread(&shop, "bob", "a.py:1", "one?");
    shop.write("a.py", "one = 1\ntwo = 2\n");
    shop.commit("Two");
    shop.ends(0, &["comments"]);
    // Beside what is remembered of the scan, not a byte changes: not in the pulls, not in git.
    let others = || {
        let mut all = contents(&shop.dir());
        all.retain(|(path, _)| !path.to_string_lossy().contains("referee/state.db"));
        all
    };
    let (before, stood) = (others(), shop.stands("L1"));
    triage(&shop, &[], &[item(&one, "valid")]);
    shop.ends(0, &["comments", "--all", "--include-outdated"]);
    shop.ends(0, &["comments", "--json"]);
    let after = others();
    let changed: Vec<_> = after.iter().filter(|file| !before.contains(file)).map(|(path, _)| path).collect();
    assert!(changed.is_empty() && after.len() == before.len(), "a scan wrote {changed:?}");
    let now = shop.stands("L1");
    for what in ["threads", "reviews", "comments", "pull"] {
        assert_eq!(now[what], stood[what]);
    }
}
