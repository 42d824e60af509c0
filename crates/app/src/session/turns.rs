//! One pull with all that it takes to look at it, or to play a turn.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use referee_core::decide::decide;
use referee_core::mark::Keys;
use referee_core::model::{Evidence, PullNumber, Snapshot};
use referee_core::plan::Plan;
use referee_forge::{FetchedPull, ForgeError, Gates, Reader};
use referee_turn::{Inbox, PublishMode, Turn, TurnContext, TurnError, gather_snapshot, run_turn, worker_can_push};

use crate::config::ResolvedConfig;
use crate::failure::{Failure, FailureKind};
use crate::forge::AnyForge;
use crate::session::pull::PullSession;
use crate::show::Calls;
use crate::store::MemoryKind;

/// One pull, and what is needed to decide about it.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    /// The pull.
    pub(crate) case: &'a PullSession,
    /// The rules.
    pub(crate) setup: &'a ResolvedConfig,
    keys: Keys,
    reads: AtomicUsize,
}

/// How long another process may hold the claim before this one gives up (D6), and how often it is asked for.
const PATIENCE: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_secs(3);

impl<'a> Table<'a> {
    /// A pull and its rules.
    pub(crate) fn new(case: &'a PullSession, setup: &'a ResolvedConfig) -> Result<Self, Failure> {
        Ok(Self { case, setup, keys: setup.keys()?, reads: AtomicUsize::new(0) })
    }

    /// What is remembered of the pull: triage, checks.
    pub(crate) fn evidence(&self) -> Result<Evidence, Failure> {
        let PullSession { store, key, .. } = self.case;
        Ok(Evidence {
            triage: store.load_memory(key, MemoryKind::Triage)?,
            check: store.load_memory(key, MemoryKind::CheckResult)?,
            watched: store.load_memory(key, MemoryKind::WatchResult)?,
            ..Evidence::default()
        })
    }

    /// What left for the forge so far. The local one is read and written in the process itself: there, looks and writes
    /// are counted.
    pub(crate) fn calls(&self, written: usize) -> Calls {
        match &self.case.forge {
            AnyForge::Local(_) => Calls { reads: self.reads.load(Ordering::Relaxed), writes: written },
            AnyForge::Hosted(forge) => {
                let referee_http::RequestCounts { reads, writes } = forge.calls();
                Calls { reads, writes }
            }
        }
    }

    /// Looks, and decides; nothing is applied.
    pub(crate) async fn look(&self, inbox: &Inbox) -> Result<(Snapshot, Plan), Failure> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let fetched = read(&self.case.forge, self.case.pull).await.map_err(TurnError::from)?;
        let policy = &self.setup.policy;
        let mut snapshot =
            gather_snapshot(fetched, &self.case.texts, inbox, policy, &self.keys).map_err(TurnError::from)?;
        let mut plan = decide(&snapshot, policy);
        let takes_worker = worker_can_push(&self.case.forge, policy, &plan, &mut snapshot);
        if !takes_worker.await.map_err(TurnError::from)? {
            plan = decide(&snapshot, policy);
        }
        Ok((snapshot, plan))
    }

    /// Plays a turn, once no other process plays one here.
    pub(crate) async fn play(&self, gates: &Gates, inbox: &Inbox, publishing: PublishMode) -> Result<Turn, Failure> {
        let PullSession { forge, texts, store, key, pull, .. } = self.case;
        self.reads.fetch_add(1, Ordering::Relaxed);
        let _writer = if gates.is_dry_run() { None } else { self.case.writer()? };
        let journal = store.open_journal(key, &self.setup.policy);
        let (policy, keys) = (&self.setup.policy, &self.keys);
        let desk =
            TurnContext { forge, source: texts, journal: &journal, policy, gates, keys, publish_mode: publishing };
        let deadline = Instant::now() + PATIENCE;
        loop {
            match run_turn(&desk, *pull, inbox).await {
                Err(TurnError::ClaimHeld) if Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
                played => return Ok(played?),
            }
        }
    }
}

impl From<TurnError> for Failure {
    fn from(error: TurnError) -> Self {
        let words = format!("nothing was decided: {error}");
        match error {
            TurnError::ClaimHeld => {
                Self::new(FailureKind::TryLater, words).with_hint("run it again in a moment; a finished report is kept")
            }
            TurnError::Forge(error) => Self::from_forge_error(&error, &words),
            TurnError::Gather(_) => {
                Self::failed(words).with_hint("`git fetch --unshallow` helps where commits are missing")
            }
        }
    }
}

/// Reads a pull through a `Reader`, which cannot write (SAF-5, TRI-9).
async fn read(reader: &dyn Reader, pull: PullNumber) -> Result<FetchedPull, ForgeError> {
    reader.fetch(pull).await
}
