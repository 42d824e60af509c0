//! Whether a head could be merged.

use referee_core::model::Sha;

use crate::git::{parse_sha, require_full_sha, require_success};
use crate::{Git, GitError};

/// What would come of merging.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// Nothing is in the way; this would be the tree.
    Clean(Sha),
    /// These paths need a person; named as in a diff.
    Conflicts(Vec<String>),
    /// There is no common ancestor, so git would refuse.
    Unrelated,
}

const MERGE_TREE: &str = "merge-tree";

impl Git {
    /// What would come of merging `head` into `base`. No work tree and no index is touched,
    /// and no merge driver runs: git's own way of merging has to do.
    pub fn try_merge(&self, base: &Sha, head: &Sha) -> Result<MergeOutcome, GitError> {
        let mut command = self.command_without_attributes(MERGE_TREE);
        command.args([
            "--write-tree",
            "--name-only",
            "--no-messages",
            "-z",
            require_full_sha(base)?,
            require_full_sha(head)?,
        ]);
        let output = self.execute(&mut command)?;
        match output.status.code() {
            // It says 1 as well when it cannot find a commit, and names no tree then.
            Some(0 | 1) if !output.stdout.is_empty() => parse_merge_tree(&output.stdout),
            _ if self.merge_base(base, head)?.is_none() => Ok(MergeOutcome::Unrelated),
            _ => require_success(MERGE_TREE, output).and_then(|stdout| parse_merge_tree(&stdout)),
        }
    }
}

/// `<tree>\0`, and where there are conflicts `<path>\0` for each.
pub(crate) fn parse_merge_tree(answer: &[u8]) -> Result<MergeOutcome, GitError> {
    let mut fields = answer.strip_suffix(b"\0").unwrap_or(answer).split(|byte| *byte == 0);
    let tree = parse_sha(MERGE_TREE, fields.next().unwrap_or_default())?;
    let paths: Vec<String> = fields.map(crate::diff::path_name).collect();
    Ok(if paths.is_empty() { MergeOutcome::Clean(tree) } else { MergeOutcome::Conflicts(paths) })
}
