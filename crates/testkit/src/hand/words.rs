//! Reviews, threads, comments, and changing them afterwards.

use referee_core::model::{CommentId, IssueNumber, NoteId, ReviewId, Row, Sha, ThreadId, Verdict};
use referee_core::plan::{Place, Target};
use referee_core::track::Side;
use referee_forge::ForgeError;

use super::Person;
use crate::world::{Inline, Post, Replies};

impl Person {
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
    pub fn remark(&self, text: &str) -> ReviewId {
        self.review(Verdict::Comment, &self.head(), text)
    }

    /// Reviews a commit that need not be the head any more.
    #[track_caller]
    pub fn review(&self, verdict: Verdict, commit: &Sha, text: &str) -> ReviewId {
        self.post(Row::Verdict(verdict), commit, text, &[]).0
    }

    /// Begins a review and never submits it.
    #[track_caller]
    pub fn leave_draft(&self, path: &str, line: u32, text: &str) -> ReviewId {
        let inline = [Inline { place: place(path, line, Side::New), text: text.to_owned() }];
        self.post(Row::Draft, &self.head(), "", &inline).0
    }

    /// Opens a thread on a line of the head.
    #[track_caller]
    pub fn note(&self, path: &str, line: u32, text: &str) -> ThreadId {
        self.note_on(Side::New, path, line, text)
    }

    /// Opens a thread on a line that the pull takes away.
    #[track_caller]
    pub fn note_before(&self, path: &str, line: u32, text: &str) -> ThreadId {
        self.note_on(Side::Old, path, line, text)
    }

    /// Replies in a thread, on the page where the interface cannot.
    #[track_caller]
    pub fn reply(&self, thread: &ThreadId, text: &str) -> NoteId {
        self.deed("reply", |repo, pull| {
            if repo.quirks.replies == Replies::Wrapped {
                repo.wrap(pull, &self.login)?;
            }
            repo.reply(pull, &self.login, thread, text)
        })
    }

    /// Resolves a thread, on the page where the interface cannot.
    #[track_caller]
    pub fn resolve(&self, thread: &ThreadId) {
        self.deed("resolve", |repo, pull| repo.resolve(pull, &self.login, thread));
    }

    /// Opens a resolved thread again.
    #[track_caller]
    pub fn unresolve(&self, thread: &ThreadId) {
        self.deed("reopen the thread", |repo, pull| repo.unresolve(pull, &self.login, thread));
    }

    /// Comments on the pull.
    #[track_caller]
    pub fn comment(&self, text: &str) -> CommentId {
        self.deed("comment", |repo, pull| repo.comment(pull, Target::Pull, &self.login, text))
    }

    /// Comments on an issue.
    #[track_caller]
    pub fn comment_issue(&self, issue: IssueNumber, text: &str) -> CommentId {
        let nowhere = referee_core::model::PullNumber(0);
        let target = Target::Issue(issue);
        self.sure("comment", self.world.deed(|repo| repo.comment(nowhere, target, &self.login, text)))
    }

    /// Changes a review's summary: anybody's, with write access.
    #[track_caller]
    pub fn edit_review(&self, review: &ReviewId, text: &str) {
        self.deed("edit the review", |repo, pull| repo.edit_review(pull, &self.login, review, text));
    }

    /// Changes a note: anybody's, with write access.
    #[track_caller]
    pub fn edit_note(&self, note: &NoteId, text: &str) {
        self.deed("edit the note", |repo, pull| repo.edit_note(pull, &self.login, note, text));
    }

    /// Changes a comment: anybody's, with write access.
    #[track_caller]
    pub fn edit_comment(&self, comment: &CommentId, text: &str) {
        self.deed("edit the comment", |repo, pull| repo.edit_comment(pull, Target::Pull, &self.login, comment, text));
    }

    /// Asks somebody for a review, for the first time or again.
    #[track_caller]
    pub fn request(&self, of: &str) {
        self.deed("ask for a review", |repo, pull| repo.request(pull, &self.login, &of.into()));
    }

    /// Takes that back.
    #[track_caller]
    pub fn withdraw(&self, of: &str) {
        self.deed("withdraw the request", |repo, pull| repo.withdraw(pull, &of.into()));
    }

    /// Dismisses a review.
    #[track_caller]
    pub fn dismiss(&self, review: &ReviewId) {
        self.deed("dismiss", |repo, pull| repo.dismiss(pull, &self.login, review));
    }

    #[track_caller]
    fn note_on(&self, side: Side, path: &str, line: u32, text: &str) -> ThreadId {
        let inline = [Inline { place: place(path, line, side), text: text.to_owned() }];
        let threads = self.post(Row::Wrapper, &self.head(), "", &inline).1;
        self.sure("open a thread", threads.into_iter().next().ok_or("none was made"))
    }

    #[track_caller]
    fn post(&self, row: Row, commit: &Sha, text: &str, inline: &[Inline]) -> (ReviewId, Vec<ThreadId>) {
        let post = Post { by: &self.login, row, commit, text, inline, torn: false };
        self.deed("review", |repo, pull| {
            let posted = repo.post(pull, &post).map_err(|torn| torn.error)?;
            let review = posted.review.unwrap_or_else(|| ReviewId::from(""));
            Ok::<_, ForgeError>((review, posted.threads))
        })
    }
}

fn place(path: &str, line: u32, side: Side) -> Place {
    Place { path: path.to_owned(), line: Some(line), start_line: None, side }
}
