//! What stands on a pull, read as a person reads it.

use serde_json::{Value, json};

use crate::shop::Shop;

/// Everything on a pull.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Talk(pub(crate) Value);

impl Talk {
    /// What stands on the shop's first pull.
    pub(crate) fn of(shop: &Shop) -> Self {
        Self::on(shop, "L1")
    }

    /// What stands on a pull.
    pub(crate) fn on(shop: &Shop, pull: &str) -> Self {
        let mut stands = shop.stands(pull);
        // The moment of the look is not of the pull.
        stands["taken_at"] = json!(null);
        Self(stands)
    }

    /// Reviews with their form, whoever wrote them, in order.
    pub(crate) fn forms(&self) -> Vec<(String, String)> {
        let form = |review: &Value| (word(&review["author"]["login"]), word(&review["row"]["verdict"]));
        self.reviews().iter().map(form).collect()
    }

    /// The reviews.
    pub(crate) fn reviews(&self) -> &[Value] {
        self.0["reviews"].as_array().expect("reviews")
    }

    /// The words of the last review that speaks for a role.
    pub(crate) fn says(&self, role: &str) -> String {
        let of = |review: &&Value| review["text"]["reading"]["mark"]["data"]["role"] == role;
        let last = self.reviews().iter().rfind(of);
        body(last.unwrap_or_else(|| panic!("no review of {role}: {:#}", self.0["reviews"])))
    }

    /// The form of referee's newest verdict: what a merge gate goes by.
    pub(crate) fn newest(&self) -> Option<String> {
        let own = self.forms().into_iter().filter(|(by, form)| by == "referee" && form != "comment");
        own.map(|(_, form)| form).next_back()
    }

    /// The threads.
    pub(crate) fn threads(&self) -> &[Value] {
        self.0["threads"].as_array().expect("threads")
    }

    /// Texts of comments by somebody.
    pub(crate) fn comments(&self, by: &str) -> Vec<String> {
        let all = self.0["comments"].as_array().expect("comments");
        all.iter().filter(|comment| comment["author"]["login"] == by).map(body).collect()
    }

    /// Every text on the pull with its id and author.
    pub(crate) fn texts(&self) -> Vec<(String, String, String)> {
        let notes = self.threads().iter().flat_map(|thread| thread["notes"].as_array().expect("notes"));
        let all = self.reviews().iter().chain(notes).chain(self.0["comments"].as_array().expect("comments"));
        all.map(|text| (word(&text["id"]), word(&text["author"]["login"]), body(text))).collect()
    }

    /// PUB-9: nothing that stood before is gone, and no text of somebody else reads otherwise.
    pub(crate) fn keeps(&self, before: &Self) {
        let now = self.texts();
        for (id, by, text) in before.texts() {
            let kept = now.iter().find(|(it, _, _)| *it == id).unwrap_or_else(|| panic!("{id} by {by} is gone"));
            assert!(by == "referee" || kept.2 == text, "{id} by {by} was edited");
        }
        for (was, is) in before.reviews().iter().zip(self.reviews()) {
            assert_eq!((&was["id"], &was["row"], &was["counts"]), (&is["id"], &is["row"], &is["counts"]));
        }
    }
}

/// The text of a review, note or comment.
pub(crate) fn body(text: &Value) -> String {
    word(&text["text"]["body"])
}

/// A string.
pub(crate) fn word(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// The actions of a run, in order.
pub(crate) fn actions(turn: &Value) -> Vec<String> {
    turn["steps"].as_array().expect("steps").iter().map(|step| word(&step["action"])).collect()
}

/// How a role stands after a run: its own verdict, and what is enforced.
pub(crate) fn role(turn: &Value, name: &str) -> (Value, Value) {
    let roles = turn["roles"].as_array().into_iter().flatten();
    let role = { roles }.find(|role| role["role"] == name).unwrap_or_else(|| panic!("no role {name}: {turn:#}"));
    (role["own"].clone(), role["enforced"].clone())
}

/// A finding of a report.
pub(crate) fn finding(severity: &str, title: &str, line: u32) -> Value {
    json!({ "title": title, "body": format!("{title}, in more words."), "severity": severity, "path": "a.txt",
            "line": line, "rule": title.to_lowercase().replace(' ', "-") })
}
