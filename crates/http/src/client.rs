//! The client: one server, one token.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

use backon::{ExponentialBuilder, Retryable};
use governor::{DefaultDirectRateLimiter, Quota};
use recloser::{AsyncRecloser, Recloser};

use crate::attempt_error::AttemptError;
use crate::checked_request::CheckedRequest;
use crate::client_options::{ClientLimits, ClientOptions};
use crate::concurrency_limit::ConcurrencyLimit;
use crate::error::HttpError;
use crate::response::Response;
use crate::route_request::RouteRequest;
use crate::transport::Transport;

/// A client of one server with one token. Clones share everything: the pace, the kept answers, the counters, and the
/// knowledge that the server is down.
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

/// How many requests left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Those that read.
    pub reads: usize,
    /// Those that write.
    pub writes: usize,
}

impl Client {
    /// A client. Nothing is sent yet.
    pub fn new(reach: ClientOptions) -> Result<Self, HttpError> {
        let (pace, breaker) = (build_rate_limiter(&reach.limits), build_circuit_breaker(&reach.limits));
        let lanes = ConcurrencyLimit::new(reach.limits.max_concurrency);
        Ok(Self {
            inner: Arc::new(ClientInner {
                transport: Transport::new(reach)?,
                rate_limiter: pace,
                concurrency: lanes,
                circuit_breaker: breaker,
            }),
        })
    }

    /// Sends a request and waits for its answer, whatever its status.
    ///
    /// What is not on the list does not leave. What fails is tried again where that is safe.
    pub async fn send(&self, call: &RouteRequest<'_>) -> Result<Response, HttpError> {
        let ClientInner { transport: wire, .. } = self.inner.as_ref();
        let limits = &wire.options.limits;
        let parcel = CheckedRequest::build(&wire.options, call)?;
        let mut doubtful = false;
        let ended = (|| self.attempt(&parcel))
            .retry(build_backoff(limits))
            .sleep(tokio::time::sleep)
            .when(|failed| failed.is_retryable(parcel.idempotency))
            .adjust(|failed, usual| failed.retry_delay(usual, limits.max_backoff))
            .notify(|failed, _| doubtful |= failed.may_have_taken_effect())
            .await
            .or_else(|failed| failed.into_result(&parcel, wire.host()));
        match ended {
            // The first try may have done what the last one was refused: a label that is gone already is not found.
            Ok(answer) if !doubtful || parcel.is_read() || answer.is_success() => Ok(answer),
            Err(error) if !doubtful || parcel.is_read() => Err(error),
            _ => Err(HttpError::OutcomeUnknown),
        }
    }

    /// How many requests left so far.
    pub fn request_counts(&self) -> RequestCounts {
        self.inner.transport.request_counts()
    }

    async fn attempt(&self, parcel: &CheckedRequest) -> Result<Response, AttemptError> {
        let ClientInner { transport: wire, rate_limiter: pace, concurrency: lanes, circuit_breaker: breaker } =
            self.inner.as_ref();
        let paced = async {
            let lane = lanes.acquire().await;
            pace.until_ready().await;
            let began = Instant::now();
            let answer = wire.attempt(parcel).await;
            lanes.release(lane, parcel.route_path, answer.is_ok().then(|| began.elapsed()));
            answer
        };
        breaker.call_with(AttemptError::is_server_trouble, paced).await.map_err(|error| match error {
            recloser::Error::Inner(failed) => failed,
            recloser::Error::Rejected => {
                let ClientLimits { failure_threshold: failures, breaker_open_time: rest, .. } = wire.options.limits;
                let why = format!("it failed {failures} times in a row and is left alone for {rest:?}");
                AttemptError::Fatal(HttpError::Unreachable(wire.host().to_owned(), why))
            }
        })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("host", &self.inner.transport.host())
            .field("calls", &self.request_counts())
            .finish()
    }
}

fn build_rate_limiter(limits: &ClientLimits) -> DefaultDirectRateLimiter {
    let some = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
    DefaultDirectRateLimiter::direct(
        Quota::per_minute(some(limits.requests_per_minute)).allow_burst(some(limits.burst)),
    )
}

/// Opens when nothing but failures is in its ring and one more comes, hence one less than that many.
fn build_circuit_breaker(limits: &ClientLimits) -> AsyncRecloser {
    let ring = limits.failure_threshold.saturating_sub(1).max(1);
    let breaker =
        Recloser::custom().error_rate(1.0).closed_len(ring).half_open_len(1).open_wait(limits.breaker_open_time);
    breaker.build().into()
}

fn build_backoff(limits: &ClientLimits) -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_jitter()
        .with_min_delay(limits.initial_backoff)
        .with_max_delay(limits.max_backoff)
        .with_max_times(limits.max_attempts.saturating_sub(1))
}
