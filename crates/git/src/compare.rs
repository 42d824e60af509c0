//! What changed from one commit to another.

use std::process::Command;

use referee_core::model::Sha;

use crate::git::{require_full_sha, require_success};
use crate::{Git, GitError};

const DIFF_TREE: &str = "diff-tree";

/// What makes a diff the same on every machine: the user's and the repository's settings have no say.
const DIFF_OPTIONS: &[&str] = &[
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
        let mut command = self.diff_command();
        command.arg("--end-of-options").args([require_full_sha(old)?, require_full_sha(new)?]).arg("--");
        require_success(DIFF_TREE, self.execute(&mut command)?)
            .map_err(|error| self.map_missing_commit(&[old, new], error))
    }

    pub(crate) fn diff_command(&self) -> Command {
        let mut command = self.command_without_attributes(DIFF_TREE);
        command.args(DIFF_OPTIONS);
        command
    }

    /// What a first commit is compared with: the tree without a file.
    pub fn empty_tree(&self) -> Result<Sha, GitError> {
        self.run_sha("hash-object", &["-t", "tree", "--stdin"])
    }

    /// A call that sees no work tree and no index, hence no `.gitattributes`: a line in it would hide a file's changes from
    /// whoever reviews them, start a merge driver, or give another answer from one checkout to the next.
    pub(crate) fn command_without_attributes(&self, name: &str) -> Command {
        let pinned = ["-c", "core.attributesFile=/dev/null"];
        if self.work_tree_root.is_none() {
            return self.command_with_options(name, &pinned);
        }
        let mut command = self.command_with_options(name, &[&["--bare"], &pinned[..]].concat());
        command.current_dir(&self.common_dir).env("GIT_INDEX_FILE", self.common_dir.join("referee-no-index"));
        command
    }
}
