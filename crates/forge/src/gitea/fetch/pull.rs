//! The pull itself, with what the timeline adds to it.

use referee_core::model::{
    Label, Login, Mergeable, Pull, PullNumber, PullState, Push, RepoId, ReviewRequest, Sha, Time,
};

use super::access::WriteAccess;
use super::pull_rows::PullRows;
use crate::gitea::Flavour;
use crate::gitea::wire::{self, Event, Pushed, User, login, parse_time};

pub(super) fn build_pull(raw: &PullRows, people: &WriteAccess, flavour: Flavour) -> Pull {
    let PullRows { pull: row, events, .. } = raw;
    let repo = row.base.repo.as_ref();
    let pushes: Vec<Push> = events.iter().filter_map(parse_push).collect();
    let head = Sha(row.head.sha.clone());
    Pull {
        forge: flavour.to_string(),
        repo: RepoId(repo.map_or(0, |repo| repo.id)),
        repo_name: repo.map_or_else(String::new, |repo| repo.full_name.clone()),
        number: PullNumber(row.number),
        title: row.title.clone(),
        author: people.to_author(row.user.as_ref()),
        state: pull_state(row),
        draft: row.draft,
        head_since: head_since(raw, &pushes, &head),
        head,
        base: row.base.branch.clone(),
        base_sha: Sha(row.base.sha.clone()),
        mergeable: if row.mergeable { Mergeable::Clean } else { Mergeable::Unknown },
        pushable: is_pushable(row),
        labels: row.labels.iter().map(|label| build_label(label, events)).collect(),
        removed_labels: collect_removed_labels(row, events),
        assignees: row.assignees.iter().filter_map(User::login).collect(),
        requests: build_requests(raw),
        opened_at: parse_time(&row.created_at),
        reopens: events
            .iter()
            .filter(|event| event.kind == "reopen")
            .map(|event| parse_time(&event.created_at))
            .collect(),
        pushes,
        url: row.html_url.clone(),
    }
}

/// Returns since when the head is there. A push appears in the timeline shortly after it appears in the pull, and never if
/// the pull was closed meanwhile. Until then the head dates from when it was first seen: earlier comments must not count
/// as comments on it.
fn head_since(raw: &PullRows, pushes: &[Push], head: &Sha) -> Time {
    match pushes.iter().rev().find(|push| push.head == *head) {
        Some(push) => push.at,
        None if pushes.is_empty() => parse_time(&raw.pull.created_at),
        None => raw.head_seen,
    }
}

fn pull_state(row: &wire::Pull) -> PullState {
    match row.state.as_str() {
        _ if row.merged => PullState::Merged,
        "open" => PullState::Open,
        _ => PullState::Closed,
    }
}

/// Returns whether the reader may push to the head: never to a deleted fork, to another fork if its owner allows
/// maintainers to.
pub(super) fn is_pushable(row: &wire::Pull) -> Option<bool> {
    let Some(head) = &row.head.repo else { return Some(false) };
    let base = row.base.repo.as_ref();
    let may = |repo: &wire::Repo| repo.permissions.map(|rights| rights.push);
    let maintains = row.allow_maintainer_edit && base.and_then(may).unwrap_or_default();
    may(head).map(|own| own || (base.is_some_and(|base| base.id != head.id) && maintains))
}

/// Builds a label with who added it last, and when.
fn build_label(label: &wire::Label, events: &[Event]) -> Label {
    let last = events.iter().rev().find(|event| event.adds_label(label));
    Label {
        name: label.name.clone(),
        by: last.and_then(|event| login(event.user.as_ref())),
        at: last.map(|event| parse_time(&event.created_at)),
    }
}

/// Returns the labels that were removed last, each once.
fn collect_removed_labels(row: &wire::Pull, events: &[Event]) -> Vec<Label> {
    let mut removed: Vec<(u64, Label)> = Vec::new();
    for event in events.iter().filter(|event| event.kind == "label") {
        let Some(label) = &event.label else { continue };
        removed.retain(|(id, _)| *id != label.id);
        if event.body != "1" && row.labels.iter().all(|present| present.id != label.id) {
            let (by, at) = (login(event.user.as_ref()), Some(parse_time(&event.created_at)));
            removed.push((label.id, Label { name: label.name.clone(), by, at }));
        }
    }
    removed.into_iter().map(|(_, label)| label).collect()
}

fn parse_push(event: &Event) -> Option<Push> {
    if event.kind != "pull_push" {
        return None;
    }
    let Pushed { commit_ids } = wire::parse_json(event.body.as_bytes()).ok()?;
    Some(Push {
        head: Sha(commit_ids.into_iter().last()?),
        by: login(event.user.as_ref()),
        at: parse_time(&event.created_at),
    })
}

/// Builds the open review requests, which are rows of the list of reviews; the pull's list of reviewers means others.
fn build_requests(raw: &PullRows) -> Vec<ReviewRequest> {
    let rows = raw.reviews.iter().filter(|row| row.state == "REQUEST_REVIEW");
    rows.filter_map(|row| {
        let of = login(row.user.as_ref())?;
        let asked = find_last_request(&raw.events, &of).filter(|event| !event.removed_assignee);
        let at = asked.map_or_else(|| parse_time(&row.submitted_at), |event| parse_time(&event.created_at));
        Some(ReviewRequest { by: asked.and_then(|event| login(event.user.as_ref())), of, at })
    })
    .collect()
}

/// Finds the latest row that requests a review of that user or withdraws the request.
pub(super) fn find_last_request<'a>(events: &'a [Event], of: &Login) -> Option<&'a Event> {
    let names = |event: &&Event| login(event.assignee.as_ref()).as_ref() == Some(of);
    events.iter().rev().filter(|event| event.kind == "review_request").find(names)
}

/// Returns whether a text was edited.
pub(super) fn is_edited(created: &str, updated: &str) -> bool {
    let (created, updated): (Time, Time) = (parse_time(created), parse_time(updated));
    updated > created
}
