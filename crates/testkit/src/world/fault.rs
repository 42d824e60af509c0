/// Something that goes wrong with one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallFault {
    /// It is done, and the reply is lost.
    LoseReply,
    /// It is not done, and nobody can tell.
    FailBefore,
    /// It is done and answered with a 500. A caller cannot tell it from `LoseReply`; a server speaks differently.
    FailAfter500,
    /// The process ends during the call; its seat refuses everything until `World::restart`.
    Crash(SentPart),
    /// The forge asks to come back later.
    RetryLater,
    /// A read is cut off, and says so. Writes are not touched.
    Truncate,
    /// A read, or the look before a write, sees the state as of one write ago.
    StaleRead,
}

/// How much of a write got through before the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SentPart {
    /// Nothing.
    Nothing,
    /// Half of the inline comments, where the forge stores them one by one; else nothing.
    Half,
    /// All of it.
    All,
}

/// When a fault strikes, counted from now: `Call(1)` is the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultAt {
    /// Any verb of any seat.
    Call(u64),
    /// Only verbs that may write.
    Write(u64),
}

/// Faults to come, and those that struck.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultScript {
    pending: Vec<(FaultAt, CallFault)>,
    fired: Vec<CallFault>,
}

impl FaultScript {
    pub(crate) fn add(&mut self, at: FaultAt, fault: CallFault) {
        self.pending.push((at, fault));
    }

    /// Counts one call and says what goes wrong with it.
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
