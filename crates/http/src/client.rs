//! The client: one server, one token.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

use backon::{ExponentialBuilder, Retryable};
use governor::{DefaultDirectRateLimiter, Quota};
use recloser::{AsyncRecloser, Recloser};

use crate::answer::Answer;
use crate::call::Call;
use crate::error::HttpError;
use crate::failed::Failed;
use crate::lanes::Lanes;
use crate::parcel::Parcel;
use crate::reach::{Limits, Reach};
use crate::wire::Wire;

/// A client of one server with one token. Clones share everything: the pace, the kept answers, the counters, and the
/// knowledge that the server is down.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    wire: Wire,
    pace: DefaultDirectRateLimiter,
    lanes: Lanes,
    breaker: AsyncRecloser,
}

/// How many requests left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Those that read.
    pub reads: usize,
    /// Those that write.
    pub writes: usize,
}

impl Client {
    /// A client. Nothing is sent yet.
    pub fn new(reach: Reach) -> Result<Self, HttpError> {
        let (pace, breaker) = (pace(&reach.limits), breaker(&reach.limits));
        let lanes = Lanes::new(reach.limits.at_once);
        Ok(Self { inner: Arc::new(Inner { wire: Wire::new(reach)?, pace, lanes, breaker }) })
    }

    /// Sends a request and waits for its answer, whatever its status.
    ///
    /// What is not on the list does not leave. What fails is tried again where that is safe.
    pub async fn send(&self, call: &Call<'_>) -> Result<Answer, HttpError> {
        let Inner { wire, .. } = self.inner.as_ref();
        let limits = &wire.reach.limits;
        let parcel = Parcel::pack(&wire.reach, call)?;
        let mut doubtful = false;
        let ended = (|| self.attempt(&parcel))
            .retry(waits(limits))
            .sleep(tokio::time::sleep)
            .when(|failed| failed.may_repeat(parcel.repeat))
            .adjust(|failed, usual| failed.wait(usual, limits.longest_wait))
            .notify(|failed, _| doubtful |= failed.may_be_done())
            .await
            .or_else(|failed| failed.end(&parcel, wire.host()));
        match ended {
            // The first try may have done what the last one was refused: a label that is gone already is not found.
            Ok(answer) if !doubtful || parcel.reads() || answer.is_success() => Ok(answer),
            Err(error) if !doubtful || parcel.reads() => Err(error),
            _ => Err(HttpError::Unknown),
        }
    }

    /// How many requests left so far.
    pub fn calls(&self) -> Calls {
        self.inner.wire.calls()
    }

    async fn attempt(&self, parcel: &Parcel) -> Result<Answer, Failed> {
        let Inner { wire, pace, lanes, breaker } = self.inner.as_ref();
        let paced = async {
            let lane = lanes.enter().await;
            pace.until_ready().await;
            let began = Instant::now();
            let answer = wire.attempt(parcel).await;
            lanes.answered(lane, parcel.question, answer.is_ok().then(|| began.elapsed()));
            answer
        };
        breaker.call_with(Failed::is_trouble, paced).await.map_err(|error| match error {
            recloser::Error::Inner(failed) => failed,
            recloser::Error::Rejected => {
                let Limits { failures, rest, .. } = wire.reach.limits;
                let why = format!("it failed {failures} times in a row and is left alone for {rest:?}");
                Failed::Final(HttpError::Unreachable(wire.host().to_owned(), why))
            }
        })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("host", &self.inner.wire.host()).field("calls", &self.calls()).finish()
    }
}

fn pace(limits: &Limits) -> DefaultDirectRateLimiter {
    let some = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
    DefaultDirectRateLimiter::direct(Quota::per_minute(some(limits.per_minute)).allow_burst(some(limits.burst)))
}

/// Opens when nothing but failures is in its ring and one more comes, hence one less than that many.
fn breaker(limits: &Limits) -> AsyncRecloser {
    let ring = limits.failures.saturating_sub(1).max(1);
    let breaker = Recloser::custom().error_rate(1.0).closed_len(ring).half_open_len(1).open_wait(limits.rest);
    breaker.build().into()
}

fn waits(limits: &Limits) -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_jitter()
        .with_min_delay(limits.first_wait)
        .with_max_delay(limits.longest_wait)
        .with_max_times(limits.tries.saturating_sub(1))
}
