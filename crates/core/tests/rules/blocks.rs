//! Rule 2: somebody requests changes.

use referee_core::model::*;
use referee_core::plan::JobKind;
use referee_core::say::Ask;

use crate::support::*;

fn blocked() -> Stage {
    let mut stage = Stage::with_workers();
    stage.verdict("static", Verdict::RequestChanges);
    stage
}

fn approved() -> Stage {
    let mut stage = Stage::with_workers();
    stage.verdict("static", Verdict::Approve);
    stage
}

// spec: DSP-5, D4 @core
#[test]
fn a_roles_block_starts_one_worker_for_each_change() {
    let mut stage = blocked();
    assert_eq!(told(&stage.rules()), "changes-requested: spawn findings role:static");
    stage.job(JobKind::Findings, "role:static", 30 * MINUTE, None);
    assert_eq!(told(&stage.rules()), "changes-requested: wait worker");
    stage.snapshot.changes.patch = patch("p2");
    stage.verdict("static", Verdict::RequestChanges);
    assert_eq!(told(&stage.rules()), "changes-requested: spawn findings role:static");
}

// spec: DSP-5 @core
#[test]
fn a_block_that_was_posted_as_a_comment_is_a_block() {
    let mut stage = blocked();
    stage.snapshot.reviews[0].row = ReviewKind::Verdict(Verdict::Comment);
    assert_eq!(told(&stage.rules()), "changes-requested: spawn findings role:static");
}

// spec: DSP-5, DSP-17 @core
#[test]
fn rule_2_comes_before_every_other_rule_about_work() {
    let mut stage = blocked();
    stage.snapshot.pull.mergeable = Mergeable::Conflict;
    stage.snapshot.checks.all = vec![check("test", CheckState::Fail)];
    stage.snapshot.pull.draft = true;
    stage.thread(&[person("bob")]);
    assert_eq!(told(&stage.rules()), "changes-requested: spawn findings role:static");
}

// spec: DSP-16 @core
#[test]
fn the_outcome_of_the_job_decides() {
    let cases = [
        (30 * MINUTE, None, false, "changes-requested: wait worker"),
        (60 * MINUTE, None, false, "changes-requested: wait worker"),
        (61 * MINUTE, None, false, "changes-requested: respawn findings role:static"),
        (30 * MINUTE, None, true, "changes-requested: wait worker"),
        (61 * MINUTE, None, true, "changes-requested: blocked needshuman"),
        (MINUTE, Some(WorkOutcome::Failed), false, "changes-requested: blocked needshuman"),
        (MINUTE, Some(WorkOutcome::NeedsHuman), false, "changes-requested: blocked needshuman"),
        (MINUTE, Some(WorkOutcome::NothingToDo), false, "changes-requested: blocked needshuman"),
        (MINUTE, Some(WorkOutcome::Done), false, "changes-requested: blocked needshuman"),
    ];
    for (ago, outcome, again, expected) in cases {
        let mut stage = blocked();
        let comment = stage.job(JobKind::Findings, "role:static", ago, outcome);
        if let Some(tag) = &mut comment.text.reading.tag
            && let referee_core::mark::TagKind::Topic(referee_core::mark::Topic::Job { retried, .. }) =
                &mut tag.data.kind
        {
            *retried = again;
        }
        let decided = stage.rules();
        assert_eq!(told(&decided), expected, "{ago} s, {outcome:?}, retried {again}");
        assert_eq!(steps(&decided.steps).len(), usize::from(expected.contains("blocked")), "one operator comment");
    }
}

#[test]
fn a_done_outcome_waits_for_its_push_while_the_lease_is_live() {
    let mut stage = blocked();
    stage.job(JobKind::Findings, "role:static", MINUTE, Some(WorkOutcome::Done));
    stage.snapshot.lease =
        Some(Lease { by: "host".into(), epoch: 1, since: Time(NOW - MINUTE), until: Time(NOW + MINUTE) });
    assert_eq!(told(&stage.rules()), "changes-requested: wait worker");
}

// spec: D4, DSP-5 @core
#[test]
fn a_persons_block_is_answered_once_and_then_waited_for() {
    let mut stage = approved();
    stage.review(person("bob"), Verdict::RequestChanges, sha('a'));
    assert_eq!(told(&stage.rules()), "changes-requested: spawn findings person:bob@r2");
    stage.job(JobKind::Findings, "person:bob@r2", MINUTE, None);
    assert_eq!(told(&stage.rules()), "changes-requested: wait worker");

    let mut pushed = approved();
    pushed.review(person("bob"), Verdict::RequestChanges, sha('b'));
    pushed.job_at(patch("p0"), JobKind::Findings, "person:bob@r2", 2 * HOUR, None);
    assert_eq!(told(&pushed.rules()), "changes-requested: wait person(login(\"bob\"))", "any push answers");

    let mut done = approved();
    done.review(person("bob"), Verdict::RequestChanges, sha('a'));
    done.job(JobKind::Findings, "person:bob@r2", 2 * HOUR, Some(WorkOutcome::Done));
    assert_eq!(told(&done.rules()), "changes-requested: wait person(login(\"bob\"))");

    let mut again = approved();
    again.review(person("bob"), Verdict::RequestChanges, sha('b'));
    again.job_at(patch("p0"), JobKind::Findings, "person:bob@r2", 2 * HOUR, None);
    again.review(person("bob"), Verdict::RequestChanges, sha('a'));
    assert_eq!(told(&again.rules()), "changes-requested: spawn findings person:bob@r3", "a new review is a new cause");
}

// spec: DSP-5 @core
#[test]
fn only_an_approval_or_a_valid_dismissal_clears_a_persons_block() {
    let dismissed = |by: Author| ReviewWeight::Dismissed { by: Some(by), at: Time(NOW) };
    let cases = [
        ("nothing", None, ReviewWeight::Yes, true),
        ("a comment", Some(Verdict::Comment), ReviewWeight::Yes, true),
        ("an approval", Some(Verdict::Approve), ReviewWeight::Yes, false),
        ("a dismissal by one who may", None, dismissed(person("carol")), false),
        ("a dismissal by the author", None, dismissed(person("alice")), true),
        ("a dismissal by an outsider", None, dismissed(outsider("eve")), true),
        ("the forge itself after a push", None, ReviewWeight::Dismissed { by: None, at: Time(NOW) }, true),
    ];
    for (name, then, counts, blocks) in cases {
        let mut stage = approved();
        stage.review(person("bob"), Verdict::RequestChanges, sha('b')).counts = counts;
        if let Some(verdict) = then {
            stage.review(person("bob"), verdict, sha('b'));
        }
        let outcome = stage.rules();
        assert_eq!(outcome.why.rule == "changes-requested", blocks, "{name}: {}", told(&outcome));
    }
}

// spec: DSP-5 @core
#[test]
fn a_deleted_users_block_still_blocks() {
    let mut stage = approved();
    stage.review(Author::default(), Verdict::RequestChanges, sha('b'));
    assert_eq!(told(&stage.rules()), "changes-requested: spawn findings person:ghost@r2");
    stage.job_at(patch("p0"), JobKind::Findings, "person:ghost@r2", HOUR, None);
    assert_eq!(told(&stage.rules()), "changes-requested: wait operator", "nobody is left to look again");
}

// spec: D4 @core
#[test]
fn another_bots_block_is_a_cause_only_at_this_head() {
    let mut stage = approved();
    stage.review(program("other"), Verdict::RequestChanges, sha('b'));
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"other\"])");
    stage.snapshot.reviews[1].commit = Some(sha('a'));
    assert_eq!(told(&stage.rules()), "changes-requested: spawn findings bot:other@r2");
}

#[test]
fn a_reviewer_who_comes_back_anyway_is_waited_for_before_a_person() {
    let mut stage = approved();
    stage.review(person("bob"), Verdict::RequestChanges, sha('b'));
    stage.review(program("other"), Verdict::RequestChanges, sha('b'));
    stage.job_at(patch("p0"), JobKind::Findings, "person:bob@r2", 2 * HOUR, None);
    assert_eq!(told(&stage.rules()), "changes-requested: wait reviewer([\"other\"])");
}

// spec: DSP-5 @core
#[test]
fn bots_that_share_a_login_are_distinguished_by_their_sentinel() {
    let say = |stage: &mut Stage, name: &str, verdict, evaluated: char| {
        let text = BotText {
            sentinel: Some(name.into()),
            evaluated: Some(evaluated.to_string().repeat(7)),
            ..BotText::default()
        };
        stage.review(person("review-bot"), verdict, sha('b')).text.reading.bot = Some(Box::new(text));
    };
    let mut stage = approved();
    stage.work().review_users = ["review-bot".into()].into();
    say(&mut stage, "sonnet", Verdict::RequestChanges, 'a');
    say(&mut stage, "gpt", Verdict::Approve, 'a');
    assert_eq!(told(&stage.rules()), "changes-requested: spawn findings bot:sonnet@r2");
    say(&mut stage, "sonnet", Verdict::RequestChanges, 'b');
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"sonnet\"])");
    say(&mut stage, "sonnet", Verdict::Approve, 'a');
    assert_eq!(stage.rules().why.rule, "self-review");

    let mut stranger = approved();
    stranger.work().review_users = ["somebody".into()].into();
    say(&mut stranger, "sonnet", Verdict::RequestChanges, 'a');
    assert_eq!(told(&stranger.rules()), "changes-requested: spawn findings person:review-bot@r2");

    let mut marked = approved();
    marked.work().review_users = ["review-bot".into()].into();
    say(&mut marked, "static", Verdict::RequestChanges, 'b');
    assert_eq!(marked.rules().why.rule, "self-review", "the role speaks by its Mark");
    let mut unmarked = Stage::with_workers();
    unmarked.policy.roles[0].identity = Some("elsewhere".into());
    unmarked.work().review_users = ["review-bot".into()].into();
    say(&mut unmarked, "static", Verdict::RequestChanges, 'a');
    assert_eq!(told(&unmarked.rules()), "changes-requested: spawn findings bot:static@r1", "till it has one");
}

// spec: D20 @core
#[test]
fn a_persons_approval_at_this_head_ends_author_work() {
    let approve = |by: Author, commit: char, mut stage: Stage| {
        stage.review(by, Verdict::Approve, sha(commit));
        told(&stage.rules())
    };
    assert_eq!(approve(person("carol"), 'a', blocked()), "changes-requested: wait operator");
    let goes_on = "changes-requested: spawn findings role:static";
    assert_eq!(approve(person("carol"), 'b', blocked()), goes_on, "another head");
    assert_eq!(approve(person("alice"), 'a', blocked()), goes_on, "the author");
    assert_eq!(approve(outsider("eve"), 'a', blocked()), goes_on, "no write access");
    assert_eq!(approve(program("other"), 'a', blocked()), goes_on, "a program");
    let mut changed_her_mind = blocked();
    changed_her_mind.review(person("carol"), Verdict::Approve, sha('a'));
    changed_her_mind.review(person("carol"), Verdict::RequestChanges, sha('a'));
    assert_eq!(told(&changed_her_mind.rules()), goes_on, "one who blocks since");
    assert_eq!(approve(person("carol"), 'a', approved()), "self-review: wait operator", "no worker of any type");
    let mut stage = Stage::all_clear();
    stage.review(person("carol"), Verdict::Approve, sha('a'));
    stage.review(person("bob"), Verdict::RequestChanges, sha('a'));
    let outcome = stage.rules();
    assert_eq!(told(&outcome), "changes-requested: wait operator", "it lifts nobody's block");
    assert!(steps(&outcome.steps).is_empty(), "and sets no label");
}

#[test]
fn without_workers_the_author_has_the_turn_and_then_the_person() {
    let mut stage = Stage::new();
    stage.verdict("static", Verdict::RequestChanges);
    assert_eq!(told(&stage.rules()), "changes-requested: wait author");
    let mut stage = Stage::new();
    stage.verdict("static", Verdict::Approve);
    stage.review(person("bob"), Verdict::RequestChanges, sha('a'));
    assert_eq!(told(&stage.rules()), "changes-requested: wait author");
    stage.snapshot.reviews[1].commit = Some(sha('b'));
    assert_eq!(told(&stage.rules()), "changes-requested: wait person(login(\"bob\"))");
}

// spec: DSP-5 @core
#[test]
fn a_head_that_cannot_be_pushed_to_never_spawns() {
    for change in [
        |stage: &mut Stage| drop(stage.verdict("static", Verdict::RequestChanges).clone()),
        |stage: &mut Stage| stage.snapshot.checks.all = vec![check("test", CheckState::Fail)],
        |stage: &mut Stage| stage.snapshot.pull.mergeable = Mergeable::Conflict,
        |_: &mut Stage| {},
    ] {
        let mut stage = approved();
        change(&mut stage);
        stage.snapshot.pull.pushable = Some(false);
        let outcome = stage.rules();
        assert!(told(&outcome).ends_with(": wait author"), "{}", told(&outcome));
    }
}

#[test]
fn an_unread_change_is_read_before_anybody_fixes_it() {
    let mut stage = Stage::with_workers();
    stage.verdict_at("static", Verdict::RequestChanges, sha('b'), patch("p0"));
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"]); review static");
    stage.policy.roles[0].identity = Some("elsewhere".into());
    stage.snapshot.reviews[0].author = program("elsewhere");
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"])");
}

// spec: LOOP-4 @core
#[test]
fn a_fix_by_hand_after_the_cap_is_read_not_blocked() {
    let mut stage = Stage::with_workers();
    stage.policy.roles[0].identity = Some("elsewhere".into());
    let mark = stage.verdict_at("static", Verdict::RequestChanges, sha('b'), patch("p0"));
    mark.rounds = vec![patch("q"), patch("r"), patch("p0")];
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"])");
}

#[test]
fn at_the_cap_a_persons_block_starts_no_worker_either() {
    let mut stage = approved();
    stage.verdict("static", Verdict::Approve).rounds = vec![patch("q"), patch("r"), patch("s")];
    stage.review(person("bob"), Verdict::RequestChanges, sha('a'));
    assert_eq!(told(&stage.rules()), "changes-requested: blocked roundcap");
}

#[test]
fn a_finding_that_only_a_person_can_settle_blocks() {
    let mut stage = blocked();
    stage.finding(4, Severity::Critical, FindingState::Open, "src/a.rs", 3);
    let outcome =
        stage.rules_over(|judged| judged[0].findings[0].needs_human_reason = Some("the author may not accept it"));
    assert_eq!(told(&outcome), "needs-human: blocked needshuman");
    assert_eq!(outcome.why.facts, ["static/F4: the author may not accept it"]);
    assert_eq!(steps(&outcome.steps), ["operator 0 by referee"]);
    let outcome = stage.rules_over(|judged| {
        judged[0].findings[0].needs_human_reason = Some("the author may not accept it");
        judged[0].findings[0].counts = false;
    });
    assert_eq!(told(&outcome), "changes-requested: spawn findings role:static");
}

// spec: D25, INC-13 @core
#[test]
fn nothing_starts_on_a_closed_a_paused_or_a_break_glassed_pull() {
    for state in [PullState::Closed, PullState::Merged] {
        let mut stage = blocked();
        stage.snapshot.pull.state = state;
        stage.label("wip", "worker", 5 * HOUR);
        let outcome = stage.rules();
        assert_eq!(told(&outcome), "closed: idle");
        assert!(outcome.steps.is_empty());
    }
    let mut stage = Stage::with_workers();
    stage.command(person("bob"), HOUR, Ask::Pause);
    assert_eq!(told(&stage.rules()), "paused: wait operator");
    stage.command(person("bob"), MINUTE, Ask::Resume);
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"]); review static");

    let glass = Ask::BreakGlass { reason: "fire".into() };
    let mut stage = blocked();
    stage.command(person("carol"), HOUR, glass.clone());
    assert_eq!(told(&stage.rules()), "break-glass: wait operator");
    stage.snapshot.pull.head_since = Time(NOW - MINUTE);
    assert_eq!(told(&stage.rules()), "changes-requested: spawn findings role:static", "a new head ends it");
    let mut stage = blocked();
    stage.command(person("bob"), HOUR, glass);
    assert_eq!(told(&stage.rules()), "changes-requested: spawn findings role:static", "bob may not");
}

#[test]
fn a_pull_that_takes_no_part_in_dispatch_is_the_authors() {
    use referee_core::policy::PullFilter;
    let of = |which: PullFilter, stage: &mut Stage| {
        stage.work().pulls = which;
        told(&stage.rules())
    };
    let mut stage = blocked();
    assert_eq!(of(PullFilter::Own, &mut stage), "changes-requested: wait author");
    assert_eq!(of(PullFilter::Label("loop".into()), &mut stage), "changes-requested: wait author");
    stage.label("loop", "bob", HOUR);
    assert_eq!(of(PullFilter::Label("loop".into()), &mut stage), "changes-requested: spawn findings role:static");
    stage.snapshot.pull.author = person("worker");
    assert_eq!(of(PullFilter::Own, &mut stage), "changes-requested: spawn findings role:static");
}

#[test]
fn a_blocking_role_applies_although_its_files_left_the_change() {
    let mut stage = Stage::with_workers();
    stage.policy.roles[0].paths = vec!["src/**".into()];
    stage.snapshot.changes.files = vec![file("docs/a.md")];
    stage.verdict_at("static", Verdict::RequestChanges, sha('b'), patch("p0"));
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"]); review static");
}

// spec: D32, LOOP-2 @core
#[test]
fn another_program_that_asks_at_every_head_is_stopped_at_the_cap() {
    let mut stage = approved();
    for head in ['1', '2'] {
        stage.review(program("other"), Verdict::RequestChanges, sha(head));
    }
    stage.review(program("other"), Verdict::RequestChanges, stage.snapshot.pull.head.clone());
    assert_eq!(told(&stage.rules()), "changes-requested: blocked roundcap");
    let asks = |author: Author| {
        let mut stage = approved();
        for head in ['1', '2', '3'] {
            stage.review(author.clone(), Verdict::RequestChanges, sha(head));
        }
        stage.review(program("last"), Verdict::RequestChanges, stage.snapshot.pull.head.clone());
        told(&stage.rules())
    };
    assert_eq!(asks(program("other")), "changes-requested: blocked roundcap");
    assert_eq!(asks(person("bob")), "changes-requested: spawn findings person:bob@r4", "a person's are no rounds");
    let stranger = Author { access: Access::Read, ..program("other") };
    assert_eq!(asks(stranger), "changes-requested: spawn findings bot:last@r5", "nor are a stranger's");
}

// spec: D31 @core
#[test]
fn a_program_dismisses_nobodys_block() {
    let mut stage = approved();
    let dismissed = |by: Author| ReviewWeight::Dismissed { by: Some(by), at: Time(0) };
    let _ = stage.review(person("bob"), Verdict::RequestChanges, sha('b'));
    for (by, expected) in [
        (program("renovate"), "changes-requested: spawn findings person:bob@r2"),
        (person("carol"), "self-review: spawn self-review self-review"),
    ] {
        if let Some(review) = stage.snapshot.reviews.last_mut() {
            review.counts = dismissed(by);
        }
        assert_eq!(told(&stage.rules()), expected);
    }
}

// spec: D31 @core
#[test]
fn a_login_is_a_programs_by_its_pattern_or_by_what_it_is_configured_for() {
    let mut stage = approved();
    stage.work().review_users = ["sonnet".into()].into();
    stage.policy.roles[0].identity = Some("Sec".into());
    let is_program = |policy: &referee_core::policy::Policy, login: &str| policy.is_program(&login.into());
    for login in ["renovate[bot]", "Renovate[BOT]", "ci-bot", "ci_bot", "bot-7", "sonnet", "sec"] {
        assert!(is_program(&stage.policy, login), "{login}");
    }
    for login in ["bob", "abbott", "robot", "botany", "tob", "t"] {
        assert!(!is_program(&stage.policy, login), "{login}");
    }
    stage.policy.bots = vec!["dep*up*".to_owned(), "exact".to_owned()];
    for (login, expected) in [("dependup", true), ("depup", true), ("dep", false), ("exact", true), ("exactly", false)]
    {
        assert_eq!(is_program(&stage.policy, login), expected, "{login}");
    }
}
