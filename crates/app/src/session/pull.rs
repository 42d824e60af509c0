//! An open pull: its forge, config, git source and store, and the two halves of a turn on it.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use referee_core::decide::PlanScope;
use referee_core::mark::Keys;
use referee_core::model::{Evidence, Login, PullNumber};
use referee_forge::local::LocalForge;
use referee_forge::{BranchTip, FetchedPull, Forge, ForgeKind, Gates, RequestCounts, Reuse};
use referee_git::Git;
use referee_turn::{
    BegunTurn, ClaimWaiter, Inbox, Journal, PublishMode, Turn, TurnContext, TurnError, begin, finish, finish_begun,
};
use url::Url;

use super::claim_waiter::{CLAIM_WAIT, TerminalWaiter};
use super::connect::{connect_identities, connect_local_identities};
use super::hosted;
use super::local::LocalCheckout;
use super::reference::PullReference;
use super::site::find_site;
use super::source::GitSource;
use super::{Options, config_files};
use crate::config::ResolvedConfig;
use crate::console::Console;
use crate::failure::{Failure, FailureKind};
use crate::store::{MemoryKind, Store, StoreAccess};

/// An open pull. Opening it connects to its forge, loads its config once and connects the roles' identities.
#[derive(Debug)]
pub(crate) struct PullSession {
    pub(crate) pull: PullNumber,
    /// The name for people: `L7`, `acme/api#7`.
    pub(crate) name: String,
    /// What names the pull on a command line from here.
    pub(crate) reference: String,
    /// The store's key for the pull.
    pub(crate) key: String,
    pub(crate) forge: Arc<dyn Forge>,
    pub(crate) store: Store,
    /// The checkout that the command was started in.
    pub(crate) checkout: Option<Git>,
    pub(crate) source: GitSource,
    /// The branch whose config and guidance apply (SAF-2).
    pub(crate) trusted: Option<BranchTip>,
    pub(crate) config: ResolvedConfig,
    keys: Keys,
    /// The read that found the pull on its server, until the first turn uses it.
    opened: Mutex<Option<FetchedPull>>,
    /// The forge again if it is the local one: there, people act through it too.
    local: Option<LocalForge>,
    /// The file that a writing process locks; `None` if the state folder cannot be created.
    writer_lock: Option<PathBuf>,
    /// The store's key for the current branch, which remembers the pull last used on it.
    branch_key: Option<String>,
    /// How often a local pull was read; a server counts requests instead.
    local_reads: AtomicUsize,
}

/// A pull before its config is loaded.
#[derive(Debug)]
pub(super) struct UnconfiguredPull {
    pub(super) pull: PullNumber,
    pub(super) name: String,
    pub(super) reference: String,
    pub(super) key: String,
    pub(super) forge: Arc<dyn Forge>,
    /// The root URL of the forge; `None` for a local pull.
    pub(super) server: Option<Url>,
    pub(super) local: Option<LocalForge>,
    pub(super) store: Store,
    pub(super) checkout: Option<Git>,
    pub(super) source: GitSource,
    pub(super) trusted: Option<BranchTip>,
    /// The git user, on local pulls.
    pub(super) user: Option<Login>,
    pub(super) writer_lock: Option<PathBuf>,
    pub(super) branch_key: Option<String>,
    /// The read that found the pull, on a server.
    pub(super) opened: Option<FetchedPull>,
}

/// What a command may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionAccess {
    /// Nothing.
    Read,
    /// The store, but nothing on the pull (TRI-9).
    Remember,
    /// The pull and the store.
    Write,
}

impl PullSession {
    /// Opens the pull that `reference` names; `None` is the pull of the current branch.
    pub(crate) async fn open(
        options: &Options,
        reference: Option<&str>,
        access: SessionAccess,
        out: &Console,
    ) -> Result<Self, Failure> {
        let reference = PullReference::parse_optional(reference)?;
        if let Some(site) = find_site(options, &reference).await? {
            let pull = hosted::open(options, site, &reference, access.store()).await?;
            return Self::configure(pull, options, out).await;
        }
        let mut checkout = LocalCheckout::open(options, access.store())?;
        if access != SessionAccess::Write {
            checkout = checkout.read_only();
        }
        let pull = checkout.resolve_pull(&reference)?;
        Self::open_local(checkout, pull, options, out).await
    }

    /// Opens a local pull.
    pub(crate) async fn open_local(
        checkout: LocalCheckout,
        pull: PullNumber,
        options: &Options,
        out: &Console,
    ) -> Result<Self, Failure> {
        Self::configure(checkout.into_pull(pull).await?, options, out).await
    }

    /// Loads the config that applies to the pull, never the one at its head (SAF-2), and connects the roles' identities.
    async fn configure(pull: UnconfiguredPull, options: &Options, out: &Console) -> Result<Self, Failure> {
        let (trusted, user) = (pull.trusted.as_ref(), pull.user.as_ref());
        let mut config = config_files::load(options, &pull.source, trusted, user, out)?;
        let forge = match &pull.server {
            None => connect_local_identities(&pull.forge, &config).await?,
            Some(server) => connect_identities(&pull.forge, server, &mut config, None).await?,
        };
        let keys = config.keys()?;
        let UnconfiguredPull {
            pull,
            name,
            reference,
            key,
            forge: _,
            server: _,
            local,
            mut store,
            checkout,
            source,
            trusted,
            user: _,
            writer_lock,
            branch_key,
            mut opened,
        } = pull;
        store.keep_texts(config.journal_texts);
        if let Some(opened) = &mut opened {
            opened.viewer.holds.extend(forge.info().held_logins);
        }
        Ok(Self {
            pull,
            name,
            reference,
            key,
            forge,
            store,
            checkout,
            source,
            trusted,
            config,
            keys,
            opened: Mutex::new(opened),
            local,
            writer_lock,
            branch_key,
            local_reads: AtomicUsize::new(0),
        })
    }

    /// Reads the pull, from a cache if it is recent. The first read is the one that found the pull.
    pub(crate) async fn read(&self) -> Result<FetchedPull, Failure> {
        self.local_reads.fetch_add(1, Ordering::Relaxed);
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
        match opened {
            Some(opened) => Ok(opened),
            None => Ok(self.forge.fetch_reusing(self.pull, Reuse::Cached).await.map_err(TurnError::from)?),
        }
    }

    /// First half of a turn: reads the pull, gathers and decides. Writes nothing.
    pub(crate) async fn begin(&self, inbox: &Inbox) -> Result<BegunTurn, Failure> {
        self.begin_with(self.read().await?, inbox).await
    }

    /// The same with a pull that was just read.
    pub(crate) async fn begin_with(&self, fetched: FetchedPull, inbox: &Inbox) -> Result<BegunTurn, Failure> {
        let gates = Gates::dry_run();
        let journal = self.store.open_journal(&self.key, &self.config.policy);
        Ok(begin(&self.context(&journal, &gates, PublishMode::SingleWriter), fetched, inbox).await?)
    }

    /// Second half: reads again what may have moved, decides with the reports in `inbox`, and applies the plan. Waits while
    /// another process writes on this pull.
    pub(crate) async fn finish(
        &self,
        begun: &BegunTurn,
        gates: &Gates,
        inbox: &Inbox,
        out: &Console,
    ) -> Result<Turn, Failure> {
        self.local_reads.fetch_add(1, Ordering::Relaxed);
        let _lock = if gates.is_dry_run() { None } else { self.lock_for_writing()? };
        let journal = self.store.open_journal(&self.key, &self.config.policy);
        if self.is_local() {
            // The lock excludes every other writer, and the pull is read again under it.
            let context = self.context(&journal, gates, PublishMode::SingleWriter);
            return Ok(finish(&context, self.pull, inbox).await?);
        }
        let waiter = TerminalWaiter::new(out, CLAIM_WAIT);
        let mode =
            if self.is_split(&inbox.scope) { PublishMode::Matrix(&waiter) } else { PublishMode::Claimed(&waiter) };
        let context = self.context(&journal, gates, mode);
        let turn = finish_begun(&context, begun, inbox).await?;
        if waiter.is_interrupted() {
            out.print_info("interrupted: the next run writes what is missing");
        }
        Ok(turn)
    }

    /// Returns whether this run leaves out roles, which other processes run then (D6).
    fn is_split(&self, scope: &PlanScope) -> bool {
        let PlanScope::Roles(selected) = scope else { return false };
        self.config.policy.roles.iter().any(|role| !selected.contains(&role.name))
    }

    fn context<'a>(
        &'a self,
        journal: &'a dyn Journal,
        gates: &'a Gates,
        publish_mode: PublishMode<'a>,
    ) -> TurnContext<'a> {
        TurnContext {
            forge: &*self.forge,
            source: &self.source,
            journal,
            policy: &self.config.policy,
            gates,
            keys: &self.keys,
            publish_mode,
        }
    }

    /// Returns what the store remembers of the pull: triage and checks.
    pub(crate) fn load_evidence(&self) -> Result<Evidence, Failure> {
        Ok(Evidence {
            triage: self.store.load_memory(&self.key, MemoryKind::Triage)?,
            check: self.store.load_memory(&self.key, MemoryKind::CheckResult)?,
            watched: self.store.load_memory(&self.key, MemoryKind::WatchResult)?,
            ..Evidence::default()
        })
    }

    /// Counts the requests sent so far. On a local pull, reads and `writes` are counted instead.
    pub(crate) fn request_counts(&self, writes: usize) -> RequestCounts {
        if self.is_local() {
            return RequestCounts { reads: self.local_reads.load(Ordering::Relaxed), writes };
        }
        self.forge.request_counts()
    }

    pub(crate) fn is_local(&self) -> bool {
        self.local.is_some()
    }

    /// Returns whether the pull exists. A read-only session previews the pull of a branch that has none.
    pub(crate) fn exists(&self) -> Result<bool, Failure> {
        match &self.local {
            Some(forge) => Ok(forge.list_pulls()?.iter().any(|it| it.number == self.pull)),
            None => Ok(true),
        }
    }

    /// Names the interface that threads were read through (TRI-4).
    pub(crate) fn thread_source(&self) -> String {
        match self.forge.info().kind {
            ForgeKind::Local => "local".to_owned(),
            server => format!("{server}-rest"),
        }
    }

    /// Remembers the pull as the one that commands on the current branch mean (TRI-2).
    pub(crate) fn mark_used(&self) -> Result<(), Failure> {
        match (&self.local, &self.checkout, &self.branch_key) {
            (Some(forge), Some(git), _) => super::local::mark_used(git, forge, self.pull),
            (None, _, Some(branch)) => {
                if self.store.load_memory(branch, MemoryKind::LastUsedPull)? != Some(self.pull) {
                    self.store.save_memory(branch, MemoryKind::LastUsedPull, &self.pull)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Locks out other writers of this machine until the file is dropped or the process ends (D6).
    fn lock_for_writing(&self) -> Result<Option<File>, Failure> {
        let Some(path) = &self.writer_lock else { return Ok(None) };
        let locked = File::options().create(true).truncate(false).write(true).open(path).and_then(|file| {
            file.lock()?;
            Ok(file)
        });
        locked.map(Some).map_err(|error| {
            Failure::failed(format!("nothing was written: `{}` cannot be locked: {error}", path.display()))
        })
    }
}

impl SessionAccess {
    fn store(self) -> StoreAccess {
        match self {
            Self::Read => StoreAccess::Read,
            Self::Remember | Self::Write => StoreAccess::Write,
        }
    }
}

impl From<TurnError> for Failure {
    fn from(error: TurnError) -> Self {
        let message = format!("nothing was decided: {error}");
        match error {
            TurnError::ClaimHeld => Self::new(FailureKind::TryLater, message)
                .with_hint("run it again in a moment; a finished report is kept"),
            TurnError::Forge(error) => Self::from_forge_error(&error, &message),
            TurnError::Gather(_) => {
                Self::failed(message).with_hint("`git fetch --unshallow` helps where commits are missing")
            }
        }
    }
}
