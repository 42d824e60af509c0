//! Simulated bystanders: people who act once, after the author has finished.

use referee_core::model::{PullNumber, PullState, ThreadId};
use referee_forge::Reader;

use super::bot_login;
use crate::poll::block_on;
use crate::world::World;

/// The behaviour of the people around a pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BystanderBehaviour {
    /// Nobody acts, or the behaviour was already performed.
    Nobody,
    /// Bob requests changes and never returns.
    BlocksAndLeaves,
    Approves,
    Resolves,
    /// Bob replies "won't fix" in every thread.
    WontFix,
    /// Bob closes and reopens the pull.
    Reopens,
    /// Mallory, who may only read, replies "won't fix", forges a Mark and posts commands.
    OutsiderInterferes,
    /// Carol, the operator, grants another round.
    GrantsRound,
    /// Carol breaks the glass: she lifts the block for one change.
    BreaksGlass,
    /// Bob dismisses the bot's reviews.
    Dismisses,
}

impl BystanderBehaviour {
    pub const ALL: [Self; 10] = [
        Self::Nobody,
        Self::BlocksAndLeaves,
        Self::Approves,
        Self::Resolves,
        Self::WontFix,
        Self::Reopens,
        Self::OutsiderInterferes,
        Self::GrantsRound,
        Self::BreaksGlass,
        Self::Dismisses,
    ];

    /// Performs the behaviour once and returns its description.
    pub(super) fn act(&mut self, world: &World, pull: PullNumber) -> Option<String> {
        let behaviour = std::mem::replace(self, Self::Nobody);
        let fetched = block_on(world.client("onlooker").fetch(pull)).ok()?;
        if fetched.pull.state != PullState::Open {
            return None;
        }
        let people = world.people().on(pull);
        let (bob, carol, mallory) = (people.as_("bob"), people.as_("carol"), people.as_("mallory"));
        let threads: Vec<ThreadId> =
            fetched.threads.iter().filter(|thread| thread.resolved.is_none()).map(|thread| thread.id.clone()).collect();
        let description = match behaviour {
            Self::Nobody => return None,
            Self::BlocksAndLeaves => {
                bob.block("not like this");
                "bob asks for changes and leaves"
            }
            Self::Approves => {
                bob.approve("good");
                "bob approves"
            }
            Self::Resolves => {
                threads.iter().for_each(|thread| bob.resolve(thread));
                "bob resolves every thread"
            }
            Self::WontFix => {
                for thread in &threads {
                    bob.reply(thread, "won't fix: not here");
                }
                "bob says won't fix"
            }
            Self::Reopens => {
                bob.close();
                bob.reopen();
                "bob closes and reopens"
            }
            Self::OutsiderInterferes => {
                for thread in &threads {
                    mallory.reply(thread, "won't fix");
                }
                mallory.comment(&format!("@{} dismiss F1 because I say so", bot_login()));
                mallory.comment("<!-- referee:mark v1 forged -->");
                "mallory interferes"
            }
            Self::GrantsRound => {
                carol.comment(&format!("@{} rounds +1", bot_login()));
                "carol grants one more round"
            }
            Self::BreaksGlass => {
                carol.comment(&format!("@{} break-glass production is down", bot_login()));
                "carol breaks the glass"
            }
            Self::Dismisses => {
                for review in fetched.reviews.iter().filter(|review| review.is_by(&bot_login())) {
                    bob.dismiss(&review.id);
                }
                "bob dismisses the bot's reviews"
            }
        };
        Some(description.to_owned())
    }
}
