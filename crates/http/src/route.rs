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
    pub body_keys: BodyKeys,
    /// Whether it may be sent again when nobody knows what became of it.
    pub idempotency: Idempotency,
}

/// Which keys a body may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKeys {
    /// There is no body.
    None,
    /// These, and no others.
    Only(&'static [&'static str]),
}

/// Whether a request may be sent again when nobody knows what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idempotency {
    /// It reads, or doing it twice is doing it once.
    Idempotent,
    /// Whoever sent it reads back first.
    NotIdempotent,
}

impl Route {
    /// A read.
    pub const fn get(path: &'static str) -> Self {
        Self { method: Method::Get, path, body_keys: BodyKeys::None, idempotency: Idempotency::Idempotent }
    }

    /// A write whose body may have these keys.
    pub const fn write(method: Method, path: &'static str, keys: &'static [&'static str]) -> Self {
        Self { method, path, body_keys: BodyKeys::Only(keys), idempotency: Idempotency::NotIdempotent }
    }

    /// A write without a body.
    pub const fn write_without_body(method: Method, path: &'static str) -> Self {
        Self { method, path, body_keys: BodyKeys::None, idempotency: Idempotency::NotIdempotent }
    }

    /// The same, where doing it twice is doing it once.
    #[must_use]
    pub const fn idempotent(self) -> Self {
        Self { idempotency: Idempotency::Idempotent, ..self }
    }
}

impl Method {
    /// Whether it only reads.
    pub fn is_read(self) -> bool {
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
