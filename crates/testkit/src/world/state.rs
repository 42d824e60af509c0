//! The infrastructure around the rows: the clock, lagging reads, faults, counters and effects.

use std::collections::{BTreeSet, VecDeque};

use referee_core::model::{Login, PullNumber, Span};
use referee_forge::ForgeError;

use super::effect::{Effect, EffectKind};
use super::fault::{CallFault, FaultScript, SentPart};
use super::quirks::Quirks;
use super::rows::StoredRepo;

/// The number of calls to the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    pub reads: u64,
    /// Calls that may write, whether they changed anything or not.
    pub writes: u64,
    /// Changes made by clients.
    pub changes: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct WorldState {
    pub(crate) repo: StoredRepo,
    pub(crate) faults: FaultScript,
    pub(crate) calls: CallCounts,
    pub(crate) effects: Vec<Effect>,
    /// Ids of clients whose process crashed.
    pub(crate) crashed_clients: BTreeSet<u64>,
    /// Ids of clients whose token was revoked.
    pub(crate) revoked_clients: BTreeSet<u64>,
    pub(crate) client_count: u64,
    /// The states before each of the last writes, newest last.
    history: VecDeque<StoredRepo>,
    /// The fault of the current call.
    current_fault: Option<CallFault>,
}

/// Whether a request may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Read,
    Write,
}

/// The outcome of an HTTP request.
#[derive(Debug)]
pub(crate) enum WireOutcome<T> {
    Answered(T),
    /// The response body is cut in half.
    Truncated(T),
    /// The response is an error; the request may or may not have been carried out.
    Failed,
    /// The connection is closed without a response.
    Dropped,
    RetryLater,
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

    /// Runs a call that only reads.
    pub(crate) fn read<T>(
        &mut self,
        client: u64,
        run: impl FnOnce(&Self) -> Result<T, ForgeError>,
    ) -> Result<T, ForgeError> {
        self.begin_call(client)?;
        self.calls.reads += 1;
        self.current_fault = self.faults.next_fault(false);
        let result = match self.current_fault {
            None | Some(CallFault::Truncate | CallFault::StaleRead) => run(self),
            Some(CallFault::FailBefore | CallFault::FailAfter500) => {
                Err(ForgeError::Unreadable("response 500".to_owned()))
            }
            Some(CallFault::LoseReply | CallFault::RetryLater) => Err(ForgeError::RetryLater),
            Some(CallFault::Crash(_)) => Err(self.crash(client)),
        };
        self.current_fault = None;
        result
    }

    /// Runs a call that may write.
    pub(crate) fn write<T>(
        &mut self,
        client: u64,
        run: impl FnOnce(&mut Self) -> Result<T, ForgeError>,
    ) -> Result<T, ForgeError> {
        self.begin_call(client)?;
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
                Err(self.crash(client))
            }
        };
        self.current_fault = None;
        result
    }

    /// Runs a call that may write and cannot be stored by half.
    pub(crate) fn write_atomically<T>(
        &mut self,
        client: u64,
        run: impl FnOnce(&mut Self) -> Result<T, ForgeError>,
    ) -> Result<T, ForgeError> {
        self.write(client, |state| if state.is_interrupted() { Err(ForgeError::OutcomeUnknown) } else { run(state) })
    }

    /// Runs an HTTP request. The server turns the outcome into a response.
    pub(crate) fn serve_request<T>(
        &mut self,
        client: u64,
        kind: RequestKind,
        run: impl FnOnce(&mut Self) -> T,
    ) -> WireOutcome<T> {
        match self.begin_call(client) {
            Err(ForgeError::Unauthenticated) => return WireOutcome::Unauthenticated,
            Err(_) => return WireOutcome::Dropped,
            Ok(()) => {}
        }
        match kind {
            RequestKind::Read => self.calls.reads += 1,
            RequestKind::Write => self.calls.writes += 1,
        }
        self.current_fault = self.faults.next_fault(kind == RequestKind::Write);
        let outcome = match self.current_fault {
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
                self.crash(client);
                WireOutcome::Dropped
            }
        };
        self.current_fault = None;
        outcome
    }

    /// Returns the repository as a read sees it: without the last writes where reads lag.
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

    /// Returns whether the client crashes after half of the current write.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.current_fault == Some(CallFault::Crash(SentPart::Half))
    }

    /// Changes the repository, then lets the forge auto-merge.
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

    pub(crate) fn record_effect(&mut self, by: &Login, pull: PullNumber, kind: EffectKind) {
        self.calls.changes += 1;
        self.effects.push(Effect { at: self.repo.now, by: Some(by.clone()), pull, kind });
    }

    /// Advances the clock by one second, for one call or one action of a person.
    pub(crate) fn tick(&mut self) {
        self.repo.now = self.repo.now.saturating_add(Span(1));
    }

    /// Advances the clock and lets lagging reads catch up.
    pub(crate) fn wait(&mut self, span: Span) {
        self.repo.now = self.repo.now.saturating_add(span);
        self.history.clear();
    }

    fn begin_call(&mut self, client: u64) -> Result<(), ForgeError> {
        if self.crashed_clients.contains(&client) {
            return Err(crashed_error());
        }
        if !self.repo.quirks.instant_calls {
            self.tick();
        }
        if self.revoked_clients.contains(&client) { Err(ForgeError::Unauthenticated) } else { Ok(()) }
    }

    fn crash(&mut self, client: u64) -> ForgeError {
        self.crashed_clients.insert(client);
        crashed_error()
    }
}

fn crashed_error() -> ForgeError {
    ForgeError::Unreadable("the process has ended".to_owned())
}
