//! What an adapter hands over: a pull as the forge tells it, nothing read into it yet.

use crate::Memento;
use referee_core::model::{Capabilities, Checks, Comment, Completeness, Lease, Pull, Review, Thread, Time, Viewer};

/// A pull as the forge tells it. Texts are `Text::unread`: gather reads Marks, Tags and commands in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPull {
    /// The forge's own clock.
    pub taken_at: Time,
    /// Whose token.
    pub viewer: Viewer,
    /// What this forge and token can do.
    pub capabilities: Capabilities,
    /// Whether every list was read to its end.
    pub complete: Completeness,
    /// Whether all of it was read now. What else was read before and seems unchanged may have changed unseen.
    pub is_fresh: bool,
    /// The pull.
    pub pull: Pull,
    /// Its reviews, oldest first, with their current texts.
    pub reviews: Vec<Review>,
    /// Its threads.
    pub threads: Vec<Thread>,
    /// Its top-level comments, oldest first.
    pub comments: Vec<Comment>,
    /// Its checks at the head.
    pub checks: Checks,
    /// A lease kept on the forge.
    pub lease: Option<Lease>,
    /// What the adapter wants back to read this pull again in fewer requests; `None` where that would not help, or a
    /// list was cut off.
    pub memento: Option<Memento>,
}
