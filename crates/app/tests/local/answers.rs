//! Threads and payloads for the tests of `comments` and `fix-comments`.

use serde_json::{Value, json};

use crate::test_repo::{RunOutput, TestRepo};

/// Everything that a config may allow, so that only the rule under test says no.
pub(crate) const GENEROUS: &str = "version = 1\n[threads]\nauto_resolve = [\"already_fixed\", \"stale\"]\n\
                                   resolve_invalid = true\nreply_needs_human = true\n";

/// A branch `topic` with three files, opened as `L1` and not reviewed yet.
pub(crate) fn open(repo: &TestRepo) {
    let files = [
        ("a.py", "one = 1\ntwo = 2\nthree = 3\nfour = 4\n"),
        ("src/b.txt", "alpha\nbeta\ngamma\n"),
        ("src/deep/c.txt", "uno\ndue\ntre\n"),
    ];
    repo.branch("topic", &files);
    repo.run_expecting(0, &["local", "open"]);
}

/// Opens a thread and returns its id.
pub(crate) fn thread(repo: &TestRepo, by: &str, place: &str, text: &str) -> String {
    let did = repo.json(&["local", "comment", "L1", place, text, "--as", by]);
    did["did"].as_str().and_then(|did| did.rsplit(' ').next()).expect("an id").to_owned()
}

/// A thread of referee itself, on a finding of a role that blocks nothing; its id.
pub(crate) fn own_thread(repo: &TestRepo, path: &str, line: u32, title: &str) -> String {
    let found = json!({ "title": title, "severity": "warning", "path": path, "line": line });
    let ran = repo.report("style", json!({ "findings": [found] }));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let threads = repo.read_snapshot("L1")["threads"].take();
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
pub(crate) fn triage(repo: &TestRepo, args: &[&str], items: &[Value]) -> RunOutput {
    let path = repo.write_outside("triage.json", json!({ "prNumber": 1, "threads": items }).to_string());
    repo.run(&[&["comments", "--pr", "L1", "--triage-payload", &path], args].concat())
}

/// The latest note of a thread with everything that an answer may say, as far as `fields` does not say otherwise;
/// a `null` leaves a field out.
pub(crate) fn answer(repo: &TestRepo, thread: &str, class: &str, fields: Value) -> Value {
    let mut answer = json!({
        "threadId": thread, "classification": class, "fixSummary": "the bound is checked first",
        "evidence": "line 3 checks it", "commitSha": repo.head(),
        "verification": [{ "command": "make test", "status": "passed", "headSha": repo.head() }],
    });
    for (key, value) in fields.as_object().expect("an object") {
        answer[key] = value.clone();
    }
    answer.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
    answer
}

/// Answers in a file; its path as an argument.
fn payload(repo: &TestRepo, answers: &[Value]) -> String {
    repo.write_outside("fix.json", json!({ "prNumber": 1, "threads": answers }).to_string())
}

/// Answers handed in; how that ended.
pub(crate) fn fix(repo: &TestRepo, args: &[&str], answers: &[Value]) -> RunOutput {
    repo.run(&[&["fix-comments", "--pr", "L1", "--payload", &payload(repo, answers)], args].concat())
}

/// The same as a document.
pub(crate) fn fixed(repo: &TestRepo, args: &[&str], answers: &[Value]) -> Value {
    document(&fix(repo, &[args, &["--json"]].concat(), answers))
}

/// The document that a run printed.
pub(crate) fn document(ran: &RunOutput) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", ran.out, ran.err))
}

/// The steps of a turn: what, on which thread, with which end.
pub(crate) fn steps(turn: &Value) -> Vec<String> {
    let steps = turn["steps"].as_array().expect("steps").iter();
    steps.map(|step| [&step["action"], &step["target"], &step["receipt"]].map(string).join(" ")).collect()
}

/// One thread as it stands.
pub(crate) fn standing(repo: &TestRepo, thread: &str) -> Value {
    let threads = repo.read_snapshot("L1")["threads"].take();
    threads.as_array().expect("threads").iter().find(|it| it["id"] == thread).expect("a thread").clone()
}

/// The words of a note.
pub(crate) fn said(thread: &Value, note: usize) -> &str {
    thread["notes"][note]["text"]["body"].as_str().expect("words")
}

/// A document against the schema that the program publishes for it.
pub(crate) fn conforms(repo: &TestRepo, schema: &str, document: &Value) {
    let schema = document_of_schema(repo, schema);
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}\n{document:#}");
}

/// A published schema.
pub(crate) fn document_of_schema(repo: &TestRepo, name: &str) -> Value {
    document(&repo.run_expecting(0, &["schema", name]))
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
