//! The type of `result.json` (INTERFACE §6), published as `referee schema result`.

use referee_core::model::answer::{Class, Verification};
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{Sha, ThreadId};
use schemars::JsonSchema;
use serde::Deserialize;

/// The result that a worker writes when it ends.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ResultPayload {
    #[expect(dead_code, reason = "deserializing it checks the version")]
    pub(super) schema: ResultVersion,
    /// The nonce of `job.json`.
    pub(super) nonce: String,
    pub(super) outcome: WorkOutcome,
    /// What was done, or what a person must decide.
    #[serde(default)]
    pub(super) summary: String,
    /// One answer per finding or thread.
    #[serde(default)]
    pub(super) answers: Vec<WorkerAnswer>,
    /// Only for `self-review`.
    #[serde(default)]
    pub(super) self_review: Option<SelfReviewResult>,
    /// What was done about each finding, or why nothing.
    #[serde(default)]
    pub(super) fix_plan: Vec<FindingPlan>,
    /// Only for `impl`: the pull to open.
    #[serde(default)]
    pub(super) pull: Option<PullText>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(super) enum ResultVersion {
    #[serde(rename = "referee/result-1")]
    One,
}

/// An answer. It names exactly one of `finding` and `thread`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WorkerAnswer {
    /// The name of a finding of `threads.json`, such as `F4`.
    #[serde(default)]
    pub(super) finding: Option<String>,
    /// The id of a thread of `threads.json`.
    #[serde(default)]
    pub(super) thread: Option<ThreadId>,
    pub(super) classification: Class,
    /// What was done.
    #[serde(default)]
    pub(super) fix_summary: Option<String>,
    /// Facts that support the classification.
    #[serde(default)]
    pub(super) evidence: Option<String>,
    /// Commands that were run to check the fix.
    #[serde(default)]
    pub(super) verification: Vec<Verification>,
    /// The commit that contains the fix.
    #[serde(default)]
    pub(super) commit_sha: Option<Sha>,
    /// A reply text to use instead of the generated one.
    #[serde(default)]
    pub(super) reply_body: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SelfReviewResult {
    pub(super) assessment: Assessment,
    /// One line per finding.
    #[serde(default)]
    pub(super) findings: Vec<String>,
    /// Additional remarks.
    #[serde(default)]
    pub(super) notes: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Assessment {
    /// Nothing was found.
    Clean,
    /// Something was found.
    NeedsAttention,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FindingPlan {
    /// The name of a finding of `threads.json`, such as `F4`, or a row of another bot's table, such as `#4`.
    pub(super) finding: String,
    /// What was done about it, or why nothing.
    pub(super) plan: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PullText {
    /// One line.
    pub(super) title: String,
    /// What changed and why.
    #[serde(default)]
    pub(super) body: String,
}
