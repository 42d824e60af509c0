//! Reads and checks `result.json`, the result of a worker. If it is missing or invalid the work counts as failed, whatever
//! the worker's exit code and output.

mod file;
mod payload;

use std::path::Path;

use referee_core::model::Answer;
use referee_core::model::answer::PlannedFix;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::plan::JobKind;
use serde_json::Value;

use super::secrets::WorkerSecrets;
use super::talk::Talk;
pub(crate) use payload::ResultPayload;
use payload::{Assessment, FindingPlan, PullText, SelfReviewResult, WorkerAnswer};

/// A worker's result that passed the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedResult {
    /// The outcome that the worker claims.
    pub(crate) outcome: WorkOutcome,
    /// Untrusted text.
    pub(crate) summary: String,
    /// Answers to threads that the worker was shown.
    pub(crate) answers: Vec<Answer>,
    /// Whether a self-review found nothing; `None` for other kinds of job.
    pub(crate) clean: Option<bool>,
    pub(crate) fix_plan: Vec<PlannedFix>,
    /// Title and body of the pull that an `impl` opens.
    pub(crate) pull_text: Option<(String, String)>,
    /// Parts that were dropped, each with its reason.
    pub(crate) dropped: Vec<String>,
}

impl CheckedResult {
    /// Creates the result of a worker that left no valid one.
    pub(crate) fn from_failure(reason: String) -> Self {
        Self {
            outcome: WorkOutcome::Failed,
            summary: reason,
            answers: Vec::new(),
            clean: None,
            fix_plan: Vec::new(),
            pull_text: None,
            dropped: Vec::new(),
        }
    }
}

/// The job that a result is checked against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpectedResult<'a> {
    pub(crate) kind: JobKind,
    /// Proves that the result belongs to this job.
    pub(crate) nonce: &'a str,
    /// The findings and threads that the worker was shown.
    pub(crate) talk: &'a Talk,
    /// Redacted in the result.
    pub(crate) secrets: &'a WorkerSecrets<'a>,
}

pub(crate) const MAX_RESULT_BYTES: u64 = 1 << 20;
/// Limit for answers and for entries of the fix plan.
pub(crate) const MAX_RESULT_ITEMS: usize = 500;
/// Each text is truncated to this length.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// Reads and checks the result. The error is a sentence that may be posted on the pull.
pub(crate) fn read_result(path: &Path, expected: &ExpectedResult<'_>) -> Result<CheckedResult, String> {
    let bytes = redact_json(file::read_regular_file(path, MAX_RESULT_BYTES)?, expected.secrets);
    let payload: ResultPayload =
        serde_json::from_slice(&bytes).map_err(|error| format!("its result is invalid: {error}"))?;
    if payload.nonce != expected.nonce {
        return Err("its result belongs to another job: the nonce is wrong".to_owned());
    }
    for (field, count) in [("answers", payload.answers.len()), ("fixPlan", payload.fix_plan.len())] {
        if count > MAX_RESULT_ITEMS {
            return Err(format!(
                "its result is invalid: `{field}` has {count} items, more than the maximum of {MAX_RESULT_ITEMS}"
            ));
        }
    }
    check_payload(payload, expected)
}

/// Replaces secrets in the texts of a document. A string is decoded first: `\u0073ecret` is the same text as `secret`.
fn redact_json(bytes: Vec<u8>, secrets: &WorkerSecrets<'_>) -> Vec<u8> {
    // An invalid document is refused by the caller, and the refusal redacted.
    let Ok(document) = serde_json::from_slice::<Value>(&bytes) else { return bytes };
    let redacted = redact_value(document.clone(), secrets);
    if redacted == document { bytes } else { redacted.to_string().into_bytes() }
}

fn redact_value(value: Value, secrets: &WorkerSecrets<'_>) -> Value {
    match value {
        Value::String(text) => Value::String(secrets.redact_text(&text)),
        Value::Array(items) => items.into_iter().map(|item| redact_value(item, secrets)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (secrets.redact_text(&name), redact_value(value, secrets))).collect()
        }
        other => other,
    }
}

fn check_payload(payload: ResultPayload, expected: &ExpectedResult<'_>) -> Result<CheckedResult, String> {
    let ResultPayload { schema: _, nonce: _, outcome, summary, answers, self_review, fix_plan, pull } = payload;
    let is_review = expected.kind == JobKind::SelfReview;
    let self_review = self_review.filter(|_| is_review);
    if is_review && outcome == WorkOutcome::Done && self_review.is_none() {
        return Err("its result is invalid: a self-review with the outcome `done` needs `selfReview`".to_owned());
    }
    let mut dropped = Vec::new();
    let answers =
        collect_accepted(answers.into_iter().map(|answer| convert_answer(answer, expected.talk)), &mut dropped);
    let fix_plan = collect_accepted(fix_plan.into_iter().map(|plan| convert_plan(plan, expected.talk)), &mut dropped);
    let (clean, summary) = match self_review {
        Some(review) => (Some(is_clean(&review)), render_self_review(&summary, &review)),
        None => (None, summary),
    };
    let pull = pull.filter(|_| expected.kind == JobKind::Impl);
    let pull_text = pull.map(|PullText { title, body }| (truncate_text(title), truncate_text(body)));
    Ok(CheckedResult { outcome, summary: truncate_text(summary), answers, clean, fix_plan, pull_text, dropped })
}

fn collect_accepted<T>(items: impl Iterator<Item = Result<T, String>>, dropped: &mut Vec<String>) -> Vec<T> {
    items.filter_map(|item| item.map_err(|reason| dropped.push(reason)).ok()).collect()
}

/// Converts an answer. Refuses an answer to a thread that the worker was not shown.
fn convert_answer(answer: WorkerAnswer, talk: &Talk) -> Result<Answer, String> {
    let thread_id = match (&answer.finding, &answer.thread) {
        (Some(name), None) => match talk.find_finding(name) {
            Some((_, Some(thread))) => Ok(thread),
            Some((_, None)) => Err(format!("the answer to `{}` was left out: it has no thread", sanitize_name(name))),
            None => Err(format!("the answer to `{}` was left out: there is no such finding", sanitize_name(name))),
        },
        (None, Some(id)) => talk.find_thread(id).ok_or_else(|| {
            format!("the answer to `{}` was left out: there is no such thread", sanitize_name(id.as_str()))
        }),
        _ => Err("an answer was left out: it must name exactly one of `finding` and `thread`".to_owned()),
    }?;
    Ok(Answer {
        thread_id,
        classification: answer.classification,
        fix_summary: answer.fix_summary.map(truncate_text),
        evidence: answer.evidence.map(truncate_text),
        verification: answer.verification,
        commit_sha: answer.commit_sha,
        commit_reachable: false,
        reply_body: answer.reply_body.map(truncate_text),
    })
}

fn convert_plan(item: FindingPlan, talk: &Talk) -> Result<PlannedFix, String> {
    match talk.find_subject(&item.finding) {
        Some(about) => Ok(PlannedFix { about, plan: truncate_text(item.plan) }),
        None => Err(format!("the plan for `{}` was left out: there is no such finding", sanitize_name(&item.finding))),
    }
}

/// A self-review that lists findings is not clean, whatever it claims.
fn is_clean(review: &SelfReviewResult) -> bool {
    review.assessment == Assessment::Clean && review.findings.is_empty()
}

/// Renders summary, notes and findings of a self-review as one text.
fn render_self_review(summary: &str, review: &SelfReviewResult) -> String {
    let findings: Vec<String> = review.findings.iter().map(|finding| format!("- {finding}")).collect();
    let findings = findings.join("\n");
    let parts = [summary, &review.notes, &findings].map(str::trim);
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

fn truncate_text(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    text
}

/// Shortens an untrusted name to 40 printable ASCII characters.
fn sanitize_name(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_graphic() && *c != '`').take(40).collect()
}

#[cfg(test)]
mod tests;
