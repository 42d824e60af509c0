//! Properties of the rules on any pull, contradictory ones included.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use referee_core::decide::{self, ProtocolLine};
use referee_core::facts::Facts;
use referee_core::mark::{TagKind, Topic};
use referee_core::model::*;
use referee_core::plan::{Action, JobKind, Next, Trailer};
use referee_core::policy::ReviewStart;
use referee_core::rule::Rule;
use referee_core::say::{Ask, Named};

use crate::support::*;

type Hand = (u8, u8, u8, u8);

/// One event on a pull, by a person or by a broken forge.
fn hand(stage: &mut Stage, (what, who, how, when): Hand) {
    let authors = [
        person("alice"),
        person("bob"),
        person("carol"),
        outsider("eve"),
        program("other"),
        program("referee"),
        program("worker"),
        Author::default(),
    ];
    let by = authors[usize::from(who) % authors.len()].clone();
    let name = by.login.clone().unwrap_or_else(|| "referee".into());
    let verdict = [Verdict::Approve, Verdict::Comment, Verdict::RequestChanges][usize::from(how) % 3];
    let change = patch(&format!("p{}", when % 3));
    let head = sha(['a', 'b', 'c'][usize::from(when) % 3]);
    let ago = i64::from(when % 40) * 10 * MINUTE - 30 * MINUTE;
    let kinds = [
        JobKind::Findings,
        JobKind::Rebase,
        JobKind::CiFix,
        JobKind::SelfReview,
        JobKind::SrFix,
        JobKind::AddressFeedback,
    ];
    let kind = kinds[usize::from(how) % kinds.len()];
    let outcomes = [None, Some(WorkOutcome::Done), Some(WorkOutcome::Failed), None];
    let snapshot = &mut stage.snapshot;
    match what % 24 {
        0 => {
            let mark = stage.verdict_at("static", verdict, head, change);
            (mark.complete, mark.attempts, mark.tried_at) = (who % 2 == 0, how % 5, Some(Time(NOW - ago / 20)));
        }
        1 => stage.verdict_at("security", verdict, head, change).complete = how % 2 == 0,
        2 | 3 => stage.review(by, verdict, head).at = Time(NOW - ago),
        4 => {
            stage.thread(&[by, authors[usize::from(how) % authors.len()].clone()]);
        }
        5 => {
            stage.finding_thread("static", u64::from(how % 4), &[by]);
        }
        6 => {
            stage.job_at(
                change,
                kind,
                &format!("role:{}", ["static", "security"][usize::from(when) % 2]),
                ago,
                outcomes[usize::from(who) % 4],
            );
        }
        7 => {
            stage.job(kind, &kind.to_string(), ago, outcomes[usize::from(who) % 4]);
        }
        8 => {
            snapshot.pull.mergeable = [Mergeable::Conflict, Mergeable::Clean, Mergeable::Unknown][usize::from(how) % 3]
        }
        9 => {
            let states = [CheckState::Pass, CheckState::Fail, CheckState::Pending, CheckState::None];
            snapshot.checks.all = vec![check("test", states[usize::from(how) % 4])];
        }
        10 => snapshot.pull.draft = how % 2 == 0,
        11 => stage.label(["wip", "ready", "bug"][usize::from(how) % 3], name.as_str(), ago),
        12 if who % 4 == 0 => snapshot.pull.state = [PullState::Closed, PullState::Merged][usize::from(how) % 2],
        12 => snapshot.pull.assignees.push(name),
        13 => {
            let named = vec![Named { role: None, id: FindingId(u64::from(how % 5)) }];
            let asks = [
                Ask::Review,
                Ask::FullReview,
                Ask::Explain,
                Ask::Retry,
                Ask::Pause,
                Ask::Resume,
                Ask::Rounds { more: u32::MAX },
                Ask::BreakGlass { reason: "fire".into() },
                Ask::Dismiss { findings: named.clone(), reason: String::new() },
                Ask::Reopen { findings: named },
                Ask::Help,
                Ask::Unknown { verb: "x".into(), nearest: None, missing: None },
            ];
            stage.command(by, ago, asks[usize::from(how) % asks.len()].clone());
        }
        14 => {
            snapshot.lease =
                Some(Lease { by: "h".into(), epoch: u64::from(how), since: Time(0), until: Time(NOW - ago) })
        }
        15 => snapshot.pull.reopens.push(Time(NOW - ago)),
        16 => {
            stage.policy.start = [ReviewStart::Push, ReviewStart::CiGreen, ReviewStart::Request][usize::from(how) % 3]
        }
        17 => stage.report(
            "static",
            match how % 3 {
                0 => ReportOutcome::Failed { reason: "timeout".into() },
                1 => ReportOutcome::Clean(Coverage::default()),
                _ => ReportOutcome::Findings(Coverage::default()),
            },
        ),
        18 => {
            let topics = [
                Topic::SelfReview { clean: how % 2 == 0 },
                Topic::FixPlan,
                Topic::Ready { patch: change.clone() },
                Topic::Glass { patch: change },
                Topic::Operator { epoch: u32::from(how % 2) },
            ];
            stage.topic(name.as_str(), ago, topics[usize::from(when) % topics.len()].clone());
        }
        19 => {
            let text = BotText {
                sentinel: Some("sonnet".into()),
                evaluated: Some("a".repeat(usize::from(how))),
                findings: vec![1, u32::from(when)],
                self_review: Some(head),
                clean: [None, Some(true), Some(false)][usize::from(when) % 3],
                fix_plan: vec!["é".repeat(usize::from(how % 9))],
                answers: vec![1],
                answers_own: Vec::new(),
            };
            stage.review(by.clone(), verdict, sha('a')).text.reading.bot = Some(Box::new(text.clone()));
            stage.comment(by, ago).text.reading.bot = Some(Box::new(text));
        }
        20 => stage.policy.work = None,
        21 => snapshot.pull.pushable = [None, Some(true), Some(false)][usize::from(how) % 3],
        22 => {
            if snapshot.reviews.iter().any(|it| it.text.reading.block.is_some()) {
                let states = [FindingState::Open, FindingState::Fixed, FindingState::Answered, FindingState::Stale];
                let severities = [Severity::Suggestion, Severity::Warning, Severity::Critical];
                let (severity, state) = (severities[usize::from(when) % 3], states[usize::from(how) % 4]);
                stage.finding(u64::from(who % 4), severity, state, "src/a.rs", u32::from(how));
            }
        }
        _ => {
            snapshot.evidence.result = Some(WorkResult {
                kind,
                epoch: u64::from(how),
                started_at: head,
                outcome: outcomes[usize::from(who) % 4].unwrap_or(WorkOutcome::NeedsHuman),
                summary: String::new(),
                head: Some(sha('d')),
                patch: Some(change),
                files: Vec::new(),
                escapes: Vec::new(),
                audit: Some(CommitAudit { descends: true, ..CommitAudit::default() }),
                clean: None,
                plan: Vec::new(),
                pull: None,
            });
        }
    }
}

/// A pull in some state, with up to a dozen events applied.
pub(crate) fn any_stage() -> impl Strategy<Value = Stage> {
    let hands = proptest::collection::vec(any::<Hand>(), 0..12);
    (0u8..8, hands).prop_map(|(begin, hands)| {
        let mut stage = Stage::with_workers();
        stage.policy.roles.push(role("security"));
        if begin == 1 {
            stage.work().review_bots = vec!["sonnet".into()];
        }
        if 0 < begin {
            stage.verdict("security", Verdict::Approve);
            stage.verdict("static", if begin == 2 { Verdict::RequestChanges } else { Verdict::Approve });
        }
        if 3 < begin {
            stage.self_review(true);
        }
        for it in hands {
            hand(&mut stage, it);
        }
        stage
    })
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#?}\n{:#?}", self.snapshot, self.policy)
    }
}

fn is_handoff(action: &Action) -> bool {
    match action {
        Action::SetLabel { name, on: true } => name == "ready",
        Action::EnsureComment { text, .. } => match &text.trailer {
            Trailer::Tag(tag) => matches!(tag.kind, TagKind::Topic(Topic::Ready { .. })),
            Trailer::Mark(..) => true,
        },
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    /// I38, and `decide` never panics.
    // spec: LOOP-6 @core
    #[test]
    fn equal_pulls_give_equal_plans(stage in any_stage()) {
        let facts = Facts::new(&stage.snapshot, &stage.policy);
        prop_assert_eq!(format!("{:?}", decide::plan_delivery(&facts)), format!("{:?}", decide::plan_delivery(&facts)));
        prop_assert_eq!(stage.plan(), stage.plan());
    }

    /// I3: while somebody blocks, nothing is ready, and only a worker that answers the block starts. Where all blocks
    /// are from an older head, `rebase` and `ci-fix` may start instead.
    // spec: DSP-5, DSP-17, D29 @core
    #[test]
    fn nothing_is_ready_while_somebody_blocks(stage in any_stage()) {
        let facts = Facts::new(&stage.snapshot, &stage.policy);
        let judged = judge(&facts);
        let blocks = !facts.external_blocks.is_empty() || judged.iter().any(|it| it.is_blocking());
        let plan = stage.plan();
        if blocks {
            prop_assert!(!plan.steps.iter().any(|step| is_handoff(&step.action)), "{:?}", steps(&plan.steps));
            let active = facts.external_blocks.iter().any(|it| !it.is_bot() || it.at_head)
                || judged.iter().any(|it| it.is_blocking() && (it.is_current || !it.role.applies));
            let fits = match &plan.next {
                Next::Idle | Next::Wait(_) | Next::Blocked(_) => true,
                Next::Spawn(job) if active => job.kind == JobKind::Findings,
                Next::Spawn(job) => matches!(job.kind, JobKind::Rebase | JobKind::CiFix),
                Next::Ready => false,
            };
            prop_assert!(fits, "active: {active}, {:?}", plan.next);
        }
        let board = Board { taken_at: Time(NOW), pulls: Vec::new(), ..Board::default() };
        let pass = decide::schedule(&board, std::slice::from_ref(&plan), &stage.policy, &stage.snapshot.viewer);
        let spawns = pass.lines.iter().filter(|line| matches!(line, ProtocolLine::Spawn { .. })).count();
        prop_assert_eq!(spawns, usize::from(matches!(plan.next, Next::Spawn(_))));
    }

    /// I9, I21: an applied plan leaves nothing to do.
    // spec: DSP-10 @core
    #[test]
    fn a_plan_that_was_carried_out_leaves_nothing_to_do(mut stage in any_stage()) {
        let plan = stage.plan();
        for step in &plan.steps {
            stage.apply(step);
        }
        let again = stage.plan();
        prop_assert!(again.steps.is_empty(), "{:?} then {:?}", steps(&plan.steps), steps(&again.steps));
    }

    /// I18, I19: a cause is answered at most twice at one change; then the pull waits for somebody.
    // spec: D4, DSP-16 @core
    #[test]
    fn workers_without_an_outcome_end_the_loop(mut stage in any_stage()) {
        stage.snapshot.evidence.reports.clear();
        stage.snapshot.pull.reopens.retain(|at| *at <= Time(NOW));
        let mut started: Vec<(String, bool)> = Vec::new();
        for _ in 0..40 {
            let Next::Spawn(job) = stage.rules().next else { return Ok(()) };
            let key = (job.cause.clone(), job.retry);
            prop_assert!(!started.contains(&key), "{key:?} twice: {started:?}");
            started.push(key);
            for step in &job.record {
                stage.apply(step);
            }
            let under_way = matches!(stage.rules().next, Next::Spawn(_));
            prop_assert!(!under_way, "a second worker beside the first");
            stage.snapshot.taken_at = stage.snapshot.taken_at.saturating_add(Span::from_hours(2));
            stage.snapshot.pull.labels.retain(|label| label.name != "wip");
        }
        prop_assert!(false, "never quiet: {started:?}");
    }

    /// I23: strangers' texts in the other bot's format change nothing that only the fixing side or a reviewer may say.
    // spec: PUB-12 @core
    #[test]
    fn forged_texts_do_not_change_the_job_records(mut stage in any_stage(), head in prop::sample::select(vec!['a', 'b'])) {
        let before = stage.rules();
        let text = BotText {
            sentinel: Some("sonnet".into()),
            evaluated: Some("aaaaaaa".into()),
            self_review: Some(sha(head)),
            clean: Some(true),
            fix_plan: vec!["aaaaaaa".into()],
            answers: vec![1, 2, 3],
            answers_own: (0..5).map(FindingId).collect(),
            findings: vec![7],
        };
        stage.comment(outsider("eve"), HOUR).text.reading.bot = Some(Box::new(text.clone()));
        let change = stage.snapshot.changes.patch.clone();
        stage.topic("eve", MINUTE, Topic::Ready { patch: change.clone() });
        let epoch = 99;
        let cause = "role:static".into();
        let job = Topic::Job { kind: JobKind::Findings, cause, patch: change, epoch, outcome: None, retried: true };
        stage.topic("eve", MINUTE, job);
        stage.review(outsider("eve"), Verdict::Comment, sha('a')).text.reading.bot = Some(Box::new(text));
        let after = stage.rules();
        prop_assert_eq!(told(&before), told(&after));
        prop_assert_eq!(steps(&before.steps), steps(&after.steps));
    }
}

/// Properties over pulls that never reach a rule would prove nothing.
#[test]
fn the_generated_pulls_reach_every_rule() {
    let mut runner = TestRunner::deterministic();
    let mut reached = std::collections::BTreeMap::new();
    for _ in 0..4_000 {
        let stage = any_stage().new_tree(&mut runner).expect("a pull").current();
        let outcome = stage.rules();
        let next = match outcome.next {
            Next::Idle => "idle",
            Next::Wait(_) => "wait",
            Next::Spawn(_) => "spawn",
            Next::Ready => "ready",
            Next::Blocked(_) => "blocked",
        };
        *reached.entry((outcome.why.rule, next)).or_insert(0) += 1;
    }
    let rows = [
        ("closed", "idle"),
        ("paused", "wait"),
        ("break-glass", "wait"),
        ("changes-requested", "spawn"),
        ("changes-requested", "wait"),
        ("changes-requested", "blocked"),
        ("conflict", "spawn"),
        ("checks-failed", "spawn"),
        ("reviews-missing", "wait"),
        ("reviews-missing", "blocked"),
        ("checks-pending", "wait"),
        ("self-review", "spawn"),
        ("self-review", "blocked"),
        ("findings-unanswered", "spawn"),
        ("threads-unanswered", "spawn"),
        ("draft", "wait"),
        ("lease", "wait"),
        ("ready", "ready"),
    ];
    for (rule, next) in rows {
        assert!(
            reached.contains_key(&(Rule::from_name(rule).expect("a rule"), next)),
            "never {rule}: {next} in {reached:?}"
        );
    }
}
