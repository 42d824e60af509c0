//! The pull itself, and what the timeline knows of it.

use referee_core::model::{
    Label, Login, Mergeable, Pull, PullNumber, PullState, Push, RepoId, ReviewRequest, Sha, Time,
};

use super::people::People;
use super::raw::Raw;
use crate::gitea::Flavour;
use crate::gitea::wire::{self, Event, Pushed, User, login, time};

pub(super) fn told(raw: &Raw, people: &People, flavour: Flavour) -> Pull {
    let Raw { pull: row, events, .. } = raw;
    let repo = row.base.repo.as_ref();
    let pushes: Vec<Push> = events.iter().filter_map(push).collect();
    let head = Sha(row.head.sha.clone());
    Pull {
        forge: flavour.to_string(),
        repo: RepoId(repo.map_or(0, |repo| repo.id)),
        repo_name: repo.map_or_else(String::new, |repo| repo.full_name.clone()),
        number: PullNumber(row.number),
        title: row.title.clone(),
        author: people.author(row.user.as_ref()),
        state: state(row),
        draft: row.draft,
        head_since: head_since(raw, &pushes, &head),
        head,
        base: row.base.branch.clone(),
        base_sha: Sha(row.base.sha.clone()),
        mergeable: if row.mergeable { Mergeable::Clean } else { Mergeable::Unknown },
        pushable: pushable(row),
        labels: row.labels.iter().map(|label| told_label(label, events)).collect(),
        assignees: row.assignees.iter().filter_map(User::login).collect(),
        requests: requests(raw),
        opened_at: time(&row.created_at),
        reopens: events.iter().filter(|event| event.kind == "reopen").map(|event| time(&event.created_at)).collect(),
        pushes,
        url: row.html_url.clone(),
    }
}

/// A push shows in the timeline a moment after it shows in the pull, and never if the pull was closed meanwhile. Until
/// then the head is as new as can be: what was said before it must not be taken as said of it.
fn head_since(raw: &Raw, pushes: &[Push], head: &Sha) -> Time {
    match pushes.iter().rev().find(|push| push.head == *head) {
        Some(push) => push.at,
        None if pushes.is_empty() => time(&raw.pull.created_at),
        None => raw.head_seen,
    }
}

fn state(row: &wire::Pull) -> PullState {
    match row.state.as_str() {
        _ if row.merged => PullState::Merged,
        "open" => PullState::Open,
        _ => PullState::Closed,
    }
}

/// A fork that is gone takes no push; into another one a push goes where its owner lets the maintainers.
pub(super) fn pushable(row: &wire::Pull) -> Option<bool> {
    let Some(head) = &row.head.repo else { return Some(false) };
    let base = row.base.repo.as_ref();
    let may = |repo: &wire::Repo| repo.permissions.map(|rights| rights.push);
    let maintains = row.allow_maintainer_edit && base.and_then(may).unwrap_or_default();
    may(head).map(|own| own || (base.is_some_and(|base| base.id != head.id) && maintains))
}

/// Who put it on last, and when.
fn told_label(label: &wire::Label, events: &[Event]) -> Label {
    let last = events.iter().rev().find(|event| event.adds(label));
    Label {
        name: label.name.clone(),
        by: last.and_then(|event| login(event.user.as_ref())),
        at: last.map(|event| time(&event.created_at)),
    }
}

fn push(event: &Event) -> Option<Push> {
    if event.kind != "pull_push" {
        return None;
    }
    let Pushed { commit_ids } = wire::read(event.body.as_bytes()).ok()?;
    Some(Push {
        head: Sha(commit_ids.into_iter().last()?),
        by: login(event.user.as_ref()),
        at: time(&event.created_at),
    })
}

/// The open ones are rows of the list of reviews; the pull's own list of reviewers is another thing.
fn requests(raw: &Raw) -> Vec<ReviewRequest> {
    let rows = raw.reviews.iter().filter(|row| row.state == "REQUEST_REVIEW");
    rows.filter_map(|row| {
        let of = login(row.user.as_ref())?;
        let asked = last_request(&raw.events, &of).filter(|event| !event.removed_assignee);
        let at = asked.map_or_else(|| time(&row.submitted_at), |event| time(&event.created_at));
        Some(ReviewRequest { by: asked.and_then(|event| login(event.user.as_ref())), of, at })
    })
    .collect()
}

/// The last time that somebody's review was asked for, or no longer.
pub(super) fn last_request<'a>(events: &'a [Event], of: &Login) -> Option<&'a Event> {
    let names = |event: &&Event| login(event.assignee.as_ref()).as_ref() == Some(of);
    events.iter().rev().filter(|event| event.kind == "review_request").find(names)
}

/// When a text was changed after it was written.
pub(super) fn edited(created: &str, updated: &str) -> bool {
    let (created, updated): (Time, Time) = (time(created), time(updated));
    updated > created
}
