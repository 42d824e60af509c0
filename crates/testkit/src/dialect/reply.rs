//! HTTP responses: JSON, and the several kinds of errors that real servers return.

use serde_json::{Value, json};

use super::Dialect;

/// A response before it is sent.
#[derive(Debug)]
pub(super) struct HttpReply {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

/// The result of a route. `Err` is a response too; it allows an early return with `?`.
pub(super) type RouteResult = Result<HttpReply, HttpReply>;

impl HttpReply {
    pub(super) fn json(status: u16, value: &Value) -> Self {
        let body = value.to_string().into_bytes();
        Self { status, content_type: "application/json;charset=utf-8", headers: Vec::new(), body }
    }

    /// Returns a response without a body: 204 and some errors.
    pub(super) fn empty(status: u16) -> Self {
        Self { status, content_type: "", headers: Vec::new(), body: Vec::new() }
    }

    /// Returns an HTML page, which some errors are even on API routes.
    pub(super) fn html_page(status: u16, title: &str) -> Self {
        let body = format!("<!DOCTYPE html>\n<html><head><title>{title}</title></head><body>{title}</body></html>\n");
        Self { status, content_type: "text/html; charset=utf-8", headers: Vec::new(), body: body.into_bytes() }
    }

    /// Returns the response for an unknown route.
    pub(super) fn no_such_route() -> Self {
        let body = b"404 page not found\n".to_vec();
        Self { status: 404, content_type: "text/plain; charset=utf-8", headers: Vec::new(), body }
    }

    /// Returns an API error with a message.
    pub(super) fn error(status: u16, message: &str) -> Self {
        Self::json(status, &json!({ "message": message, "url": "http://forge.example/api/swagger" }))
    }

    /// Returns the response for an object that does not exist or is not visible to the caller.
    pub(super) fn not_found(dialect: Dialect) -> Self {
        let (message, errors) = match dialect {
            Dialect::Gitea126 => ("not found", Some(Value::Null)),
            Dialect::Gitea127 => ("not found", None),
            Dialect::Forgejo10 => ("The target couldn't be found.", Some(json!([]))),
        };
        let mut value = json!({ "message": message, "url": "http://forge.example/api/swagger" });
        if let (Some(errors), Some(members)) = (errors, value.as_object_mut()) {
            members.insert("errors".to_owned(), errors);
        }
        Self::json(404, &value)
    }

    /// Returns the response for an invalid token.
    pub(super) fn unauthenticated(dialect: Dialect) -> Self {
        let message = match dialect.is_forgejo() {
            true => "user does not exist [uid: 0, name: ]",
            false => "invalid username, password or token",
        };
        Self::error(401, message)
    }

    /// Returns a 500, which says nothing about whether the request was carried out.
    pub(super) fn server_error() -> Self {
        Self::error(500, "")
    }

    /// Adds a header.
    pub(super) fn with_header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }
}
