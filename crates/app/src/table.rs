//! One pull with all that it takes to look at it, or to play a turn.

use std::cell::Cell;
use std::future::Future;

use referee_core::decide::decide;
use referee_core::mark::Keys;
use referee_core::model::{Evidence, PullNumber, Snapshot};
use referee_core::plan::Plan;
use referee_forge::{Fetched, Gates, LocalForge, Reader, local_name};
use referee_turn::{Desk, Inbox, Publishing, Turn, TurnError, gather, turn};

use crate::config::Setup;
use crate::failure::{Failure, Kind};
use crate::place::Place;
use crate::source::Texts;
use crate::store::Memory;

/// One pull, and what is needed to decide about it.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    /// The checkout.
    pub(crate) place: &'a Place,
    /// The rules.
    pub(crate) setup: &'a Setup,
    /// Its number.
    pub(crate) pull: PullNumber,
    /// What the store calls it.
    pub(crate) key: String,
    /// Its forge, which speaks for every role's identity.
    forge: LocalForge,
    /// git's texts.
    pub(crate) texts: Texts,
    keys: Keys,
    reads: Cell<usize>,
}

impl<'a> Table<'a> {
    /// A pull of this checkout.
    pub(crate) fn new(place: &'a Place, setup: &'a Setup, pull: PullNumber) -> Result<Self, Failure> {
        let keys = setup.keys()?;
        let identities = setup.policy.roles.iter().filter_map(|role| role.identity.clone());
        Ok(Self {
            place,
            setup,
            pull,
            key: local_name(pull),
            forge: place.forge.clone().holding(identities),
            texts: Texts::of(place.git.clone()),
            keys,
            reads: Cell::new(0),
        })
    }

    /// What is remembered of the pull: triage, checks.
    pub(crate) fn evidence(&self) -> Result<Evidence, Failure> {
        let store = &self.place.store;
        Ok(Evidence {
            triage: store.recall(&self.key, Memory::Triage)?,
            check: store.recall(&self.key, Memory::Check)?,
            watched: store.recall(&self.key, Memory::Watched)?,
            ..Evidence::default()
        })
    }

    /// How often the forge was read.
    pub(crate) fn reads(&self) -> usize {
        self.reads.get()
    }

    /// Looks, and decides; nothing is applied.
    pub(crate) fn look(&self, inbox: &Inbox) -> Result<(Snapshot, Plan), Failure> {
        self.reads.set(self.reads.get() + 1);
        let fetched = read(&self.forge, self.pull)?;
        let snapshot = gather(fetched, &self.texts, inbox, &self.setup.policy, &self.keys).map_err(TurnError::from)?;
        let plan = decide(&snapshot, &self.setup.policy);
        Ok((snapshot, plan))
    }

    /// Plays a turn, once no other process plays one here.
    pub(crate) fn play(&self, gates: &Gates, inbox: &Inbox) -> Result<Turn, Failure> {
        self.reads.set(self.reads.get() + 1);
        let _writer = if gates.are_shut() { None } else { Some(self.place.writer()?) };
        let journal = self.place.store.notebook(&self.key, &self.setup.policy);
        let desk = Desk {
            forge: &self.forge,
            source: &self.texts,
            journal: &journal,
            policy: &self.setup.policy,
            gates,
            keys: &self.keys,
            publishing: Publishing::Alone,
        };
        Ok(block_on(turn(&desk, self.pull, inbox))?)
    }
}

impl From<TurnError> for Failure {
    fn from(error: TurnError) -> Self {
        let words = format!("nothing was decided: {error}");
        match error {
            TurnError::Claimed => {
                Self::new(Kind::Later, words).hint("run it again in a moment; a finished report is kept")
            }
            TurnError::Forge(_) => Self::new(Kind::Later, words).hint("run it again; a finished report is kept"),
            TurnError::Gather(_) => Self::failed(words).hint("`git fetch --unshallow` helps where commits are missing"),
        }
    }
}

/// It takes a reader: that cannot write (SAF-5, TRI-9).
fn read(reader: &impl Reader, pull: PullNumber) -> Result<Fetched, TurnError> {
    Ok(block_on(reader.fetch(pull))?)
}

/// Waits for a forge. The local one answers at once; others wait for their sockets here.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    // A runtime without drivers needs nothing from the machine.
    match tokio::runtime::Builder::new_current_thread().build() {
        Ok(runtime) => runtime.block_on(future),
        Err(error) => unreachable!("a runtime without drivers: {error}"),
    }
}
