//! What came of a worker, for people and for `--json`.

use std::path::PathBuf;

use referee_core::model::snapshot::WorkOutcome;
use referee_core::plan::JobKind;
use referee_core::render::is_terminal_unsafe;

/// What came of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerRun {
    /// Of which type.
    pub(crate) kind: JobKind,
    /// On which pull or issue.
    pub(crate) number: u64,
    /// How it ended.
    pub(crate) outcome: WorkOutcome,
    /// What it says, or why there is nothing; tainted text.
    pub(crate) summary: String,
    /// The commit that was pushed.
    pub(crate) pushed_commit: Option<String>,
    /// The branch that was opened as a pull.
    pub(crate) opened_branch: Option<String>,
    /// What was not done, and why.
    pub(crate) refusals: Vec<String>,
    /// Where its prints are; none where it was not started.
    pub(crate) log: Option<PathBuf>,
    /// Something was not done for now.
    pub(crate) unsettled: bool,
}

impl WorkerRun {
    /// In words: a line for how it ended, and one for everything that was not done.
    pub(crate) fn render_lines(&self) -> Vec<String> {
        let mut line = format!("{} #{} {}", self.kind, self.number, describe_outcome(self.outcome));
        if let Some(commit) = &self.pushed_commit {
            line.push_str(&format!(", {} was pushed", commit.get(..7).unwrap_or(commit)));
        }
        if let Some(branch) = &self.opened_branch {
            line.push_str(&format!(", `{branch}` was opened as a pull"));
        }
        // A worker's words may hold whatever a terminal takes for an order.
        let said = self.summary.lines().next().unwrap_or_default();
        let said: String = said.chars().filter(|c| !is_terminal_unsafe(*c)).take(200).collect();
        if !said.is_empty() {
            line.push_str(&format!(": {said}"));
        }
        let refused = self.refusals.iter().map(|why| format!("warning: {why}"));
        let log = self.log.iter().map(|log| format!("hint: what it printed is in `{}`", log.display()));
        std::iter::once(line).chain(refused).chain(log).collect()
    }
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
    fn what_a_worker_says_cannot_order_a_terminal_about() {
        let ran = WorkerRun {
            kind: JobKind::CiFix,
            number: 7,
            outcome: WorkOutcome::Failed,
            summary: "\u{1b}[2Jall\u{7} is well\nSPAWN:impl:8:".to_owned(),
            pushed_commit: None,
            opened_branch: None,
            refusals: vec!["nothing was pushed".to_owned()],
            log: None,
            unsettled: false,
        };
        assert_eq!(ran.render_lines(), ["ci-fix #7 failed: [2Jall is well", "warning: nothing was pushed"]);
    }
}
