//! JSON of commit statuses.

use referee_core::model::{CheckState, Login, Sha, Time};
use serde_json::{Value, json};

use super::{JsonRenderer, format_time};
use crate::world::StoredStatus;

impl JsonRenderer<'_> {
    /// Renders a page of the combined status. State and count cover this page only.
    pub(in crate::dialect) fn combined_status(&self, sha: &Sha, page: &[&StoredStatus]) -> Value {
        let forgejo = self.dialect().is_forgejo();
        let has_details = !forgejo || !page.is_empty();
        let statuses: Vec<Value> = page.iter().map(|status| self.status(status)).collect();
        let link = |path: &str| if forgejo { String::new() } else { self.api_url(path) };
        json!({
            "state": self.combined_state(page),
            "sha": if has_details { sha.as_str() } else { "" },
            "total_count": page.len(),
            "statuses": if statuses.is_empty() { Value::Null } else { json!(statuses) },
            "repository": if has_details { self.repository() } else { Value::Null },
            "commit_url": link(&format!("commits/{}", sha.as_str())),
            "url": link(&format!("commits/{}/status", sha.as_str())),
        })
    }

    pub(in crate::dialect) fn status(&self, status: &StoredStatus) -> Value {
        json!({
            "id": status.id,
            "status": check_state_name(status.state),
            "target_url": "",
            "description": status.text,
            "url": self.api_url(&format!("statuses/{}", status.commit.as_str())),
            "context": status.context,
            "creator": self.user(&Login::from("ci")),
            "created_at": format_time(Time(0)),
            "updated_at": format_time(Time(0)),
        })
    }

    /// Returns the worst state of the page; an empty page is "" on Forgejo and "pending" on Gitea.
    fn combined_state(&self, page: &[&StoredStatus]) -> &'static str {
        let has = |state| page.iter().any(|status| status.state == state);
        if page.is_empty() && self.dialect().is_forgejo() {
            ""
        } else if has(CheckState::Fail) {
            "failure"
        } else if has(CheckState::Pending) || page.is_empty() {
            "pending"
        } else {
            "success"
        }
    }
}

fn check_state_name(state: CheckState) -> &'static str {
    match state {
        CheckState::Pass => "success",
        CheckState::Fail => "failure",
        CheckState::Pending | CheckState::None => "pending",
    }
}
