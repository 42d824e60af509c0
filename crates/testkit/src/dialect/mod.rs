//! A server on loopback that speaks the dialect of Gitea or Forgejo over a `World`, so that the adapter that talks to
//! real servers can be tried without one. What it answers is what real ones were seen to answer, surprises included.
//!
//! `serve` is the machinery: a thread, a port, tokens, faults. `read` and `write` are the routes. `shape` is how things
//! look on the wire, pinned by recorded answers.

mod git;
mod paging;
mod read;
mod render;
mod reply;
mod server;
mod timestamp;
mod write;

pub use server::FakeServer;

use crate::world::{BadLines, Quirks, ReplyMode};

/// Which server it is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Gitea 1.26: resolves, and has no replies.
    Gitea126,
    /// Gitea 1.27: resolves, replies, and links to reviews by another number.
    Gitea127,
    /// Forgejo 10: has no resolve, replies by adding to a review, and answers stored comments with an error.
    Forgejo10,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Gitea126, Self::Gitea127, Self::Forgejo10];

    /// What it says that it is.
    pub fn version(self) -> &'static str {
        match self {
            Self::Gitea126 => "1.26.0",
            Self::Gitea127 => "1.27.3",
            Self::Forgejo10 => "10.0.0+gitea-1.22.0",
        }
    }

    /// What a world under it does.
    pub fn quirks(self) -> Quirks {
        match self {
            Self::Gitea126 => Quirks { replies: ReplyMode::Emulated, ..Self::Gitea127.quirks() },
            Self::Gitea127 => Quirks { bad_lines: BadLines::PastEnd, ..Quirks::gitea_like() },
            Self::Forgejo10 => {
                Quirks { bad_lines: BadLines::None, comment_answers_500: true, ..Quirks::forgejo_like() }
            }
        }
    }

    fn is_forgejo(self) -> bool {
        self == Self::Forgejo10
    }
}
