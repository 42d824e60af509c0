//! Editing a summary in place, through its row in the timeline.

use referee_core::hash::Hash;
use referee_core::model::{EditId, ReviewId};
use referee_core::plan::Expect;
use serde_json::json;

use super::{Pen, id};
use crate::gitea::pages::PAGE;
use crate::gitea::routes;
use crate::gitea::wire::Event;
use crate::{ForgeError, Made, Performed};

/// So many empty pages on end are the timeline's end. One alone is not: inline comments are taken out after paging.
const EMPTY_PAGES: usize = 8;

impl Pen<'_> {
    pub(super) async fn edit_review(
        &self,
        review: &ReviewId,
        edit: &EditId,
        text: &str,
        expect: &Expect,
    ) -> Result<Performed, ForgeError> {
        let row = self.summary(review, edit).await?;
        self.wrote(row.user.as_ref())?;
        if row.body == text {
            return Ok(Performed::AlreadySo);
        }
        if matches!(expect, Expect::OwnText { seen, .. } if *seen != Hash::of_words(&row.body)) {
            return Err(ForgeError::Moved("the text".to_owned()));
        }
        self.rewrite(row.id, text).await?;
        Ok(Performed::Done(Made { review: Some(review.clone()), ..Made::default() }))
    }

    /// Gives a text of this identity other words. Whoever calls has looked whose they are.
    pub(super) async fn rewrite(&self, comment: u64, text: &str) -> Result<(), ForgeError> {
        let call = self.forge.call(&routes::EDIT_COMMENT, [&comment]).sending(json!({ "body": text }));
        self.hand.ask(&call, &self.what("a text")).await.map(drop)
    }

    /// The row of a review's summary: the server has no other way to read its current words.
    async fn summary(&self, review: &ReviewId, edit: &EditId) -> Result<Event, ForgeError> {
        let (review, edit) = (id(review.as_str())?, id(edit.as_str())?);
        let is_it = |event: &Event| event.id == edit && event.kind == "review" && event.review_id == review;
        let (mut page, mut empty) = (1, 0);
        while empty < EMPTY_PAGES {
            let call = self.forge.call(&routes::TIMELINE, [&self.pull.0]).with("page", page).with("limit", PAGE);
            let events: Vec<Event> = self.hand.read(&call, &self.what("the timeline")).await?;
            empty = if events.is_empty() { empty + 1 } else { 0 };
            if let Some(found) = events.into_iter().find(is_it) {
                return Ok(found);
            }
            page += 1;
        }
        Err(ForgeError::NotFound(format!("review {review}")))
    }
}
