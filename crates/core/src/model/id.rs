//! Identifiers. Each is a separate type, so that an edit id cannot be used as a review id (PUB-11).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! names {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
                    }

                    impl From<&str> for $name {
            fn from(name: &str) -> Self {
                Self(name.to_owned())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

names! {
    /// A full commit id.
    Sha;
    /// Name of a role in the policy, such as `security`.
    RoleName;
    /// Id of a review in the forge's list.
    ReviewId;
    /// Id for editing a review's summary. Not the review's id.
    EditId;
    /// Id of a thread on a line of the diff.
    ThreadId;
    /// Id of a note in a thread.
    NoteId;
    /// Id of a top-level comment.
    CommentId;
}

macro_rules! numbers {
    ($($(#[$doc:meta])+ $name:ident = $prefix:literal;)+) => {$(
        $(#[$doc])+
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )+};
}

numbers! {
    /// The forge's numeric id of a repository, which survives a rename.
    RepoId = "";
    /// Number of a pull.
    PullNumber = "#";
    /// Number of an issue.
    IssueNumber = "#";
    /// Id of a finding in a pull, stable across heads, renames, rebases and rewording.
    FindingId = "F";
}

impl Sha {
    /// Returns the abbreviated id: seven characters.
    pub fn short(&self) -> &str {
        self.0.get(..7).unwrap_or(&self.0)
    }
}

/// Login name of a person or bot on the forge. Compared case-insensitively, as forges do.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Login(pub String);

impl Login {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Login {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq for Login {
    fn eq(&self, other: &Self) -> bool {
        // Fast path: most names have the same case.
        self.0 == other.0 || self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for Login {}

impl PartialOrd for Login {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Login {
    fn cmp(&self, other: &Self) -> Ordering {
        let (this, other) = (self.0.bytes(), other.0.bytes());
        this.map(|byte| byte.to_ascii_lowercase()).cmp(other.map(|byte| byte.to_ascii_lowercase()))
    }
}

impl Hash for Login {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for byte in self.0.bytes() {
            state.write_u8(byte.to_ascii_lowercase());
        }
    }
}
