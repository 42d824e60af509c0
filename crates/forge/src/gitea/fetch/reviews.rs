//! Reviews with their current texts, and comments.

use referee_core::model::{
    Comment, CommentId, EditId, Login, Review, ReviewId, ReviewKind, ReviewWeight, Sha, Text, Time, Verdict,
};

use super::access::WriteAccess;
use super::pull::{find_last_request, is_edited};
use super::pull_rows::PullRows;
use crate::gitea::wire::{self, Event, login, parse_time};

pub(super) fn build_reviews(raw: &PullRows, people: &WriteAccess, reader: &Login) -> Vec<Review> {
    let mut rows: Vec<&wire::Review> = raw.reviews.iter().filter(|row| is_visible(row, reader)).collect();
    rows.sort_by_key(|row| row.id);
    rows.into_iter().map(|row| build_review(raw, people, row)).collect()
}

pub(super) fn build_comments(raw: &PullRows, people: &WriteAccess) -> Vec<Comment> {
    let rows = raw.events.iter().filter(|event| event.kind == "comment");
    rows.map(|event| Comment {
        id: CommentId(event.id.to_string()),
        author: people.to_author(event.user.as_ref()),
        at: parse_time(&event.created_at),
        edited: is_edited(&event.created_at, &event.updated_at),
        text: Text::from_untrusted_body(&event.body),
        url: event.html_url.clone(),
    })
    .collect()
}

/// Returns whether a row is a review. Requests are handled separately; other people's drafts, which administrators of the
/// server see, are ignored.
fn is_visible(row: &wire::Review, reader: &Login) -> bool {
    row.is_submitted() || is_draft_of(row, reader)
}

fn is_draft_of(row: &wire::Review, reader: &Login) -> bool {
    row.state == "PENDING" && login(row.user.as_ref()).as_ref() == Some(reader)
}

fn build_review(raw: &PullRows, people: &WriteAccess, row: &wire::Review) -> Review {
    // A draft with a body has its own row, and a second one once it is submitted: the last one counts.
    let event = raw.events.iter().rfind(|event| event.holds_text_of(row));
    let text = event.map_or(row.body.as_str(), |event| event.body.as_str());
    Review {
        id: ReviewId(row.id.to_string()),
        edit: event.filter(|_| row.is_submitted()).map(|event| EditId(event.id.to_string())),
        author: people.to_author(row.user.as_ref()),
        row: classify_row(row, text),
        text: Text::from_untrusted_body(text),
        commit: (!row.commit_id.is_empty()).then(|| Sha(row.commit_id.clone())),
        at: parse_time(&row.submitted_at),
        counts: determine_counts(raw, people, row),
        url: event.map_or(row.html_url.as_str(), |event| event.html_url.as_str()).to_owned(),
    }
}

/// Classifies a row. The server wraps inline comments that were posted alone into an empty comment review.
fn classify_row(row: &wire::Review, text: &str) -> ReviewKind {
    match parse_verdict(row) {
        Some(verdict) => ReviewKind::Verdict(verdict),
        None if row.state == "PENDING" => ReviewKind::Draft,
        None if text.trim().is_empty() || text == wire::DRAFT_WRAPPER_BODY => ReviewKind::Wrapper,
        None => ReviewKind::Verdict(Verdict::Comment),
    }
}

fn parse_verdict(row: &wire::Review) -> Option<Verdict> {
    match row.state.as_str() {
        "APPROVED" => Some(Verdict::Approve),
        "REQUEST_CHANGES" => Some(Verdict::RequestChanges),
        _ => None,
    }
}

/// Returns whether the server counts a verdict.
///
/// | `official` | `dismissed` | and | counts |
/// |---|---|---|---|
/// | yes | no | | yes |
/// | any | any | a newer verdict of the same user | replaced: servers then clear one flag or set the other |
/// | yes | yes | | dismissed; the timeline says by whom |
/// | no | any | the user's review was requested again since | requested |
/// | no | any | | no: the user lacks the right |
fn determine_counts(raw: &PullRows, people: &WriteAccess, row: &wire::Review) -> ReviewWeight {
    let user = login(row.user.as_ref());
    let newer = |other: &wire::Review| {
        parse_verdict(other).is_some() && other.id > row.id && login(other.user.as_ref()) == user && user.is_some()
    };
    match (row.official, row.dismissed) {
        _ if parse_verdict(row).is_none() => ReviewWeight::No,
        (true, false) => ReviewWeight::Yes,
        _ if raw.reviews.iter().any(newer) => ReviewWeight::Replaced,
        (true, true) => find_dismissal(raw, people, row),
        (false, _) if user.is_some_and(|user| was_requested_again(raw, row, &user)) => ReviewWeight::Requested,
        (false, _) => ReviewWeight::No,
    }
}

/// The text in the row of a dismissal that a push caused. That row names the user who pushed.
const AUTOMATIC_DISMISSAL_TEXT: &str = "dismissed automatically according to repository settings";

fn find_dismissal(raw: &PullRows, people: &WriteAccess, row: &wire::Review) -> ReviewWeight {
    let mut rows = raw.events.iter().rev();
    let Some(event) = rows.find(|event| event.kind == "dismiss_review" && event.review_id == row.id) else {
        return ReviewWeight::Dismissed { by: None, at: parse_time(&row.updated_at) };
    };
    let by = (!event.body.contains(AUTOMATIC_DISMISSAL_TEXT)).then(|| people.to_author(event.user.as_ref()));
    ReviewWeight::Dismissed { by, at: parse_time(&event.created_at) }
}

/// Returns whether the user's review was requested again. The user's next review, even a comment, removes the request and
/// leaves the older verdict without effect, so the timeline is searched as well.
fn was_requested_again(raw: &PullRows, row: &wire::Review, user: &Login) -> bool {
    let open = |it: &wire::Review| it.state == "REQUEST_REVIEW" && login(it.user.as_ref()).as_ref() == Some(user);
    let since = |event: &Event| -> bool {
        let (asked, posted): (Time, Time) = (parse_time(&event.created_at), parse_time(&row.submitted_at));
        !event.removed_assignee && asked >= posted
    };
    raw.reviews.iter().any(open) || find_last_request(&raw.events, user).is_some_and(since)
}
