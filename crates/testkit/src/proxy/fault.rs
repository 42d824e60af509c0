//! What a proxy breaks, and when.

use std::time::Duration;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyFault {
    /// The connection closes; the server sees nothing.
    DropBefore,
    /// The server does it; the connection closes without an answer.
    DropAfter,
    /// An error 500; the server sees nothing.
    Error,
    /// The server does it; an error 500 is told.
    ErrorAfter,
    /// A 502 with a page of HTML; the server sees nothing.
    Gateway,
    /// The server does it; the answer takes this long.
    Slow(Duration),
    /// The server does it; half of the answer's body arrives.
    Truncated,
    /// A 429 that asks to wait this many seconds; the server sees nothing.
    RateLimited(u64),
    /// The server does it; the answer is no JSON.
    WrongJson,
}

/// Which request it happens to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestMatcher {
    kind: MatchKind,
    path_part: String,
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
    /// Whether the server sees the request.
    pub(super) fn reaches_server(self) -> bool {
        !matches!(self, Self::DropBefore | Self::Error | Self::Gateway | Self::RateLimited(_))
    }
}

impl RequestMatcher {
    /// The nth request, beginning with 1.
    pub fn nth(nth: usize) -> Self {
        Self { kind: MatchKind::Any, path_part: String::new(), nth, repeats: false }
    }

    /// The nth that reads.
    pub fn nth_read(nth: usize) -> Self {
        Self { kind: MatchKind::Read, ..Self::nth(nth) }
    }

    /// The nth that writes.
    pub fn nth_write(nth: usize) -> Self {
        Self { kind: MatchKind::Write, ..Self::nth(nth) }
    }

    /// Of those alone whose path has this part.
    #[must_use]
    pub fn with_path(self, part: &str) -> Self {
        Self { path_part: part.to_owned(), ..self }
    }

    /// And all that follow.
    #[must_use]
    pub fn and_following(self) -> Self {
        Self { repeats: true, ..self }
    }

    /// Counts a request that comes; whether it happens to this one.
    pub(super) fn matches_next(&mut self, reads: bool, path: &str) -> bool {
        let kind = match self.kind {
            MatchKind::Any => true,
            MatchKind::Read => reads,
            MatchKind::Write => !reads,
        };
        if !kind || !path.contains(&self.path_part) {
            return false;
        }
        let strikes = self.nth == 1;
        if self.nth > 1 || !self.repeats {
            self.nth = self.nth.saturating_sub(1);
        }
        strikes
    }
}
