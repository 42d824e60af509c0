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
const FEWEST: usize = 2;

/// The lanes to a server.
pub(crate) struct Lanes {
    free: Semaphore,
    width: Mutex<Width>,
}

/// How many lanes there are, and why.
struct Width {
    open: usize,
    most: usize,
    /// Swift answers in a row since the number changed.
    swift: usize,
    /// The shortest time that each question took.
    shortest: HashMap<&'static str, Duration>,
}

/// What an answer says about the number of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    More,
    Fewer,
}

impl Lanes {
    /// At most so many.
    pub(crate) fn new(most: usize) -> Self {
        let width = Width::new(most);
        Self { free: Semaphore::new(width.open), width: Mutex::new(width) }
    }

    /// Waits for a lane. It is free again when what is returned is dropped or handed to [`Self::answered`].
    pub(crate) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        // Nobody closes it, so there is one.
        self.free.acquire().await.ok()
    }

    /// The question was answered in that time, or not at all.
    pub(crate) fn answered(&self, lane: Option<SemaphorePermit<'_>>, question: &'static str, took: Option<Duration>) {
        match self.width.lock().unwrap_or_else(PoisonError::into_inner).judge(question, took) {
            Change::None => {}
            Change::More => self.free.add_permits(1),
            Change::Fewer => lane.into_iter().for_each(SemaphorePermit::forget),
        }
    }
}

impl Width {
    fn new(most: usize) -> Self {
        let most = most.max(1);
        Self { open: most.min(FEWEST), most, swift: 0, shortest: HashMap::new() }
    }

    fn judge(&mut self, question: &'static str, took: Option<Duration>) -> Change {
        let Some(took) = took else { return self.fewer() };
        let shortest = self.shortest.entry(question).or_insert(took);
        // A server that became slower for good is one that answers in its usual time after a while.
        *shortest = took.min(*shortest + *shortest / 1024);
        match took {
            _ if took >= *shortest * 2 => self.fewer(),
            _ if took < *shortest * 4 / 3 => self.more(),
            _ => self.same(),
        }
    }

    fn more(&mut self) -> Change {
        self.swift += 1;
        if self.open == self.most || self.swift < self.open * 3 {
            return Change::None;
        }
        (self.open, self.swift) = (self.open + 1, 0);
        Change::More
    }

    fn same(&mut self) -> Change {
        self.swift = 0;
        Change::None
    }

    fn fewer(&mut self) -> Change {
        if self.open <= FEWEST {
            return self.same();
        }
        self.swift = 0;
        self.open -= 1;
        Change::Fewer
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Change, FEWEST, Lanes, Width};

    /// So many answers of a server that needs `alone` for one, and as much longer for each further one at a time as
    /// `each` says.
    fn asked(width: &mut Width, answers: usize, alone: u64, each: u64) -> Vec<usize> {
        let took = |open: usize| Duration::from_millis(alone + each * (open as u64 - 1));
        let answer = |_| {
            width.judge("pull", Some(took(width.open)));
            width.open
        };
        (0..answers).map(answer).collect()
    }

    #[test]
    fn a_server_far_away_gets_all_lanes_and_one_that_is_busy_gets_few() {
        let mut far = Width::new(6);
        assert_eq!(asked(&mut far, 200, 80, 4).last(), Some(&6));
        let mut busy = Width::new(6);
        busy.judge("pull", Some(Duration::from_millis(8)));
        let open = asked(&mut busy, 200, 8, 6);
        assert!(open[100..].iter().all(|open| *open <= 3), "{open:?}");
    }

    #[test]
    fn a_server_that_becomes_slow_for_good_gets_its_lanes_back() {
        let mut width = Width::new(6);
        asked(&mut width, 200, 10, 0);
        asked(&mut width, 10, 100, 0);
        assert_eq!(width.open, FEWEST);
        assert_eq!(asked(&mut width, 3000, 100, 0).last(), Some(&6));
    }

    #[test]
    fn failures_leave_two_lanes_and_one_stays_one() {
        let mut width = Width::new(6);
        asked(&mut width, 200, 10, 0);
        let told: Vec<Change> = (0..6).map(|_| width.judge("pull", None)).collect();
        let [fewer, none] = [Change::Fewer, Change::None];
        assert_eq!(told, [fewer, fewer, fewer, fewer, none, none]);
        let mut single = Width::new(1);
        assert_eq!(asked(&mut single, 100, 10, 0).last(), Some(&1));
    }

    #[tokio::test]
    async fn lanes_open_and_close_as_answers_come() {
        let lanes = Lanes::new(6);
        let mut entered = Vec::new();
        for _ in 0..100 {
            let lane = lanes.enter().await;
            lanes.answered(lane, "pull", Some(Duration::from_millis(10)));
        }
        while lanes.free.available_permits() > 0 {
            entered.push(lanes.enter().await);
        }
        assert_eq!(entered.len(), 6);
        for lane in entered {
            lanes.answered(lane, "pull", Some(Duration::from_millis(50)));
        }
        assert_eq!(lanes.free.available_permits(), FEWEST);
    }
}
