//! Checks a request against the allow-list (SAF-1).
//!
//! The route that a caller passes only says how to build the request; it grants nothing. The finished request is
//! matched against the allow-list again, so a caller with a route of its own gains no permission.

use serde_json::Value;
use url::Url;

use crate::client_options::ClientOptions;
use crate::error::HttpError;
use crate::route::{BodyKeys, Idempotency, Method, Route};
use crate::route_request::RouteRequest;

/// A request that matches an entry of the allow-list.
#[derive(Debug)]
pub(crate) struct CheckedRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) body: Option<String>,
    pub(crate) idempotency: Idempotency,
    pub(crate) max_response_bytes: Option<usize>,
    /// Path template of the matching allow-list entry.
    pub(crate) route_path: &'static str,
}

impl CheckedRequest {
    /// Builds the request, or returns [`HttpError::NotAllowed`] if no entry of the allow-list matches.
    pub(crate) fn build(options: &ClientOptions, request: &RouteRequest<'_>) -> Result<Self, HttpError> {
        let method = request.route.method;
        let not_allowed = || HttpError::NotAllowed(describe_request(request));
        let mut url = build_url(&options.base_url, request).ok_or_else(not_allowed)?;
        let route = matching_routes(options, method, &url)
            .find(|route| allows_body(route.body_keys, request.body.as_ref()))
            .ok_or_else(not_allowed)?;
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        let body = request.body.as_ref().map(Value::to_string);
        let max_response_bytes = request.max_response_bytes;
        Ok(Self { method, url, body, idempotency: route.idempotency, max_response_bytes, route_path: route.path })
    }

    pub(crate) fn is_read(&self) -> bool {
        self.method.is_read()
    }
}

/// Returns whether a read may follow a redirect to `url`: same origin, and on the allow-list.
pub(crate) fn may_follow_redirect(options: &ClientOptions, url: &Url) -> bool {
    url.origin() == options.base_url.origin() && matching_routes(options, Method::Get, url).next().is_some()
}

fn build_url(base: &Url, request: &RouteRequest<'_>) -> Option<Url> {
    let mut url = base.clone();
    let mut params = request.path_params.iter();
    {
        let mut path = url.path_segments_mut().ok()?;
        path.pop_if_empty();
        for segment in request.route.path.split('/').skip(1) {
            let segment =
                if is_placeholder(segment) { params.next().filter(|param| is_valid_segment(param))? } else { segment };
            path.push(segment);
        }
    }
    params.next().is_none().then_some(url)
}

/// `Url` silently drops dot segments and control characters, so the request would go to another path.
fn is_valid_segment(param: &str) -> bool {
    !param.is_empty() && param != "." && param != ".." && !param.contains(char::is_control)
}

fn matching_routes(options: &ClientOptions, method: Method, url: &Url) -> impl Iterator<Item = &'static Route> {
    let base = options.base_url.path().trim_end_matches('/');
    let path = url.path().strip_prefix(base).unwrap_or_default().to_owned();
    options.routes.iter().filter(move |route| route.method == method && template_matches(route.path, &path))
}

fn template_matches(template: &str, path: &str) -> bool {
    let matches =
        |(expected, segment): (&str, &str)| expected == segment || (is_placeholder(expected) && !segment.is_empty());
    path.split('/').count() == template.split('/').count() && template.split('/').zip(path.split('/')).all(matches)
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

/// Returns method, path template and body keys. Leaves out every value, since values may be secret.
fn describe_request(request: &RouteRequest<'_>) -> String {
    let keys = request.body.as_ref().and_then(Value::as_object).into_iter().flat_map(serde_json::Map::keys);
    let keys: Vec<&str> = keys.map(String::as_str).collect();
    let body_keys = if keys.is_empty() { String::new() } else { format!(" {{{}}}", keys.join(", ")) };
    format!("{} {}{body_keys}", request.route.method, request.route.path)
}
