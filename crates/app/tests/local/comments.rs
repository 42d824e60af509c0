//! `referee comments`: lists threads, takes a triage, and writes nothing on a pull.

use serde_json::{Value, json};

use crate::answers::{conforms, document, document_of_schema, item, open, thread, triage};
use crate::test_repo::{TestRepo, read_files};

/// The ids that a scan lists.
fn listed(repo: &TestRepo, args: &[&str]) -> Vec<String> {
    let scan = repo.json(&[&["comments"], args].concat());
    let threads = scan["threads"].as_array().unwrap_or_else(|| panic!("{scan:#}"));
    threads.iter().map(|thread| thread["threadId"].as_str().expect("an id").to_owned()).collect()
}

fn phase(repo: &TestRepo, args: &[&str]) -> String {
    let scan = repo.json(&[&["comments"], args].concat());
    scan["phase"].as_str().unwrap_or_else(|| panic!("{scan:#}")).to_owned()
}

// spec: TRI-1, TRI-10 @local
#[test]
fn threads_are_filtered_by_state_author_and_path() {
    let repo = TestRepo::new();
    open(&repo);
    let ada = thread(&repo, "ada", "a.py:1", "why one?");
    let codex = thread(&repo, "ChatGPT-Codex-Connector[bot]", "src/b.txt:1", "alpha is unsafe");
    let rabbit = thread(&repo, "coderabbitai", "src/deep/c.txt:2", "due is unused");
    let settled = thread(&repo, "bob", "src/b.txt:3", "gamma?");
    repo.run_expecting(0, &["local", "resolve", "L1", &settled, "--as", "bob"]);
    let old = thread(&repo, "bob", "a.py:4", "four?");
    repo.write("a.py", "one = 1\ntwo = 2\nthree = 3\nfive = 5\n");
    repo.commit("Five");
    // Words on the pull itself are no thread.
    repo.run_expecting(0, &["local", "comment", "L1", "what is this for?"]);

    let unresolved = [&ada, &codex, &rabbit].map(String::clone);
    assert_eq!(listed(&repo, &[]), unresolved);
    assert_eq!(listed(&repo, &["--unresolved"]), unresolved);
    assert_eq!(listed(&repo, &["--pr", "L1"]), unresolved);
    assert_eq!(listed(&repo, &["L1"]), unresolved);
    assert_eq!(listed(&repo, &["--all"]), [&ada, &codex, &settled, &rabbit].map(String::clone));
    assert_eq!(listed(&repo, &["--include-outdated"]), [&ada, &old, &codex, &rabbit].map(String::clone));
    let both = repo.run(&["comments", "--all", "--unresolved"]);
    assert_eq!(both.code, 2, "{}", both.err);

    for name in ["codex", "CODEX", "codex[bot]", "chatgpt-codex-connector", "Chatgpt-Codex-Connector[Bot]"] {
        assert_eq!(listed(&repo, &["--author", name]), [codex.as_str()], "{name}");
    }
    for name in ["coderabbit", "CodeRabbit", "coderabbitai[bot]", "CodeRabbitAI"] {
        assert_eq!(listed(&repo, &["--author", name]), [rabbit.as_str()], "{name}");
    }
    assert_eq!(listed(&repo, &["--author", "ADA", "--author", "codex"]), [&ada, &codex].map(String::clone));
    assert!(listed(&repo, &["--author", "nobody"]).is_empty());

    assert_eq!(listed(&repo, &["--path", "src/b.txt"]), [codex.as_str()]);
    for folder in ["src", "src/", "src/**"] {
        assert_eq!(listed(&repo, &["--path", folder]), [&codex, &rabbit].map(String::clone), "{folder}");
    }
    assert_eq!(listed(&repo, &["--path", "*.py", "--path", "src/deep"]), [&ada, &rabbit].map(String::clone));
    assert!(listed(&repo, &["--path", "sr"]).is_empty(), "a folder is more than the beginning of a name");
    assert_eq!(listed(&repo, &["--path", "src", "--author", "coderabbit"]), [rabbit.as_str()]);

    // A bot's thread has no class until a person gives it one, and then it counts like a person's thread.
    let scan = repo.json(&["comments"]);
    assert_eq!((&scan["triage"], &scan["phase"]), (&json!(null), &json!("review_triage")));
    for (class, phase) in [("valid", "fixing_review_findings"), ("invalid", "review_triage")] {
        for one in [&ada, &codex] {
            let items = unresolved.each_ref().map(|it| item(it, if it == one { class } else { "invalid" }));
            let scan = document(&triage(&repo, &["--json", "--dry-run"], &items));
            assert_eq!(scan["phase"], phase, "{one} {class}");
        }
    }
}

// spec: TRI-2 @local
#[test]
fn the_pull_is_the_named_one_else_the_last_used_on_this_branch_else_that_of_the_branch() {
    let repo = TestRepo::new();
    repo.git(&["branch", "release"]);
    open(&repo);
    repo.run_expecting(0, &["local", "open", "release..topic"]);
    repo.git(&["switch", "--quiet", "main"]);
    repo.branch("other", &[("o.txt", "o\n")]);
    repo.run_expecting(0, &["local", "open"]);
    let number = |args: &[&str]| repo.json(&[&["comments"], args].concat())["prNumber"].clone();
    assert_eq!(number(&[]), 3, "the pull of the current branch");
    repo.git(&["switch", "--quiet", "topic"]);
    assert_eq!(number(&[]), 1, "the pull of the current branch over the default one");
    assert_eq!(number(&["--pr", "L2"]), 2, "the one that is named");
    assert_eq!(number(&[]), 2, "the one used last, of this branch");
    assert_eq!(number(&["--pr", "L1", "--dry-run"]), 1);
    assert_eq!(number(&[]), 2, "a dry run is no use");
    assert_eq!(number(&["L3"]), 3);
    assert_eq!(number(&[]), 1, "the one used last is of another branch");
    let missing = repo.run(&["comments", "--pr", "L9"]);
    assert_eq!(missing.code, 2, "{}", missing.err);
}

// spec: TRI-3 @local
#[test]
fn hitting_the_thread_limit_blocks_and_is_never_an_empty_list() {
    let repo = TestRepo::with_config("version = 1\n[threads]\nmax_threads = 2\n");
    open(&repo);
    let first = thread(&repo, "bob", "a.py:1", "one?");
    thread(&repo, "bob", "a.py:2", "two?");
    for text in ["and", "another", "thing"] {
        repo.run_expecting(0, &["local", "reply", "L1", &first, text]);
    }
    let whole = repo.json(&["comments"]);
    assert_eq!((&whole["complete"], &whole["phase"]), (&json!(true), &json!("review_triage")));
    let notes: Vec<&Value> = whole["threads"][0]["comments"].as_array().expect("comments").iter().collect();
    let words: Vec<&str> = notes.iter().map(|note| note["body"].as_str().expect("words")).collect();
    assert_eq!(words, ["one?", "and", "another", "thing"], "every comment of a thread is read");

    thread(&repo, "bob", "a.py:3", "three?");
    for args in [&[][..], &["--max-threads", "1"], &["--path", "nowhere"], &["--author", "nobody"]] {
        let ran = repo.run_expecting(12, &[&["comments"], args].concat());
        assert!(ran.out.contains("not everything could be read"), "{}", ran.out);
        let scan = repo.json(&[&["comments"], args].concat());
        assert_eq!((&scan["complete"], &scan["phase"]), (&json!(false), &json!("blocked")), "{scan:#}");
    }
    let enough = repo.json(&["comments", "--max-threads", "3"]);
    assert_eq!((&enough["complete"], &enough["phase"]), (&json!(true), &json!("review_triage")));
    assert_eq!(repo.run(&["comments", "--max-threads", "0"]).code, 2);
}

// spec: TRI-4 @local
#[test]
fn a_thread_has_the_published_fields_and_no_others() {
    let repo = TestRepo::new();
    open(&repo);
    let id = thread(&repo, "bob", "src/b.txt:2", "beta?");
    repo.run_expecting(0, &["local", "reply", "L1", &id, "why not?"]);
    let scan = repo.json(&["comments"]);
    conforms(&repo, "comments", &scan);
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
    let refused = triage(&repo, &[], &[item(note, "valid")]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains(&format!("thread `{note}` is not among the selected threads")), "{}", refused.err);
}

// spec: TRI-5, TRI-6, TRI-11 @local
#[test]
fn an_invalid_triage_is_refused_with_all_its_errors() {
    let repo = TestRepo::new();
    open(&repo);
    let [one, two, three] =
        ["a.py:1", "a.py:2", "a.py:3"].map(|place| thread(&repo, "bob", place, &format!("what is {place}?")));
    let schema = document_of_schema(&repo, "triage");
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
        (right[..2].to_vec(), &["/threads", &three, "missing"]),
        (with(0, "replyBody", json!("Fixed in 9c1f2ab")), &["/threads/0/replyBody", &one, "fixed"]),
        (with(0, "replyBody", json!("Done, thanks")), &["/threads/0/replyBody", &one, "done"]),
        (with(0, "replyBody", json!("This is resolved now")), &["/threads/0/replyBody", &one, "resolved"]),
    ];
    for (items, words) in cases {
        let refused = triage(&repo, &[], items);
        assert_eq!(refused.code, 2, "{}", refused.err);
        for word in *words {
            assert!(refused.err.contains(word), "`{word}` is missing:\n{}", refused.err);
        }
    }
    // All at once: a fault in each of thirty items, and each is named.
    let thirty: Vec<Value> = (0..30).map(|at| json!({ "threadId": format!("x{at}"), "reason": at })).collect();
    let refused = triage(&repo, &[], &thirty);
    for at in 0..30 {
        assert!(refused.err.contains(&format!("/threads/{at}/reason: ")), "{at}:\n{}", refused.err);
        assert!(refused.err.contains(&format!("(thread `x{at}`)")), "{at}:\n{}", refused.err);
    }
    // Both rules and several items at once, too.
    let several = triage(&repo, &[], &[item(&one, "valid"), item(&one, "valid"), item("t99", "valid")]);
    for word in ["/threads/1/threadId", "t99", &two, &three] {
        assert!(several.err.contains(word), "`{word}` is missing:\n{}", several.err);
    }
    let path = repo.write_outside("other.json", json!({ "prNumber": 2, "threads": right }).to_string());
    let other = repo.run_expecting(2, &["comments", "--triage-payload", &path]);
    assert!(other.err.contains("/prNumber"), "{}", other.err);
    let path = repo.write_outside("cut.json", "{\"prNumber\": 1, \"threads\": [");
    repo.run_expecting(2, &["comments", "--triage-payload", &path]);

    // Nothing of all that was taken; what is right is, and its draft is posted nowhere.
    assert_eq!(repo.json(&["comments"])["triage"], json!(null));
    let before = repo.read_snapshot("L1");
    let draft = "We take the lock first; it will be fixed in the next push.";
    let taken = triage(&repo, &[], &with(0, "replyBody", json!(draft)));
    assert_eq!(taken.code, 12, "{}", taken.err);
    let scan = repo.json(&["comments"]);
    assert_eq!(scan["triage"]["threads"][0]["classification"], "valid", "{scan:#}");
    assert_eq!(repo.read_snapshot("L1")["threads"], before["threads"]);
    assert!(!scan.to_string().contains("take the lock"), "a draft is not kept either");
}

// spec: TRI-7 @local
#[test]
fn the_summary_is_stable_and_the_stored_triage_is_bounded() {
    let repo = TestRepo::new();
    open(&repo);
    let long = "a very long remark about almost nothing ".repeat(200);
    let one = thread(&repo, "bob", "a.py:1", &long);
    repo.run_expecting(0, &["local", "reply", "L1", &one, &long]);
    let [first, second] = [(); 2].map(|()| repo.run_expecting(0, &["comments"]).out);
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
    assert_eq!(triage(&repo, &[], &[wordy]).code, 0);
    let scan = repo.json(&["comments"]);
    let kept = &scan["triage"]["threads"][0];
    assert!(kept.to_string().len() < 50_000, "{} bytes are kept", kept.to_string().len());
    assert_eq!(kept["reason"].as_str().map(|text| text.chars().count()), Some(500));
    assert_eq!(kept["filesToInspect"].as_array().map(Vec::len), Some(20));
    assert_eq!(kept["replyBody"], json!(null));
    assert_eq!(kept["latestNote"], scan["threads"][0]["latestComment"]["id"]);
    assert_eq!(repo.json(&["comments"]), scan, "the same scan gives the same document");
}

// spec: TRI-8 @local
#[test]
fn a_pull_reaches_the_phase_verified_only_through_every_earlier_phase() {
    let repo = TestRepo::with_config("version = 1\n[loop]\noperator = \"carol\"\n");
    open(&repo);
    let one = thread(&repo, "bob", "a.py:1", "one?");
    let two = thread(&repo, "bob", "src/b.txt:1", "alpha?");
    assert_eq!(phase(&repo, &[]), "review_triage");
    // A dry run changes nothing, neither the triage nor the phase.
    let stored = || repo.json(&["explain", "L1"])["phase"].clone();
    assert_eq!(stored(), "review_triage");
    let both = [item(&one, "valid"), item(&two, "needs_human")];
    let before = read_files(&repo.dir());
    assert_eq!(document(&triage(&repo, &["--json", "--dry-run"], &both))["phase"], "blocked");
    assert!(read_files(&repo.dir()) == before, "a dry run left something behind");
    assert_eq!(stored(), "review_triage");

    // A person's decision comes before work, and the output says what, where and who.
    let mut asks = both.clone();
    asks[1]["recommendedAction"] = json!("keep alpha or drop it?");
    let ran = triage(&repo, &[], &asks);
    assert_eq!(ran.code, 12, "{}", ran.err);
    assert!(ran.out.contains(&format!("carol decides on `{two}`: keep alpha or drop it?")), "{}", ran.out);
    let asked = repo.json(&["comments"]);
    assert_eq!((&asked["phase"], &stored()), (&json!("blocked"), &json!("blocked")));
    let question = json!([{ "thread": two, "url": format!("L1#{two}"), "question": "keep alpha or drop it?",
                            "who": "carol" }]);
    assert_eq!(asked["questions"], question);
    // A later triage that does not look at that thread does not take the question back.
    assert_eq!(triage(&repo, &["--path", "a.py"], &[item(&one, "invalid")]).code, 12);
    repo.run_expecting(0, &["local", "resolve", "L1", &one, "--as", "bob"]);
    repo.run_expecting(0, &["check", "--", "true"]);
    assert_eq!(phase(&repo, &[]), "blocked", "the checked head does not answer the question");
    assert_eq!(phase(&repo, &["--path", "a.py"]), "blocked", "nor does a filter");

    // Answered by a triage that looks at it: work, then triage, then verified by the check at this head.
    assert_eq!(triage(&repo, &[], &[item(&two, "valid")]).code, 0);
    assert_eq!(phase(&repo, &[]), "fixing_review_findings");
    assert_eq!(triage(&repo, &[], &[item(&two, "invalid")]).code, 0);
    let hidden = repo.json(&["comments", "--path", "a.py"]);
    assert_eq!((&hidden["threads"], &hidden["filtered"]), (&json!([]), &json!(true)));
    assert_eq!(hidden["phase"], "review_triage", "a scan that left a thread out verifies nothing");
    repo.run_expecting(0, &["local", "resolve", "L1", &two, "--as", "bob"]);
    assert_eq!((phase(&repo, &[]).as_str(), &stored()), ("verified", &json!("verified")));
    // A new head is proven by nothing yet.
    repo.write("a.py", "one = 1\n");
    repo.commit("Less");
    assert_ne!(phase(&repo, &[]), "verified");
    repo.run(&["check", "--", "false"]);
    assert_ne!(phase(&repo, &[]), "verified");
    repo.run_expecting(0, &["check", "--", "true"]);
    assert_eq!(phase(&repo, &[]), "verified");
    // An outdated thread that is left out by default is still open.
    let old = thread(&repo, "bob", "a.py:1", "still one?");
    repo.write("a.py", "uno = 1\n");
    repo.commit("Another name");
    repo.run_expecting(0, &["check", "--", "true"]);
    let default = repo.json(&["comments"]);
    assert_eq!((&default["threads"], &default["phase"]), (&json!([]), &json!("review_triage")), "{old}");
    let schema = document_of_schema(&repo, "comments").to_string();
    assert!(!schema.contains("final_reported"), "there is no such phase");
}

// spec: TRI-9 @local
#[test]
fn comments_writes_nothing_on_a_pull() {
    let repo = TestRepo::new();
    repo.branch("topic", &[("a.py", "one = 1\n")]);
    let none = repo.run_expecting(3, &["comments"]);
    assert!(none.err.contains("no pull"), "{}", none.err);
    assert_eq!(repo.json(&["local", "list"])["pulls"], json!([]), "a scan opens no pull");
    repo.run_expecting(0, &["local", "open"]);
    let one = thread(&repo, "bob", "a.py:1", "one?");
    repo.write("a.py", "one = 1\ntwo = 2\n");
    repo.commit("Two");
    repo.run_expecting(0, &["comments"]);
    // Beside what is remembered of the scan, not a byte changes: not in the pulls, not in git.
    let others = || {
        let mut all = read_files(&repo.dir());
        all.retain(|(path, _)| !path.to_string_lossy().contains("referee/state.db"));
        all
    };
    let (before, stood) = (others(), repo.read_snapshot("L1"));
    triage(&repo, &[], &[item(&one, "valid")]);
    repo.run_expecting(0, &["comments", "--all", "--include-outdated"]);
    repo.run_expecting(0, &["comments", "--json"]);
    let after = others();
    let changed: Vec<_> = after.iter().filter(|file| !before.contains(file)).map(|(path, _)| path).collect();
    assert!(changed.is_empty() && after.len() == before.len(), "a scan wrote {changed:?}");
    let now = repo.read_snapshot("L1");
    for what in ["threads", "reviews", "comments", "pull"] {
        assert_eq!(now[what], stood[what]);
    }
}
