//! `referee worker-prompt`: prints the prompt for a worker that a program other than referee runs.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use referee_core::plan::JobKind;
use referee_core::say::find_nearest_word;
use serde_json::json;

use crate::console::Console;
use crate::dispatch::{LabelRef, LoadedProject, find_project, resolve_label};
use crate::failure::{CliOutcome, Failure};
use crate::session::Options;
use crate::worker::{Audience, PromptValues, load_task, render_prompt};

/// Print the prompt for a worker
#[derive(Debug, Args)]
pub(super) struct WorkerPromptArgs {
    /// The type of the job, as in the SPAWN line
    #[arg(value_name = "TYPE", value_parser = parse_job_kind)]
    job: JobKind,
    /// The number of the pull request, or of the issue for `impl`
    number: u64,
    /// The head commit, as in the SPAWN line
    #[arg(long, value_name = "SHA")]
    head: Option<String>,
    /// The project: a file, or a name in the directory of projects
    #[arg(long)]
    project: String,
    /// The directory of projects [default: `projects` beside the operator file]
    #[arg(long, value_name = "DIR")]
    projects: Option<PathBuf>,
    /// A directory of custom tasks, named `<type>.md` [default: `worker-tasks` beside the project file]
    #[arg(long, value_name = "DIR")]
    tasks: Option<PathBuf>,
}

impl WorkerPromptArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let project = find_project(options, &self.project, self.projects.as_deref())?;
        let tasks_dir = match &self.tasks {
            Some(dir) => options.dir.join(dir),
            None => project.tasks_dir(),
        };
        let wip = match &project.file.labels.wip {
            Some(LabelRef::Name(name)) => name.clone(),
            Some(LabelRef::Id(id)) => name_label(options, &project, *id, out).await,
            None => "wip".to_owned(),
        };
        let repo = project.file.repo.0.to_string();
        let (head, user) = (self.head.as_deref(), project.file.user.as_str());
        let values = PromptValues { repo: &repo, number: self.number, head, user, wip_label: &wip };
        let text = render_prompt(&load_task(&tasks_dir, self.job)?, &values, Audience::External)?;
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

/// How long the forge may take to name a label: the prompt is useful without it.
const LABEL_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the name of a label that the project file gives by its id; the id itself, with a warning, if the forge does
/// not answer.
async fn name_label(options: &Options, project: &LoadedProject, id: u64, out: &Console) -> String {
    let named = tokio::time::timeout(LABEL_TIMEOUT, resolve_label(options, project, id)).await;
    let why = match named {
        Ok(Ok(name)) => return name,
        Ok(Err(failure)) => failure.message().to_owned(),
        Err(_) => format!("the forge did not answer within {} s", LABEL_TIMEOUT.as_secs()),
    };
    out.print_line(&format!("warning: the prompt names the label by its id: {why}"));
    format!("id {id}")
}

fn parse_job_kind(word: &str) -> Result<JobKind, String> {
    let names = JobKind::ALL.map(|kind| kind.to_string());
    if let Some(kind) = JobKind::ALL.into_iter().find(|kind| kind.to_string() == word) {
        return Ok(kind);
    }
    Err(match find_nearest_word(word, names.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("the types are {}", names.join(", ")),
    })
}
