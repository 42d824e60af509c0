//! `referee schema NAME`: prints a JSON schema.

use clap::{Args, ValueEnum};
use referee_core::model::{Snapshot, Submission};
use referee_core::plan::Plan;
use referee_core::policy::Policy;
use referee_core::triage::TriagePayload;
use schemars::schema_for;

use super::comments::CommentsDocument;
use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::fix_payload::FixPayload;
use crate::output::{PassDocument, TurnDocument};
use crate::payload;
use crate::worker::{JobDocument, ResultPayload};

/// Print a published JSON schema
#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// The name of the schema
    name: SchemaName,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SchemaName {
    /// The report of a reviewer
    Report,
    /// The triage for `comments --triage-payload`
    Triage,
    /// The answers for `fix-comments --payload`
    Fix,
    /// The output of `comments --json`
    Comments,
    /// The output of `review --json`
    Turn,
    /// The output of `dispatch --json`
    Pass,
    /// The file `job.json` that a worker reads
    Job,
    /// The file `result.json` that a worker writes
    Result,
    /// `referee.toml`
    Config,
    /// The state of a pull request that referee decides on
    Snapshot,
    /// A decision: steps, refusals and what comes next
    Plan,
    /// The config with every default resolved
    Policy,
}

impl SchemaArgs {
    pub(super) fn run(self, out: &Console) -> Result<CliOutcome, Failure> {
        let schema = match self.name {
            SchemaName::Report => schema_for!(Submission),
            SchemaName::Triage => payload::build_payload_schema::<TriagePayload>(),
            SchemaName::Fix => payload::build_payload_schema::<FixPayload>(),
            SchemaName::Comments => schema_for!(CommentsDocument),
            SchemaName::Turn => schema_for!(TurnDocument),
            SchemaName::Pass => schema_for!(PassDocument),
            SchemaName::Job => schema_for!(JobDocument),
            SchemaName::Result => payload::build_payload_schema::<ResultPayload>(),
            SchemaName::Config => return print_schema(&crate::config::build_config_schema(), out),
            SchemaName::Snapshot => schema_for!(Snapshot),
            SchemaName::Plan => schema_for!(Plan),
            SchemaName::Policy => schema_for!(Policy),
        };
        print_schema(schema.as_value(), out)
    }
}

fn print_schema(schema: &serde_json::Value, out: &Console) -> Result<CliOutcome, Failure> {
    out.print_data(&format!("{schema:#}\n"));
    Ok(CliOutcome::Done)
}
