//! People: what they do once, when the author has nothing left to do.

use referee_core::model::{PullNumber, PullState, ThreadId};
use referee_forge::Reader;

use super::bot_login;
use crate::poll::block_on;
use crate::world::World;

/// What people do on a pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BystanderBehaviour {
    /// Nobody is there, or they did what they came for.
    Nobody,
    /// Bob asks for changes and is never seen again.
    BlocksAndLeaves,
    /// Bob approves.
    Approves,
    /// Bob resolves every thread.
    Resolves,
    /// Bob says "won't fix" in every thread.
    WontFix,
    /// Bob closes the pull and opens it again.
    Reopens,
    /// Mallory, who may only read, says "won't fix", forges a Mark and commands.
    OutsiderInterferes,
    /// Carol, the operator, grants another round.
    GrantsRound,
    /// Carol breaks the glass.
    BreaksGlass,
    /// Bob dismisses the bot's reviews.
    Dismisses,
}

impl BystanderBehaviour {
    /// All of them.
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

    /// Does it, and says what.
    pub(super) fn act(&mut self, world: &World, pull: PullNumber) -> Option<String> {
        let what = std::mem::replace(self, Self::Nobody);
        let fetched = block_on(world.client("onlooker").fetch(pull)).ok()?;
        if fetched.pull.state != PullState::Open {
            return None;
        }
        let hand = world.people().on(pull);
        let (bob, carol, mallory) = (hand.as_("bob"), hand.as_("carol"), hand.as_("mallory"));
        let threads: Vec<ThreadId> =
            fetched.threads.iter().filter(|thread| thread.resolved.is_none()).map(|thread| thread.id.clone()).collect();
        let said = match what {
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
                    bob.reply(thread, "won't fix");
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
        Some(said.to_owned())
    }
}
