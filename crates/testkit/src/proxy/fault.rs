//! The faults that a proxy injects, and the requests they apply to.

use std::time::Duration;

/// A fault injected into one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyFault {
    /// Closes the connection before the server sees the request.
    DropBefore,
    /// Closes the connection after the server handled the request, without a response.
    DropAfter,
    /// Responds 500 before the server sees the request.
    Error,
    /// Responds 500 after the server handled the request.
    ErrorAfter,
    /// Responds 502 with an HTML page before the server sees the request.
    Gateway,
    /// Delays the response by this long.
    Slow(Duration),
    /// Keeps the request from the server until the client gives up. [`Proxy::deliver_late_requests`] sends it afterwards.
    ///
    /// [`Proxy::deliver_late_requests`]: super::Proxy::deliver_late_requests
    Late,
    /// Cuts the response body in half.
    Truncated,
    /// Responds 429 with `Retry-After` in seconds before the server sees the request.
    RateLimited(u64),
    /// Replaces the response body by invalid JSON after the server handled the request.
    WrongJson,
    /// Responds with the JSON value `null` instead of a list, after the server handled the request.
    NullList,
    /// Responds with this status, a refusal, before the server sees the request.
    Refused(u16),
}

/// Selects the request that a fault applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestMatcher {
    kind: MatchKind,
    path_part: String,
    body_part: String,
    nth: usize,
    repeats: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatchKind {
    Any,
    Read,
    Write,
}

impl ProxyFault {
    /// Returns whether the server sees the request.
    pub(super) fn reaches_server(self) -> bool {
        !matches!(
            self,
            Self::DropBefore | Self::Error | Self::Gateway | Self::Late | Self::RateLimited(_) | Self::Refused(_)
        )
    }
}

impl RequestMatcher {
    /// Matches the nth request, counted from 1.
    pub fn nth(nth: usize) -> Self {
        Self { kind: MatchKind::Any, path_part: String::new(), body_part: String::new(), nth, repeats: false }
    }

    /// Matches the nth reading request.
    pub fn nth_read(nth: usize) -> Self {
        Self { kind: MatchKind::Read, ..Self::nth(nth) }
    }

    /// Matches the nth writing request.
    pub fn nth_write(nth: usize) -> Self {
        Self { kind: MatchKind::Write, ..Self::nth(nth) }
    }

    /// Counts only requests whose path contains `part`.
    #[must_use]
    pub fn with_path(self, part: &str) -> Self {
        Self { path_part: part.to_owned(), ..self }
    }

    /// Counts only requests whose body contains `part`.
    #[must_use]
    pub fn with_body(self, part: &str) -> Self {
        Self { body_part: part.to_owned(), ..self }
    }

    /// Matches all following requests too.
    #[must_use]
    pub fn and_following(self) -> Self {
        Self { repeats: true, ..self }
    }

    /// Counts an incoming request and returns whether it matches.
    pub(super) fn matches_next(&mut self, is_read: bool, path: &str, body: &str) -> bool {
        let kind_matches = match self.kind {
            MatchKind::Any => true,
            MatchKind::Read => is_read,
            MatchKind::Write => !is_read,
        };
        if !kind_matches || !path.contains(&self.path_part) || !body.contains(&self.body_part) {
            return false;
        }
        let matched = self.nth == 1;
        if self.nth > 1 || !self.repeats {
            self.nth = self.nth.saturating_sub(1);
        }
        matched
    }
}
