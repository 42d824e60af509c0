use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use referee_core::model::Sha;

use crate::GitError;

/// A repository, and the git program that works in it.
///
/// What is trusted: the git program, and the settings of the user and of the user's own clone, as far as a call needs them
/// (remotes, identity, the filters of the user's own work tree). What is not: the commits that are looked at, whatever
/// files and attributes they hold. No hook, no pager, no file system monitor, no external diff, no text conversion, no
/// alias and no signature program is ever started; `GIT_*` variables of the surroundings have no say.
#[derive(Debug, Clone)]
pub struct Git {
    pub(crate) dir: PathBuf,
    pub(crate) top: Option<PathBuf>,
    pub(crate) common: PathBuf,
}

impl Git {
    /// The repository in `dir`, a work tree or a bare one, taken at its word: nothing is looked up, so it knows no
    /// [`top`](Git::top), and its [`common_dir`](Git::common_dir) is `dir`.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        Git { top: None, common: dir.clone(), dir }
    }

    /// A call of git in this repository, deaf to what its surroundings would have it do.
    pub(crate) fn command(&self, name: &str) -> Command {
        let mut command = Command::new("git");
        for key in std::env::vars_os().map(|(key, _)| key).filter(is_gits_own) {
            command.env_remove(key);
        }
        command
            .current_dir(&self.dir)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .args(["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"])
            .args(["-c", "core.hooksPath=/dev/null"])
            .args(["-c", "core.fsmonitor=false"])
            .args(["-c", "core.quotePath=true"])
            .args(["-c", "diff.suppressBlankEmpty=false"])
            .arg(name)
            .stdin(Stdio::null());
        command
    }

    /// What git answers.
    pub(crate) fn ask(&self, name: &'static str, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        answer(name, self.output(name, arguments)?)
    }

    /// What git answers, on one line; none where it says no (1) without being in trouble (128).
    pub(crate) fn line(&self, name: &'static str, arguments: &[&str]) -> Result<Option<String>, GitError> {
        let output = self.output(name, arguments)?;
        if output.status.code() == Some(1) {
            return Ok(None);
        }
        text(name, answer(name, output)?).map(|line| Some(line.trim_end_matches('\n').to_owned()))
    }

    /// The object git answers with.
    pub(crate) fn sha(&self, name: &'static str, arguments: &[&str]) -> Result<Sha, GitError> {
        let line = text(name, self.ask(name, arguments)?)?;
        let sha = Sha::from(line.trim_end());
        full(&sha).map_err(|_| GitError::Answer { command: name, answer: shortened(line.as_bytes()) })?;
        Ok(sha)
    }

    /// How a call ends, well or not.
    pub(crate) fn output(&self, name: &'static str, arguments: &[&str]) -> Result<Output, GitError> {
        self.finish(self.command(name).args(arguments))
    }

    /// How a prepared call ends.
    pub(crate) fn finish(&self, command: &mut Command) -> Result<Output, GitError> {
        command.output().map_err(|error| self.not_started(error))
    }

    /// A folder that is gone and a program that is not there give the same error.
    pub(crate) fn not_started(&self, error: std::io::Error) -> GitError {
        match error.kind() {
            ErrorKind::NotFound if self.dir.is_dir() => GitError::NotInstalled,
            ErrorKind::NotFound | ErrorKind::NotADirectory => GitError::NotARepository { dir: self.dir.clone() },
            _ => GitError::Start(error),
        }
    }
}

fn is_gits_own(key: &OsString) -> bool {
    key.as_encoded_bytes().starts_with(b"GIT_")
}

/// A full object name is the only revision that cannot be anything else.
pub(crate) fn full(sha: &Sha) -> Result<&str, GitError> {
    let name = sha.as_str();
    let is_full = matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_full { Ok(name) } else { Err(GitError::NotASha(shortened(name.as_bytes()))) }
}

pub(crate) fn answer(name: &'static str, output: Output) -> Result<Vec<u8>, GitError> {
    let Output { status, stdout, stderr } = output;
    if status.success() {
        return Ok(stdout);
    }
    Err(GitError::Failed { command: name, status: status.to_string(), stderr: shortened(&stderr) })
}

pub(crate) fn text(name: &'static str, answer: Vec<u8>) -> Result<String, GitError> {
    String::from_utf8(answer).map_err(|error| GitError::Answer { command: name, answer: shortened(error.as_bytes()) })
}

/// Git's words as they may be shown: short, and without the name and password that an address may hold.
pub(crate) fn shortened(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.trim().split("://");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let host = part.find(|char: char| char == '/' || char.is_whitespace()).unwrap_or(part.len());
        let after = part[..host].rfind('@').map_or(0, |at| at + 1);
        shown.extend(["://", &part[after..]]);
    }
    shown.chars().take(300).collect()
}
