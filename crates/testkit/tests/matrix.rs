//! Matrix mode on a forge: two or three roles of one identity, each in its own process, interleaved call by call in
//! orders drawn from a seed. The forge swaps the inline comments of concurrent posts and merges what is approved.

use std::future::Future;
use std::pin::Pin;

use referee_core::mark::{Keys, TagKind};
use referee_core::model::{PullNumber, PullState, Span, Submission, Verdict};
use referee_core::plan::Gate;
use referee_core::policy::{ApprovalMode, GateSetting, Policy};
use referee_forge::{Gates, Reader};
use referee_testkit::simulation::{ReviewerBehaviour, RoleIdentity, Simulation, SimulationSetup, bot_login};
use referee_testkit::{EffectKind, Quirks, World, WorldClient, block_on, interleave};
use referee_turn::{Inbox, NoWait, NullJournal, PublishMode, Turn, TurnContext, TurnError, finish};

/// A deterministic pseudo-random number generator.
struct SeededRandom(u64);

impl SeededRandom {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit.max(1) as u64).unwrap_or(0)
    }
}

/// A pull with one process per role.
struct Matrix {
    world: World,
    pull: PullNumber,
    policy: Policy,
    clients: Vec<WorldClient>,
    reviewers: Vec<ReviewerBehaviour>,
    publishing: PublishMode<'static>,
}

/// How often a process retries within one round while the claim is held.
const MAX_ATTEMPTS: usize = 40;

impl Matrix {
    fn open(reviewers: &[ReviewerBehaviour], text: &'static str, publishing: PublishMode<'static>) -> Self {
        let mut quirks = Quirks::gitea_like();
        (quirks.posts_swap_comments, quirks.auto_merge) = (true, true);
        let roles = reviewers.iter().map(|reviewer| (*reviewer, RoleIdentity::Shared)).collect();
        let Simulation { world, pull, policy, .. } =
            SimulationSetup { quirks, roles, file_text: text, approve: ApprovalMode::On, ..SimulationSetup::default() }
                .build();
        let clients = reviewers.iter().map(|_| world.client_with_tokens(&bot_login(), &[])).collect();
        Self { world, pull, policy, clients, reviewers: reviewers.to_vec(), publishing }
    }

    /// Returns the report of each role's reviewer on the head.
    fn reports(&mut self) -> Vec<Option<Submission>> {
        let turn = block_on(self.turn(&self.clients[0], &Inbox::default())).expect("the claim is free");
        let briefs = &turn.plan.reviews;
        let roles: Vec<_> = self.policy.roles.iter().map(|role| role.name.clone()).collect();
        let report = |(reviewer, role): (&mut ReviewerBehaviour, _)| {
            let brief = briefs.iter().find(|brief| brief.role == role)?;
            Some(reviewer.review(&self.world, self.pull, brief, &turn.snapshot))
        };
        self.reviewers.iter_mut().zip(roles).map(report).collect()
    }

    /// Runs all processes concurrently, in a random order of calls.
    fn publish(&self, reports: Vec<Option<Submission>>, random: &mut SeededRandom) -> Observations {
        let clients: Vec<WorldClient> = self.clients.iter().map(WorldClient::stepwise).collect();
        let processes = clients.iter().zip(reports).map(|(client, report)| {
            let inbox = Inbox { reports: report.into_iter().collect(), ..Inbox::default() };
            Box::pin(self.process(client, inbox)) as Pin<Box<dyn Future<Output = usize> + '_>>
        });
        let mut observed = Observations::default();
        let tries = interleave(processes.collect(), |running| {
            self.observe(&mut observed);
            random.below(running.len())
        });
        self.observe(&mut observed);
        observed.held = tries.into_iter().sum();
        observed
    }

    /// Runs one CI job: a turn, repeated while another process holds the claim or a rerun is needed. Returns how often the
    /// claim was held.
    async fn process(&self, client: &WorldClient, inbox: Inbox) -> usize {
        let mut held = 0;
        for _ in 0..MAX_ATTEMPTS {
            match self.turn(client, &inbox).await {
                Ok(turn) if !turn.needs_rerun => return held,
                Ok(_) => {}
                Err(TurnError::ClaimHeld) => held += 1,
                Err(error) => panic!("the turn failed: {error}"),
            }
        }
        panic!("{} never acquired the claim", client.login())
    }

    async fn turn(&self, client: &WorldClient, inbox: &Inbox) -> Result<Turn, TurnError> {
        let settings = Gate::ALL.iter().map(|gate| (*gate, GateSetting::On)).collect();
        let context = TurnContext {
            forge: client,
            source: &self.world,
            journal: &NullJournal,
            policy: &self.policy,
            gates: &Gates::new(settings, Default::default(), self.policy.approve),
            keys: &Keys::empty(),
            publish_mode: self.publishing,
        };
        finish(&context, self.pull, inbox).await
    }

    /// Observes the forge between two calls.
    fn observe(&self, observed: &mut Observations) {
        observed.approved |= self.world.decision(self.pull).is_approved();
        for effect in self.world.take_effects() {
            observed.merged |= effect.kind == EffectKind::Merged;
        }
    }

    /// Checks the invariants after all processes have ended.
    fn check(&self, honest_blocks: bool, observed: &Observations) {
        let last = block_on(self.turn(&self.clients[0], &Inbox::default())).expect("the claim is free");
        assert_eq!(last.writes, 0, "a turn at rest writes: {:?}", last.plan.why);
        drop(self.world.take_effects());
        let open = last.snapshot.pull.state == PullState::Open;
        if honest_blocks {
            assert!(open && !observed.merged, "merged while a role blocks");
            assert!(!observed.approved, "an approval counted while a role blocks");
            let tally = self.world.decision(self.pull);
            assert!(tally.is_blocked(), "a role blocks, and the forge counts no block: {tally:?}");
        } else {
            assert!(!self.world.decision(self.pull).is_blocked(), "nobody blocks, and the forge counts a block");
            assert!(observed.approved, "all approve, and no approval counted");
        }
        // The first approval of the last plan may merge; the posts of the other roles then come too late.
        if open {
            self.check_standing_reviews(&last);
        }
        self.check_threads(&last);
    }

    /// Checks that each role has at most one standing review of each verdict at the head.
    fn check_standing_reviews(&self, last: &Turn) {
        for role in &self.policy.roles {
            let marks = last.snapshot.reviews.iter().filter_map(|review| Some((review, review.text.trusted_mark()?)));
            let of_role: Vec<_> = marks.filter(|(_, mark)| mark.role == role.name).collect();
            assert!(!of_role.is_empty(), "{} has no review", role.name);
            let at_head = |(review, _): &&(&referee_core::model::Review, _)| {
                review.commit.as_ref() == Some(&last.snapshot.pull.head)
            };
            let standing = of_role.iter().filter(at_head).filter(|(_, mark)| mark.superseded.is_none());
            let verdicts: Vec<Option<Verdict>> = standing.map(|(review, _)| review.verdict()).collect();
            assert!(
                verdicts.windows(2).all(|pair| pair[0] != pair[1]),
                "{} has two standing reviews of one verdict: {verdicts:?}",
                role.name
            );
            let approvals = verdicts.iter().filter(|verdict| **verdict == Some(Verdict::Approve)).count();
            let blocks = verdicts.iter().filter(|verdict| **verdict == Some(Verdict::RequestChanges)).count();
            assert!(
                approvals == 0 || blocks == 0 || verdicts.last() == Some(&Some(Verdict::Approve)),
                "an approval of {} stands beside its block: {verdicts:?}",
                role.name
            );
        }
    }

    /// Checks that no thread is duplicated and that every finding has one.
    fn check_threads(&self, last: &Turn) {
        let mut roots: Vec<String> = Vec::new();
        for thread in &last.snapshot.threads {
            if let Some(TagKind::Root { role, finding, .. }) =
                thread.root().and_then(|root| root.text.trusted_tag()).map(|tag| &tag.kind)
            {
                roots.push(format!("{role}/{finding}"));
            }
        }
        let all = roots.len();
        roots.sort();
        roots.dedup();
        assert_eq!(roots.len(), all, "a thread is duplicated: {roots:?}");
        for line in last.plan.findings.iter() {
            assert!(line.thread.is_some(), "{}/{} lost its thread", line.role, line.id);
        }
    }
}

/// What was observed between any two calls.
#[derive(Debug, Default)]
struct Observations {
    approved: bool,
    merged: bool,
    /// How often a process found the claim held.
    held: usize,
}

const CLEAN: &str = "fn a() {}\nfn b() {}\n";
const BUGGY: &str = "fn a() {}\n// BUG one\nfn b() {}\n// RISK two\nfn c() {}\n// NIT three\nfn d() {}\n";

/// Runs one order: a first head, and a second one on which the roles may change their verdict.
fn run_order(seed: u64, publishing: PublishMode<'static>) -> usize {
    let mut random = SeededRandom(seed);
    // `CommentOnly` never blocks and `Honest` blocks on a bug, so with both, one role blocks and its sibling does not.
    let honest = ReviewerBehaviour::Honest;
    let role_sets: [&[ReviewerBehaviour]; 4] = [
        &[honest, ReviewerBehaviour::CommentOnly],
        &[honest, honest],
        &[ReviewerBehaviour::CommentOnly, honest, ReviewerBehaviour::CommentOnly],
        &[honest, honest, honest],
    ];
    let roles = role_sets[random.below(role_sets.len())];
    let starts_buggy = random.below(3) != 0;
    let mut matrix = Matrix::open(roles, if starts_buggy { BUGGY } else { CLEAN }, publishing);
    let reports = matrix.reports();
    let mut observed = matrix.publish(reports, &mut random);
    matrix.check(starts_buggy, &observed);
    let mut held = observed.held;
    if starts_buggy {
        // Half of the orders push a fix, the others push another bug.
        let fixed = random.below(2) == 0;
        let text = if fixed { CLEAN.to_owned() } else { format!("{BUGGY}// BUG four\n") };
        matrix.world.people().on(matrix.pull).as_("alice").push("src/a.rs", |_| text);
        matrix.world.wait(Span::from_minutes(10));
        let reports = matrix.reports();
        observed = matrix.publish(reports, &mut random);
        matrix.check(!fixed, &observed);
        held += observed.held;
    }
    let fetched = block_on(matrix.world.client("onlooker").fetch(matrix.pull)).expect("fetch the pull");
    assert!(fetched.reviews.iter().filter(|review| review.is_by(&bot_login())).count() <= 24, "too many reviews");
    drop(matrix.world.take_effects());
    held
}

/// Runs `count` orders. Returns how often the claim was found held, and the failures.
fn run_orders(seed: u64, count: u64, publishing: PublishMode<'static>) -> (usize, Vec<String>) {
    let (mut held, mut failed) = (0, Vec::new());
    for order in 0..count {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(order);
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run_order(seed, publishing))) {
            Ok(more) => held += more,
            Err(panic) => {
                let message = panic.downcast_ref::<String>().cloned();
                let message = message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                failed.push(format!("order {seed}: {}", message.unwrap_or_default()));
            }
        }
    }
    (held, failed)
}

// spec: PUB-8, D6, D19 @core
#[test]
#[expect(clippy::print_stdout, reason = "the number of orders is part of the proof")]
fn in_any_order_of_calls_the_worst_verdict_wins_and_no_blocked_pull_is_merged() {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default);
    let (seed, scale) = (number("REFEREE_SEED", 1), number("REFEREE_SCALE", 1).clamp(1, 10));
    let (held, failed) = run_orders(seed, 300 * scale, PublishMode::Matrix(&NoWait));
    println!("{} orders with seed {seed}; the claim was found held {held} times", 300 * scale);
    assert!(failed.is_empty(), "{} failed, first:\n{}", failed.len(), failed[..failed.len().min(8)].join("\n"));
    assert!(0 < held, "the claim was never contended: nothing was interleaved");
}

#[test]
fn without_the_claim_and_the_check_after_posting_the_same_test_fails() {
    let (_, failed) = run_orders(1, 40, PublishMode::SingleWriter);
    assert!(!failed.is_empty(), "the check must be able to fail");
}
