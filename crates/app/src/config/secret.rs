//! Where a secret comes from. The secret itself is read when it is needed and shown never.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::value::ConfigNode;

/// The source of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SecretSource {
    /// A variable.
    Env(String),
    /// A file; `~/` is the user's home.
    File(String),
    /// What a program prints.
    Command(Vec<String>),
}

/// A secret. It has no way to be printed but [`SecretText::expose`].
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SecretText(String);

/// Why a secret cannot be had. It names the source, never what stood there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretError {
    #[error("{0} is not set")]
    Unset(SecretSource),
    #[error("{0} is empty")]
    Empty(SecretSource),
    #[error("{0} cannot be read: {1}")]
    Unreadable(SecretSource, std::io::Error),
    #[error("{0} failed: {1}")]
    Failed(SecretSource, std::process::ExitStatus),
    #[error("{0} is no text")]
    NotText(SecretSource),
}

impl SecretSource {
    /// Reads it now.
    pub(crate) fn read(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<SecretText, SecretError> {
        let text = match self {
            Self::Env(name) => env(name).ok_or_else(|| SecretError::Unset(self.clone()))?,
            Self::File(file) => {
                let bytes = std::fs::read(expand_home(file, env))
                    .map_err(|error| SecretError::Unreadable(self.clone(), error))?;
                String::from_utf8(bytes).map_err(|_| SecretError::NotText(self.clone()))?
            }
            Self::Command(argv) => self.run_program(argv)?,
        };
        let text = text.trim();
        if text.is_empty() {
            return Err(SecretError::Empty(self.clone()));
        }
        Ok(SecretText(text.to_owned()))
    }

    /// That others on this machine can read it, if they can.
    pub(crate) fn check_permissions(&self, env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let Self::File(file) = self else { return None };
        others_may_read(&expand_home(file, env))
            .then(|| format!("others on this machine can read {self}; run `chmod 600`"))
    }

    pub(super) fn from_node(at: &ConfigNode) -> Option<Self> {
        let env = at.get("env").and_then(ConfigNode::as_text).map(|name| Self::Env(name.to_owned()));
        let file = at.get("file").and_then(ConfigNode::as_text).map(|file| Self::File(file.to_owned()));
        env.or(file).or_else(|| Some(Self::Command(at.get("command")?.to_strings())))
    }

    fn run_program(&self, argv: &[String]) -> Result<String, SecretError> {
        let (program, args) = argv.split_first().ok_or_else(|| SecretError::Unset(self.clone()))?;
        let unreadable = |error| SecretError::Unreadable(self.clone(), error);
        // What it says on stderr may hold the secret as well.
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::null()).stderr(Stdio::null());
        let output = command.output().map_err(unreadable)?;
        if !output.status.success() {
            return Err(SecretError::Failed(self.clone(), output.status));
        }
        String::from_utf8(output.stdout).map_err(|_| SecretError::NotText(self.clone()))
    }
}

impl SecretText {
    /// The secret, to be handed to whom it is for.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "the variable `{name}`"),
            Self::File(file) => write!(f, "the file `{file}`"),
            // Arguments may hold what opens a vault.
            Self::Command(argv) => write!(f, "the program `{}`", argv.first().map_or("", String::as_str)),
        }
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(…)")
    }
}

/// Where a file of the operator is.
pub(crate) fn expand_home(file: &str, env: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    match (file.strip_prefix("~/"), env("HOME").or_else(|| env("USERPROFILE"))) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(file),
    }
}

#[cfg(unix)]
fn others_may_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn others_may_read(_: &Path) -> bool {
    false
}
