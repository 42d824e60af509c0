//! Fake Gitea and Forgejo servers on loopback, backed by a `World`, so that the HTTP adapter can be tested without real
//! servers. Responses match recorded responses of real servers, including their bugs.
//!
//! `server` holds the infrastructure: a thread, a port, tokens, faults. `read` and `write` hold the routes. `render` holds
//! the JSON, checked against recorded responses.

mod git;
mod paging;
mod read;
mod render;
mod reply;
mod repository;
mod server;
mod timestamp;
mod write;

pub use repository::create_repository;
pub use server::FakeServer;

use crate::world::{BadLines, Quirks, ReplyMode};

/// The server version to imitate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Gitea 1.26: has a route to resolve, none to reply.
    Gitea126,
    /// Gitea 1.27: has routes to resolve and to reply; review links carry the review id instead of the comment id.
    Gitea127,
    /// Forgejo 10: has no route to resolve, replies by adding to a review, and answers 500 after storing a comment.
    Forgejo10,
}

impl Dialect {
    pub const ALL: [Self; 3] = [Self::Gitea126, Self::Gitea127, Self::Forgejo10];

    /// Returns the version string that the server reports.
    pub fn version(self) -> &'static str {
        match self {
            Self::Gitea126 => "1.26.0",
            Self::Gitea127 => "1.27.3",
            Self::Forgejo10 => "10.0.0+gitea-1.22.0",
        }
    }

    /// Returns the quirks of the world behind this server.
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
