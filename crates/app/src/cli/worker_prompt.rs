//! `referee worker-prompt`: what a worker is told, for a runner that is not referee.

use std::path::PathBuf;

use clap::Args;
use referee_core::plan::JobKind;
use referee_core::say::nearest;
use serde_json::json;

use super::Common;
use crate::dispatch::{Label, find};
use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::worker::{Audience, Brief, render, task_in};

/// Print what a worker is told
#[derive(Debug, Args)]
pub(super) struct WorkerPrompt {
    /// The type, as a SPAWN line names it
    #[arg(value_name = "TYPE", value_parser = kind)]
    job: JobKind,
    /// The pull's number; for `impl` the issue's
    number: u64,
    /// The head, as the SPAWN line names it
    #[arg(long, value_name = "SHA")]
    head: Option<String>,
    /// The project: a file, or a name in the folder of projects
    #[arg(long)]
    project: String,
    /// The folder of projects [default: `projects` beside the operator file]
    #[arg(long, value_name = "DIR")]
    projects: Option<PathBuf>,
    /// Own tasks, as `<type>.md` [default: `worker-tasks` beside the project's file]
    #[arg(long, value_name = "DIR")]
    tasks: Option<PathBuf>,
}

impl WorkerPrompt {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        let found = find(common, &self.project, self.projects.as_deref())?;
        let folder = match &self.tasks {
            Some(folder) => common.dir.join(folder),
            None => found.tasks(),
        };
        let wip = match &found.file.labels.wip {
            Some(Label::Name(name)) => name.clone(),
            Some(Label::Id(_)) | None => "wip".to_owned(),
        };
        let repo = found.file.repo.0.to_string();
        let (head, user) = (self.head.as_deref(), found.file.user.as_str());
        let brief = Brief { repo: &repo, number: self.number, head, user, wip: &wip };
        let text = render(&task_in(&folder, self.job)?, &brief, Audience::Outside)?;
        if out.json {
            out.document(&json!({
                "schema": "referee/worker-prompt-1", "type": self.job, "number": self.number, "text": text,
            }));
        } else {
            out.data(&text);
        }
        Ok(Ending::Done)
    }
}

fn kind(word: &str) -> Result<JobKind, String> {
    let names = JobKind::ALL.map(|kind| kind.to_string());
    if let Some(kind) = JobKind::ALL.into_iter().find(|kind| kind.to_string() == word) {
        return Ok(kind);
    }
    Err(match nearest(word, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the types are {}", names.join(", ")),
    })
}
