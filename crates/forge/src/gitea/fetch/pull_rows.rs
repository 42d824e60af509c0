//! A pull as the server's rows, before they are interpreted.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::model::{Completeness, Login, Time, Viewer};
use serde::{Deserialize, Serialize};

use super::access::WriteAccess;
use super::{checks, pull, reviews, threads};
use crate::FetchedPull;
use crate::gitea::GiteaServerInfo;
use crate::gitea::wire::{self, Event, Inline, Pull, Review, Status, User};

/// The server's rows of a pull. A memento is their JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PullRows {
    pub(super) taken_at: Time,
    /// When everything was read; later than that, only parts were.
    pub(super) whole_at: Time,
    /// When this machine first saw the head.
    pub(super) head_seen: Time,
    pub(super) complete: Completeness,
    pub(super) pull: Pull,
    pub(super) reviews: Vec<Review>,
    pub(super) events: Vec<Event>,
    pub(super) inline: Vec<Inline>,
    pub(super) statuses: Vec<Status>,
    /// The assignable users, none where the token may not read them; `None` if they were not read.
    pub(super) assignees: Option<Vec<User>>,
}

impl PullRows {
    pub(super) fn new(pull: Pull, taken_at: Time) -> Self {
        Self {
            taken_at,
            whole_at: taken_at,
            head_seen: taken_at,
            complete: Completeness::Complete,
            pull,
            reviews: Vec::new(),
            events: Vec::new(),
            inline: Vec::new(),
            statuses: Vec::new(),
            assignees: None,
        }
    }

    pub(super) fn to_fetched(&self, server: &GiteaServerInfo, viewer: Viewer) -> FetchedPull {
        let people = WriteAccess::from_rows(self, &viewer.login);
        let reviews = reviews::build_reviews(self, &people, &viewer.login);
        FetchedPull {
            taken_at: self.taken_at,
            capabilities: server.capabilities.clone(),
            complete: self.judge_completeness(&viewer),
            is_fresh: true,
            head_read_last: false,
            pull: pull::build_pull(self, &people, server.flavour),
            threads: threads::build_threads(self, &people, &viewer, &server.capabilities),
            comments: reviews::build_comments(self, &people),
            checks: checks::build_checks(&self.statuses),
            reviews,
            lease: None,
            memento: self.to_memento(),
            viewer,
        }
    }

    /// Returns how complete the read is. The current text of a review is in the timeline, so the own reviews are read if
    /// their rows there are.
    fn judge_completeness(&self, viewer: &Viewer) -> Completeness {
        let is_own = |row: &Review| wire::login(row.user.as_ref()).is_some_and(|login| viewer.holds.contains(&login));
        let has_text = |row: &Review| self.events.iter().any(|event| event.holds_text_of(row));
        match &self.complete {
            Completeness::Truncated { what, own_reviews_read: true } => {
                let mut own = self.reviews.iter().filter(|row| row.is_submitted() && is_own(row));
                Completeness::Truncated { what: what.clone(), own_reviews_read: own.all(has_text) }
            }
            other => other.clone(),
        }
    }

    /// Returns whether every review of the timeline is in the list. The timeline also shows the drafts of other people,
    /// one for each of them, which the list hides and counts.
    pub(super) fn lists_shown_reviews(&self, reader: &Login, hidden_drafts: usize) -> bool {
        let listed: BTreeSet<u64> = self.reviews.iter().map(|row| row.id).collect();
        let shown = self.events.iter().filter(|event| event.kind == "review");
        let missing = shown.filter(|event| !listed.contains(&event.review_id));
        let missing: BTreeMap<u64, Option<Login>> =
            missing.map(|event| (event.review_id, wire::login(event.user.as_ref()))).collect();
        let authors: BTreeSet<&Option<Login>> = missing.values().collect();
        missing.len() <= hidden_drafts && missing.len() == authors.len() && !authors.contains(&Some(reader.clone()))
    }

    /// Returns whether the timeline has a row for each submitted review and each label.
    pub(super) fn has_expected_events(&self, events: &[Event]) -> bool {
        let submitted = self.reviews.iter().filter(|review| review.is_submitted());
        let labels = self.pull.labels.iter();
        submitted.clone().all(|review| events.iter().any(|event| event.holds_text_of(review)))
            && labels.clone().all(|label| events.iter().any(|event| event.adds_label(label)))
    }
}

impl Review {
    /// Returns whether this is neither a draft nor a request.
    pub(super) fn is_submitted(&self) -> bool {
        !matches!(self.state.as_str(), "PENDING" | "REQUEST_REVIEW")
    }
}

impl Event {
    /// Returns whether this row holds the review's current text.
    pub(super) fn holds_text_of(&self, review: &Review) -> bool {
        self.kind == "review" && self.review_id == review.id
    }

    /// Returns whether this row added the label.
    pub(super) fn adds_label(&self, label: &wire::Label) -> bool {
        self.kind == "label" && self.body == "1" && self.label.as_ref().is_some_and(|it| it.id == label.id)
    }
}
