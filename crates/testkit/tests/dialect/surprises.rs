//! What hurt on real servers hurts here.

use referee_core::model::CheckState;
use referee_testkit::dialect::Dialect;
use referee_testkit::{CallFault, FaultAt, SentPart};
use serde_json::{Value, json};

use crate::visitor::Visit;

fn on_each(run: impl Fn(&Visit)) {
    Dialect::ALL.into_iter().for_each(|dialect| run(&Visit::new(dialect)));
}

#[test]
fn reviews_are_paged_as_each_server_does() {
    on_each(|visit| {
        for n in 0..60 {
            visit.person("ruth").review_without_verdict(&format!("remark {n}"));
        }
        visit.person("ruth").leave_draft("a.txt", 1, "later");
        let rows = |query: &str| visit.get(&format!("pulls/1/reviews{query}")).rows();
        let paged = [rows("?page=1"), rows("?page=1&limit=50"), rows("?page=1&limit=100"), rows("?page=3&limit=50")];
        assert_eq!(paged, [30, 50, 50, 0], "{:?}", visit.dialect);
        let unpaged = [rows(""), rows("?limit=1"), rows("?limit=100"), rows("?limit=0")];
        let expected = if visit.dialect == Dialect::Forgejo10 { [60; 4] } else { [30, 1, 50, 30] };
        assert_eq!(unpaged, expected, "{:?}", visit.dialect);
        // The draft is hidden, and counted all the same.
        let last = visit.get("pulls/1/reviews?page=2&limit=50");
        assert_eq!((last.rows(), last.total()), (10, 61));
        let own = visit.as_("ruth").get("pulls/1/reviews?page=2&limit=50").json(200);
        let draft = own.as_array().and_then(|rows| rows.last()).cloned().expect("a row");
        assert_eq!((&draft["state"], &draft["html_url"]), (&json!("PENDING"), &json!("")));
        assert_eq!(visit.get(&format!("pulls/1/reviews/{}", draft["id"])).status, 404);
        assert_eq!(visit.get(&format!("pulls/1/reviews/{}/comments", draft["id"])).status, 404);
    });
}

#[test]
fn pages_of_the_timeline_are_shortened_by_what_is_hidden() {
    on_each(|visit| {
        for n in 0..6 {
            visit.person("ruth").comment(&format!("comment {n}"));
        }
        for n in 0..6 {
            visit.person("ruth").open_thread("a.txt", n % 3 + 1, &format!("note {n}"));
        }
        let first = visit.get("issues/1/timeline?page=1&limit=6");
        assert_eq!((first.rows(), first.total()), (6, 6), "the count is the page's own");
        // Each note comes in a review of its own: half of what follows is hidden.
        let second = visit.get("issues/1/timeline?page=2&limit=6");
        assert_eq!((second.rows(), second.total()), (3, 3));
        let notes = visit.get("issues/1/timeline?page=8&limit=1").json(200);
        let beyond = visit.get("issues/1/timeline?page=9&limit=6").json(200);
        let (hidden, shown) = (visit.get("issues/1/timeline?page=7&limit=1").json(200), notes);
        assert!(hidden.is_null() != shown.is_null(), "one of two neighbours is hidden: {hidden} {shown}");
        assert!(beyond.is_null());
    });
}

#[test]
fn an_edit_shows_in_the_timeline_alone_and_is_found_by_since() {
    on_each(|visit| {
        let made = visit.post("pulls/1/reviews", &json!({ "body": "first", "event": "COMMENT" })).json(200);
        visit.person("ruth").comment("meanwhile");
        let before = visit.get("issues/1/timeline").json(200)[0].clone();
        let path = format!("issues/comments/{}", before["id"]);
        let edited = visit.send("PATCH", &path, Some(&json!({ "body": "second" }))).expect("an answer");
        let moment = edited.json(200)["updated_at"].as_str().expect("a time").to_owned();
        let since = visit.get(&format!("issues/1/timeline?since={moment}")).json(200);
        assert_eq!(since.as_array().map(Vec::len), Some(1));
        assert_eq!((&since[0]["body"], &since[0]["review_id"]), (&json!("second"), &made["id"]));
        let listed = visit.get("pulls/1/reviews").json(200);
        assert_eq!((&listed[0]["body"], &listed[0]["updated_at"]), (&json!("first"), &made["updated_at"]));
        let foreign = visit.as_("paul").send("PATCH", &path, Some(&json!({ "body": "mine" }))).expect("an answer");
        assert_eq!((foreign.status, foreign.body.as_str()), (403, ""), "as a reader");
    });
}

#[test]
fn events_that_are_no_events_make_drafts_and_the_next_post_takes_them_over() {
    on_each(|visit| {
        let mut ids = Vec::new();
        for event in ["APPROVE", "comment", "approved", "", "PENDING"] {
            let made = visit.post("pulls/1/reviews", &json!({ "body": "words", "event": event })).json(200);
            assert_eq!(made["state"], "PENDING", "`{event}`");
            ids.push(made["id"].clone());
        }
        ids.dedup();
        assert_eq!(ids.len(), 1, "one draft for all");
        let empty = visit.post("pulls/1/reviews", &json!({ "event": "COMMENT" }));
        assert_eq!(empty.status, 422);
        let real = visit.post("pulls/1/reviews", &json!({ "body": "real", "event": "COMMENT" })).json(200);
        assert_eq!((&real["id"], &real["body"], &real["state"]), (&ids[0], &json!("real"), &json!("COMMENT")));
        let again = visit.post(&format!("pulls/1/reviews/{}", ids[0]), &json!({ "body": "x", "event": "COMMENT" }));
        assert_eq!(again.status, 422);
    });
}

#[test]
fn a_submitted_draft_is_at_the_head() {
    on_each(|visit| {
        let comment = json!({ "path": "a.txt", "body": "why?", "new_position": 2 });
        let draft = visit.post("pulls/1/reviews", &json!({ "comments": [comment] })).json(200);
        let head = visit.person("alice").push("a.txt", |text| format!("{text}six\n"));
        let path = format!("pulls/1/reviews/{}", draft["id"]);
        assert_eq!(visit.post(&path, &json!({ "event": "APPROVE" })).status, 422, "it would stay a draft");
        assert_eq!(visit.as_("ruth").post(&path, &json!({ "body": "x", "event": "COMMENT" })).status, 404);
        let made = visit.post(&path, &json!({ "event": "COMMENT" })).json(200);
        assert_eq!((&made["commit_id"], &made["comments_count"]), (&json!(head.as_str()), &json!(1)));
    });
}

#[test]
fn a_line_past_the_end_is_stored_or_tears_the_review() {
    on_each(|visit| {
        let on = |line: u32| json!({ "path": "a.txt", "body": format!("line {line}"), "new_position": line });
        let nowhere = json!({ "path": "b.txt", "body": "no such file", "new_position": 1 });
        let body = json!({ "body": "words", "event": "COMMENT", "comments": [on(1), nowhere, on(999), on(2)] });
        let answer = visit.post("pulls/1/reviews", &body);
        let row = visit.get("pulls/1/reviews").json(200)[0].clone();
        let comments = visit.get(&format!("pulls/1/reviews/{}/comments", row["id"])).json(200);
        let hunk_of = |text: &str| {
            let all = comments.as_array().expect("rows");
            all.iter().find(|comment| comment["body"] == text).map(|comment| comment["diff_hunk"] != "")
        };
        assert_eq!((hunk_of("line 1"), hunk_of("no such file")), (Some(true), Some(false)));
        if visit.dialect == Dialect::Forgejo10 {
            assert_eq!((answer.status, hunk_of("line 999"), hunk_of("line 2")), (200, Some(false), Some(true)));
        } else {
            assert_eq!((answer.status, &row["state"], &row["body"]), (500, &json!("PENDING"), &json!("")));
            assert_eq!((hunk_of("line 999"), hunk_of("line 2")), (None, None), "what came before is left");
        }
    });
}

#[test]
fn routes_that_a_server_lacks() {
    on_each(|visit| {
        let comment = json!({ "path": "a.txt", "body": "why?", "new_position": 2 });
        let made = visit.post("pulls/1/reviews", &json!({ "event": "COMMENT", "comments": [comment] })).json(200);
        let comments = format!("pulls/1/reviews/{}/comments", made["id"]);
        let root = visit.get(&comments).json(200)[0]["id"].clone();
        let reply = visit.post(&format!("pulls/1/comments/{root}/replies"), &json!({ "body": "so" }));
        let added = visit.post(&comments, &json!({ "body": "so", "path": "a.txt", "new_position": 2 }));
        let resolved = visit.post(&format!("pulls/comments/{root}/resolve"), &Value::Null);
        let statuses = [reply.status, added.status, resolved.status];
        assert_eq!(
            statuses,
            match visit.dialect {
                Dialect::Gitea126 => [405, 405, 204],
                Dialect::Gitea127 => [201, 405, 204],
                Dialect::Forgejo10 => [405, 200, 405],
            }
        );
        for answer in [reply, added, resolved].iter().filter(|answer| answer.status == 405) {
            assert_eq!(answer.body, "");
        }
        let unknown = visit.post("issues/1/assignees", &json!({ "assignees": ["bot"] }));
        assert_eq!((unknown.status, unknown.headers["content-type"].as_str()), (404, "text/plain; charset=utf-8"));
    });
}

#[test]
fn a_comment_may_be_stored_and_answered_with_an_error() {
    on_each(|visit| {
        let answer = visit.post("issues/1/comments", &json!({ "body": "words" }));
        assert_eq!(answer.status, if visit.dialect == Dialect::Forgejo10 { 500 } else { 201 });
        assert_eq!(visit.get("issues/1/comments?limit=1&page=7").json(200)[0]["body"], "words");
    });
}

#[test]
fn who_may_not_is_told_in_many_ways() {
    on_each(|visit| {
        visit.world.create_labels(&["wip"]);
        let paul = visit.as_("paul");
        let label = paul.post("issues/1/labels", &json!({ "labels": ["wip"] }));
        let page = visit.dialect == Dialect::Forgejo10;
        assert_eq!((label.status, label.body.starts_with("<!DOCTYPE html>")), (403, page));
        let assign = paul.send("PATCH", "issues/1", Some(&json!({ "assignees": ["paul"] }))).expect("an answer");
        assert_eq!((assign.status, assign.body.as_str()), (403, ""));
        let status = paul.post(&format!("statuses/{}", visit.head.as_str()), &json!({ "state": "success" }));
        assert_eq!(status.json(403)["message"], "user should have a permission to write to a repo");
        let approved = paul.post("pulls/1/reviews", &json!({ "event": "APPROVED" })).json(200);
        assert_eq!(approved["official"], false);
    });
}

#[test]
fn the_sum_of_statuses_is_of_one_page() {
    on_each(|visit| {
        for n in 0..61 {
            visit.person("ruth").report_check(&format!("ci/{n}"), CheckState::Pass);
        }
        visit.person("ruth").report_check("ci/last", CheckState::Fail);
        let page = |n: u32| visit.get(&format!("commits/{}/status?page={n}&limit=50", visit.head.as_str()));
        let (first, second) = (page(1), page(2));
        assert_eq!((first.total(), second.total()), (62, 62));
        let (first, second) = (first.json(200), second.json(200));
        assert_eq!((&first["state"], &first["total_count"]), (&json!("success"), &json!(50)));
        assert_eq!((&second["state"], &second["total_count"]), (&json!("failure"), &json!(12)));
    });
}

#[test]
fn the_first_reaction_is_made_and_the_others_are_told() {
    on_each(|visit| {
        let react = |name: &str| visit.as_(name).post("issues/1/reactions", &json!({ "content": "rocket" })).status;
        assert_eq!([react("bot"), react("bot"), react("ruth")], [201, 200, 201]);
        assert_eq!(visit.get("issues/1/reactions").rows(), 2);
        let off =
            || visit.send("DELETE", "issues/1/reactions", Some(&json!({ "content": "rocket" }))).expect("an answer");
        let gone = if visit.dialect == Dialect::Forgejo10 { 200 } else { 204 };
        assert_eq!([off().status, off().status, react("bot")], [gone, gone, 201]);
        assert_eq!(visit.post("issues/1/reactions", &json!({ "content": "shrug" })).status, 403);
    });
}

#[test]
fn flags_of_verdicts_are_set_and_cleared_by_newer_ones() {
    on_each(|visit| {
        let inline = json!([{ "path": "a.txt", "body": "why?", "new_position": 2 }]);
        let post = |comments: &Value| {
            let body = json!({ "body": "no", "event": "REQUEST_CHANGES", "comments": comments });
            assert_eq!(visit.post("pulls/1/reviews", &body).status, 200);
        };
        let flags = || {
            let rows = visit.get("pulls/1/reviews").json(200);
            let flag = |row: &Value, name: &str| row[name].as_bool().expect("a flag");
            let rows = rows.as_array().cloned().unwrap_or_default();
            rows.iter().map(|row| (flag(row, "official"), flag(row, "dismissed"))).collect::<Vec<_>>()
        };
        post(&Value::Null);
        post(&inline);
        assert_eq!(flags(), [(false, false), (true, false)], "a newer one with inline comments");
        post(&Value::Null);
        assert_eq!(flags(), [(false, true), (false, true), (true, false)], "a newer one without");
        visit.person("alice").request_review("bot");
        assert_eq!(flags()[2..], [(false, false), (true, false)], "asked again: the request is a row that counts");
    });
}

#[test]
fn a_comment_whose_line_went_away_looks_edited() {
    on_each(|visit| {
        visit.person("ruth").open_thread("a.txt", 2, "why?");
        visit.person("ruth").open_thread("a.txt", 3, "and here?");
        visit.person("alice").push("a.txt", |text| text.replace("two\n", "2\n"));
        let touched = |id: u32| {
            let rows = visit.get(&format!("pulls/1/reviews/{id}/comments")).json(200);
            (rows[0]["created_at"] != rows[0]["updated_at"], rows[0]["position"].clone())
        };
        assert_eq!([touched(1), touched(2)], [(true, json!(2)), (false, json!(3))]);
    });
}

#[test]
fn a_force_push_may_rewrite_the_timeline() {
    on_each(|visit| {
        let pushes = || {
            let rows = visit.get("issues/1/timeline").json(200);
            let rows = rows.as_array().cloned().unwrap_or_default();
            let bodies = rows.iter().filter(|row| row["type"] == "pull_push").filter_map(|row| row["body"].as_str());
            bodies.map(|body| serde_json::from_str::<Value>(body).expect("JSON in JSON")).collect::<Vec<_>>()
        };
        let second = visit.person("alice").push("a.txt", |text| format!("{text}six\n"));
        assert_eq!(pushes(), [json!({ "is_force_push": false, "commit_ids": [second.as_str()] })]);
        let third = visit.person("alice").force_push("a.txt", |text| format!("{text}seven\n"));
        let kept = if visit.dialect == Dialect::Forgejo10 { 2 } else { 1 };
        assert_eq!(pushes().len(), kept);
        let last = json!({ "is_force_push": true, "commit_ids": [second.as_str(), third.as_str()] });
        assert_eq!(pushes().last(), Some(&last));
    });
}

#[test]
fn the_clock_is_the_worlds() {
    on_each(|visit| {
        let answer = visit.get("/api/v1/version");
        assert!(visit.world.now().to_string().starts_with("2026-11-15 10:40"), "{}", visit.world.now());
        assert!(answer.headers["date"].starts_with("Sun, 15 Nov 2026 10:40:"), "{}", answer.headers["date"]);
        assert_eq!(answer.json(200)["version"], visit.dialect.version());
    });
}

#[test]
fn faults_look_as_they_do_on_a_wire() {
    on_each(|visit| {
        let comment = |text: &str| visit.send("POST", "issues/1/comments", Some(&json!({ "body": text })));
        let stored = || visit.get("issues/1/comments").rows();
        visit.world.inject_fault(FaultAt::Write(1), CallFault::LoseReply);
        assert!(comment("lost").is_none() && stored() == 1, "done, and nobody says so");
        visit.world.inject_fault(FaultAt::Write(1), CallFault::FailBefore);
        assert_eq!((comment("before").map(|it| it.status), stored()), (Some(502), 1));
        visit.world.inject_fault(FaultAt::Write(1), CallFault::FailAfter500);
        assert_eq!((comment("after").map(|it| it.status), stored()), (Some(502), 2));
        visit.world.inject_fault(FaultAt::Call(1), CallFault::RetryLater);
        assert_eq!(visit.get("pulls/1").status, 429);
        visit.world.inject_fault(FaultAt::Call(1), CallFault::Truncate);
        assert!(serde_json::from_str::<Value>(&visit.get("pulls/1").body).is_err(), "half of it");
        visit.world.inject_fault(FaultAt::Write(1), CallFault::Crash(SentPart::Half));
        let on = |line: u32| json!({ "path": "a.txt", "body": format!("line {line}"), "new_position": line });
        let body = json!({ "body": "words", "event": "COMMENT", "comments": [on(1), on(2)] });
        assert!(visit.send("POST", "pulls/1/reviews", Some(&body)).is_none());
        assert!(visit.send("GET", "pulls/1", None).is_none(), "the process is gone");
        visit.world.restart_client(&visit.seat);
        let left = visit.get("pulls/1/reviews").json(200);
        assert_eq!((&left[0]["state"], &left[0]["comments_count"]), (&json!("PENDING"), &json!(1)));
        visit.world.revoke_token(&visit.seat);
        assert_eq!(visit.get("pulls/1").status, 401);
    });
}
