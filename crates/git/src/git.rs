use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use referee_core::model::Sha;

use crate::GitError;
use crate::cache::{Credentials, authorization_header};

/// A repository, and the git program that works in it.
///
/// What is trusted: the git program, and the settings of the user and of the user's own clone, as far as a call needs them
/// (remotes, identity, the filters of the user's own work tree). What is not: the commits that are looked at, whatever
/// files and attributes they hold. No hook, no pager, no file system monitor, no external diff, no text conversion, no
/// alias and no signature program is ever started; `GIT_*` variables of the surroundings have no say.
#[derive(Debug, Clone)]
pub struct Git {
    pub(crate) dir: PathBuf,
    pub(crate) work_tree_root: Option<PathBuf>,
    pub(crate) common_dir: PathBuf,
    pub(crate) credentials: Option<Arc<(String, Credentials)>>,
}

impl Git {
    /// The repository in `dir`, a work tree or a bare one, taken at its word: nothing is looked up, so it knows no
    /// [`top`](Git::top), and its [`common_dir`](Git::common_dir) is `dir`.
    pub fn from_dir(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        Git { work_tree_root: None, common_dir: dir.clone(), dir, credentials: None }
    }

    /// A call of git in this repository, deaf to what its surroundings would have it do.
    pub(crate) fn command(&self, name: &str) -> Command {
        self.command_with_options(name, &[])
    }

    /// The same with options of git itself, which stand before the name.
    pub(crate) fn command_with_options(&self, name: &str, options: &[&str]) -> Command {
        let mut command = Command::new("git");
        for key in std::env::vars_os().map(|(key, _)| key).filter(is_git_variable) {
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
        set_config_env(&mut command, &self.credential_config());
        command
    }

    /// What git is told where nobody can listen.
    pub(crate) fn credential_config(&self) -> Vec<(String, String)> {
        let Some((url, credentials)) = self.credentials.as_deref() else { return Vec::new() };
        let only = ("credential.helper".to_owned(), String::new());
        // A server that sends elsewhere would have the credentials passed on.
        let stay = ("http.followRedirects".to_owned(), "false".to_owned());
        let mut settings = vec![only, stay, (format!("http.{url}.extraHeader"), authorization_header(credentials))];
        let ca = credentials.ca_file.as_ref().map(|file| ("sslCAInfo", file.to_string_lossy().into_owned()));
        let proxy = credentials.proxy.as_ref().map(|proxy| ("proxy", proxy.clone()));
        settings.extend(ca.into_iter().chain(proxy).map(|(key, value)| (format!("http.{url}.{key}"), value)));
        settings
    }

    /// What git answers.
    pub(crate) fn run(&self, name: &'static str, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        require_success(name, self.output(name, arguments)?)
    }

    /// What git answers, on one line; none where it says no (1) without being in trouble (128).
    pub(crate) fn run_line(&self, name: &'static str, arguments: &[&str]) -> Result<Option<String>, GitError> {
        let output = self.output(name, arguments)?;
        if output.status.code() == Some(1) {
            return Ok(None);
        }
        parse_utf8(name, require_success(name, output)?).map(|line| Some(line.trim_end_matches('\n').to_owned()))
    }

    /// The object git answers with.
    pub(crate) fn run_sha(&self, name: &'static str, arguments: &[&str]) -> Result<Sha, GitError> {
        self.run(name, arguments).and_then(|answer| parse_sha(name, &answer))
    }

    /// How a call ends, well or not.
    pub(crate) fn output(&self, name: &'static str, arguments: &[&str]) -> Result<Output, GitError> {
        self.execute(self.command(name).args(arguments))
    }

    /// How a prepared call ends.
    pub(crate) fn execute(&self, command: &mut Command) -> Result<Output, GitError> {
        command.output().map_err(|error| self.spawn_error(error))
    }

    /// A folder that is gone and a program that is not there give the same error.
    pub(crate) fn spawn_error(&self, error: std::io::Error) -> GitError {
        match error.kind() {
            ErrorKind::NotFound if self.dir.is_dir() => GitError::NotInstalled,
            ErrorKind::NotFound | ErrorKind::NotADirectory => GitError::NotARepository { dir: self.dir.clone() },
            _ => GitError::SpawnFailed(error),
        }
    }
}

/// Settings for one call, through the environment: a key may hold `=`, a value may be secret.
pub(crate) fn set_config_env(command: &mut Command, settings: &[(String, String)]) {
    command.env("GIT_CONFIG_COUNT", settings.len().to_string());
    for (number, (key, value)) in settings.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
}

fn is_git_variable(key: &OsString) -> bool {
    key.as_encoded_bytes().starts_with(b"GIT_")
}

/// A full object name is the only revision that cannot be anything else.
pub(crate) fn require_full_sha(sha: &Sha) -> Result<&str, GitError> {
    let name = sha.as_str();
    let is_full = matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_full { Ok(name) } else { Err(GitError::NotASha(redact_output(name.as_bytes()))) }
}

pub(crate) fn require_success(name: &'static str, output: Output) -> Result<Vec<u8>, GitError> {
    let Output { status, stdout, stderr } = output;
    if status.success() {
        return Ok(stdout);
    }
    Err(GitError::CommandFailed { command: name, status: status.to_string(), stderr: redact_output(&stderr) })
}

/// The name of an object, alone on a line.
pub(crate) fn parse_sha(name: &'static str, answer: &[u8]) -> Result<Sha, GitError> {
    let sha = Sha::from(String::from_utf8_lossy(answer).trim_end());
    require_full_sha(&sha).map_err(|_| GitError::UnexpectedOutput { command: name, answer: redact_output(answer) })?;
    Ok(sha)
}

pub(crate) fn parse_utf8(name: &'static str, answer: Vec<u8>) -> Result<String, GitError> {
    String::from_utf8(answer)
        .map_err(|error| GitError::UnexpectedOutput { command: name, answer: redact_output(error.as_bytes()) })
}

/// Git's words as they may be shown: short, and without the name and password that an address may hold.
pub(crate) fn redact_output(bytes: &[u8]) -> String {
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
    use super::redact_output;

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
            assert_eq!(redact_output(said.as_bytes()), shown);
        }
        assert_eq!(redact_output("é".repeat(400).as_bytes()).chars().count(), 300);
    }
}
