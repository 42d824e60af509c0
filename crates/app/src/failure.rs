//! How a run ends: an exit code, and for a failed run a message with hints.

use std::process::ExitCode;

use referee_forge::ForgeError;
use referee_http::mask_url_credentials;

/// The outcome of a run that was carried out. The exit codes are part of the interface (`referee help`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CliOutcome {
    /// Done, or nothing to do.
    Done = 0,
    Failed = 1,
    /// A payload does not fit the pull.
    Usage = 2,
    /// The pull waits for somebody else.
    Waiting = 8,
    /// A closed gate withheld planned steps.
    Withheld = 10,
    /// A person must decide.
    HumanNeeded = 12,
    /// A role should have read the head and did not, or not completely.
    Inconclusive = 14,
    /// `--fail-on` is met.
    Findings = 20,
    /// A temporary problem. Finished reports are kept.
    TryLater = 75,
}

/// Why a run could not be carried out.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    message: String,
    hints: Vec<String>,
}

/// The kind of a failure. Its number is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    Failed = 1,
    /// The command line or the config is wrong.
    Usage = 2,
    NothingToReview = 3,
    /// There is no token, or the forge does not accept it.
    Unauthenticated = 4,
    /// A temporary problem.
    TryLater = 75,
}

impl Failure {
    /// Creates a failure. The message names the consequence first, in lower case, without a final period.
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: mask_url_credentials(&message.into()).into_owned(), hints: Vec::new() }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Failed, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// Adds a hint on what to do.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(mask_url_credentials(&hint.into()).into_owned());
        self
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn kind(&self) -> FailureKind {
        self.kind
    }

    /// Renders message and hints for the terminal.
    pub(crate) fn render(&self) -> String {
        // Config errors already contain their labels.
        let label = if self.message.starts_with("error:") { "" } else { "error: " };
        let mut text = format!("{label}{}\n", self.message);
        for (index, hint) in self.hints.iter().enumerate() {
            text.push_str(if index == 0 { "\nhint: " } else { "hint: " });
            text.push_str(hint);
            text.push('\n');
        }
        text
    }

    /// Returns the document that `--json` prints, `referee/error-1`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "schema": "referee/error-1",
            "message": self.message,
            "hints": self.hints,
            "exit": self.kind as u8,
        })
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.kind as u8)
    }
}

impl CliOutcome {
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}

impl From<crate::store::StoreError> for Failure {
    fn from(error: crate::store::StoreError) -> Self {
        use crate::store::StoreError;
        let kind = match error {
            StoreError::Locked { .. } => FailureKind::TryLater,
            _ => FailureKind::Failed,
        };
        let failure = Self::new(kind, error.to_string());
        match error {
            StoreError::Locked { .. } => failure.with_hint("end the process that holds it, then run the command again"),
            StoreError::NewerFormat { .. } => failure.with_hint("use that newer version; nothing was changed"),
            StoreError::File { .. } | StoreError::Database { .. } => {
                failure.with_hint("free disk space, or make the folder writable; `--dry-run` needs neither")
            }
            StoreError::CorruptRow { .. } => {
                failure.with_hint("move the file away: referee derives its contents from the pull again")
            }
        }
    }
}

impl Failure {
    /// Creates the failure for an error of the forge, with a hint for its kind.
    pub(crate) fn from_forge_error(error: &ForgeError, message: &str) -> Self {
        let failure = |kind| Self::new(kind, message);
        match error {
            ForgeError::Unauthenticated => failure(FailureKind::Unauthenticated).with_hint(
                "check that the token belongs to this server and is still valid; `REFEREE_TOKEN` is used first",
            ),
            ForgeError::Forbidden(_) => failure(FailureKind::Failed).with_hint(
                "the token needs `write:repository`, `write:issue` and `read:user`; `referee doctor` shows what it has",
            ),
            ForgeError::NotFound(_) => failure(FailureKind::Failed)
                .with_hint("check the name, and that the token's user may see the repository"),
            ForgeError::RetryLater
            | ForgeError::Unreachable(_)
            | ForgeError::OutcomeUnknown
            | ForgeError::Conflict(_) => {
                failure(FailureKind::TryLater).with_hint("run the command again; finished reports are kept")
            }
            ForgeError::Unsupported(_) => failure(FailureKind::Failed).with_hint(
                "check that this is the address of a Gitea or Forgejo server, for example with `referee doctor`",
            ),
            ForgeError::Unreadable(_) => failure(FailureKind::Failed)
                .with_hint("a proxy or a login page may have answered instead of the forge; finished reports are kept"),
            ForgeError::TooLarge(_) => failure(FailureKind::Failed)
                .with_hint("somebody with write access can shorten or delete the text that is too large"),
            ForgeError::Refused(_) => failure(FailureKind::Failed).with_hint("the log of the server says more"),
        }
    }
}

impl From<referee_sandbox::SandboxError> for Failure {
    fn from(error: referee_sandbox::SandboxError) -> Self {
        let kind = match error.kind {
            referee_sandbox::SandboxErrorKind::Refused => FailureKind::Usage,
            referee_sandbox::SandboxErrorKind::Failed => FailureKind::Failed,
        };
        let failure = Self::new(kind, error.message);
        match error.hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

impl From<referee_git::GitError> for Failure {
    fn from(error: referee_git::GitError) -> Self {
        let failure = Self::failed(error.to_string());
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
