//! How much of an earlier read a new one may reuse.

use std::fmt;

use referee_core::model::{PullNumber, Span};
use serde::{Deserialize, Serialize};

/// How much of earlier reads a read may reuse. `FetchedPull::is_fresh` tells whether it did.
#[derive(Clone, Copy, Debug, Default)]
pub enum Reuse<'a> {
    /// Nothing: everything is read now.
    #[default]
    Nothing,
    /// What a [`crate::CachedForge`] allows. An adapter has no cache and reads everything.
    Cached,
    /// What has not changed since these reads, if everything was read within `max_age`. A `max_age` of zero reads
    /// everything, but keeps what only the memento knows (when a head was first seen) and what changes rarely (who has
    /// write access, for a minute).
    Since { reads: &'a dyn EarlierReads, max_age: Span },
}

/// Earlier reads of pulls.
pub trait EarlierReads: fmt::Debug + Send + Sync {
    /// Returns the memento of the last read of that pull.
    fn memento(&self, pull: PullNumber) -> Option<Memento>;
}

/// What an adapter needs to read the same pull again in fewer requests. Opaque to everybody but the adapter that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Memento(pub String);
