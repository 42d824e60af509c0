//! The crash matrix (I10): every call of a turn, every way in which it can go wrong. After a restart the forge looks as
//! if nothing had happened: nothing is missing, nothing is there twice, and one more turn writes nothing.

use referee_core::mark::Keys;
use referee_core::model::{PullNumber, ReviewId, Span};
use referee_core::plan::{Gate, Next};
use referee_core::policy::{ApprovalMode, GateSetting, Policy};
use referee_forge::{Gates, Reader};
use referee_testkit::simulation::{
    BystanderBehaviour, ReviewerBehaviour, RoleIdentity, Simulation, SimulationSetup, bot_login,
};
use referee_testkit::{CallFault, FaultAt, Quirks, SentPart, World, WorldClient, WorldPerson, block_on};
use referee_turn::{Inbox, NullJournal, PublishMode, Turn, TurnContext, TurnError, finish};

/// A pull on which something is to be done, and what came in.
struct Scene {
    world: World,
    seat: WorldClient,
    pull: PullNumber,
    policy: Policy,
    reviewers: Vec<ReviewerBehaviour>,
    publishing: PublishMode,
    inbox: Inbox,
}

/// A kind of plan: its name, and how the pull gets there.
type Shape = (&'static str, fn(Quirks) -> Scene);

const SHAPES: [Shape; 13] = [
    ("a first review with threads", |quirks| Scene::open(quirks, &[ReviewerBehaviour::Honest]).reviewed()),
    ("two roles in one plan", |quirks| {
        Scene::open(quirks, &[ReviewerBehaviour::Honest, ReviewerBehaviour::CommentOnly]).reviewed()
    }),
    ("an edit in place with new threads", |quirks| {
        let scene = Scene::open(quirks, &[ReviewerBehaviour::Honest]).settled();
        scene.author().push("src/b.rs", |text| format!("{text}// BUG four\n// RISK five\n"));
        scene.reviewed()
    }),
    ("an escalation that supersedes", |quirks| {
        let scene = Scene::of(quirks, &[ReviewerBehaviour::Honest], "fn a() {}\n", ApprovalMode::On).settled();
        scene.author().push("src/a.rs", |text| format!("{text}// BUG late\n"));
        scene.reviewed()
    }),
    ("an approval that lifts a block", |quirks| {
        let scene = Scene::open(quirks, &[ReviewerBehaviour::Honest]).settled();
        scene.author().push("src/a.rs", |_| "fn a() {}\nfn b() {}\n".to_owned());
        scene.reviewed()
    }),
    ("an approval where approving is on", |quirks| {
        let roles = [ReviewerBehaviour::Honest, ReviewerBehaviour::Honest];
        let scene = Scene::of(quirks, &roles, "fn a() {}\n// BUG one\n", ApprovalMode::On).settled();
        scene.author().push("src/a.rs", |_| "fn a() {}\nfn b() {}\n".to_owned());
        scene.reviewed()
    }),
    ("some threads fixed, some not", |quirks| {
        let scene = Scene::open(quirks, &[ReviewerBehaviour::Honest]).settled();
        scene.author().push("src/a.rs", |text| text.replace("// BUG one\n", "").replace("// NIT three\n", ""));
        scene.reviewed()
    }),
    ("the operator comment at the cap", |quirks| {
        let mut scene = Scene::open(quirks, &[ReviewerBehaviour::NeverApproves]);
        scene.policy.rounds = 1;
        scene.reviewed()
    }),
    ("a rebase", |quirks| {
        let scene = Scene::open(quirks, &[ReviewerBehaviour::Honest]).settled();
        scene.person("carol").push_base("src/base.rs", |_| "// base\n".to_owned());
        scene.author().rebase();
        scene
    }),
    ("the same change again", |quirks| {
        let scene = Scene::open(quirks, &[ReviewerBehaviour::Honest]).settled();
        scene.author().amend();
        scene
    }),
    ("a dismissed block", |quirks| {
        let scene = Scene::open(quirks, &[ReviewerBehaviour::Honest]).settled();
        scene.own_reviews().iter().for_each(|review| scene.person("bob").dismiss(review));
        scene
    }),
    ("broken glass", |quirks| {
        let scene = Scene::open(quirks, &[ReviewerBehaviour::Honest]).settled();
        scene.person("carol").comment(&format!("@{} break-glass production is down", bot_login()));
        scene
    }),
    ("a reviewer that failed", |quirks| Scene::open(quirks, &[ReviewerBehaviour::AlwaysFails]).reviewed()),
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

/// What is left of the report after the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// It was saved, and is handed in again.
    Report,
    /// Nothing: the next turn asks for a review again, if it still wants one.
    Nothing,
}

impl Scene {
    fn open(quirks: Quirks, roles: &[ReviewerBehaviour]) -> Self {
        Self::of(quirks, roles, SimulationSetup::default().file_text, ApprovalMode::Lift)
    }

    fn of(quirks: Quirks, roles: &[ReviewerBehaviour], text: &'static str, approve: ApprovalMode) -> Self {
        let cast = roles.iter().map(|reviewer| (*reviewer, RoleIdentity::Shared)).collect();
        let stage = SimulationSetup {
            quirks,
            roles: cast,
            bystander: BystanderBehaviour::Nobody,
            approve,
            file_text: text,
            ..SimulationSetup::default()
        };
        let Simulation { world, pull, policy, clients: mut seats, .. } = stage.build();
        let (reviewers, publishing, inbox) = (roles.to_vec(), PublishMode::SingleWriter, Inbox::default());
        Self { world, seat: seats.remove(0), pull, policy, reviewers, publishing, inbox }
    }

    fn person(&self, name: &str) -> WorldPerson {
        self.world.people().on(self.pull).as_(name)
    }

    fn author(&self) -> WorldPerson {
        self.person("alice")
    }

    fn own_reviews(&self) -> Vec<ReviewId> {
        let fetched = block_on(self.seat.fetch(self.pull)).expect("the pull is there");
        fetched.reviews.into_iter().filter(|review| review.is_by(&bot_login())).map(|review| review.id).collect()
    }

    /// Plays a turn, and hands in what its reviewers would say: the next turn has it.
    fn reviewed(mut self) -> Self {
        let played = self.turn(&Inbox::default()).expect("nothing goes wrong yet");
        self.inbox = self.reports(&played);
        assert!(!self.inbox.reports.is_empty(), "no review is wanted: {:?}", played.plan.why);
        self
    }

    /// Plays until nobody has anything left to do.
    fn settled(self) -> Self {
        let mut inbox = Inbox::default();
        loop {
            let played = self.turn(&inbox).expect("nothing goes wrong yet");
            inbox = self.reports(&played);
            if played.writes == 0 && inbox.reports.is_empty() {
                return self;
            }
        }
    }

    fn reports(&self, played: &Turn) -> Inbox {
        let Next::Review(briefs) = &played.plan.next else { return Inbox::default() };
        let place = |brief: &referee_core::plan::Brief| {
            self.policy.roles.iter().position(|role| role.name == brief.role).expect("a role of this policy")
        };
        let review = |brief| {
            let mut report =
                self.reviewers[place(brief)].clone().review(&self.world, self.pull, brief, &played.snapshot);
            report.run = "run".to_owned();
            // Of a finding that no summary tells of, this reviewer knows nothing but what it raises itself.
            let entries = played.snapshot.reviews.iter().filter_map(|review| review.text.reading.block.as_deref());
            let told: Vec<_> = entries
                .flat_map(|block| &block.entries)
                .filter(|entry| !entry.title.is_empty())
                .map(|entry| entry.id)
                .collect();
            report.positions.retain(|stated| told.contains(&stated.finding));
            report
        };
        Inbox { reports: briefs.iter().map(review).collect(), ..Inbox::default() }
    }

    fn fork(&self) -> Self {
        let world = self.world.fork();
        Self {
            seat: self.seat.on_fork(&world),
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
        let desk = TurnContext {
            forge: &self.seat,
            source: &self.world,
            journal: &NullJournal,
            policy: &self.policy,
            gates: &Gates::new(settings, Default::default(), self.policy.approve),
            keys: &Keys::empty(),
            publish_mode: self.publishing,
        };
        block_on(finish(&desk, self.pull, inbox))
    }

    /// What follows the first turn, whether or not that one went wrong: two more, after the forge has caught up; one
    /// more where a review is asked for anew.
    fn again(&self, left: Left) -> String {
        self.world.restart_client(&self.seat);
        self.world.wait(Span::from_minutes(5));
        let mut inbox = if left == Left::Report { self.inbox.clone() } else { Inbox::default() };
        for _ in 0..if left == Left::Report { 2 } else { 3 } {
            let played = self.turn(&inbox).expect("it works again");
            inbox = self.reports(&played);
        }
        let before = self.world.calls().changes;
        let quiet = self.turn(&inbox).expect("it still works");
        assert_eq!(
            quiet.writes,
            0,
            "a quiet pull is written to: {:?}",
            quiet.steps.iter().map(|step| step.action.name()).collect::<Vec<_>>()
        );
        assert_eq!(self.world.calls().changes, before, "a quiet pull is changed");
        drop(self.world.take_effects());
        // What the hidden part comes to.
        let findings = quiet.plan.findings.iter().map(|it| {
            format!("{} {} {:?} {:?} {} {}\n", it.role, it.id, it.severity, it.state, it.title, it.thread.is_some())
        });
        let roles = quiet.plan.roles.iter().map(|role| format!("{role:?}\n"));
        let known: String = findings.chain(roles).chain([format!("round {}", quiet.plan.round)]).collect();
        let gist = visible(&self.world.describe_pull(self.pull)) + &known;
        match left {
            Left::Report => gist,
            Left::Nothing => {
                // A sibling's report that is lost makes an approval wait once more: there is more history, and a notice
                // told before the report came back knows no title. What holds in the end is the same.
                let history =
                    |line: &&str| line.contains("-bot says ") || line.contains("**Blocking findings changed**");
                let rest: Vec<&str> = gist.lines().filter(|line| !history(line)).collect();
                format!("{}\n{:?}", rest.join("\n"), self.world.decision(self.pull))
            }
        }
    }
}

/// What people read: without the hidden part, which tells of times and of the words themselves, and without links, since
/// a thread that was there already is linked to.
fn visible(gist: &str) -> String {
    cut(&cut(gist, "<!-- referee:", "-->"), "](https://", ")").replace('[', "")
}

fn cut(text: &str, from: &str, to: &str) -> String {
    let mut parts = text.split(from);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once(to).map_or("", |(_, rest)| rest));
    }
    out
}

fn calls(world: &World) -> u64 {
    let calls = world.calls();
    calls.reads + calls.writes
}

/// All runs of one scene, and what went wrong in them.
fn matrix(name: &str, scene: &Scene) -> (usize, Vec<String>) {
    let mut failed = Vec::new();
    let mut runs = 0;
    let clean = scene.fork();
    let before = calls(&clean.world);
    clean.turn(&clean.inbox).expect("nothing goes wrong here");
    let length = calls(&clean.world) - before;
    assert!(clean.world.calls().changes > scene.world.calls().changes, "{name} does nothing");
    for left in [Left::Report, Left::Nothing] {
        let expected = clean.fork().again(left);
        for at in 1..=length {
            for fault in FAULTS {
                runs += 1;
                let ran = std::panic::catch_unwind(|| {
                    let struck = scene.fork();
                    struck.world.inject_fault(FaultAt::Call(at), fault);
                    let _ = struck.turn(&struck.inbox);
                    assert_eq!(struck.world.fired_faults(), [fault]);
                    struck.again(left)
                });
                match ran {
                    Ok(gist) if gist == expected => {}
                    Ok(gist) => failed.push(format!(
                        "{name}, call {at} of {length}, {fault:?}, {left:?} left:\n{}",
                        differ(&expected, &gist)
                    )),
                    Err(panic) => {
                        let words = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                        failed.push(format!("{name}, call {at} of {length}, {fault:?}, {left:?} left: {words}"));
                    }
                }
            }
        }
    }
    drop(clean.world.take_effects());
    drop(scene.world.take_effects());
    (runs, failed)
}

/// The lines that differ.
fn differ(expected: &str, gist: &str) -> String {
    let missing = expected.lines().filter(|line| !gist.lines().any(|it| it == *line)).map(|line| format!("- {line}\n"));
    let more = gist.lines().filter(|line| !expected.lines().any(|it| it == *line)).map(|line| format!("+ {line}\n"));
    let lines: String = missing.chain(more).collect();
    if lines.is_empty() { format!("another order, or twice:\n{gist}") } else { lines }
}

#[expect(clippy::print_stdout, reason = "the number of runs is part of the proof")]
fn on(quirks: &[(&str, Quirks)], publishing: PublishMode) {
    let mut runs = 0;
    let mut failed = Vec::new();
    for (forge, quirks) in quirks {
        for (name, shape) in SHAPES {
            let scene = Scene { publishing, ..shape(quirks.clone()) };
            let (more, wrong) = matrix(&format!("{forge}: {name}"), &scene);
            runs += more;
            failed.extend(wrong);
        }
    }
    println!("{} of {runs} runs with one fault end as the run without", runs - failed.len());
    assert!(failed.is_empty(), "{} failed, first:\n{}", failed.len(), failed[..failed.len().min(4)].join("\n"));
}

/// I10.
// spec: LOOP-7, PUB-9 @core
#[test]
fn every_fault_at_every_call_heals_on_every_forge() {
    on(&Quirks::presets(), PublishMode::SingleWriter);
}

/// I10, under a claim.
// spec: LOOP-7, PUB-8 @core
#[test]
fn every_fault_at_every_call_heals_in_matrix_mode() {
    on(&[("gitea-like", Quirks::gitea_like())], PublishMode::Matrix);
}
