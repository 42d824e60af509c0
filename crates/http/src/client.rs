//! The HTTP client of one server: combines allow-list, retries, rate limit, concurrency limit and circuit breaker.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::Add;
use std::sync::Arc;
use std::time::Instant;

use backon::{ExponentialBuilder, Retryable};
use governor::{DefaultDirectRateLimiter, Quota};
use recloser::{AsyncRecloser, Recloser};
use tracing::Instrument;

use crate::attempt_error::AttemptError;
use crate::checked_request::CheckedRequest;
use crate::client_options::{ClientLimits, ClientOptions};
use crate::concurrency_limit::ConcurrencyLimit;
use crate::error::HttpError;
use crate::response::Response;
use crate::route_request::RouteRequest;
use crate::token::Token;
use crate::transport::Transport;

/// An HTTP client of one server with one token. Clones share the limits, the counters and the circuit breaker.
#[derive(Clone)]
pub struct Client {
    inner: Arc<ClientInner>,
}

struct ClientInner {
    transport: Transport,
    rate_limiter: DefaultDirectRateLimiter,
    concurrency: ConcurrencyLimit,
    circuit_breaker: AsyncRecloser,
}

/// How many requests were sent, retries and redirects included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    pub reads: usize,
    pub writes: usize,
}

impl Client {
    /// Creates a client. Sends nothing.
    pub fn new(options: ClientOptions) -> Result<Self, HttpError> {
        let rate_limiter = build_rate_limiter(&options.limits);
        let circuit_breaker = build_circuit_breaker(&options.limits);
        let concurrency = ConcurrencyLimit::new(options.limits.max_concurrency);
        Ok(Self {
            inner: Arc::new(ClientInner {
                transport: Transport::new(options)?,
                rate_limiter,
                concurrency,
                circuit_breaker,
            }),
        })
    }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// Refuses a request that is not on the allow-list. Retries a failed one where that is safe.
    pub async fn send(&self, request: &RouteRequest<'_>) -> Result<Response, HttpError> {
        let ClientInner { transport, .. } = self.inner.as_ref();
        let limits = &transport.options.limits;
        let request = CheckedRequest::build(&transport.options, request)?;
        let mut may_have_taken_effect = false;
        let result = (|| self.attempt(&request))
            .retry(build_backoff(limits))
            .sleep(tokio::time::sleep)
            .when(|error| error.is_retryable(request.idempotency))
            .adjust(|error, backoff| error.retry_delay(backoff, limits.max_backoff))
            .notify(|error, _| may_have_taken_effect |= error.may_have_taken_effect())
            .await
            .or_else(|error| error.into_result(&request, transport.host()));
        match result {
            // An earlier attempt may have succeeded on the server: deleting a label it already deleted returns 404.
            Ok(response) if !may_have_taken_effect || request.is_read() || response.is_success() => Ok(response),
            Err(error) if !may_have_taken_effect || request.is_read() => Err(error),
            _ => Err(HttpError::OutcomeUnknown),
        }
    }

    /// Returns whether this client authenticates with that token.
    pub fn uses_token(&self, token: &Token) -> bool {
        self.inner.transport.options.token.as_ref() == Some(token)
    }

    /// The maximum size of a response body.
    pub fn max_body_bytes(&self) -> usize {
        self.inner.transport.options.limits.max_body_bytes
    }

    pub fn request_counts(&self) -> RequestCounts {
        self.inner.transport.request_counts()
    }

    async fn attempt(&self, request: &CheckedRequest) -> Result<Response, AttemptError> {
        let ClientInner { transport, rate_limiter, concurrency, circuit_breaker } = self.inner.as_ref();
        // The route's template, never the URL or a header: those may hold secrets.
        let span = tracing::info_span!("request", method = %request.method, route = request.route_path);
        let limited_attempt = async {
            let permit = concurrency.acquire().await;
            rate_limiter.until_ready().await;
            let start = Instant::now();
            let result = transport.attempt(request).await;
            concurrency.release(permit, request.route_path, result.is_ok().then(|| start.elapsed()));
            let milliseconds = start.elapsed().as_millis();
            match &result {
                Ok(response) => tracing::info!(status = response.status, milliseconds, "answered"),
                Err(_) => tracing::info!(milliseconds, "failed"),
            }
            result
        }
        .instrument(span);
        circuit_breaker.call_with(AttemptError::is_server_trouble, limited_attempt).await.map_err(|error| match error {
            recloser::Error::Inner(error) => error,
            recloser::Error::Rejected => {
                let ClientLimits { failure_threshold, breaker_open_time, .. } = transport.options.limits;
                let reason = format!(
                    "{failure_threshold} requests failed in a row, so the client pauses for {breaker_open_time:?}"
                );
                AttemptError::Fatal(HttpError::Unreachable(transport.host().to_owned(), reason))
            }
        })
    }
}

impl Add for RequestCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { reads: self.reads + other.reads, writes: self.writes + other.writes }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("host", &self.inner.transport.host())
            .field("request_counts", &self.request_counts())
            .finish()
    }
}

fn build_rate_limiter(limits: &ClientLimits) -> DefaultDirectRateLimiter {
    let at_least_one = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
    DefaultDirectRateLimiter::direct(
        Quota::per_minute(at_least_one(limits.requests_per_minute)).allow_burst(at_least_one(limits.burst)),
    )
}

/// `recloser` opens on the failure after its ring is full of failures, so the ring holds one less than the threshold.
fn build_circuit_breaker(limits: &ClientLimits) -> AsyncRecloser {
    let ring_len = limits.failure_threshold.saturating_sub(1).max(1);
    let breaker =
        Recloser::custom().error_rate(1.0).closed_len(ring_len).half_open_len(1).open_wait(limits.breaker_open_time);
    breaker.build().into()
}

fn build_backoff(limits: &ClientLimits) -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_jitter()
        .with_min_delay(limits.initial_backoff)
        .with_max_delay(limits.max_backoff)
        .with_max_times(limits.max_attempts.saturating_sub(1))
}
