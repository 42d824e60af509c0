//! One attempt: sends the request, follows redirects within the origin, reads the body up to a limit, masks the
//! token.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::header::{CONTENT_TYPE, HeaderValue};
use url::Url;

use crate::attempt_error::AttemptError;
use crate::checked_request::{CheckedRequest, may_follow_redirect};
use crate::classify;
use crate::client::RequestCounts;
use crate::client_options::ClientOptions;
use crate::error::HttpError;
use crate::http_client::build_http_client;
use crate::redact::mask_secret;
use crate::response::Response;
use crate::route::Method;
use crate::string_cutter::StringCutter;

const MAX_REDIRECTS: usize = 5;

/// The `reqwest` client of one server, with its counters.
pub(crate) struct Transport {
    pub(crate) options: ClientOptions,
    http: reqwest::Client,
    reads: AtomicUsize,
    writes: AtomicUsize,
}

impl Transport {
    pub(crate) fn new(options: ClientOptions) -> Result<Self, HttpError> {
        let http = build_http_client(&options)?;
        Ok(Self { options, http, reads: AtomicUsize::new(0), writes: AtomicUsize::new(0) })
    }

    /// Sends the request once and reads the complete response. Reads follow redirects.
    pub(crate) async fn attempt(&self, request: &CheckedRequest) -> Result<Response, AttemptError> {
        let mut url = request.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send_once(request, &url).await?;
            match response.status {
                301 | 302 | 303 | 307 | 308 if request.is_read() => url = self.resolve_redirect(&url, &response)?,
                429 | 500.. => return Err(AttemptError::Unavailable(response)),
                _ => return Ok(response),
            }
        }
        Err(self.redirect_error("too many redirects"))
    }

    pub(crate) fn request_counts(&self) -> RequestCounts {
        RequestCounts { reads: self.reads.load(Ordering::Relaxed), writes: self.writes.load(Ordering::Relaxed) }
    }

    pub(crate) fn host(&self) -> &str {
        self.options.base_url.host_str().unwrap_or_default()
    }

    async fn send_once(&self, request: &CheckedRequest, url: &Url) -> Result<Response, AttemptError> {
        let counter = if request.is_read() { &self.reads } else { &self.writes };
        counter.fetch_add(1, Ordering::Relaxed);
        let mut builder = self.http.request(to_reqwest_method(request.method), url.clone());
        if let Some(body) = &request.body {
            builder = builder.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        let response = builder.send().await.map_err(|error| {
            let error = classify::classify_error(&error, &self.options.limits);
            if matches!(error, AttemptError::Unsent(_)) {
                counter.fetch_sub(1, Ordering::Relaxed);
            }
            error
        })?;
        self.read_response(request, response).await
    }

    async fn read_response(
        &self,
        request: &CheckedRequest,
        mut response: reqwest::Response,
    ) -> Result<Response, AttemptError> {
        let limits = &self.options.limits;
        let status = response.status().as_u16();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = response.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        let mut body = StringCutter::new(limits.max_string_bytes);
        let max_bytes = request.max_response_bytes.unwrap_or(limits.max_body_bytes);
        let mut received = 0_usize;
        loop {
            match response.chunk().await {
                Ok(None) => break,
                Ok(Some(chunk)) => {
                    received += chunk.len();
                    body.push(&chunk);
                    if received > max_bytes || body.len() > limits.max_body_bytes {
                        return Err(too_long(request, received.min(max_bytes)));
                    }
                }
                // A response of this size that does not arrive in time is no outage.
                Err(error) if error.is_timeout() && received > limits.max_body_bytes => {
                    return Err(too_long(request, received));
                }
                Err(error) => return Err(classify::classify_error(&error, limits)),
            }
        }
        Ok(self.redact_response(Response { status, headers, body: body.into_bytes() }))
    }

    /// Masks the token in a response: a server may repeat it in an error, or in data that is posted and stored later.
    fn redact_response(&self, response: Response) -> Response {
        let Response { status, headers, body } = response;
        let headers = headers.into_iter().map(|(name, value)| (name, self.mask_token(&value))).collect();
        let body = match std::str::from_utf8(&body).map(|text| self.find_token(text)) {
            Ok(Some(masked)) => masked.into_bytes(),
            _ => body,
        };
        Response { status, headers, body }
    }

    fn mask_token(&self, text: &str) -> String {
        self.find_token(text).unwrap_or_else(|| text.to_owned())
    }

    /// Returns the text with the token masked; `None` if it does not contain the token.
    fn find_token(&self, text: &str) -> Option<String> {
        match mask_secret(text, self.options.token.as_ref()?.reveal()) {
            Cow::Owned(masked) => Some(masked),
            Cow::Borrowed(_) => None,
        }
    }

    /// Returns the target of a redirect if it has the same origin (the token must not go elsewhere) and is on the
    /// allow-list.
    fn resolve_redirect(&self, from: &Url, response: &Response) -> Result<Url, AttemptError> {
        let target = response.header("location").and_then(|location| from.join(location).ok());
        let target = target.ok_or_else(|| self.redirect_error("it redirects without a valid `Location`"))?;
        if target.origin() != self.options.base_url.origin() {
            // Parsing decodes a host: one that was percent-encoded may contain the token only now.
            let origin = self.mask_token(&target.origin().ascii_serialization());
            return Err(
                self.redirect_error(&format!("it redirects to `{origin}`; referee sends the token to no other server"))
            );
        }
        if !may_follow_redirect(&self.options, &target) {
            return Err(self.redirect_error("it redirects to a path outside its API; check the server URL"));
        }
        Ok(target)
    }

    fn redirect_error(&self, reason: &str) -> AttemptError {
        AttemptError::Fatal(HttpError::Unreachable(self.host().to_owned(), reason.to_owned()))
    }
}

fn too_long(request: &CheckedRequest, max_bytes: usize) -> AttemptError {
    let is_read = request.is_read();
    AttemptError::Fatal(if is_read { HttpError::ResponseTooLong { max_bytes } } else { HttpError::OutcomeUnknown })
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
