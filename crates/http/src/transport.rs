//! One try on the wire: send, follow within the host, read up to a limit.

use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::header::{CONTENT_TYPE, HeaderValue, IF_NONE_MATCH};
use url::Url;

use crate::attempt_error::AttemptError;
use crate::checked_request::{CheckedRequest, may_follow_redirect};
use crate::classify;
use crate::client::RequestCounts;
use crate::client_options::ClientOptions;
use crate::error::HttpError;
use crate::etag_cache::{EtagCache, merge_not_modified};
use crate::http_client::build_http_client;
use crate::response::Response;
use crate::route::Method;
use crate::token::Token;

/// How often a read is led on.
const MAX_REDIRECTS: usize = 5;

/// The wire to one server.
pub(crate) struct Transport {
    pub(crate) options: ClientOptions,
    http: reqwest::Client,
    cache: EtagCache,
    reads: AtomicUsize,
    writes: AtomicUsize,
}

impl Transport {
    pub(crate) fn new(reach: ClientOptions) -> Result<Self, HttpError> {
        let http = build_http_client(&reach)?;
        let kept = EtagCache::new(reach.limits.cache_bytes);
        Ok(Self { options: reach, http, cache: kept, reads: AtomicUsize::new(0), writes: AtomicUsize::new(0) })
    }

    /// Sends once and waits for the whole answer.
    pub(crate) async fn attempt(&self, parcel: &CheckedRequest) -> Result<Response, AttemptError> {
        let kept = parcel.is_read().then(|| self.cache.get(&parcel.url)).flatten();
        let etag = kept.as_ref().and_then(|it| it.header("etag"));
        let mut url = parcel.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let answer = self.send_once(parcel, &url, etag).await?;
            match answer.status {
                301 | 302 | 303 | 307 | 308 if parcel.is_read() => url = self.resolve_redirect(&url, &answer)?,
                429 | 500.. => return Err(AttemptError::Unavailable(answer)),
                304 => return Ok(kept.map_or(answer.clone(), |kept| merge_not_modified(&kept, answer))),
                _ => {
                    if parcel.is_read() {
                        self.cache.insert(&parcel.url, &answer);
                    }
                    return Ok(answer);
                }
            }
        }
        Err(self.redirect_error("it redirects in circles"))
    }

    pub(crate) fn request_counts(&self) -> RequestCounts {
        RequestCounts { reads: self.reads.load(Ordering::Relaxed), writes: self.writes.load(Ordering::Relaxed) }
    }

    pub(crate) fn host(&self) -> &str {
        self.options.base_url.host_str().unwrap_or_default()
    }

    async fn send_once(
        &self,
        parcel: &CheckedRequest,
        url: &Url,
        etag: Option<&str>,
    ) -> Result<Response, AttemptError> {
        let counter = if parcel.is_read() { &self.reads } else { &self.writes };
        counter.fetch_add(1, Ordering::Relaxed);
        let mut request = self.http.request(to_reqwest_method(parcel.method), url.clone());
        if let Some(etag) = etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        if let Some(body) = &parcel.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        let answer = request.send().await.map_err(|error| {
            let failed = classify::classify_error(&error, &self.options.limits);
            if matches!(failed, AttemptError::Unsent(_)) {
                counter.fetch_sub(1, Ordering::Relaxed);
            }
            failed
        })?;
        self.read_response(parcel, answer).await
    }

    async fn read_response(
        &self,
        parcel: &CheckedRequest,
        mut answer: reqwest::Response,
    ) -> Result<Response, AttemptError> {
        let limits = &self.options.limits;
        let status = answer.status().as_u16();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = answer.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| classify::classify_error(&error, limits))? {
            if body.len() + chunk.len() > limits.max_body_bytes {
                let why = format!("it is longer than {} bytes", limits.max_body_bytes);
                let error =
                    if parcel.is_read() { HttpError::UnreadableResponse(why) } else { HttpError::OutcomeUnknown };
                return Err(AttemptError::Fatal(error));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(self.redact_token(Response { status, headers, body }))
    }

    /// A server that complains about a token may repeat it.
    fn redact_token(&self, answer: Response) -> Response {
        let token = self.options.token.as_ref().map(Token::reveal).filter(|it| !it.is_empty());
        match token.zip(std::str::from_utf8(&answer.body).ok()) {
            Some((token, text)) if !answer.is_success() && text.contains(token) => {
                Response { body: text.replace(token, "…").into_bytes(), ..answer }
            }
            _ => answer,
        }
    }

    /// Where a redirect leads, if the token may go there and the read is on the list.
    fn resolve_redirect(&self, from: &Url, answer: &Response) -> Result<Url, AttemptError> {
        let to = answer.header("location").and_then(|it| from.join(it).ok());
        let to = to.ok_or_else(|| self.redirect_error("it redirects to nowhere"))?;
        if to.origin() != self.options.base_url.origin() {
            let elsewhere = to.origin().ascii_serialization();
            return Err(self.redirect_error(&format!("it redirects to `{elsewhere}`, where the token does not go")));
        }
        if !may_follow_redirect(&self.options, &to) {
            return Err(self.redirect_error("it redirects to a page that is no part of its interface"));
        }
        Ok(to)
    }

    fn redirect_error(&self, why: &str) -> AttemptError {
        AttemptError::Fatal(HttpError::Unreachable(self.host().to_owned(), why.to_owned()))
    }
}

fn to_reqwest_method(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
        Method::Patch => reqwest::Method::PATCH,
        Method::Put => reqwest::Method::PUT,
        Method::Delete => reqwest::Method::DELETE, // delete: own label
    }
}
