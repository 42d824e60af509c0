//! How a run ends: an exit code, and where it went wrong words with a hint.

use std::process::ExitCode;

use referee_forge::ForgeError;

/// How a run that was carried out ended. The numbers are published (`referee help`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CliOutcome {
    /// Done, or nothing to do.
    Done = 0,
    /// Something failed.
    Failed = 1,
    /// Somebody else has the turn, and the command was asked to wait.
    Waiting = 8,
    /// Steps were planned and withheld.
    Withheld = 10,
    /// A person must decide.
    HumanNeeded = 12,
    /// A reviewer failed: nothing is approved, nothing is known.
    Inconclusive = 14,
    /// Findings at or above `--fail-on`.
    Findings = 20,
    /// Try again later; nothing is lost.
    TryLater = 75,
}

/// Why a run was not carried out.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    message: String,
    hints: Vec<String>,
}

/// The kinds, by exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// It failed.
    Failed = 1,
    /// The command line or the config is wrong.
    Usage = 2,
    /// There is nothing to review.
    NothingToReview = 3,
    /// The forge knows no such token, or there is none.
    Unauthenticated = 4,
    /// Try later.
    TryLater = 75,
}

impl Failure {
    /// Consequence first, lower case, no final period.
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    /// It failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Failed, message)
    }

    /// The command line or the config is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// The next step.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The words for a terminal.
    pub(crate) fn render(&self) -> String {
        // The config's errors are drawn with their own labels.
        let label = if self.message.starts_with("error:") { "" } else { "error: " };
        let mut words = format!("{label}{}\n", self.message);
        for (at, hint) in self.hints.iter().enumerate() {
            words.push_str(if at == 0 { "\nhint: " } else { "hint: " });
            words.push_str(hint);
            words.push('\n');
        }
        words
    }

    /// The same as data, for `--json`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "schema": "referee/error-1",
            "message": self.message,
            "hints": self.hints,
            "exit": self.kind as u8,
        })
    }

    /// The exit code.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.kind as u8)
    }
}

impl CliOutcome {
    /// The exit code.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}

impl From<crate::store::StoreError> for Failure {
    fn from(error: crate::store::StoreError) -> Self {
        use crate::store::StoreError;
        let failure = Self::failed(error.to_string());
        match error {
            StoreError::NewerFormat { .. } => failure.with_hint("use that newer referee; nothing was changed"),
            StoreError::File { .. } | StoreError::Database { .. } => {
                failure.with_hint("make room, or make the folder writable; `--dry-run` needs neither")
            }
            StoreError::CorruptRow { .. } => failure.with_hint("move the file away: what is in it can be made anew"),
        }
    }
}

impl Failure {
    /// What a forge's refusal means for the run.
    pub(crate) fn from_forge_error(error: &ForgeError, words: &str) -> Self {
        let failure = |kind| Self::new(kind, words);
        match error {
            ForgeError::Unauthenticated => failure(FailureKind::Unauthenticated)
                .with_hint("is the token of that server, and still valid? `REFEREE_TOKEN` is looked at first"),
            ForgeError::Forbidden(_) => failure(FailureKind::Failed).with_hint(
                "a token needs `write:repository`, `write:issue` and `read:user`; `referee doctor` says what it has",
            ),
            ForgeError::NotFound(_) => failure(FailureKind::Failed)
                .with_hint("is the name right, and may the token's user see the repository?"),
            ForgeError::RetryLater
            | ForgeError::Unreachable(_)
            | ForgeError::OutcomeUnknown
            | ForgeError::Conflict(_) => {
                failure(FailureKind::TryLater).with_hint("run it again; a finished report is kept")
            }
            ForgeError::Unsupported(_) => failure(FailureKind::Failed)
                .with_hint("is that the address of a Gitea or Forgejo server? `referee doctor` looks at it"),
            ForgeError::Unreadable(_) => failure(FailureKind::Failed)
                .with_hint("does a proxy or a page to log in stand in between? a finished report is kept"),
            ForgeError::Refused(_) => failure(FailureKind::Failed).with_hint("the server's own log says more"),
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
