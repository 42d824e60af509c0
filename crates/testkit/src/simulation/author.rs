//! Simulated authors: they act when all other actors are idle.

use referee_core::model::{PullNumber, PullState, ThreadId};
use referee_forge::Reader;

use super::bot_login;
use crate::poll::block_on;
use crate::world::World;

/// An author who acts a bounded number of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedAuthor {
    behaviour: AuthorBehaviour,
    actions_left: u32,
}

/// The behaviour of an author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorBehaviour {
    /// Removes every marker.
    Fixes,
    /// Removes one marker at a time.
    HalfFixes,
    /// Replies "I disagree" in every open thread.
    Argues,
    Ignores,
    /// Rebases onto a base that moved.
    Rebases,
    /// Force-pushes the same patch.
    Amends,
    /// Replies "fixed" and changes nothing.
    ClaimsFixed,
    /// Requests another review from the bot, repeatedly.
    ReRequests,
    /// Pushes an unrelated change each time.
    Pushes,
}

impl AuthorBehaviour {
    pub const ALL: [Self; 9] = [
        Self::Fixes,
        Self::HalfFixes,
        Self::Argues,
        Self::Ignores,
        Self::Rebases,
        Self::Amends,
        Self::ClaimsFixed,
        Self::ReRequests,
        Self::Pushes,
    ];
}

/// The author's login in simulations.
pub(crate) const AUTHOR_LOGIN: &str = "alice";

impl SimulatedAuthor {
    /// Creates an author who acts at most `actions_left` times.
    pub fn new(behaviour: AuthorBehaviour, actions_left: u32) -> Self {
        Self { behaviour, actions_left }
    }

    /// Acts once and returns a description of the action.
    pub(super) fn act(&mut self, world: &World, pull: PullNumber) -> Option<String> {
        let fetched = block_on(world.client("onlooker").fetch(pull)).ok()?;
        if self.actions_left == 0 || fetched.pull.state != PullState::Open {
            return None;
        }
        let person = world.people().on(pull).as_(AUTHOR_LOGIN);
        let text = world.tree(&fetched.pull.head).get("src/a.rs").map(|text| text.to_string()).unwrap_or_default();
        let description = match self.behaviour {
            AuthorBehaviour::Ignores => None,
            AuthorBehaviour::Fixes => has_marker(&text).then(|| {
                person
                    .push("src/a.rs", |text| text.lines().filter(|line| !has_marker(line)).map(with_newline).collect());
                "alice fixes everything"
            }),
            AuthorBehaviour::HalfFixes => has_marker(&text).then(|| {
                person.push("src/a.rs", |text| {
                    let first = text.lines().position(has_marker);
                    text.lines()
                        .enumerate()
                        .filter(|(index, _)| Some(*index) != first)
                        .map(|(_, line)| with_newline(line))
                        .collect()
                });
                "alice fixes one thing"
            }),
            AuthorBehaviour::Argues => {
                reply_to_open_threads(world, pull, "I disagree, this cannot happen").then_some("alice disagrees")
            }
            AuthorBehaviour::ClaimsFixed => {
                reply_to_open_threads(world, pull, "fixed").then_some("alice says that it is fixed")
            }
            AuthorBehaviour::Rebases => {
                let left = self.actions_left;
                world.people().on(pull).as_("carol").push_base("src/base.rs", |text| format!("{text}// base {left}\n"));
                person.rebase();
                Some("alice rebases")
            }
            AuthorBehaviour::Amends => {
                person.amend();
                Some("alice force-pushes the same change")
            }
            AuthorBehaviour::ReRequests => {
                person.request_review(bot_login().as_str());
                Some("alice asks for another review")
            }
            AuthorBehaviour::Pushes => {
                let left = self.actions_left;
                person.push("src/a.rs", |text| format!("{text}fn more_{left}() {{}}\n"));
                Some("alice pushes something else")
            }
        };
        if description.is_some() {
            self.actions_left -= 1;
        }
        description.map(str::to_owned)
    }
}

fn with_newline(line: &str) -> String {
    format!("{line}\n")
}

fn has_marker(text: &str) -> bool {
    ["BUG", "RISK", "NIT"].iter().any(|marker| text.contains(marker))
}

fn reply_to_open_threads(world: &World, pull: PullNumber, text: &str) -> bool {
    let Ok(fetched) = block_on(world.client("onlooker").fetch(pull)) else { return false };
    let person = world.people().on(pull).as_(AUTHOR_LOGIN);
    let open: Vec<ThreadId> = fetched
        .threads
        .iter()
        .filter(|thread| {
            thread.resolved.is_none() && !thread.last().is_some_and(|note| note.author.has_login(person.login()))
        })
        .map(|thread| thread.id.clone())
        .collect();
    for thread in &open {
        person.reply(thread, text);
    }
    !open.is_empty()
}
