/// A fault of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallFault {
    /// Carries the call out and loses the response.
    LoseReply,
    /// Does not carry the call out; the client cannot tell.
    FailBefore,
    /// Carries the call out and responds 500. A client treats it like `LoseReply`; a server's response differs.
    FailAfter500,
    /// Ends the process during the call; its client fails every call until `World::restart_client`.
    Crash(SentPart),
    /// Asks the client to retry later.
    RetryLater,
    /// Truncates a read and reports it. Writes are not affected.
    Truncate,
    /// Makes a read, or the check before a write, see the state before the last write.
    StaleRead,
}

/// The part of a write that the forge received before the process crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SentPart {
    Nothing,
    /// Half of the inline comments, where the forge stores them one by one; otherwise nothing.
    Half,
    All,
}

/// The call that a fault applies to, counted from now: `Call(1)` is the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultAt {
    /// Counts every call of any client.
    Call(u64),
    /// Counts only calls that may write.
    Write(u64),
}

/// Pending faults, and those that occurred.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultScript {
    pending: Vec<(FaultAt, CallFault)>,
    fired: Vec<CallFault>,
}

impl FaultScript {
    pub(crate) fn add(&mut self, at: FaultAt, fault: CallFault) {
        self.pending.push((at, fault));
    }

    /// Counts a call and returns its fault.
    pub(crate) fn next_fault(&mut self, writes: bool) -> Option<CallFault> {
        let mut due = None;
        self.pending.retain_mut(|(at, fault)| {
            let left = match at {
                FaultAt::Call(left) => left,
                FaultAt::Write(left) if writes => left,
                FaultAt::Write(_) => return true,
            };
            *left = left.saturating_sub(1);
            if *left > 0 {
                return true;
            }
            due.get_or_insert(*fault);
            false
        });
        self.fired.extend(due);
        due
    }

    pub(crate) fn fired(&self) -> &[CallFault] {
        &self.fired
    }

    pub(crate) fn needs_history(&self) -> bool {
        self.pending.iter().any(|(_, fault)| *fault == CallFault::StaleRead)
    }
}
