//! Recorded answers of real servers, and what they mean.

use referee_core::model::{
    Access, CheckState, Completeness, Login, Mergeable, PullNumber, PullState, Review, ReviewKind, ReviewWeight,
    Thread, Time, Verdict, Viewer,
};
use referee_core::track::Side;
use serde::de::DeserializeOwned;

use super::pull_rows::PullRows;
use crate::FetchedPull;
use crate::gitea::capabilities::lookup_capabilities;
use crate::gitea::scripted_server::{ScriptedAnswer, ScriptedServer};
use crate::gitea::wire::{self, Event, Inline, Status, Statuses, User};
use crate::gitea::{Flavour, GiteaServerInfo};

const NOW: Time = Time(1_794_739_200);

macro_rules! recorded {
    ($name:literal) => {
        parse_recorded(include_bytes!(concat!("../../../tests/fixtures/gitea/", $name, ".json")))
    };
}

fn parse_recorded<T: DeserializeOwned>(body: &[u8]) -> T {
    wire::parse_json(body).expect("the recorded answer is read")
}

fn gitea(raw: &PullRows) -> FetchedPull {
    to_fetched(raw, Flavour::Gitea, "1.27.3")
}

fn to_fetched(raw: &PullRows, flavour: Flavour, version: &str) -> FetchedPull {
    let capabilities = lookup_capabilities(flavour, version).expect("the version is known");
    let viewer = Viewer { login: "bot".into(), holds: [Login::from("bot")].into() };
    raw.to_fetched(&GiteaServerInfo { flavour, version: version.to_owned(), capabilities }, viewer)
}

fn raw() -> PullRows {
    PullRows::new(recorded!("gitea-1.27.3/pull"), NOW)
}

fn user(login: &str) -> Option<User> {
    Some(User { id: 9, login: login.to_owned() })
}

fn inline(id: u64, review: u64, by: &str, body: &str) -> Inline {
    Inline {
        id,
        pull_request_review_id: review,
        user: user(by),
        body: body.to_owned(),
        path: "a.txt".to_owned(),
        position: 5,
        ..Inline::default()
    }
}

fn row(id: u64, state: &str, by: &str, body: &str, comments_count: u64) -> wire::Review {
    let (state, body) = (state.to_owned(), body.to_owned());
    wire::Review { id, state, body, user: user(by), comments_count, ..wire::Review::default() }
}

fn event(kind: &str, by: &str, at: &str) -> Event {
    Event { kind: kind.to_owned(), user: user(by), created_at: at.to_owned(), ..Event::default() }
}

fn note_texts(thread: &Thread) -> Vec<&str> {
    thread.notes.iter().map(|note| note.text.body_or_empty()).collect()
}

#[test]
fn a_pull_is_parsed_from_each_servers_response() {
    for (flavour, version, pull) in [
        (Flavour::Gitea, "1.27.3", recorded!("gitea-1.27.3/pull")),
        (Flavour::Forgejo, "10.0.0+gitea-1.22.0", recorded!("forgejo-10/pull")),
    ] {
        let pull = to_fetched(&PullRows::new(pull, NOW), flavour, version).pull;
        assert_eq!((pull.forge.as_str(), pull.number.0, pull.state), (&*flavour.to_string(), 1, PullState::Open));
        assert_eq!((pull.author.display_name(), pull.base.as_str()), ("author", "main"));
        assert_eq!((pull.mergeable, pull.pushable), (Mergeable::Clean, Some(true)));
        assert_eq!(pull.head.as_str().len(), 40);
        assert!(pull.opened_at > Time(1_794_700_000) && pull.repo.0 == 9);
    }
}

#[test]
fn mergeable_false_alone_is_not_a_conflict() {
    let mut raw = raw();
    raw.pull.mergeable = false;
    assert_eq!(gitea(&raw).pull.mergeable, Mergeable::Unknown);
}

// spec: PUB-10 @gitea @forgejo
#[test]
fn the_text_and_the_edit_id_of_a_review_come_from_the_timeline() {
    for (reviews, event) in [
        (recorded!("gitea-1.27.3/reviews-after-edit"), recorded!("gitea-1.27.3/timeline-review-row")),
        (recorded!("forgejo-10/reviews-after-edit"), recorded!("forgejo-10/timeline-review-row")),
    ] {
        let (reviews, event): (Vec<wire::Review>, Event) = (reviews, event);
        let number = event.id.to_string();
        let raw = PullRows { reviews, events: vec![event], ..raw() };
        let reviews = gitea(&raw).reviews;
        let [Review { text, edit, .. }] = reviews.as_slice() else { panic!("{reviews:?}") };
        assert_eq!(text.body_or_empty(), "EDITED SUMMARY");
        assert_eq!(edit.as_ref().map(|edit| edit.as_str()), Some(number.as_str()));
    }
}

#[test]
fn a_review_missing_in_the_timeline_cannot_be_edited() {
    let raw = PullRows { reviews: vec![row(206, "COMMENT", "bot", "words", 0)], ..raw() };
    let reviews = gitea(&raw).reviews;
    assert!(
        reviews.iter().all(|review| review.edit.is_none() && review.text.body_or_empty() == "words"),
        "{reviews:?}"
    );
    assert!(!raw.has_expected_events(&raw.events), "so the timeline is read on");
}

#[test]
fn reviews_count_as_on_the_server() {
    let yes = ReviewWeight::Dismissed { by: None, at: Time(1_794_735_697) };
    for (reviews, reader) in [
        (recorded!("gitea-1.26.0/reviews-after-push-dismiss-stale"), &ReviewWeight::No),
        (recorded!("gitea-1.27.3/reviews-after-push-dismiss-stale"), &ReviewWeight::No),
        // There the reader is on the list of those who count.
        (recorded!("forgejo-10/reviews-after-push-dismiss-stale"), &yes),
    ] {
        let raw = PullRows { reviews, ..raw() };
        let counts: Vec<ReviewWeight> = gitea(&raw).reviews.into_iter().map(|review| review.counts).collect();
        let [first, older @ .., comment, last] = counts.as_slice() else { panic!("{counts:?}") };
        assert_eq!(std::mem::discriminant(first), std::mem::discriminant(reader));
        assert_eq!(older, [ReviewWeight::Replaced, ReviewWeight::Replaced, ReviewWeight::Replaced]);
        assert_eq!(*comment, ReviewWeight::No);
        assert!(matches!(last, ReviewWeight::Dismissed { by: None, .. }), "{last:?}");
    }
}

#[test]
fn a_dismissal_names_the_person_and_one_by_the_server_names_nobody() {
    let dismissed = wire::Review { official: true, dismissed: true, ..row(7, "APPROVED", "human", "ok", 0) };
    let by = |body: &str| {
        let event = event("dismiss_review", "owner", "2026-11-15T09:41:37Z");
        let event = Event { review_id: 7, body: body.to_owned(), ..event };
        let raw = PullRows { reviews: vec![dismissed.clone()], events: vec![event], ..raw() };
        match gitea(&raw).reviews.remove(0).counts {
            ReviewWeight::Dismissed { by, at: Time(1_794_735_697) } => by.map(|by| by.display_name().to_owned()),
            counts => panic!("{counts:?}"),
        }
    };
    assert_eq!(by("not now").as_deref(), Some("owner"));
    let text = "New commits pushed, approval review dismissed automatically according to repository settings";
    assert_eq!(by(text), None);
}

// spec: PUB-20 @gitea @forgejo
#[test]
fn a_review_request_suspends_an_earlier_verdict() {
    let at = "2026-11-15T09:41:36Z";
    let block = wire::Review { submitted_at: at.to_owned(), ..row(5, "REQUEST_CHANGES", "bot", "no", 0) };
    let request = wire::Review { official: true, ..row(6, "REQUEST_REVIEW", "bot", "", 0) };
    let asked = Event { assignee: user("bot"), ..event("review_request", "author", "2026-11-15T09:42:00Z") };
    let counts = |reviews: Vec<wire::Review>, events: Vec<Event>| {
        gitea(&PullRows { reviews, events, ..raw() }).reviews.remove(0).counts
    };
    assert_eq!(counts(vec![block.clone(), request], vec![asked.clone()]), ReviewWeight::Requested);
    let comment = row(8, "COMMENT", "bot", "hm", 0);
    assert_eq!(counts(vec![block.clone(), comment], vec![asked.clone()]), ReviewWeight::Requested, "the row is gone");
    assert_eq!(counts(vec![block.clone()], vec![]), ReviewWeight::No);
    let withdrawn = Event { removed_assignee: true, ..asked.clone() };
    assert_eq!(counts(vec![block.clone()], vec![asked, withdrawn]), ReviewWeight::No);
    let restored = wire::Review { official: true, ..block };
    assert_eq!(counts(vec![restored], vec![]), ReviewWeight::Yes);
}

#[test]
fn open_review_requests_are_read_from_the_list_of_reviews() {
    let asked = Event { assignee: user("human"), ..event("review_request", "author", "2026-11-15T09:46:31Z") };
    let raw = PullRows { reviews: recorded!("gitea-1.27.3/reviews-with-request"), events: vec![asked], ..raw() };
    let fetched = gitea(&raw);
    let requests: Vec<_> = fetched.pull.requests.iter().map(|it| (it.of.as_str(), it.by.clone(), it.at)).collect();
    let at = Time(1_794_735_990);
    assert_eq!(requests, [("bot", None, at), ("human", Some("author".into()), Time(at.0 + 1))]);
    assert_eq!(fetched.reviews.len(), 1, "a request is no review");
}

#[test]
fn an_own_draft_is_a_draft_and_others_are_ignored() {
    let mut raw = PullRows { reviews: recorded!("gitea-1.27.3/reviews-orphan-pending"), ..raw() };
    raw.inline = vec![inline(80, 42, "bot", "lost")];
    let fetched = gitea(&raw);
    assert!(matches!(fetched.reviews.as_slice(), [Review { row: ReviewKind::Draft, edit: None, .. }]), "{fetched:?}");
    assert!(fetched.threads.is_empty(), "what is in a draft is nowhere yet");
    raw.reviews = vec![row(43, "PENDING", "human", "", 1)];
    assert!(gitea(&raw).reviews.is_empty());
}

// spec: TRI-3 @gitea @forgejo
#[test]
fn threads_are_assembled_from_comments() {
    let inline: Vec<Inline> = recorded!("gitea-1.27.3/thread-comments");
    let raw = PullRows { reviews: vec![row(110, "COMMENT", "bot", "words", 7)], inline, ..raw() };
    let threads = gitea(&raw).threads;
    let [new, old] = threads.as_slice() else { panic!("{threads:?}") };
    assert_eq!((new.id.as_str(), new.line, new.side), ("241", Some(5), Side::New));
    assert_eq!(note_texts(new), ["ROOTBOT", "REPLY-author", "REPLY-reader", "REPLY-stranger", "REPLY-ON-REPLY"]);
    assert_eq!((old.id.as_str(), old.line, old.side), ("242", Some(30), Side::Old));
    assert_eq!(note_texts(old), ["ROOTOLD", "REPLY-OLD"]);
    assert!(new.can_resolve && new.can_reply && !new.outdated);

    let inline: Vec<Inline> = recorded!("forgejo-10/thread-comments");
    let raw = PullRows { reviews: vec![row(45, "COMMENT", "bot", "words", 5)], inline, ..self::raw() };
    let threads = to_fetched(&raw, Flavour::Forgejo, "10.0.0+gitea-1.22.0").threads;
    let [new, old] = threads.as_slice() else { panic!("{threads:?}") };
    assert_eq!((new.notes.len(), old.notes.len()), (4, 1));
    assert!(!new.can_resolve && new.can_reply);
}

#[test]
fn the_resolver_is_read_from_the_root_comment() {
    for (review, inline) in
        [(110, recorded!("gitea-1.27.3/thread-resolved")), (242, recorded!("forgejo-10/thread-resolved"))]
    {
        let mut inline: Vec<Inline> = inline;
        let mut reply = inline[0].clone();
        (reply.id, reply.resolver) = (9_999, user("stranger"));
        inline.push(reply);
        let raw = PullRows { reviews: vec![row(review, "COMMENT", "bot", "words", 3)], inline, ..raw() };
        let threads = gitea(&raw).threads;
        let by = threads[0].resolved.as_ref().and_then(|it| it.by.login.clone());
        assert_eq!(by, raw.inline[0].resolver.as_ref().and_then(User::login));
        assert!(by.is_some_and(|by| by.as_str() != "stranger"));
    }
}

// spec: LOOP-3 @gitea
#[test]
fn an_emulated_reply_belongs_to_its_thread_and_its_review_is_a_wrapper() {
    let reviews = vec![
        row(1, "COMMENT", "human", "words", 1),
        row(2, "COMMENT", "human", "", 1),
        row(3, "COMMENT", "bot", "", 1),
        row(4, "COMMENT", "bot", "", 1),
        row(5, "COMMENT", "bot", "", 1),
        row(6, "COMMENT", "stranger", "", 1),
        row(7, "COMMENT", "bot", "", 2),
    ];
    let to_12 = "because\n\n<!-- referee:tag v1 an;12;2d612cce2e05a386e6530b6f1c5e010d3a0b1504 - -->";
    let root = "new\n\n<!-- referee:tag v1 rc-;security;3;f00;2d612cce2e05a386e6530b6f1c5e010d3a0b1504 - -->";
    let inline = vec![
        inline(11, 1, "human", "first"),
        inline(12, 2, "human", "second"),
        inline(13, 3, "bot", "to the first"),
        inline(14, 4, "bot", to_12),
        inline(15, 5, "bot", root),
        inline(16, 6, "stranger", "third"),
        inline(17, 7, "bot", "with another"),
        Inline { position: 9, ..inline(18, 7, "bot", "elsewhere") },
    ];
    let fetched = gitea(&PullRows { reviews, inline, ..raw() });
    let threads: Vec<_> = fetched.threads.iter().map(|thread| (thread.id.as_str(), note_texts(thread))).collect();
    assert_eq!(
        threads,
        [
            ("11", vec!["first", "to the first"]),
            ("12", vec!["second", to_12]),
            ("15", vec![root]),
            ("16", vec!["third"]),
            ("17", vec!["with another"]),
            ("18", vec!["elsewhere"]),
        ]
    );
    let wrappers = fetched.reviews.iter().filter(|review| review.row == ReviewKind::Wrapper).count();
    assert_eq!((wrappers, fetched.reviews[0].row), (6, ReviewKind::Verdict(Verdict::Comment)));
}

#[test]
fn a_label_has_its_author_and_time() {
    for (events, by) in
        [(recorded!("gitea-1.27.3/timeline-labels"), "bot"), (recorded!("forgejo-10/timeline-labels"), "bot")]
    {
        let events: Vec<Event> = events;
        let on = events[0].label.clone().expect("a label");
        let mut raw = PullRows { events, ..raw() };
        raw.pull.labels = vec![on];
        let labels = gitea(&raw).pull.labels;
        assert_eq!(labels[0].by.as_ref().map(Login::as_str), Some(by));
        assert_eq!(labels[0].at, Some(wire::parse_time(&raw.events[0].created_at)));
        raw.events.clear();
        assert_eq!(gitea(&raw).pull.labels[0].at, None);
        assert!(!raw.has_expected_events(&raw.events), "so the timeline is read on");
    }
}

#[test]
fn the_time_of_the_head_is_read_from_pushes() {
    let mut raw = raw();
    let head = raw.pull.head.sha.clone();
    let push = |at: &str, ids: &str| Event {
        body: format!(r#"{{"is_force_push":false,"commit_ids":[{ids}]}}"#),
        ..event("pull_push", "author", at)
    };
    raw.events =
        vec![push("2026-11-15T09:40:00Z", r#""aaa""#), push("2026-11-15T09:41:00Z", &format!(r#""bbb","{head}""#))];
    let pull = gitea(&raw).pull;
    assert_eq!(pull.pushes.iter().map(|push| push.head.as_str()).collect::<Vec<_>>(), ["aaa", head.as_str()]);
    assert_eq!(pull.head_since, Time(1_794_735_660));
    raw.events.pop();
    assert_eq!(gitea(&raw).pull.head_since, NOW, "a push that the timeline does not show yet");
    raw.events.clear();
    assert_eq!(gitea(&raw).pull.head_since, pull.opened_at);
    raw.events = vec![Event { body: "{".to_owned(), ..push("", "") }];
    assert!(gitea(&raw).pull.pushes.is_empty(), "what cannot be read is no push");
}

#[test]
fn the_combined_state_ignores_referees_own_statuses() {
    let none: Statuses = recorded!("gitea-1.27.3/status-none");
    let fetched = gitea(&PullRows { statuses: none.statuses, ..raw() });
    assert_eq!(fetched.checks.combined_state(), CheckState::None);
    let none: Statuses = recorded!("forgejo-10/status-none");
    assert!(none.statuses.is_empty());
    let one: Statuses = recorded!("gitea-1.27.3/status-combined");
    assert_eq!(gitea(&PullRows { statuses: one.statuses.clone(), ..raw() }).checks.combined_state(), CheckState::Pass);
    for (word, state) in [
        ("skipped", CheckState::Pass),
        ("warning", CheckState::Fail),
        ("error", CheckState::Fail),
        ("pending", CheckState::Pending),
        ("who knows", CheckState::Pending),
    ] {
        let other = Status { context: "ci/b".to_owned(), status: word.to_owned(), ..Status::default() };
        let own = Status { context: "referee/x".to_owned(), status: "failure".to_owned(), ..Status::default() };
        let statuses = one.statuses.iter().cloned().chain([other, own]).collect();
        let checks = gitea(&PullRows { statuses, ..raw() }).checks;
        assert_eq!((checks.combined_state(), checks.own.len()), (state, 1), "{word}");
    }
}

#[test]
fn write_access_is_what_the_server_reports_or_unknown() {
    let reviews = vec![
        wire::Review { official: true, ..row(1, "APPROVED", "human", "ok", 0) },
        row(2, "APPROVED", "reader", "ok", 0),
        wire::Review { official: true, ..row(3, "REQUEST_REVIEW", "stranger", "", 0) },
        row(4, "COMMENT", "stranger", "hm", 0),
        row(5, "COMMENT", "owner", "hm", 0),
        row(6, "COMMENT", "Ghost", "hm", 0),
    ];
    let mut raw = PullRows { reviews, ..raw() };
    let access = |raw: &PullRows| gitea(raw).reviews.iter().map(|it| it.author.access).collect::<Vec<_>>();
    let (write, read, unknown) = (Access::Write, Access::Read, Access::Unknown);
    assert_eq!(access(&raw), [write, unknown, unknown, write, unknown]);
    assert!(!super::are_all_writers_known(&raw, &"bot".into()));
    raw.assignees = Some(vec![User { id: 1, login: "human".to_owned() }, User { id: 2, login: "owner".to_owned() }]);
    assert_eq!(access(&raw), [write, read, read, write, unknown]);
    // An organisation is not among those who can be assigned, and people who may only read are.
    raw.assignees = Some(vec![User { id: 3, login: "reader".to_owned() }]);
    assert_eq!(access(&raw), [write, unknown, unknown, write, unknown]);
}

#[test]
fn missing_null_and_unknown_fields_are_accepted() {
    let row: Vec<wire::Review> =
        parse_recorded(br#"[{"id":1,"user":null,"state":"SOMETHING","body":null,"new":[null]},null]"#);
    let events: Vec<Event> =
        parse_recorded(br#"[{"type":"pull_push","body":null},{"type":"new"},{"type":"comment","user":null}]"#);
    let inline: Vec<Inline> = parse_recorded(br#"[{"id":2,"pull_request_review_id":1,"user":null,"path":null}]"#);
    let empty: Vec<Event> = parse_recorded(b"null");
    let pull: wire::Pull = parse_recorded(b"{}");
    let raw = PullRows { reviews: row, events, inline, ..PullRows::new(pull, NOW) };
    let fetched = gitea(&raw);
    assert_eq!((fetched.reviews.len(), fetched.comments.len(), fetched.threads.len(), empty.len()), (1, 1, 1, 0));
    assert!(fetched.reviews[0].author.login.is_none() && fetched.reviews[0].counts == ReviewWeight::No);
    assert_eq!((fetched.pull.state, fetched.pull.pushable), (PullState::Closed, Some(false)));
}

#[tokio::test]
async fn a_timeline_of_more_than_five_thousand_rows_is_read_to_its_end() {
    let rows = |page: u64| -> serde_json::Value {
        (0..50).map(|row| serde_json::json!({ "id": page * 50 + row, "type": "label" })).collect()
    };
    let line = "GET /issues/1/timeline";
    let mut script: Vec<ScriptedAnswer> = (0..105).map(|page| (line, 200, rows(page))).collect();
    script.push((line, 200, serde_json::Value::Null));
    let server = ScriptedServer::new(script).await;
    let account = server.forge.reader_account().expect("an account");
    let events = server.forge.read_timeline(account, PullNumber(1), None, 0, |_| true).await.expect("a timeline");
    assert_eq!((events.items.len(), events.complete), (5_250, Completeness::Complete));
    assert_eq!(server.finished_requests().len(), 106);
}
