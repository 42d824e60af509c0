//! Matrix mode on a forge: two or three roles of one identity, each a process of its own, interleaved call by call in
//! orders drawn from a seed. The forge mixes up the inline comments of posts at one moment and merges what is approved.

use std::future::Future;
use std::pin::Pin;

use referee_core::mark::{Keys, TagKind};
use referee_core::model::{PullNumber, PullState, Span, Submission, Verdict};
use referee_core::plan::{Gate, Next};
use referee_core::policy::{ApprovalMode, GateSetting, Policy};
use referee_forge::{Gates, Reader};
use referee_testkit::simulation::{ReviewerBehaviour, RoleIdentity, Simulation, SimulationSetup, bot_login};
use referee_testkit::{EffectKind, Quirks, World, WorldClient, block_on, interleave};
use referee_turn::{Inbox, NullJournal, PublishMode, Turn, TurnContext, TurnError, finish};

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit.max(1) as u64).unwrap_or(0)
    }
}

/// One process for each role.
struct Matrix {
    world: World,
    pull: PullNumber,
    policy: Policy,
    seats: Vec<WorldClient>,
    reviewers: Vec<ReviewerBehaviour>,
    publishing: PublishMode,
}

/// How often a process that finds the claim held comes back within one round.
const TRIES: usize = 40;

impl Matrix {
    fn open(reviewers: &[ReviewerBehaviour], text: &'static str, publishing: PublishMode) -> Self {
        let mut quirks = Quirks::gitea_like();
        (quirks.posts_swap_comments, quirks.auto_merge) = (true, true);
        let roles = reviewers.iter().map(|reviewer| (*reviewer, RoleIdentity::Shared)).collect();
        let Simulation { world, pull, policy, .. } =
            SimulationSetup { quirks, roles, file_text: text, approve: ApprovalMode::On, ..SimulationSetup::default() }
                .build();
        let seats = reviewers.iter().map(|_| world.client_with_tokens(&bot_login(), &[])).collect();
        Self { world, pull, policy, seats, reviewers: reviewers.to_vec(), publishing }
    }

    /// What each role's reviewer says of the head, as its own process learns it.
    fn reports(&mut self) -> Vec<Option<Submission>> {
        let played = block_on(self.turn(&self.seats[0], &Inbox::default())).expect("nobody is in the way");
        let Next::Review(briefs) = &played.plan.next else { return vec![None; self.seats.len()] };
        let roles: Vec<_> = self.policy.roles.iter().map(|role| role.name.clone()).collect();
        let of = |(reviewer, role): (&mut ReviewerBehaviour, _)| {
            let brief = briefs.iter().find(|brief| brief.role == role)?;
            Some(reviewer.review(&self.world, self.pull, brief, &played.snapshot))
        };
        self.reviewers.iter_mut().zip(roles).map(of).collect()
    }

    /// All processes at once, in an order that the dice choose.
    fn publish(&self, reports: Vec<Option<Submission>>, dice: &mut Dice) -> Watch {
        let seats: Vec<WorldClient> = self.seats.iter().map(WorldClient::stepwise).collect();
        let processes = seats.iter().zip(reports).map(|(seat, report)| {
            let inbox = Inbox { reports: report.into_iter().collect(), ..Inbox::default() };
            Box::pin(self.process(seat, inbox)) as Pin<Box<dyn Future<Output = usize> + '_>>
        });
        let mut watch = Watch::default();
        let tries = interleave(processes.collect(), |running| {
            self.look(&mut watch);
            dice.below(running.len())
        });
        self.look(&mut watch);
        watch.held = tries.into_iter().sum();
        watch
    }

    /// One CI job: its turn, again while somebody else holds the claim or something is unsettled.
    async fn process(&self, seat: &WorldClient, inbox: Inbox) -> usize {
        let mut held = 0;
        for _ in 0..TRIES {
            match self.turn(seat, &inbox).await {
                Ok(played) if !played.needs_rerun => return held,
                Ok(_) => {}
                Err(TurnError::ClaimHeld) => held += 1,
                Err(error) => panic!("no turn: {error}"),
            }
        }
        panic!("{} never got its turn", seat.login())
    }

    async fn turn(&self, seat: &WorldClient, inbox: &Inbox) -> Result<Turn, TurnError> {
        let settings = Gate::ALL.iter().map(|gate| (*gate, GateSetting::On)).collect();
        let desk = TurnContext {
            forge: seat,
            source: &self.world,
            journal: &NullJournal,
            policy: &self.policy,
            gates: &Gates::new(settings, Default::default(), self.policy.approve),
            keys: &Keys::empty(),
            publish_mode: self.publishing,
        };
        finish(&desk, self.pull, inbox).await
    }

    /// What the forge shows between two calls.
    fn look(&self, watch: &mut Watch) {
        watch.approved |= self.world.decision(self.pull).is_approved();
        for effect in self.world.take_effects() {
            watch.merged |= effect.kind == EffectKind::Merged;
        }
    }

    /// What must hold once everybody has ended.
    fn check(&self, honest_blocks: bool, watch: &Watch) {
        let last = block_on(self.turn(&self.seats[0], &Inbox::default())).expect("nobody is in the way");
        assert_eq!(last.writes, 0, "a quiet pull is written to: {:?}", last.plan.why);
        drop(self.world.take_effects());
        let open = last.snapshot.pull.state == PullState::Open;
        if honest_blocks {
            assert!(open && !watch.merged, "merged while a role blocks");
            assert!(!watch.approved, "an approval counted while a role blocks");
            let tally = self.world.decision(self.pull);
            assert!(tally.is_blocked(), "a role blocks, and the forge counts no block: {tally:?}");
        } else {
            assert!(!self.world.decision(self.pull).is_blocked(), "nobody blocks, and the forge counts a block");
            assert!(watch.approved, "all approve, and no approval counted");
        }
        // The first approval of the last plan merges: the words of the others come too late, and say the same.
        if open {
            self.one_standing_review_each(&last);
        }
        self.every_thread_once(&last);
    }

    /// Of the reviews of a role that were not superseded, only the newest says something of the newest head.
    fn one_standing_review_each(&self, last: &Turn) {
        for role in &self.policy.roles {
            let marks = last.snapshot.reviews.iter().filter_map(|review| Some((review, review.text.trusted_mark()?)));
            let of_role: Vec<_> = marks.filter(|(_, mark)| mark.role == role.name).collect();
            assert!(!of_role.is_empty(), "{} said nothing", role.name);
            let here = |(review, _): &&(&referee_core::model::Review, _)| {
                review.commit.as_ref() == Some(&last.snapshot.pull.head)
            };
            let standing = of_role.iter().filter(here).filter(|(_, mark)| mark.superseded.is_none());
            let forms: Vec<Option<Verdict>> = standing.map(|(review, _)| review.verdict()).collect();
            assert!(forms.windows(2).all(|pair| pair[0] != pair[1]), "{} stands twice: {forms:?}", role.name);
            let approvals = forms.iter().filter(|form| **form == Some(Verdict::Approve)).count();
            let blocks = forms.iter().filter(|form| **form == Some(Verdict::RequestChanges)).count();
            assert!(
                approvals == 0 || blocks == 0 || forms.last() == Some(&Some(Verdict::Approve)),
                "an approval of {} stands beside its block: {forms:?}",
                role.name
            );
        }
    }

    /// Each finding that was given a thread has one.
    fn every_thread_once(&self, last: &Turn) {
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
        assert_eq!(roots.len(), all, "a thread is there twice: {roots:?}");
        for line in last.plan.findings.iter() {
            assert!(line.thread.is_some(), "{}/{} lost its thread", line.role, line.id);
        }
    }
}

/// What was seen between any two calls.
#[derive(Debug, Default)]
struct Watch {
    approved: bool,
    merged: bool,
    /// How often somebody found the claim held.
    held: usize,
}

const CLEAN: &str = "fn a() {}\nfn b() {}\n";
const BUGGY: &str = "fn a() {}\n// BUG one\nfn b() {}\n// RISK two\nfn c() {}\n// NIT three\nfn d() {}\n";

/// One play: a first head, and a second one on which the roles change their minds.
fn play(seed: u64, publishing: PublishMode) -> usize {
    let mut dice = Dice(seed);
    // `CommentOnly` never blocks, `Honest` blocks where there is a bug: with both a role blocks and a sibling does not.
    let honest = ReviewerBehaviour::Honest;
    let casts: [&[ReviewerBehaviour]; 4] = [
        &[honest, ReviewerBehaviour::CommentOnly],
        &[honest, honest],
        &[ReviewerBehaviour::CommentOnly, honest, ReviewerBehaviour::CommentOnly],
        &[honest, honest, honest],
    ];
    let cast = casts[dice.below(casts.len())];
    let starts_buggy = dice.below(3) != 0;
    let mut matrix = Matrix::open(cast, if starts_buggy { BUGGY } else { CLEAN }, publishing);
    let reports = matrix.reports();
    let mut watch = matrix.publish(reports, &mut dice);
    matrix.check(starts_buggy, &watch);
    let mut held = watch.held;
    if starts_buggy {
        // Some push a fix, some push more of the same.
        let fixed = dice.below(2) == 0;
        let text = if fixed { CLEAN.to_owned() } else { format!("{BUGGY}// BUG four\n") };
        matrix.world.people().on(matrix.pull).as_("alice").push("src/a.rs", |_| text);
        matrix.world.wait(Span::from_minutes(10));
        let reports = matrix.reports();
        watch = matrix.publish(reports, &mut dice);
        matrix.check(!fixed, &watch);
        held += watch.held;
    }
    let fetched = block_on(matrix.world.client("onlooker").fetch(matrix.pull)).expect("the pull is there");
    assert!(fetched.reviews.iter().filter(|review| review.is_by(&bot_login())).count() <= 24, "too many reviews");
    drop(matrix.world.take_effects());
    held
}

/// Plays so many orders: how often the claim was found held, and what went wrong.
fn orders(seed: u64, count: u64, publishing: PublishMode) -> (usize, Vec<String>) {
    let (mut held, mut failed) = (0, Vec::new());
    for order in 0..count {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(order);
        match std::panic::catch_unwind(|| play(seed, publishing)) {
            Ok(more) => held += more,
            Err(panic) => {
                let words = panic.downcast_ref::<String>().cloned();
                let words = words.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                failed.push(format!("order {seed}: {}", words.unwrap_or_default()));
            }
        }
    }
    (held, failed)
}

// spec: PUB-8, D6, D19 @core
#[test]
#[expect(clippy::print_stdout, reason = "the number of orders is part of the proof")]
fn in_any_order_of_calls_the_worst_wins_and_nothing_is_merged_beside_a_block() {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default);
    let (seed, scale) = (number("REFEREE_SEED", 1), number("REFEREE_SCALE", 1).clamp(1, 10));
    let (held, failed) = orders(seed, 300 * scale, PublishMode::Matrix);
    println!("{} orders with seed {seed}; the claim was found held {held} times", 300 * scale);
    assert!(failed.is_empty(), "{} failed, first:\n{}", failed.len(), failed[..failed.len().min(8)].join("\n"));
    assert!(0 < held, "nobody was ever in the way: nothing was interleaved");
}

#[test]
fn without_the_claim_and_the_look_after_posting_the_same_check_fails() {
    let (_, failed) = orders(1, 40, PublishMode::SingleWriter);
    assert!(!failed.is_empty(), "the check must be able to fail");
}
