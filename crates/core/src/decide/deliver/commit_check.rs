//! Whether a worker's commits may replace the head of a pull (D44).
//!
//! | row | when |
//! |---|---|
//! | not examined | git did not report on the commits |
//! | rewritten | the job is not a `rebase`, and the result does not contain the commit that the worker started from |
//! | not on the base | a `rebase` does not contain the base |
//! | lost change | a `rebase` lost a change of the pull where git merges without a conflict |
//! | dropped commit | a `rebase` has no counterpart for a commit of the pull |
//! | another author | a new commit is in another name than that of the fixing identity |

use crate::model::{CommitAudit, Sha, WorkResult};
use crate::plan::JobKind;

/// Returns why the commits of a result are not delivered, the first row that applies.
pub(super) fn refuse_commits(result: &WorkResult) -> Option<String> {
    let Some(audit) = &result.audit else { return Some("its commits were not examined".to_owned()) };
    let CommitAudit { descends, foreign, protected_links: _, rebase } = audit;
    if result.kind == JobKind::Rebase {
        let Some(rebase) = rebase else { return Some("its commits were not examined".to_owned()) };
        if !rebase.contains_base {
            return Some("it is not based on the tip of the target branch".to_owned());
        }
        if let Some(path) = rebase.lost.first() {
            return Some(format!("the change of `{path}` is lost, and git merges it without a conflict"));
        }
        if let Some(commit) = rebase.dropped.first() {
            return Some(format!("commit {} is dropped", commit.short()));
        }
    } else if !descends {
        return Some(format!("its commits do not continue from {}", result.started_at.short()));
    }
    foreign.first().map(describe_foreign)
}

fn describe_foreign(commit: &Sha) -> String {
    format!("commit {} is in another person's name", commit.short())
}
