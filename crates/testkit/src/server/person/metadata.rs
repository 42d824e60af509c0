//! Labels, assignees, checks, and the rules of a branch.

use serde_json::{Value, json};

use super::{BASE_BRANCH, ServerPerson, row_id};
use crate::server::OWNER;

impl ServerPerson {
    /// Puts a label on the pull. The repository has it from then on.
    #[track_caller]
    pub fn label(&self, name: &str) {
        let label = self.repo.as_(OWNER).ensure_label(name);
        self.call_api("label", "POST", &format!("/issues/{}/labels", self.pull().0), &json!({"labels": [label]}));
    }

    /// Takes a label off, whoever put it on.
    #[track_caller]
    pub fn unlabel(&self, name: &str) {
        let label = self.repo.as_(OWNER).ensure_label(name);
        self.call_api("unlabel", "DELETE", &format!("/issues/{}/labels/{label}", self.pull().0), &json!({}));
    }

    /// Makes these people the assignees, and nobody else.
    #[track_caller]
    pub fn assign(&self, who: &[&str]) {
        self.call_api("assign", "PATCH", &format!("/issues/{}", self.pull().0), &json!({"assignees": who}));
    }

    /// Reports a check at the head, as a build server does. The state is in the server's own words.
    #[track_caller]
    pub fn report_check(&self, name: &str, state: &str) {
        let status = json!({"context": name, "state": state, "description": "", "target_url": ""});
        self.call_api("report a check", "POST", &format!("/statuses/{}", self.head()), &status);
    }

    /// Protects the branch that pulls want into, by rules in the server's own words.
    #[track_caller]
    pub fn protect_base(&self, rules: Value) {
        let mut rule = json!({"branch_name": BASE_BRANCH, "rule_name": BASE_BRANCH});
        if let (Some(rule), Value::Object(rules)) = (rule.as_object_mut(), rules) {
            rule.extend(rules);
        }
        self.call_api("protect the branch", "POST", "/branch_protections", &rule);
    }

    /// The id of a label, which is made if there is none.
    #[track_caller]
    fn ensure_label(&self, name: &str) -> u64 {
        let all = self.read_json("list labels", "/labels?page=1&limit=50");
        let found = all.as_array().and_then(|all| all.iter().find(|row| row["name"] == name).cloned());
        let make = || self.call_api("make a label", "POST", "/labels", &json!({"name": name, "color": "#ee0701"}));
        row_id(&found.unwrap_or_else(make)).parse().unwrap_or_default()
    }
}
