//! Tests of reading a worker's result, above all of invalid ones.

#![cfg(unix)]

use std::path::{Path, PathBuf};

use referee_core::model::answer::FixSubject;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{Class, FindingId, ThreadId};
use referee_core::plan::JobKind;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{CheckedResult, ExpectedResult, MAX_RESULT_BYTES, MAX_RESULT_ITEMS, read_result};
use crate::worker::WorkerSecrets;
use crate::worker::talk::tests::sample_talk;

const NONCE: &str = "0123456789abcdef";

/// A folder with a result in it.
struct ResultFolder(TempDir);

impl ResultFolder {
    fn empty() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn with_bytes(bytes: &[u8]) -> Self {
        let folder = Self::empty();
        std::fs::write(folder.path(), bytes).expect("written");
        folder
    }

    fn with_json(value: &Value) -> Self {
        Self::with_bytes(value.to_string().as_bytes())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("result.json")
    }

    fn read(&self, kind: JobKind) -> Result<CheckedResult, String> {
        read_result(
            &self.path(),
            &ExpectedResult { kind, nonce: NONCE, talk: &sample_talk(), secrets: &WorkerSecrets::default() },
        )
    }
}

fn done_payload() -> Value {
    json!({ "schema": "referee/result-1", "nonce": NONCE, "outcome": "done", "summary": "mended" })
}

fn payload_with(key: &str, value: Value) -> Value {
    let mut payload = done_payload();
    payload[key] = value;
    payload
}

#[test]
fn answers_and_plans_are_converted_to_threads_and_subjects() {
    let payload = payload_with(
        "answers",
        json!([
            { "finding": "F4", "classification": "valid", "fixSummary": "bound it", "commitSha": "abc",
              "verification": [{ "command": "cargo test", "status": "passed", "headSha": "abc" }] },
            { "thread": "t9", "classification": "invalid", "evidence": "it cannot be empty", "replyBody": "no" },
        ]),
    );
    let mut payload = payload;
    payload["fixPlan"] = json!([{ "finding": "F4", "plan": "bind it" }, { "finding": "#2", "plan": "draw it" }]);
    let result = ResultFolder::with_json(&payload).read(JobKind::Findings).expect("a result");
    assert_eq!((result.outcome, result.summary.as_str()), (WorkOutcome::Done, "mended"));
    let answers: Vec<_> = result.answers.iter().map(|it| (it.thread_id.as_str(), it.classification)).collect();
    assert_eq!(answers, [("t4", Class::Valid), ("t9", Class::Invalid)]);
    let planned: Vec<FixSubject> = result.fix_plan.iter().map(|it| it.about).collect();
    assert_eq!(planned, [FixSubject::Finding(FindingId(4)), FixSubject::Row(2)]);
    assert_eq!((result.dropped.len(), result.clean, result.pull_text), (0, None, None));
}

#[test]
fn only_a_regular_file_of_limited_size_is_a_result() {
    let elsewhere = ResultFolder::with_json(&done_payload());
    let link = ResultFolder::empty();
    std::os::unix::fs::symlink(elsewhere.path(), link.path()).expect("a link");
    let folder = ResultFolder::empty();
    std::fs::create_dir(folder.path()).expect("a folder");
    let pipe = ResultFolder::empty();
    let made = std::process::Command::new("mkfifo").arg(pipe.path()).status().expect("mkfifo");
    assert!(made.success());
    for (folder, part) in [
        (&link, "not a regular file"),
        (&folder, "not a regular file"),
        (&pipe, "not a regular file"),
        (&ResultFolder::empty(), "it left no result"),
        (&ResultFolder::with_bytes(&vec![b' '; 2 << 20]), "larger than 1024 kB"),
    ] {
        let refused = folder.read(JobKind::Findings).expect_err(part);
        assert!(refused.contains(part), "{refused}");
    }
    assert!(Path::new("/dev/zero").exists());
    let endless = read_result(
        Path::new("/dev/zero"),
        &ExpectedResult {
            kind: JobKind::Findings,
            nonce: NONCE,
            talk: &sample_talk(),
            secrets: &WorkerSecrets::default(),
        },
    );
    assert!(endless.is_err_and(|why| why.contains("not a regular file")));
}

#[test]
fn json_that_violates_the_schema_is_not_a_result() {
    let without = |key: &str| {
        let mut payload = done_payload();
        payload.as_object_mut().expect("an object").remove(key);
        payload
    };
    let many: Vec<Value> =
        (0..=MAX_RESULT_ITEMS).map(|_| json!({ "thread": "t9", "classification": "valid" })).collect();
    for payload in [
        json!(null),
        json!([]),
        json!("done"),
        without("nonce"),
        without("outcome"),
        without("schema"),
        payload_with("schema", json!("referee/result-2")),
        payload_with("nonce", json!("")),
        payload_with("nonce", json!("0123456789ABCDEF")),
        payload_with("nonce", json!(format!("{NONCE} "))),
        payload_with("outcome", json!("approved")),
        payload_with("outcome", json!("Done")),
        payload_with("merge", json!(true)),
        payload_with("summary", json!(7)),
        payload_with("answers", json!([{ "thread": "t9" }])),
        payload_with("answers", json!([{ "thread": "t9", "classification": "resolved" }])),
        payload_with("answers", json!([{ "thread": "t9", "classification": "valid", "commitReachable": true }])),
        payload_with("answers", json!(many)),
        payload_with("pull", json!({ "body": "no title" })),
    ] {
        ResultFolder::with_json(&payload).read(JobKind::Findings).expect_err(&payload.to_string());
    }
    let whole = done_payload().to_string();
    for end in 0..whole.len() {
        ResultFolder::with_bytes(&whole.as_bytes()[..end]).read(JobKind::Findings).expect_err("half a result");
    }
    let deep = "[".repeat(usize::try_from(MAX_RESULT_BYTES).expect("a number") - 1);
    ResultFolder::with_bytes(deep.as_bytes()).read(JobKind::Findings).expect_err("a well of brackets");
    ResultFolder::with_bytes(b"\xff\xfe{}").read(JobKind::Findings).expect_err("no text");
}

#[test]
fn an_answer_to_something_the_worker_was_not_shown_is_dropped_with_a_reason() {
    for answer in [
        json!({ "thread": "t1", "classification": "valid" }),
        json!({ "thread": "F4", "classification": "valid" }),
        json!({ "finding": "F5", "classification": "valid" }),
        json!({ "finding": "t9", "classification": "valid" }),
        json!({ "finding": "F6", "classification": "valid" }),
        json!({ "finding": "F4", "thread": "t9", "classification": "valid" }),
        json!({ "classification": "valid" }),
        json!({ "finding": "F4`\n@all", "classification": "valid" }),
    ] {
        let own = json!({ "thread": "t9", "classification": "stale" });
        let result = ResultFolder::with_json(&payload_with("answers", json!([answer, own])))
            .read(JobKind::Findings)
            .expect("a result");
        let answered: Vec<_> = result.answers.iter().map(|it| &it.thread_id).collect();
        assert_eq!(answered, [&ThreadId::from("t9")], "{answer}");
        assert_eq!(result.dropped.len(), 1, "{answer}");
        assert!(!result.dropped[0].contains('\n'), "{:?}", result.dropped);
    }
    let unknown = ["F99", "#4", "2", "#", "F4 "].map(|name| json!({ "finding": name, "plan": "?" }));
    let result = ResultFolder::with_json(&payload_with("fixPlan", json!(unknown)))
        .read(JobKind::AddressFeedback)
        .expect("a result");
    assert_eq!((result.fix_plan.len(), result.dropped.len()), (0, unknown.len()));
}

#[test]
fn a_self_review_that_names_findings_is_not_clean() {
    let review = |review: Value| ResultFolder::with_json(&payload_with("selfReview", review)).read(JobKind::SelfReview);
    let clean = review(json!({ "assessment": "clean", "findings": [], "notes": "read it twice" })).expect("a result");
    assert_eq!((clean.clean, clean.summary.as_str()), (Some(true), "mended\n\nread it twice"));
    let found = review(json!({ "assessment": "clean", "findings": ["a leak"] })).expect("a result");
    assert_eq!((found.clean, found.summary.as_str()), (Some(false), "mended\n\n- a leak"));
    let attention = review(json!({ "assessment": "needs_attention" })).expect("a result");
    assert_eq!(attention.clean, Some(false));
    ResultFolder::with_json(&done_payload()).read(JobKind::SelfReview).expect_err("no assessment");
    let other =
        ResultFolder::with_json(&payload_with("selfReview", json!({ "assessment": "clean" }))).read(JobKind::CiFix);
    assert_eq!(other.expect("a result").clean, None, "another type's word for itself does not count");
}

#[test]
fn only_an_impl_opens_a_pull_and_long_texts_are_truncated() {
    let payload = payload_with("pull", json!({ "title": "Do it", "body": "ü".repeat(20_000) }));
    let (title, body) =
        ResultFolder::with_json(&payload).read(JobKind::Impl).expect("a result").pull_text.expect("a pull");
    assert_eq!(title, "Do it");
    assert!(body.len() <= 16 << 10 && body.chars().all(|c| c == 'ü'));
    assert_eq!(ResultFolder::with_json(&payload).read(JobKind::Rebase).expect("a result").pull_text, None);
}
