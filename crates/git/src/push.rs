//! Pushes one commit to one branch, with `--force-with-lease`. No other code of referee pushes (SAF-1).

use referee_core::model::Sha;

use crate::cache::{Credentials, UrlKind};
use crate::git::{redact_output, require_full_sha};
use crate::{Git, GitError};

/// A push of one commit to one branch.
#[derive(Debug, Clone, Copy)]
pub struct BranchPush<'a> {
    pub url: &'a str,
    /// Without `refs/heads/`.
    pub branch: &'a str,
    pub commit: &'a Sha,
    /// The commit that the branch must be at. `None`: the branch must not exist.
    pub expected: Option<&'a Sha>,
}

const PUSH: &str = "push";

impl Git {
    /// Pushes the commit. Succeeds if the branch is at that commit already.
    pub fn push_commit(&self, push: &BranchPush<'_>, credentials: Option<&Credentials>) -> Result<(), GitError> {
        let BranchPush { url, branch, commit, expected } = *push;
        let url_kind = UrlKind::parse(url)?;
        let target = format!("refs/heads/{branch}");
        // `check-ref-format` accepts `refs/heads/-x`, but git allows no such branch.
        if branch.starts_with('-') || !self.output("check-ref-format", &[&target])?.status.success() {
            return Err(GitError::NotABranch(redact_output(branch.as_bytes())));
        }
        let expected = expected.map(require_full_sha).transpose()?.unwrap_or_default();
        let git = credentials.map_or_else(|| self.clone(), |credentials| self.with_credentials(url, credentials));
        let mut command = git.command(PUSH);
        command
            .args(["--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"])
            .arg(format!("--force-with-lease={target}:{expected}"))
            .args(["--end-of-options", url, &format!("{}:{target}", require_full_sha(commit)?)])
            .env("GIT_ALLOW_PROTOCOL", url_kind.allowed_protocols());
        let output = git.execute(&mut command)?;
        if output.status.success() {
            return Ok(());
        }
        let stdout = git.mask_credentials(&String::from_utf8_lossy(&output.stdout));
        match stdout.lines().find_map(|line| line.strip_prefix("!\t")) {
            Some(line) => Err(parse_rejection(branch, line, &output.stderr)),
            None => crate::git::require_success(PUSH, output).map(drop),
        }
    }
}

/// Parses `<from>:<to>\t[rejected] (stale info)`.
fn parse_rejection(branch: &str, line: &str, stderr: &[u8]) -> GitError {
    let reason = line.rsplit('\t').next().unwrap_or_default();
    let branch = branch.to_owned();
    // The server reports a failed ref update if another push came after git had read the ref.
    let has_moved = reason.starts_with("[rejected]")
        || reason.contains("failed to update ref")
        || reason.contains("cannot lock ref");
    if has_moved {
        return GitError::BranchMoved { branch };
    }
    let stderr = String::from_utf8_lossy(stderr);
    let messages: Vec<&str> = stderr.lines().filter_map(|line| line.strip_prefix("remote:")).map(str::trim).collect();
    GitError::PushDenied { branch, reason: redact_output(format!("{reason} {}", messages.join(" ")).as_bytes()) }
}
