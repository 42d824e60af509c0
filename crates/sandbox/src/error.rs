//! Why the sandbox did not run a program.

/// A refusal or a failure of the sandbox.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SandboxError {
    pub kind: SandboxErrorKind,
    /// What failed and why; lower case, without a final period.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Who has to act on a [`SandboxError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxErrorKind {
    /// This machine cannot meet the request: the operator changes the request or the machine.
    Refused,
    /// An operation failed that normally succeeds.
    Failed,
}

impl SandboxError {
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self { kind: SandboxErrorKind::Refused, message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { kind: SandboxErrorKind::Failed, message: message.into(), hint: None }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn requires_linux() -> Self {
        Self::refused("the sandbox cannot run a program here: it requires Linux")
            .with_hint("run `referee dispatch` without `--run`: it prints what is due")
    }
}
