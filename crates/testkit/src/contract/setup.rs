use std::future::Future;

use referee_core::model::{CommentId, Login, PullNumber, ReviewId, Sha, ThreadId};
use referee_core::plan::DiffLocation;
use referee_forge::Forge;

/// Sets things up on the forge under test. Everything is done by somebody else than the identity under test; an
/// error is said in words and breaks the clause.
pub trait ContractSetup {
    /// The forge under test.
    type Forge: Forge;

    /// The forge under test, as an identity with write access.
    fn forge(&self) -> &Self::Forge;

    /// That identity.
    fn own_login(&self) -> Login;

    /// A new open pull by somebody else.
    fn open_pull(&self) -> impl Future<Output = Result<StagedPull, String>>;

    /// Moves the pull's head.
    fn push_commit(&self, pull: PullNumber) -> impl Future<Output = Result<Sha, String>>;

    /// A comment.
    fn post_comment(&self, pull: PullNumber, text: &str) -> impl Future<Output = Result<CommentId, String>>;

    /// A review without a verdict.
    fn post_review(&self, pull: PullNumber, text: &str) -> impl Future<Output = Result<ReviewId, String>>;

    /// A thread.
    fn open_thread(
        &self,
        pull: PullNumber,
        place: &DiffLocation,
        text: &str,
    ) -> impl Future<Output = Result<ThreadId, String>>;

    /// A label on the pull, which exists in the repository.
    fn add_label(&self, pull: PullNumber) -> impl Future<Output = Result<String, String>>;

    /// More of everything than one page of this forge holds.
    fn fill_pages(&self, staged: &StagedPull) -> impl Future<Output = Result<CreatedCounts, String>>;

    /// The forge under test with so low a bound that the next fetch of this pull hits it.
    fn with_low_limit(&self, pull: PullNumber) -> impl Future<Output = Option<Self::Forge>>;

    /// The same forge with a token that it does not accept.
    fn with_bad_token(&self) -> impl Future<Output = Option<Self::Forge>>;

    /// The same forge as an identity that may only read and comment.
    fn as_outsider(&self) -> impl Future<Output = Option<(Self::Forge, Login)>>;

    /// Tokens that must never show.
    fn secrets(&self) -> Vec<String>;
}

/// A pull to act on.
#[derive(Clone, Debug)]
pub struct StagedPull {
    /// Its number.
    pub pull: PullNumber,
    /// Its head.
    pub head: Sha,
    /// Three lines that can be commented on.
    pub commentable_lines: [DiffLocation; 3],
    /// A line that cannot.
    pub missing_line: DiffLocation,
}

/// How much was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreatedCounts {
    /// Reviews.
    pub reviews: usize,
    /// Threads.
    pub threads: usize,
    /// Comments.
    pub comments: usize,
}
