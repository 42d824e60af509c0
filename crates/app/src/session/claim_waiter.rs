//! Waiting for the claim for posting: what the person sees meanwhile, when to give up, and what ends it early.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use referee_core::model::{PullNumber, Time};
use referee_forge::{ClaimHolder, ForgeError};
use referee_turn::ClaimWaiter;
use tokio::sync::Notify;

use super::source::lock;
use crate::console::Console;

/// How long a run waits for the claim before it exits with 75 (D6).
pub(crate) const CLAIM_WAIT: Duration = Duration::from_secs(300);
/// How long a pass of dispatch waits on all its pulls together; a pull whose claim is still held is left to the next pass.
pub(crate) const PASS_CLAIM_WAIT: Duration = Duration::from_secs(60);
/// The longest pause between two attempts. A claim is usually released long before it expires.
const CLAIM_RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Waits for the claim, and says on the terminal for whom and until when. SIGINT and SIGTERM end the wait, and keep further
/// writes from starting, so that the claim is released.
#[derive(Debug)]
pub(crate) struct TerminalWaiter<'a> {
    console: &'a Console,
    deadline: Instant,
    /// The expiry that was announced last.
    announced: Mutex<Option<Time>>,
    signals: SignalGuard,
}

impl<'a> TerminalWaiter<'a> {
    pub(crate) fn new(console: &'a Console, patience: Duration) -> Self {
        let deadline = Instant::now() + patience;
        Self { console, deadline, announced: Mutex::default(), signals: SignalGuard::new() }
    }

    /// Announces a claim once, and again after it was renewed or taken by another process.
    fn announce(&self, pull: PullNumber, holder: &ClaimHolder) {
        if holder.left.0 <= 0 || lock(&self.announced).replace(holder.until) == Some(holder.until) {
            return;
        }
        self.console.print_line(&format!(
            "waiting: another run as `{}` is posting on {pull}, until {} at the latest ({} s)",
            holder.by, holder.until, holder.left.0
        ));
    }
}

#[async_trait]
impl ClaimWaiter for TerminalWaiter<'_> {
    async fn wait(&self, pull: PullNumber, holder: &ClaimHolder) -> bool {
        if self.signals.is_raised() || Instant::now() >= self.deadline {
            return false;
        }
        self.announce(pull, holder);
        let left = Duration::from_secs(u64::try_from(holder.left.0).unwrap_or_default());
        // Two processes that withdrew at the same moment must not meet again.
        let jitter = Duration::from_millis(u64::from(std::process::id() % 400));
        let pause = left.clamp(Duration::from_millis(100), CLAIM_RETRY_PAUSE) + jitter;
        tokio::select! {
            () = tokio::time::sleep(pause) => true,
            () = self.signals.raised() => false,
        }
    }

    fn report_refusal(&self, pull: PullNumber, reason: &ForgeError) {
        self.console.print_line(&format!(
            "warning: {pull} is posted without a claim, since the server refuses it ({reason}): two runs at once may post twice"
        ));
    }

    fn is_interrupted(&self) -> bool {
        self.signals.is_raised()
    }
}

/// SIGINT and SIGTERM while a claim may be held. The first one is remembered. The second one ends the process at once, as
/// does any signal when no claim is held.
#[derive(Debug)]
struct SignalGuard(&'static SignalState);

#[derive(Debug, Default)]
struct SignalState {
    guards: AtomicUsize,
    is_raised: AtomicBool,
    notify: Notify,
}

impl SignalGuard {
    /// Starts the listener with the first guard. It stays: a handler replaces the usual effect of a signal for good.
    fn new() -> Self {
        static STATE: OnceLock<SignalState> = OnceLock::new();
        let mut is_first = false;
        let state = STATE.get_or_init(|| {
            is_first = true;
            SignalState::default()
        });
        state.guards.fetch_add(1, Ordering::SeqCst);
        if is_first {
            tokio::spawn(listen(state));
        }
        Self(state)
    }

    fn is_raised(&self) -> bool {
        self.0.is_raised.load(Ordering::SeqCst)
    }

    async fn raised(&self) {
        let notified = self.0.notify.notified();
        if !self.is_raised() {
            notified.await;
        }
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        self.0.guards.fetch_sub(1, Ordering::SeqCst);
    }
}

#[expect(clippy::exit, reason = "the main task may be blocked, for example by a worker")]
async fn listen(state: &'static SignalState) {
    loop {
        let exit_code = next_signal().await;
        if state.guards.load(Ordering::SeqCst) == 0 || state.is_raised.swap(true, Ordering::SeqCst) {
            std::process::exit(exit_code);
        }
        state.notify.notify_waiters();
    }
}

/// Waits for a signal and returns the exit code of a process that it ends.
#[cfg(unix)]
async fn next_signal() -> i32 {
    use tokio::signal::unix::{SignalKind, signal};

    let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    let (Ok(mut interrupt), Ok(mut terminate)) = (interrupt, terminate) else { return std::future::pending().await };
    tokio::select! {
        _ = interrupt.recv() => 128 + 2,
        _ = terminate.recv() => 128 + 15,
    }
}

#[cfg(not(unix))]
async fn next_signal() -> i32 {
    match tokio::signal::ctrl_c().await {
        Ok(()) => 130,
        Err(_) => std::future::pending().await,
    }
}
