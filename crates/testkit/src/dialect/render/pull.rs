//! JSON of pulls and issues.

use referee_core::model::{IssueNumber, Label, Login, Mergeable, PullState, Time};
use serde_json::{Value, json};

use super::{JsonRenderer, format_time};
use crate::world::{StoredIssue, StoredPull};

impl JsonRenderer<'_> {
    pub(in crate::dialect) fn pull(&self, pull: &StoredPull) -> Value {
        let page = self.pull_page_url(pull);
        let base = self.repo.branch(&pull.base).cloned().unwrap_or_else(|| pull.head.clone());
        let (upstream, fork) = (self.repository(), self.repository_owned_by(self.repo.id.0 + 1, pull.author.as_str()));
        let source = if pull.from_fork { fork } else { upstream.clone() };
        let merged = pull.state == PullState::Merged;
        let closed = (pull.state != PullState::Open).then(|| format_time(self.last_activity(pull)));
        let forgejo = self.dialect().is_forgejo();
        let empty_list = || if forgejo { Value::Null } else { json!([]) };
        let mut value = json!({
            "id": pull.number.0,
            "url": page,
            "number": pull.number.0,
            "user": self.user(&pull.author),
            "title": pull.title,
            "body": "",
            "labels": self.labels(&pull.labels),
            "milestone": null,
            "assignee": pull.assignees.first().map(|login| self.user(login)),
            "assignees": self.users(&pull.assignees),
            "requested_reviewers": if pull.requests.is_empty() { empty_list() } else { self.requested_reviewers(pull) },
            "requested_reviewers_teams": empty_list(),
            "state": if pull.state == PullState::Open { "open" } else { "closed" },
            "draft": pull.draft,
            "is_locked": false,
            "comments": pull.comments.len(),
            "additions": 1,
            "deletions": 1,
            "changed_files": self.repo.diff_of_pull(pull).len(),
            "html_url": page,
            "diff_url": format!("{page}.diff"),
            "patch_url": format!("{page}.patch"),
            // Servers report `false` both for a conflict and while the check is running.
            "mergeable": pull.state != PullState::Open || self.repo.mergeable(pull) == Mergeable::Clean,
            "merged": merged,
            "merged_at": closed.clone().filter(|_| merged),
            "merge_commit_sha": merged.then(|| base.as_str()),
            "merged_by": merged.then(|| self.user(&pull.author)),
            "allow_maintainer_edit": !forgejo,
            "base": branch_ref(&pull.base, base.as_str(), upstream),
            "head": branch_ref(&pull.branch, pull.head.as_str(), source),
            "merge_base": self.repo.merge_base(&base, &pull.head).as_ref().map_or("", |sha| sha.as_str()),
            "due_date": null,
            "created_at": format_time(pull.opened_at),
            "updated_at": format_time(self.last_activity(pull)),
            "closed_at": closed,
            "pin_order": 0,
        });
        match forgejo {
            true => value["review_comments"] = json!(pull.threads.len()),
            false => value["content_version"] = json!(0),
        }
        value
    }

    pub(in crate::dialect) fn issue(&self, number: IssueNumber, issue: &StoredIssue) -> Value {
        json!({
            "id": number.0,
            "url": self.api_url(&format!("issues/{}", number.0)),
            "html_url": self.repo_page_url(&format!("issues/{}", number.0)),
            "number": number.0,
            "user": self.user(&Login::from("owner")),
            "original_author": "",
            "original_author_id": 0,
            "title": "",
            "body": "",
            "ref": "",
            "assets": [],
            "labels": self.labels(&issue.labels),
            "milestone": null,
            "assignee": issue.assignees.first().map(|login| self.user(login)),
            "assignees": if issue.assignees.is_empty() { Value::Null } else { self.users(&issue.assignees) },
            "state": if issue.open { "open" } else { "closed" },
            "is_locked": false,
            "comments": issue.comments.len(),
            "created_at": format_time(Time(0)),
            "updated_at": format_time(issue.comments.last().map_or(Time(0), |comment| comment.at)),
            "closed_at": null,
            "due_date": null,
            "pull_request": null,
            "repository": { "id": self.repo.id.0, "full_name": self.repo.name },
            "pin_order": 0,
        })
    }

    /// Renders a pull as the issue routes return it, for example after a change of its assignees.
    pub(in crate::dialect) fn pull_as_issue(&self, pull: &StoredPull) -> Value {
        let row = StoredIssue {
            open: pull.state == PullState::Open,
            labels: pull.labels.clone(),
            assignees: pull.assignees.clone(),
            comments: pull.comments.clone(),
        };
        let mut value = self.issue(IssueNumber(pull.number.0), &row);
        value["user"] = self.user(&pull.author);
        value["title"] = json!(pull.title);
        value["pull_request"] = json!({ "merged": pull.state == PullState::Merged, "draft": pull.draft });
        value
    }

    pub(in crate::dialect) fn labels(&self, labels: &[Label]) -> Value {
        labels.iter().map(|label| self.label(&label.name)).collect()
    }

    pub(super) fn pull_page_url(&self, pull: &StoredPull) -> String {
        self.repo_page_url(&format!("pulls/{}", pull.number.0))
    }

    /// Lists every user with a current request row, as servers do under this name.
    fn requested_reviewers(&self, pull: &StoredPull) -> Value {
        let reviewers = pull.requests.iter().map(|(_, request)| self.user(&request.of));
        reviewers.collect()
    }

    /// Returns the time of the last event; edits do not count.
    fn last_activity(&self, pull: &StoredPull) -> Time {
        let comments = pull.comments.iter().map(|comment| comment.at);
        let reviews = pull.reviews.iter().map(|review| review.at);
        let events = pull.events.iter().map(|event| event.at);
        comments.chain(reviews).chain(events).chain([pull.opened_at, pull.head_since]).max().unwrap_or_default()
    }
}

fn branch_ref(branch: &str, sha: &str, repo: Value) -> Value {
    let id = repo.get("id").cloned();
    json!({ "label": branch, "ref": branch, "sha": sha, "repo_id": id, "repo": repo })
}
