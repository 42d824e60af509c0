//! Whole-loop plays: scripted reviewers, an author and people around one pull, driven through the same turn that the
//! program takes, until nobody has anything left to do.

mod author;
mod people;
mod reviewer;
mod stage;

use std::collections::BTreeMap;

use referee_core::mark::{Keys, TagKind, Topic};
use referee_core::model::{Login, PullNumber, RoleName, Span};
use referee_core::plan::{Cause, Gate, Next, Plan};
use referee_core::policy::{Policy, Setting};
use referee_forge::{Forge, Gates};
use referee_turn::{Desk, Inbox, Nothing, Publishing, Turn, turn};

use crate::poll::block_on;
use crate::world::{Seat, World};

pub use author::{Author, Kind};
pub use people::People;
pub use reviewer::Reviewer;
pub use stage::{Identity, Stage};

/// Everybody around one pull, at a forge that is reached through `F`.
#[derive(Debug)]
pub struct Play<F = Seat> {
    /// The forge.
    pub world: World,
    /// The pull.
    pub pull: PullNumber,
    /// The rules.
    pub policy: Policy,
    /// What each role's reviewer is like.
    pub reviewers: BTreeMap<RoleName, Reviewer>,
    /// What the author is like.
    pub author: Author,
    /// What people do.
    pub people: People,
    /// The processes: one for each identity, or one for all.
    pub seats: Vec<F>,
    /// Who else may post meanwhile.
    pub publishing: Publishing,
    /// Called after each turn, to tell the story.
    pub told: Vec<Told>,
}

/// One turn, for people to read.
#[derive(Debug)]
pub struct Told {
    /// What happened before it.
    pub before: String,
    /// What was planned.
    pub plan: Plan,
    /// What was done: the receipts' outcomes, in words.
    pub done: Vec<String>,
}

/// How a play ended.
#[derive(Debug)]
pub struct Ended {
    /// Turns it took.
    pub turns: usize,
    /// The last plan of the first process.
    pub plan: Plan,
    /// Writes of one more turn of every process: must be none.
    pub restless: usize,
}

/// More turns than any play may take.
pub const LIMIT: usize = 120;

impl Play {
    /// The same, with the forge reached through an adapter.
    pub fn through<F>(self, adapter: impl Fn(&Seat) -> F) -> Play<F> {
        let Self { world, pull, policy, reviewers, author, people, seats, publishing, told } = self;
        let seats = seats.iter().map(adapter).collect();
        Play { world, pull, policy, reviewers, author, people, seats, publishing, told }
    }
}

impl<F: Forge> Play<F> {
    /// Plays until nobody has anything left to do.
    ///
    /// # Panics
    ///
    /// When it does not go quiet, or a turn cannot be played.
    pub fn run(&mut self) -> Ended {
        let mut turns = 0;
        let mut inboxes: Vec<Inbox> = self.seats.iter().map(|_| Inbox::default()).collect();
        let mut before = "the pull is opened".to_owned();
        loop {
            let mut moved = false;
            for (at, inbox) in inboxes.iter_mut().enumerate() {
                let played = self.turn(at, &std::mem::take(inbox));
                turns += 1;
                assert!(
                    turns <= LIMIT,
                    "no end after {LIMIT} turns, last: {:?} because {:?}",
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
                self.tell(&mut before, played);
            }
            if moved {
                continue;
            }
            let acted = self.author.act(&self.world, self.pull).or_else(|| self.people.act(&self.world, self.pull));
            match acted {
                Some(what) => before = what,
                // A reviewer that failed is tried again after a while.
                None if self.waits_for_retry() => {
                    self.world.wait(Span::minutes(30));
                    "half an hour passes".clone_into(&mut before);
                }
                None => break,
            }
        }
        let plan = self.turn(0, &Inbox::default()).plan;
        let restless = (0..self.seats.len()).map(|at| self.turn(at, &Inbox::default()).writes).sum();
        Ended { turns, plan, restless }
    }

    fn waits_for_retry(&self) -> bool {
        (0..self.seats.len()).any(|at| {
            let plan = self.turn(at, &Inbox::default()).plan;
            plan.why.rule == "review" && matches!(plan.next, Next::Wait(_))
        })
    }

    fn turn(&self, at: usize, inbox: &Inbox) -> Turn {
        let seat = &self.seats[at];
        let settings = Gate::ALL.iter().map(|gate| (*gate, Setting::On)).collect();
        let desk = Desk {
            forge: seat,
            source: &self.world,
            journal: &Nothing,
            policy: &self.policy,
            gates: &Gates::new(settings, Default::default(), self.policy.approve),
            keys: &Keys::none(),
            publishing: self.publishing,
        };
        block_on(turn(&desk, self.pull, inbox)).unwrap_or_else(|error| panic!("no turn: {error}"))
    }

    fn tell(&mut self, before: &mut String, played: Turn) {
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
        self.told.push(Told { before: std::mem::take(before), plan: played.plan, done });
    }

    /// Comments of that kind that stand on the pull.
    pub fn topics(&self, wanted: impl Fn(&Topic) -> bool) -> usize {
        let snapshot = self.turn(0, &Inbox::default()).snapshot;
        let tags = snapshot.comments.iter().filter_map(|comment| comment.text.tag());
        tags.filter(|tag| matches!(&tag.kind, TagKind::Topic(topic) if wanted(topic))).count()
    }
}

impl Ended {
    /// Whether a person must decide, and why.
    pub fn blocked(&self) -> Option<Cause> {
        match self.plan.next {
            Next::Blocked(cause) => Some(cause),
            _ => None,
        }
    }
}

/// The identity that speaks for roles in plays.
pub fn bot() -> Login {
    Login::from("referee-bot")
}
