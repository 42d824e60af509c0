//! Editing a summary in place, through its row in the timeline.

use referee_core::hash::Hash;
use referee_core::model::{EditId, ReviewId};
use referee_core::plan::Precondition;
use serde_json::json;

use super::{GiteaWriter, parse_id};
use crate::gitea::pages::PAGE_SIZE;
use crate::gitea::routes;
use crate::gitea::wire::Event;
use crate::{CreatedIds, ForgeError, PerformOutcome};

/// Consecutive empty pages that end the timeline. A single one does not: the server filters out inline comments after
/// paging.
const MAX_EMPTY_PAGES: usize = 8;

impl GiteaWriter<'_> {
    pub(super) async fn edit_review(
        &self,
        review: &ReviewId,
        edit: &EditId,
        text: &str,
        expect: &Precondition,
    ) -> Result<PerformOutcome, ForgeError> {
        let row = self.find_summary_event(review, edit).await?;
        self.check_author(row.user.as_ref())?;
        if row.body == text {
            return Ok(PerformOutcome::AlreadySo);
        }
        if matches!(expect, Precondition::OwnText { seen, .. } if *seen != Hash::digest_visible_text(&row.body)) {
            return Err(ForgeError::Conflict("the text".to_owned()));
        }
        self.edit_text(row.id, text).await?;
        Ok(PerformOutcome::Done(CreatedIds { review: Some(review.clone()), ..CreatedIds::default() }))
    }

    /// Replaces a text. The caller has checked that this identity wrote it.
    pub(super) async fn edit_text(&self, comment: u64, text: &str) -> Result<(), ForgeError> {
        let call = self.forge.repo_request(&routes::EDIT_COMMENT, [&comment]).with_body(json!({ "body": text }));
        self.account.send(&call, &self.describe("a text")).await.map(drop)
    }

    /// Finds the timeline row of a review's summary: the only place with its current text.
    async fn find_summary_event(&self, review: &ReviewId, edit: &EditId) -> Result<Event, ForgeError> {
        let (review, edit) = (parse_id(review.as_str())?, parse_id(edit.as_str())?);
        let is_it = |event: &Event| event.id == edit && event.kind == "review" && event.review_id == review;
        let (mut page, mut empty) = (1, 0);
        while empty < MAX_EMPTY_PAGES {
            let call = self
                .forge
                .repo_request(&routes::TIMELINE, [&self.pull.0])
                .with_query("page", page)
                .with_query("limit", PAGE_SIZE);
            let events: Vec<Event> = self.account.send_and_parse(&call, &self.describe("the timeline")).await?;
            empty = if events.is_empty() { empty + 1 } else { 0 };
            if let Some(found) = events.into_iter().find(is_it) {
                return Ok(found);
            }
            page += 1;
        }
        Err(ForgeError::NotFound(format!("review {review}")))
    }
}
