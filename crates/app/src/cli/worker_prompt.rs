//! `referee worker-prompt`: what a worker is told, for a runner that is not referee.

use std::path::PathBuf;

use clap::Args;
use referee_core::plan::JobKind;
use referee_core::say::find_nearest_word;
use serde_json::json;

use crate::console::Console;
use crate::dispatch::{LabelRef, find_project};
use crate::failure::{CliOutcome, Failure};
use crate::session::Options;
use crate::worker::{Audience, PromptValues, load_task, render_prompt};

/// Print what a worker is told
#[derive(Debug, Args)]
pub(super) struct WorkerPromptArgs {
    /// The type, as a SPAWN line names it
    #[arg(value_name = "TYPE", value_parser = parse_job_kind)]
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

impl WorkerPromptArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let found = find_project(options, &self.project, self.projects.as_deref())?;
        let folder = match &self.tasks {
            Some(folder) => options.dir.join(folder),
            None => found.tasks_dir(),
        };
        let wip = match &found.file.labels.wip {
            Some(LabelRef::Name(name)) => name.clone(),
            Some(LabelRef::Id(_)) | None => "wip".to_owned(),
        };
        let repo = found.file.repo.0.to_string();
        let (head, user) = (self.head.as_deref(), found.file.user.as_str());
        let brief = PromptValues { repo: &repo, number: self.number, head, user, wip_label: &wip };
        let text = render_prompt(&load_task(&folder, self.job)?, &brief, Audience::External)?;
        if out.json {
            out.print_json(&json!({
                "schema": "referee/worker-prompt-1", "type": self.job, "number": self.number, "text": text,
            }));
        } else {
            out.print_data(&text);
        }
        Ok(CliOutcome::Done)
    }
}

fn parse_job_kind(word: &str) -> Result<JobKind, String> {
    let names = JobKind::ALL.map(|kind| kind.to_string());
    if let Some(kind) = JobKind::ALL.into_iter().find(|kind| kind.to_string() == word) {
        return Ok(kind);
    }
    Err(match find_nearest_word(word, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the types are {}", names.join(", ")),
    })
}
