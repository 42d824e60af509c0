//! The brief that a program receives on stdin.

use referee_core::model::{RoleName, Severity, Sha};
use referee_core::plan::{Brief, Scope};
use serde::Serialize;

/// Finding ids are written as `F4`, the form in which a report names them.
#[derive(Serialize)]
struct BriefInput<'a> {
    schema: &'static str,
    role: &'a RoleName,
    head: &'a Sha,
    scope: &'a Scope,
    round: u32,
    priors: Vec<String>,
    floor: Severity,
    files: &'a [String],
}

pub(super) fn encode_brief(brief: &Brief, files: &[String]) -> Result<Vec<u8>, String> {
    let input = BriefInput {
        schema: "referee/brief-1",
        role: &brief.role,
        head: &brief.head,
        scope: &brief.scope,
        round: brief.round,
        priors: brief.priors.iter().map(ToString::to_string).collect(),
        floor: brief.floor,
        files,
    };
    serde_json::to_vec(&input).map_err(|error| format!("the brief could not be encoded: {error}"))
}
