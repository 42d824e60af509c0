//! The responses have the same fields, of the same JSON types, as the responses recorded from real servers.

use referee_testkit::dialect::Dialect;
use serde_json::{Value, json};

use crate::raw_client::ApiFixture;

/// Returns the folder of the recorded responses.
fn folder(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Gitea126 => "gitea-1.26.0",
        Dialect::Gitea127 => "gitea-1.27.3",
        Dialect::Forgejo10 => "forgejo-10",
    }
}

fn load_recorded(dialect: Dialect, name: &str) -> Value {
    let path = format!("{}/tests/fixtures/{}/{name}.json", env!("CARGO_MANIFEST_DIR"), folder(dialect));
    serde_json::from_str(&std::fs::read_to_string(&path).expect("a recorded response")).expect("JSON")
}

/// Lists missing and extra fields and differing JSON types. Arrays are compared up to the length of the shorter one.
fn list_differences(at: &str, expected: &Value, actual: &Value) -> Vec<String> {
    match (expected, actual) {
        (Value::String(text), _) if text.contains("(trimmed") => Vec::new(),
        (Value::Object(one), Value::Object(other)) => {
            let missing =
                one.keys().filter(|key| !other.contains_key(*key)).map(|key| format!("{at}.{key} is missing"));
            // The repository was removed from the recorded statuses.
            let more = other.keys().filter(|key| !one.contains_key(*key) && *key != "repository");
            let more = more.map(|key| format!("{at}.{key} is not in the recorded response"));
            let inside = one.iter().filter_map(|(key, value)| Some((key, value, other.get(key)?)));
            let inside = inside.flat_map(|(key, value, other)| list_differences(&format!("{at}.{key}"), value, other));
            missing.chain(more).chain(inside).collect()
        }
        (Value::Array(one), Value::Array(other)) => {
            let rows = one.iter().zip(other).enumerate();
            rows.flat_map(|(row, (one, other))| list_differences(&format!("{at}[{row}]"), one, other)).collect()
        }
        _ if json_type(expected) == json_type(actual) => Vec::new(),
        _ => vec![format!("{at} was {} and is {}", json_type(expected), json_type(actual))],
    }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a bool",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[track_caller]
fn assert_same_shape(api: &ApiFixture, name: &str, actual: &Value) {
    let differences = list_differences("", &load_recorded(api.dialect, name), actual);
    assert!(differences.is_empty(), "{:?} {name}: {}\n{actual}", api.dialect, differences.join("; "));
}

/// Posts a review with one inline comment as `bot`.
fn post_review(api: &ApiFixture, event: &str) -> Value {
    let comment = json!({ "path": "a.txt", "body": "why?", "new_position": 2, "old_position": 0 });
    let body = json!({ "body": "words", "event": event, "commit_id": api.head.as_str(), "comments": [comment] });
    api.post("pulls/1/reviews", &body).json(200)
}

#[test]
fn pulls_match_recorded_responses() {
    for dialect in Dialect::ALL {
        let api = ApiFixture::new(dialect);
        assert_same_shape(&api, "pull", &api.get("pulls/1").json(200));
        assert_same_shape(&api, "pull", &api.get("pulls?state=open&page=1").json(200)[0]);
    }
}

#[test]
fn reviews_and_edits_match_recorded_responses() {
    for dialect in Dialect::ALL {
        let api = ApiFixture::new(dialect);
        let created = post_review(&api, "REQUEST_CHANGES");
        assert_same_shape(&api, "review-created", &created);
        let link = created["html_url"].as_str().expect("a link");
        let recorded_link = load_recorded(dialect, "review-created")["html_url"].as_str().expect("a link").to_owned();
        let fragment_kind = |link: &str| link.split(['#', '-']).nth(1).map(str::to_owned);
        assert_eq!(fragment_kind(link), fragment_kind(&recorded_link), "{dialect:?}");
        let timeline = api.get("issues/1/timeline?page=1").json(200);
        let rows = timeline.as_array().expect("rows");
        let row = rows.iter().find(|row| row["type"] == "review").expect("the review's row");
        assert_same_shape(&api, "timeline-review-row", row);
        let path = format!("issues/comments/{}", row["id"]);
        let edited = api.send("PATCH", &path, Some(&json!({ "body": "other words" }))).expect("a response");
        assert_same_shape(&api, "review-edit-response", &edited.json(200));
    }
}

#[test]
fn review_lists_match_recorded_responses() {
    for dialect in Dialect::ALL {
        let api = ApiFixture::new(dialect);
        post_review(&api, "COMMENT");
        for name in ["bot", "ruth"] {
            api.person("alice").request_review(name);
        }
        assert_same_shape(&api, "reviews-with-request", &api.get("pulls/1/reviews").json(200));
        let api = ApiFixture::new(dialect);
        let bad = json!({ "path": "../../etc", "body": "why?", "new_position": 2 });
        let good = json!({ "path": "a.txt", "body": "why?", "new_position": 2 });
        let body = json!({ "body": "words", "event": "COMMENT", "comments": [good, bad, good] });
        assert_eq!(api.post("pulls/1/reviews", &body).json(500)["message"], "");
        let left = api.get("pulls/1/reviews").json(200);
        assert_same_shape(&api, "reviews-orphan-pending", &left);
        let expected = load_recorded(dialect, "reviews-orphan-pending");
        for member in ["state", "body", "comments_count", "html_url", "official"] {
            assert_eq!(left[0][member], expected[0][member], "{dialect:?} {member}");
        }
    }
}

#[test]
fn threads_and_replies_match_recorded_responses() {
    for dialect in Dialect::ALL {
        let api = ApiFixture::new(dialect);
        let created = post_review(&api, "COMMENT");
        let comments = format!("pulls/1/reviews/{}/comments", created["id"]);
        let root = api.get(&comments).json(200)[0]["id"].clone();
        if dialect != Dialect::Forgejo10 {
            assert_eq!(api.post(&format!("pulls/comments/{root}/resolve"), &Value::Null).status, 204);
            assert_same_shape(&api, "thread-resolved", &api.get(&comments).json(200));
        }
        if dialect == Dialect::Gitea127 {
            let path = format!("pulls/1/comments/{root}/replies");
            assert_same_shape(&api, "reply-created", &api.as_("ruth").post(&path, &json!({ "body": "so" })).json(201));
        }
        if dialect == Dialect::Forgejo10 {
            let body = json!({ "body": "so", "path": "a.txt", "new_position": 2 });
            assert_same_shape(&api, "reply-created", &api.as_("ruth").post(&comments, &body).json(200));
            api.person("alice").resolve(&root.to_string().as_str().into());
            assert_same_shape(&api, "thread-resolved", &api.get(&comments).json(200));
        }
    }
}

#[test]
fn label_events_match_recorded_responses() {
    for dialect in Dialect::ALL {
        let api = ApiFixture::new(dialect);
        api.world.create_labels(&["wip"]);
        let set = api.post("issues/1/labels", &json!({ "labels": ["wip", "unknown"] })).json(200);
        assert_eq!(set.as_array().map(Vec::len), Some(1), "the unknown label is ignored");
        let off = format!("issues/1/labels/{}", set[0]["id"]);
        assert_eq!(api.send("DELETE", &off, None).expect("a response").status, 204);
        let rows = api.get("issues/1/timeline").json(200);
        assert_same_shape(&api, "timeline-labels", &rows);
        let expected = load_recorded(dialect, "timeline-labels");
        for row in 0..2 {
            assert_eq!((&rows[row]["type"], &rows[row]["body"]), (&expected[row]["type"], &expected[row]["body"]));
        }
    }
}

#[test]
fn statuses_match_recorded_responses() {
    for dialect in Dialect::ALL {
        let api = ApiFixture::new(dialect);
        let (read, write) =
            (format!("commits/{}/status", api.head.as_str()), format!("statuses/{}", api.head.as_str()));
        let none = api.get(&read).json(200);
        assert_same_shape(&api, "status-none", &none);
        assert_eq!(none["state"], load_recorded(dialect, "status-none")["state"]);
        for state in ["pending", "success"] {
            let body = json!({ "context": "ci/a", "description": "d", "state": state });
            assert_eq!(api.post(&write, &body).status, 201);
        }
        let combined = api.get(&read).json(200);
        assert_same_shape(&api, "status-combined", &combined);
        assert_eq!(combined["state"], "success");
        let all = api.get(&write);
        assert_eq!(all.total(), 2, "superseded statuses are still listed");
        let expected = &load_recorded(dialect, "status-combined")["statuses"][0];
        for row in all.json(200).as_array().expect("an array") {
            assert_eq!(list_differences("statuses", expected, row), [""; 0], "{dialect:?}");
        }
    }
}

#[test]
fn errors_match_recorded_responses() {
    for dialect in Dialect::ALL {
        let api = ApiFixture::new(dialect);
        let expected = load_recorded(dialect, "errors");
        let own = json!({ "body": "fine", "event": "APPROVED" });
        let twice = json!({ "base": "main", "head": "feature", "title": "again" });
        for (name, response) in [
            ("401", api.with_token("wrong").get("pulls/1").json(401)),
            ("404-private-repo", api.get("/api/v1/repos/acme/secret").json(404)),
            ("409-duplicate-pr", api.post("pulls", &twice).json(409)),
            ("422-self-approve", api.as_("alice").post("pulls/1/reviews", &own).json(422)),
        ] {
            let differences = list_differences(name, &expected[name], &response);
            assert!(differences.is_empty(), "{dialect:?}: {}", differences.join("; "));
            if name != "409-duplicate-pr" {
                assert_eq!(expected[name]["message"], response["message"], "{dialect:?} {name}");
            }
        }
    }
}
