//! Ancestry and metadata of commits.

use referee_core::model::Sha;

use crate::git::require_full_sha;
use crate::{Git, GitError};

/// Metadata of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    pub sha: Sha,
    /// The first is the branch that the others were merged into.
    pub parents: Vec<Sha>,
    pub author_name: String,
    pub author_email: String,
    /// Commit time in seconds since 1970.
    pub committed_at: i64,
    /// The first paragraph of its message, on one line.
    pub subject: String,
}

impl Git {
    /// Returns the best common ancestor. `None` if the histories are unrelated, or cut off in a shallow clone.
    pub fn merge_base(&self, a: &Sha, b: &Sha) -> Result<Option<Sha>, GitError> {
        let base = self.run_line("merge-base", &["--end-of-options", require_full_sha(a)?, require_full_sha(b)?]);
        base.map(|sha| sha.map(Sha)).map_err(|error| self.map_missing_commit(&[a, b], error))
    }

    /// Returns whether `ancestor` is in the history of `descendant`. A commit is its own ancestor.
    pub fn is_ancestor(&self, ancestor: &Sha, descendant: &Sha) -> Result<bool, GitError> {
        let line = self.run_line(
            "merge-base",
            &["--is-ancestor", "--end-of-options", require_full_sha(ancestor)?, require_full_sha(descendant)?],
        );
        line.map(|line| line.is_some()).map_err(|error| self.map_missing_commit(&[ancestor, descendant], error))
    }

    /// Returns whether two commits contain different files.
    pub fn trees_differ(&self, a: &Sha, b: &Sha) -> Result<bool, GitError> {
        let line =
            self.run_line("diff-tree", &["--quiet", "--end-of-options", require_full_sha(a)?, require_full_sha(b)?]);
        line.map(|line| line.is_none()).map_err(|error| self.map_missing_commit(&[a, b], error))
    }

    pub fn has_commit(&self, commit: &Sha) -> Result<bool, GitError> {
        self.object_exists(&format!("{}^{{commit}}", require_full_sha(commit)?))
    }

    pub fn is_shallow(&self) -> Result<bool, GitError> {
        Ok(self.run_line("rev-parse", &["--is-shallow-repository"])?.as_deref() == Some("true"))
    }

    /// Returns the metadata of one commit.
    pub fn read_commit(&self, sha: &Sha) -> Result<CommitInfo, GitError> {
        self.log(None, sha, 1)?.pop().ok_or_else(|| GitError::unexpected_output(REV_LIST, b"no commit"))
    }

    /// Returns the commits reachable from `to` and not from `from`, newest first.
    pub fn log(&self, from: Option<&Sha>, to: &Sha, limit: usize) -> Result<Vec<CommitInfo>, GitError> {
        let limit = format!("--max-count={limit}");
        let excluded = from.map(require_full_sha).transpose()?.map(|from| format!("^{from}"));
        let mut arguments = vec![
            "--no-commit-header",
            "--encoding=UTF-8",
            LOG_FORMAT,
            &limit,
            "--end-of-options",
            require_full_sha(to)?,
        ];
        arguments.extend(excluded.as_deref());
        arguments.push("--");
        let commits: Vec<&Sha> = from.into_iter().chain([to]).collect();
        let output = self.run(REV_LIST, &arguments).map_err(|error| self.map_missing_commit(&commits, error))?;
        let output = String::from_utf8_lossy(&output);
        let unexpected = |line: &str| GitError::unexpected_output(REV_LIST, line.as_bytes());
        output.lines().map(|line| parse_commit(line).ok_or_else(|| unexpected(line))).collect()
    }

    /// Replaces the error by [`GitError::CommitNotFound`] if one of the commits is missing, which is then the cause.
    pub(crate) fn map_missing_commit(&self, commits: &[&Sha], error: GitError) -> GitError {
        let is_missing = |sha: &&&Sha| matches!(self.object_exists(sha.as_str()), Ok(false));
        match (&error, commits.iter().find(is_missing)) {
            (GitError::CommandFailed { .. }, Some(sha)) => GitError::CommitNotFound((**sha).clone()),
            _ => error,
        }
    }

    fn object_exists(&self, object: &str) -> Result<bool, GitError> {
        // Git exits with 128 if an id cannot be peeled and with 1 if the object is missing.
        Ok(self.output("cat-file", &["-e", object])?.status.success())
    }
}

const REV_LIST: &str = "rev-list";
const LOG_FORMAT: &str = "--format=%H%x00%P%x00%an%x00%ae%x00%ct%x00%s";

fn parse_commit(line: &str) -> Option<CommitInfo> {
    let mut fields = line.splitn(6, '\0');
    let mut next = || fields.next();
    Some(CommitInfo {
        sha: Sha::from(next()?),
        parents: next()?.split_whitespace().map(Sha::from).collect(),
        author_name: next()?.to_owned(),
        author_email: next()?.to_owned(),
        committed_at: next()?.parse().ok()?,
        subject: next()?.to_owned(),
    })
}
