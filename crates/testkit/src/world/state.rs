//! The machinery around the rows: the clock, what reads may see, faults, counters and effects.

use std::collections::{BTreeSet, VecDeque};

use referee_core::model::{Login, PullNumber, Span};
use referee_forge::ForgeError;

use super::effect::{Effect, EffectKind};
use super::fault::{CallFault, FaultScript, SentPart};
use super::quirks::Quirks;
use super::rows::StoredRepo;

/// How often the world was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Calls that can only read.
    pub reads: u64,
    /// Calls that may write, whether they changed anything or not.
    pub writes: u64,
    /// Changes that seats made.
    pub changes: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct WorldState {
    pub(crate) repo: StoredRepo,
    pub(crate) faults: FaultScript,
    pub(crate) calls: CallCounts,
    pub(crate) effects: Vec<Effect>,
    /// Seats whose process ended.
    pub(crate) crashed_clients: BTreeSet<u64>,
    /// Seats whose token is no longer taken.
    pub(crate) revoked_clients: BTreeSet<u64>,
    pub(crate) client_count: u64,
    /// States before each of the last writes, newest last.
    history: VecDeque<StoredRepo>,
    /// What is wrong with the call under way.
    current_fault: Option<CallFault>,
}

/// Whether a request may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Read,
    Write,
}

/// How a request over a wire went.
#[derive(Debug)]
pub(crate) enum WireOutcome<T> {
    /// Well.
    Answered(T),
    /// Half of the answer is lost.
    Truncated(T),
    /// Answered with an error, done or not.
    Failed,
    /// Not answered at all.
    Dropped,
    /// Not now.
    RetryLater,
    /// The token is not taken.
    Unauthenticated,
}

impl WorldState {
    pub(crate) fn new(quirks: Quirks) -> Self {
        Self {
            repo: StoredRepo::new(quirks),
            faults: FaultScript::default(),
            calls: CallCounts::default(),
            effects: Vec::new(),
            crashed_clients: BTreeSet::new(),
            revoked_clients: BTreeSet::new(),
            client_count: 0,
            history: VecDeque::new(),
            current_fault: None,
        }
    }

    /// A call that can only read.
    pub(crate) fn read<T>(
        &mut self,
        seat: u64,
        run: impl FnOnce(&Self) -> Result<T, ForgeError>,
    ) -> Result<T, ForgeError> {
        self.begin_call(seat)?;
        self.calls.reads += 1;
        self.current_fault = self.faults.next_fault(false);
        let result = match self.current_fault {
            None | Some(CallFault::Truncate | CallFault::StaleRead) => run(self),
            Some(CallFault::FailBefore | CallFault::FailAfter500) => {
                Err(ForgeError::Unreadable("answer 500".to_owned()))
            }
            Some(CallFault::LoseReply | CallFault::RetryLater) => Err(ForgeError::RetryLater),
            Some(CallFault::Crash(_)) => Err(self.crash(seat)),
        };
        self.current_fault = None;
        result
    }

    /// A call that may write.
    pub(crate) fn write<T>(
        &mut self,
        seat: u64,
        run: impl FnOnce(&mut Self) -> Result<T, ForgeError>,
    ) -> Result<T, ForgeError> {
        self.begin_call(seat)?;
        self.calls.writes += 1;
        self.current_fault = self.faults.next_fault(true);
        let result = match self.current_fault {
            None | Some(CallFault::Truncate | CallFault::StaleRead) => run(self),
            Some(CallFault::RetryLater) => Err(ForgeError::RetryLater),
            Some(CallFault::FailBefore) => Err(ForgeError::OutcomeUnknown),
            Some(CallFault::LoseReply | CallFault::FailAfter500) => {
                drop(run(self));
                Err(ForgeError::OutcomeUnknown)
            }
            Some(CallFault::Crash(sent)) => {
                if sent == SentPart::All || (sent == SentPart::Half && self.repo.quirks.inline_one_by_one) {
                    drop(run(self));
                }
                Err(self.crash(seat))
            }
        };
        self.current_fault = None;
        result
    }

    /// A call that may write and has no half.
    pub(crate) fn write_atomically<T>(
        &mut self,
        seat: u64,
        run: impl FnOnce(&mut Self) -> Result<T, ForgeError>,
    ) -> Result<T, ForgeError> {
        self.write(seat, |state| if state.is_interrupted() { Err(ForgeError::OutcomeUnknown) } else { run(state) })
    }

    /// A request over a wire. What goes wrong with it is for the server to show.
    pub(crate) fn serve_request<T>(
        &mut self,
        seat: u64,
        kind: RequestKind,
        run: impl FnOnce(&mut Self) -> T,
    ) -> WireOutcome<T> {
        match self.begin_call(seat) {
            Err(ForgeError::Unauthenticated) => return WireOutcome::Unauthenticated,
            Err(_) => return WireOutcome::Dropped,
            Ok(()) => {}
        }
        match kind {
            RequestKind::Read => self.calls.reads += 1,
            RequestKind::Write => self.calls.writes += 1,
        }
        self.current_fault = self.faults.next_fault(kind == RequestKind::Write);
        let wired = match self.current_fault {
            None | Some(CallFault::StaleRead) => WireOutcome::Answered(run(self)),
            Some(CallFault::Truncate) => WireOutcome::Truncated(run(self)),
            Some(CallFault::RetryLater) => WireOutcome::RetryLater,
            Some(CallFault::FailBefore) => WireOutcome::Failed,
            Some(CallFault::FailAfter500) => {
                drop(run(self));
                WireOutcome::Failed
            }
            Some(CallFault::LoseReply) => {
                drop(run(self));
                WireOutcome::Dropped
            }
            Some(CallFault::Crash(sent)) => {
                if sent == SentPart::All || (sent == SentPart::Half && self.repo.quirks.inline_one_by_one) {
                    drop(run(self));
                }
                self.crash(seat);
                WireOutcome::Dropped
            }
        };
        self.current_fault = None;
        wired
    }

    /// What a read sees: on a forge with lagging replicas not the last writes.
    pub(crate) fn readable_repo(&self) -> &StoredRepo {
        let stale = usize::from(self.current_fault == Some(CallFault::StaleRead));
        match self.repo.quirks.read_lag.max(stale) {
            0 => &self.repo,
            lag => self.history.get(self.history.len().saturating_sub(lag)).unwrap_or(&self.repo),
        }
    }

    pub(crate) fn is_truncated(&self) -> bool {
        self.current_fault == Some(CallFault::Truncate)
    }

    /// The sender is gone after half of the write.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.current_fault == Some(CallFault::Crash(SentPart::Half))
    }

    /// Changes the rows, then lets the forge act on its own.
    pub(crate) fn change<T>(&mut self, run: impl FnOnce(&mut StoredRepo) -> T) -> T {
        let depth = self.repo.quirks.read_lag.max(usize::from(self.faults.needs_history()));
        if depth > 0 {
            self.history.push_back(self.repo.clone());
        }
        while self.history.len() > depth {
            self.history.pop_front();
        }
        let result = run(&mut self.repo);
        for pull in self.repo.merge_approved() {
            self.effects.push(Effect { at: self.repo.now, by: None, pull, kind: EffectKind::Merged });
        }
        result
    }

    pub(crate) fn record_effect(&mut self, by: &Login, pull: PullNumber, what: EffectKind) {
        self.calls.changes += 1;
        self.effects.push(Effect { at: self.repo.now, by: Some(by.clone()), pull, kind: what });
    }

    /// One second, for one call or one deed.
    pub(crate) fn tick(&mut self) {
        self.repo.now = self.repo.now.saturating_add(Span(1));
    }

    /// Time passes and replicas catch up.
    pub(crate) fn wait(&mut self, span: Span) {
        self.repo.now = self.repo.now.saturating_add(span);
        self.history.clear();
    }

    fn begin_call(&mut self, seat: u64) -> Result<(), ForgeError> {
        if self.crashed_clients.contains(&seat) {
            return Err(crashed_error());
        }
        if !self.repo.quirks.instant_calls {
            self.tick();
        }
        if self.revoked_clients.contains(&seat) { Err(ForgeError::Unauthenticated) } else { Ok(()) }
    }

    fn crash(&mut self, seat: u64) -> ForgeError {
        self.crashed_clients.insert(seat);
        crashed_error()
    }
}

fn crashed_error() -> ForgeError {
    ForgeError::Unreadable("the process has ended".to_owned())
}
