//! A request that may leave (SAF-1): built from a call, then compared with the table as a whole.
//!
//! The route in a call says how to build; it permits nothing. What was built is taken apart again and must match a line of
//! the table by itself.

use serde_json::Value;
use url::Url;

use crate::client_options::ClientOptions;
use crate::error::HttpError;
use crate::route::{BodyKeys, Idempotency, Method, Route};
use crate::route_request::RouteRequest;

/// A request that may leave.
#[derive(Debug)]
pub(crate) struct CheckedRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) body: Option<String>,
    pub(crate) idempotency: Idempotency,
    /// The path of its line in the table.
    pub(crate) route_path: &'static str,
}

impl CheckedRequest {
    /// Builds what a call asks for, unless the table does not have it.
    pub(crate) fn build(reach: &ClientOptions, call: &RouteRequest<'_>) -> Result<Self, HttpError> {
        let method = call.route.method;
        let refused = || HttpError::NotAllowed(describe_request(call));
        let mut url = build_url(&reach.base_url, call).ok_or_else(refused)?;
        let route = matching_routes(reach, method, &url)
            .find(|it| allows_body(it.body_keys, call.body.as_ref()))
            .ok_or_else(refused)?;
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let body = call.body.as_ref().map(Value::to_string);
        Ok(Self { method, url, body, idempotency: route.idempotency, route_path: route.path })
    }

    pub(crate) fn is_read(&self) -> bool {
        self.method.is_read()
    }
}

/// Whether a read may be led on to this address.
pub(crate) fn may_follow_redirect(reach: &ClientOptions, url: &Url) -> bool {
    url.origin() == reach.base_url.origin() && matching_routes(reach, Method::Get, url).next().is_some()
}

fn build_url(base: &Url, call: &RouteRequest<'_>) -> Option<Url> {
    let mut url = base.clone();
    let mut places = call.path_params.iter();
    {
        let mut path = url.path_segments_mut().ok()?;
        path.pop_if_empty();
        for segment in call.route.path.split('/').skip(1) {
            let segment =
                if is_placeholder(segment) { places.next().filter(|it| is_valid_segment(it))? } else { segment };
            path.push(segment);
        }
    }
    places.next().is_none().then_some(url)
}

/// The URL library drops dots and control characters in silence, which would name another place.
fn is_valid_segment(place: &str) -> bool {
    !place.is_empty() && place != "." && place != ".." && !place.contains(char::is_control)
}

fn matching_routes(reach: &ClientOptions, method: Method, url: &Url) -> impl Iterator<Item = &'static Route> {
    let base = reach.base_url.path().trim_end_matches('/');
    let below = url.path().strip_prefix(base).unwrap_or_default().to_owned();
    reach.routes.iter().filter(move |route| route.method == method && template_matches(route.path, &below))
}

fn template_matches(template: &str, path: &str) -> bool {
    let fits = |(there, here): (&str, &str)| there == here || (is_placeholder(there) && !here.is_empty());
    path.split('/').count() == template.split('/').count() && template.split('/').zip(path.split('/')).all(fits)
}

fn is_placeholder(segment: &str) -> bool {
    segment.starts_with('{')
}

fn allows_body(keys: BodyKeys, body: Option<&Value>) -> bool {
    match (keys, body) {
        (_, None) => true,
        (BodyKeys::Only(keys), Some(Value::Object(body))) => body.keys().all(|key| keys.contains(&key.as_str())),
        (BodyKeys::None | BodyKeys::Only(_), Some(_)) => false,
    }
}

/// The shape of a call: its method, its route and the keys of its body, nothing of what is in them.
fn describe_request(call: &RouteRequest<'_>) -> String {
    let keys = call.body.as_ref().and_then(Value::as_object).into_iter().flat_map(serde_json::Map::keys);
    let keys: Vec<&str> = keys.map(String::as_str).collect();
    let with = if keys.is_empty() { String::new() } else { format!(" {{{}}}", keys.join(", ")) };
    format!("{} {}{with}", call.route.method, call.route.path)
}
