//! Trial merges.

use referee_core::model::Sha;

use crate::git::{parse_sha, require_full_sha, require_success};
use crate::{Git, GitError};

/// The result of a trial merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// No conflicts. Holds the merged tree.
    Clean(Sha),
    /// The merged tree, whose files have conflict markers that name both commits, and the conflicting paths, quoted as in
    /// a diff.
    Conflicts { tree: Sha, paths: Vec<String> },
    /// There is no common ancestor, so git refuses to merge.
    Unrelated,
}

const MERGE_TREE: &str = "merge-tree";

impl Git {
    /// Tries to merge `head` into `base`, without touching work tree or index and without merge drivers.
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
        self.check_change_size(base, head)?;
        let output = self.run_bounded(MERGE_TREE, command, String::new())?;
        match output.status.code() {
            // Git exits with 1 for a missing commit too, but prints no tree then.
            Some(0 | 1) if !output.stdout.is_empty() => parse_merge_tree(&output.stdout),
            _ if self.merge_base(base, head)?.is_none() => Ok(MergeOutcome::Unrelated),
            _ => require_success(MERGE_TREE, output).and_then(|stdout| parse_merge_tree(&stdout)),
        }
    }
}

/// Parses `<tree>\0`, followed by `<path>\0` for each conflict.
pub(crate) fn parse_merge_tree(output: &[u8]) -> Result<MergeOutcome, GitError> {
    let mut fields = output.strip_suffix(b"\0").unwrap_or(output).split(|byte| *byte == 0);
    let tree = parse_sha(MERGE_TREE, fields.next().unwrap_or_default())?;
    let paths: Vec<String> = fields.map(crate::diff::decode_path).collect();
    Ok(if paths.is_empty() { MergeOutcome::Clean(tree) } else { MergeOutcome::Conflicts { tree, paths } })
}
