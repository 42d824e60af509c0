//! Reviews, threads, comments, and changing them afterwards.

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

    /// Asks for changes at the head.
    #[track_caller]
    pub fn block(&self, text: &str) -> ReviewId {
        self.review(Verdict::RequestChanges, &self.head(), text)
    }

    /// Reviews without a verdict.
    #[track_caller]
    pub fn review_without_verdict(&self, text: &str) -> ReviewId {
        self.review(Verdict::Comment, &self.head(), text)
    }

    /// Reviews a commit that need not be the head any more.
    #[track_caller]
    pub fn review(&self, verdict: Verdict, commit: &Sha, text: &str) -> ReviewId {
        self.post_review(ReviewKind::Verdict(verdict), commit, text, &[]).0
    }

    /// Begins a review and never submits it.
    #[track_caller]
    pub fn leave_draft(&self, path: &str, line: u32, text: &str) -> ReviewId {
        let inline = [NewInlineComment { place: place_at(path, line, Side::New), text: text.to_owned() }];
        self.post_review(ReviewKind::Draft, &self.head(), "", &inline).0
    }

    /// Opens a thread on a line of the head.
    #[track_caller]
    pub fn open_thread(&self, path: &str, line: u32, text: &str) -> ThreadId {
        self.open_thread_on_side(Side::New, path, line, text)
    }

    /// Opens a thread on a line that the pull takes away.
    #[track_caller]
    pub fn open_thread_on_old_line(&self, path: &str, line: u32, text: &str) -> ThreadId {
        self.open_thread_on_side(Side::Old, path, line, text)
    }

    /// Replies in a thread, on the page where the interface cannot.
    #[track_caller]
    pub fn reply(&self, thread: &ThreadId, text: &str) -> NoteId {
        self.act("reply", |repo, pull| {
            if repo.quirks.replies == ReplyMode::Wrapped {
                repo.wrap_reply(pull, &self.login)?;
            }
            repo.reply(pull, &self.login, thread, text)
        })
    }

    /// Resolves a thread, on the page where the interface cannot.
    #[track_caller]
    pub fn resolve(&self, thread: &ThreadId) {
        self.act("resolve", |repo, pull| repo.resolve(pull, &self.login, thread));
    }

    /// Opens a resolved thread again.
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
        let nowhere = referee_core::model::PullNumber(0);
        let target = CommentTarget::Issue(issue);
        self.expect_ok(
            "comment",
            self.world.tick_and_change(|repo| repo.add_comment(nowhere, target, &self.login, text)),
        )
    }

    /// Changes a review's summary: anybody's, with write access.
    #[track_caller]
    pub fn edit_review(&self, review: &ReviewId, text: &str) {
        self.act("edit the review", |repo, pull| repo.edit_review(pull, &self.login, review, text));
    }

    /// Changes a note: anybody's, with write access.
    #[track_caller]
    pub fn edit_note(&self, note: &NoteId, text: &str) {
        self.act("edit the note", |repo, pull| repo.edit_note(pull, &self.login, note, text));
    }

    /// Changes a comment: anybody's, with write access.
    #[track_caller]
    pub fn edit_comment(&self, comment: &CommentId, text: &str) {
        self.act("edit the comment", |repo, pull| {
            repo.edit_comment(pull, CommentTarget::Pull, &self.login, comment, text)
        });
    }

    /// Asks somebody for a review, for the first time or again.
    #[track_caller]
    pub fn request_review(&self, of: &str) {
        self.act("ask for a review", |repo, pull| repo.request_review(pull, &self.login, &of.into()));
    }

    /// Takes that back.
    #[track_caller]
    pub fn withdraw_request(&self, of: &str) {
        self.act("withdraw the request", |repo, pull| repo.withdraw_request(pull, &of.into()));
    }

    /// Dismisses a review.
    #[track_caller]
    pub fn dismiss(&self, review: &ReviewId) {
        self.act("dismiss", |repo, pull| repo.dismiss(pull, &self.login, review));
    }

    #[track_caller]
    fn open_thread_on_side(&self, side: Side, path: &str, line: u32, text: &str) -> ThreadId {
        let inline = [NewInlineComment { place: place_at(path, line, side), text: text.to_owned() }];
        let threads = self.post_review(ReviewKind::Wrapper, &self.head(), "", &inline).1;
        self.expect_ok("open a thread", threads.into_iter().next().ok_or("none was made"))
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
            let posted = repo.post_review(pull, &post).map_err(|torn| torn.error)?;
            let review = posted.review.unwrap_or_else(|| ReviewId::from(""));
            Ok::<_, ForgeError>((review, posted.threads))
        })
    }
}

fn place_at(path: &str, line: u32, side: Side) -> DiffLocation {
    DiffLocation { path: path.to_owned(), line: Some(line), start_line: None, side }
}
