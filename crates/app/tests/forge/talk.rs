//! What stands on a pull, asked of the server itself and past referee.

use std::fmt;

use referee_testkit::server::ServerPerson;
use serde_json::Value;

/// Everything that people read on a pull.
#[derive(Clone)]
pub(crate) struct Talk {
    /// The rows of the list: their text is the one they were posted with.
    rows: Vec<Value>,
    /// The timeline: texts as they are now.
    events: Vec<Value>,
    /// Inline comments.
    notes: Vec<Value>,
}

const PAGES: usize = 6;

impl Talk {
    /// What somebody sees.
    pub(crate) fn of(person: &ServerPerson) -> Self {
        let rows = person.list_reviews();
        let notes = rows.iter().filter(|row| row["comments_count"] != 0);
        let notes = notes.flat_map(|row| person.list_notes(&row["id"].to_string())).collect();
        let events = (1..=PAGES).flat_map(|page| {
            let path = format!("/issues/{}/timeline?page={page}&limit=50", person.pull().0);
            // A page may be `null` before the end.
            person.send("GET", &path, None).json::<Option<Vec<Value>>>().expect("a page").unwrap_or_default()
        });
        Self { rows, events: events.collect(), notes }
    }

    /// Referee's reviews in order: those with words of their own.
    pub(crate) fn reviews(&self) -> Vec<&Value> {
        let speaks = |row: &&Value| is_own(row) && row["state"] != "PENDING" && !self.says(row).is_empty();
        self.rows.iter().filter(speaks).collect()
    }

    /// The server's words for their verdicts.
    pub(crate) fn forms(&self) -> Vec<String> {
        self.reviews().into_iter().map(|row| word(&row["state"])).collect()
    }

    /// All rows, whoever wrote them.
    pub(crate) fn rows(&self) -> &[Value] {
        &self.rows
    }

    /// The current text of a review; nothing if it has no row in the timeline.
    pub(crate) fn says(&self, row: &Value) -> String {
        let of = |event: &&Value| event["type"] == "review" && event["review_id"] == row["id"];
        self.events.iter().find(of).map(|event| word(&event["body"])).unwrap_or_default()
    }

    /// What a review is called in the timeline, where its text is edited.
    pub(crate) fn event_of(&self, row: &Value) -> String {
        let of = |event: &&Value| event["type"] == "review" && event["review_id"] == row["id"];
        self.events.iter().find(of).map(|event| event["id"].to_string()).expect("a row in the timeline")
    }

    /// The current text of referee's last review.
    pub(crate) fn last(&self) -> String {
        self.reviews().last().map(|row| self.says(row)).expect("a review of referee")
    }

    /// The current text of the last review for a role.
    pub(crate) fn of_role(&self, role: &str) -> String {
        let mark = format!("<!-- referee:mark v1 {role}");
        let texts = self.reviews().into_iter().map(|row| self.says(row));
        { texts }.rfind(|text| text.contains(&mark)).unwrap_or_else(|| panic!("no review of {role}: {self:#?}"))
    }

    /// The state of referee's newest verdict that is more than words, and whether the server counts it: what a merge
    /// gate goes by.
    pub(crate) fn newest(&self) -> Option<(String, bool)> {
        let verdict = |row: &&Value| row["state"] == "APPROVED" || row["state"] == "REQUEST_CHANGES";
        let newest = self.rows.iter().rfind(|row| is_own(row) && verdict(row))?;
        Some((word(&newest["state"]), newest["official"] == true && newest["dismissed"] != true))
    }

    /// The inline comments of somebody, oldest first.
    pub(crate) fn notes(&self, by: &str) -> Vec<&Value> {
        let mut notes: Vec<&Value> = self.notes.iter().filter(|note| note["user"]["login"] == by).collect();
        notes.sort_by_key(|note| note["id"].as_u64());
        notes
    }

    /// Texts of comments by somebody.
    pub(crate) fn comments(&self, by: &str) -> Vec<String> {
        let comments = self.events.iter().filter(|event| event["type"] == "comment" && event["user"]["login"] == by);
        comments.map(|event| word(&event["body"])).collect()
    }

    /// PUB-9: nothing that stood before is gone, and no text of somebody else reads otherwise.
    pub(crate) fn keeps(&self, before: &Self) {
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

    /// Texts, verdicts and their weight. When a row was last touched, and whether it is stale, the server changes by
    /// itself some time after a push.
    fn gist(&self) -> Vec<String> {
        let row = |row: &Value| format!("{} {} {} {}", row["id"], row["state"], row["official"], row["dismissed"]);
        let text =
            |text: &Value| format!("{} {} {} {}", text["id"], text["type"], text["resolver"]["login"], text["body"]);
        self.rows.iter().map(row).chain(self.texts().map(text)).collect()
    }

    /// All that somebody wrote.
    fn texts(&self) -> impl Iterator<Item = &Value> {
        let written = |event: &&Value| event["type"] == "review" || event["type"] == "comment";
        self.events.iter().filter(written).chain(&self.notes)
    }
}

impl PartialEq for Talk {
    fn eq(&self, other: &Self) -> bool {
        self.gist() == other.gist()
    }
}

impl fmt::Debug for Talk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.gist()).finish()
    }
}

fn is_own(row: &Value) -> bool {
    row["user"]["login"] == "referee"
}

/// A string.
pub(crate) fn word(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
