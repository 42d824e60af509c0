//! The form of `result.json` (INTERFACE §6), published as `referee schema result`.

use referee_core::model::answer::{Class, Verification};
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{Sha, ThreadId};
use schemars::JsonSchema;
use serde::Deserialize;

/// What a worker writes when it ends.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ResultPayload {
    #[expect(dead_code, reason = "there is one version, and reading it checks that")]
    pub(super) schema: Version,
    /// The nonce of `job.json`.
    pub(super) nonce: String,
    /// How it ended.
    pub(super) outcome: WorkOutcome,
    /// What was done, or what a person must decide.
    #[serde(default)]
    pub(super) summary: String,
    /// One answer a finding or thread.
    #[serde(default)]
    pub(super) answers: Vec<AnswerTo>,
    /// Of a `self-review`.
    #[serde(default)]
    pub(super) self_review: Option<SelfReviewOf>,
    /// What was done about each finding.
    #[serde(default)]
    pub(super) fix_plan: Vec<PlanFor>,
    /// Of an `impl`: the pull to open.
    #[serde(default)]
    pub(super) pull: Option<PullText>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(super) enum Version {
    #[serde(rename = "referee/result-1")]
    One,
}

/// An answer; it names exactly one of `finding` and `thread`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AnswerTo {
    /// A finding of `threads.json`: `F4`.
    #[serde(default)]
    pub(super) finding: Option<String>,
    /// A thread of `threads.json`.
    #[serde(default)]
    pub(super) thread: Option<ThreadId>,
    /// What it is.
    pub(super) classification: Class,
    /// What was done.
    #[serde(default)]
    pub(super) fix_summary: Option<String>,
    /// Why it is so.
    #[serde(default)]
    pub(super) evidence: Option<String>,
    /// How that was checked.
    #[serde(default)]
    pub(super) verification: Vec<Verification>,
    /// The commit that did it.
    #[serde(default)]
    pub(super) commit_sha: Option<Sha>,
    /// Words of its own.
    #[serde(default)]
    pub(super) reply_body: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SelfReviewOf {
    /// What it came to.
    pub(super) assessment: Assessment,
    /// What was found, a line each.
    #[serde(default)]
    pub(super) findings: Vec<String>,
    /// Whatever else is to be said.
    #[serde(default)]
    pub(super) notes: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Assessment {
    /// Nothing was found.
    Clean,
    /// Something was.
    NeedsAttention,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PlanFor {
    /// A finding of `threads.json`: `F4`; or a row of another bot's table: `#4`.
    pub(super) finding: String,
    /// What was done about it, or why nothing.
    pub(super) plan: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PullText {
    /// In a line.
    pub(super) title: String,
    /// What changed and why.
    #[serde(default)]
    pub(super) body: String,
}
