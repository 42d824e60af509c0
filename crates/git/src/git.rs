//! Runs git with a fixed environment, and redacts its output.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use referee_core::model::Sha;

use crate::GitError;
use crate::cache::{Credentials, authorization_header};

/// A repository, accessed through the git program.
///
/// Trusted: the git program, and the config of the user and of the user's clone where a command needs it (remotes,
/// identity, filters of the user's work tree). Untrusted: the commits, with their files and attributes. Git starts no
/// hook, pager, file system monitor, external diff, text conversion, alias or signing program, and ignores the `GIT_*`
/// variables of the environment.
#[derive(Debug, Clone)]
pub struct Git {
    pub(crate) dir: PathBuf,
    pub(crate) work_tree_root: Option<PathBuf>,
    pub(crate) common_dir: PathBuf,
    pub(crate) credentials: Option<Arc<(String, Credentials)>>,
}

impl Git {
    /// Uses `dir`, a work tree or a bare repository, without looking at it: [`work_tree_root`](Git::work_tree_root) is
    /// `None` and [`common_dir`](Git::common_dir) is `dir`.
    pub fn from_dir(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        Git { work_tree_root: None, common_dir: dir.clone(), dir, credentials: None }
    }

    /// Returns a git command for this repository that ignores the environment.
    pub(crate) fn command(&self, name: &str) -> Command {
        self.command_with_options(name, &[])
    }

    /// The same with options of git itself, which come before the command's name.
    pub(crate) fn command_with_options(&self, name: &str, options: &[&str]) -> Command {
        let mut command = Command::new("git");
        for key in std::env::vars_os().map(|(key, _)| key).filter(is_git_variable) {
            command.env_remove(key);
        }
        command
            .current_dir(&self.dir)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            // Empty disables it: a prompt would wait forever.
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

    /// Returns the config that carries the credentials. It is passed in the environment, not in arguments.
    pub(crate) fn credential_config(&self) -> Vec<(String, String)> {
        let Some((url, credentials)) = self.credentials.as_deref() else { return Vec::new() };
        let no_helper = ("credential.helper".to_owned(), String::new());
        // A redirect could send the credentials to another server.
        let no_redirects = ("http.followRedirects".to_owned(), "false".to_owned());
        // A setting for this URL in the user's config would win over the general one.
        let none_here = (format!("http.{url}.followRedirects"), "false".to_owned());
        let header = (format!("http.{url}.extraHeader"), authorization_header(credentials));
        let mut settings = vec![no_helper, no_redirects, none_here, header];
        let ca = credentials.ca_file.as_ref().map(|file| ("sslCAInfo", file.to_string_lossy().into_owned()));
        let proxy = credentials.proxy.as_ref().map(|proxy| ("proxy", proxy.clone()));
        settings.extend(ca.into_iter().chain(proxy).map(|(key, value)| (format!("http.{url}.{key}"), value)));
        settings
    }

    /// Runs a command and returns its standard output.
    pub(crate) fn run(&self, name: &'static str, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        require_success(name, self.output(name, arguments)?)
    }

    /// Runs a command and returns its output without the line feed. Exit code 1 ("no", unlike 128 for an error) is
    /// `None`.
    pub(crate) fn run_line(&self, name: &'static str, arguments: &[&str]) -> Result<Option<String>, GitError> {
        let output = self.output(name, arguments)?;
        if output.status.code() == Some(1) {
            return Ok(None);
        }
        parse_utf8(name, require_success(name, output)?).map(|line| Some(line.trim_end_matches('\n').to_owned()))
    }

    /// Runs a command and returns its output, whatever its exit code.
    pub(crate) fn output(&self, name: &'static str, arguments: &[&str]) -> Result<Output, GitError> {
        self.execute(self.command(name).args(arguments))
    }

    /// Runs a prepared command and returns its output, whatever its exit code. Masks the credentials in stderr, because
    /// it repeats what the server says.
    pub(crate) fn execute(&self, command: &mut Command) -> Result<Output, GitError> {
        command.output().map(|output| self.mask_stderr(output)).map_err(|error| self.spawn_error(error))
    }

    pub(crate) fn mask_stderr(&self, output: Output) -> Output {
        let stderr = self.mask_credentials(&String::from_utf8_lossy(&output.stderr)).into_bytes();
        Output { stderr, ..output }
    }

    /// Masks the secret, also in the form in which it is sent.
    pub(crate) fn mask_credentials(&self, text: &str) -> String {
        let Some((_, credentials)) = self.credentials.as_deref() else { return text.to_owned() };
        let header = authorization_header(credentials);
        let encoded = header.rsplit(' ').next().unwrap_or_default();
        let secrets = [encoded, &credentials.secret].into_iter().filter(|secret| !secret.is_empty());
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
    }

    /// The OS reports a missing program and a missing working directory with the same error.
    pub(crate) fn spawn_error(&self, error: std::io::Error) -> GitError {
        match error.kind() {
            ErrorKind::NotFound if self.dir.is_dir() => GitError::NotInstalled,
            ErrorKind::NotFound | ErrorKind::NotADirectory => GitError::NotARepository { dir: self.dir.clone() },
            _ => GitError::SpawnFailed(error),
        }
    }
}

/// Passes config through the environment instead of `-c`: a key may contain `=`, a value may be secret.
pub(crate) fn set_config_env(command: &mut Command, settings: &[(String, String)]) {
    command.env("GIT_CONFIG_COUNT", settings.len().to_string());
    for (number, (key, value)) in settings.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
}

fn is_git_variable(key: &OsString) -> bool {
    key.as_encoded_bytes().starts_with(b"GIT_")
}

/// Returns the full object id. Anything else could be another revision or an option.
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

/// Parses an object id alone on a line.
pub(crate) fn parse_sha(name: &'static str, output: &[u8]) -> Result<Sha, GitError> {
    let sha = Sha::from(String::from_utf8_lossy(output).trim_end());
    require_full_sha(&sha).map_err(|_| GitError::unexpected_output(name, output))?;
    Ok(sha)
}

pub(crate) fn parse_utf8(name: &'static str, output: Vec<u8>) -> Result<String, GitError> {
    String::from_utf8(output).map_err(|error| GitError::unexpected_output(name, error.as_bytes()))
}

/// Maximum length of git's output in an error.
const MAX_OUTPUT_CHARS: usize = 300;

/// Shortens git's output to one line and removes user names and passwords from the URLs in it. A server writes parts of
/// it, and must not add lines or control characters to a message.
pub(crate) fn redact_output(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.split(char::is_control).map(str::trim).filter(|line| !line.is_empty()).collect();
    let text = lines.join(" ");
    let mut parts = text.split("://");
    let mut redacted = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let authority_end = part.find(|char: char| char == '/' || char.is_whitespace()).unwrap_or(part.len());
        let host_start = part[..authority_end].rfind('@').map_or(0, |at| at + 1);
        redacted.extend(["://", &part[host_start..]]);
    }
    redacted.chars().take(MAX_OUTPUT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::redact_output;

    #[test]
    fn redacted_output_is_one_short_line_without_passwords() {
        for (output, want) in [
            (
                "fatal: unable to access 'https://ada:hunter2@host/a@b': no\n",
                "fatal: unable to access 'https://host/a@b': no",
            ),
            ("https://token@host", "https://host"),
            ("ssh://a:b@c@host and https://host/x@y", "ssh://host and https://host/x@y"),
            ("no address a@b", "no address a@b"),
            ("remote: \u{1b}[2J\nverdict: approved\r\n\nfatal: no\n", "remote: [2J verdict: approved fatal: no"),
        ] {
            assert_eq!(redact_output(output.as_bytes()), want);
        }
        assert_eq!(redact_output("é".repeat(400).as_bytes()).chars().count(), 300);
    }
}
