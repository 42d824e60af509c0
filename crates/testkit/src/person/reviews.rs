//! Reviews, threads and comments: posting, editing, dismissing.

use referee_core::model::{CommentId, IssueNumber, NoteId, ReviewId, ReviewKind, Sha, ThreadId, Verdict};
use referee_core::plan::{CommentTarget, DiffLocation};
use referee_core::track::Side;
use referee_forge::ForgeError;

use super::WorldPerson;
use crate::world::{NewInlineComment, NewReview, ReplyMode};

impl WorldPerson {
    /// Approves the head.
    #[track_caller]
    pub fn approve(&self, text: &str) -> ReviewId {
        self.review(Verdict::Approve, &self.head(), text)
    }

    /// Requests changes at the head.
    #[track_caller]
    pub fn block(&self, text: &str) -> ReviewId {
        self.review(Verdict::RequestChanges, &self.head(), text)
    }

    /// Reviews without a verdict.
    #[track_caller]
    pub fn review_without_verdict(&self, text: &str) -> ReviewId {
        self.review(Verdict::Comment, &self.head(), text)
    }

    /// Reviews a commit, which may be older than the head.
    #[track_caller]
    pub fn review(&self, verdict: Verdict, commit: &Sha, text: &str) -> ReviewId {
        self.post_review(ReviewKind::Verdict(verdict), commit, text, &[]).0
    }

    /// Starts a review and never submits it.
    #[track_caller]
    pub fn leave_draft(&self, path: &str, line: u32, text: &str) -> ReviewId {
        let inline = [NewInlineComment { place: location_at(path, line, Side::New), text: text.to_owned() }];
        self.post_review(ReviewKind::Draft, &self.head(), "", &inline).0
    }

    /// Opens a thread on a line of the head.
    #[track_caller]
    pub fn open_thread(&self, path: &str, line: u32, text: &str) -> ThreadId {
        self.open_thread_on_side(Side::New, path, line, text)
    }

    /// Opens a thread on a line that the pull removes.
    #[track_caller]
    pub fn open_thread_on_old_line(&self, path: &str, line: u32, text: &str) -> ThreadId {
        self.open_thread_on_side(Side::Old, path, line, text)
    }

    /// Replies in a thread; through the web page where the API has no route for it.
    #[track_caller]
    pub fn reply(&self, thread: &ThreadId, text: &str) -> NoteId {
        self.act("reply", |repo, pull| {
            if repo.quirks.replies == ReplyMode::Wrapped {
                repo.wrap_reply(pull, &self.login)?;
            }
            repo.reply(pull, &self.login, thread, text)
        })
    }

    /// Resolves a thread; through the web page where the API has no route for it.
    #[track_caller]
    pub fn resolve(&self, thread: &ThreadId) {
        self.act("resolve", |repo, pull| repo.resolve(pull, &self.login, thread));
    }

    /// Reopens a resolved thread.
    #[track_caller]
    pub fn unresolve(&self, thread: &ThreadId) {
        self.act("reopen the thread", |repo, pull| repo.unresolve(pull, &self.login, thread));
    }

    /// Comments on the pull.
    #[track_caller]
    pub fn comment(&self, text: &str) -> CommentId {
        self.act("comment", |repo, pull| repo.add_comment(pull, CommentTarget::Pull, &self.login, text))
    }

    /// Comments on an issue.
    #[track_caller]
    pub fn comment_on_issue(&self, issue: IssueNumber, text: &str) -> CommentId {
        let no_pull = referee_core::model::PullNumber(0);
        let target = CommentTarget::Issue(issue);
        self.expect_ok(
            "comment",
            self.world.tick_and_change(|repo| repo.add_comment(no_pull, target, &self.login, text)),
        )
    }

    /// Edits a review's summary, of any author. Needs write access.
    #[track_caller]
    pub fn edit_review(&self, review: &ReviewId, text: &str) {
        self.act("edit the review", |repo, pull| repo.edit_review(pull, &self.login, review, text));
    }

    /// Edits a note, of any author. Needs write access.
    #[track_caller]
    pub fn edit_note(&self, note: &NoteId, text: &str) {
        self.act("edit the note", |repo, pull| repo.edit_note(pull, &self.login, note, text));
    }

    /// Edits a comment, of any author. Needs write access.
    #[track_caller]
    pub fn edit_comment(&self, comment: &CommentId, text: &str) {
        self.act("edit the comment", |repo, pull| {
            repo.edit_comment(pull, CommentTarget::Pull, &self.login, comment, text)
        });
    }

    /// Requests a review from a user, for the first time or again.
    #[track_caller]
    pub fn request_review(&self, login: &str) {
        self.act("request a review", |repo, pull| repo.request_review(pull, &self.login, &login.into()));
    }

    /// Withdraws a review request.
    #[track_caller]
    pub fn withdraw_request(&self, login: &str) {
        self.act("withdraw the request", |repo, pull| repo.withdraw_request(pull, &login.into()));
    }

    #[track_caller]
    pub fn dismiss(&self, review: &ReviewId) {
        self.act("dismiss", |repo, pull| repo.dismiss(pull, &self.login, review));
    }

    #[track_caller]
    fn open_thread_on_side(&self, side: Side, path: &str, line: u32, text: &str) -> ThreadId {
        let inline = [NewInlineComment { place: location_at(path, line, side), text: text.to_owned() }];
        let threads = self.post_review(ReviewKind::Wrapper, &self.head(), "", &inline).1;
        self.expect_ok("open a thread", threads.into_iter().next().ok_or("the post opened none"))
    }

    #[track_caller]
    fn post_review(
        &self,
        row: ReviewKind,
        commit: &Sha,
        text: &str,
        inline: &[NewInlineComment],
    ) -> (ReviewId, Vec<ThreadId>) {
        let post = NewReview { by: &self.login, row, commit, text, inline, interrupted: false };
        self.act("review", |repo, pull| {
            let posted = repo.post_review(pull, &post).map_err(|failed| failed.error)?;
            let review = posted.review.unwrap_or_else(|| ReviewId::from(""));
            Ok::<_, ForgeError>((review, posted.threads))
        })
    }
}

fn location_at(path: &str, line: u32, side: Side) -> DiffLocation {
    DiffLocation { path: path.to_owned(), line: Some(line), start_line: None, side }
}
