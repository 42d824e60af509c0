//! Driving futures without a runtime: at once, or call by call in an order that the test chooses.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// The value of a future that is ready at once, as all futures over a `World` are.
///
/// # Panics
///
/// When it is not ready: then something waits for what no `World` does.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a future over a world in memory is not ready at once"),
    }
}

/// Runs several processes side by side, one call at a time. `pick` is told which ones still run, and answers with the
/// place in that list of the one that goes on; their seats must be `Seat::stepwise`, else each runs to its end when it is picked.
///
/// # Panics
///
/// When `pick` answers with a place that is not in the list.
#[track_caller]
pub fn interleave<T>(
    processes: Vec<Pin<Box<dyn Future<Output = T> + '_>>>,
    mut pick: impl FnMut(&[usize]) -> usize,
) -> Vec<T> {
    let mut running: Vec<_> = processes.into_iter().enumerate().collect();
    let mut ended = Vec::new();
    while !running.is_empty() {
        let names: Vec<usize> = running.iter().map(|(name, _)| *name).collect();
        let picked = pick(&names);
        let Some((name, process)) = running.get_mut(picked) else { panic!("there is no place {picked} in {names:?}") };
        if let Poll::Ready(value) = process.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            ended.push((*name, value));
            drop(running.remove(picked));
        }
    }
    ended.sort_by_key(|(name, _)| *name);
    ended.into_iter().map(|(_, value)| value).collect()
}

/// Waits until it is polled once more.
pub(crate) async fn yield_once() {
    let mut waited = false;
    poll_fn(|_| if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}
