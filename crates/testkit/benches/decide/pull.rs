//! A busy pull, created by real turns: three roles of two identities reviewed it in two rounds, its author fixed some
//! findings, people blocked, accepted, asked and discussed. Then it is at rest. Then its author pushes once more, and one
//! role submits a report.

use referee_core::mark::{Key, Keys};
use referee_core::model::{
    Access, Coverage, Login, Position, Review, RoleName, RunCost, Severity, Snapshot, Submission, SubmittedFinding,
    SubmittedOutcome, SubmittedPosition, ThreadId,
};
use referee_core::plan::{Brief, Gate};
use referee_core::policy::{GateSetting, Policy, Role};
use referee_core::track::Side;
use referee_forge::{FetchedPull, Gates, Reader};
use referee_testkit::{Quirks, World, WorldClient, WorldPerson, block_on};
use referee_turn::{Inbox, NullJournal, PublishMode, Turn, TurnContext, finish, gather_snapshot};

use crate::random::Random;
use crate::texts;

/// The number of findings in the fresh report.
pub(crate) const FINDINGS: usize = 40;

const FILES: usize = 12;
const REVIEWS: usize = 10;
const THREADS: usize = 40;
const NOTES: usize = 200;
/// The number of findings of each role in the first round.
const FIRST_ROUND: [(&str, usize); 3] = [("security", 12), ("static", 14), ("style", 9)];
/// The lines that the pull, the second push and the third push change.
const CHANGED: std::ops::Range<usize> = 40..80;
const FIXED: std::ops::Range<usize> = 44..50;
const NEW: std::ops::Range<usize> = 69..80;

pub(crate) struct BenchPull {
    pub(crate) world: World,
    pub(crate) policy: Policy,
    pub(crate) keys: Keys,
    /// The snapshot with nothing to do.
    pub(crate) quiet: Snapshot,
    /// The fetched pull of that snapshot.
    pub(crate) fetched_quiet: FetchedPull,
    /// The snapshot after another push, with a report of one role.
    pub(crate) fresh: Snapshot,
    /// The fetched pull of that snapshot.
    pub(crate) fetched: FetchedPull,
    /// The report.
    pub(crate) inbox: Inbox,
}

impl BenchPull {
    pub(crate) fn prepare() -> Self {
        let world = World::new(Quirks::gitea_like());
        for name in ["alice", "bob", "carol"] {
            world.admit(name, Access::Write);
        }
        let key = Key::new("a secret that nobody guesses", None).expect("a long enough key");
        let mut script = PullScript {
            client: world.client_with_tokens(&bot(), &[Login::from("style-bot")]),
            keys: Keys::new(vec![key]),
            policy: policy(),
            random: Random::new(20),
            world,
        };
        script.open();
        script.run_to_rest();
        script.let_people_discuss();
        script.run_to_rest();
        script.push(FIXED, "fixed");
        script.run_to_rest();
        script.add_replies();
        script.run_to_rest();
        let fetched_quiet = script.fetch();
        let quiet = script.gather(&fetched_quiet, &Inbox::default());
        script.push(NEW, "new");
        let fetched = script.fetch();
        let inbox = Inbox { reports: vec![script.report(&quiet)], ..Inbox::default() };
        let fresh = script.gather(&fetched, &inbox);
        let PullScript { world, keys, policy, .. } = script;
        let _ = world.take_effects();
        for snapshot in [&quiet, &fresh] {
            assert_eq!(counts(snapshot), (REVIEWS, THREADS, NOTES), "reviews, threads, notes");
        }
        Self { world, policy, keys, quiet, fetched_quiet, fresh, fetched, inbox }
    }
}

/// Describes the size of a snapshot.
pub(crate) fn size(snapshot: &Snapshot) -> String {
    let (reviews, threads, notes) = counts(snapshot);
    let (comments, files) = (snapshot.comments.len(), snapshot.changes.files.len());
    format!("{reviews} reviews, {threads} threads, {notes} notes, {comments} comments, {files} files")
}

fn counts(snapshot: &Snapshot) -> (usize, usize, usize) {
    let notes = snapshot.threads.iter().map(|thread| thread.notes.len()).sum();
    (snapshot.reviews.len(), snapshot.threads.len(), notes)
}

struct PullScript {
    world: World,
    client: WorldClient,
    keys: Keys,
    policy: Policy,
    random: Random,
}

impl PullScript {
    fn open(&self) {
        for at in 0..FILES {
            self.person("carol").push_base(&path(at), |_| (0..150).map(|line| code(at, line, "base")).collect());
        }
        let texts: Vec<(String, String)> =
            (0..FILES).map(|at| (path(at), changed_file(at, CHANGED, "changed"))).collect();
        let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        self.world.people().as_("alice").open_pull("importer", &files);
    }

    fn push(&self, lines: std::ops::Range<usize>, label: &str) {
        self.person("alice").commit(|tree| {
            for at in 0..FILES {
                let edit = |(line, text): (usize, &str)| {
                    if lines.contains(&line) { code(at, line, label) } else { format!("{text}\n") }
                };
                let text: String = tree[&path(at)].lines().enumerate().map(edit).collect();
                tree.insert(path(at), text.into());
            }
        });
    }

    /// Lets people open five threads, block, review without a verdict, accept a finding and ask a question.
    fn let_people_discuss(&mut self) {
        let (bob, carol) = (self.person("bob"), self.person("carol"));
        for at in 0..5 {
            bob.open_thread(&path(at), 75, &texts::body(&mut self.random));
        }
        bob.block(&texts::body(&mut self.random));
        carol.review_without_verdict(&texts::body(&mut self.random));
        let style = self.threads().into_iter().nth(30).expect("a thread of the last role");
        bob.reply(&style, "won't fix");
        for _ in 0..6 {
            carol.comment(&texts::reply(&mut self.random));
        }
        bob.comment(&format!("@{} explain", bot()));
    }

    /// Adds replies by author and reviewer to all threads.
    fn add_replies(&mut self) {
        let (alice, bob) = (self.person("alice"), self.person("bob"));
        let threads = self.threads();
        let mut notes: usize = self.fetch().threads.iter().map(|thread| thread.notes.len()).sum();
        while notes < NOTES {
            let person = if self.random.chance(50) { &alice } else { &bob };
            let thread = threads[notes % threads.len()].clone();
            person.reply(&thread, &texts::reply(&mut self.random));
            notes += 1;
        }
    }

    /// Runs turns, with the reviews that they request, until nothing is left to do.
    fn run_to_rest(&mut self) {
        let mut inbox = Inbox::default();
        for _ in 0..20 {
            let turn = self.turn(&inbox);
            inbox = Inbox::default();
            if !turn.plan.reviews.is_empty() {
                inbox.reports = turn.plan.reviews.iter().map(|brief| self.review(brief, &turn.snapshot)).collect();
            } else if turn.writes == 0 {
                return;
            }
        }
        panic!("the pull does not come to rest within 20 turns");
    }

    /// Reports new findings in the first round, and positions on all prior ones in the second.
    fn review(&mut self, brief: &Brief, snapshot: &Snapshot) -> Submission {
        let entries = snapshot.reviews.iter().filter_map(|review| review.text.reading.block.as_deref());
        let positions: Vec<SubmittedPosition> = entries
            .flat_map(|block| &block.entries)
            .filter(|entry| brief.priors.contains(&entry.id))
            .map(|entry| {
                let fixed = entry.line.is_some_and(|line| FIXED.contains(&(line as usize - 1)));
                let position = if fixed { Position::Fixed } else { Position::StillThere };
                SubmittedPosition {
                    finding: entry.id,
                    position,
                    evidence: texts::body(&mut self.random),
                    reply: String::new(),
                }
            })
            .collect();
        let mut submission = submission(&brief.role, snapshot);
        let role_index = FIRST_ROUND.iter().position(|(name, _)| *name == brief.role.as_str()).expect("a role");
        if positions.is_empty() {
            let severity = |at: usize| match (role_index, at % 4) {
                (2, _) => Severity::Suggestion,
                (_, 0) => Severity::Critical,
                _ => Severity::Warning,
            };
            submission.findings = (0..FIRST_ROUND[role_index].1)
                .map(|at| {
                    let line = CHANGED.start + 1 + role_index * 2 + at * 3 % (CHANGED.len() - 6);
                    self.new_finding(at, path(at % FILES), line, severity(at))
                })
                .collect();
        }
        submission.positions = positions;
        submission
    }

    /// Builds the report of the last role: a position on each prior finding, and new findings of every severity.
    fn report(&mut self, before: &Snapshot) -> Submission {
        let role = &self.policy.roles.last().expect("a role").name.clone();
        let is_of_role = |review: &&Review| review.text.trusted_mark().is_some_and(|mark| mark.role == *role);
        let review = before.reviews.iter().rfind(is_of_role);
        let block = review.and_then(|review| review.text.reading.block.as_deref()).expect("a Block");
        let still_there = |entry: &referee_core::mark::BlockEntry| SubmittedPosition {
            finding: entry.id,
            position: Position::StillThere,
            evidence: String::new(),
            reply: String::new(),
        };
        let mut submission = submission(role, before);
        submission.head = self.person("alice").head();
        submission.positions =
            block.entries.iter().filter(|entry| !entry.state.is_settled()).map(still_there).collect();
        let severity = |at: usize| match at % 10 {
            0 => Severity::Critical,
            1..4 => Severity::Warning,
            _ => Severity::Suggestion,
        };
        submission.findings = (0..FINDINGS)
            .map(|at| self.new_finding(100 + at, path(at % FILES), NEW.start + 1 + at / FILES * 3, severity(at)))
            .collect();
        self.random.shuffle(&mut submission.findings);
        submission
    }

    fn new_finding(&mut self, number: usize, path: String, line: usize, severity: Severity) -> SubmittedFinding {
        SubmittedFinding {
            title: texts::title(&mut self.random, number),
            body: texts::body(&mut self.random),
            severity,
            path,
            line: u32::try_from(line).ok(),
            end_line: None,
            column: None,
            help: None,
            side: Side::New,
            rule: None,
            suggestion: texts::suggestion(&mut self.random),
        }
    }

    fn turn(&self, inbox: &Inbox) -> Turn {
        let settings = Gate::ALL.iter().map(|gate| (*gate, GateSetting::On)).collect();
        let context = TurnContext {
            forge: &self.client,
            source: &self.world,
            journal: &NullJournal,
            policy: &self.policy,
            gates: &Gates::new(settings, Default::default(), self.policy.approve),
            keys: &self.keys,
            publish_mode: PublishMode::SingleWriter,
        };
        block_on(finish(&context, self.person("alice").pull(), inbox)).expect("a turn")
    }

    fn gather(&self, fetched: &FetchedPull, inbox: &Inbox) -> Snapshot {
        gather_snapshot(fetched.clone(), &self.world, inbox, &self.policy, &self.keys).expect("a snapshot")
    }

    fn fetch(&self) -> FetchedPull {
        block_on(self.client.fetch(self.person("alice").pull())).expect("fetch the pull")
    }

    fn threads(&self) -> Vec<ThreadId> {
        let fetched = self.fetch();
        fetched.threads.iter().filter(|thread| thread.resolved.is_none()).map(|thread| thread.id.clone()).collect()
    }

    fn person(&self, name: &str) -> WorldPerson {
        self.world.people().as_(name)
    }
}

fn submission(role: &RoleName, snapshot: &Snapshot) -> Submission {
    Submission {
        schema: "referee/report-1".to_owned(),
        role: role.clone(),
        head: snapshot.pull.head.clone(),
        outcome: SubmittedOutcome::Findings,
        reason: String::new(),
        coverage: Some(Coverage { read: (0..FILES).map(path).collect(), skipped: Vec::new() }),
        summary: "The importer reads pages now; most of it is sound.".to_owned(),
        findings: Vec::new(),
        positions: Vec::new(),
        deterministic: false,
        run: snapshot.taken_at.0.to_string(),
        left_out: Default::default(),
        tool: None,
        figures: RunCost { tokens: 40_000, micro_usd: 90_000, seconds: 70, runs: 1 },
    }
}

fn policy() -> Policy {
    let role = |(name, _): &(&str, usize)| Role {
        identity: (*name == "style").then(|| Login::from("style-bot")),
        ..Role::new(*name)
    };
    let roles = FIRST_ROUND.iter().map(role).collect();
    Policy { roles, operator: Some(Login::from("carol")), ci_required: false, ..Policy::default() }
}

fn bot() -> Login {
    Login::from("referee-bot")
}

fn path(at: usize) -> String {
    format!("crates/importer/src/module_{at}.rs")
}

fn changed_file(at: usize, lines: std::ops::Range<usize>, label: &str) -> String {
    (0..150).map(|line| code(at, line, if lines.contains(&line) { label } else { "base" })).collect()
}

fn code(at: usize, line: usize, label: &str) -> String {
    format!("    let {label}_{line} = self.read(module_{at}::PAGE, {line})?;\n")
}
