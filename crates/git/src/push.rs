//! The one place that pushes (SAF-1): a commit to one branch, over what was seen there and nothing else.

use referee_core::model::Sha;

use crate::cache::{Credentials, UrlKind};
use crate::git::{redact_output, require_full_sha};
use crate::{Git, GitError};

/// What is pushed, and where.
#[derive(Debug, Clone, Copy)]
pub struct BranchPush<'a> {
    /// To which repository.
    pub url: &'a str,
    /// To which branch, without `refs/heads/`.
    pub branch: &'a str,
    /// What is pushed.
    pub commit: &'a Sha,
    /// What must still be there; none: no such branch.
    pub expected: Option<&'a Sha>,
}

const PUSH: &str = "push";

impl Git {
    /// Pushes. A branch that has the commit already is as good as pushed to.
    pub fn push_commit(&self, push: &BranchPush<'_>, credentials: Option<&Credentials>) -> Result<(), GitError> {
        let BranchPush { url, branch, commit, expected: over } = *push;
        let address = UrlKind::parse(url)?;
        let target = format!("refs/heads/{branch}");
        // A name that begins so would be `refs/heads/-x`: no option, but nobody's branch either.
        if branch.starts_with('-') || !self.output("check-ref-format", &[&target])?.status.success() {
            return Err(GitError::NotABranch(redact_output(branch.as_bytes())));
        }
        let over = over.map(require_full_sha).transpose()?.unwrap_or_default();
        let git = credentials.map_or_else(|| self.clone(), |credentials| self.with_credentials(url, credentials));
        let mut command = git.command(PUSH);
        command
            .args(["--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"])
            .arg(format!("--force-with-lease={target}:{over}"))
            .args(["--end-of-options", url, &format!("{}:{target}", require_full_sha(commit)?)])
            .env("GIT_ALLOW_PROTOCOL", address.allowed_protocols());
        let output = git.execute(&mut command)?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stdout);
        match said.lines().find_map(|line| line.strip_prefix("!\t")) {
            Some(line) => Err(parse_rejection(branch, line, &output.stderr)),
            None => crate::git::require_success(PUSH, output).map(drop),
        }
    }
}

/// `<from>:<to>\t[rejected] (stale info)`
fn parse_rejection(branch: &str, line: &str, stderr: &[u8]) -> GitError {
    let why = line.rsplit('\t').next().unwrap_or_default();
    let branch = branch.to_owned();
    // The server says so where another push came between git's look and its own.
    let moved =
        why.starts_with("[rejected]") || why.contains("failed to update ref") || why.contains("cannot lock ref");
    if moved {
        return GitError::BranchMoved { branch };
    }
    let told = String::from_utf8_lossy(stderr);
    let told: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("remote:")).map(str::trim).collect();
    GitError::PushDenied { branch, why: redact_output(format!("{why} {}", told.join(" ")).as_bytes()) }
}
