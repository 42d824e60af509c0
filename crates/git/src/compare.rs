//! What changed from one commit to another.

use referee_core::model::Sha;

use crate::program::full;
use crate::{Git, GitError};

/// What makes a diff the same on every machine: the user's and the repository's settings have no say.
const PINNED_DIFF: &[&str] = &[
    "-r",
    "-z",
    "--raw",
    "--patch",
    "--no-abbrev",
    "--full-index",
    "--unified=3",
    "--inter-hunk-context=0",
    "--find-renames=50%",
    "--no-rename-empty",
    "-l1000",
    "--diff-algorithm=histogram",
    "--indent-heuristic",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "--ignore-submodules=none",
    "-O/dev/null",
];

impl Git {
    /// The diff from one commit to another, renames found, for [`parse_diff`](crate::parse_diff).
    ///
    /// It is led by the list of the files, so that a cut is seen. Either may be a tree instead, as
    /// [`empty_tree`](Git::empty_tree) is.
    pub fn diff(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, GitError> {
        let mut arguments = PINNED_DIFF.to_vec();
        arguments.extend(["--end-of-options", full(old)?, full(new)?, "--"]);
        self.ask("diff-tree", &arguments).map_err(|error| self.unless_missing(&[old, new], error))
    }

    /// What a first commit is compared with: the tree without a file.
    pub fn empty_tree(&self) -> Result<Sha, GitError> {
        self.sha("hash-object", &["-t", "tree", "--stdin"])
    }
}
