//! Entries of the allow-list: every adapter lists the routes it may send (SAF-1).

use std::fmt;

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Patch,
    Put,
    Delete, // delete: own label
}

/// One entry of the allow-list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    pub method: Method,
    /// Path template below the base URL, such as `/repos/{owner}/{repo}/pulls/{number}`.
    pub path: &'static str,
    pub body_keys: BodyKeys,
    pub idempotency: Idempotency,
}

/// Top-level keys that a JSON body may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKeys {
    /// No body is allowed.
    None,
    Only(&'static [&'static str]),
}

/// Whether a request may be sent again after its response was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idempotency {
    /// Sending it twice has the same effect as sending it once.
    Idempotent,
    /// The caller has to read the state back before it sends the request again.
    NotIdempotent,
}

impl Route {
    pub const fn get(path: &'static str) -> Self {
        Self { method: Method::Get, path, body_keys: BodyKeys::None, idempotency: Idempotency::Idempotent }
    }

    /// A write whose JSON body may have `keys`.
    pub const fn write(method: Method, path: &'static str, keys: &'static [&'static str]) -> Self {
        Self { method, path, body_keys: BodyKeys::Only(keys), idempotency: Idempotency::NotIdempotent }
    }

    /// A write without a body.
    pub const fn write_without_body(method: Method, path: &'static str) -> Self {
        Self { method, path, body_keys: BodyKeys::None, idempotency: Idempotency::NotIdempotent }
    }

    /// Marks the route as idempotent.
    #[must_use]
    pub const fn idempotent(self) -> Self {
        Self { idempotency: Idempotency::Idempotent, ..self }
    }
}

impl Method {
    pub fn is_read(self) -> bool {
        self == Self::Get
    }
}

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
