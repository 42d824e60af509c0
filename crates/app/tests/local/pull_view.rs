//! The contents of a local pull, for assertions.

use serde_json::{Value, json};

use crate::test_repo::TestRepo;

/// The snapshot of a pull.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PullView(pub(crate) Value);

impl PullView {
    /// Reads the repository's first pull.
    pub(crate) fn read(repo: &TestRepo) -> Self {
        Self::read_pull(repo, "L1")
    }

    /// Reads a pull.
    pub(crate) fn read_pull(repo: &TestRepo, pull: &str) -> Self {
        let mut snapshot = repo.read_snapshot(pull);
        // The time of reading is not a property of the pull.
        snapshot["taken_at"] = json!(null);
        Self(snapshot)
    }

    /// Returns author and verdict of every review, in order.
    pub(crate) fn verdicts(&self) -> Vec<(String, String)> {
        let verdict = |review: &Value| (string(&review["author"]["login"]), string(&review["row"]["verdict"]));
        self.reviews().iter().map(verdict).collect()
    }

    pub(crate) fn reviews(&self) -> &[Value] {
        self.0["reviews"].as_array().expect("reviews")
    }

    /// Returns the text of a role's last review.
    pub(crate) fn review_text(&self, role: &str) -> String {
        let has_role = |review: &&Value| review["text"]["reading"]["mark"]["data"]["role"] == role;
        let last = self.reviews().iter().rfind(has_role);
        body(last.unwrap_or_else(|| panic!("no review of {role}: {:#}", self.0["reviews"])))
    }

    /// Returns referee's newest verdict other than a comment, which is what a merge gate uses.
    pub(crate) fn newest_verdict(&self) -> Option<String> {
        let own = self.verdicts().into_iter().filter(|(by, form)| by == "referee" && form != "comment");
        own.map(|(_, form)| form).next_back()
    }

    pub(crate) fn threads(&self) -> &[Value] {
        self.0["threads"].as_array().expect("threads")
    }

    /// Returns the texts of an author's comments.
    pub(crate) fn comments(&self, by: &str) -> Vec<String> {
        let all = self.0["comments"].as_array().expect("comments");
        all.iter().filter(|comment| comment["author"]["login"] == by).map(body).collect()
    }

    /// Returns id, author and text of everything written on the pull.
    pub(crate) fn texts(&self) -> Vec<(String, String, String)> {
        let notes = self.threads().iter().flat_map(|thread| thread["notes"].as_array().expect("notes"));
        let all = self.reviews().iter().chain(notes).chain(self.0["comments"].as_array().expect("comments"));
        all.map(|text| (string(&text["id"]), string(&text["author"]["login"]), body(text))).collect()
    }

    /// Asserts PUB-9: nothing written before is gone, and no other person's text is edited.
    pub(crate) fn assert_keeps(&self, before: &Self) {
        let now = self.texts();
        for (id, by, text) in before.texts() {
            let current = now.iter().find(|text| text.0 == id).unwrap_or_else(|| panic!("{id} by {by} is gone"));
            assert!(by == "referee" || current.2 == text, "{id} by {by} was edited");
        }
        for (was, is) in before.reviews().iter().zip(self.reviews()) {
            assert_eq!((&was["id"], &was["row"], &was["counts"]), (&is["id"], &is["row"], &is["counts"]));
        }
    }
}

/// Returns the text of a review, note or comment.
pub(crate) fn body(text: &Value) -> String {
    string(&text["text"]["body"])
}

pub(crate) fn string(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// Returns the actions of a run, in order.
pub(crate) fn actions(turn: &Value) -> Vec<String> {
    turn["steps"].as_array().expect("steps").iter().map(|step| string(&step["action"])).collect()
}

/// Returns a role's own and enforced verdict after a run.
pub(crate) fn role_verdicts(turn: &Value, name: &str) -> (Value, Value) {
    let roles = turn["roles"].as_array().into_iter().flatten();
    let role = { roles }.find(|role| role["role"] == name).unwrap_or_else(|| panic!("no role {name}: {turn:#}"));
    (role["own"].clone(), role["enforced"].clone())
}

/// Builds a finding of a report.
pub(crate) fn finding(severity: &str, title: &str, line: u32) -> Value {
    json!({ "title": title, "body": format!("{title}, in more words."), "severity": severity, "path": "a.txt",
            "line": line, "rule": title.to_lowercase().replace(' ', "-") })
}
