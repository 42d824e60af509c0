//! Whole-loop plays: scripted reviewers, an author and people around one pull, driven through the same turn that the
//! program takes, until nobody has anything left to do.

mod author;
mod bystander;
mod reviewer;
mod setup;

use std::collections::BTreeMap;

use referee_core::mark::{Keys, TagKind, Topic};
use referee_core::model::{Login, PullNumber, RoleName, Span};
use referee_core::plan::{BlockedCause, Gate, Next, Plan};
use referee_core::policy::{GateSetting, Policy};
use referee_forge::{Forge, Gates};
use referee_turn::{Inbox, NullJournal, PublishMode, Turn, TurnContext, run_turn};

use crate::poll::block_on;
use crate::world::{World, WorldClient};

pub use author::{AuthorBehaviour, SimulatedAuthor};
pub use bystander::BystanderBehaviour;
pub use reviewer::ReviewerBehaviour;
pub use setup::{RoleIdentity, SimulationSetup};

/// Everybody around one pull, at a forge that is reached through `F`.
#[derive(Debug)]
pub struct Simulation<F = WorldClient> {
    /// The forge.
    pub world: World,
    /// The pull.
    pub pull: PullNumber,
    /// The rules.
    pub policy: Policy,
    /// What each role's reviewer is like.
    pub reviewers: BTreeMap<RoleName, ReviewerBehaviour>,
    /// What the author is like.
    pub author: SimulatedAuthor,
    /// What people do.
    pub bystander: BystanderBehaviour,
    /// The processes: one for each identity, or one for all.
    pub clients: Vec<F>,
    /// Who else may post meanwhile.
    pub publishing: PublishMode,
    /// Called after each turn, to tell the story.
    pub records: Vec<TurnRecord>,
}

/// One turn, for people to read.
#[derive(Debug)]
pub struct TurnRecord {
    /// What happened before it.
    pub preceding_event: String,
    /// What was planned.
    pub plan: Plan,
    /// What was done: the receipts' outcomes, in words.
    pub outcomes: Vec<String>,
}

/// How a play ended.
#[derive(Debug)]
pub struct SimulationResult {
    /// Turns it took.
    pub turns: usize,
    /// The last plan of the first process.
    pub plan: Plan,
    /// Writes of one more turn of every process: must be none.
    pub extra_writes: usize,
}

/// More turns than any play may take.
pub const MAX_TURNS: usize = 120;

impl Simulation {
    /// The same, with the forge reached through an adapter.
    pub fn through_adapter<F>(self, adapter: impl Fn(&WorldClient) -> F) -> Simulation<F> {
        let Self {
            world,
            pull,
            policy,
            reviewers,
            author,
            bystander: people,
            clients: seats,
            publishing,
            records: told,
        } = self;
        let seats = seats.iter().map(adapter).collect();
        Simulation {
            world,
            pull,
            policy,
            reviewers,
            author,
            bystander: people,
            clients: seats,
            publishing,
            records: told,
        }
    }
}

impl<F: Forge> Simulation<F> {
    /// Plays until nobody has anything left to do.
    ///
    /// # Panics
    ///
    /// When it does not go quiet, or a turn cannot be played.
    pub fn run(&mut self) -> SimulationResult {
        let mut turns = 0;
        let mut inboxes: Vec<Inbox> = self.clients.iter().map(|_| Inbox::default()).collect();
        let mut before = "the pull is opened".to_owned();
        loop {
            let mut moved = false;
            for (at, inbox) in inboxes.iter_mut().enumerate() {
                let played = self.run_turn(at, &std::mem::take(inbox));
                turns += 1;
                assert!(
                    turns <= MAX_TURNS,
                    "no end after {MAX_TURNS} turns, last: {:?} because {:?}",
                    played.plan.next,
                    played.plan.why
                );
                moved |= 0 < played.writes;
                if let Next::Review(briefs) = &played.plan.next {
                    for brief in briefs {
                        let reviewer =
                            self.reviewers.get_mut(&brief.role).unwrap_or_else(|| panic!("no {}", brief.role));
                        inbox.reports.push(reviewer.review(&self.world, self.pull, brief, &played.snapshot));
                    }
                    moved = true;
                }
                self.record_turn(&mut before, played);
            }
            if moved {
                continue;
            }
            let acted = self.author.act(&self.world, self.pull).or_else(|| self.bystander.act(&self.world, self.pull));
            match acted {
                Some(what) => before = what,
                // A reviewer that failed is tried again after a while.
                None if self.is_waiting_for_retry() => {
                    self.world.wait(Span::from_minutes(30));
                    "half an hour passes".clone_into(&mut before);
                }
                None => break,
            }
        }
        let plan = self.run_turn(0, &Inbox::default()).plan;
        let restless = (0..self.clients.len()).map(|at| self.run_turn(at, &Inbox::default()).writes).sum();
        SimulationResult { turns, plan, extra_writes: restless }
    }

    fn is_waiting_for_retry(&self) -> bool {
        (0..self.clients.len()).any(|at| {
            let plan = self.run_turn(at, &Inbox::default()).plan;
            plan.why.rule == "review" && matches!(plan.next, Next::Wait(_))
        })
    }

    fn run_turn(&self, at: usize, inbox: &Inbox) -> Turn {
        let seat = &self.clients[at];
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
        block_on(run_turn(&desk, self.pull, inbox)).unwrap_or_else(|error| panic!("no turn: {error}"))
    }

    fn record_turn(&mut self, before: &mut String, played: Turn) {
        let done = played
            .steps
            .iter()
            .zip(&played.receipts)
            .map(|(step, receipt)| {
                let facts = step.reason.facts.join(", ");
                format!("{}: {:?}, by {} ({facts}) {}", receipt.action, receipt.outcome, step.reason.rule, receipt.note)
                    .trim_end()
                    .to_owned()
            })
            .collect();
        self.records.push(TurnRecord { preceding_event: std::mem::take(before), plan: played.plan, outcomes: done });
    }

    /// Comments of that kind that stand on the pull.
    pub fn count_topics(&self, wanted: impl Fn(&Topic) -> bool) -> usize {
        let snapshot = self.run_turn(0, &Inbox::default()).snapshot;
        let tags = snapshot.comments.iter().filter_map(|comment| comment.text.trusted_tag());
        tags.filter(|tag| matches!(&tag.kind, TagKind::Topic(topic) if wanted(topic))).count()
    }
}

impl SimulationResult {
    /// Whether a person must decide, and why.
    pub fn blocked_cause(&self) -> Option<BlockedCause> {
        match self.plan.next {
            Next::Blocked(cause) => Some(cause),
            _ => None,
        }
    }
}

/// The identity that speaks for roles in plays.
pub fn bot_login() -> Login {
    Login::from("referee-bot")
}
