//! The client: one server, one token.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::answer::Answer;
use crate::call::Call;
use crate::error::HttpError;
use crate::reach::Reach;
use crate::route::Method;

/// A client of one server with one token. Clones share everything.
#[derive(Clone, Debug)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    reach: Reach,
    http: reqwest::Client,
    reads: AtomicUsize,
    writes: AtomicUsize,
}

/// How many requests left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Those that read.
    pub reads: usize,
    /// Those that write.
    pub writes: usize,
}

impl Client {
    /// A client. Nothing is sent yet.
    pub fn new(reach: Reach) -> Result<Self, HttpError> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| HttpError::Unusable(error.to_string()))?;
        Ok(Self { inner: Arc::new(Inner { reach, http, reads: AtomicUsize::new(0), writes: AtomicUsize::new(0) }) })
    }

    /// Sends a request and waits for its answer.
    pub async fn send(&self, call: &Call<'_>) -> Result<Answer, HttpError> {
        let inner = &self.inner;
        let mut url = inner.reach.base.clone();
        let mut places = call.places.iter();
        {
            let mut path = url.path_segments_mut().map_err(|()| HttpError::Unusable("no address".to_owned()))?;
            path.pop_if_empty();
            for segment in call.route.path.split('/').skip(1) {
                path.push(if segment.starts_with('{') { places.next().map_or("", String::as_str) } else { segment });
            }
        }
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(call.query.iter());
        }
        let method = match call.route.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Patch => reqwest::Method::PATCH,
            Method::Put => reqwest::Method::PUT,
            Method::Delete => reqwest::Method::DELETE, // delete: own label
        };
        let counter = if call.route.method.reads() { &inner.reads } else { &inner.writes };
        counter.fetch_add(1, Ordering::Relaxed);
        let mut request = inner.http.request(method, url);
        if let Some(token) = &inner.reach.token {
            request = request.header("authorization", format!("token {}", token.reveal()));
        }
        if let Some(body) = &call.body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let lost = |_| HttpError::Unknown;
        let answer = request.send().await.map_err(lost)?;
        let status = answer.status().as_u16();
        let headers = answer
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect();
        let body = answer.bytes().await.map_err(lost)?.to_vec();
        Ok(Answer { status, headers, body })
    }

    /// How many requests left so far.
    pub fn calls(&self) -> Calls {
        Calls { reads: self.inner.reads.load(Ordering::Relaxed), writes: self.inner.writes.load(Ordering::Relaxed) }
    }
}
