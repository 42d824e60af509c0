//! How commits hang together.

use referee_core::model::Sha;

use crate::git::{redact_output, require_full_sha};
use crate::{Git, GitError};

/// What a commit says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    /// Its name.
    pub sha: Sha,
    /// What it follows; the first is the branch that others were merged into.
    pub parents: Vec<Sha>,
    /// Who wrote it.
    pub author_name: String,
    /// The author's address, as it stands there.
    pub author_email: String,
    /// When it was committed, in seconds since 1970.
    pub committed_at: i64,
    /// The first paragraph of its message, on one line.
    pub subject: String,
}

impl Git {
    /// The best common ancestor. None where the histories are unrelated; a shallow clone may not know better.
    pub fn merge_base(&self, a: &Sha, b: &Sha) -> Result<Option<Sha>, GitError> {
        let base = self.run_line("merge-base", &["--end-of-options", require_full_sha(a)?, require_full_sha(b)?]);
        base.map(|sha| sha.map(Sha)).map_err(|error| self.map_missing_commit(&[a, b], error))
    }

    /// Whether one commit is part of the other's history; each is of its own.
    pub fn is_ancestor(&self, ancestor: &Sha, of: &Sha) -> Result<bool, GitError> {
        let is = self.run_line(
            "merge-base",
            &["--is-ancestor", "--end-of-options", require_full_sha(ancestor)?, require_full_sha(of)?],
        );
        is.map(|line| line.is_some()).map_err(|error| self.map_missing_commit(&[ancestor, of], error))
    }

    /// Whether two commits hold different files.
    pub fn trees_differ(&self, one: &Sha, other: &Sha) -> Result<bool, GitError> {
        let same = self
            .run_line("diff-tree", &["--quiet", "--end-of-options", require_full_sha(one)?, require_full_sha(other)?]);
        same.map(|line| line.is_none()).map_err(|error| self.map_missing_commit(&[one, other], error))
    }

    /// Whether a commit is here.
    pub fn has_commit(&self, commit: &Sha) -> Result<bool, GitError> {
        self.object_exists(&format!("{}^{{commit}}", require_full_sha(commit)?))
    }

    /// Whether the history was cut off when the repository was cloned.
    pub fn is_shallow(&self) -> Result<bool, GitError> {
        Ok(self.run_line("rev-parse", &["--is-shallow-repository"])?.as_deref() == Some("true"))
    }

    /// What a commit says of itself.
    pub fn read_commit(&self, sha: &Sha) -> Result<CommitInfo, GitError> {
        let odd = || GitError::UnexpectedOutput { command: REV_LIST, answer: "no commit".to_owned() };
        self.log(None, sha, 1)?.pop().ok_or_else(odd)
    }

    /// The commits that lead to `to`, latest first; those that led to `from` are left out.
    pub fn log(&self, from: Option<&Sha>, to: &Sha, limit: usize) -> Result<Vec<CommitInfo>, GitError> {
        let limit = format!("--max-count={limit}");
        let not = from.map(require_full_sha).transpose()?.map(|from| format!("^{from}"));
        let mut arguments = vec![
            "--no-commit-header",
            "--encoding=UTF-8",
            LOG_FORMAT,
            &limit,
            "--end-of-options",
            require_full_sha(to)?,
        ];
        arguments.extend(not.as_deref());
        arguments.push("--");
        let named: Vec<&Sha> = from.into_iter().chain([to]).collect();
        let answer = self.run(REV_LIST, &arguments).map_err(|error| self.map_missing_commit(&named, error))?;
        let answer = String::from_utf8_lossy(&answer);
        let odd = |line: &str| GitError::UnexpectedOutput { command: REV_LIST, answer: redact_output(line.as_bytes()) };
        answer.lines().map(|line| parse_commit(line).ok_or_else(|| odd(line))).collect()
    }

    /// The error that a commit is not here, if that is why a call failed.
    pub(crate) fn map_missing_commit(&self, named: &[&Sha], error: GitError) -> GitError {
        let is_missing = |sha: &&&Sha| matches!(self.object_exists(sha.as_str()), Ok(false));
        match (&error, named.iter().find(is_missing)) {
            (GitError::CommandFailed { .. }, Some(sha)) => GitError::CommitNotFound((**sha).clone()),
            _ => error,
        }
    }

    fn object_exists(&self, object: &str) -> Result<bool, GitError> {
        // A name that cannot be peeled is trouble (128) to git, a name that is not there is a no (1).
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
