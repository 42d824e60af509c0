//! Rules 0 and 3 to 10.

use referee_core::mark::{ReplyKind, Tag, TagKind, Topic};
use referee_core::model::*;
use referee_core::plan::{JobKind, Next};

use crate::support::*;

fn bot(stage: &mut Stage, by: &str, ago: i64, text: BotText) {
    stage.comment(person(by), ago).text.reading.bot = Some(Box::new(text));
}

fn fix_plan(stage: &mut Stage, by: &str, ago: i64, sha: &str) {
    bot(stage, by, ago, BotText { fix_plan: vec![sha.into()], ..BotText::default() });
}

fn foreign_review(stage: &mut Stage, name: &str, evaluated: &str, findings: &[u32]) {
    let text = BotText {
        sentinel: Some(name.into()),
        evaluated: Some(evaluated.into()),
        findings: findings.to_vec(),
        ..BotText::default()
    };
    stage.review(person("review-bot"), Verdict::Approve, sha('a')).text.reading.bot = Some(Box::new(text));
}

// spec: DSP-4, D22 @core
#[test]
fn a_wip_label_is_active_work_until_it_is_old() {
    let cases = [
        ("worker", 59 * MINUTE, "lease: wait worker", &[][..], false),
        ("worker", 60 * MINUTE, "lease: wait worker", &[], false),
        ("worker", 61 * MINUTE, "ready: ready", &["-wip by worker"], false),
        ("referee", 61 * MINUTE, "ready: ready", &["-wip by worker"], false),
        ("bob", 59 * MINUTE, "lease: wait worker", &[], false),
        ("bob", 61 * MINUTE, "ready: ready", &[], true),
    ];
    for (by, ago, expected, taken_off, reported) in cases {
        let mut stage = Stage::all_clear();
        stage.label("wip", by, ago);
        let outcome = stage.rules();
        assert_eq!(told(&outcome), expected, "{by} {ago}");
        let labels: Vec<String> = steps(&outcome.steps).into_iter().filter(|step| step.contains("wip")).collect();
        assert_eq!(labels, taken_off, "{by} {ago}");
        let reports = outcome.refused.iter().any(|refusal| refusal.what == "remove `wip`");
        assert_eq!(reports, reported, "{by} {ago}");
    }
    let mut stage = Stage::all_clear();
    stage.label("wip", "worker", HOUR);
    stage.snapshot.pull.labels[0].at = None;
    let outcome = stage.rules();
    assert_eq!(told(&outcome), "ready: ready", "of unknown age: nobody's turn");
    assert!(outcome.refused.iter().any(|refusal| refusal.what == "remove `wip`"), "and left alone");
    (stage.snapshot.pull.labels[0].at, stage.snapshot.pull.labels[0].by) = (Some(Time(NOW - 5 * HOUR)), None);
    assert!(!steps(&stage.rules().steps).contains(&"-wip by worker".to_owned()), "nobody knows whose it is");
}

// spec: DSP-4, DSP-17 @core
#[test]
fn active_work_stops_spawns_and_handoffs_and_nothing_else() {
    let lease = |stage: &mut Stage, until: i64| {
        stage.snapshot.lease =
            Some(Lease { by: "host".into(), epoch: 3, since: Time(NOW - HOUR), until: Time(NOW + until) });
    };
    let mut stage = Stage::all_clear();
    lease(&mut stage, MINUTE);
    let outcome = stage.rules();
    assert_eq!(told(&outcome), "lease: wait worker");
    assert_eq!(outcome.why.facts, [format!("work since {}", Time(NOW - HOUR)), "ready".to_owned()]);
    assert!(outcome.steps.is_empty());
    lease(&mut stage, 0);
    assert_eq!(told(&stage.rules()), "ready: ready", "an expired lease is none");

    let mut stage = Stage::with_workers();
    stage.verdict("static", Verdict::RequestChanges);
    lease(&mut stage, MINUTE);
    assert_eq!(told(&stage.rules()), "lease: wait worker");

    let mut unread = Stage::with_workers();
    lease(&mut unread, MINUTE);
    assert_eq!(told(&unread.rules()), "reviews-missing: wait reviewer([\"static\"]); review static");
    let mut pending = Stage::all_clear();
    pending.snapshot.checks.all = vec![check("test", CheckState::Pending)];
    lease(&mut pending, MINUTE);
    assert_eq!(told(&pending.rules()), "checks-pending: wait checks");
    let mut stale = Stage::all_clear();
    stale.label("wip", "worker", 5 * HOUR);
    lease(&mut stale, MINUTE);
    assert!(stale.rules().steps.is_empty(), "a live lease keeps its label");
}

// spec: DSP-6, D15 @core
#[test]
fn a_confirmed_conflict_is_rebased_but_for_drafts() {
    use Mergeable::{Clean, Conflict, Unknown};
    for (mergeable, draft, expected) in [
        (Conflict, false, "conflict: spawn rebase conflict:0000000"),
        (Conflict, true, "draft: wait author"),
        (Unknown, false, "ready: ready"),
        (Clean, false, "ready: ready"),
    ] {
        let mut stage = Stage::all_clear();
        (stage.snapshot.pull.mergeable, stage.snapshot.pull.draft) = (mergeable, draft);
        assert_eq!(told(&stage.rules()), expected, "{mergeable:?} {draft}");
    }
    let mut stage = Stage::all_clear();
    stage.snapshot.pull.mergeable = Conflict;
    stage.job(JobKind::Rebase, "conflict:0000000", MINUTE, Some(WorkOutcome::Failed));
    assert_eq!(told(&stage.rules()), "conflict: blocked needshuman");
    stage.snapshot.pull.base_sha = sha('1');
    assert_eq!(told(&stage.rules()), "conflict: spawn rebase conflict:1111111", "another base is another conflict");
    let mut stage = Stage::new();
    stage.verdict("static", Verdict::Approve);
    stage.snapshot.pull.mergeable = Conflict;
    assert_eq!(told(&stage.rules()), "conflict: wait author", "no workers");
}

// spec: DSP-6, DSP-7, D15 @core
#[test]
fn checks_have_four_states() {
    use CheckState::{Fail, None, Pass, Pending};
    for (checks, required, expected) in [
        (&[Pass, Fail, Pending][..], true, "checks-failed: spawn ci-fix"),
        (&[Pass, Pending], true, "checks-pending: wait checks"),
        (&[Pass, None], true, "checks-pending: wait checks"),
        (&[], true, "checks-pending: wait checks"),
        (&[], false, "ready: ready"),
        (&[Pass], true, "ready: ready"),
        (&[Pending], false, "checks-pending: wait checks"),
    ] {
        let mut stage = Stage::all_clear();
        stage.policy.ci_required = required;
        stage.snapshot.checks.all =
            checks.iter().enumerate().map(|(n, state)| check(&format!("c{n}"), *state)).collect();
        let told = told(&stage.rules());
        assert!(told.starts_with(expected), "{checks:?} {required}: {told}");
    }
}

#[test]
fn the_failing_names_in_any_order_are_one_cause() {
    let cause = |names: &[&str]| {
        let mut stage = Stage::all_clear();
        stage.snapshot.checks.all = names.iter().map(|name| check(name, CheckState::Fail)).collect();
        told(&stage.rules())
    };
    assert_eq!(cause(&["a", "b"]), cause(&["b", "a"]));
    assert_ne!(cause(&["a", "b"]), cause(&["a"]));
}

// spec: DSP-7, D23 @core
#[test]
fn another_bot_must_have_read_this_head() {
    let with = |evaluated: Option<&str>, by: &str, users: &[&str]| {
        let mut stage = Stage::all_clear();
        stage.policy.roles.push(role("security"));
        stage.verdict("security", Verdict::Approve);
        stage.work().review_bots = vec!["sonnet".into(), "static".into()];
        stage.work().review_users = users.iter().map(|user| (*user).into()).collect();
        if let Some(evaluated) = evaluated {
            foreign_review(&mut stage, "sonnet", evaluated, &[]);
            stage.snapshot.reviews.last_mut().expect("a row").author = person(by);
        }
        told(&stage.rules())
    };
    let waits = "reviews-missing: wait reviewer([\"sonnet\"])";
    assert_eq!(with(None, "", &["review-bot"]), waits);
    assert_eq!(with(Some("bbbbbbb"), "review-bot", &["review-bot"]), waits, "a review of another head is none");
    assert_eq!(with(Some("aaaaaa"), "review-bot", &["review-bot"]), waits, "too short to name a head");
    let longer = "a".repeat(41);
    assert_eq!(with(Some(longer.as_str()), "review-bot", &["review-bot"]), waits, "no commit is that long");
    assert_eq!(with(Some("aaaaaaa"), "review-bot", &["review-bot"]), "ready: ready");
    assert_eq!(with(Some("AAAAAAAA"), "review-bot", &["review-bot"]), "ready: ready");
    assert_eq!(with(Some("aaaaaaa"), "mallory", &["review-bot"]), waits, "not one of the review users");
    assert_eq!(with(Some("aaaaaaa"), "bob", &[]), "ready: ready", "anyone with write access");
    assert_eq!(with(Some("aaaaaaa"), "alice", &[]), waits, "but not the author");
}

// spec: DSP-8 @core
#[test]
fn the_newest_self_review_of_this_head_counts() {
    let assess = |texts: &[(&str, char, Option<bool>)]| {
        let mut stage = Stage::with_workers();
        stage.verdict("static", Verdict::Approve);
        for (by, head, clean) in texts {
            bot(&mut stage, by, HOUR, BotText { self_review: Some(sha(*head)), clean: *clean, ..BotText::default() });
        }
        told(&stage.rules())
    };
    let missing = "self-review: spawn self-review self-review";
    let attention = "self-review: spawn sr-fix sr-fix";
    assert_eq!(assess(&[]), missing);
    assert_eq!(assess(&[("worker", 'b', Some(true))]), missing, "of another head");
    assert_eq!(assess(&[("alice", 'a', Some(true))]), missing, "by somebody else");
    assert_eq!(assess(&[("worker", 'a', None)]), attention, "cannot be read");
    assert_eq!(assess(&[("worker", 'a', Some(false))]), attention);
    assert_eq!(assess(&[("worker", 'a', Some(true))]), "ready: ready");
    assert_eq!(assess(&[("worker", 'a', Some(false)), ("worker", 'a', Some(true))]), "ready: ready");
    assert_eq!(assess(&[("worker", 'a', Some(true)), ("worker", 'a', Some(false))]), attention);
}

// spec: DSP-8, D4 @core
#[test]
fn a_self_review_of_the_same_change_is_a_self_review_of_this_head() {
    let mut stage = Stage::with_workers();
    stage.verdict("static", Verdict::Approve);
    stage.self_review(true);
    stage.job(JobKind::SelfReview, "self-review", HOUR, Some(WorkOutcome::Done));
    stage.snapshot.pull.head = sha('c');
    assert_eq!(told(&stage.rules()), "ready: ready", "a rebase costs no worker");
    stage.finding(4, Severity::Suggestion, FindingState::Open, "src/a.rs", 3);
    let plan = BotText { fix_plan: vec!["aaaaaaa".into()], answers_own: vec![FindingId(4)], ..BotText::default() };
    bot(&mut stage, "worker", 2 * HOUR, plan);
    assert_eq!(told(&stage.rules()), "ready: ready", "and undoes no fix plan");
    stage.snapshot.changes.patch = patch("p2");
    stage.verdict("static", Verdict::Approve);
    assert_eq!(told(&stage.rules()), "self-review: spawn self-review self-review");
}

// spec: DSP-9, D14, D18 @core
#[test]
fn findings_are_answered_by_the_last_word_or_a_fix_plan() {
    let open = |change: &dyn Fn(&mut Stage)| {
        let mut stage = Stage::all_clear();
        stage.finding(4, Severity::Suggestion, FindingState::Open, "src/a.rs", 3);
        change(&mut stage);
        told(&stage.rules()).split(':').take(2).collect::<Vec<_>>().join(":")
    };
    let asks = "findings-unanswered: spawn address-feedback feedback";
    let reply = |what| {
        move |stage: &mut Stage| {
            let thread = stage.finding_thread("static", 4, &[person("alice"), program("referee")]);
            let kind = TagKind::Reply { what, answers: thread.notes[1].id.clone() };
            let tag = Tag { kind, head: sha('a') };
            thread.notes[2].text.reading.tag = Some(Box::new(referee_core::mark::UnsealedMark {
                data: tag,
                trust: referee_core::mark::Trust::Sealed,
            }));
        }
    };
    let thread = |notes: &'static [&'static str]| {
        move |stage: &mut Stage| {
            let notes: Vec<Author> = notes.iter().map(|name| person(name)).collect();
            stage.finding_thread("static", 4, &notes);
        }
    };
    let plan = |by: &'static str, head: char| {
        move |stage: &mut Stage| {
            let text = BotText {
                fix_plan: vec![head.to_string().repeat(7)],
                answers_own: vec![FindingId(4)],
                ..BotText::default()
            };
            bot(stage, by, 2 * HOUR, text);
        }
    };
    assert_eq!(open(&|_| {}), asks, "without a thread");
    assert_eq!(open(&thread(&[])), asks, "nobody replied");
    assert_eq!(open(&thread(&["alice"])), "ready: ready", "the author has the last word");
    assert_eq!(open(&thread(&["worker"])), "ready: ready", "the worker has the last word");
    assert_eq!(open(&thread(&["alice", "bob"])), asks, "somebody else wrote later");
    assert_eq!(open(&thread(&["bob"])), asks);
    assert_eq!(open(&reply(ReplyKind::Contest)), asks, "a contest undoes the answer");
    assert_eq!(open(&reply(ReplyKind::Worsened)), asks);
    assert_eq!(open(&reply(ReplyKind::Answer)), "ready: ready", "referee answered for the fixing side");
    assert_eq!(open(&plan("worker", 'a')), "ready: ready", "a fix plan names it");
    assert_eq!(open(&plan("worker", 'b')), asks, "for another head");
    assert_eq!(open(&plan("alice", 'a')), asks, "by somebody else");
}

// spec: D14 @core
#[test]
fn a_new_head_alone_does_not_undo_an_answer() {
    let mut stage = Stage::all_clear();
    stage.finding(4, Severity::Suggestion, FindingState::Open, "src/a.rs", 3);
    stage.finding_thread("static", 4, &[person("alice")]);
    stage.snapshot.pull.head_since = Time(NOW - MINUTE);
    assert_eq!(told(&stage.rules()), "ready: ready");
}

#[test]
fn with_one_login_for_everything_a_finding_is_not_its_own_answer() {
    let mut stage = Stage::with_workers();
    stage.work().user = "referee".into();
    stage.verdict("static", Verdict::Approve);
    stage.topic("referee", HOUR, Topic::SelfReview { clean: true });
    stage.finding(4, Severity::Suggestion, FindingState::Open, "src/a.rs", 3);
    stage.finding_thread("static", 4, &[]);
    assert!(told(&stage.rules()).starts_with("findings-unanswered: spawn address-feedback"));
}

// spec: DSP-9 @core
#[test]
fn rows_of_another_bots_table_are_answered_by_number() {
    let mut stage = Stage::all_clear();
    stage.work().review_users = ["review-bot".into()].into();
    foreign_review(&mut stage, "sonnet", "aaaaaaa", &[1, 2]);
    let outcome = stage.rules();
    assert!(told(&outcome).starts_with("findings-unanswered: spawn address-feedback"), "{}", told(&outcome));
    assert!(outcome.why.facts.contains(&"sonnet finding 2".to_owned()));
    let plan =
        |answers: &[u32]| BotText { fix_plan: vec!["a".repeat(40)], answers: answers.to_vec(), ..BotText::default() };
    bot(&mut stage, "worker", 2 * HOUR, plan(&[1]));
    assert!(told(&stage.rules()).starts_with("findings-unanswered: respawn address-feedback"));
    bot(&mut stage, "worker", 2 * HOUR, plan(&[2]));
    assert_eq!(told(&stage.rules()), "ready: ready");

    let mut left = Stage::all_clear();
    left.policy.roles.push(role("security"));
    left.verdict("security", Verdict::Approve);
    left.work().review_users = ["review-bot".into()].into();
    foreign_review(&mut left, "static", "aaaaaaa", &[1]);
    assert_eq!(told(&left.rules()), "ready: ready", "a role's own findings are told by its Mark");
    foreign_review(&mut left, "sonnet", "aaaaaaa", &[1]);
    left.job(JobKind::AddressFeedback, "feedback:x", 2 * HOUR, Some(WorkOutcome::Done));
    assert_eq!(told(&left.rules()), "findings-unanswered: blocked needshuman", "the worker did not answer it");
    let mut stale = Stage::all_clear();
    stale.work().review_users = ["review-bot".into()].into();
    foreign_review(&mut stale, "sonnet", "bbbbbbb", &[1]);
    assert_eq!(told(&stale.rules()), "ready: ready", "a table of another head");
}

// spec: DSP-9 @core
#[test]
fn threads_of_anybody_need_an_answer() {
    let open = |authors: &[Author]| {
        let mut stage = Stage::all_clear();
        stage.thread(authors);
        told(&stage.rules()).split(':').take(2).collect::<Vec<_>>().join(":")
    };
    let asks = "threads-unanswered: spawn address-feedback feedback";
    assert_eq!(open(&[person("bob")]), asks);
    assert_eq!(open(&[outsider("eve")]), asks);
    assert_eq!(open(&[program("other")]), asks);
    assert_eq!(open(&[Author::default()]), asks, "a deleted user");
    assert_eq!(open(&[person("alice")]), "ready: ready", "a note of the author's own");
    assert_eq!(open(&[person("bob"), person("alice")]), "ready: ready");
    assert_eq!(open(&[person("bob"), person("alice"), person("bob")]), asks);
    assert_eq!(open(&[]), "ready: ready", "a thread without notes says nothing");
    let mut stage = Stage::all_clear();
    let by = person("bob");
    stage.thread(&[person("bob")]).resolved = Some(Resolution { by, at: None });
    assert_eq!(told(&stage.rules()), "ready: ready");
}

#[test]
fn a_settled_finding_needs_no_answer_although_its_thread_is_open() {
    let mut stage = Stage::all_clear();
    stage.finding(4, Severity::Suggestion, FindingState::Fixed, "src/a.rs", 3);
    stage.finding_thread("static", 4, &[]);
    assert_eq!(told(&stage.rules()), "ready: ready");
    stage.snapshot.threads[0].notes[0].author = program("other");
    assert!(told(&stage.rules()).starts_with("threads-unanswered: spawn"), "not a root of the role's own");
    let mut stage = Stage::all_clear();
    stage.finding(4, Severity::Suggestion, FindingState::Stale, "src/a.rs", 3);
    let outcome = stage.rules_over(|judged| judged[0].findings[0].counts = false);
    assert_eq!(told(&outcome), "ready: ready", "what does not count needs none either");
    let mut stage = Stage::all_clear();
    stage.policy.roles.push(referee_core::policy::Role { paths: vec!["docs/**".into()], ..role("docs") });
    stage.verdict_at("docs", Verdict::Approve, sha('b'), patch("p0"));
    stage.finding(4, Severity::Suggestion, FindingState::Open, "docs/a.md", 3);
    assert_eq!(told(&stage.rules()), "ready: ready", "nor a finding of a role that is not asked here");
}

// spec: DSP-9, DSP-16 @core
#[test]
fn feedback_that_a_worker_left_unanswered_goes_to_a_person() {
    let mut stage = Stage::all_clear();
    stage.thread(&[person("bob")]);
    stage.job(JobKind::AddressFeedback, "feedback:x", 2 * HOUR, Some(WorkOutcome::Done));
    assert_eq!(told(&stage.rules()), "threads-unanswered: blocked needshuman", "it was there, and is still");
    let mut stage = Stage::all_clear();
    stage.thread(&[person("bob")]);
    stage.job(JobKind::AddressFeedback, "feedback:x", 3 * HOUR, Some(WorkOutcome::Done));
    assert!(told(&stage.rules()).starts_with("threads-unanswered: spawn address-feedback"), "it came later");
    let mut stage = Stage::all_clear();
    stage.thread(&[person("bob")]);
    stage.job(JobKind::AddressFeedback, "feedback:x", 3 * HOUR, None);
    assert_eq!(told(&stage.rules()), "threads-unanswered: respawn address-feedback feedback:x");
}

// spec: DSP-9 @core
#[test]
fn a_fix_plan_for_this_head_is_waited_for_and_an_old_one_is_a_crash() {
    type Hand = fn(&mut Stage);
    let rules: [(&str, Hand); 4] = [
        ("checks-failed", |stage| stage.snapshot.checks.all = vec![check("test", CheckState::Fail)]),
        ("self-review", |stage| stage.snapshot.comments.clear()),
        ("findings-unanswered", |stage| {
            stage.finding(4, Severity::Suggestion, FindingState::Open, "src/a.rs", 3);
        }),
        ("threads-unanswered", |stage| drop(stage.thread(&[person("bob")]).clone())),
    ];
    for (rule, hand) in rules {
        let with = |ago, head: &str, leased: bool| {
            let mut stage = Stage::all_clear();
            hand(&mut stage);
            fix_plan(&mut stage, "worker", ago, head);
            if leased {
                let (since, until) = (Time(NOW - HOUR), Time(NOW + HOUR));
                stage.snapshot.lease = Some(Lease { by: "host".into(), epoch: 1, since, until });
            }
            told(&stage.rules())
        };
        assert_eq!(with(30 * MINUTE, "aaaaaaa", false), format!("{rule}: wait worker"));
        assert!(with(2 * HOUR, "aaaaaaa", false).starts_with(&format!("{rule}: respawn")));
        assert_eq!(with(2 * HOUR, "aaaaaaa", true), format!("{rule}: wait worker"), "its lease lives");
        assert!(with(30 * MINUTE, "bbbbbbb", false).starts_with(&format!("{rule}: spawn")), "another head's plan");
        let mut stage = Stage::all_clear();
        hand(&mut stage);
        fix_plan(&mut stage, "worker", 4 * HOUR, "aaaaaaa");
        let Next::Spawn(job) = stage.rules().next else { panic!("{rule}: no spawn") };
        stage.apply(&job.record[0]);
        stage.snapshot.comments.last_mut().expect("the record").at = Time(NOW - 2 * HOUR);
        assert_eq!(told(&stage.rules()), format!("{rule}: blocked needshuman"), "one more, then a person");
    }
}

// spec: DSP-10 @core
// D35
#[test]
fn a_ready_pull_is_handed_off_once() {
    let mut stage = Stage::all_clear();
    let outcome = stage.rules();
    assert_eq!(told(&outcome), "ready: ready");
    assert_eq!(steps(&outcome.steps), ["+ready by worker", "assign carol by worker", "handoff by referee"]);
    for step in &outcome.steps {
        stage.apply(step);
    }
    let outcome = stage.rules();
    assert_eq!((told(&outcome).as_str(), outcome.steps.len()), ("ready: ready", 0), "already handed off");

    stage.snapshot.pull.labels.clear();
    assert_eq!(steps(&stage.rules().steps), ["+ready by worker"], "a write that was lost is repeated");
    let removed_by = |by: &str| Label { name: "ready".to_owned(), by: Some(by.into()), at: None };
    stage.snapshot.pull.removed_labels = vec![removed_by("worker")];
    assert_eq!(steps(&stage.rules().steps), ["+ready by worker"], "referee's own removal is undone");
    stage.snapshot.pull.removed_labels = vec![removed_by("carol")];
    let outcome = stage.rules();
    assert_eq!((told(&outcome).as_str(), outcome.steps.len()), ("ready: ready", 0), "a person's removal is respected");

    let mut stage = Stage::all_clear();
    stage.work().assign = None;
    assert_eq!(steps(&stage.rules().steps), ["+ready by worker", "handoff by referee"]);
    let mut stage = Stage::new();
    stage.verdict("static", Verdict::Approve);
    let outcome = stage.rules();
    assert_eq!((told(&outcome).as_str(), outcome.steps.len()), ("ready: ready", 0), "without workers nothing is done");
    let mut stage = Stage::all_clear();
    stage.snapshot.viewer.holds = ["referee".into()].into();
    assert_eq!(steps(&stage.rules().steps)[0], "+ready by referee", "the worker's token is not here");
}

// spec: DSP-10 @core
#[test]
fn referees_ready_label_is_removed_when_the_pull_is_no_longer_ready() {
    let handed_off = |by: &str| {
        let mut stage = Stage::all_clear();
        stage.label("ready", by, HOUR);
        let change = stage.snapshot.changes.patch.clone();
        stage.topic("referee", HOUR, Topic::Ready { patch: change });
        stage
    };
    let mut threads = handed_off("worker");
    threads.thread(&[person("bob")]);
    assert_eq!(steps(&threads.rules().steps), ["-ready by worker"]);
    let mut foreign = handed_off("bob");
    foreign.thread(&[person("bob")]);
    assert!(foreign.rules().steps.is_empty(), "not ours to take off");
    let mut moved = handed_off("worker");
    (moved.snapshot.pull.head, moved.snapshot.changes.patch) = (sha('c'), patch("p2"));
    assert_eq!(told(&moved.rules()), "reviews-missing: wait reviewer([\"static\"]); review static");
    assert_eq!(steps(&moved.rules().steps), ["-ready by worker"]);
    let mut working = handed_off("worker");
    working.label("wip", "worker", MINUTE);
    assert!(working.rules().steps.is_empty(), "a worker under way does not undo it");
    let mut paused = handed_off("worker");
    paused.thread(&[person("bob")]);
    paused.command(person("carol"), MINUTE, referee_core::say::Ask::Pause);
    assert!(paused.rules().steps.is_empty());
    let mut glass = handed_off("worker");
    glass.command(person("carol"), MINUTE, referee_core::say::Ask::BreakGlass { reason: "fire".into() });
    assert!(glass.rules().steps.is_empty());
    glass.snapshot.changes.patch = patch("p2");
    assert_eq!(steps(&glass.rules().steps), ["-ready by worker"], "handed off at another change");
}

#[test]
fn a_draft_waits_for_its_author_if_no_other_rule_applies() {
    let mut stage = Stage::all_clear();
    stage.snapshot.pull.draft = true;
    assert_eq!(told(&stage.rules()), "draft: wait author");
    stage.snapshot.checks.all = vec![check("test", CheckState::Pending)];
    assert_eq!(told(&stage.rules()), "checks-pending: wait checks");
}

// spec: DSP-12 @core
#[test]
fn every_row_says_its_name_and_the_facts_it_used() {
    let mut stage = Stage::all_clear();
    stage.snapshot.checks.all = vec![check("lint", CheckState::Pass), check("test", CheckState::Fail)];
    let outcome = stage.rules();
    assert_eq!(outcome.why.rule, "checks-failed");
    assert!(outcome.why.facts.contains(&"failed: test".to_owned()), "{:?}", outcome.why.facts);
    stage.snapshot.checks.all = vec![check("test", CheckState::Pending)];
    assert_eq!(stage.rules().why.facts, ["not done: test"]);
}

// spec: DSP-16 @core
#[test]
fn a_spawn_is_recorded_before_it_is_printed() {
    let mut stage = Stage::with_workers();
    stage.verdict("static", Verdict::RequestChanges);
    stage.job_at(patch("p0"), JobKind::Findings, "role:static", 9 * HOUR, Some(WorkOutcome::Done));
    stage.snapshot.lease = Some(Lease { by: "h".into(), epoch: 6, since: Time(0), until: Time(1) });
    let Next::Spawn(job) = stage.rules().next else { panic!("no spawn") };
    assert_eq!((job.number, job.head.clone(), job.epoch), (7, Some(sha('a')), 7), "above every epoch that is known");
    assert_eq!(steps(&job.record), ["job findings none by worker", "+wip by worker"]);
    let job = job.with_epoch(9);
    stage.apply(&job.record[0]);
    let comment = stage.snapshot.comments.last().expect("the record");
    let expected = Topic::Job {
        kind: JobKind::Findings,
        cause: "role:static".into(),
        patch: patch("p1"),
        epoch: 9,
        outcome: None,
        retried: false,
    };
    assert_eq!(comment.text.trusted_tag().map(|tag| &tag.kind), Some(&TagKind::Topic(expected)));
    assert_eq!(told(&stage.rules()), "changes-requested: wait worker", "nobody spawns it again");
}
