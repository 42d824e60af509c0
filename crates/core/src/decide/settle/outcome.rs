//! The outcomes of answers, as they are stored (FIX-9): without text, the newest ones only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Class, NoteId, Sha, ThreadId};

/// The number of outcomes stored per pull.
pub const MAX_STORED_OUTCOMES: usize = 200;

/// The outcome of the answer to one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadOutcome {
    pub thread: ThreadId,
    pub class: Class,
    /// The head when the answer was given.
    pub head: Sha,
    /// The note that the reply answers.
    pub answers: Option<NoteId>,
    pub reply: AnswerResult,
    pub resolve: AnswerResult,
}

/// The result of one reply or resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerResult {
    /// A rule refused it.
    Refused,
    /// The forge or the token cannot do it. Not a failure.
    NotPermitted,
    /// It was done before. A success.
    Already,
    /// It is in the plan.
    Planned,
    /// A gate was closed.
    Withheld,
    Done,
    /// Referee's root note is marked, because the forge cannot resolve (FIX-12).
    MarkedInText,
    /// The forge refused it or could not be reached.
    Failed,
}

/// Adds fresh outcomes to the stored ones and keeps the newest [`MAX_STORED_OUTCOMES`].
pub fn append_outcomes(
    mut stored: Vec<ThreadOutcome>,
    fresh: impl IntoIterator<Item = ThreadOutcome>,
) -> Vec<ThreadOutcome> {
    stored.extend(fresh);
    let old = stored.len().saturating_sub(MAX_STORED_OUTCOMES);
    stored.drain(..old);
    stored
}

impl ThreadOutcome {
    /// Replaces planned results by what happened when the plan was applied.
    #[must_use]
    pub fn with_applied(mut self, reply: Option<AnswerResult>, resolve: Option<AnswerResult>) -> Self {
        let update = |result: &mut AnswerResult, new: Option<AnswerResult>| {
            if let (AnswerResult::Planned, Some(new)) = (*result, new) {
                *result = new;
            }
        };
        update(&mut self.reply, reply);
        update(&mut self.resolve, resolve);
        self
    }
}
