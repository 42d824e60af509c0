//! The fake servers reproduce the quirks of real ones.

use referee_core::model::CheckState;
use referee_testkit::dialect::Dialect;
use referee_testkit::{CallFault, FaultAt, SentPart};
use serde_json::{Value, json};

use crate::raw_client::ApiFixture;

fn for_each_dialect(run: impl Fn(&ApiFixture)) {
    Dialect::ALL.into_iter().for_each(|dialect| run(&ApiFixture::new(dialect)));
}

#[test]
fn reviews_are_paged_as_on_each_server() {
    for_each_dialect(|api| {
        for n in 0..60 {
            api.person("ruth").review_without_verdict(&format!("remark {n}"));
        }
        api.person("ruth").leave_draft("a.txt", 1, "later");
        let rows = |query: &str| api.get(&format!("pulls/1/reviews{query}")).rows();
        let paged = [rows("?page=1"), rows("?page=1&limit=50"), rows("?page=1&limit=100"), rows("?page=3&limit=50")];
        assert_eq!(paged, [30, 50, 50, 0], "{:?}", api.dialect);
        let unpaged = [rows(""), rows("?limit=1"), rows("?limit=100"), rows("?limit=0")];
        let expected = if api.dialect == Dialect::Forgejo10 { [60; 4] } else { [30, 1, 50, 30] };
        assert_eq!(unpaged, expected, "{:?}", api.dialect);
        // The draft is hidden, but the total includes it.
        let last = api.get("pulls/1/reviews?page=2&limit=50");
        assert_eq!((last.rows(), last.total()), (10, 61));
        let own = api.as_("ruth").get("pulls/1/reviews?page=2&limit=50").json(200);
        let draft = own.as_array().and_then(|rows| rows.last()).cloned().expect("a row");
        assert_eq!((&draft["state"], &draft["html_url"]), (&json!("PENDING"), &json!("")));
        assert_eq!(api.get(&format!("pulls/1/reviews/{}", draft["id"])).status, 404);
        assert_eq!(api.get(&format!("pulls/1/reviews/{}/comments", draft["id"])).status, 404);
    });
}

#[test]
fn hidden_rows_shorten_the_pages_of_the_timeline() {
    for_each_dialect(|api| {
        for n in 0..6 {
            api.person("ruth").comment(&format!("comment {n}"));
        }
        for n in 0..6 {
            api.person("ruth").open_thread("a.txt", n % 3 + 1, &format!("note {n}"));
        }
        let first = api.get("issues/1/timeline?page=1&limit=6");
        assert_eq!((first.rows(), first.total()), (6, 6), "the total is the length of the page");
        // Each note is wrapped in a review, so half of the following rows are hidden.
        let second = api.get("issues/1/timeline?page=2&limit=6");
        assert_eq!((second.rows(), second.total()), (3, 3));
        let notes = api.get("issues/1/timeline?page=8&limit=1").json(200);
        let beyond = api.get("issues/1/timeline?page=9&limit=6").json(200);
        let (hidden, shown) = (api.get("issues/1/timeline?page=7&limit=1").json(200), notes);
        assert!(hidden.is_null() != shown.is_null(), "one of two neighbours is hidden: {hidden} {shown}");
        assert!(beyond.is_null());
    });
}

#[test]
fn an_edit_is_visible_only_in_the_timeline_and_matches_since() {
    for_each_dialect(|api| {
        let created = api.post("pulls/1/reviews", &json!({ "body": "first", "event": "COMMENT" })).json(200);
        api.person("ruth").comment("meanwhile");
        let before = api.get("issues/1/timeline").json(200)[0].clone();
        let path = format!("issues/comments/{}", before["id"]);
        let edited = api.send("PATCH", &path, Some(&json!({ "body": "second" }))).expect("a response");
        let moment = edited.json(200)["updated_at"].as_str().expect("a time").to_owned();
        let since = api.get(&format!("issues/1/timeline?since={moment}")).json(200);
        assert_eq!(since.as_array().map(Vec::len), Some(1));
        assert_eq!((&since[0]["body"], &since[0]["review_id"]), (&json!("second"), &created["id"]));
        let listed = api.get("pulls/1/reviews").json(200);
        assert_eq!((&listed[0]["body"], &listed[0]["updated_at"]), (&json!("first"), &created["updated_at"]));
        let refused = api.as_("paul").send("PATCH", &path, Some(&json!({ "body": "mine" }))).expect("a response");
        assert_eq!((refused.status, refused.body.as_str()), (403, ""), "a reader may not edit");
    });
}

#[test]
fn unknown_events_make_a_draft_which_the_next_post_adopts() {
    for_each_dialect(|api| {
        let mut ids = Vec::new();
        for event in ["APPROVE", "comment", "approved", "", "PENDING"] {
            let created = api.post("pulls/1/reviews", &json!({ "body": "words", "event": event })).json(200);
            assert_eq!(created["state"], "PENDING", "`{event}`");
            ids.push(created["id"].clone());
        }
        ids.dedup();
        assert_eq!(ids.len(), 1, "all events share one draft");
        let empty = api.post("pulls/1/reviews", &json!({ "event": "COMMENT" }));
        assert_eq!(empty.status, 422);
        let real = api.post("pulls/1/reviews", &json!({ "body": "real", "event": "COMMENT" })).json(200);
        assert_eq!((&real["id"], &real["body"], &real["state"]), (&ids[0], &json!("real"), &json!("COMMENT")));
        let again = api.post(&format!("pulls/1/reviews/{}", ids[0]), &json!({ "body": "x", "event": "COMMENT" }));
        assert_eq!(again.status, 422);
    });
}

#[test]
fn a_submitted_draft_names_the_current_head() {
    for_each_dialect(|api| {
        let comment = json!({ "path": "a.txt", "body": "why?", "new_position": 2 });
        let draft = api.post("pulls/1/reviews", &json!({ "comments": [comment] })).json(200);
        let head = api.person("alice").push("a.txt", |text| format!("{text}six\n"));
        let path = format!("pulls/1/reviews/{}", draft["id"]);
        assert_eq!(api.post(&path, &json!({ "event": "APPROVE" })).status, 422, "the review would stay a draft");
        assert_eq!(api.as_("ruth").post(&path, &json!({ "body": "x", "event": "COMMENT" })).status, 404);
        let created = api.post(&path, &json!({ "event": "COMMENT" })).json(200);
        assert_eq!((&created["commit_id"], &created["comments_count"]), (&json!(head.as_str()), &json!(1)));
    });
}

#[test]
fn a_line_past_the_end_is_stored_or_leaves_a_draft() {
    for_each_dialect(|api| {
        let comment_on = |line: u32| json!({ "path": "a.txt", "body": format!("line {line}"), "new_position": line });
        let missing_file = json!({ "path": "b.txt", "body": "no such file", "new_position": 1 });
        let body = json!({ "body": "words", "event": "COMMENT", "comments": [comment_on(1), missing_file, comment_on(999), comment_on(2)] });
        let response = api.post("pulls/1/reviews", &body);
        let row = api.get("pulls/1/reviews").json(200)[0].clone();
        let comments = api.get(&format!("pulls/1/reviews/{}/comments", row["id"])).json(200);
        let hunk_of = |text: &str| {
            let all = comments.as_array().expect("rows");
            all.iter().find(|comment| comment["body"] == text).map(|comment| comment["diff_hunk"] != "")
        };
        assert_eq!((hunk_of("line 1"), hunk_of("no such file")), (Some(true), Some(false)));
        if api.dialect == Dialect::Forgejo10 {
            assert_eq!((response.status, hunk_of("line 999"), hunk_of("line 2")), (200, Some(false), Some(true)));
        } else {
            assert_eq!((response.status, &row["state"], &row["body"]), (500, &json!("PENDING"), &json!("")));
            assert_eq!(
                (hunk_of("line 999"), hunk_of("line 2")),
                (None, None),
                "the comments before the bad line remain"
            );
        }
    });
}

#[test]
fn missing_routes_answer_405_or_404() {
    for_each_dialect(|api| {
        let comment = json!({ "path": "a.txt", "body": "why?", "new_position": 2 });
        let created = api.post("pulls/1/reviews", &json!({ "event": "COMMENT", "comments": [comment] })).json(200);
        let comments = format!("pulls/1/reviews/{}/comments", created["id"]);
        let root = api.get(&comments).json(200)[0]["id"].clone();
        let reply = api.post(&format!("pulls/1/comments/{root}/replies"), &json!({ "body": "so" }));
        let added = api.post(&comments, &json!({ "body": "so", "path": "a.txt", "new_position": 2 }));
        let resolved = api.post(&format!("pulls/comments/{root}/resolve"), &Value::Null);
        let statuses = [reply.status, added.status, resolved.status];
        assert_eq!(
            statuses,
            match api.dialect {
                Dialect::Gitea126 => [405, 405, 204],
                Dialect::Gitea127 => [201, 405, 204],
                Dialect::Forgejo10 => [405, 200, 405],
            }
        );
        for response in [reply, added, resolved].iter().filter(|response| response.status == 405) {
            assert_eq!(response.body, "");
        }
        let unknown = api.post("issues/1/assignees", &json!({ "assignees": ["bot"] }));
        assert_eq!((unknown.status, unknown.headers["content-type"].as_str()), (404, "text/plain; charset=utf-8"));
    });
}

#[test]
fn forgejo_answers_500_after_storing_a_comment() {
    for_each_dialect(|api| {
        let response = api.post("issues/1/comments", &json!({ "body": "words" }));
        assert_eq!(response.status, if api.dialect == Dialect::Forgejo10 { 500 } else { 201 });
        assert_eq!(api.get("issues/1/comments?limit=1&page=7").json(200)[0]["body"], "words");
    });
}

#[test]
fn forbidden_requests_fail_differently_on_each_route() {
    for_each_dialect(|api| {
        api.world.create_labels(&["wip"]);
        let paul = api.as_("paul");
        let label = paul.post("issues/1/labels", &json!({ "labels": ["wip"] }));
        let is_html = api.dialect == Dialect::Forgejo10;
        assert_eq!((label.status, label.body.starts_with("<!DOCTYPE html>")), (403, is_html));
        let assign = paul.send("PATCH", "issues/1", Some(&json!({ "assignees": ["paul"] }))).expect("a response");
        assert_eq!((assign.status, assign.body.as_str()), (403, ""));
        let status = paul.post(&format!("statuses/{}", api.head.as_str()), &json!({ "state": "success" }));
        assert_eq!(status.json(403)["message"], "user should have a permission to write to a repo");
        let approved = paul.post("pulls/1/reviews", &json!({ "event": "APPROVED" })).json(200);
        assert_eq!(approved["official"], false);
    });
}

#[test]
fn the_combined_status_covers_one_page() {
    for_each_dialect(|api| {
        for n in 0..61 {
            api.person("ruth").report_check(&format!("ci/{n}"), CheckState::Pass);
        }
        api.person("ruth").report_check("ci/last", CheckState::Fail);
        let page = |n: u32| api.get(&format!("commits/{}/status?page={n}&limit=50", api.head.as_str()));
        let (first, second) = (page(1), page(2));
        assert_eq!((first.total(), second.total()), (62, 62));
        let (first, second) = (first.json(200), second.json(200));
        assert_eq!((&first["state"], &first["total_count"]), (&json!("success"), &json!(50)));
        assert_eq!((&second["state"], &second["total_count"]), (&json!("failure"), &json!(12)));
    });
}

#[test]
fn only_the_first_reaction_of_a_user_answers_201() {
    for_each_dialect(|api| {
        let react = |name: &str| api.as_(name).post("issues/1/reactions", &json!({ "content": "rocket" })).status;
        assert_eq!([react("bot"), react("bot"), react("ruth")], [201, 200, 201]);
        assert_eq!(api.get("issues/1/reactions").rows(), 2);
        let off =
            || api.send("DELETE", "issues/1/reactions", Some(&json!({ "content": "rocket" }))).expect("a response");
        let removed = if api.dialect == Dialect::Forgejo10 { 200 } else { 204 };
        assert_eq!([off().status, off().status, react("bot")], [removed, removed, 201]);
        assert_eq!(api.post("issues/1/reactions", &json!({ "content": "shrug" })).status, 403);
    });
}

#[test]
fn newer_verdicts_change_the_flags_of_older_ones() {
    for_each_dialect(|api| {
        let inline = json!([{ "path": "a.txt", "body": "why?", "new_position": 2 }]);
        let post = |comments: &Value| {
            let body = json!({ "body": "no", "event": "REQUEST_CHANGES", "comments": comments });
            assert_eq!(api.post("pulls/1/reviews", &body).status, 200);
        };
        let flags = || {
            let rows = api.get("pulls/1/reviews").json(200);
            let flag = |row: &Value, name: &str| row[name].as_bool().expect("a flag");
            let rows = rows.as_array().cloned().unwrap_or_default();
            rows.iter().map(|row| (flag(row, "official"), flag(row, "dismissed"))).collect::<Vec<_>>()
        };
        post(&Value::Null);
        post(&inline);
        assert_eq!(flags(), [(false, false), (true, false)], "after a newer verdict with inline comments");
        post(&Value::Null);
        assert_eq!(flags(), [(false, true), (false, true), (true, false)], "after a newer verdict without");
        api.person("alice").request_review("bot");
        assert_eq!(flags()[2..], [(false, false), (true, false)], "after a request, which is a row with weight");
    });
}

#[test]
fn a_comment_whose_line_is_gone_looks_edited() {
    for_each_dialect(|api| {
        api.person("ruth").open_thread("a.txt", 2, "why?");
        api.person("ruth").open_thread("a.txt", 3, "and here?");
        api.person("alice").push("a.txt", |text| text.replace("two\n", "2\n"));
        let touched = |id: u32| {
            let rows = api.get(&format!("pulls/1/reviews/{id}/comments")).json(200);
            (rows[0]["created_at"] != rows[0]["updated_at"], rows[0]["position"].clone())
        };
        assert_eq!([touched(1), touched(2)], [(true, json!(2)), (false, json!(3))]);
    });
}

#[test]
fn a_force_push_may_rewrite_the_timeline() {
    for_each_dialect(|api| {
        let pushes = || {
            let rows = api.get("issues/1/timeline").json(200);
            let rows = rows.as_array().cloned().unwrap_or_default();
            let bodies = rows.iter().filter(|row| row["type"] == "pull_push").filter_map(|row| row["body"].as_str());
            bodies.map(|body| serde_json::from_str::<Value>(body).expect("JSON in JSON")).collect::<Vec<_>>()
        };
        let second = api.person("alice").push("a.txt", |text| format!("{text}six\n"));
        assert_eq!(pushes(), [json!({ "is_force_push": false, "commit_ids": [second.as_str()] })]);
        let third = api.person("alice").force_push("a.txt", |text| format!("{text}seven\n"));
        let kept = if api.dialect == Dialect::Forgejo10 { 2 } else { 1 };
        assert_eq!(pushes().len(), kept);
        let last = json!({ "is_force_push": true, "commit_ids": [second.as_str(), third.as_str()] });
        assert_eq!(pushes().last(), Some(&last));
    });
}

#[test]
fn responses_carry_the_clock_of_the_world() {
    for_each_dialect(|api| {
        let response = api.get("/api/v1/version");
        assert!(api.world.now().to_string().starts_with("2026-11-15 10:40"), "{}", api.world.now());
        assert!(response.headers["date"].starts_with("Sun, 15 Nov 2026 10:40:"), "{}", response.headers["date"]);
        assert_eq!(response.json(200)["version"], api.dialect.version());
    });
}

#[test]
fn faults_appear_as_http_failures() {
    for_each_dialect(|api| {
        let comment = |text: &str| api.send("POST", "issues/1/comments", Some(&json!({ "body": text })));
        let stored = || api.get("issues/1/comments").rows();
        api.world.inject_fault(FaultAt::Write(1), CallFault::LoseReply);
        assert!(comment("lost").is_none() && stored() == 1, "stored without a response");
        api.world.inject_fault(FaultAt::Write(1), CallFault::FailBefore);
        assert_eq!((comment("before").map(|response| response.status), stored()), (Some(502), 1));
        api.world.inject_fault(FaultAt::Write(1), CallFault::FailAfter500);
        assert_eq!((comment("after").map(|response| response.status), stored()), (Some(502), 2));
        api.world.inject_fault(FaultAt::Call(1), CallFault::RetryLater);
        assert_eq!(api.get("pulls/1").status, 429);
        api.world.inject_fault(FaultAt::Call(1), CallFault::Truncate);
        assert!(serde_json::from_str::<Value>(&api.get("pulls/1").body).is_err(), "the body is cut in half");
        api.world.inject_fault(FaultAt::Write(1), CallFault::Crash(SentPart::Half));
        let comment_on = |line: u32| json!({ "path": "a.txt", "body": format!("line {line}"), "new_position": line });
        let body = json!({ "body": "words", "event": "COMMENT", "comments": [comment_on(1), comment_on(2)] });
        assert!(api.send("POST", "pulls/1/reviews", Some(&body)).is_none());
        assert!(api.send("GET", "pulls/1", None).is_none(), "the client crashed");
        api.world.restart_client(&api.client);
        let remaining = api.get("pulls/1/reviews").json(200);
        assert_eq!((&remaining[0]["state"], &remaining[0]["comments_count"]), (&json!("PENDING"), &json!(1)));
        api.world.revoke_token(&api.client);
        assert_eq!(api.get("pulls/1").status, 401);
    });
}
