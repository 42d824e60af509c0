use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use referee_core::model::Sha;

use crate::GitError;
use crate::cache::{Credentials, header};

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
    pub(crate) lent: Option<Arc<(String, Credentials)>>,
}

impl Git {
    /// The repository in `dir`, a work tree or a bare one, taken at its word: nothing is looked up, so it knows no
    /// [`top`](Git::top), and its [`common_dir`](Git::common_dir) is `dir`.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        Git { top: None, common: dir.clone(), dir, lent: None }
    }

    /// A call of git in this repository, deaf to what its surroundings would have it do.
    pub(crate) fn command(&self, name: &str) -> Command {
        self.command_with(name, &[])
    }

    /// The same with options of git itself, which stand before the name.
    pub(crate) fn command_with(&self, name: &str, options: &[&str]) -> Command {
        let mut command = Command::new("git");
        for key in std::env::vars_os().map(|(key, _)| key).filter(is_gits_own) {
            command.env_remove(key);
        }
        command
            .current_dir(&self.dir)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            // Empty is nobody: whoever asks a person here waits for ever.
            .env("GIT_ASKPASS", "")
            .env("GIT_ALLOW_PROTOCOL", "https:http:ssh:file")
            .args(["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"])
            .args(["-c", "core.hooksPath=/dev/null"])
            .args(["-c", "core.fsmonitor=false"])
            .args(["-c", "core.quotePath=true"])
            .args(["-c", "diff.suppressBlankEmpty=false"])
            .args(options)
            .arg(name)
            .stdin(Stdio::null());
        configure(&mut command, &self.settings());
        command
    }

    /// What git is told where nobody can listen.
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        let Some((url, credentials)) = self.lent.as_deref() else { return Vec::new() };
        let only = ("credential.helper".to_owned(), String::new());
        // A server that sends elsewhere would have the credentials passed on.
        let stay = ("http.followRedirects".to_owned(), "false".to_owned());
        let mut settings = vec![only, stay, (format!("http.{url}.extraHeader"), header(credentials))];
        let ca = credentials.ca.as_ref().map(|file| ("sslCAInfo", file.to_string_lossy().into_owned()));
        let proxy = credentials.proxy.as_ref().map(|proxy| ("proxy", proxy.clone()));
        settings.extend(ca.into_iter().chain(proxy).map(|(key, value)| (format!("http.{url}.{key}"), value)));
        settings
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
        self.ask(name, arguments).and_then(|answer| object(name, &answer))
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

/// Settings for one call, through the environment: a key may hold `=`, a value may be secret.
pub(crate) fn configure(command: &mut Command, settings: &[(String, String)]) {
    command.env("GIT_CONFIG_COUNT", settings.len().to_string());
    for (number, (key, value)) in settings.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
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

/// The name of an object, alone on a line.
pub(crate) fn object(name: &'static str, answer: &[u8]) -> Result<Sha, GitError> {
    let sha = Sha::from(String::from_utf8_lossy(answer).trim_end());
    full(&sha).map_err(|_| GitError::Answer { command: name, answer: shortened(answer) })?;
    Ok(sha)
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

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn what_git_says_is_shown_without_passwords() {
        for (said, shown) in [
            (
                "fatal: unable to access 'https://ada:hunter2@host/a@b': no\n",
                "fatal: unable to access 'https://host/a@b': no",
            ),
            ("https://token@host", "https://host"),
            ("ssh://a:b@c@host and https://host/x@y", "ssh://host and https://host/x@y"),
            ("no address a@b", "no address a@b"),
        ] {
            assert_eq!(shortened(said.as_bytes()), shown);
        }
        assert_eq!(shortened("é".repeat(400).as_bytes()).chars().count(), 300);
    }
}
