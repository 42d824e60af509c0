//! Authors: what they do once everybody else is quiet.

use referee_core::model::{PullNumber, PullState, ThreadId};
use referee_forge::Reader;

use super::bot;
use crate::poll::block_on;
use crate::world::World;

/// What an author is like. Each acts a bounded number of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    kind: Kind,
    left: u32,
}

/// What an author does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Takes out everything that is marked.
    Fixes,
    /// Takes out one thing at a time.
    HalfFixes,
    /// Answers every open thread with "I disagree".
    Argues,
    /// Does nothing.
    Ignores,
    /// Rebases onto a base that moved.
    Rebases,
    /// Force-pushes the same change.
    Amends,
    /// Says "fixed" and fixes nothing.
    ClaimsFixed,
    /// Asks the bot for its review again and again.
    ReRequests,
    /// Pushes something else each time.
    Pushes,
}

impl Kind {
    /// All of them.
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

/// The author's name in plays.
pub(crate) const NAME: &str = "alice";

impl Author {
    /// An author who acts at most that often.
    pub fn new(kind: Kind, left: u32) -> Self {
        Self { kind, left }
    }

    /// Does something, and says what.
    pub(super) fn act(&mut self, world: &World, pull: PullNumber) -> Option<String> {
        let fetched = block_on(world.seat("onlooker").fetch(pull)).ok()?;
        if self.left == 0 || fetched.pull.state != PullState::Open {
            return None;
        }
        let person = world.hand().on(pull).as_(NAME);
        let text = world.tree(&fetched.pull.head).get("src/a.rs").map(|text| text.to_string()).unwrap_or_default();
        let said = match self.kind {
            Kind::Ignores => None,
            Kind::Fixes => marked(&text).then(|| {
                person.push("src/a.rs", |text| text.lines().filter(|line| !marked(line)).map(own_line).collect());
                "alice fixes everything"
            }),
            Kind::HalfFixes => marked(&text).then(|| {
                person.push("src/a.rs", |text| {
                    let first = text.lines().position(marked);
                    text.lines()
                        .enumerate()
                        .filter(|(at, _)| Some(*at) != first)
                        .map(|(_, line)| own_line(line))
                        .collect()
                });
                "alice fixes one thing"
            }),
            Kind::Argues => reply_to_all(world, pull, "I disagree, this cannot happen").then_some("alice disagrees"),
            Kind::ClaimsFixed => reply_to_all(world, pull, "fixed").then_some("alice says that it is fixed"),
            Kind::Rebases => {
                let left = self.left;
                world.hand().on(pull).as_("carol").push_base("src/base.rs", |text| format!("{text}// base {left}\n"));
                person.rebase();
                Some("alice rebases")
            }
            Kind::Amends => {
                person.amend();
                Some("alice force-pushes the same change")
            }
            Kind::ReRequests => {
                person.request(bot().as_str());
                Some("alice asks for another review")
            }
            Kind::Pushes => {
                let left = self.left;
                person.push("src/a.rs", |text| format!("{text}fn more_{left}() {{}}\n"));
                Some("alice pushes something else")
            }
        };
        if said.is_some() {
            self.left -= 1;
        }
        said.map(str::to_owned)
    }
}

fn own_line(line: &str) -> String {
    format!("{line}\n")
}

fn marked(text: &str) -> bool {
    ["BUG", "RISK", "NIT"].iter().any(|word| text.contains(word))
}

fn reply_to_all(world: &World, pull: PullNumber, words: &str) -> bool {
    let Ok(fetched) = block_on(world.seat("onlooker").fetch(pull)) else { return false };
    let person = world.hand().on(pull).as_(NAME);
    let open: Vec<ThreadId> = fetched
        .threads
        .iter()
        .filter(|thread| thread.resolved.is_none() && !thread.last().is_some_and(|note| note.author.is(person.login())))
        .map(|thread| thread.id.clone())
        .collect();
    for thread in &open {
        person.reply(thread, words);
    }
    !open.is_empty()
}
