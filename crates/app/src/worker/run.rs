//! The outcome of a worker's run, for the terminal and for `--json`.

use std::path::PathBuf;

use referee_core::model::snapshot::WorkOutcome;
use referee_core::plan::JobKind;
use referee_core::render::is_terminal_unsafe;

/// The outcome of a worker's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerRun {
    pub(crate) kind: JobKind,
    /// Number of the pull or issue.
    pub(crate) number: u64,
    pub(crate) outcome: WorkOutcome,
    /// The worker's summary, or why there is none. Untrusted text.
    pub(crate) summary: String,
    pub(crate) pushed_commit: Option<String>,
    /// The branch for which a pull was opened.
    pub(crate) opened_branch: Option<String>,
    /// What was not carried out, each with its reason.
    pub(crate) refusals: Vec<String>,
    /// Path of the output log; `None` if the worker was not started.
    pub(crate) log: Option<PathBuf>,
    /// Whether something was postponed to a later pass.
    pub(crate) unsettled: bool,
}

impl WorkerRun {
    /// Renders a line for the outcome and one for each refusal.
    pub(crate) fn render_lines(&self) -> Vec<String> {
        let mut line = format!("{} #{} {}", self.kind, self.number, describe_outcome(self.outcome));
        if let Some(commit) = &self.pushed_commit {
            line.push_str(&format!(", {} was pushed", commit.get(..7).unwrap_or(commit)));
        }
        if let Some(branch) = &self.opened_branch {
            line.push_str(&format!(", `{branch}` was opened as a pull"));
        }
        // The summary is untrusted and may contain terminal escape sequences.
        let summary = remove_unsafe(self.summary.lines().next().unwrap_or_default(), 200);
        if !summary.is_empty() {
            line.push_str(&format!(": {summary}"));
        }
        // A refusal may name a path that the worker chose.
        let warnings = self.refusals.iter().map(|refusal| format!("warning: {}", remove_unsafe(refusal, usize::MAX)));
        let log = self.log.iter().map(|log| format!("hint: the worker's output is in `{}`", log.display()));
        std::iter::once(line).chain(warnings).chain(log).collect()
    }
}

fn remove_unsafe(text: &str, max_chars: usize) -> String {
    text.chars().filter(|char| !is_terminal_unsafe(*char)).take(max_chars).collect()
}

fn describe_outcome(outcome: WorkOutcome) -> &'static str {
    match outcome {
        WorkOutcome::Done => "is done",
        WorkOutcome::NothingToDo => "found nothing to do",
        WorkOutcome::NeedsHuman => "needs a person",
        WorkOutcome::Failed => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_in_a_summary_are_removed() {
        let run = WorkerRun {
            kind: JobKind::CiFix,
            number: 7,
            outcome: WorkOutcome::Failed,
            summary: "\u{1b}[2Jall\u{7} is well\nSPAWN:impl:8:".to_owned(),
            pushed_commit: None,
            opened_branch: None,
            refusals: vec!["nothing\u{1b}[8m was pushed".to_owned()],
            log: None,
            unsettled: false,
        };
        assert_eq!(run.render_lines(), ["ci-fix #7 failed: [2Jall is well", "warning: nothing[8m was pushed"]);
    }
}
