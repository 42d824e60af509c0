//! Who works here.

use crate::{Git, GitError};

/// The person whom git would name as an author.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct User {
    /// As configured, or what git makes of the system's accounts.
    pub name: Option<String>,
    /// As configured, or what git makes of the system's names.
    pub email: Option<String>,
}

impl Git {
    /// The person whom git would name as an author; what nobody configured and git cannot guess is none.
    pub fn user(&self) -> Result<User, GitError> {
        let ident = self.output("var", &["GIT_AUTHOR_IDENT"])?;
        if ident.status.success() {
            return Ok(user(&String::from_utf8_lossy(&ident.stdout)));
        }
        let name = self.line("config", &["--get", "user.name"])?.and_then(some);
        let email = self.line("config", &["--get", "user.email"])?.and_then(some);
        Ok(User { name, email })
    }
}

/// `Name <address> 1700000000 +0000`
fn user(ident: &str) -> User {
    let parts = ident.split_once(" <").and_then(|(name, rest)| Some((name, rest.split_once('>')?.0)));
    let (name, email) = parts.unwrap_or_default();
    User { name: some(name.to_owned()), email: some(email.to_owned()) }
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
