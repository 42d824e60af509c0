//! Scenarios in the trade's words: a pull, its roles, what reviewers and people do, and the real turn in between.
//!
//! The same words make a snapshot (`Scene::snapshot`) or drive a world turn by turn (`Scene::turn`); what is expected is
//! what `explain` prints. Whatever was written must be looked at: leftovers fail when the world is dropped.

mod by;
mod door;
mod scene;
mod shelf;
mod story;
mod words;

use referee_core::mark::Keys;
use referee_core::model::{Access, Login, RoleName};
use referee_core::policy::{Policy, Role};
use referee_turn::Inbox;

pub use by::By;
pub use door::Moment;
pub use scene::Scene;
pub use shelf::{SHELF, Tale};
pub use words::{Find, Words, critical, report, suggestion, warning};

use crate::play::bot;
use crate::world::{Quirks, World};
use story::Story;

/// A pull before it is opened: who is there, what it changes, which roles read it.
#[derive(Clone, Debug)]
pub struct Scenario {
    title: &'static str,
    quirks: Quirks,
    policy: Policy,
    base: Vec<(String, String)>,
    files: Vec<(String, String)>,
}

/// The file that a pull adds where nothing else is said.
pub const CODE: &str = "fn a() {}\nfn b() {}\nfn login(token: &str) {\n    log(token);\n}\nfn c() {}\nfn d() {}\n";

impl Scenario {
    /// A pull by alice, who may write, as bob and carol may; carol is the operator; mallory may only read.
    pub fn new(title: &'static str) -> Self {
        let policy = Policy { operator: Some(Login::from("carol")), ci_required: false, ..Policy::default() };
        Self { title, quirks: Quirks::gitea_like(), policy, base: Vec::new(), files: Vec::new() }
    }

    /// On a forge with these quirks.
    #[must_use]
    pub fn on(mut self, quirks: Quirks) -> Self {
        self.quirks = quirks;
        self
    }

    /// A role that may block; the bot speaks for it.
    #[must_use]
    pub fn role(self, name: &str) -> Self {
        self.cast(name, None, |_| {})
    }

    /// A role with an identity of its own.
    #[must_use]
    pub fn role_as(self, name: &str, identity: &str) -> Self {
        self.cast(name, Some(Login::from(identity)), |_| {})
    }

    /// A role that reads these files only.
    #[must_use]
    pub fn role_for(self, name: &str, paths: &str) -> Self {
        self.cast(name, None, |role| role.paths.push(paths.to_owned()))
    }

    /// A role that may not block.
    #[must_use]
    pub fn adviser(self, name: &str) -> Self {
        self.cast(name, None, |role| role.blocks = false)
    }

    /// A file that is there before.
    #[must_use]
    pub fn has(mut self, path: &str, text: &str) -> Self {
        self.base.push((path.to_owned(), text.to_owned()));
        self
    }

    /// A file that the pull adds or changes.
    #[must_use]
    pub fn changes(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// Other rules.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    /// Alice opens the pull.
    pub fn begin(self) -> Scene {
        let Self { title, quirks, policy, base, mut files } = self;
        let world = World::new(quirks);
        for (name, access) in
            [("alice", Access::Write), ("bob", Access::Write), ("carol", Access::Write), ("mallory", Access::Read)]
        {
            world.admit(name, access);
        }
        let alice = world.hand().as_("alice");
        for (path, text) in &base {
            alice.push_base(path, |_| text.clone());
        }
        if files.is_empty() {
            files.push(("src/a.rs".to_owned(), CODE.to_owned()));
        }
        let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let pull = alice.open("feature", &borrowed);
        let holds: Vec<Login> = policy.roles.iter().filter_map(|role| role.identity.clone()).collect();
        let seat = world.as_user(&bot(), &holds);
        Scene {
            world,
            pull,
            policy,
            keys: Keys::none(),
            seat,
            inbox: Inbox::default(),
            coming: Vec::new(),
            last: None,
            story: Story::new(title),
        }
    }

    fn cast(mut self, name: &str, identity: Option<Login>, change: impl FnOnce(&mut Role)) -> Self {
        let mut role = Role { name: RoleName::from(name), identity, blocks: true, paths: Vec::new(), ad_hoc: false };
        change(&mut role);
        self.policy.roles.push(role);
        self
    }
}
