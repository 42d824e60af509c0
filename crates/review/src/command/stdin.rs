//! The brief as a command reads it.

use referee_core::model::{RoleName, Severity, Sha};
use referee_core::plan::{Brief, Scope};
use serde::Serialize;

/// `F4` rather than 4 for findings, as the report has to name them.
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
    let written = BriefInput {
        schema: "referee/brief-1",
        role: &brief.role,
        head: &brief.head,
        scope: &brief.scope,
        round: brief.round,
        priors: brief.priors.iter().map(ToString::to_string).collect(),
        floor: brief.floor,
        files,
    };
    serde_json::to_vec(&written).map_err(|error| format!("the brief could not be written: {error}"))
}
