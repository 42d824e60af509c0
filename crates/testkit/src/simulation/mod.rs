//! Simulations of the whole loop: scripted reviewers, an author and bystanders around one pull, driven through the same
//! turn that the program runs, until all actors are idle.

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
use referee_turn::{Inbox, NullJournal, PublishMode, Turn, TurnContext, finish};

use crate::poll::block_on;
use crate::world::{World, WorldClient};

pub use author::{AuthorBehaviour, SimulatedAuthor};
pub use bystander::BystanderBehaviour;
pub use reviewer::ReviewerBehaviour;
pub use setup::{RoleIdentity, SimulationSetup};

/// A simulation around one pull, on a forge reached through `F`.
#[derive(Debug)]
pub struct Simulation<F = WorldClient> {
    pub world: World,
    pub pull: PullNumber,
    pub policy: Policy,
    pub reviewers: BTreeMap<RoleName, ReviewerBehaviour>,
    pub author: SimulatedAuthor,
    pub bystander: BystanderBehaviour,
    /// The referee processes: one per identity, or one for all.
    pub clients: Vec<F>,
    /// Whether other processes may post at the same time.
    pub publishing: PublishMode<'static>,
    /// A record of every turn.
    pub records: Vec<TurnRecord>,
}

/// One turn, for people to read.
#[derive(Debug)]
pub struct TurnRecord {
    /// The event before the turn.
    pub preceding_event: String,
    pub plan: Plan,
    /// The receipts, in words.
    pub outcomes: Vec<String>,
}

/// The end of a simulation.
#[derive(Debug)]
pub struct SimulationResult {
    /// The number of turns until all actors were idle.
    pub turns: usize,
    /// The last plan of the first process.
    pub plan: Plan,
    /// The writes of one more turn of every process; must be zero.
    pub extra_writes: usize,
}

/// An upper bound for the turns of a simulation.
pub const MAX_TURNS: usize = 120;

impl Simulation {
    /// Returns the same simulation, with each client wrapped by `adapter`.
    pub fn through_adapter<F>(self, adapter: impl Fn(&WorldClient) -> F) -> Simulation<F> {
        let Self { world, pull, policy, reviewers, author, bystander, clients, publishing, records } = self;
        let clients = clients.iter().map(adapter).collect();
        Simulation { world, pull, policy, reviewers, author, bystander, clients, publishing, records }
    }
}

impl<F: Forge> Simulation<F> {
    /// Runs until all actors are idle.
    ///
    /// # Panics
    ///
    /// Panics if the simulation exceeds `MAX_TURNS` or a turn fails.
    pub fn run(&mut self) -> SimulationResult {
        let mut turns = 0;
        let mut inboxes: Vec<Inbox> = self.clients.iter().map(|_| Inbox::default()).collect();
        let mut event = "the pull is opened".to_owned();
        loop {
            let mut progressed = false;
            for (index, inbox) in inboxes.iter_mut().enumerate() {
                let turn = self.run_turn(index, &std::mem::take(inbox));
                turns += 1;
                assert!(
                    turns <= MAX_TURNS,
                    "the simulation did not end within {MAX_TURNS} turns; last: {:?} because {:?}",
                    turn.plan.next,
                    turn.plan.why
                );
                progressed |= 0 < turn.writes;
                for brief in &turn.plan.reviews {
                    let reviewer = self
                        .reviewers
                        .get_mut(&brief.role)
                        .unwrap_or_else(|| panic!("no reviewer for the role {}", brief.role));
                    inbox.reports.push(reviewer.review(&self.world, self.pull, brief, &turn.snapshot));
                    progressed = true;
                }
                self.record_turn(&mut event, turn);
            }
            if progressed {
                continue;
            }
            let acted = self.author.act(&self.world, self.pull).or_else(|| self.bystander.act(&self.world, self.pull));
            match acted {
                Some(action) => event = action,
                // A failed reviewer is retried after a delay.
                None if self.is_waiting_for_retry() => {
                    self.world.wait(Span::from_minutes(30));
                    "half an hour passes".clone_into(&mut event);
                }
                None => break,
            }
        }
        let plan = self.run_turn(0, &Inbox::default()).plan;
        let extra_writes = (0..self.clients.len()).map(|index| self.run_turn(index, &Inbox::default()).writes).sum();
        SimulationResult { turns, plan, extra_writes }
    }

    fn is_waiting_for_retry(&self) -> bool {
        (0..self.clients.len()).any(|index| {
            let plan = self.run_turn(index, &Inbox::default()).plan;
            plan.refused.iter().any(|refusal| refusal.why.rule == "review-backoff")
        })
    }

    fn run_turn(&self, index: usize, inbox: &Inbox) -> Turn {
        let client = &self.clients[index];
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
        block_on(finish(&context, self.pull, inbox)).unwrap_or_else(|error| panic!("the turn failed: {error}"))
    }

    fn record_turn(&mut self, event: &mut String, turn: Turn) {
        let outcomes = turn
            .steps
            .iter()
            .zip(&turn.receipts)
            .map(|(step, receipt)| {
                let facts = step.reason.facts.join(", ");
                format!("{}: {:?}, by {} ({facts}) {}", receipt.action, receipt.outcome, step.reason.rule, receipt.note)
                    .trim_end()
                    .to_owned()
            })
            .collect();
        self.records.push(TurnRecord { preceding_event: std::mem::take(event), plan: turn.plan, outcomes });
    }

    /// Counts the comments on the pull with such a topic.
    pub fn count_topics(&self, wanted: impl Fn(&Topic) -> bool) -> usize {
        let snapshot = self.run_turn(0, &Inbox::default()).snapshot;
        let tags = snapshot.comments.iter().filter_map(|comment| comment.text.trusted_tag());
        tags.filter(|tag| matches!(&tag.kind, TagKind::Topic(topic) if wanted(topic))).count()
    }
}

impl SimulationResult {
    /// Returns why a person must decide; `None` if no decision is needed.
    pub fn blocked_cause(&self) -> Option<BlockedCause> {
        match self.plan.next {
            Next::Blocked(cause) => Some(cause),
            _ => None,
        }
    }
}

/// The bot's login in simulations.
pub fn bot_login() -> Login {
    Login::from("referee-bot")
}
