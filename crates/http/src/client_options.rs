//! How a server is reached, and how hard.

use std::fmt;
use std::time::Duration;

use url::Url;

use crate::route::Route;
use crate::token::Token;

/// How a server is reached. All of it is the operator's; nothing comes from the environment.
#[derive(Clone)]
pub struct ClientOptions {
    /// Where its interface begins: `https://git.example.org/api/v1`.
    pub base_url: Url,
    /// What authenticates.
    pub token: Option<Token>,
    /// All that may leave.
    pub routes: &'static [Route],
    /// Certificates to trust beside the system's, in PEM.
    pub extra_ca_pem: Option<Vec<u8>>,
    /// What stands between here and the server.
    pub proxy: Option<Url>,
    /// How hard, how often, how long.
    pub limits: ClientLimits,
}

/// How hard a server is asked, how often and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// How long a request may take, from the connection to the last byte of the answer.
    pub request_timeout: Duration,
    /// The longest answer, in bytes.
    pub max_body_bytes: usize,
    /// How often a request is tried that may be repeated.
    pub max_attempts: usize,
    /// How long the second try waits; each further one waits twice as long.
    pub initial_backoff: Duration,
    /// How long anything waits before it is tried again. A server that asks for more is asked again by the caller.
    pub max_backoff: Duration,
    /// How many requests leave in a minute, after the first ones.
    pub requests_per_minute: u32,
    /// How many may leave at once.
    pub burst: u32,
    /// How many are on their way at once, whatever else the pace allows; fewer where the server answers slower for it.
    pub max_concurrency: usize,
    /// How many failures in a row make the client leave the server alone.
    pub failure_threshold: usize,
    /// How long it is left alone.
    pub breaker_open_time: Duration,
    /// How many bytes of answers are kept, to be asked for again on condition.
    pub cache_bytes: usize,
}

impl ClientOptions {
    /// Directly, with the system's certificates and the usual limits.
    pub fn new(base: Url, token: Option<Token>, routes: &'static [Route]) -> Self {
        Self { base_url: base, token, routes, extra_ca_pem: None, proxy: None, limits: ClientLimits::default() }
    }
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(60),
            max_body_bytes: 32 << 20,
            max_attempts: 4,
            initial_backoff: Duration::from_millis(500),
            max_backoff: Duration::from_secs(30),
            requests_per_minute: 30_000,
            burst: 100,
            max_concurrency: 6,
            failure_threshold: 10,
            breaker_open_time: Duration::from_secs(30),
            cache_bytes: 16 << 20,
        }
    }
}

/// An address may hold a password, so only hosts are shown.
impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reach")
            .field("base", &self.base_url.host_str())
            .field("token", &self.token)
            .field("proxy", &self.proxy.as_ref().map(Url::host_str))
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
