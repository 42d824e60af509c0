//! The machinery around the rows: the clock, what reads may see, faults, counters and effects.

use std::collections::{BTreeSet, VecDeque};

use referee_core::model::{Login, PullNumber, Span};
use referee_forge::ForgeError;

use super::effect::{Effect, What};
use super::fault::{Fault, Script, Sent};
use super::quirks::Quirks;
use super::rows::Repo;

/// How often the world was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Calls that can only read.
    pub reads: u64,
    /// Calls that may write, whether they changed anything or not.
    pub writes: u64,
    /// Changes that seats made.
    pub changes: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) repo: Repo,
    pub(crate) script: Script,
    pub(crate) calls: Calls,
    pub(crate) effects: Vec<Effect>,
    /// Seats whose process ended.
    pub(crate) gone: BTreeSet<u64>,
    /// Seats whose token is no longer taken.
    pub(crate) revoked: BTreeSet<u64>,
    pub(crate) seats: u64,
    /// States before each of the last writes, newest last.
    past: VecDeque<Repo>,
    /// What is wrong with the call under way.
    fault: Option<Fault>,
}

/// Whether a request may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
}

/// How a request over a wire went.
#[derive(Debug)]
pub(crate) enum Wired<T> {
    /// Well.
    Answered(T),
    /// Half of the answer is lost.
    Halved(T),
    /// Answered with an error, done or not.
    Failed,
    /// Not answered at all.
    Cut,
    /// Not now.
    Later,
    /// The token is not taken.
    Unauthenticated,
}

impl State {
    pub(crate) fn new(quirks: Quirks) -> Self {
        Self {
            repo: Repo::new(quirks),
            script: Script::default(),
            calls: Calls::default(),
            effects: Vec::new(),
            gone: BTreeSet::new(),
            revoked: BTreeSet::new(),
            seats: 0,
            past: VecDeque::new(),
            fault: None,
        }
    }

    /// A call that can only read.
    pub(crate) fn read<T>(
        &mut self,
        seat: u64,
        run: impl FnOnce(&Self) -> Result<T, ForgeError>,
    ) -> Result<T, ForgeError> {
        self.enter(seat)?;
        self.calls.reads += 1;
        self.fault = self.script.next(false);
        let result = match self.fault {
            None | Some(Fault::Truncate | Fault::Stale) => run(self),
            Some(Fault::FailBefore | Fault::FailAfter500) => Err(ForgeError::Unreadable("answer 500".to_owned())),
            Some(Fault::LoseReply | Fault::Later) => Err(ForgeError::Later),
            Some(Fault::Crash(_)) => Err(self.crash(seat)),
        };
        self.fault = None;
        result
    }

    /// A call that may write.
    pub(crate) fn write<T>(
        &mut self,
        seat: u64,
        run: impl FnOnce(&mut Self) -> Result<T, ForgeError>,
    ) -> Result<T, ForgeError> {
        self.enter(seat)?;
        self.calls.writes += 1;
        self.fault = self.script.next(true);
        let result = match self.fault {
            None | Some(Fault::Truncate | Fault::Stale) => run(self),
            Some(Fault::Later) => Err(ForgeError::Later),
            Some(Fault::FailBefore) => Err(ForgeError::Unknown),
            Some(Fault::LoseReply | Fault::FailAfter500) => {
                drop(run(self));
                Err(ForgeError::Unknown)
            }
            Some(Fault::Crash(sent)) => {
                if sent == Sent::All || (sent == Sent::Half && self.repo.quirks.inline_one_by_one) {
                    drop(run(self));
                }
                Err(self.crash(seat))
            }
        };
        self.fault = None;
        result
    }

    /// A call that may write and has no half.
    pub(crate) fn write_whole<T>(
        &mut self,
        seat: u64,
        run: impl FnOnce(&mut Self) -> Result<T, ForgeError>,
    ) -> Result<T, ForgeError> {
        self.write(seat, |state| if state.torn() { Err(ForgeError::Unknown) } else { run(state) })
    }

    /// A request over a wire. What goes wrong with it is for the server to show.
    pub(crate) fn wire<T>(&mut self, seat: u64, kind: Kind, run: impl FnOnce(&mut Self) -> T) -> Wired<T> {
        match self.enter(seat) {
            Err(ForgeError::Unauthenticated) => return Wired::Unauthenticated,
            Err(_) => return Wired::Cut,
            Ok(()) => {}
        }
        match kind {
            Kind::Read => self.calls.reads += 1,
            Kind::Write => self.calls.writes += 1,
        }
        self.fault = self.script.next(kind == Kind::Write);
        let wired = match self.fault {
            None | Some(Fault::Stale) => Wired::Answered(run(self)),
            Some(Fault::Truncate) => Wired::Halved(run(self)),
            Some(Fault::Later) => Wired::Later,
            Some(Fault::FailBefore) => Wired::Failed,
            Some(Fault::FailAfter500) => {
                drop(run(self));
                Wired::Failed
            }
            Some(Fault::LoseReply) => {
                drop(run(self));
                Wired::Cut
            }
            Some(Fault::Crash(sent)) => {
                if sent == Sent::All || (sent == Sent::Half && self.repo.quirks.inline_one_by_one) {
                    drop(run(self));
                }
                self.crash(seat);
                Wired::Cut
            }
        };
        self.fault = None;
        wired
    }

    /// What a read sees: on a forge with lagging replicas not the last writes.
    pub(crate) fn seen(&self) -> &Repo {
        let stale = usize::from(self.fault == Some(Fault::Stale));
        match self.repo.quirks.read_lag.max(stale) {
            0 => &self.repo,
            lag => self.past.get(self.past.len().saturating_sub(lag)).unwrap_or(&self.repo),
        }
    }

    pub(crate) fn truncates(&self) -> bool {
        self.fault == Some(Fault::Truncate)
    }

    /// The sender is gone after half of the write.
    pub(crate) fn torn(&self) -> bool {
        self.fault == Some(Fault::Crash(Sent::Half))
    }

    /// Changes the rows, then lets the forge act on its own.
    pub(crate) fn change<T>(&mut self, run: impl FnOnce(&mut Repo) -> T) -> T {
        let depth = self.repo.quirks.read_lag.max(usize::from(self.script.needs_past()));
        if depth > 0 {
            self.past.push_back(self.repo.clone());
        }
        while self.past.len() > depth {
            self.past.pop_front();
        }
        let result = run(&mut self.repo);
        for pull in self.repo.auto_merge() {
            self.effects.push(Effect { at: self.repo.now, by: None, pull, what: What::Merged });
        }
        result
    }

    pub(crate) fn effect(&mut self, by: &Login, pull: PullNumber, what: What) {
        self.calls.changes += 1;
        self.effects.push(Effect { at: self.repo.now, by: Some(by.clone()), pull, what });
    }

    /// One second, for one call or one deed.
    pub(crate) fn tick(&mut self) {
        self.repo.now = self.repo.now.after(Span(1));
    }

    /// Time passes and replicas catch up.
    pub(crate) fn wait(&mut self, span: Span) {
        self.repo.now = self.repo.now.after(span);
        self.past.clear();
    }

    fn enter(&mut self, seat: u64) -> Result<(), ForgeError> {
        if self.gone.contains(&seat) {
            return Err(gone());
        }
        if !self.repo.quirks.prompt {
            self.tick();
        }
        if self.revoked.contains(&seat) { Err(ForgeError::Unauthenticated) } else { Ok(()) }
    }

    fn crash(&mut self, seat: u64) -> ForgeError {
        self.gone.insert(seat);
        gone()
    }
}

fn gone() -> ForgeError {
    ForgeError::Unreadable("the process has ended".to_owned())
}
