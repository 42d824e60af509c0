//! What the server answers looks like what was recorded: the same members, of the same kinds, and no others.

use referee_testkit::dialect::Dialect;
use serde_json::{Value, json};

use crate::visitor::Visit;

/// The folder of the recorded answers.
fn folder(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Gitea126 => "gitea-1.26.0",
        Dialect::Gitea127 => "gitea-1.27.3",
        Dialect::Forgejo10 => "forgejo-10",
    }
}

fn recorded(dialect: Dialect, name: &str) -> Value {
    let path = format!("{}/tests/fixtures/{}/{name}.json", env!("CARGO_MANIFEST_DIR"), folder(dialect));
    serde_json::from_str(&std::fs::read_to_string(&path).expect("a recorded answer")).expect("JSON")
}

/// Where two answers differ in their members or their kinds. Lists are compared row by row as far as both go.
fn differences(at: &str, recorded: &Value, answered: &Value) -> Vec<String> {
    match (recorded, answered) {
        (Value::String(text), _) if text.contains("(trimmed") => Vec::new(),
        (Value::Object(one), Value::Object(other)) => {
            let missing =
                one.keys().filter(|key| !other.contains_key(*key)).map(|key| format!("{at}.{key} is missing"));
            // The recorded ones have no repository in a status: it was cut.
            let more = other.keys().filter(|key| !one.contains_key(*key) && *key != "repository");
            let more = more.map(|key| format!("{at}.{key} was never seen"));
            let inside = one.iter().filter_map(|(key, value)| Some((key, value, other.get(key)?)));
            let inside = inside.flat_map(|(key, value, other)| differences(&format!("{at}.{key}"), value, other));
            missing.chain(more).chain(inside).collect()
        }
        (Value::Array(one), Value::Array(other)) => {
            let rows = one.iter().zip(other).enumerate();
            rows.flat_map(|(row, (one, other))| differences(&format!("{at}[{row}]"), one, other)).collect()
        }
        _ if kind(recorded) == kind(answered) => Vec::new(),
        _ => vec![format!("{at} was {} and is {}", kind(recorded), kind(answered))],
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a bool",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[track_caller]
fn alike(visit: &Visit, name: &str, answered: &Value) {
    let differences = differences("", &recorded(visit.dialect, name), answered);
    assert!(differences.is_empty(), "{:?} {name}: {}\n{answered}", visit.dialect, differences.join("; "));
}

/// A review with one inline comment, as bot.
fn review(visit: &Visit, event: &str) -> Value {
    let comment = json!({ "path": "a.txt", "body": "why?", "new_position": 2, "old_position": 0 });
    let body = json!({ "body": "words", "event": event, "commit_id": visit.head.as_str(), "comments": [comment] });
    visit.post("pulls/1/reviews", &body).json(200)
}

#[test]
fn a_pull() {
    for dialect in Dialect::ALL {
        let visit = Visit::new(dialect);
        alike(&visit, "pull", &visit.get("pulls/1").json(200));
        alike(&visit, "pull", &visit.get("pulls?state=open&page=1").json(200)[0]);
    }
}

#[test]
fn a_review_and_its_edit() {
    for dialect in Dialect::ALL {
        let visit = Visit::new(dialect);
        let made = review(&visit, "REQUEST_CHANGES");
        alike(&visit, "review-created", &made);
        let link = made["html_url"].as_str().expect("a link");
        let recorded_link = recorded(dialect, "review-created")["html_url"].as_str().expect("a link").to_owned();
        let word = |link: &str| link.split(['#', '-']).nth(1).map(str::to_owned);
        assert_eq!(word(link), word(&recorded_link), "{dialect:?}");
        let timeline = visit.get("issues/1/timeline?page=1").json(200);
        let rows = timeline.as_array().expect("rows");
        let row = rows.iter().find(|row| row["type"] == "review").expect("the review's row");
        alike(&visit, "timeline-review-row", row);
        let path = format!("issues/comments/{}", row["id"]);
        let edited = visit.send("PATCH", &path, Some(&json!({ "body": "other words" }))).expect("an answer");
        alike(&visit, "review-edit-response", &edited.json(200));
    }
}

#[test]
fn rows_of_the_list_of_reviews() {
    for dialect in Dialect::ALL {
        let visit = Visit::new(dialect);
        review(&visit, "COMMENT");
        for name in ["bot", "ruth"] {
            visit.person("alice").request_review(name);
        }
        alike(&visit, "reviews-with-request", &visit.get("pulls/1/reviews").json(200));
        let visit = Visit::new(dialect);
        let bad = json!({ "path": "../../etc", "body": "why?", "new_position": 2 });
        let good = json!({ "path": "a.txt", "body": "why?", "new_position": 2 });
        let body = json!({ "body": "words", "event": "COMMENT", "comments": [good, bad, good] });
        assert_eq!(visit.post("pulls/1/reviews", &body).json(500)["message"], "");
        let left = visit.get("pulls/1/reviews").json(200);
        alike(&visit, "reviews-orphan-pending", &left);
        let seen = recorded(dialect, "reviews-orphan-pending");
        for member in ["state", "body", "comments_count", "html_url", "official"] {
            assert_eq!(left[0][member], seen[0][member], "{dialect:?} {member}");
        }
    }
}

#[test]
fn threads_and_replies() {
    for dialect in Dialect::ALL {
        let visit = Visit::new(dialect);
        let made = review(&visit, "COMMENT");
        let comments = format!("pulls/1/reviews/{}/comments", made["id"]);
        let root = visit.get(&comments).json(200)[0]["id"].clone();
        if dialect != Dialect::Forgejo10 {
            assert_eq!(visit.post(&format!("pulls/comments/{root}/resolve"), &Value::Null).status, 204);
            alike(&visit, "thread-resolved", &visit.get(&comments).json(200));
        }
        if dialect == Dialect::Gitea127 {
            let path = format!("pulls/1/comments/{root}/replies");
            alike(&visit, "reply-created", &visit.as_("ruth").post(&path, &json!({ "body": "so" })).json(201));
        }
        if dialect == Dialect::Forgejo10 {
            let body = json!({ "body": "so", "path": "a.txt", "new_position": 2 });
            alike(&visit, "reply-created", &visit.as_("ruth").post(&comments, &body).json(200));
            visit.person("alice").resolve(&root.to_string().as_str().into());
            alike(&visit, "thread-resolved", &visit.get(&comments).json(200));
        }
    }
}

#[test]
fn labels_in_the_timeline() {
    for dialect in Dialect::ALL {
        let visit = Visit::new(dialect);
        visit.world.create_labels(&["wip"]);
        let set = visit.post("issues/1/labels", &json!({ "labels": ["wip", "unknown"] })).json(200);
        assert_eq!(set.as_array().map(Vec::len), Some(1), "what is unknown is left out");
        let off = format!("issues/1/labels/{}", set[0]["id"]);
        assert_eq!(visit.send("DELETE", &off, None).expect("an answer").status, 204);
        let rows = visit.get("issues/1/timeline").json(200);
        alike(&visit, "timeline-labels", &rows);
        let seen = recorded(dialect, "timeline-labels");
        for row in 0..2 {
            assert_eq!((&rows[row]["type"], &rows[row]["body"]), (&seen[row]["type"], &seen[row]["body"]));
        }
    }
}

#[test]
fn statuses() {
    for dialect in Dialect::ALL {
        let visit = Visit::new(dialect);
        let (read, write) =
            (format!("commits/{}/status", visit.head.as_str()), format!("statuses/{}", visit.head.as_str()));
        let none = visit.get(&read).json(200);
        alike(&visit, "status-none", &none);
        assert_eq!(none["state"], recorded(dialect, "status-none")["state"]);
        for state in ["pending", "success"] {
            let body = json!({ "context": "ci/a", "description": "d", "state": state });
            assert_eq!(visit.post(&write, &body).status, 201);
        }
        let combined = visit.get(&read).json(200);
        alike(&visit, "status-combined", &combined);
        assert_eq!(combined["state"], "success");
        let all = visit.get(&write);
        assert_eq!(all.total(), 2, "what was said before is still there");
        let seen = &recorded(dialect, "status-combined")["statuses"][0];
        for row in all.json(200).as_array().expect("a list") {
            assert_eq!(differences("statuses", seen, row), [""; 0], "{dialect:?}");
        }
    }
}

#[test]
fn errors() {
    for dialect in Dialect::ALL {
        let visit = Visit::new(dialect);
        let seen = recorded(dialect, "errors");
        let own = json!({ "body": "fine", "event": "APPROVED" });
        let twice = json!({ "base": "main", "head": "feature", "title": "again" });
        for (name, answer) in [
            ("401", visit.with_token("wrong").get("pulls/1").json(401)),
            ("404-private-repo", visit.get("/api/v1/repos/acme/secret").json(404)),
            ("409-duplicate-pr", visit.post("pulls", &twice).json(409)),
            ("422-self-approve", visit.as_("alice").post("pulls/1/reviews", &own).json(422)),
        ] {
            let differences = differences(name, &seen[name], &answer);
            assert!(differences.is_empty(), "{dialect:?}: {}", differences.join("; "));
            if name != "409-duplicate-pr" {
                assert_eq!(seen[name]["message"], answer["message"], "{dialect:?} {name}");
            }
        }
    }
}
