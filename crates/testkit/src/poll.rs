//! Polls futures without a runtime: to completion, or call by call in an order that the test chooses.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Returns the output of a future that completes on the first poll, as every future over a `World` does.
///
/// # Panics
///
/// Panics if the future is pending, that is, if it waits for something other than a `World`.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a future over an in-memory world is pending"),
    }
}

/// Runs several processes concurrently, one call at a time. `pick` receives the indices of the processes that still run
/// and returns the position, in that slice, of the process to poll next. The clients of the processes must come from
/// `WorldClient::stepwise`; with any other client a picked process runs to completion.
///
/// # Panics
///
/// Panics if `pick` returns a position outside the slice.
#[track_caller]
pub fn interleave<T>(
    processes: Vec<Pin<Box<dyn Future<Output = T> + '_>>>,
    mut pick: impl FnMut(&[usize]) -> usize,
) -> Vec<T> {
    let mut running: Vec<_> = processes.into_iter().enumerate().collect();
    let mut finished = Vec::new();
    while !running.is_empty() {
        let indices: Vec<usize> = running.iter().map(|(index, _)| *index).collect();
        let picked = pick(&indices);
        let Some((index, process)) = running.get_mut(picked) else { panic!("position {picked} is not in {indices:?}") };
        if let Poll::Ready(value) = process.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            finished.push((*index, value));
            drop(running.remove(picked));
        }
    }
    finished.sort_by_key(|(index, _)| *index);
    finished.into_iter().map(|(_, value)| value).collect()
}

/// Returns `Pending` on the first poll and `Ready` on the second.
pub(crate) async fn yield_once() {
    let mut yielded = false;
    poll_fn(|_| if std::mem::replace(&mut yielded, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}
