//! What a timeline tells besides reviews and comments, and the reactions that claims are made of.

use referee_core::model::{Login, PullNumber, ReviewId, Sha, Time};
use referee_forge::ForgeError;

use super::events::PushKind;
use super::rows::Repo;

/// One line of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Counted with the texts: a timeline is one list of both.
    pub(crate) id: String,
    pub(crate) by: Login,
    pub(crate) at: Time,
    pub(crate) deed: Deed,
}

/// What somebody did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
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
pub(crate) struct Reaction {
    pub(crate) on: u64,
    pub(crate) by: Login,
    pub(crate) word: String,
    pub(crate) at: Time,
}

impl Repo {
    pub(crate) fn record(&mut self, number: PullNumber, by: &Login, deed: Deed) -> Result<(), ForgeError> {
        self.pull(number)?;
        let event = Event { id: self.next_text(), by: by.clone(), at: self.now, deed };
        self.pull_mut(number)?.events.push(event);
        Ok(())
    }

    /// Writes a push down, and takes earlier ones off where the forge does so.
    pub(super) fn record_push(&mut self, number: PullNumber, by: &Login, old: &Sha, kind: PushKind) {
        let (forced, forgets) = (kind == PushKind::Forced, self.quirks.force_push_forgets);
        let Ok(pull) = self.pull_mut(number) else { return };
        if forced && forgets {
            pull.events.retain(|event| !matches!(event.deed, Deed::Pushed { .. }));
        }
        let head = pull.head.clone();
        let commits = if forced { vec![old.clone(), head] } else { vec![head] };
        // The pull is there: it was just looked at.
        drop(self.record(number, by, Deed::Pushed { forced, commits }));
    }

    /// Makes a label that can be put on.
    pub(crate) fn offer_label(&mut self, name: &str) {
        if self.labels.iter().all(|label| label != name) {
            self.labels.push(name.to_owned());
        }
    }

    /// Whether this word is new.
    pub(crate) fn react(&mut self, on: u64, by: &Login, word: &str) -> bool {
        let same = |row: &Reaction| row.on == on && row.by == *by && row.word == word;
        if self.reactions.iter().any(same) {
            return false;
        }
        self.reactions.push(Reaction { on, by: by.clone(), word: word.to_owned(), at: self.now });
        true
    }

    pub(crate) fn unreact(&mut self, on: u64, by: &Login, word: &str) {
        self.reactions.retain(|row| row.on != on || row.by != *by || row.word != word);
    }
}
