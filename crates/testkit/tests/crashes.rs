//! The crash matrix (I10): every fault at every call of a turn. After a restart, the forge must look as if nothing had
//! happened: nothing is missing, nothing is duplicated, and one more turn writes nothing.

use referee_core::mark::Keys;
use referee_core::model::{PullNumber, ReviewId, Span};
use referee_core::plan::{Gate, RoleState};
use referee_core::policy::{ApprovalMode, GateSetting, Policy};
use referee_forge::{Gates, Reader};
use referee_testkit::simulation::{
    BystanderBehaviour, ReviewerBehaviour, RoleIdentity, Simulation, SimulationSetup, bot_login,
};
use referee_testkit::{CallFault, FaultAt, Quirks, SentPart, World, WorldClient, WorldPerson, block_on};
use referee_turn::{Inbox, NoWait, NullJournal, PublishMode, Turn, TurnContext, TurnError, finish};

/// A pull that needs a turn, and the inbox of that turn.
struct CrashCase {
    world: World,
    client: WorldClient,
    pull: PullNumber,
    policy: Policy,
    reviewers: Vec<ReviewerBehaviour>,
    publishing: PublishMode<'static>,
    inbox: Inbox,
}

/// A kind of plan: its name, and a function that prepares a pull for it.
type CaseBuilder = (&'static str, fn(Quirks) -> CrashCase);

const CASES: [CaseBuilder; 13] = [
    ("a first review with threads", |quirks| CrashCase::open(quirks, &[ReviewerBehaviour::Honest]).with_reports()),
    ("two roles in one plan", |quirks| {
        CrashCase::open(quirks, &[ReviewerBehaviour::Honest, ReviewerBehaviour::CommentOnly]).with_reports()
    }),
    ("an edit in place with new threads", |quirks| {
        let case = CrashCase::open(quirks, &[ReviewerBehaviour::Honest]).run_to_rest();
        case.author().push("src/b.rs", |text| format!("{text}// BUG four\n// RISK five\n"));
        case.with_reports()
    }),
    ("an escalation that supersedes", |quirks| {
        let case =
            CrashCase::open_with(quirks, &[ReviewerBehaviour::Honest], "fn a() {}\n", ApprovalMode::On).run_to_rest();
        case.author().push("src/a.rs", |text| format!("{text}// BUG late\n"));
        case.with_reports()
    }),
    ("an approval that lifts a block", |quirks| {
        let case = CrashCase::open(quirks, &[ReviewerBehaviour::Honest]).run_to_rest();
        case.author().push("src/a.rs", |_| "fn a() {}\nfn b() {}\n".to_owned());
        case.with_reports()
    }),
    ("an approval where approving is on", |quirks| {
        let roles = [ReviewerBehaviour::Honest, ReviewerBehaviour::Honest];
        let case = CrashCase::open_with(quirks, &roles, "fn a() {}\n// BUG one\n", ApprovalMode::On).run_to_rest();
        case.author().push("src/a.rs", |_| "fn a() {}\nfn b() {}\n".to_owned());
        case.with_reports()
    }),
    ("some threads fixed, some not", |quirks| {
        let case = CrashCase::open(quirks, &[ReviewerBehaviour::Honest]).run_to_rest();
        case.author().push("src/a.rs", |text| text.replace("// BUG one\n", "").replace("// NIT three\n", ""));
        case.with_reports()
    }),
    ("the operator comment at the cap", |quirks| {
        let mut case = CrashCase::open(quirks, &[ReviewerBehaviour::NeverApproves]);
        case.policy.rounds = 1;
        case.with_reports()
    }),
    ("a rebase", |quirks| {
        let case = CrashCase::open(quirks, &[ReviewerBehaviour::Honest]).run_to_rest();
        case.person("carol").push_base("src/base.rs", |_| "// base\n".to_owned());
        case.author().rebase();
        case
    }),
    ("the same change again", |quirks| {
        let case = CrashCase::open(quirks, &[ReviewerBehaviour::Honest]).run_to_rest();
        case.author().amend();
        case
    }),
    ("a dismissed block", |quirks| {
        let case = CrashCase::open(quirks, &[ReviewerBehaviour::Honest]).run_to_rest();
        case.own_reviews().iter().for_each(|review| case.person("bob").dismiss(review));
        case
    }),
    ("broken glass", |quirks| {
        let case = CrashCase::open(quirks, &[ReviewerBehaviour::Honest]).run_to_rest();
        case.person("carol").comment(&format!("@{} break-glass production is down", bot_login()));
        case
    }),
    ("a reviewer that failed", |quirks| CrashCase::open(quirks, &[ReviewerBehaviour::AlwaysFails]).with_reports()),
];

const FAULTS: [CallFault; 7] = [
    CallFault::Crash(SentPart::Nothing),
    CallFault::Crash(SentPart::Half),
    CallFault::Crash(SentPart::All),
    CallFault::LoseReply,
    CallFault::FailAfter500,
    CallFault::FailBefore,
    CallFault::RetryLater,
];

/// What survives the crash of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surviving {
    /// The report was saved and is submitted again.
    Report,
    /// Nothing: the next turn requests a review again if it still needs one.
    Nothing,
}

impl CrashCase {
    fn open(quirks: Quirks, roles: &[ReviewerBehaviour]) -> Self {
        Self::open_with(quirks, roles, SimulationSetup::default().file_text, ApprovalMode::Lift)
    }

    fn open_with(quirks: Quirks, roles: &[ReviewerBehaviour], text: &'static str, approve: ApprovalMode) -> Self {
        let role_setups = roles.iter().map(|reviewer| (*reviewer, RoleIdentity::Shared)).collect();
        let setup = SimulationSetup {
            quirks,
            roles: role_setups,
            bystander: BystanderBehaviour::Nobody,
            approve,
            file_text: text,
            ..SimulationSetup::default()
        };
        let Simulation { world, pull, policy, mut clients, .. } = setup.build();
        let (reviewers, publishing, inbox) = (roles.to_vec(), PublishMode::SingleWriter, Inbox::default());
        Self { world, client: clients.remove(0), pull, policy, reviewers, publishing, inbox }
    }

    fn person(&self, name: &str) -> WorldPerson {
        self.world.people().on(self.pull).as_(name)
    }

    fn author(&self) -> WorldPerson {
        self.person("alice")
    }

    fn own_reviews(&self) -> Vec<ReviewId> {
        let fetched = block_on(self.client.fetch(self.pull)).expect("fetch the pull");
        fetched.reviews.into_iter().filter(|review| review.is_by(&bot_login())).map(|review| review.id).collect()
    }

    /// Runs a turn and puts the requested reports into the inbox of the next one.
    fn with_reports(mut self) -> Self {
        let turn_result = self.turn(&Inbox::default()).expect("no fault is injected");
        self.inbox = self.write_reports(&turn_result);
        assert!(!self.inbox.reports.is_empty(), "the turn requests no review: {:?}", turn_result.plan.why);
        self
    }

    /// Runs turns until nothing is left to do.
    fn run_to_rest(self) -> Self {
        let mut inbox = Inbox::default();
        loop {
            let turn_result = self.turn(&inbox).expect("no fault is injected");
            inbox = self.write_reports(&turn_result);
            if turn_result.writes == 0 && inbox.reports.is_empty() {
                return self;
            }
        }
    }

    fn write_reports(&self, turn_result: &Turn) -> Inbox {
        let role_index = |brief: &referee_core::plan::Brief| {
            self.policy.roles.iter().position(|role| role.name == brief.role).expect("a role of this policy")
        };
        let review = |brief| {
            let mut report =
                self.reviewers[role_index(brief)].clone().review(&self.world, self.pull, brief, &turn_result.snapshot);
            report.run = "run".to_owned();
            // The reviewer takes no position on findings that no summary lists with a title.
            let entries = turn_result.snapshot.reviews.iter().filter_map(|review| review.text.reading.block.as_deref());
            let listed: Vec<_> = entries
                .flat_map(|block| &block.entries)
                .filter(|entry| !entry.title.is_empty())
                .map(|entry| entry.id)
                .collect();
            report.positions.retain(|stated| listed.contains(&stated.finding));
            report
        };
        Inbox { reports: turn_result.plan.reviews.iter().map(review).collect(), ..Inbox::default() }
    }

    fn fork(&self) -> Self {
        let world = self.world.fork();
        Self {
            client: self.client.on_fork(&world),
            world,
            pull: self.pull,
            policy: self.policy.clone(),
            reviewers: self.reviewers.clone(),
            publishing: self.publishing,
            inbox: self.inbox.clone(),
        }
    }

    fn turn(&self, inbox: &Inbox) -> Result<Turn, TurnError> {
        let settings = Gate::ALL.iter().map(|gate| (*gate, GateSetting::On)).collect();
        let context = TurnContext {
            forge: &self.client,
            source: &self.world,
            journal: &NullJournal,
            policy: &self.policy,
            gates: &Gates::new(settings, Default::default(), self.policy.approve),
            keys: &Keys::empty(),
            publish_mode: self.publishing,
        };
        block_on(finish(&context, self.pull, inbox))
    }

    /// Runs the turns after the first one, faulty or not: two more once the forge has caught up, and a third where a review is
    /// requested again. Returns a description of the final state.
    fn recover(&self, surviving: Surviving) -> String {
        self.world.restart_client(&self.client);
        self.world.wait(Span::from_minutes(5));
        let mut inbox = if surviving == Surviving::Report { self.inbox.clone() } else { Inbox::default() };
        for _ in 0..if surviving == Surviving::Report { 2 } else { 3 } {
            let turn_result = self.turn(&inbox).expect("the turn after the fault succeeds");
            inbox = self.write_reports(&turn_result);
        }
        let before = self.world.calls().changes;
        let rest = self.turn(&inbox).expect("the turn at rest succeeds");
        assert_eq!(
            rest.writes,
            0,
            "a turn at rest writes: {:?}",
            rest.steps.iter().map(|step| step.action.name()).collect::<Vec<_>>()
        );
        assert_eq!(self.world.calls().changes, before, "a turn at rest changes the forge");
        drop(self.world.take_effects());
        // The state that the hidden parts encode.
        let findings = rest.plan.findings.iter().map(|it| {
            format!("{} {} {:?} {:?} {} {}\n", it.role, it.id, it.severity, it.state, it.title, it.thread.is_some())
        });
        // Why a role has not read the head depends on the time and on the reports in the inbox.
        let roles = rest.plan.roles.iter().map(|role| format!("{:?}\n", RoleState { unread: None, ..role.clone() }));
        let state: String = findings.chain(roles).chain([format!("round {}", rest.plan.round)]).collect();
        let description = strip_hidden(&self.world.describe_pull(self.pull)) + &state;
        match surviving {
            Surviving::Report => description,
            Surviving::Nothing => {
                // If a sibling's report is lost, the approval waits for one more turn. That leaves more history, and a
                // notice posted before the second report lacks titles. The final state is the same.
                let history =
                    |line: &&str| line.contains("-bot says ") || line.contains("**Blocking findings changed**");
                let rest: Vec<&str> = description.lines().filter(|line| !history(line)).collect();
                format!("{}\n{:?}", rest.join("\n"), self.world.decision(self.pull))
            }
        }
    }
}

/// Removes the hidden parts, which contain times and hashes, and the links, which depend on whether a thread existed
/// already.
fn strip_hidden(description: &str) -> String {
    cut(&cut(description, "<!-- referee:", "-->"), "](https://", ")").replace('[', "")
}

fn cut(text: &str, from: &str, to: &str) -> String {
    let mut parts = text.split(from);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once(to).map_or("", |(_, rest)| rest));
    }
    out
}

fn count_calls(world: &World) -> u64 {
    let counts = world.calls();
    counts.reads + counts.writes
}

/// Runs every fault at every call of one case. Returns the number of runs, and the failures.
fn run_matrix(name: &str, case: &CrashCase) -> (usize, Vec<String>) {
    let mut failed = Vec::new();
    let mut runs = 0;
    let clean = case.fork();
    let before = count_calls(&clean.world);
    clean.turn(&clean.inbox).expect("no fault is injected");
    let length = count_calls(&clean.world) - before;
    assert!(clean.world.calls().changes > case.world.calls().changes, "{name} writes nothing");
    for surviving in [Surviving::Report, Surviving::Nothing] {
        let expected = clean.fork().recover(surviving);
        for at in 1..=length {
            for fault in FAULTS {
                runs += 1;
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let faulty = case.fork();
                    faulty.world.inject_fault(FaultAt::Call(at), fault);
                    let _ = faulty.turn(&faulty.inbox);
                    assert_eq!(faulty.world.fired_faults(), [fault]);
                    faulty.recover(surviving)
                }));
                match result {
                    Ok(description) if description == expected => {}
                    Ok(description) => failed.push(format!(
                        "{name}, call {at} of {length}, {fault:?}, {surviving:?} survives:\n{}",
                        list_differences(&expected, &description)
                    )),
                    Err(panic) => {
                        let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                        failed.push(format!(
                            "{name}, call {at} of {length}, {fault:?}, {surviving:?} survives: {message}"
                        ));
                    }
                }
            }
        }
    }
    drop(clean.world.take_effects());
    drop(case.world.take_effects());
    (runs, failed)
}

/// Lists the lines that differ.
fn list_differences(expected: &str, description: &str) -> String {
    let missing = expected
        .lines()
        .filter(|line| !description.lines().any(|other| other == *line))
        .map(|line| format!("- {line}\n"));
    let more = description
        .lines()
        .filter(|line| !expected.lines().any(|other| other == *line))
        .map(|line| format!("+ {line}\n"));
    let lines: String = missing.chain(more).collect();
    if lines.is_empty() { format!("same lines in another order or number:\n{description}") } else { lines }
}

#[expect(clippy::print_stdout, reason = "the number of runs is part of the proof")]
fn check_every_case(quirks: &[(&str, Quirks)], publishing: PublishMode<'static>) {
    let mut runs = 0;
    let mut failed = Vec::new();
    for (forge, quirks) in quirks {
        for (name, build_case) in CASES {
            let case = CrashCase { publishing, ..build_case(quirks.clone()) };
            let (case_runs, case_failures) = run_matrix(&format!("{forge}: {name}"), &case);
            runs += case_runs;
            failed.extend(case_failures);
        }
    }
    println!("{} of {runs} runs with one fault end as the run without", runs - failed.len());
    assert!(failed.is_empty(), "{} failed, first:\n{}", failed.len(), failed[..failed.len().min(4)].join("\n"));
}

/// I10, with a single writer.
// spec: LOOP-7, PUB-9 @core
#[test]
fn a_turn_recovers_from_every_fault_at_every_call_on_every_forge() {
    check_every_case(&Quirks::presets(), PublishMode::SingleWriter);
}

/// I10, where everything that posts does so under the claim.
// spec: LOOP-7 @core
#[test]
fn a_turn_recovers_from_every_fault_at_every_call_under_the_claim() {
    check_every_case(&[("gitea-like", Quirks::gitea_like())], PublishMode::Claimed(&NoWait));
}

/// I10, under a claim.
// spec: LOOP-7, PUB-8 @core
#[test]
fn a_turn_recovers_from_every_fault_at_every_call_in_matrix_mode() {
    check_every_case(&[("gitea-like", Quirks::gitea_like())], PublishMode::Matrix(&NoWait));
}
