//! What people do on a local pull: `referee local` and nothing else calls this.

use referee_core::model::{CommentId, Login, NoteId, PullNumber, PullState, ReviewId, Sha, ThreadId, Verdict};
use referee_core::plan::DiffLocation;
use referee_core::track::Side;

use super::names::{comment_id, note_id, review_id, thread_id};
use super::writer::{LocalWriter, LocalWriterKind};
use super::{LocalError, LocalForge, commit_files, pulls};

/// A person acting on local pulls.
#[derive(Clone, Debug)]
pub struct LocalUser<'a> {
    pub(super) forge: &'a LocalForge,
    pub(super) by: Login,
}

impl LocalUser<'_> {
    /// Comments on the pull.
    pub fn comment(&self, pull: PullNumber, text: &str) -> Result<CommentId, LocalError> {
        check_not_empty(text)?;
        self.write_as_user(pull, |writer| writer.insert_comment(text)).map(comment_id)
    }

    /// Opens a thread on a line of the pull's head.
    pub fn open_thread(&self, pull: PullNumber, path: &str, line: u32, text: &str) -> Result<ThreadId, LocalError> {
        check_not_empty(text)?;
        let tip = self.forge.sync_and_resolve(pull)?;
        let place = DiffLocation { path: path.to_owned(), line: Some(line), start_line: None, side: Side::New };
        commit_files::check_locations(&self.forge.git, &tip.head, &tip.base_sha, &[&place])?;
        self.write_as_user(pull, |writer| writer.insert_thread(None, &place, &tip.head, text)).map(thread_id)
    }

    /// Replies in a thread.
    pub fn reply(&self, pull: PullNumber, thread: &ThreadId, text: &str) -> Result<NoteId, LocalError> {
        check_not_empty(text)?;
        self.write_as_user(pull, |writer| writer.insert_note(writer.find_thread_row(thread.as_str())?, text))
            .map(note_id)
    }

    /// Resolves a thread, unless it is resolved already.
    pub fn resolve_thread(&self, pull: PullNumber, thread: &ThreadId) -> Result<(), LocalError> {
        self.write_as_user(pull, |writer| writer.insert_resolution(writer.find_thread_row(thread.as_str())?)).map(drop)
    }

    /// Reopens a thread, unless it is open.
    pub fn reopen_thread(&self, pull: PullNumber, thread: &ThreadId) -> Result<(), LocalError> {
        self.write_as_user(pull, |writer| writer.undo_resolution(writer.find_thread_row(thread.as_str())?)).map(drop)
    }

    /// Approves the pull at its head.
    pub fn approve(&self, pull: PullNumber, text: &str) -> Result<ReviewId, LocalError> {
        self.post_review(pull, Verdict::Approve, text)
    }

    /// Requests changes at its head.
    pub fn request_changes(&self, pull: PullNumber, text: &str) -> Result<ReviewId, LocalError> {
        self.post_review(pull, Verdict::RequestChanges, text)
    }

    /// Closes the pull, unless it is closed already.
    pub fn close(&self, pull: PullNumber) -> Result<(), LocalError> {
        // A closed pull shows its last recorded head.
        self.forge.sync_pull(pull)?;
        self.set_state(pull, PullState::Closed)
    }

    /// Reopens a closed pull, which resets its rounds (LOOP-2).
    pub fn reopen(&self, pull: PullNumber) -> Result<(), LocalError> {
        self.set_state(pull, PullState::Open)
    }

    fn post_review(&self, pull: PullNumber, verdict: Verdict, text: &str) -> Result<ReviewId, LocalError> {
        let head: Sha = self.forge.sync_and_resolve(pull)?.head;
        self.write_as_user(pull, |writer| writer.insert_review(verdict, &head, text)).map(review_id)
    }

    fn set_state(&self, pull: PullNumber, state: PullState) -> Result<(), LocalError> {
        self.write_as_user(pull, |writer| pulls::set_state(writer.tx, pull, state, Some(&self.by), writer.at))
    }

    fn write_as_user<T>(
        &self,
        pull: PullNumber,
        write: impl FnOnce(&LocalWriter<'_>) -> Result<T, LocalError>,
    ) -> Result<T, LocalError> {
        if self.forge.identities.contains(&self.by) {
            let why = format!("nothing was written: `{}` is referee's own name, and people need another", self.by);
            return Err(LocalError::Refused(why));
        }
        self.forge.load_record(pull)?;
        self.forge.write(|tx| {
            write(&LocalWriter { tx, pull, by: &self.by, kind: LocalWriterKind::Person, at: (self.forge.now)() })
        })
    }
}

fn check_not_empty(text: &str) -> Result<(), LocalError> {
    match text.trim().is_empty() {
        true => Err(LocalError::Refused("nothing was written: the text is empty".to_owned())),
        false => Ok(()),
    }
}
