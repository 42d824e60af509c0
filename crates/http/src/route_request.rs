//! A request along a route, before the allow-list check.

use serde_json::Value;

use crate::route::Route;

/// A request along a route.
#[derive(Clone, Debug)]
pub struct RouteRequest<'a> {
    pub route: &'a Route,
    /// Values of the placeholders in the path, in order. Each is escaped into exactly one segment.
    pub path_params: Vec<String>,
    pub query: Vec<(&'static str, String)>,
    pub body: Option<Value>,
    /// Maximum size of the response if it differs from the client's. Of a longer one than the client's, long strings are
    /// dropped until it fits.
    pub max_response_bytes: Option<usize>,
}

impl<'a> RouteRequest<'a> {
    /// Creates a request without query and body.
    pub fn new<T: ToString>(route: &'a Route, path_params: impl IntoIterator<Item = T>) -> Self {
        let path_params = path_params.into_iter().map(|param| param.to_string()).collect();
        Self { route, path_params, query: Vec::new(), body: None, max_response_bytes: None }
    }

    /// Adds a query parameter.
    #[must_use]
    pub fn with_query(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    /// Accepts a response of another size than the client's maximum.
    #[must_use]
    pub fn with_max_response_bytes(mut self, bytes: usize) -> Self {
        self.max_response_bytes = Some(bytes);
        self
    }

    #[must_use]
    pub fn with_body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }
}
