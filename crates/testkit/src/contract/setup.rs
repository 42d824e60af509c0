use std::future::Future;
use std::sync::Arc;

use referee_core::model::{CommentId, Login, PullNumber, ReviewId, Sha, ThreadId};
use referee_core::plan::DiffLocation;
use referee_forge::Forge;

/// Creates pulls, reviews and comments on the forge under test, always as other users than the identity under test. An
/// `Err` describes what failed, and breaks the clause.
pub trait ContractSetup {
    /// Returns the forge under test, as an identity with write access.
    fn forge(&self) -> &dyn Forge;

    /// Returns the login of the identity under test.
    fn own_login(&self) -> Login;

    /// Opens a pull as another user.
    fn open_pull(&self) -> impl Future<Output = Result<StagedPull, String>>;

    /// Pushes a commit to the pull and returns the new head.
    fn push_commit(&self, pull: PullNumber) -> impl Future<Output = Result<Sha, String>>;

    /// Posts a comment as another user.
    fn post_comment(&self, pull: PullNumber, text: &str) -> impl Future<Output = Result<CommentId, String>>;

    /// Posts a review without a verdict as another user.
    fn post_review(&self, pull: PullNumber, text: &str) -> impl Future<Output = Result<ReviewId, String>>;

    /// Opens a thread as another user.
    fn open_thread(
        &self,
        pull: PullNumber,
        location: &DiffLocation,
        text: &str,
    ) -> impl Future<Output = Result<ThreadId, String>>;

    /// Adds a label to the pull, creating it in the repository if needed, and returns its name.
    fn add_label(&self, pull: PullNumber) -> impl Future<Output = Result<String, String>>;

    /// Creates more reviews, threads and comments than one page of this forge holds.
    fn fill_pages(&self, staged: &StagedPull) -> impl Future<Output = Result<CreatedCounts, String>>;

    /// Returns the forge under test with a limit so low that the next fetch of this pull reaches it; `None` if the forge has
    /// no such limit.
    fn with_low_limit(&self, pull: PullNumber) -> impl Future<Output = Option<Arc<dyn Forge>>>;

    /// Returns the same forge with a token that it rejects; `None` if the forge has no tokens.
    fn with_bad_token(&self) -> impl Future<Output = Option<Arc<dyn Forge>>>;

    /// Returns the same forge as an identity that may only read and comment; `None` if the forge has no access rights.
    fn as_outsider(&self) -> impl Future<Output = Option<(Arc<dyn Forge>, Login)>>;

    /// Returns the tokens that must not appear in any error.
    fn secrets(&self) -> Vec<String>;
}

/// An open pull to act on.
#[derive(Clone, Debug)]
pub struct StagedPull {
    pub pull: PullNumber,
    pub head: Sha,
    /// Three lines of the diff that can be commented on.
    pub commentable_lines: [DiffLocation; 3],
    /// A line that cannot be commented on.
    pub missing_line: DiffLocation,
}

/// The number of objects that `fill_pages` created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreatedCounts {
    pub reviews: usize,
    pub threads: usize,
    pub comments: usize,
}
