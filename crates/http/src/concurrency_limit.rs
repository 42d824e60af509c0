//! How many requests are on their way at once: as many as the server answers without haste.
//!
//! A server that is far away idles between requests, and several at once cost it nothing. One that is busy, or whose
//! database takes one write at a time, answers each the slower the more there are, and is done with all of them no sooner.
//! Which it is shows in how long an answer takes beside the shortest that the same question ever took:
//!
//! | an answer takes | then |
//! |---|---|
//! | less than a third longer, as did the last ones, three for each lane | a lane more |
//! | twice as long or longer, or the request fails | a lane less |

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

/// Where it begins, and ends: what goes over the network hides behind the other's work.
const MIN_CONCURRENCY: usize = 2;

/// The lanes to a server.
pub(crate) struct ConcurrencyLimit {
    permits: Semaphore,
    state: Mutex<ConcurrencyState>,
}

/// How many lanes there are, and why.
struct ConcurrencyState {
    limit: usize,
    max_limit: usize,
    /// Swift answers in a row since the number changed.
    fast_streak: usize,
    /// The shortest time that each question took.
    min_latency: HashMap<&'static str, Duration>,
}

/// What an answer says about the number of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LimitChange {
    Unchanged,
    Raise,
    Lower,
}

impl ConcurrencyLimit {
    /// At most so many.
    pub(crate) fn new(most: usize) -> Self {
        let width = ConcurrencyState::new(most);
        Self { permits: Semaphore::new(width.limit), state: Mutex::new(width) }
    }

    /// Waits for a lane. It is free again when what is returned is dropped or handed to [`Self::answered`].
    pub(crate) async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        // Nobody closes it, so there is one.
        self.permits.acquire().await.ok()
    }

    /// The question was answered in that time, or not at all.
    pub(crate) fn release(&self, lane: Option<SemaphorePermit<'_>>, question: &'static str, took: Option<Duration>) {
        match self.state.lock().unwrap_or_else(PoisonError::into_inner).record_latency(question, took) {
            LimitChange::Unchanged => {}
            LimitChange::Raise => self.permits.add_permits(1),
            LimitChange::Lower => lane.into_iter().for_each(SemaphorePermit::forget),
        }
    }
}

impl ConcurrencyState {
    fn new(most: usize) -> Self {
        let most = most.max(1);
        Self { limit: most.min(MIN_CONCURRENCY), max_limit: most, fast_streak: 0, min_latency: HashMap::new() }
    }

    fn record_latency(&mut self, question: &'static str, took: Option<Duration>) -> LimitChange {
        let Some(took) = took else { return self.lower() };
        let shortest = self.min_latency.entry(question).or_insert(took);
        // A server that became slower for good is one that answers in its usual time after a while.
        *shortest = took.min(*shortest + *shortest / 1024);
        match took {
            _ if took >= *shortest * 2 => self.lower(),
            _ if took < *shortest * 4 / 3 => self.raise(),
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

    /// So many answers of a server that needs `alone` for one, and as much longer for each further one at a time as
    /// `each` says.
    fn simulate(width: &mut ConcurrencyState, answers: usize, alone: u64, each: u64) -> Vec<usize> {
        let took = |open: usize| Duration::from_millis(alone + each * (open as u64 - 1));
        let answer = |_| {
            width.record_latency("pull", Some(took(width.limit)));
            width.limit
        };
        (0..answers).map(answer).collect()
    }

    #[test]
    fn a_server_far_away_gets_all_lanes_and_one_that_is_busy_gets_few() {
        let mut far = ConcurrencyState::new(6);
        assert_eq!(simulate(&mut far, 200, 80, 4).last(), Some(&6));
        let mut busy = ConcurrencyState::new(6);
        busy.record_latency("pull", Some(Duration::from_millis(8)));
        let open = simulate(&mut busy, 200, 8, 6);
        assert!(open[100..].iter().all(|open| *open <= 3), "{open:?}");
    }

    #[test]
    fn a_server_that_becomes_slow_for_good_gets_its_lanes_back() {
        let mut width = ConcurrencyState::new(6);
        simulate(&mut width, 200, 10, 0);
        simulate(&mut width, 10, 100, 0);
        assert_eq!(width.limit, MIN_CONCURRENCY);
        assert_eq!(simulate(&mut width, 3000, 100, 0).last(), Some(&6));
    }

    #[test]
    fn failures_leave_two_lanes_and_one_stays_one() {
        let mut width = ConcurrencyState::new(6);
        simulate(&mut width, 200, 10, 0);
        let told: Vec<LimitChange> = (0..6).map(|_| width.record_latency("pull", None)).collect();
        let [fewer, none] = [LimitChange::Lower, LimitChange::Unchanged];
        assert_eq!(told, [fewer, fewer, fewer, fewer, none, none]);
        let mut single = ConcurrencyState::new(1);
        assert_eq!(simulate(&mut single, 100, 10, 0).last(), Some(&1));
    }

    #[tokio::test]
    async fn lanes_open_and_close_as_answers_come() {
        let lanes = ConcurrencyLimit::new(6);
        let mut entered = Vec::new();
        for _ in 0..100 {
            let lane = lanes.acquire().await;
            lanes.release(lane, "pull", Some(Duration::from_millis(10)));
        }
        while lanes.permits.available_permits() > 0 {
            entered.push(lanes.acquire().await);
        }
        assert_eq!(entered.len(), 6);
        for lane in entered {
            lanes.release(lane, "pull", Some(Duration::from_millis(50)));
        }
        assert_eq!(lanes.permits.available_permits(), MIN_CONCURRENCY);
    }
}
