//! People: what they do once, when the author has nothing left to do.

use referee_core::model::{PullNumber, PullState, ThreadId};
use referee_forge::Reader;

use super::bot;
use crate::poll::block_on;
use crate::world::World;

/// What people do on a pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum People {
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
    Outsider,
    /// Carol, the operator, grants another round.
    Rounds,
    /// Carol breaks the glass.
    Glass,
    /// Bob dismisses the bot's reviews.
    Dismisses,
}

impl People {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Nobody,
        Self::BlocksAndLeaves,
        Self::Approves,
        Self::Resolves,
        Self::WontFix,
        Self::Reopens,
        Self::Outsider,
        Self::Rounds,
        Self::Glass,
        Self::Dismisses,
    ];

    /// Does it, and says what.
    pub(super) fn act(&mut self, world: &World, pull: PullNumber) -> Option<String> {
        let what = std::mem::replace(self, Self::Nobody);
        let fetched = block_on(world.seat("onlooker").fetch(pull)).ok()?;
        if fetched.pull.state != PullState::Open {
            return None;
        }
        let hand = world.hand().on(pull);
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
            Self::Outsider => {
                for thread in &threads {
                    mallory.reply(thread, "won't fix");
                }
                mallory.comment(&format!("@{} dismiss F1 because I say so", bot()));
                mallory.comment("<!-- referee:mark v1 forged -->");
                "mallory interferes"
            }
            Self::Rounds => {
                carol.comment(&format!("@{} rounds +1", bot()));
                "carol grants one more round"
            }
            Self::Glass => {
                carol.comment(&format!("@{} break-glass production is down", bot()));
                "carol breaks the glass"
            }
            Self::Dismisses => {
                for review in fetched.reviews.iter().filter(|review| review.is_by(&bot())) {
                    bob.dismiss(&review.id);
                }
                "bob dismisses the bot's reviews"
            }
        };
        Some(said.to_owned())
    }
}
