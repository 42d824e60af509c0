//! Whether a head could be merged.

use referee_core::model::Sha;

use crate::program::{answer, full, object};
use crate::{Git, GitError};

/// What would come of merging.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merges {
    /// Nothing is in the way; this would be the tree.
    Cleanly(Sha),
    /// These paths need a person; named as in a diff.
    Conflicts(Vec<String>),
    /// There is no common ancestor, so git would refuse.
    Unrelated,
}

const NAME: &str = "merge-tree";

impl Git {
    /// What would come of merging `head` into `base`. No work tree and no index is touched,
    /// and no merge driver runs: git's own way of merging has to do.
    pub fn merges(&self, base: &Sha, head: &Sha) -> Result<Merges, GitError> {
        let mut command = self.without_attributes(NAME);
        command.args(["--write-tree", "--name-only", "--no-messages", "-z", full(base)?, full(head)?]);
        let output = self.finish(&mut command)?;
        match output.status.code() {
            // It says 1 as well when it cannot find a commit, and names no tree then.
            Some(0 | 1) if !output.stdout.is_empty() => told(&output.stdout),
            _ if self.merge_base(base, head)?.is_none() => Ok(Merges::Unrelated),
            _ => answer(NAME, output).and_then(|stdout| told(&stdout)),
        }
    }
}

/// `<tree>\0`, and where there are conflicts `<path>\0` for each.
pub(crate) fn told(answer: &[u8]) -> Result<Merges, GitError> {
    let mut fields = answer.strip_suffix(b"\0").unwrap_or(answer).split(|byte| *byte == 0);
    let tree = object(NAME, fields.next().unwrap_or_default())?;
    let paths: Vec<String> = fields.map(crate::diff::path_name).collect();
    Ok(if paths.is_empty() { Merges::Cleanly(tree) } else { Merges::Conflicts(paths) })
}
