//! `result.json`: what a worker says of its work. Whatever is wrong with it, the work counts as failed, and the worker's
//! exit code and prints change nothing about that.

mod file;
mod payload;

use std::path::Path;

use referee_core::model::Answer;
use referee_core::model::answer::PlannedFix;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::plan::JobKind;

use super::secrets::WorkerSecrets;
use super::talk::Talk;
pub(crate) use payload::ResultPayload;
use payload::{AnswerTo, Assessment, PlanFor, PullText, SelfReviewOf};

/// What a worker says of its work, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedResult {
    /// Its own word for how it ended.
    pub(crate) outcome: WorkOutcome,
    /// What it says; tainted text.
    pub(crate) summary: String,
    /// Its answers, each to a thread that it was shown.
    pub(crate) answers: Vec<Answer>,
    /// What a self-review came to.
    pub(crate) clean: Option<bool>,
    /// What it did about each finding.
    pub(crate) fix_plan: Vec<PlannedFix>,
    /// The title and text of the pull of an `impl`.
    pub(crate) pull_text: Option<(String, String)>,
    /// What was left out, and why.
    pub(crate) dropped: Vec<String>,
}

impl CheckedResult {
    /// Of a worker that left none.
    pub(crate) fn from_failure(why: String) -> Self {
        Self {
            outcome: WorkOutcome::Failed,
            summary: why,
            answers: Vec::new(),
            clean: None,
            fix_plan: Vec::new(),
            pull_text: None,
            dropped: Vec::new(),
        }
    }
}

/// Whose result is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpectedResult<'a> {
    /// Of which type.
    pub(crate) kind: JobKind,
    /// What proves that it answers this job.
    pub(crate) nonce: &'a str,
    /// What the worker was shown.
    pub(crate) talk: &'a Talk,
    /// What it was given and must not say.
    pub(crate) secrets: &'a WorkerSecrets<'a>,
}

/// Larger ones are no result.
pub(crate) const MAX_RESULT_BYTES: u64 = 1 << 20;
/// More answers than a pull has threads that anybody reads.
pub(crate) const MAX_RESULT_ITEMS: usize = 500;
/// The longest text that is taken of each field; the rest is left out.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// Reads the result. The error says in words why there is none.
pub(crate) fn read_result(path: &Path, expected: &ExpectedResult<'_>) -> Result<CheckedResult, String> {
    let bytes = expected.secrets.redact(file::read_plain_file(path, MAX_RESULT_BYTES)?);
    let payload: ResultPayload =
        serde_json::from_slice(&bytes).map_err(|error| format!("its result is wrong: {error}"))?;
    if payload.nonce != expected.nonce {
        return Err("its result answers another job: the nonce is wrong".to_owned());
    }
    for (what, count) in [("answers", payload.answers.len()), ("fixPlan", payload.fix_plan.len())] {
        if count > MAX_RESULT_ITEMS {
            return Err(format!(
                "its result is wrong: `{what}` has {count} items, and {MAX_RESULT_ITEMS} are the most"
            ));
        }
    }
    check_payload(payload, expected)
}

fn check_payload(payload: ResultPayload, expected: &ExpectedResult<'_>) -> Result<CheckedResult, String> {
    let ResultPayload { schema: _, nonce: _, outcome, summary, answers, self_review, fix_plan, pull } = payload;
    let is_review = expected.kind == JobKind::SelfReview;
    let self_review = self_review.filter(|_| is_review);
    if is_review && outcome == WorkOutcome::Done && self_review.is_none() {
        return Err("its result is wrong: a self-review that is done has a `selfReview`".to_owned());
    }
    let mut dropped = Vec::new();
    let answers = collect_accepted(answers.into_iter().map(|it| convert_answer(it, expected.talk)), &mut dropped);
    let plan = collect_accepted(fix_plan.into_iter().map(|it| convert_plan(it, expected.talk)), &mut dropped);
    let (clean, summary) = match self_review {
        Some(review) => (Some(is_clean(&review)), render_self_review(&summary, &review)),
        None => (None, summary),
    };
    let pull = pull.filter(|_| expected.kind == JobKind::Impl);
    let pull = pull.map(|PullText { title, body }| (truncate_text(title), truncate_text(body)));
    Ok(CheckedResult {
        outcome,
        summary: truncate_text(summary),
        answers,
        clean,
        fix_plan: plan,
        pull_text: pull,
        dropped,
    })
}

fn collect_accepted<T>(all: impl Iterator<Item = Result<T, String>>, dropped: &mut Vec<String>) -> Vec<T> {
    all.filter_map(|one| one.map_err(|why| dropped.push(why)).ok()).collect()
}

/// A thread that the worker was not shown is nobody's to answer.
fn convert_answer(answer: AnswerTo, talk: &Talk) -> Result<Answer, String> {
    let thread_id = match (&answer.finding, &answer.thread) {
        (Some(name), None) => match talk.find_finding(name) {
            Some((_, Some(thread))) => Ok(thread),
            Some((_, None)) => Err(format!("the answer to `{}` was left out: it has no thread", sanitize_name(name))),
            None => Err(format!("the answer to `{}` was left out: there is no such finding", sanitize_name(name))),
        },
        (None, Some(id)) => talk.find_thread(id).ok_or_else(|| {
            format!("the answer to `{}` was left out: there is no such thread", sanitize_name(id.as_str()))
        }),
        _ => Err("an answer was left out: it names not exactly one of `finding` and `thread`".to_owned()),
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

fn convert_plan(item: PlanFor, talk: &Talk) -> Result<PlannedFix, String> {
    match talk.find_subject(&item.finding) {
        Some(about) => Ok(PlannedFix { about, plan: truncate_text(item.plan) }),
        None => Err(format!("the plan for `{}` was left out: there is no such finding", sanitize_name(&item.finding))),
    }
}

/// Who names findings has not found it clean.
fn is_clean(review: &SelfReviewOf) -> bool {
    review.assessment == Assessment::Clean && review.findings.is_empty()
}

/// The words of a self-review.
fn render_self_review(summary: &str, review: &SelfReviewOf) -> String {
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

/// A name that somebody made up, short and in one line.
fn sanitize_name(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_graphic() && *c != '`').take(40).collect()
}

#[cfg(test)]
mod tests;
