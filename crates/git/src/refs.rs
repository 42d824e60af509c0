//! Names of commits.

use referee_core::model::Sha;

use crate::git::require_full_sha;
use crate::{Git, GitError};

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckedOut {
    /// A branch.
    Branch {
        /// Without `refs/heads/`.
        name: String,
        /// Its last commit; none before the first.
        commit: Option<Sha>,
    },
    /// A commit without a branch.
    Detached(Sha),
}

impl CheckedOut {
    /// The commit that is checked out; none before the first.
    pub fn commit(&self) -> Option<&Sha> {
        match self {
            CheckedOut::Branch { commit, .. } => commit.as_ref(),
            CheckedOut::Detached(commit) => Some(commit),
        }
    }
}

const BRANCH_PREFIX: &str = "refs/heads/";
const ORIGIN_PREFIX: &str = "refs/remotes/origin/";

impl Git {
    /// The commit that a revision means, as people write it: a branch, a tag, `HEAD~2`, a short name. None where it means
    /// no commit, or more than one. What could be an option is none either.
    pub fn resolve(&self, rev: &str) -> Result<Option<Sha>, GitError> {
        if rev.is_empty() || rev.starts_with(['-', '^']) || rev.contains('\0') {
            return Ok(None);
        }
        let commit = format!("{rev}^{{commit}}");
        let output = self.output("rev-parse", &["--verify", "--quiet", "--end-of-options", &commit])?;
        if !output.status.success() {
            return Ok(None);
        }
        let sha = Sha::from(String::from_utf8_lossy(&output.stdout).trim_end());
        Ok(require_full_sha(&sha).is_ok().then_some(sha))
    }

    /// What is checked out.
    pub fn head(&self) -> Result<CheckedOut, GitError> {
        let commit = self.resolve("HEAD")?;
        let name = self.run_line("symbolic-ref", &["--quiet", "HEAD"])?;
        match (name, commit) {
            (Some(name), commit) => {
                let name = name.strip_prefix(BRANCH_PREFIX).unwrap_or(&name).to_owned();
                Ok(CheckedOut::Branch { name, commit })
            }
            (None, Some(commit)) => Ok(CheckedOut::Detached(commit)),
            (None, None) => Err(GitError::NoHead),
        }
    }

    /// The branch that others are compared with: the remote's own choice, else the user's for new repositories, else what
    /// such branches are called; always one that is here, or on `origin` as far as is known here.
    pub fn default_branch(&self) -> Result<Option<String>, GitError> {
        let remote = self.run_line("symbolic-ref", &["--quiet", &format!("{ORIGIN_PREFIX}HEAD")])?;
        let remote = remote.and_then(|name| name.strip_prefix(ORIGIN_PREFIX).map(str::to_owned));
        let users = self.run_line("config", &["--get", "init.defaultBranch"])?;
        let usual = ["main", "master", "trunk"].map(str::to_owned);
        let names: Vec<String> = remote.into_iter().chain(users).chain(usual).collect();
        let places = |name: &String| [format!("{BRANCH_PREFIX}{name}"), format!("{ORIGIN_PREFIX}{name}")];
        let patterns: Vec<String> = names.iter().flat_map(places).collect();
        let mut arguments = vec!["--format=%(refname)", "--"];
        arguments.extend(patterns.iter().map(String::as_str));
        let there = self.run("for-each-ref", &arguments)?;
        let there = String::from_utf8_lossy(&there);
        let is_there = |name: &String| there.lines().any(|line| places(name).iter().any(|place| place == line));
        Ok(names.into_iter().find(is_there))
    }

    /// The branches that are here and their last commits. A branch whose name is no UTF-8 is left out.
    pub fn branches(&self) -> Result<Vec<(String, Sha)>, GitError> {
        let answer = self.run("for-each-ref", &["--format=%(objectname) %(refname)", BRANCH_PREFIX])?;
        let lines = answer.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
        let branch = |line: &str| {
            let (sha, name) = line.split_once(' ')?;
            Some((name.strip_prefix(BRANCH_PREFIX)?.to_owned(), Sha::from(sha)))
        };
        Ok(lines.filter_map(branch).collect())
    }

    /// Where a remote is, as git would go there. The address may hold a password: it is not for showing.
    pub fn remote_url(&self, remote: &str) -> Result<Option<String>, GitError> {
        if remote.starts_with('-') || remote.contains('\0') {
            return Ok(None);
        }
        let output = self.output("remote", &["get-url", "--", remote])?;
        let url = String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned();
        Ok((output.status.success() && !url.is_empty()).then_some(url))
    }

    /// When a branch last came to point at a commit, in seconds since 1970, as far as this clone remembers.
    pub fn branch_moved_at(&self, branch: &str, to: &Sha) -> Result<Option<i64>, GitError> {
        let branch = format!("{BRANCH_PREFIX}{branch}");
        if self.resolve(&branch)?.is_none() {
            return Ok(None);
        }
        let format = "--format=%H %gd";
        let pinned = ["--walk-reflogs", "--date=unix", "--no-show-signature", "--no-color", "--no-patch", format];
        let answer = self.run("log", &[&pinned[..], &["--end-of-options", &branch, "--"]].concat())?;
        let answer = String::from_utf8_lossy(&answer);
        // A branch may be moved to where it is already: it came there with the first of these.
        let there = answer.lines().filter_map(|line| line.split_once(' '));
        let there = there.skip_while(|(sha, _)| *sha != to.as_str()).take_while(|(sha, _)| *sha == to.as_str());
        let time = |entry: &str| entry.rsplit_once("@{")?.1.strip_suffix('}')?.parse().ok();
        Ok(there.last().and_then(|(_, entry)| time(entry)))
    }

    /// Holds on to a commit that no branch may lead to any more, so that cleaning up leaves it here.
    pub fn pin_commit(&self, commit: &Sha) -> Result<(), GitError> {
        let name = require_full_sha(commit)?;
        let kept = self.run("update-ref", &["--no-deref", &pin_ref(name), name]);
        kept.map(drop).map_err(|error| self.map_missing_commit(&[commit], error))
    }
}

/// Where the commits are that are held on to.
pub(crate) const PIN_PREFIX: &str = "refs/referee/keep/";

/// The name under which a commit is held on to.
pub(crate) fn pin_ref(name: &str) -> String {
    format!("{PIN_PREFIX}{name}")
}
