//! Options of a client: address, token, trust, proxy and limits.

use std::fmt;
use std::time::Duration;

use url::Url;

use crate::route::Route;
use crate::token::Token;

/// How to connect to a server. The operator sets all of it; the client reads no environment variables (no
/// `HTTP_PROXY`).
#[derive(Clone)]
pub struct ClientOptions {
    /// Base of the API, such as `https://git.example.org/api/v1`.
    pub base_url: Url,
    pub token: Option<Token>,
    /// The allow-list: no other request is sent.
    pub routes: &'static [Route],
    /// CA certificates to trust besides the system's, in PEM.
    pub extra_ca_pem: Option<Vec<u8>>,
    pub proxy: Option<Url>,
    pub limits: ClientLimits,
}

/// Timeouts, sizes, retries, rates and circuit breaker of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    pub connect_timeout: Duration,
    /// Maximum time of one attempt, from connecting to the last byte of the response.
    pub request_timeout: Duration,
    /// Maximum size of a response body, and of what is kept of a longer one that a request accepts.
    pub max_body_bytes: usize,
    /// Maximum length of a string in a JSON response. The rest of a longer one is dropped.
    pub max_string_bytes: usize,
    /// Maximum attempts of one request, the first included.
    pub max_attempts: usize,
    /// Delay before the second attempt. Each further delay doubles.
    pub initial_backoff: Duration,
    /// Maximum delay before a retry. A longer `Retry-After` ends the retries with [`HttpError::RetryLater`].
    ///
    /// [`HttpError::RetryLater`]: crate::HttpError::RetryLater
    pub max_backoff: Duration,
    /// Sustained rate, once the burst is used up.
    pub requests_per_minute: u32,
    /// How many requests may start at once before the rate limit applies.
    pub burst: u32,
    /// Upper bound of the adaptive concurrency limit.
    pub max_concurrency: usize,
    /// How many consecutive failures open the circuit breaker.
    pub failure_threshold: usize,
    /// How long an open circuit breaker rejects requests before it lets one through.
    pub breaker_open_time: Duration,
}

impl ClientOptions {
    /// Returns options without proxy and extra certificates, with the default limits.
    pub fn new(base_url: Url, token: Option<Token>, routes: &'static [Route]) -> Self {
        Self { base_url, token, routes, extra_ca_pem: None, proxy: None, limits: ClientLimits::default() }
    }
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(60),
            max_body_bytes: 32 << 20,
            max_string_bytes: usize::MAX,
            max_attempts: 4,
            initial_backoff: Duration::from_millis(500),
            max_backoff: Duration::from_secs(30),
            requests_per_minute: 30_000,
            burst: 100,
            max_concurrency: 6,
            failure_threshold: 10,
            breaker_open_time: Duration::from_secs(30),
        }
    }
}

/// Prints only hosts: a URL may hold a password.
impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions")
            .field("base_url", &self.base_url.host_str())
            .field("token", &self.token)
            .field("proxy", &self.proxy.as_ref().map(Url::host_str))
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
