//! A request that may leave (SAF-1): built from a call, then compared with the table as a whole.
//!
//! The route in a call says how to build; it permits nothing. What was built is taken apart again and must match a line of
//! the table by itself.

use serde_json::Value;
use url::Url;

use crate::call::Call;
use crate::error::HttpError;
use crate::reach::Reach;
use crate::route::{Keys, Method, Repeat, Route};

/// A request that may leave.
#[derive(Debug)]
pub(crate) struct Parcel {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) body: Option<String>,
    pub(crate) repeat: Repeat,
    /// The path of its line in the table.
    pub(crate) question: &'static str,
}

impl Parcel {
    /// Builds what a call asks for, unless the table does not have it.
    pub(crate) fn pack(reach: &Reach, call: &Call<'_>) -> Result<Self, HttpError> {
        let method = call.route.method;
        let refused = || HttpError::NotAllowed(named(call));
        let mut url = address(&reach.base, call).ok_or_else(refused)?;
        let route = matching(reach, method, &url).find(|it| allows(it.keys, call.body.as_ref())).ok_or_else(refused)?;
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let body = call.body.as_ref().map(Value::to_string);
        Ok(Self { method, url, body, repeat: route.repeat, question: route.path })
    }

    pub(crate) fn reads(&self) -> bool {
        self.method.reads()
    }
}

/// Whether a read may be led on to this address.
pub(crate) fn may_follow(reach: &Reach, url: &Url) -> bool {
    url.origin() == reach.base.origin() && matching(reach, Method::Get, url).next().is_some()
}

fn address(base: &Url, call: &Call<'_>) -> Option<Url> {
    let mut url = base.clone();
    let mut places = call.places.iter();
    {
        let mut path = url.path_segments_mut().ok()?;
        path.pop_if_empty();
        for segment in call.route.path.split('/').skip(1) {
            let segment = if is_place(segment) { places.next().filter(|it| is_segment(it))? } else { segment };
            path.push(segment);
        }
    }
    places.next().is_none().then_some(url)
}

/// The URL library drops dots and control characters in silence, which would name another place.
fn is_segment(place: &str) -> bool {
    !place.is_empty() && place != "." && place != ".." && !place.contains(char::is_control)
}

fn matching(reach: &Reach, method: Method, url: &Url) -> impl Iterator<Item = &'static Route> {
    let base = reach.base.path().trim_end_matches('/');
    let below = url.path().strip_prefix(base).unwrap_or_default().to_owned();
    reach.routes.iter().filter(move |route| route.method == method && leads_to(route.path, &below))
}

fn leads_to(template: &str, path: &str) -> bool {
    let fits = |(there, here): (&str, &str)| there == here || (is_place(there) && !here.is_empty());
    path.split('/').count() == template.split('/').count() && template.split('/').zip(path.split('/')).all(fits)
}

fn is_place(segment: &str) -> bool {
    segment.starts_with('{')
}

fn allows(keys: Keys, body: Option<&Value>) -> bool {
    match (keys, body) {
        (_, None) => true,
        (Keys::Only(keys), Some(Value::Object(body))) => body.keys().all(|key| keys.contains(&key.as_str())),
        (Keys::None | Keys::Only(_), Some(_)) => false,
    }
}

/// The shape of a call: its method, its route and the keys of its body, nothing of what is in them.
fn named(call: &Call<'_>) -> String {
    let keys = call.body.as_ref().and_then(Value::as_object).into_iter().flat_map(serde_json::Map::keys);
    let keys: Vec<&str> = keys.map(String::as_str).collect();
    let with = if keys.is_empty() { String::new() } else { format!(" {{{}}}", keys.join(", ")) };
    format!("{} {}{with}", call.route.method, call.route.path)
}
