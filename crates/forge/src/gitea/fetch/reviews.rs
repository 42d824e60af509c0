//! Reviews as they are now, and comments.

use referee_core::model::{Comment, CommentId, Counts, EditId, Login, Review, ReviewId, Row, Sha, Text, Time, Verdict};

use super::people::People;
use super::pull::{edited, last_request};
use super::raw::Raw;
use crate::gitea::wire::{self, Event, login, time};

pub(super) fn told(raw: &Raw, people: &People, reader: &Login) -> Vec<Review> {
    let mut rows: Vec<&wire::Review> = raw.reviews.iter().filter(|row| is_shown(row, reader)).collect();
    rows.sort_by_key(|row| row.id);
    rows.into_iter().map(|row| review(raw, people, row)).collect()
}

/// Top-level comments.
pub(super) fn comments(raw: &Raw, people: &People) -> Vec<Comment> {
    let rows = raw.events.iter().filter(|event| event.kind == "comment");
    rows.map(|event| Comment {
        id: CommentId(event.id.to_string()),
        author: people.author(event.user.as_ref()),
        at: time(&event.created_at),
        edited: edited(&event.created_at, &event.updated_at),
        text: Text::unread(event.body.as_str()),
        url: event.html_url.clone(),
    })
    .collect()
}

/// Requests are told apart. Another's draft is shown to the server's administrators only, and is nobody's business.
fn is_shown(row: &wire::Review, reader: &Login) -> bool {
    row.is_submitted() || is_draft_of(row, reader)
}

fn is_draft_of(row: &wire::Review, reader: &Login) -> bool {
    row.state == "PENDING" && login(row.user.as_ref()).as_ref() == Some(reader)
}

fn review(raw: &Raw, people: &People, row: &wire::Review) -> Review {
    // A draft with words has a row of its own, and another one once it is submitted.
    let event = raw.events.iter().rfind(|event| event.is_of(row));
    let text = event.map_or(row.body.as_str(), |event| event.body.as_str());
    Review {
        id: ReviewId(row.id.to_string()),
        edit: event.filter(|_| row.is_submitted()).map(|event| EditId(event.id.to_string())),
        author: people.author(row.user.as_ref()),
        row: kind(row, text),
        text: Text::unread(text),
        commit: (!row.commit_id.is_empty()).then(|| Sha(row.commit_id.clone())),
        at: time(&row.submitted_at),
        counts: counts(raw, people, row),
        url: event.map_or(row.html_url.as_str(), |event| event.html_url.as_str()).to_owned(),
    }
}

/// An empty comment is what the server puts around inline comments that came alone.
fn kind(row: &wire::Review, text: &str) -> Row {
    match verdict(row) {
        Some(verdict) => Row::Verdict(verdict),
        None if row.state == "PENDING" => Row::Draft,
        None if text.trim().is_empty() || text == wire::AROUND_DRAFT => Row::Wrapper,
        None => Row::Verdict(Verdict::Comment),
    }
}

fn verdict(row: &wire::Review) -> Option<Verdict> {
    match row.state.as_str() {
        "APPROVED" => Some(Verdict::Approve),
        "REQUEST_CHANGES" => Some(Verdict::RequestChanges),
        _ => None,
    }
}

/// | `official` | `dismissed` | and | counts |
/// |---|---|---|---|
/// | yes | no | | yes |
/// | any | any | a newer verdict of the same user | replaced: servers then clear one flag or set the other |
/// | yes | yes | | dismissed, by whom the timeline says |
/// | no | any | the user's review was asked for again since | requested |
/// | no | any | | no: the user has no right |
fn counts(raw: &Raw, people: &People, row: &wire::Review) -> Counts {
    let user = login(row.user.as_ref());
    let newer = |other: &wire::Review| {
        verdict(other).is_some() && other.id > row.id && login(other.user.as_ref()) == user && user.is_some()
    };
    match (row.official, row.dismissed) {
        _ if verdict(row).is_none() => Counts::No,
        (true, false) => Counts::Yes,
        _ if raw.reviews.iter().any(newer) => Counts::Replaced,
        (true, true) => dismissal(raw, people, row),
        (false, _) if user.is_some_and(|user| asked_again(raw, row, &user)) => Counts::Requested,
        (false, _) => Counts::No,
    }
}

/// What the server writes into the row of a dismissal that a push caused. It then names whoever pushed.
const BY_ITSELF: &str = "dismissed automatically according to repository settings";

fn dismissal(raw: &Raw, people: &People, row: &wire::Review) -> Counts {
    let mut rows = raw.events.iter().rev();
    let Some(event) = rows.find(|event| event.kind == "dismiss_review" && event.review_id == row.id) else {
        return Counts::Dismissed { by: None, at: time(&row.updated_at) };
    };
    let by = (!event.body.contains(BY_ITSELF)).then(|| people.author(event.user.as_ref()));
    Counts::Dismissed { by, at: time(&event.created_at) }
}

/// A request goes away with the user's next review, a comment too, and leaves the older verdict without its weight: so
/// the timeline is asked as well.
fn asked_again(raw: &Raw, row: &wire::Review, user: &Login) -> bool {
    let open = |it: &wire::Review| it.state == "REQUEST_REVIEW" && login(it.user.as_ref()).as_ref() == Some(user);
    let since = |event: &Event| -> bool {
        let (asked, posted): (Time, Time) = (time(&event.created_at), time(&row.submitted_at));
        !event.removed_assignee && asked >= posted
    };
    raw.reviews.iter().any(open) || last_request(&raw.events, user).is_some_and(since)
}
