//! What a timeline tells besides reviews and comments, and the reactions that claims are made of.

use referee_core::model::{Login, PullNumber, ReviewId, Sha, Time};
use referee_forge::ForgeError;

use super::events::PushKind;
use super::rows::StoredRepo;

/// One line of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimelineEvent {
    /// Counted with the texts: a timeline is one list of both.
    pub(crate) id: String,
    pub(crate) by: Login,
    pub(crate) at: Time,
    pub(crate) kind: EventKind,
}

/// What somebody did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A push; a forced one names the old head and the new one.
    Pushed {
        forced: bool,
        commits: Vec<Sha>,
    },
    Labelled {
        name: String,
    },
    Unlabelled {
        name: String,
    },
    Requested {
        of: Login,
    },
    Dismissed {
        review: ReviewId,
    },
    Closed,
    Reopened,
}

/// One word of one user on a pull or an issue, which share their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredReaction {
    pub(crate) number: u64,
    pub(crate) by: Login,
    pub(crate) content: String,
    pub(crate) at: Time,
}

impl StoredRepo {
    pub(crate) fn record_event(&mut self, number: PullNumber, by: &Login, deed: EventKind) -> Result<(), ForgeError> {
        self.pull(number)?;
        let event = TimelineEvent { id: self.next_text_id(), by: by.clone(), at: self.now, kind: deed };
        self.pull_mut(number)?.events.push(event);
        Ok(())
    }

    /// Writes a push down, and takes earlier ones off where the forge does so.
    pub(super) fn record_push(&mut self, number: PullNumber, by: &Login, old: &Sha, kind: PushKind) {
        let (forced, forgets) = (kind == PushKind::Forced, self.quirks.force_push_forgets);
        let Ok(pull) = self.pull_mut(number) else { return };
        if forced && forgets {
            pull.events.retain(|event| !matches!(event.kind, EventKind::Pushed { .. }));
        }
        let head = pull.head.clone();
        let commits = if forced { vec![old.clone(), head] } else { vec![head] };
        // The pull is there: it was just looked at.
        drop(self.record_event(number, by, EventKind::Pushed { forced, commits }));
    }

    /// Makes a label that can be put on.
    pub(crate) fn create_label(&mut self, name: &str) {
        if self.labels.iter().all(|label| label != name) {
            self.labels.push(name.to_owned());
        }
    }

    /// Whether this word is new.
    pub(crate) fn add_reaction(&mut self, on: u64, by: &Login, word: &str) -> bool {
        let same = |row: &StoredReaction| row.number == on && row.by == *by && row.content == word;
        if self.reactions.iter().any(same) {
            return false;
        }
        self.reactions.push(StoredReaction { number: on, by: by.clone(), content: word.to_owned(), at: self.now });
        true
    }

    pub(crate) fn remove_reaction(&mut self, on: u64, by: &Login, word: &str) {
        self.reactions.retain(|row| row.number != on || row.by != *by || row.content != word);
    }
}
