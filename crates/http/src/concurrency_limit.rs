//! Adaptive concurrency limit per server, like TCP Vegas: widens while latency stays near its minimum, narrows when it
//! doubles.
//!
//! Concurrent requests to a distant server hide network latency. A busy server, or one whose database serialises writes
//! (SQLite), only answers each request more slowly. The two cases differ in latency relative to the route's minimum:
//!
//! | latency of a response | limit |
//! |---|---|
//! | failed request | −1 |
//! | ≥ 2 × minimum | −1 |
//! | < 4⁄3 × minimum, for 3 × limit responses in a row | +1 |
//! | otherwise | unchanged |

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

/// Initial and minimum concurrency. Two requests overlap network latency with server work.
const MIN_CONCURRENCY: usize = 2;

/// The adaptive limit: a semaphore whose number of permits follows the measured latency.
pub(crate) struct ConcurrencyLimit {
    permits: Semaphore,
    state: Mutex<ConcurrencyState>,
}

struct ConcurrencyState {
    limit: usize,
    max_limit: usize,
    /// Consecutive responses near the minimum latency since the limit changed.
    fast_streak: usize,
    /// Minimum latency per route.
    min_latency: HashMap<&'static str, Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LimitChange {
    Unchanged,
    Raise,
    Lower,
}

impl ConcurrencyLimit {
    pub(crate) fn new(max_limit: usize) -> Self {
        let state = ConcurrencyState::new(max_limit);
        Self { permits: Semaphore::new(state.limit), state: Mutex::new(state) }
    }

    /// Waits for a permit. Dropping it, or passing it to [`Self::release`], frees it.
    pub(crate) async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed, so this is always `Some`.
        self.permits.acquire().await.ok()
    }

    /// Frees a permit and adjusts the limit. `latency` is `None` for a failed request.
    pub(crate) fn release(&self, permit: Option<SemaphorePermit<'_>>, route: &'static str, latency: Option<Duration>) {
        match self.state.lock().unwrap_or_else(PoisonError::into_inner).record_latency(route, latency) {
            LimitChange::Unchanged => {}
            LimitChange::Raise => self.permits.add_permits(1),
            LimitChange::Lower => permit.into_iter().for_each(SemaphorePermit::forget),
        }
    }
}

impl ConcurrencyState {
    fn new(max_limit: usize) -> Self {
        let max_limit = max_limit.max(1);
        Self { limit: max_limit.min(MIN_CONCURRENCY), max_limit, fast_streak: 0, min_latency: HashMap::new() }
    }

    fn record_latency(&mut self, route: &'static str, latency: Option<Duration>) -> LimitChange {
        let Some(latency) = latency else { return self.lower() };
        let minimum = self.min_latency.entry(route).or_insert(latency);
        // The minimum drifts upwards, so that a server that became slower for good gets its concurrency back.
        *minimum = latency.min(*minimum + *minimum / 1024);
        match latency {
            _ if latency >= *minimum * 2 => self.lower(),
            _ if latency < *minimum * 4 / 3 => self.raise(),
            _ => self.hold(),
        }
    }

    fn raise(&mut self) -> LimitChange {
        self.fast_streak += 1;
        if self.limit == self.max_limit || self.fast_streak < self.limit * 3 {
            return LimitChange::Unchanged;
        }
        (self.limit, self.fast_streak) = (self.limit + 1, 0);
        LimitChange::Raise
    }

    fn hold(&mut self) -> LimitChange {
        self.fast_streak = 0;
        LimitChange::Unchanged
    }

    fn lower(&mut self) -> LimitChange {
        if self.limit <= MIN_CONCURRENCY {
            return self.hold();
        }
        self.fast_streak = 0;
        self.limit -= 1;
        LimitChange::Lower
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ConcurrencyLimit, ConcurrencyState, LimitChange, MIN_CONCURRENCY};

    /// Records `responses` of a server that takes `alone` ms for a single request and `each` ms more for every
    /// concurrent one. Returns the limit after each response.
    fn simulate(state: &mut ConcurrencyState, responses: usize, alone: u64, each: u64) -> Vec<usize> {
        let latency = |concurrency: usize| Duration::from_millis(alone + each * (concurrency as u64 - 1));
        let record = |_| {
            state.record_latency("pull", Some(latency(state.limit)));
            state.limit
        };
        (0..responses).map(record).collect()
    }

    #[test]
    fn a_distant_server_reaches_the_maximum_and_a_busy_one_stays_low() {
        let mut distant = ConcurrencyState::new(6);
        assert_eq!(simulate(&mut distant, 200, 80, 4).last(), Some(&6));
        let mut busy = ConcurrencyState::new(6);
        busy.record_latency("pull", Some(Duration::from_millis(8)));
        let limits = simulate(&mut busy, 200, 8, 6);
        assert!(limits[100..].iter().all(|limit| *limit <= 3), "{limits:?}");
    }

    #[test]
    fn a_server_that_becomes_permanently_slower_reaches_the_maximum_again() {
        let mut state = ConcurrencyState::new(6);
        simulate(&mut state, 200, 10, 0);
        simulate(&mut state, 10, 100, 0);
        assert_eq!(state.limit, MIN_CONCURRENCY);
        assert_eq!(simulate(&mut state, 3000, 100, 0).last(), Some(&6));
    }

    #[test]
    fn failures_lower_the_limit_to_the_minimum_and_a_limit_of_one_stays_one() {
        let mut state = ConcurrencyState::new(6);
        simulate(&mut state, 200, 10, 0);
        let changes: Vec<LimitChange> = (0..6).map(|_| state.record_latency("pull", None)).collect();
        let [lower, unchanged] = [LimitChange::Lower, LimitChange::Unchanged];
        assert_eq!(changes, [lower, lower, lower, lower, unchanged, unchanged]);
        let mut single = ConcurrencyState::new(1);
        assert_eq!(simulate(&mut single, 100, 10, 0).last(), Some(&1));
    }

    #[tokio::test]
    async fn the_number_of_permits_follows_the_latency() {
        let limit = ConcurrencyLimit::new(6);
        let mut permits = Vec::new();
        for _ in 0..100 {
            let permit = limit.acquire().await;
            limit.release(permit, "pull", Some(Duration::from_millis(10)));
        }
        while limit.permits.available_permits() > 0 {
            permits.push(limit.acquire().await);
        }
        assert_eq!(permits.len(), 6);
        for permit in permits {
            limit.release(permit, "pull", Some(Duration::from_millis(50)));
        }
        assert_eq!(limit.permits.available_permits(), MIN_CONCURRENCY);
    }
}
