//! A cache in front of any forge.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use referee_core::model::{Board, Login, Pull, PullNumber, Sha, Span};
use referee_core::plan::Delivery;
use referee_http::RequestCounts;

use crate::{
    ActionRequest, BranchTip, ClaimOutcome, ClaimPurpose, EarlierReads, FetchedPull, Forge, ForgeError, ForgeInfo,
    Identity, ListedPull, Memento, PerformOutcome, Permit, Reader, Reuse, ServerFacts, WebhookError, WebhookEvent,
};

/// How long a pull that this process just read counts as read again: about as long as reading it takes.
const JUST_READ: Duration = Duration::from_secs(5);
/// How long after a complete read a memento shortens the next read of that pull.
const MEMENTO_MAX_AGE: Span = Span::from_minutes(15);
/// The same while surveying a repository: surveys run every few minutes, and a later one sees what an earlier one missed.
const SURVEY_MAX_AGE: Span = Span::from_minutes(60);

/// A forge that remembers what it read.
///
/// | what is remembered | where | answers | for | dropped by |
/// |---|---|---|---|---|
/// | the pull this process read last | memory | `Reuse::Cached` | 5 s | a write, a claim, a read of the head, a complete read |
/// | the memento of each pull | `MementoStore` | `Reuse::Cached` for one pull | 15 min after everything was read | a write on that pull |
/// | the same | `MementoStore` | `Reuse::Cached` for all open pulls | 60 min after everything was read | a write on that pull |
///
/// `Reuse::Nothing` reads everything; it still hands the memento to the adapter, which keeps what only the memento knows,
/// and for a minute who has write access in the repository.
/// A read that reused something is not `is_fresh`: it may prove that nothing has to be done, but nothing is written on its
/// word. What was learned about the server is remembered by the caller, see [`crate::ServerSite::known`].
#[derive(Clone, Debug)]
pub struct CachedForge {
    forge: Arc<dyn Forge>,
    store: Option<Arc<dyn MementoStore>>,
    last_read: Arc<Mutex<Option<LastRead>>>,
}

/// Keeps mementos between processes. All of them may be lost at any time; that costs requests only.
pub trait MementoStore: fmt::Debug + Send + Sync {
    /// Returns the memento stored under that key.
    fn load(&self, key: &str) -> Option<Memento>;

    /// Stores a memento, replacing an older one. Where that fails, the older one must not remain.
    fn save(&self, key: &str, memento: &Memento);

    /// Removes the memento stored under that key.
    fn remove(&self, key: &str);
}

#[derive(Debug)]
struct LastRead {
    at: Instant,
    pull: FetchedPull,
}

impl CachedForge {
    /// Puts a cache in front of a forge. Without a store, only the last read is remembered.
    pub fn new(forge: Arc<dyn Forge>, store: Option<Arc<dyn MementoStore>>) -> Self {
        Self { forge, store, last_read: Arc::default() }
    }

    fn stored_reads(&self) -> StoredReads<'_> {
        StoredReads { store: self.store.as_deref(), scope: self.forge.info().cache_scope }
    }

    fn recall(&self, pull: PullNumber) -> Option<FetchedPull> {
        let last_read = self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        let last = last_read.as_ref().filter(|last| last.pull.pull.number == pull && last.at.elapsed() < JUST_READ)?;
        Some(last.pull.clone())
    }

    fn forget_last_read(&self) {
        *self.last_read.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn remember(&self, fetched: &FetchedPull) {
        let last = LastRead { at: Instant::now(), pull: fetched.clone() };
        *self.last_read.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
        self.stored_reads().store_memento(fetched);
    }
}

/// The mementos of one repository.
#[derive(Debug)]
struct StoredReads<'a> {
    store: Option<&'a dyn MementoStore>,
    scope: String,
}

impl StoredReads<'_> {
    fn key(&self, pull: PullNumber) -> String {
        format!("{}/{}", self.scope, pull.0)
    }

    fn store_memento(&self, fetched: &FetchedPull) {
        let Some(store) = self.store else { return };
        let key = self.key(fetched.pull.number);
        match &fetched.memento {
            Some(memento) => store.save(&key, memento),
            None => store.remove(&key),
        }
    }

    fn remove(&self, pull: PullNumber) {
        if let Some(store) = self.store {
            store.remove(&self.key(pull));
        }
    }
}

impl EarlierReads for StoredReads<'_> {
    fn memento(&self, pull: PullNumber) -> Option<Memento> {
        self.store?.load(&self.key(pull))
    }
}

#[async_trait]
impl Reader for CachedForge {
    fn info(&self) -> ForgeInfo {
        self.forge.info()
    }

    async fn fetch_reusing(&self, pull: PullNumber, reuse: Reuse<'_>) -> Result<FetchedPull, ForgeError> {
        if let Reuse::Cached = reuse
            && let Some(fetched) = self.recall(pull)
        {
            return Ok(fetched);
        }
        self.forget_last_read();
        let stored = self.stored_reads();
        let reuse = match reuse {
            Reuse::Nothing => Reuse::Since { reads: &stored, max_age: Span(0) },
            Reuse::Cached => Reuse::Since { reads: &stored, max_age: MEMENTO_MAX_AGE },
            since @ Reuse::Since { .. } => since,
        };
        let fetched = self.forge.fetch_reusing(pull, reuse).await?;
        self.remember(&fetched);
        Ok(fetched)
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.forget_last_read();
        self.forge.fetch_head(pull).await
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        self.forge.fetch_board().await
    }

    async fn fetch_board_and_pulls(&self, reuse: Reuse<'_>) -> Result<(Board, Vec<FetchedPull>), ForgeError> {
        let stored = self.stored_reads();
        let reuse = match reuse {
            Reuse::Nothing => Reuse::Since { reads: &stored, max_age: Span(0) },
            Reuse::Cached => Reuse::Since { reads: &stored, max_age: SURVEY_MAX_AGE },
            since @ Reuse::Since { .. } => since,
        };
        let (board, pulls) = self.forge.fetch_board_and_pulls(reuse).await?;
        pulls.iter().for_each(|fetched| stored.store_memento(fetched));
        Ok((board, pulls))
    }

    async fn may_push(&self, pull: PullNumber, by: &Login, reuse: Reuse<'_>) -> Result<bool, ForgeError> {
        let stored = self.stored_reads();
        let reuse = match reuse {
            Reuse::Cached => Reuse::Since { reads: &stored, max_age: MEMENTO_MAX_AGE },
            other => other,
        };
        self.forge.may_push(pull, by, reuse).await
    }

    async fn list_open_pulls(&self) -> Result<Vec<ListedPull>, ForgeError> {
        self.forge.list_open_pulls().await
    }

    async fn fetch_default_branch(&self) -> Result<BranchTip, ForgeError> {
        self.forge.fetch_default_branch().await
    }

    async fn fetch_trusted_base(&self, pull: &Pull) -> Result<BranchTip, ForgeError> {
        self.forge.fetch_trusted_base(pull).await
    }

    async fn fetch_labels(&self) -> Result<BTreeMap<u64, String>, ForgeError> {
        self.forge.fetch_labels().await
    }

    fn request_counts(&self) -> RequestCounts {
        self.forge.request_counts()
    }

    fn server_facts(&self) -> Option<ServerFacts> {
        self.forge.server_facts()
    }
}

#[async_trait]
impl Forge for CachedForge {
    async fn perform(&self, pull: PullNumber, request: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        self.forget_last_read();
        // A write that fails half-way may leave a draft, which no incremental read would notice.
        self.stored_reads().remove(pull);
        self.forge.perform(pull, request).await
    }

    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        self.forget_last_read();
        self.forge.acquire_claim(pull, purpose, ttl).await
    }

    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError> {
        self.forge.release_claim(pull, purpose, epoch).await
    }

    async fn open_pull(&self, delivery: &Delivery, by: &Login, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.forget_last_read();
        self.forge.open_pull(delivery, by, permit).await
    }

    async fn with_identities(&self, identities: Vec<Identity>) -> Result<(Arc<dyn Forge>, Vec<Login>), ForgeError> {
        let (forge, logins) = self.forge.with_identities(identities).await?;
        if let Some(last) = self.last_read.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            last.pull.viewer.holds.extend(forge.info().held_logins);
        }
        Ok((Arc::new(Self { forge, ..self.clone() }), logins))
    }

    fn decode_webhook(
        &self,
        headers: &BTreeMap<String, String>,
        body: &[u8],
        secret: &[u8],
    ) -> Result<Option<WebhookEvent>, WebhookError> {
        self.forge.decode_webhook(headers, body, secret)
    }
}
