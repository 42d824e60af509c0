//! Revisions, branches and refs.

use std::path::PathBuf;

use referee_core::model::Sha;

use crate::git::require_full_sha;
use crate::{Git, GitError};

/// The state of `HEAD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckedOut {
    Branch {
        /// Without `refs/heads/`.
        name: String,
        /// `None` before the first commit.
        commit: Option<Sha>,
    },
    Detached(Sha),
}

impl CheckedOut {
    /// Returns the checked-out commit. `None` before the first commit.
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
    /// Resolves a revision as people write it: a branch, a tag, `HEAD~2`, an abbreviated id. Returns `None` if it names
    /// no commit, is ambiguous, or could be read as an option.
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

    /// Returns the first of these branches that exists locally or as a remote-tracking branch of `origin`: the remote's
    /// default, `init.defaultBranch`, `main`, `master`, `trunk`.
    pub fn default_branch(&self) -> Result<Option<String>, GitError> {
        let remote = self.run_line("symbolic-ref", &["--quiet", &format!("{ORIGIN_PREFIX}HEAD")])?;
        let remote = remote.and_then(|name| name.strip_prefix(ORIGIN_PREFIX).map(str::to_owned));
        let configured = self.run_line("config", &["--get", "init.defaultBranch"])?;
        let common = ["main", "master", "trunk"].map(str::to_owned);
        let names: Vec<String> = remote.into_iter().chain(configured).chain(common).collect();
        let candidates = |name: &String| [format!("{BRANCH_PREFIX}{name}"), format!("{ORIGIN_PREFIX}{name}")];
        let patterns: Vec<String> = names.iter().flat_map(candidates).collect();
        let mut arguments = vec!["--format=%(refname)", "--"];
        arguments.extend(patterns.iter().map(String::as_str));
        let refs = self.run("for-each-ref", &arguments)?;
        let refs = String::from_utf8_lossy(&refs);
        let exists = |name: &String| refs.lines().any(|line| candidates(name).iter().any(|it| it == line));
        Ok(names.into_iter().find(exists))
    }

    /// Returns the local branches and their commits. Skips branches whose name is not UTF-8.
    pub fn branches(&self) -> Result<Vec<(String, Sha)>, GitError> {
        let output = self.run("for-each-ref", &["--format=%(objectname) %(refname)", BRANCH_PREFIX])?;
        let lines = output.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
        let branch = |line: &str| {
            let (sha, name) = line.split_once(' ')?;
            Some((name.strip_prefix(BRANCH_PREFIX)?.to_owned(), Sha::from(sha)))
        };
        Ok(lines.filter_map(branch).collect())
    }

    /// Returns the remote-tracking branches of a remote and their commits.
    pub fn list_tracking_branches(&self, remote: &str) -> Result<Vec<(String, Sha)>, GitError> {
        let prefix = format!("refs/remotes/{remote}/");
        // Not a pattern: a remote may be a URL, or contain `*`.
        let lines = self.run("for-each-ref", &["--format=%(objectname) %(refname)", "--", "refs/remotes/"])?;
        let lines = String::from_utf8_lossy(&lines).into_owned();
        let branch = |line: &str| {
            let (sha, name) = line.split_once(' ')?;
            Some((name.strip_prefix(&prefix)?.to_owned(), Sha::from(sha)))
        };
        Ok(lines.lines().filter_map(branch).collect())
    }

    /// Returns the directory in which git looks for hooks (`core.hooksPath`).
    pub fn hooks_dir(&self) -> Result<PathBuf, GitError> {
        let configured = self.run_config_path("core.hooksPath")?;
        let base = self.work_tree_root().unwrap_or(&self.common_dir);
        Ok(configured.map_or_else(|| self.common_dir.join("hooks"), |path| base.join(path)))
    }

    /// Returns a config value that is a path, with `~` expanded. Commands of this crate override `core.hooksPath`, so the
    /// files are read without those overrides.
    fn run_config_path(&self, key: &str) -> Result<Option<PathBuf>, GitError> {
        let output = self.output("config", &["--includes", "--type=path", "--show-origin", "--get-all", key])?;
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let of_file = |line: &str| Some(line.strip_prefix("file:")?.split_once('\t')?.1.to_owned());
        Ok(lines.lines().filter_map(of_file).next_back().map(PathBuf::from))
    }

    /// Returns the URL of a remote, with `insteadOf` applied. It may contain a password, so do not print it.
    pub fn remote_url(&self, remote: &str) -> Result<Option<String>, GitError> {
        if remote.starts_with('-') || remote.contains('\0') {
            return Ok(None);
        }
        let output = self.output("remote", &["get-url", "--", remote])?;
        let url = String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned();
        Ok((output.status.success() && !url.is_empty()).then_some(url))
    }

    /// Returns when a branch last moved to a commit, in seconds since 1970. `None` if the reflog does not say.
    pub fn branch_moved_at(&self, branch: &str, commit: &Sha) -> Result<Option<i64>, GitError> {
        let branch = format!("{BRANCH_PREFIX}{branch}");
        if self.resolve(&branch)?.is_none() {
            return Ok(None);
        }
        let format = "--format=%H %gd";
        let options = ["--walk-reflogs", "--date=unix", "--no-show-signature", "--no-color", "--no-patch", format];
        let output = self.run("log", &[&options[..], &["--end-of-options", &branch, "--"]].concat())?;
        let output = String::from_utf8_lossy(&output);
        // The reflog may record several moves to the same commit in a row. The oldest of them counts.
        let entries = output.lines().filter_map(|line| line.split_once(' '));
        let entries =
            entries.skip_while(|(sha, _)| *sha != commit.as_str()).take_while(|(sha, _)| *sha == commit.as_str());
        let time = |entry: &str| entry.rsplit_once("@{")?.1.strip_suffix('}')?.parse().ok();
        Ok(entries.last().and_then(|(_, entry)| time(entry)))
    }

    /// Creates a ref to the commit, so that garbage collection keeps it even if no branch contains it.
    pub fn pin_commit(&self, commit: &Sha) -> Result<(), GitError> {
        let name = require_full_sha(commit)?;
        let result = self.run("update-ref", &["--no-deref", &pin_ref(name), name]);
        result.map(drop).map_err(|error| self.map_missing_commit(&[commit], error))
    }
}

/// Prefix of the refs that [pin](Git::pin_commit) commits.
pub(crate) const PIN_PREFIX: &str = "refs/referee/keep/";

pub(crate) fn pin_ref(sha: &str) -> String {
    format!("{PIN_PREFIX}{sha}")
}
