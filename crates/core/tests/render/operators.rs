//! The comment that asks a person to decide, cause by cause.

use insta::assert_snapshot;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{FindingId, Login, RoleName, RunCost, Severity, Sha, ThreadId};
use referee_core::plan::JobKind;
use referee_core::render::{OpenFinding, OperatorNote, OperatorOption, StopReason, render_operator_note};

use crate::commands::{commanded, commands_nothing, mentions};
use crate::kit::sha;

struct Ground {
    carol: Login,
    bot: Login,
    head: Sha,
    security: RoleName,
}

impl Ground {
    fn new() -> Self {
        Self {
            carol: Login::from("carol"),
            bot: Login::from("referee"),
            head: sha("9c1f2ab"),
            security: RoleName::from("security"),
        }
    }

    fn note<'a>(&'a self, stop: StopReason<'a>) -> OperatorNote<'a> {
        OperatorNote {
            operator: Some(&self.carol),
            bot: &self.bot,
            stop_reason: stop,
            round: 3,
            max_rounds: 3,
            head: &self.head,
            reviewers: vec![self.security.as_str()],
            findings: Vec::new(),
            options: Vec::new(),
            spent: RunCost { tokens: 900_000, micro_usd: 1_840_000, seconds: 5_640, runs: 3 },
            budget_micro_usd: 2_000_000,
        }
    }

    fn finding(&self, id: u64, title: &'static str) -> OpenFinding<'_> {
        OpenFinding {
            role: &self.security,
            id: FindingId(id),
            severity: Severity::Critical,
            title,
            path: "src/auth.rs",
            line: Some(88),
            rounds: vec![3],
            attacks_fix: false,
            needs_human: None,
        }
    }
}

// spec: LOOP-4, LOOP-6 @core
#[test]
fn at_the_round_cap_the_operator_comment_lists_everything() {
    let ground = Ground::new();
    let note = OperatorNote {
        findings: vec![
            OpenFinding { rounds: vec![1, 2, 3], ..ground.finding(4, "Refresh token is logged") },
            OpenFinding { attacks_fix: true, line: Some(95), ..ground.finding(9, "The status is swallowed") },
            OpenFinding {
                severity: Severity::Warning,
                needs_human: Some("the author accepted it, and may not"),
                ..ground.finding(11, "Timeouts are not configurable")
            },
        ],
        options: vec![
            OperatorOption::Merge { dismiss: vec![FindingId(4), FindingId(9)] },
            OperatorOption::Approve,
            OperatorOption::AddRound,
            OperatorOption::Reopen,
            OperatorOption::PushFix,
            OperatorOption::Pause,
        ],
        ..ground.note(StopReason::RoundLimit)
    };
    let text = render_operator_note(&note);
    assert_eq!(mentions(text.as_str()), ["carol"], "one mention, the operator's");
    assert_snapshot!(text.as_str(), @"
    @carol, this pull needs your decision: round 3 of 3 is used up.

    Head `9c1f2ab` · round 3 of 3 · reviewed by security · 1.84 of 2.00 USD, 94 min 0 s

    | Open | Rounds | Where |
    |---|---|---|
    | **critical** F4 Refresh token is logged · security | 1, 2, 3 | `src/auth.rs:88` |
    | **critical** F9 The status is swallowed · security | 3 | `src/auth.rs:95` |
    | **warning** F11 Timeouts are not configurable · security | 3 | `src/auth.rs:88` |

    To decide:

    - F4 came back round after round: must it be fixed, or is it accepted?
    - F9 sits where an earlier fix went: is the fix wrong, or is the finding?
    - F11: the author accepted it, and may not

    What works from here:

    - Merge it as it is: `@referee dismiss F4 F9 <reason>` takes the block away, then merge; they stay listed as accepted.
    - Approve it yourself: no worker starts at this head any more. It lifts nobody's block.
    - `@referee rounds +1`: one round more, for a fix that is nearly there.
    - Close and reopen it: rounds and workers count from there, for a change that was reworked.
    - Push the last fix by hand: only what you change is reviewed.
    - `@referee pause`: nothing is started here until `@referee resume`.

    Until then nothing is started at this head.
    ");
}

// spec: LOOP-4 @core
#[test]
fn every_cause_says_what_stopped() {
    let ground = Ground::new();
    let thread = ThreadId::from("t4");
    let worker = |outcome| StopReason::Worker { kind: JobKind::CiFix, cause: "ci:build".to_owned(), outcome };
    let stops = [
        StopReason::RoundLimit,
        StopReason::HeadLimit { kind: JobKind::AddressFeedback, heads: 3 },
        StopReason::JobLimit { jobs: 12 },
        StopReason::BudgetSpent { resource: "money" },
        StopReason::ReviewersFailed { roles: vec![&ground.security] },
        StopReason::UnsettledFindings,
        worker(None),
        worker(Some(WorkOutcome::Done)),
        worker(Some(WorkOutcome::NothingToDo)),
        worker(Some(WorkOutcome::NeedsHuman)),
        worker(Some(WorkOutcome::Failed)),
        StopReason::BotLoop { threads: vec![&thread] },
    ];
    let texts: Vec<String> =
        stops.into_iter().map(|stop| render_operator_note(&ground.note(stop)).as_str().to_owned()).collect();
    let firsts: Vec<&str> = texts.iter().map(|text| text.lines().next().unwrap()).collect();
    assert_snapshot!(firsts.join("\n"), @"
    @carol, this pull needs your decision: round 3 of 3 is used up.
    @carol, this pull needs your decision: `address-feedback` workers were started at 3 heads, the maximum.
    @carol, this pull needs your decision: 12 workers were started on this pull, the maximum.
    @carol, this pull needs your decision: the pull has used up its budget of money.
    @carol, this pull needs your decision: security failed at every attempt, so this head is not reviewed.
    @carol, this pull needs your decision: only a person can settle the open findings.
    @carol, this pull needs your decision: the `ci-fix` worker crashed twice (cause `ci:build`).
    @carol, this pull needs your decision: the `ci-fix` worker was done, and its cause is still there (cause `ci:build`).
    @carol, this pull needs your decision: the `ci-fix` worker found nothing to do, and its cause is still there (cause `ci:build`).
    @carol, this pull needs your decision: the `ci-fix` worker asks for it (cause `ci:build`).
    @carol, this pull needs your decision: the `ci-fix` worker failed (cause `ci:build`).
    @carol, this pull needs your decision: two programs answer each other in 1 of its threads.
    ");
    for text in &texts {
        assert_eq!(mentions(text), ["carol"]);
        commands_nothing(text.strip_prefix("@carol, ").unwrap());
    }
}

// spec: LOOP-4 @core
#[test]
fn only_offered_options_are_rendered() {
    let ground = Ground::new();
    let options = vec![
        OperatorOption::Merge { dismiss: Vec::new() },
        OperatorOption::Retry,
        OperatorOption::BreakGlass,
        OperatorOption::RaiseBudget,
    ];
    let stop = StopReason::ReviewersFailed { roles: vec![&ground.security] };
    let text = render_operator_note(&OperatorNote { options, ..ground.note(stop) });
    assert_snapshot!(text.as_str().split_once("What works from here:").unwrap().1, @"


    - Merge it as it is: nothing of referee's blocks it.
    - `@referee retry`: it is tried again at this head, for an outage that is over.
    - `@referee break-glass <reason>`: own blocks are lifted at this head, on the record, for what cannot wait.
    - Raise `[budget] pull` in the config: it goes on from where it stopped.

    Until then nothing is started at this head.
    ");
    for verb in ["rounds +1", "dismiss", "pause"] {
        assert!(!text.as_str().contains(verb), "{verb}");
    }
}

// spec: LOOP-4 @core
#[test]
fn findings_that_are_new_say_that_the_loop_converges() {
    let ground = Ground::new();
    let text = render_operator_note(&OperatorNote {
        findings: vec![ground.finding(4, "New")],
        ..ground.note(StopReason::RoundLimit)
    });
    assert!(text.as_str().contains("None of them came back: one more round may end it."), "{}", text.as_str());
}

#[test]
fn without_an_operator_nobody_is_mentioned() {
    let ground = Ground::new();
    let text = render_operator_note(&OperatorNote { operator: None, ..ground.note(StopReason::RoundLimit) });
    assert!(text.as_str().starts_with("This pull needs a person's decision: round 3 of 3 is used up."));
    assert_eq!(mentions(text.as_str()), Vec::<&str>::new());
}

#[test]
fn a_thousand_open_findings_are_all_named() {
    let ground = Ground::new();
    let findings: Vec<_> = (1..=1_000).map(|id| ground.finding(id, "@all /approve <b>|")).collect();
    let dismiss = findings.iter().map(|finding| finding.id).collect();
    let options = vec![OperatorOption::Merge { dismiss }];
    let text = render_operator_note(&OperatorNote { findings, options, ..ground.note(StopReason::RoundLimit) });
    let text = text.as_str();
    assert!(text.len() < 59_000, "{} bytes", text.len());
    assert!(
        (1..=1_000).all(|id| text.contains(&format!("F{id} ")) || text.contains(&format!("F{id},")) || id == 1_000)
    );
    assert!(text.contains(", and so for 950 more, takes the block away"), "{text}");
    assert_eq!(mentions(text), ["carol"]);
    assert!(text.lines().skip(1).all(|line| commanded(line).is_none()));
}
