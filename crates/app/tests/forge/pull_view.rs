//! The contents of a pull, read from the server without referee's code.

use std::fmt;

use referee_testkit::server::ServerPerson;
use serde_json::Value;

/// Reviews, inline comments and the timeline of a pull.
#[derive(Clone)]
pub(crate) struct ServerPullView {
    /// The list of reviews. It shows the text that a review was posted with.
    rows: Vec<Value>,
    /// The timeline. It shows the current texts.
    events: Vec<Value>,
    /// Inline comments.
    notes: Vec<Value>,
}

const PAGES: usize = 6;

impl ServerPullView {
    /// Reads the pull as a person sees it.
    pub(crate) fn read(person: &ServerPerson) -> Self {
        let rows = person.list_reviews();
        let notes = rows.iter().filter(|row| row["comments_count"] != 0);
        let notes = notes.flat_map(|row| person.list_notes(&row["id"].to_string())).collect();
        let events = (1..=PAGES).flat_map(|page| {
            let path = format!("/issues/{}/timeline?page={page}&limit=50", person.pull().0);
            // A page of the timeline may be `null` although more pages follow.
            person.send("GET", &path, None).json::<Option<Vec<Value>>>().expect("a page").unwrap_or_default()
        });
        Self { rows, events: events.collect(), notes }
    }

    /// Returns referee's reviews that have a text, in order.
    pub(crate) fn reviews(&self) -> Vec<&Value> {
        let has_text = |row: &&Value| is_own(row) && row["state"] != "PENDING" && !self.review_text(row).is_empty();
        self.rows.iter().filter(has_text).collect()
    }

    /// Returns the states of referee's reviews, as the server names them.
    pub(crate) fn verdicts(&self) -> Vec<String> {
        self.reviews().into_iter().map(|row| string(&row["state"])).collect()
    }

    /// Returns the reviews of all authors.
    pub(crate) fn rows(&self) -> &[Value] {
        &self.rows
    }

    /// Returns the current text of a review; empty if it is not in the timeline.
    pub(crate) fn review_text(&self, row: &Value) -> String {
        let is_row = |event: &&Value| event["type"] == "review" && event["review_id"] == row["id"];
        self.events.iter().find(is_row).map(|event| string(&event["body"])).unwrap_or_default()
    }

    /// Returns the id of a review in the timeline, under which its text is edited.
    pub(crate) fn timeline_id(&self, row: &Value) -> String {
        let is_row = |event: &&Value| event["type"] == "review" && event["review_id"] == row["id"];
        self.events.iter().find(is_row).map(|event| event["id"].to_string()).expect("a row in the timeline")
    }

    /// Returns the address of referee's last review on the pull's page, without its host: Gitea takes that from the request,
    /// and referee's requests go through a proxy.
    pub(crate) fn last_review_path(&self) -> String {
        let id = self.reviews().last().map(|row| row["id"].clone()).expect("a review of referee");
        let is_row = |event: &&Value| event["type"] == "review" && event["review_id"] == id;
        self.events
            .iter()
            .find(is_row)
            .map(|event| string(&event["html_url"]))
            .expect("a row in the timeline")
            .splitn(4, '/')
            .skip(3)
            .collect()
    }

    /// Returns the current text of referee's last review.
    pub(crate) fn last_review_text(&self) -> String {
        self.reviews().last().map(|row| self.review_text(row)).expect("a review of referee")
    }

    /// Returns the current text of a role's last review.
    pub(crate) fn role_review_text(&self, role: &str) -> String {
        let mark = format!("<!-- referee:mark v1 {role}");
        let texts = self.reviews().into_iter().map(|row| self.review_text(row));
        { texts }.rfind(|text| text.contains(&mark)).unwrap_or_else(|| panic!("no review of {role}: {self:#?}"))
    }

    /// Returns the state of referee's newest approval or block, and whether the server counts it, which is what a merge
    /// gate uses.
    pub(crate) fn newest_verdict(&self) -> Option<(String, bool)> {
        let verdict = |row: &&Value| row["state"] == "APPROVED" || row["state"] == "REQUEST_CHANGES";
        let newest = self.rows.iter().rfind(|row| is_own(row) && verdict(row))?;
        Some((string(&newest["state"]), newest["official"] == true && newest["dismissed"] != true))
    }

    /// Returns an author's inline comments, oldest first.
    pub(crate) fn notes(&self, by: &str) -> Vec<&Value> {
        let mut notes: Vec<&Value> = self.notes.iter().filter(|note| note["user"]["login"] == by).collect();
        notes.sort_by_key(|note| note["id"].as_u64());
        notes
    }

    /// Returns the texts of an author's comments.
    pub(crate) fn comments(&self, by: &str) -> Vec<String> {
        let comments = self.events.iter().filter(|event| event["type"] == "comment" && event["user"]["login"] == by);
        comments.map(|event| string(&event["body"])).collect()
    }

    /// Asserts PUB-9: nothing written before is gone, and no other person's text is edited.
    pub(crate) fn assert_keeps(&self, before: &Self) {
        for row in before.rows.iter().filter(|row| row["state"] != "REQUEST_REVIEW") {
            let now = self.rows.iter().find(|now| now["id"] == row["id"]);
            let now = now.unwrap_or_else(|| panic!("a review is gone: {row:#}"));
            assert_eq!((&now["state"], &now["commit_id"]), (&row["state"], &row["commit_id"]));
        }
        for text in before.texts() {
            let now = self.texts().find(|now| now["id"] == text["id"] && now["type"] == text["type"]);
            let now = now.unwrap_or_else(|| panic!("a text is gone: {text:#}"));
            assert!(is_own(text) || now["body"] == text["body"], "edited: {text:#}");
        }
    }

    /// Returns texts, verdicts and whether they count. Leaves out `updated_at` and `stale`, which the server changes some
    /// time after a push.
    fn comparable(&self) -> Vec<String> {
        let row = |row: &Value| format!("{} {} {} {}", row["id"], row["state"], row["official"], row["dismissed"]);
        let text =
            |text: &Value| format!("{} {} {} {}", text["id"], text["type"], text["resolver"]["login"], text["body"]);
        self.rows.iter().map(row).chain(self.texts().map(text)).collect()
    }

    /// Returns everything that has a text.
    fn texts(&self) -> impl Iterator<Item = &Value> {
        let written = |event: &&Value| event["type"] == "review" || event["type"] == "comment";
        self.events.iter().filter(written).chain(&self.notes)
    }
}

impl PartialEq for ServerPullView {
    fn eq(&self, other: &Self) -> bool {
        self.comparable() == other.comparable()
    }
}

impl fmt::Debug for ServerPullView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.comparable()).finish()
    }
}

fn is_own(row: &Value) -> bool {
    row["user"]["login"] == "referee"
}

pub(crate) fn string(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
