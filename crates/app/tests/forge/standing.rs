//! Everything on a pull as the bot reads it, without what differs between two equal pulls.

use std::collections::BTreeMap;

use referee_core::model::PullNumber;
use serde_json::Value;

use crate::site::TestSite;

/// What stands on a pull by one identity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Standing {
    /// Its reviews, oldest first; a row that only carries threads has no words.
    pub(crate) reviews: Vec<Review>,
    /// Its inline comments: file, line, words, and whether it is resolved.
    pub(crate) notes: Vec<(String, u64, String, bool)>,
    /// Its comments.
    pub(crate) comments: Vec<String>,
    /// The latest word of each of its statuses at the head: state and text.
    pub(crate) statuses: BTreeMap<String, (String, String)>,
}

/// A review's row with the words it has now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Review {
    pub(crate) state: String,
    pub(crate) counts: bool,
    pub(crate) commit: String,
    pub(crate) words: String,
}

impl Standing {
    /// Read to its end.
    pub(crate) fn of(site: &TestSite, login: &str, pull: PullNumber) -> Self {
        let own = |row: &Value| row["user"]["login"] == login;
        let timeline = pages(site, login, &format!("/issues/{}/timeline", pull.0));
        let rows: Vec<Value> = pages(site, login, &format!("/pulls/{}/reviews", pull.0));
        let (mut reviews, mut notes) = (Vec::new(), Vec::new());
        for row in rows.iter().filter(|row| own(row) && row["state"] != "REQUEST_REVIEW") {
            let is_of = |event: &&Value| event["type"] == "review" && event["review_id"] == row["id"];
            let event = timeline.iter().find(is_of).unwrap_or(row);
            reviews.push(Review {
                state: text(&row["state"]),
                counts: row["official"] == true && row["dismissed"] != true,
                commit: text(&row["commit_id"]),
                words: text(&event["body"]),
            });
            if row["comments_count"].as_u64() > Some(0) {
                let inside = site.at(login, pull).list_notes(&row["id"].to_string());
                notes.extend(inside.iter().filter(|note| own(note)).map(note));
            }
        }
        let comments = timeline.iter().filter(|event| event["type"] == "comment" && own(event));
        let comments = comments.map(|event| text(&event["body"])).collect();
        let head = site.at(login, pull).head();
        let path = format!("/commits/{head}/statuses");
        let mut statuses = BTreeMap::new();
        // The latest comes first.
        for status in pages(site, login, &path) {
            let said = (text(&status["status"]), text(&status["description"]));
            statuses.entry(text(&status["context"])).or_insert(said);
        }
        notes.sort();
        Self { reviews, notes, comments, statuses }
    }

    /// The same without what differs between two pulls of equal files: numbers of the server, commits, Marks.
    pub(crate) fn plain(mut self) -> Self {
        for review in &mut self.reviews {
            review.commit.clear();
            review.words = plain(&review.words);
        }
        self.reviews.sort();
        for note in &mut self.notes {
            note.2 = plain(&note.2);
        }
        self.notes.sort();
        self.comments = self.comments.iter().map(|words| plain(words)).collect();
        self.comments.sort();
        for (_, words) in self.statuses.values_mut() {
            *words = plain(words);
        }
        self
    }

    /// What one has and the other has not.
    pub(crate) fn differs(&self, other: &Self) -> Vec<String> {
        let (here, there) = (self.lines(), other.lines());
        let lacks = |lines: &[String], line: &&String| !lines.contains(line);
        let more = here.iter().filter(|line| lacks(&there, line)).map(|line| format!("+ {line}"));
        let less = there.iter().filter(|line| lacks(&here, line)).map(|line| format!("- {line}"));
        let counts = (here.len() != there.len()).then(|| format!("{} and {}: {here:#?}", here.len(), there.len()));
        more.chain(less).chain(counts).collect()
    }

    fn lines(&self) -> Vec<String> {
        let reviews = self.reviews.iter().map(|row| format!("{row:?}"));
        let notes = self.notes.iter().map(|note| format!("{note:?}"));
        let comments = self.comments.iter().map(|words| format!("{words:?}"));
        let statuses = self.statuses.iter().map(|status| format!("{status:?}"));
        reviews.chain(notes).chain(comments).chain(statuses).collect()
    }
}

/// All rows of a list. A timeline does not tell its length, and inline comments are taken out after paging, hence the
/// empty pages.
pub(crate) fn pages(site: &TestSite, login: &str, path: &str) -> Vec<Value> {
    let (mut rows, mut empty) = (Vec::new(), 0);
    for page in 1.. {
        let answer = site.repo.as_(login).send("GET", &format!("{path}?page={page}&limit=50"), None);
        let some: Option<Vec<Value>> = answer.json().expect("a page");
        let some = some.unwrap_or_default();
        let total = answer.header("x-total-count").filter(|_| !path.ends_with("/timeline"));
        let whole = total.is_some_and(|all| all.parse() == Ok(rows.len() + some.len()));
        empty = if some.is_empty() { empty + 1 } else { 0 };
        rows.extend(some);
        if whole || empty == 4 {
            break;
        }
    }
    rows
}

fn note(row: &Value) -> (String, u64, String, bool) {
    let resolved = row["resolver"].is_object();
    (text(&row["path"]), row["position"].as_u64().unwrap_or_default(), text(&row["body"]), resolved)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Words without Marks, commits, the server's numbers, and how long a run took.
fn plain(words: &str) -> String {
    let mut shown = String::new();
    let mut rest = words;
    while let Some((before, hidden)) = rest.split_once("<!--") {
        shown.push_str(before);
        rest = hidden.split_once("-->").map_or("", |(_, after)| after);
    }
    shown.push_str(rest);
    let mut out = String::new();
    let lasting = shown.lines().filter(|line| !line.starts_with("This run: "));
    let shown = lasting.collect::<Vec<_>>().join("\n");
    for word in shown.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let (core, end) = word.split_at(word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len());
        let number = core.chars().all(|c| c.is_ascii_digit()) && out.ends_with(['/', '-', '#']);
        let commit = core.len() >= 7 && core.chars().all(|c| c.is_ascii_hexdigit());
        out.push_str(if !core.is_empty() && (number || commit) { "…" } else { core });
        out.push_str(end);
    }
    out
}
