//! The payload of `fix-comments` (FIX-2).

use referee_core::model::Answer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Answers to threads of one pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FixPayload {
    /// Number of the pull.
    pub(crate) pr_number: u64,
    /// One answer per thread.
    pub(crate) threads: Vec<Answer>,
}
