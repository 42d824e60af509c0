//! Scenarios in the trade's words: a pull, its roles, what reviewers and people do, and the real turn in between.
//!
//! The same words make a snapshot (`Scene::snapshot`) or drive a world turn by turn (`Scene::turn`); what is expected is
//! what `explain` prints. Whatever was written must be looked at: leftovers fail when the world is dropped.

mod actor;
mod catalogue;
mod interrupt;
mod report_builder;
mod scenario_run;
mod transcript;

use referee_core::mark::Keys;
use referee_core::model::{Access, Login, RoleName};
use referee_core::policy::{Policy, Role};
use referee_turn::Inbox;

pub use actor::ScenarioActor;
pub use catalogue::{NAMED_SCENARIOS, NamedScenario};
pub use interrupt::TurnMoment;
pub use report_builder::{FindingBuilder, ReportBuilder, critical, report, suggestion, warning};
pub use scenario_run::ScenarioRun;

use crate::simulation::bot_login;
use crate::world::{Quirks, World};
use transcript::Transcript;

/// A pull before it is opened: who is there, what it changes, which roles read it.
#[derive(Clone, Debug)]
pub struct Scenario {
    title: &'static str,
    quirks: Quirks,
    policy: Policy,
    base_files: Vec<(String, String)>,
    changed_files: Vec<(String, String)>,
}

/// The file that a pull adds where nothing else is said.
pub const DEFAULT_FILE: &str =
    "fn a() {}\nfn b() {}\nfn login(token: &str) {\n    log(token);\n}\nfn c() {}\nfn d() {}\n";

impl Scenario {
    /// A pull by alice, who may write, as bob and carol may; carol is the operator; mallory may only read.
    pub fn new(title: &'static str) -> Self {
        let policy = Policy { operator: Some(Login::from("carol")), ci_required: false, ..Policy::default() };
        Self { title, quirks: Quirks::gitea_like(), policy, base_files: Vec::new(), changed_files: Vec::new() }
    }

    /// On a forge with these quirks.
    #[must_use]
    pub fn with_quirks(mut self, quirks: Quirks) -> Self {
        self.quirks = quirks;
        self
    }

    /// A role that may block; the bot speaks for it.
    #[must_use]
    pub fn role(self, name: &str) -> Self {
        self.add_role(name, None, |_| {})
    }

    /// A role with an identity of its own.
    #[must_use]
    pub fn role_with_identity(self, name: &str, identity: &str) -> Self {
        self.add_role(name, Some(Login::from(identity)), |_| {})
    }

    /// A role that reads these files only.
    #[must_use]
    pub fn role_for_paths(self, name: &str, paths: &str) -> Self {
        self.add_role(name, None, |role| role.paths.push(paths.to_owned()))
    }

    /// A role that may not block.
    #[must_use]
    pub fn advisory_role(self, name: &str) -> Self {
        self.add_role(name, None, |role| role.blocks = false)
    }

    /// A file that is there before.
    #[must_use]
    pub fn base_has(mut self, path: &str, text: &str) -> Self {
        self.base_files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// A file that the pull adds or changes.
    #[must_use]
    pub fn changes(mut self, path: &str, text: &str) -> Self {
        self.changed_files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// Other rules.
    #[must_use]
    pub fn with_policy(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    /// Alice opens the pull.
    pub fn open_pull(self) -> ScenarioRun {
        let Self { title, quirks, policy, base_files: base, changed_files: mut files } = self;
        let world = World::new(quirks);
        for (name, access) in
            [("alice", Access::Write), ("bob", Access::Write), ("carol", Access::Write), ("mallory", Access::Read)]
        {
            world.admit(name, access);
        }
        let alice = world.people().as_("alice");
        for (path, text) in &base {
            alice.push_base(path, |_| text.clone());
        }
        if files.is_empty() {
            files.push(("src/a.rs".to_owned(), DEFAULT_FILE.to_owned()));
        }
        let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let pull = alice.open_pull("feature", &borrowed);
        let holds: Vec<Login> = policy.roles.iter().filter_map(|role| role.identity.clone()).collect();
        let seat = world.client_with_tokens(&bot_login(), &holds);
        ScenarioRun {
            world,
            pull,
            policy,
            keys: Keys::empty(),
            client: seat,
            inbox: Inbox::default(),
            pending: Vec::new(),
            last_turn: None,
            transcript: Transcript::new(title),
        }
    }

    fn add_role(mut self, name: &str, identity: Option<Login>, change: impl FnOnce(&mut Role)) -> Self {
        let mut role = Role { name: RoleName::from(name), identity, blocks: true, paths: Vec::new(), ad_hoc: false };
        change(&mut role);
        self.policy.roles.push(role);
        self
    }
}
