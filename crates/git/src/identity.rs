//! The author identity that git uses.

use std::fmt;

use crate::{Git, GitError};

/// Name and email that git would use for a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitIdentity {
    /// As configured, or derived from the user account.
    pub name: Option<String>,
    /// As configured, or derived from user and host name.
    pub email: Option<String>,
}

impl fmt::Display for GitIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [name, email] = [&self.name, &self.email].map(|part| part.as_deref().unwrap_or_default());
        write!(f, "{name} <{email}>")
    }
}

impl Git {
    /// Returns the author identity. A part is `None` if it is neither configured nor derivable.
    pub fn author_identity(&self) -> Result<GitIdentity, GitError> {
        let ident = self.output("var", &["GIT_AUTHOR_IDENT"])?;
        if ident.status.success() {
            return Ok(parse_ident(&String::from_utf8_lossy(&ident.stdout)));
        }
        let name = self.run_line("config", &["--get", "user.name"])?.and_then(non_empty);
        let email = self.run_line("config", &["--get", "user.email"])?.and_then(non_empty);
        Ok(GitIdentity { name, email })
    }
}

/// Parses `Name <address> 1700000000 +0000`.
fn parse_ident(ident: &str) -> GitIdentity {
    let parts = ident.split_once(" <").and_then(|(name, rest)| Some((name, rest.split_once('>')?.0)));
    let (name, email) = parts.unwrap_or_default();
    GitIdentity { name: non_empty(name.to_owned()), email: non_empty(email.to_owned()) }
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
