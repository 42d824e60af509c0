//! JSON of the repository, its labels and its branches.

use referee_core::model::{Login, Sha};
use serde_json::{Value, json};

use super::{JsonRenderer, format_time};
use crate::dialect::Dialect;

/// Fields with the same value for every repository.
const COMMON_FIELDS: &str = r#"{
    "description": "", "empty": false, "private": false, "template": false, "mirror": false, "size": 26, "language": "",
    "link": "", "original_url": "", "website": "", "stars_count": 0, "forks_count": 0, "watchers_count": 1,
    "release_counter": 0, "archived": false, "created_at": "2026-11-01T00:00:00Z", "archived_at": "1970-01-01T00:00:00Z",
    "has_issues": true, "has_wiki": true, "has_pull_requests": true, "has_projects": true, "has_releases": true,
    "has_packages": true, "has_actions": true, "ignore_whitespace_conflicts": false, "allow_merge_commits": true,
    "allow_rebase": true, "allow_rebase_explicit": true, "allow_squash_merge": true,
    "allow_fast_forward_only_merge": true, "allow_rebase_update": true, "default_delete_branch_after_merge": false,
    "default_merge_style": "merge", "default_allow_maintainer_edit": false, "avatar_url": "", "internal": false,
    "mirror_interval": "", "object_format_name": "sha1", "mirror_updated": "0001-01-01T00:00:00Z", "topics": null,
    "internal_tracker": {
        "enable_time_tracker": true, "allow_only_contributors_to_track_time": true, "enable_issue_dependencies": true
    }
}"#;

const GITEA_FIELDS: &str = r#"{
    "branch_count": 2, "has_code": true, "projects_mode": "all", "allow_manual_merge": false,
    "autodetect_manual_merge": false, "topics": [], "licenses": []
}"#;

const GITEA_127_FIELDS: &str = r#"{
    "allow_merge_update": true, "default_update_style": "merge", "mirror_last_sync_at": "0001-01-01T00:00:00Z"
}"#;

const FORGEJO_FIELDS: &str = r#"{
    "parent": null, "wiki_branch": "main", "globally_editable_wiki": false, "repo_transfer": null
}"#;

impl JsonRenderer<'_> {
    pub(in crate::dialect) fn repository(&self) -> Value {
        let owner = self.repo.name.split('/').next().unwrap_or_default();
        self.repository_owned_by(self.repo.id.0, owner)
    }

    /// Renders the repository or a user's fork of it.
    pub(super) fn repository_owned_by(&self, id: u64, owner: &str) -> Value {
        let name = self.repo.name.split('/').nth(1).unwrap_or_default();
        let full_name = format!("{owner}/{name}");
        let may_write = self.repo.may_write(self.caller.login);
        let mut repo = json!({
            "id": id,
            "owner": self.user(&Login::from(owner)),
            "name": name,
            "full_name": full_name,
            "fork": id != self.repo.id.0,
            "languages_url": self.page_url(&format!("api/v1/repos/{full_name}/languages")),
            "html_url": self.page_url(&full_name),
            "url": self.page_url(&format!("api/v1/repos/{full_name}")),
            "ssh_url": format!("git@localhost:{full_name}.git"),
            "clone_url": self.page_url(&format!("{full_name}.git")),
            "open_issues_count": self.repo.issues.len(),
            "open_pr_counter": self.repo.pulls.len(),
            "default_branch": self.repo.default_branch,
            "updated_at": format_time(self.repo.now),
            "permissions": { "admin": false, "push": may_write, "pull": true },
        });
        let extra_fields: &[&str] = match self.dialect() {
            Dialect::Gitea126 => &[COMMON_FIELDS, GITEA_FIELDS],
            Dialect::Gitea127 => &[COMMON_FIELDS, GITEA_FIELDS, GITEA_127_FIELDS],
            Dialect::Forgejo10 => &[COMMON_FIELDS, FORGEJO_FIELDS],
        };
        for text in extra_fields {
            let members: serde_json::Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
            repo.as_object_mut().into_iter().for_each(|repo| repo.extend(members.clone()));
        }
        repo
    }

    pub(in crate::dialect) fn label(&self, name: &str) -> Value {
        let id = label_id(&self.repo.labels, name).unwrap_or_default();
        json!({
            "id": id,
            "name": name,
            "exclusive": false,
            "is_archived": false,
            "color": "ff0000",
            "description": "",
            "url": self.api_url(&format!("labels/{id}")),
        })
    }

    pub(in crate::dialect) fn branch(&self, name: &str, tip: &Sha) -> Value {
        let may_write = self.repo.may_write(self.caller.login);
        json!({
            "name": name,
            "commit": {
                "id": tip.as_str(),
                "message": "",
                "url": self.repo_page_url(&format!("commit/{}", tip.as_str())),
                "timestamp": format_time(self.repo.now),
                "added": null,
                "removed": null,
                "modified": null,
            },
            "protected": false,
            "required_approvals": 0,
            "enable_status_check": false,
            "status_check_contexts": [],
            "user_can_push": may_write,
            "user_can_merge": may_write,
            "effective_branch_protection_name": "",
        })
    }
}

/// Returns the id of a label: its position, counted from one.
pub(in crate::dialect) fn label_id(labels: &[String], name: &str) -> Option<usize> {
    labels.iter().position(|label| label == name).map(|index| index + 1)
}
