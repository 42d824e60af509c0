//! Incremental reads: where little happened since an earlier read, a few requests are enough.
//!
//! | change since the earlier read | detected by |
//! |---|---|
//! | a push | the head |
//! | a new, deleted or dismissed review or comment, a label, a request, a reply | the pull's counters and `updated_at`, or a new row of the timeline |
//! | an edited summary or comment | the timeline since that read |
//! | a status | the statuses, which are always read |
//! | a resolved thread, an edited or new note | the comments of reviews with open threads, which are always read |
//! | a reopened thread in a review without another open one, an edit in it, a withdrawn dismissal | nothing: therefore everything is read again after `max_age` and before any write |
//!
//! Any change beyond an edited text leads to a complete read.

use std::collections::BTreeSet;

use referee_core::model::{Completeness, Login, PullNumber, Span, Time};

use super::pull_rows::PullRows;
use super::threads::group_conversations;
use super::{PullPart, run_concurrently};
use crate::gitea::GiteaForge;
use crate::gitea::account::GiteaAccount;
use crate::gitea::wire::{Event, Inline, Pull};
use crate::{ForgeError, Memento, Reuse};

/// How far the timeline is read back before the earlier read: rows are dated by the second, and a write takes time.
const TIMELINE_OVERLAP: Span = Span::from_minutes(1);

impl GiteaForge {
    /// Reads only what may have changed since `old`; `None` if a complete read is needed.
    pub(super) async fn reread_changes(
        &self,
        account: &GiteaAccount,
        old: PullRows,
        now: &PullRows,
        max_age: Span,
    ) -> Result<Option<PullRows>, ForgeError> {
        let number = PullNumber(now.pull.number);
        if now.taken_at - old.whole_at >= max_age || !differs_only_in_base(&old.pull, &now.pull) {
            return Ok(None);
        }
        let since = Time(old.taken_at.0 - TIMELINE_OVERLAP.0);
        let news = self.read_timeline(account, number, Some(since), 0, |_| true).await?;
        let Some(mut raw) = old.apply_edits(news.items).filter(|_| news.complete == Completeness::Complete) else {
            return Ok(None);
        };
        let open: Vec<u64> = raw.reviews_with_open_threads(&self.viewer().holds).into_iter().collect();
        let asked = open.iter().map(|review| self.read_review_comments(account, number, *review));
        for (review, rows) in open.iter().zip(run_concurrently(asked).await) {
            let same = match rows {
                Ok(rows) => raw.replace_comments(*review, rows),
                Err(ForgeError::NotFound(_)) => false,
                Err(error) => return Err(error),
            };
            if !same {
                return Ok(None);
            }
        }
        let statuses = self.read_statuses(account, &now.pull.head.sha).await;
        raw.statuses = raw.take_rows(PullPart::Other, statuses)?;
        (raw.pull, raw.taken_at) = (now.pull.clone(), now.taken_at);
        Ok(Some(raw))
    }
}

/// Returns whether two reads of a pull differ at most in what a push to its base changes.
pub(super) fn differs_only_in_base(old: &Pull, now: &Pull) -> bool {
    let mut old = old.clone();
    (old.mergeable, old.base.sha) = (now.mergeable, now.base.sha.clone());
    old == *now
}

impl PullRows {
    /// Restores the rows of an earlier read of that pull.
    pub(super) fn from_reuse(pull: PullNumber, reuse: Reuse<'_>) -> Option<Self> {
        let Reuse::Since { reads, .. } = reuse else { return None };
        let Memento(text) = reads.memento(pull)?;
        serde_json::from_str(&text).ok().filter(|rows: &Self| rows.pull.number == pull.0)
    }

    /// Returns the memento of this read; `None` if a list was cut off.
    pub(super) fn to_memento(&self) -> Option<Memento> {
        let complete = self.complete == Completeness::Complete;
        complete.then(|| serde_json::to_string(self).ok().map(Memento)).flatten()
    }

    /// Applies edits of texts; `None` if the rows show any other change.
    pub(super) fn apply_edits(mut self, news: Vec<Event>) -> Option<Self> {
        for event in news {
            let known = self.events.iter_mut().find(|known| known.id == event.id)?;
            let texts = matches!(event.kind.as_str(), "comment" | "review");
            let (body, updated_at) = (event.body.clone(), event.updated_at.clone());
            let same = Event { body, updated_at, ..known.clone() } == event;
            if *known != event && !(texts && same) {
                return None;
            }
            *known = event;
        }
        Some(self)
    }

    /// Returns the reviews that hold notes of unresolved threads.
    pub(super) fn reviews_with_open_threads(&self, own: &BTreeSet<Login>) -> BTreeSet<u64> {
        let threads = group_conversations(self, own);
        let open = threads.values().filter(|notes| notes.first().is_some_and(|root| root.resolver.is_none()));
        open.flatten().map(|note| note.pull_request_review_id).collect()
    }

    /// Replaces the comments of a review; returns whether their number is unchanged.
    pub(super) fn replace_comments(&mut self, review: u64, rows: Vec<Inline>) -> bool {
        let before = self.inline.len();
        self.inline.retain(|note| note.pull_request_review_id != review);
        let as_many = before - self.inline.len() == rows.len();
        self.inline.extend(rows);
        as_many
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use referee_core::model::Time;

    use super::{Event, Inline, Pull, PullRows, differs_only_in_base};
    use crate::gitea::wire::{Review, User};

    fn event(id: u64, kind: &str, body: &str) -> Event {
        Event { id, kind: kind.to_owned(), body: body.to_owned(), ..Event::default() }
    }

    fn raw() -> PullRows {
        let review = |id| Review { id, state: "COMMENT".to_owned(), body: "words".to_owned(), ..Review::default() };
        let note = |id, review, position, resolver| Inline {
            id,
            pull_request_review_id: review,
            position,
            resolver,
            ..Inline::default()
        };
        let by = || Some(User { id: 1, login: "human".to_owned() });
        PullRows {
            reviews: vec![review(1), review(2), review(3)],
            events: vec![event(10, "review", "first"), event(11, "label", "1"), event(12, "comment", "hm")],
            inline: vec![note(20, 1, 5, by()), note(21, 2, 5, None), note(22, 2, 6, by()), note(23, 3, 7, by())],
            ..PullRows::new(Pull::default(), Time(0))
        }
    }

    #[test]
    fn an_edited_text_is_updated_and_any_other_change_needs_a_full_read() {
        let edited =
            raw().apply_edits(vec![event(10, "review", "second"), event(11, "label", "1")]).expect("an edit only");
        assert_eq!(edited.events[0].body, "second");
        for news in [
            event(13, "comment", "new"),
            event(11, "label", ""),
            event(12, "review", "hm"),
            Event { review_id: 9, ..event(10, "review", "first") },
        ] {
            assert_eq!(raw().apply_edits(vec![news.clone()]), None, "{news:?}");
        }
    }

    #[test]
    fn reviews_with_open_threads_are_read_again_and_no_others() {
        assert_eq!(raw().reviews_with_open_threads(&BTreeSet::new()), [2].into());
        let mut raw = raw();
        let rows: Vec<Inline> = raw.inline[1..3].to_vec();
        let resolved = rows.iter().cloned().map(|row| Inline { resolver: raw.inline[0].resolver.clone(), ..row });
        assert!(raw.replace_comments(2, resolved.collect()), "as many as before");
        assert!(raw.reviews_with_open_threads(&BTreeSet::new()).is_empty(), "the resolution was noticed");
        assert!(!raw.replace_comments(2, rows[..1].to_vec()), "one was deleted");
    }

    #[test]
    fn a_push_to_the_base_alone_changes_nothing_in_a_pull() {
        let old = Pull { mergeable: true, ..Pull::default() };
        let mut now = Pull { mergeable: false, ..old.clone() };
        now.base.sha = "abc".to_owned();
        assert!(differs_only_in_base(&old, &now));
        for now in [
            Pull { comments: 1, ..now.clone() },
            Pull { review_comments: 1, ..now.clone() },
            Pull { updated_at: "2026-11-15T09:40:00Z".to_owned(), ..now.clone() },
            Pull { draft: true, ..now.clone() },
        ] {
            assert!(!differs_only_in_base(&old, &now), "{now:?}");
        }
    }
}
