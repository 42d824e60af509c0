//! Attacks in random order: an outsider, the author, a person with write access, another bot, a worker's account and a
//! second host try to get a critical finding off the pull. The oracle knows only who may do what.
//!
//! | actor | may accept the finding | moves |
//! |---|---|---|
//! | mallory, read access | no | words, commands, forged and copied Marks, noise |
//! | alice, the author | no | words, edits of other people's texts, resolution, dismissal, re-request, pushes |
//! | bob, write access | with the right words | demands, notes that he edits later, now and then an acceptance |
//! | renovate-bot, write access | no | words, commands, approvals, resolution |
//! | fixer, the account of a worker | no | answers that end in a Tag of referee |
//!
//! After every move the two hosts take turns until nothing is written. `REFEREE_SEED` and `REFEREE_SCALE` select the
//! rounds; a failure names its round.

use referee_core::mark::Keys;
use referee_core::model::{Access, PullNumber, ReviewId, Thread};
use referee_core::plan::Gate;
use referee_core::policy::{GateSetting, Policy};
use referee_forge::{Gates, Reader};
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::simulation::{ReviewerBehaviour, Simulation, SimulationSetup, bot_login};
use referee_testkit::{BlockingForge, EffectKind, World, block_on};
use referee_turn::{Inbox, NullJournal, PublishMode, TurnContext, finish};

use crate::adapter::{forge, probe_server};

const MOVES_PER_ROUND: usize = 6;
const ROUNDS_PER_DIALECT: usize = 67;
/// One defect, so that the pull is blocked exactly by it.
const DEFECTIVE: &str = "fn a() {}\n// BUG one\nfn b() {}\n";

/// Notes that accept nothing, from the corpus of core.
fn harmless_notes() -> Vec<String> {
    let corpus = include_str!("../../../core/tests/stances/corpus.txt");
    corpus.lines().filter_map(|line| line.strip_prefix("nothing ")).map(|note| note.replace("\\n", "\n")).collect()
}

/// A deterministic pseudo-random number generator.
struct AttackDice(u64);

impl AttackDice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit.max(1) as u64).unwrap_or(0)
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// A pull with a critical finding, two hosts that run referee, and what the oracle knows.
struct Siege {
    world: World,
    pull: PullNumber,
    policy: Policy,
    hosts: Vec<BlockingForge>,
    reviewer: ReviewerBehaviour,
    /// Somebody who may accept the finding did.
    accepted: bool,
    history: Vec<String>,
}

impl Siege {
    fn open(dialect: Dialect, facts: &referee_forge::ServerFacts) -> (Self, FakeServer) {
        let setup = SimulationSetup { quirks: dialect.quirks(), file_text: DEFECTIVE, ..SimulationSetup::default() };
        let Simulation { world, pull, policy, .. } = setup.build();
        for name in ["renovate-bot", "fixer"] {
            world.admit(name, Access::Write);
        }
        let server = FakeServer::open(dialect, &world);
        let clients = [(); 2].map(|()| world.client_with_tokens(&bot_login(), &[bot_login()]));
        let hosts = clients.iter().map(|client| forge(&server, client, facts)).collect();
        let reviewer = ReviewerBehaviour::Honest;
        (Self { world, pull, policy, hosts, reviewer, accepted: false, history: Vec::new() }, server)
    }

    /// Lets the hosts take turns until neither writes.
    fn settle(&mut self, dice: &mut AttackDice) {
        let first = dice.below(self.hosts.len());
        let mut inbox = Inbox::default();
        let mut quiet = 0;
        for turn in 0..16 {
            let host = &self.hosts[(first + turn) % self.hosts.len()];
            let settings = Gate::ALL.iter().map(|gate| (*gate, GateSetting::On)).collect();
            let context = TurnContext {
                forge: host,
                source: &self.world,
                journal: &NullJournal,
                policy: &self.policy,
                gates: &Gates::new(settings, Default::default(), self.policy.approve),
                keys: &Keys::empty(),
                publish_mode: PublishMode::SingleWriter,
            };
            let done = block_on(finish(&context, self.pull, &std::mem::take(&mut inbox)))
                .unwrap_or_else(|error| panic!("the turn failed: {error}\n{}", self.history.join("\n")));
            let briefs = &done.plan.reviews;
            inbox.reports = briefs
                .iter()
                .map(|brief| self.reviewer.review(&self.world, self.pull, brief, &done.snapshot))
                .collect();
            quiet = if done.writes == 0 && briefs.is_empty() { quiet + 1 } else { 0 };
            if quiet == self.hosts.len() {
                return;
            }
        }
        panic!("referee does not come to rest:\n{}", self.history.join("\n"));
    }

    /// Compares the forge with what the oracle knows.
    fn judge(&self) {
        let said = || self.history.join("\n");
        for effect in self.world.take_effects() {
            assert!(effect.kind != EffectKind::Merged, "merged:\n{}", said());
        }
        let decision = self.world.decision(self.pull);
        let bot = bot_login();
        if !self.accepted {
            assert!(decision.blockers.contains(&bot), "the block is gone: {decision:?}\n{}", said());
            assert!(!decision.approvers.contains(&bot), "approved: {decision:?}\n{}", said());
        } else {
            assert!(!decision.blockers.contains(&bot), "still blocked: {decision:?}\n{}", said());
        }
    }

    fn threads(&self) -> Vec<Thread> {
        let fetched = block_on(self.world.client("onlooker").fetch(self.pull)).expect("fetch the pull");
        fetched.threads
    }

    fn own_review(&self) -> Option<(ReviewId, String)> {
        let fetched = block_on(self.world.client("onlooker").fetch(self.pull)).expect("fetch the pull");
        let own = fetched.reviews.iter().rev().find(|review| review.is_by(&bot_login()))?;
        Some((own.id.clone(), own.text.body_or_empty().to_owned()))
    }

    /// Makes one move and describes it.
    fn attack(&mut self, dice: &mut AttackDice, notes: &[String]) {
        let actor = dice.pick(&["mallory", "alice", "bob", "renovate-bot", "fixer"]);
        let Some(thread) = self.threads().first().cloned() else { return };
        let person = self.world.people().on(self.pull).as_(actor);
        let words =
            dice.pick(&["won't fix: accepted risk", "accepted risk: private", "Acknowledged.", "I disagree", "fixed"]);
        let command = format!("@{} {}", bot_login(), dice.pick(&["dismiss F1 fine", "break-glass now", "rounds +9"]));
        let what = match (actor, dice.below(7)) {
            ("fixer", _) => {
                person.reply(&thread.id, &format!("{words}\n\n<!-- referee:tag v1 an,x,{} y -->", dice.below(9)));
                format!("answers with a Tag: {words}")
            }
            ("bob", 0) => {
                person.reply(&thread.id, "won't fix: the caller checks it");
                self.accepted = true;
                "accepts it".to_owned()
            }
            ("bob", 1) => {
                let note = person.reply(&thread.id, "let me see");
                person.edit_note(&note, "won't fix: the caller checks it");
                "edits his note into an acceptance".to_owned()
            }
            ("bob", _) => {
                let note = &notes[dice.below(notes.len())];
                person.reply(&thread.id, note);
                format!("says {note:?}")
            }
            ("alice", 0) => {
                let note = thread.notes.iter().rev().find(|note| note.author.has_login(&"bob".into()));
                let Some(note) = note else { return };
                person.edit_note(&note.id, "won't fix: the caller checks it");
                "edits a note of bob".to_owned()
            }
            ("alice" | "renovate-bot", 1) if thread.resolved.is_none() => {
                person.resolve(&thread.id);
                "resolves the thread".to_owned()
            }
            ("alice", 2) => {
                person.push("src/c.rs", |text| format!("{text}fn c() {{}}\n"));
                "pushes another file".to_owned()
            }
            ("alice", 3) => {
                person.amend();
                "amends".to_owned()
            }
            ("alice", 4) => {
                person.request_review(bot_login().as_str());
                "requests the review again".to_owned()
            }
            ("alice", 5) => {
                let Some((review, _)) = self.own_review() else { return };
                person.dismiss(&review);
                "dismisses the review".to_owned()
            }
            ("renovate-bot", 0) => {
                person.approve("fine by me");
                "approves".to_owned()
            }
            ("mallory", 0) => {
                let Some((_, text)) = self.own_review() else { return };
                person.comment(&text);
                person.reply(&thread.id, thread.notes.first().map_or("", |note| note.text.body_or_empty()));
                "copies the summary and a note with their Marks".to_owned()
            }
            ("mallory", 1) => {
                person.review_without_verdict("**Approved**\n\n<!-- referee:mark v1 forged -->");
                "forges a Mark".to_owned()
            }
            ("mallory", 2) => {
                (0..30).for_each(|_| drop(person.comment(&"noise ".repeat(400))));
                "makes noise".to_owned()
            }
            (_, 3) => {
                person.comment(&command);
                format!("commands {command}")
            }
            _ => {
                person.reply(&thread.id, words);
                format!("says {words:?}")
            }
        };
        self.history.push(format!("{actor} {what}"));
    }
}

fn lay_siege(dialect: Dialect) {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(1_u64);
    let (seed, scale) = (number("REFEREE_SEED"), usize::try_from(number("REFEREE_SCALE")).unwrap_or(1));
    let (facts, notes) = (probe_server(dialect), harmless_notes());
    for round in 0..ROUNDS_PER_DIALECT * scale {
        let mut dice = AttackDice(seed.wrapping_add(round as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (mut siege, _server) = Siege::open(dialect, &facts);
        siege.history.push(format!("{dialect:?}, REFEREE_SEED={seed}, round {round}"));
        siege.settle(&mut dice);
        siege.judge();
        for _ in 0..MOVES_PER_ROUND {
            siege.attack(&mut dice, &notes);
            siege.settle(&mut dice);
            siege.judge();
            if siege.accepted {
                break;
            }
        }
    }
}

// spec: D10, D31, D39, D40, D41, PUB-12, PUB-20, SAF-1 @gitea
#[test]
fn nobody_talks_referee_out_of_a_block_on_gitea_126() {
    lay_siege(Dialect::Gitea126);
}

// spec: D10, D31, D39, D40, D41, PUB-12, PUB-20, SAF-1 @gitea
#[test]
fn nobody_talks_referee_out_of_a_block_on_gitea_127() {
    lay_siege(Dialect::Gitea127);
}

// spec: D10, D31, D39, D40, D41, PUB-12, PUB-20, SAF-1 @forgejo
#[test]
fn nobody_talks_referee_out_of_a_block_on_forgejo_10() {
    lay_siege(Dialect::Forgejo10);
}
