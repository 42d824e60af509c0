//! Names of things. Each is its own type, so that an edit id is never taken for a review id (PUB-11).

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
            /// The name as text.
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
    /// A commit, in full.
    Sha;
    /// A role of the policy: `security`, `static`.
    RoleName;
    /// A row in the forge's list of reviews.
    ReviewId;
    /// What an edit of a review's summary addresses. Never the review's own id.
    EditId;
    /// A conversation on a place in the diff.
    ThreadId;
    /// One note of a thread.
    NoteId;
    /// A top-level comment of the pull.
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
    /// The forge's own number of a repository: it survives a rename.
    RepoId = "";
    /// A pull's number.
    PullNumber = "#";
    /// An issue's number.
    IssueNumber = "#";
    /// A finding's id, stable per pull across heads, renames, rebases and rewording.
    FindingId = "F";
}

impl Sha {
    /// The first seven characters, as people quote it.
    pub fn short(&self) -> &str {
        self.0.get(..7).unwrap_or(&self.0)
    }
}

/// A person's or bot's name on the forge. Forges compare names without regard to case, and so do we.
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
        // Mostly they are written alike, and comparing bytes as they are is cheaper.
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
        let (one, other) = (self.0.bytes(), other.0.bytes());
        one.map(|byte| byte.to_ascii_lowercase()).cmp(other.map(|byte| byte.to_ascii_lowercase()))
    }
}

impl Hash for Login {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for byte in self.0.bytes() {
            state.write_u8(byte.to_ascii_lowercase());
        }
    }
}
