//! One request, not sent yet.

use serde_json::Value;

use crate::route::Route;

/// One request.
#[derive(Clone, Debug)]
pub struct RouteRequest<'a> {
    /// Along which route.
    pub route: &'a Route,
    /// What stands in its places, in order; each is one segment, whatever is in it.
    pub path_params: Vec<String>,
    /// What follows the question mark.
    pub query: Vec<(&'static str, String)>,
    /// What is sent.
    pub body: Option<Value>,
}

impl<'a> RouteRequest<'a> {
    /// A request without a query and a body.
    pub fn new<T: ToString>(route: &'a Route, places: impl IntoIterator<Item = T>) -> Self {
        let places = places.into_iter().map(|place| place.to_string()).collect();
        Self { route, path_params: places, query: Vec::new(), body: None }
    }

    /// The same with one more word in its query.
    #[must_use]
    pub fn with_query(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    /// The same with a body.
    #[must_use]
    pub fn with_body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }
}
