//! Threads to talk about, and payloads about them.

use serde_json::{Value, json};

use crate::shop::{Ran, Shop};

/// Everything that a config may allow, so that only the rule under test says no.
pub(crate) const GENEROUS: &str = "version = 1\n[threads]\nauto_resolve = [\"already_fixed\", \"stale\"]\n\
                                   resolve_invalid = true\nreply_needs_human = true\n";

/// A branch `topic` with three files, opened as `L1` and not reviewed yet.
pub(crate) fn open(shop: &Shop) {
    let files = [
        ("a.py", "one = 1\ntwo = 2\nthree = 3\nfour = 4\n"),
        ("src/b.txt", "alpha\nbeta\ngamma\n"),
        ("src/deep/c.txt", "uno\ndue\ntre\n"),
    ];
    shop.branch("topic", &files);
    shop.ends(0, &["local", "open"]);
}

/// A thread that somebody opens; its id.
pub(crate) fn thread(shop: &Shop, by: &str, place: &str, text: &str) -> String {
    let did = shop.json(&["local", "comment", "L1", place, text, "--as", by]);
    did["did"].as_str().and_then(|did| did.rsplit(' ').next()).expect("an id").to_owned()
}

/// A thread of referee itself, on a finding of a role that blocks nothing; its id.
pub(crate) fn own_thread(shop: &Shop, path: &str, line: u32, title: &str) -> String {
    let found = json!({ "title": title, "severity": "warning", "path": path, "line": line });
    let ran = shop.report("style", json!({ "findings": [found] }));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let threads = shop.stands("L1")["threads"].take();
    let ours = |thread: &&Value| thread["path"] == path && thread["notes"][0]["author"]["bot"] == true;
    let thread = threads.as_array().expect("threads").iter().rfind(ours).expect("a thread of ours");
    thread["id"].as_str().expect("an id").to_owned()
}

/// What a triage says of a thread.
pub(crate) fn item(thread: &str, class: &str) -> Value {
    json!({
        "threadId": thread, "classification": class, "confidence": "high", "reason": "the code says so",
        "recommendedAction": "look at it", "filesToInspect": [], "filesToChange": [], "checksToRun": [],
        "canResolveAfterChecks": false, "requiresHumanDecision": class == "needs_human",
    })
}

/// A triage handed in; how that ended.
pub(crate) fn triage(shop: &Shop, args: &[&str], items: &[Value]) -> Ran {
    let path = shop.file("triage.json", json!({ "prNumber": 1, "threads": items }).to_string());
    shop.run(&[&["comments", "--pr", "L1", "--triage-payload", &path], args].concat())
}

/// The latest note of a thread with everything that an answer may say, as far as `fields` does not say otherwise;
/// a `null` leaves a field out.
pub(crate) fn answer(shop: &Shop, thread: &str, class: &str, fields: Value) -> Value {
    let mut answer = json!({
        "threadId": thread, "classification": class, "fixSummary": "the bound is checked first",
        "evidence": "line 3 checks it", "commitSha": shop.head(),
        "verification": [{ "command": "make test", "status": "passed", "headSha": shop.head() }],
    });
    for (key, value) in fields.as_object().expect("an object") {
        answer[key] = value.clone();
    }
    answer.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
    answer
}

/// Answers in a file; its path as an argument.
fn payload(shop: &Shop, answers: &[Value]) -> String {
    shop.file("fix.json", json!({ "prNumber": 1, "threads": answers }).to_string())
}

/// Answers handed in; how that ended.
pub(crate) fn fix(shop: &Shop, args: &[&str], answers: &[Value]) -> Ran {
    shop.run(&[&["fix-comments", "--pr", "L1", "--payload", &payload(shop, answers)], args].concat())
}

/// The same as a document.
pub(crate) fn fixed(shop: &Shop, args: &[&str], answers: &[Value]) -> Value {
    document(&fix(shop, &[args, &["--json"]].concat(), answers))
}

/// The document that a run printed.
pub(crate) fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", ran.out, ran.err))
}

/// The steps of a turn: what, on which thread, with which end.
pub(crate) fn steps(turn: &Value) -> Vec<String> {
    let steps = turn["steps"].as_array().expect("steps").iter();
    steps.map(|step| [&step["action"], &step["target"], &step["receipt"]].map(word).join(" ")).collect()
}

/// One thread as it stands.
pub(crate) fn standing(shop: &Shop, thread: &str) -> Value {
    let threads = shop.stands("L1")["threads"].take();
    threads.as_array().expect("threads").iter().find(|it| it["id"] == thread).expect("a thread").clone()
}

/// The words of a note.
pub(crate) fn said(thread: &Value, note: usize) -> &str {
    thread["notes"][note]["text"]["body"].as_str().expect("words")
}

/// A document against the schema that the program publishes for it.
pub(crate) fn conforms(shop: &Shop, schema: &str, document: &Value) {
    let schema = document_of_schema(shop, schema);
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}\n{document:#}");
}

/// A published schema.
pub(crate) fn document_of_schema(shop: &Shop, name: &str) -> Value {
    document(&shop.ends(0, &["schema", name]))
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
