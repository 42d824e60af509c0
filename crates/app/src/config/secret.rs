//! Sources of secrets. A secret is read when it is needed and never printed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::value::ConfigNode;
use crate::known_secrets;

/// The source of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SecretSource {
    /// The name of an environment variable.
    Env(String),
    /// The path of a file; `~/` is the home directory.
    File(String),
    /// A program and its arguments; the secret is what it prints to stdout.
    Command(Vec<String>),
}

/// A secret. Its text is accessible only through [`SecretText::expose`], so that no log or message prints it by accident.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SecretText(String);

/// Why a secret could not be read. Messages name the source, never its contents.
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
    #[error("{0} is not valid UTF-8")]
    NotText(SecretSource),
}

impl SecretSource {
    /// Reads the secret and trims surrounding whitespace.
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
        known_secrets::remember(text);
        Ok(SecretText(text.to_owned()))
    }

    pub(super) fn from_node(node: &ConfigNode) -> Option<Self> {
        let env = node.get("env").and_then(ConfigNode::as_text).map(|name| Self::Env(name.to_owned()));
        let file = node.get("file").and_then(ConfigNode::as_text).map(|file| Self::File(file.to_owned()));
        env.or(file).or_else(|| Some(Self::Command(node.get("command")?.to_strings())))
    }

    fn run_program(&self, argv: &[String]) -> Result<String, SecretError> {
        let (program, args) = argv.split_first().ok_or_else(|| SecretError::Unset(self.clone()))?;
        let unreadable = |error| SecretError::Unreadable(self.clone(), error);
        // The program's stderr may contain the secret as well.
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
    /// Returns the secret. Pass it only to the program or server it is for.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "the variable `{name}`"),
            Self::File(file) => write!(f, "the file `{file}`"),
            // The arguments may contain a password, so only the program is named.
            Self::Command(argv) => write!(f, "the program `{}`", argv.first().map_or("", String::as_str)),
        }
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(…)")
    }
}

/// Resolves a path of the operator file: `~/` is the home directory.
pub(crate) fn expand_home(file: &str, env: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    match (file.strip_prefix("~/"), env("HOME").or_else(|| env("USERPROFILE"))) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(file),
    }
}
