//! A pull as an adapter returns it, before anything is interpreted.

use crate::Memento;
use referee_core::model::{Capabilities, Checks, Comment, Completeness, Lease, Pull, Review, Thread, Time, Viewer};

/// A pull as the forge reports it. Its texts are not parsed yet: gather reads Marks, Tags and commands in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPull {
    /// When it was read, by the forge's clock.
    pub taken_at: Time,
    /// The identity that read it, and all identities held.
    pub viewer: Viewer,
    pub capabilities: Capabilities,
    pub complete: Completeness,
    /// Whether all of it was read now. A read that reused an earlier one can miss a change.
    pub is_fresh: bool,
    /// Whether the head was read after everything else, so that a write that follows at once needs no check of it (PUB-15).
    pub head_read_last: bool,
    pub pull: Pull,
    /// Reviews with their current texts, oldest first.
    pub reviews: Vec<Review>,
    pub threads: Vec<Thread>,
    /// Top-level comments, oldest first.
    pub comments: Vec<Comment>,
    /// Checks at the head.
    pub checks: Checks,
    /// A lease kept on the forge.
    pub lease: Option<Lease>,
    /// What the adapter wants back to read this pull again in fewer requests; `None` where that would not help, or a
    /// list was cut off.
    pub memento: Option<Memento>,
}
