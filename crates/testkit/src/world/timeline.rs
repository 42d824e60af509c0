//! Timeline events other than reviews and comments, and the reactions that implement claims.

use referee_core::model::{Label, Login, PullNumber, ReviewId, Sha, Time};
use referee_forge::ForgeError;

use super::events::PushKind;
use super::rows::{StoredPull, StoredRepo};

/// One event of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimelineEvent {
    /// Shares its numbering with comments, because a timeline lists both.
    pub(crate) id: String,
    pub(crate) by: Login,
    pub(crate) at: Time,
    pub(crate) kind: EventKind,
}

/// The kind of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A forced push carries the old and the new head.
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

impl StoredPull {
    /// Returns the labels that somebody removed and nobody added again.
    pub(crate) fn removed_labels(&self) -> Vec<Label> {
        let mut removed: Vec<Label> = Vec::new();
        for event in &self.events {
            match &event.kind {
                EventKind::Labelled { name } => removed.retain(|label| label.name != *name),
                EventKind::Unlabelled { name } => {
                    removed.retain(|label| label.name != *name);
                    removed.push(Label { name: name.clone(), by: Some(event.by.clone()), at: Some(event.at) });
                }
                _ => {}
            }
        }
        removed
    }
}

/// A reaction of a user to a pull or an issue, which share their numbering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredReaction {
    pub(crate) number: u64,
    pub(crate) by: Login,
    pub(crate) content: String,
    pub(crate) at: Time,
}

impl StoredRepo {
    pub(crate) fn record_event(&mut self, number: PullNumber, by: &Login, kind: EventKind) -> Result<(), ForgeError> {
        self.pull(number)?;
        let event = TimelineEvent { id: self.next_text_id(), by: by.clone(), at: self.now, kind };
        self.pull_mut(number)?.events.push(event);
        Ok(())
    }

    /// Records a push, and removes earlier ones where the forge does so.
    pub(super) fn record_push(&mut self, number: PullNumber, by: &Login, old: &Sha, kind: PushKind) {
        let (forced, forgets) = (kind == PushKind::Forced, self.quirks.force_push_forgets);
        let Ok(pull) = self.pull_mut(number) else { return };
        if forced && forgets {
            pull.events.retain(|event| !matches!(event.kind, EventKind::Pushed { .. }));
        }
        let head = pull.head.clone();
        let commits = if forced { vec![old.clone(), head] } else { vec![head] };
        // The pull exists: it was just changed.
        drop(self.record_event(number, by, EventKind::Pushed { forced, commits }));
    }

    /// Creates a label in the repository.
    pub(crate) fn create_label(&mut self, name: &str) {
        if self.labels.iter().all(|label| label != name) {
            self.labels.push(name.to_owned());
        }
    }

    /// Adds a reaction and returns whether it is new.
    pub(crate) fn add_reaction(&mut self, number: u64, by: &Login, content: &str) -> bool {
        let same = |row: &StoredReaction| row.number == number && row.by == *by && row.content == content;
        if self.reactions.iter().any(same) {
            return false;
        }
        self.reactions.push(StoredReaction { number, by: by.clone(), content: content.to_owned(), at: self.now });
        true
    }

    pub(crate) fn remove_reaction(&mut self, number: u64, by: &Login, content: &str) {
        self.reactions.retain(|row| row.number != number || row.by != *by || row.content != content);
    }
}
