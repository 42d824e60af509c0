//! Listing threads: which are selected, how they are shown, what is stored.

use referee_core::model::{
    Access, Class, Comment, Completeness, Confidence, NoteId, Resolution, Snapshot, Text, Thread, Time,
};
use referee_core::policy::Policy;
use referee_core::triage::{
    Opener, OutdatedThreads, Phase, Priority, ResolvedThreads, ThreadFilter, ThreadView, TriagePayload, build_triage,
    render_summary, scan_threads, weigh_item,
};

use crate::support::{ME, bot, item, note, own_thread, person, snapshot, thread, triage};

fn ids(snapshot: &Snapshot, filter: &ThreadFilter) -> Vec<String> {
    let scan = scan_threads(snapshot, &Policy::default(), filter, "local");
    scan.threads.iter().map(|thread| thread.thread_id.to_string()).collect()
}

// spec: TRI-3 @core
#[test]
fn a_truncated_read_is_blocked_and_never_means_no_threads() {
    let mut snapshot = snapshot(Vec::new());
    let whole = scan_threads(&snapshot, &Policy::default(), &ThreadFilter::default(), "local");
    assert!(whole.complete && render_summary(&whole).starts_with("pull 7: 0 unresolved\n"));
    snapshot.complete = Completeness::truncated("notes of thread `T`");
    let cut = scan_threads(&snapshot, &Policy::default(), &ThreadFilter::default(), "local");
    assert_eq!((cut.complete, cut.phase.phase), (false, Phase::Blocked));
    let text = render_summary(&cut);
    assert!(text.contains("not everything could be read") && text.contains("notes of thread `T`"), "{text}");
    let kept = build_triage(TriagePayload { pr_number: 7, threads: Vec::new() }, &cut, None);
    assert!(!kept.complete, "and the stored triage bars every answer");
}

// spec: TRI-4 @core
#[test]
fn a_thread_normalised() {
    let mut opened = own_thread("90");
    opened.notes[0].id = NoteId::from("4711");
    opened.notes[0].at = Time(1_794_739_207);
    opened.start_line = Some(10);
    let mut reply = note("PRRC_x", person("bob"), "why?");
    (reply.edited, reply.author.access, reply.at) = (true, Access::Read, Time(1_794_739_260));
    opened.notes.push(reply);
    let snapshot = snapshot(vec![opened.clone()]);
    let view = ThreadView::from_thread(&opened, &snapshot, &Policy::default(), "gitea-rest");
    let json = serde_json::to_string_pretty(&view).expect("plain data");
    insta::assert_snapshot!(json, @r#"
    {
      "threadId": "90",
      "prNumber": 7,
      "path": "src/a.rs",
      "line": 12,
      "startLine": 10,
      "isResolved": false,
      "isOutdated": false,
      "author": "referee-bot",
      "authorAssociation": "COLLABORATOR",
      "firstComment": {
        "id": "4711",
        "databaseId": 4711,
        "author": "referee-bot",
        "authorAssociation": "COLLABORATOR",
        "body": "The token is logged",
        "path": "src/a.rs",
        "line": 12,
        "createdAt": "2026-11-15T10:40:07Z",
        "updatedAt": "2026-11-15T10:40:07Z",
        "url": "https://forge.test/90",
        "isMinimized": false,
        "viewerCanUpdate": true,
        "viewerCanDelete": false
      },
      "comments": [
        {
          "id": "4711",
          "databaseId": 4711,
          "author": "referee-bot",
          "authorAssociation": "COLLABORATOR",
          "body": "The token is logged",
          "path": "src/a.rs",
          "line": 12,
          "createdAt": "2026-11-15T10:40:07Z",
          "updatedAt": "2026-11-15T10:40:07Z",
          "url": "https://forge.test/90",
          "isMinimized": false,
          "viewerCanUpdate": true,
          "viewerCanDelete": false
        },
        {
          "id": "PRRC_x",
          "databaseId": null,
          "author": "bob",
          "authorAssociation": "NONE",
          "body": "why?",
          "path": "src/a.rs",
          "line": 12,
          "createdAt": "2026-11-15T10:41:00Z",
          "updatedAt": null,
          "url": null,
          "isMinimized": false,
          "viewerCanUpdate": false,
          "viewerCanDelete": false
        }
      ],
      "latestComment": {
        "id": "PRRC_x",
        "databaseId": null,
        "author": "bob",
        "authorAssociation": "NONE",
        "body": "why?",
        "path": "src/a.rs",
        "line": 12,
        "createdAt": "2026-11-15T10:41:00Z",
        "updatedAt": null,
        "url": null,
        "isMinimized": false,
        "viewerCanUpdate": false,
        "viewerCanDelete": false
      },
      "createdAt": "2026-11-15T10:40:07Z",
      "updatedAt": "2026-11-15T10:41:00Z",
      "url": "https://forge.test/90",
      "source": "gitea-rest",
      "canResolve": true,
      "canReply": true
    }
    "#);
}

// spec: TRI-4 @core
#[test]
fn a_thread_without_anything_is_null_and_not_missing() {
    let mut empty = thread("T", person("bob"));
    (empty.path, empty.line, empty.url) = (None, None, String::new());
    empty.notes.clear();
    let view = ThreadView::from_thread(&empty, &snapshot(Vec::new()), &Policy::default(), "local");
    let json = serde_json::to_value(&view).expect("plain data");
    for field in [
        "path",
        "line",
        "startLine",
        "author",
        "authorAssociation",
        "firstComment",
        "latestComment",
        "createdAt",
        "url",
    ] {
        assert_eq!(json.get(field), Some(&serde_json::Value::Null), "{field}");
    }
}

#[test]
fn filters() {
    let mut resolved = thread("resolved", bot("lint"));
    resolved.resolved = Some(Resolution { by: person("bob"), at: None });
    let mut outdated = thread("outdated", bot("lint"));
    outdated.outdated = true;
    let codex = thread("codex", bot("chatgpt-codex-connector[bot]"));
    let rabbit = Thread { path: Some("src/b/c.rs".to_owned()), ..thread("rabbit", bot("CodeRabbitAI")) };
    let snapshot = snapshot(vec![resolved, outdated, codex, rabbit]);
    let only = |authors: &[&str], paths: &[&str]| ThreadFilter {
        authors: authors.iter().map(ToString::to_string).collect(),
        paths: paths.iter().map(ToString::to_string).collect(),
        ..ThreadFilter::default()
    };
    assert_eq!(ids(&snapshot, &ThreadFilter::default()), ["codex", "rabbit"]);
    assert_eq!(ids(&snapshot, &ThreadFilter::include_all()), ["codex", "outdated", "resolved", "rabbit"]);
    let with = ThreadFilter { resolved: ResolvedThreads::Include, ..ThreadFilter::default() };
    assert_eq!(ids(&snapshot, &with), ["codex", "resolved", "rabbit"]);
    let with = ThreadFilter { outdated: OutdatedThreads::Include, ..ThreadFilter::default() };
    assert_eq!(ids(&snapshot, &with), ["codex", "outdated", "rabbit"]);
    assert_eq!(ids(&snapshot, &only(&["codex"], &[])), ["codex"]);
    assert_eq!(ids(&snapshot, &only(&["CodeRabbit", "codex"], &[])), ["codex", "rabbit"]);
    assert_eq!(ids(&snapshot, &only(&["coderabbitai[bot]"], &[])), ["rabbit"]);
    assert_eq!(ids(&snapshot, &only(&["nobody"], &[])), [""; 0]);
    for path in ["src/b", "src/b/", "src/b/c.rs", "src/**/c.*", "**/c.rs"] {
        assert_eq!(ids(&snapshot, &only(&[], &[path])), ["rabbit"], "{path}");
    }
    assert_eq!(ids(&snapshot, &only(&[], &["src/b/c"])), [""; 0]);
}

// spec: TRI-7 @core
#[test]
fn the_summary_is_bounded_and_the_same_in_any_order() {
    let mut threads: Vec<_> = (0..60).map(|n| thread(&format!("T{n:02}"), bot("lint"))).collect();
    threads[3].notes[0].text = Text::from_body("long ".repeat(10_000));
    threads[4].notes[0].text = Text::from_body("two\nlines");
    let one = render_summary(&scan_threads(
        &snapshot(threads.clone()),
        &Policy::default(),
        &ThreadFilter::default(),
        "local",
    ));
    threads.reverse();
    let other =
        render_summary(&scan_threads(&snapshot(threads), &Policy::default(), &ThreadFilter::default(), "local"));
    assert_eq!(one, other);
    assert!(one.len() < 10_000, "{}", one.len());
    assert!(one.starts_with("pull 7: 60 unresolved\nT00 src/a.rs:12 by lint: The token is logged\n"), "{one}");
    assert!(one.contains("T04 src/a.rs:12 by lint: two lines\n"), "{one}");
    assert!(one.contains("… and 10 more\n"), "{one}");
    assert!(one.lines().all(|line| line.chars().count() < 200));
    let long = one.lines().find(|line| line.starts_with("T03")).expect("it is listed");
    assert!(long.ends_with('…'), "{long}");
}

// spec: TRI-7 @core
#[test]
fn a_stored_triage_is_bounded_and_has_the_latest_notes() {
    let mut opened = thread("T", bot("lint"));
    opened.notes.push(note("T-2", person("bob"), "and?"));
    let snapshot = snapshot(vec![opened]);
    let looked = scan_threads(&snapshot, &Policy::default(), &ThreadFilter::default(), "local");
    assert_eq!(looked.to_seen_threads()[0].latest_comment, Some(NoteId::from("T-2")));
    let mut said = item("T", Class::Valid);
    said.reason = "r".repeat(100_000);
    said.files_to_change = vec!["f".repeat(10_000); 100];
    said.reply_body = Some("a draft".to_owned());
    let kept = build_triage(TriagePayload { pr_number: 7, threads: vec![said] }, &looked, None);
    assert_eq!(kept.threads[0].latest_note, Some(NoteId::from("T-2")));
    assert_eq!(kept.threads[0].reply_body, None, "a draft is never posted, so it is not kept");
    assert!(serde_json::to_string(&kept).expect("plain data").len() < 15_000);
    let many = TriagePayload { pr_number: 7, threads: vec![item("T", Class::Valid); 501] };
    let kept = build_triage(many, &looked, None);
    assert_eq!((kept.threads.len(), kept.complete), (500, false), "cut is incomplete, never shorter");
}

// spec: TRI-8 @core
#[test]
fn a_question_to_a_person_outlives_a_later_scan() {
    let mut snapshot = snapshot(vec![thread("T", bot("lint")), thread("U", bot("lint"))]);
    triage(&mut snapshot).threads[0].requires_human_decision = true;
    let before = triage(&mut snapshot).clone();
    let filter = ThreadFilter { authors: vec!["nobody".to_owned()], ..ThreadFilter::default() };
    let looked = scan_threads(&snapshot, &Policy::default(), &filter, "local");
    let kept = build_triage(TriagePayload { pr_number: 7, threads: Vec::new() }, &looked, Some(&before));
    assert_eq!(kept.threads.iter().map(|item| item.thread_id.as_str()).collect::<Vec<_>>(), ["T"]);
    assert!(kept.filtered);
    let fresh = TriagePayload { pr_number: 7, threads: vec![item("T", Class::Stale)] };
    let kept = build_triage(fresh, &looked, Some(&before));
    assert!(!kept.threads[0].requires_human_decision, "the latest triage of a thread counts");
}

// spec: TRI-10 @core
#[test]
fn who_wrote_it_changes_how_soon_and_how_sure_and_nothing_else() {
    let classes = [Class::Valid, Class::Invalid, Class::Stale, Class::AlreadyFixed, Class::NeedsHuman];
    for class in classes {
        for confidence in [Confidence::Low, Confidence::Medium, Confidence::High] {
            let mut said = item("T", class);
            said.confidence = confidence;
            let weighed = [Opener::Own, Opener::Bot, Opener::Person].map(|opener| weigh_item(&said, opener));
            assert!(weighed.iter().all(|weighed| weighed.class == class && weighed.confidence <= confidence));
            assert!(weighed.iter().all(|weighed| weighed.priority <= weighed_of_a_person(&said)));
        }
    }
    let sure = |opener| weigh_item(&item("T", Class::Invalid), opener).confidence;
    assert!(sure(Opener::Person) < sure(Opener::Bot), "telling a person that they are wrong takes more");
}

fn weighed_of_a_person(said: &referee_core::model::TriageItem) -> Priority {
    weigh_item(said, Opener::Person).priority
}

// spec: TRI-10 @core
#[test]
fn top_level_comments_are_out_of_scope() {
    let mut snapshot = snapshot(vec![thread("T", bot("coderabbitai"))]);
    let before = scan_threads(&snapshot, &Policy::default(), &ThreadFilter::include_all(), "local");
    snapshot.comments = vec![Comment {
        id: "c".into(),
        author: bot("coderabbitai"),
        at: Time(1),
        edited: false,
        text: Text::from_body("Walkthrough"),
        url: String::new(),
    }];
    assert_eq!(scan_threads(&snapshot, &Policy::default(), &ThreadFilter::include_all(), "local"), before);
    assert!(before.threads.iter().all(|thread| thread.author.as_deref() != Some(ME)));
}
