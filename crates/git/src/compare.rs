//! Diffs of two commits.

use std::process::Command;

use referee_core::model::Sha;

use crate::git::{require_full_sha, require_success};
use crate::{Git, GitError};

const DIFF_TREE: &str = "diff-tree";

/// Options that make a diff the same on every machine, whatever the user and the repository configure.
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
    /// Returns the diff of two commits or trees with rename detection, for [`parse_diff`](crate::parse_diff).
    ///
    /// A change of too many files is an error. The diff starts with the raw list of files, so that the parser notices a truncated diff.
    pub fn diff(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, GitError> {
        let mut command = self.diff_command();
        command.arg("--end-of-options").args([require_full_sha(old)?, require_full_sha(new)?]).arg("--");
        self.check_change_size(old, new)?;
        require_success(DIFF_TREE, self.run_bounded(DIFF_TREE, command, String::new())?)
            .map_err(|error| self.map_missing_commit(&[old, new], error))
    }

    pub(crate) fn diff_command(&self) -> Command {
        let mut command = self.command_without_attributes(DIFF_TREE);
        command.args(DIFF_OPTIONS);
        command
    }

    /// Returns a command without work tree and index, hence without `.gitattributes`. An attribute could hide changes
    /// from reviewers, start a merge driver, or make the output depend on the checkout.
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
