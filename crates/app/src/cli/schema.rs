//! `referee schema NAME`.

use clap::{Args, ValueEnum};
use referee_core::model::{Snapshot, Submission};
use referee_core::plan::Plan;
use referee_core::policy::Policy;
use referee_core::triage::TriagePayload;
use schemars::schema_for;

use super::comments::CommentsDocument;
use crate::failure::{Ending, Failure};
use crate::fix::FixPayload;
use crate::out::Out;
use crate::payload;
use crate::show::{PassDocument, TurnDocument};
use crate::worker::{JobDocument, ResultPayload};

/// Print a published JSON schema
#[derive(Debug, Args)]
pub(super) struct SchemaOf {
    /// Which
    name: Name,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    /// What a reviewer hands in
    Report,
    /// What a triage hands in
    Triage,
    /// What `fix-comments` takes
    Fix,
    /// What `comments --json` prints
    Comments,
    /// What `review --json` prints
    Turn,
    /// What `dispatch --json` prints
    Pass,
    /// What a worker finds as `job.json`
    Job,
    /// What a worker leaves as `result.json`
    Result,
    /// `referee.toml`
    Config,
    /// What is known of a pull
    Snapshot,
    /// What was decided
    Plan,
    /// The rules, every default resolved
    Policy,
}

impl SchemaOf {
    pub(super) fn run(self, out: &Out) -> Result<Ending, Failure> {
        let schema = match self.name {
            Name::Report => schema_for!(Submission),
            Name::Triage => payload::schema::<TriagePayload>(),
            Name::Fix => payload::schema::<FixPayload>(),
            Name::Comments => schema_for!(CommentsDocument),
            Name::Turn => schema_for!(TurnDocument),
            Name::Pass => schema_for!(PassDocument),
            Name::Job => schema_for!(JobDocument),
            Name::Result => payload::schema::<ResultPayload>(),
            Name::Config => return print(&crate::config::schema(), out),
            Name::Snapshot => schema_for!(Snapshot),
            Name::Plan => schema_for!(Plan),
            Name::Policy => schema_for!(Policy),
        };
        print(schema.as_value(), out)
    }
}

fn print(schema: &serde_json::Value, out: &Out) -> Result<Ending, Failure> {
    out.data(&format!("{schema:#}\n"));
    Ok(Ending::Done)
}
