//! How a server is reached, and how hard.

use std::fmt;
use std::time::Duration;

use url::Url;

use crate::route::Route;
use crate::token::Token;

/// How a server is reached. All of it is the operator's; nothing comes from the environment.
#[derive(Clone)]
pub struct Reach {
    /// Where its interface begins: `https://git.example.org/api/v1`.
    pub base: Url,
    /// What authenticates.
    pub token: Option<Token>,
    /// All that may leave.
    pub routes: &'static [Route],
    /// Certificates to trust beside the system's, in PEM.
    pub trust: Option<Vec<u8>>,
    /// What stands between here and the server.
    pub proxy: Option<Url>,
    /// How hard, how often, how long.
    pub limits: Limits,
}

/// How hard a server is asked, how often and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a connection may take.
    pub connect: Duration,
    /// How long a request may take, from the connection to the last byte of the answer.
    pub request: Duration,
    /// The longest answer, in bytes.
    pub body: usize,
    /// How often a request is tried that may be repeated.
    pub tries: usize,
    /// How long the second try waits; each further one waits twice as long.
    pub first_wait: Duration,
    /// How long anything waits before it is tried again. A server that asks for more is asked again by the caller.
    pub longest_wait: Duration,
    /// How many requests leave in a minute, after the first ones.
    pub per_minute: u32,
    /// How many may leave at once.
    pub burst: u32,
    /// How many are on their way at once, whatever else the pace allows; fewer where the server answers slower for it.
    pub at_once: usize,
    /// How many failures in a row make the client leave the server alone.
    pub failures: usize,
    /// How long it is left alone.
    pub rest: Duration,
    /// How many bytes of answers are kept, to be asked for again on condition.
    pub kept: usize,
}

impl Reach {
    /// Directly, with the system's certificates and the usual limits.
    pub fn new(base: Url, token: Option<Token>, routes: &'static [Route]) -> Self {
        Self { base, token, routes, trust: None, proxy: None, limits: Limits::default() }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            request: Duration::from_secs(60),
            body: 32 << 20,
            tries: 4,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(30),
            per_minute: 30_000,
            burst: 100,
            at_once: 6,
            failures: 10,
            rest: Duration::from_secs(30),
            kept: 16 << 20,
        }
    }
}

/// An address may hold a password, so only hosts are shown.
impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reach")
            .field("base", &self.base.host_str())
            .field("token", &self.token)
            .field("proxy", &self.proxy.as_ref().map(Url::host_str))
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
