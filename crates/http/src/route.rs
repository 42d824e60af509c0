//! What may leave: a table of routes for each adapter (SAF-1).

use std::fmt;

/// How a route is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Makes.
    Post,
    /// Changes.
    Patch,
    /// Sets.
    Put,
    /// Takes away.
    Delete, // delete: own label
}

/// One thing that an adapter may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// How.
    pub method: Method,
    /// Where, below the base address: `/repos/{owner}/{repo}/pulls/{number}`.
    pub path: &'static str,
    /// Which keys its body may have.
    pub keys: Keys,
    /// Whether it may be sent again when nobody knows what became of it.
    pub repeat: Repeat,
}

/// Which keys a body may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// There is no body.
    None,
    /// These, and no others.
    Only(&'static [&'static str]),
}

/// Whether a request may be sent again when nobody knows what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// It reads, or doing it twice is doing it once.
    Safe,
    /// Whoever sent it reads back first.
    Never,
}

impl Route {
    /// A read.
    pub const fn get(path: &'static str) -> Self {
        Self { method: Method::Get, path, keys: Keys::None, repeat: Repeat::Safe }
    }

    /// A write whose body may have these keys.
    pub const fn write(method: Method, path: &'static str, keys: &'static [&'static str]) -> Self {
        Self { method, path, keys: Keys::Only(keys), repeat: Repeat::Never }
    }

    /// A write without a body.
    pub const fn bare(method: Method, path: &'static str) -> Self {
        Self { method, path, keys: Keys::None, repeat: Repeat::Never }
    }

    /// The same, where doing it twice is doing it once.
    #[must_use]
    pub const fn repeatable(self) -> Self {
        Self { repeat: Repeat::Safe, ..self }
    }
}

impl Method {
    /// Whether it only reads.
    pub fn reads(self) -> bool {
        self == Self::Get
    }
}

/// As it is written on the wire.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Put => "PUT",
            Self::Delete => "DELETE", // delete: own label
        })
    }
}
