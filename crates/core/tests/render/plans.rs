//! Plans and `explain`, as a terminal shows them.

use insta::assert_snapshot;
use referee_core::mark::{Tag, TagKind, Topic};
use referee_core::model::{
    Check, CheckState, Checks, FindingId, FindingState, Login, PullNumber, ReviewId, RoleName, Severity, ThreadId,
    Verdict,
};
use referee_core::plan::{
    Action, BlockedCause, Brief, CommentTarget, Delivery, FindingLine, Findings, Gate, Job, JobKind, Next, Plan,
    Precondition, Reason, Refusal, RoleState, Scope, Step, TextDraft, Trailer, WaitingOn,
};
use referee_core::render::{ExplainHeading, PersonVerdict, render_explanation, render_plan};
use referee_core::rule::Rule;
use referee_core::sanitise::SafeText;
use referee_core::track::PatchId;

use crate::kit::sha;

fn step(action: Action, rule: Rule, fact: &str) -> Step {
    Step {
        action,
        by: Login::from("referee"),
        gate: Gate::Review,
        approves: false,
        reason: Reason::new(rule).with_fact(fact),
        expect: Precondition::Nothing,
    }
}

fn draft() -> TextDraft {
    let tag = Tag { kind: TagKind::Topic(Topic::FixPlan), head: sha("9c1f2ab") };
    TextDraft { words: SafeText::default(), trailer: Trailer::Tag(Box::new(tag)) }
}

fn finding(id: u64, severity: Severity, state: FindingState) -> FindingLine<'static> {
    FindingLine {
        id: FindingId(id),
        role: "security",
        severity,
        path: "src/auth.rs",
        line: Some(88),
        title: "Token is logged",
        rule: None,
        detail: Default::default(),
        fingerprint: "f4",
        state,
        counts: !state.is_settled(),
        thread: None,
    }
}

fn plan(next: Next) -> Plan {
    Plan {
        pull: PullNumber(7),
        head: sha("9c1f2ab"),
        steps: Vec::new(),
        refused: Vec::new(),
        reviews: Vec::new(),
        next,
        why: Reason::new(Rule::ChangesRequested).with_fact("security blocks at this head").with_fact("F4, F6"),
        delivery: None,
        roles: Vec::new(),
        accounting: Vec::new(),
        findings: Findings::default(),
        round: 2,
    }
}

fn checks() -> Checks {
    let all = (1..=7).map(|n| Check { name: format!("build {n}"), state: CheckState::Pass }).collect();
    Checks { all, own: Vec::new() }
}

fn heading(checks: &Checks) -> ExplainHeading<'_> {
    ExplainHeading {
        name: "acme/api#7".to_owned(),
        title: "Add session refresh",
        author: "alice",
        operator: None,
        max_rounds: 3,
        person_verdicts: vec![PersonVerdict { name: "bob", verdict: Verdict::Approve, at_head: false }],
        checks,
        spent_micro_usd: 1_840_000,
        budget_micro_usd: 2_000_000,
        verdict_lost_to_request: false,
    }
}

// spec: DSP-12 @core
#[test]
fn explain_shows_rule_facts_plan_refusals_and_next() {
    let role = |name: &str, own, enforced, at_head| RoleState {
        role: name.into(),
        own,
        enforced,
        at_head,
        unread: None,
        overflow: Default::default(),
    };
    let (approve, block) = (Some(Verdict::Approve), Some(Verdict::RequestChanges));
    let thread = |id: &str| ThreadId::from(id);
    let review = ReviewId::from("r31");
    let full = Plan {
        steps: vec![
            step(
                Action::EditReview { review, edit: "e9".into(), text: draft() },
                Rule::OwnBlock,
                "same verdict, other words",
            ),
            step(Action::Reply { thread: thread("t4"), text: draft() }, Rule::Fixed, "in 9c1f2ab"),
            step(Action::Resolve { thread: thread("t4"), mark: None }, Rule::Fixed, "its code changed"),
        ],
        refused: vec![Refusal {
            what: "resolve thread t6".to_owned(),
            why: Reason::new(Rule::UnseenNote).with_fact("bob wrote after the answer"),
        }],
        roles: vec![
            role("correctness", approve, block, true),
            role("security", block, block, true),
            role("docs", None, None, false),
        ],
        findings: Findings::from_iter([
            finding(4, Severity::Critical, FindingState::Open),
            finding(6, Severity::Critical, FindingState::New),
            finding(1, Severity::Warning, FindingState::Fixed),
            finding(2, Severity::Warning, FindingState::Accepted),
        ]),
        ..plan(Next::Wait(WaitingOn::Author))
    };
    assert_snapshot!(render_explanation(&full, &heading(&checks())), @"
    acme/api#7 Add session refresh · 9c1f2ab · round 2 of 3 · waiting for the author (alice)
    person   bob approve, at an older head
    checks   passed: build 1, build 2, build 3, build 4, build 5 and 2 more
    spent    1.84 of 2.00 USD
    why      rule 2: A request for changes stands. It is answered before anything else.
    rule     changes-requested: security blocks at this head, F4, F6
    standing correctness approve, enforced as request changes, at this head
    standing security request changes, at this head
    standing docs has no verdict yet
    threads  2 open (F4 critical, F6 critical new) · 1 fixed · 1 accepted
    plan     edit review r31 (own-block: same verdict, other words)
    plan     reply in thread t4 (fixed: in 9c1f2ab)
    plan     resolve thread t4 (fixed: its code changed)
    refuse   resolve thread t6 (unseen_note: bob wrote after the answer)
    next     wait for the author: a push or an answer
    ");
}

#[test]
fn every_action_is_rendered() {
    let head = sha("9c1f2ab");
    let role = || RoleName::from("security");
    let comment = |existing: Option<&str>, target| Action::EnsureComment {
        existing: existing.map(Into::into),
        target,
        text: draft(),
    };
    let actions = [
        Action::PostReview {
            role: role(),
            verdict: Verdict::RequestChanges,
            commit: head.clone(),
            text: draft(),
            threads: Vec::new(),
        },
        Action::Supersede { review: "r30".into(), successor: None, edit: "e8".into(), text: draft() },
        Action::OpenThreads { role: role(), commit: head.clone(), threads: Vec::new() },
        comment(None, CommentTarget::Pull),
        comment(Some("c5"), CommentTarget::Pull),
        Action::SetLabel { name: "ready".to_owned(), on: true },
        Action::SetLabel { name: "wip".to_owned(), on: false },
        Action::Assign { target: CommentTarget::Pull, who: Some("carol".into()) },
        Action::Assign { target: CommentTarget::Issue(referee_core::model::IssueNumber(3)), who: None },
        Action::SetStatus {
            commit: head.clone(),
            context: "referee/security".to_owned(),
            state: CheckState::Fail,
            text: SafeText::sanitise_line("changes requested: F4", 140),
        },
    ];
    let steps = actions.into_iter().map(|action| step(action, Rule::Said, "fact")).collect();
    let delivery = Delivery::Push { commit: head, over: sha("41d0e77"), epoch: 3 };
    let rendered = render_plan(&Plan { steps, delivery: Some(delivery), ..plan(Next::Ready) });
    assert_snapshot!(rendered, @"
    rule     changes-requested: security blocks at this head, F4, F6
    threads  no findings
    plan     post security as request changes at 9c1f2ab (said: fact)
    plan     supersede review r30 (said: fact)
    plan     add to the review of security (said: fact)
    plan     comment on the pull (said: fact)
    plan     edit comment c5 (said: fact)
    plan     set label ready (said: fact)
    plan     remove label wip (said: fact)
    plan     assign the pull to carol (said: fact)
    plan     unassign issue #3 (said: fact)
    plan     status referee/security fail: changes requested: F4 (said: fact)
    deliver  push 9c1f2ab over 41d0e77, lease 3
    next     ready: a person may take over
    ");
}

#[test]
fn every_next_is_rendered() {
    let head = sha("9c1f2ab");
    let job = Job {
        kind: JobKind::CiFix,
        number: 7,
        head: Some(head.clone()),
        patch: PatchId::default(),
        cause: "ci:build".to_owned(),
        retry: true,
        epoch: 0,
        record: Vec::new(),
    };
    let mut all = vec![Next::Idle, Next::Spawn(Box::new(job)), Next::Ready];
    let whom = [
        WaitingOn::Author,
        WaitingOn::Person("bob".into()),
        WaitingOn::Operator,
        WaitingOn::Reviewer(vec!["gpt".to_owned()]),
        WaitingOn::Checks,
        WaitingOn::Worker,
        WaitingOn::Forge,
    ];
    all.extend(whom.into_iter().map(Next::Wait));
    let causes = [
        BlockedCause::RoundCap,
        BlockedCause::Budget,
        BlockedCause::ReviewerFailed,
        BlockedCause::NeedsHuman,
        BlockedCause::Incomplete,
        BlockedCause::NewerMark,
    ];
    all.extend(causes.into_iter().map(Next::Blocked));
    let carol = Login::from("carol");
    let checks = checks();
    let heading = ExplainHeading { operator: Some(&carol), ..heading(&checks) };
    let rendered: Vec<String> = all
        .into_iter()
        .map(|next| {
            let text = render_explanation(&plan(next), &heading);
            let turn = text.lines().next().unwrap().rsplit(" · ").next().unwrap().to_owned();
            format!("{turn} | {}", text.lines().last().unwrap())
        })
        .collect();
    assert_snapshot!(rendered.join("\n"), @"
    nothing to do | next     nothing: the pull is closed or takes no part
    a worker is due: ci-fix | next     start worker ci-fix for ci:build at 9c1f2ab, once more
    ready | next     ready: a person may take over
    waiting for the author (alice) | next     wait for the author: a push or an answer
    waiting for bob | next     wait for bob to look again
    waiting for carol | next     wait for the operator
    waiting for other reviewers | next     wait for reviews by gpt
    waiting for the checks | next     wait for the checks
    a worker is under way | next     wait for the worker under way
    waiting for the forge | next     wait for the forge: it is read again
    blocked, carol decides | next     blocked: the rounds are used up, a person decides
    blocked, carol decides | next     blocked: the budget is used up, a person decides
    blocked, carol decides | next     blocked: a reviewer failed at every attempt, a person decides
    blocked, carol decides | next     blocked: a person must decide
    blocked, carol decides | next     blocked: not everything could be read
    blocked, carol decides | next     blocked: a newer version of referee wrote here, nothing is changed
    ");
}

// spec: D29 @core
#[test]
fn due_reviews_are_listed_beside_next() {
    let head = sha("9c1f2ab");
    let brief = |name: &str, scope| Brief {
        role: RoleName::from(name),
        head: head.clone(),
        scope,
        round: 2,
        priors: Vec::new(),
        floor: Severity::Warning,
        why: Reason::new(Rule::ReviewDue).with_fact("no complete verdict for 9c1f2ab"),
    };
    let plan = Plan {
        reviews: vec![brief("security", Scope::Since(sha("41d0e77"))), brief("static", Scope::Whole)],
        ..plan(Next::Wait(WaitingOn::Reviewer(vec!["security".to_owned(), "static".to_owned()])))
    };
    let text = render_explanation(&plan, &heading(&checks()));
    assert!(text.lines().next().is_some_and(|line| line.ends_with("a review is due")), "{text}");
    let lines: Vec<&str> = text.lines().rev().take(3).collect();
    assert_snapshot!(lines.into_iter().rev().collect::<Vec<_>>().join("\n"), @"
    review   security reads what changed since 41d0e77, round 2 (review-due: no complete verdict for 9c1f2ab)
    review   static reads everything, round 2 (review-due: no complete verdict for 9c1f2ab)
    next     wait for reviews by security, static
    ");
}

#[test]
fn control_characters_never_reach_the_terminal() {
    let title = "\u{1b}[2Jclear\u{202e}evil\nnext     ready";
    let text = render_explanation(&plan(Next::Idle), &ExplainHeading { title, ..heading(&checks()) });
    assert_snapshot!(text.lines().next().unwrap(), @"acme/api#7 U+001B[2JclearU+202EevilU+000Anext     ready · 9c1f2ab · round 2 of 3 · nothing to do");
    assert!(text.chars().all(|it| it == '\n' || !it.is_control()));
}
