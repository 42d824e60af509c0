//! Labels, assignees, checks, and branch protection.

use serde_json::{Value, json};

use super::{BASE_BRANCH, ServerPerson, row_id};
use crate::server::OWNER;

impl ServerPerson {
    /// Adds a label to the pull, and creates it in the repository first if needed.
    #[track_caller]
    pub fn label(&self, name: &str) {
        let label = self.repo.as_(OWNER).ensure_label(name);
        self.call_api("label", "POST", &format!("/issues/{}/labels", self.pull().0), &json!({"labels": [label]}));
    }

    /// Removes a label, no matter who added it.
    #[track_caller]
    pub fn unlabel(&self, name: &str) {
        let label = self.repo.as_(OWNER).ensure_label(name);
        self.call_api("unlabel", "DELETE", &format!("/issues/{}/labels/{label}", self.pull().0), &json!({}));
    }

    /// Replaces the assignees of the pull.
    #[track_caller]
    pub fn assign(&self, who: &[&str]) {
        self.call_api("assign", "PATCH", &format!("/issues/{}", self.pull().0), &json!({"assignees": who}));
    }

    /// Reports a check at the head, as a CI server does. `state` is the API's value.
    #[track_caller]
    pub fn report_check(&self, name: &str, state: &str) {
        let status = json!({"context": name, "state": state, "description": "", "target_url": ""});
        self.call_api("report a check", "POST", &format!("/statuses/{}", self.head()), &status);
    }

    /// Protects the base branch. The rules are fields of the server's API.
    #[track_caller]
    pub fn protect_base(&self, rules: Value) {
        let mut rule = json!({"branch_name": BASE_BRANCH, "rule_name": BASE_BRANCH});
        if let (Some(rule), Value::Object(rules)) = (rule.as_object_mut(), rules) {
            rule.extend(rules);
        }
        self.call_api("protect the branch", "POST", "/branch_protections", &rule);
    }

    /// Returns the id of a label, creating the label if needed.
    #[track_caller]
    fn ensure_label(&self, name: &str) -> u64 {
        let labels = self.read_json("list labels", "/labels?page=1&limit=50");
        let found = labels.as_array().and_then(|rows| rows.iter().find(|row| row["name"] == name).cloned());
        let create = || self.call_api("create a label", "POST", "/labels", &json!({"name": name, "color": "#ee0701"}));
        row_id(&found.unwrap_or_else(create)).parse().unwrap_or_default()
    }
}
