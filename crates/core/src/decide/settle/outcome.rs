//! What became of each answer, as it is kept (FIX-9): no words of anybody, newest kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Class, NoteId, Sha, ThreadId};

/// How many outcomes a pull keeps.
pub const MAX_STORED_OUTCOMES: usize = 200;

/// What became of the answer to one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadOutcome {
    /// Which thread.
    pub thread: ThreadId,
    /// What it was taken for.
    pub class: Class,
    /// At which head.
    pub head: Sha,
    /// The note that the reply answers.
    pub answers: Option<NoteId>,
    /// What became of the reply.
    pub reply: AnswerResult,
    /// What became of the resolution.
    pub resolve: AnswerResult,
}

/// What became of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerResult {
    /// A rule said no.
    Refused,
    /// The forge or the token cannot do it, which is no failure.
    NotPermitted,
    /// It was so before, which is success.
    Already,
    /// It is in the plan.
    Planned,
    /// A gate was shut.
    Withheld,
    /// It was done.
    Done,
    /// The own root says so, where the forge cannot (FIX-12).
    MarkedInText,
    /// It was tried and did not happen.
    Failed,
}

/// Adds fresh outcomes to the stored ones and keeps the newest `KEPT`.
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
    /// The same once the plan was applied. Only what was planned can change.
    #[must_use]
    pub fn with_applied(mut self, reply: Option<AnswerResult>, resolve: Option<AnswerResult>) -> Self {
        let became = |fate: &mut AnswerResult, new: Option<AnswerResult>| {
            if let (AnswerResult::Planned, Some(new)) = (*fate, new) {
                *fate = new;
            }
        };
        became(&mut self.reply, reply);
        became(&mut self.resolve, resolve);
        self
    }
}
