//! Scenarios: a pull, its roles, the actions of reviewers and people, and real turns in between.
//!
//! The same builder yields a snapshot (`ScenarioRun::snapshot`) or drives a world turn by turn (`ScenarioRun::turn`);
//! tests compare with the output of `explain`. A test fails when the world is dropped with effects that it did not check.

mod actor;
mod catalogue;
mod interrupt;
mod report_builder;
mod scenario_run;
mod transcript;

use referee_core::mark::Keys;
use referee_core::model::{Access, Login};
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

/// A pull before it is opened: its people, its files and the roles that review it.
#[derive(Clone, Debug)]
pub struct Scenario {
    title: &'static str,
    quirks: Quirks,
    policy: Policy,
    base_files: Vec<(String, String)>,
    changed_files: Vec<(String, String)>,
}

/// The file that a pull adds by default.
pub const DEFAULT_FILE: &str =
    "fn a() {}\nfn b() {}\nfn login(token: &str) {\n    log(token);\n}\nfn c() {}\nfn d() {}\n";

impl Scenario {
    /// Describes a pull by alice. Alice, bob and carol have write access; carol is the operator; mallory may only read.
    pub fn new(title: &'static str) -> Self {
        let policy = Policy { operator: Some(Login::from("carol")), ci_required: false, ..Policy::default() };
        Self { title, quirks: Quirks::gitea_like(), policy, base_files: Vec::new(), changed_files: Vec::new() }
    }

    /// Selects a forge with these quirks.
    #[must_use]
    pub fn with_quirks(mut self, quirks: Quirks) -> Self {
        self.quirks = quirks;
        self
    }

    /// Adds a role that may block, posted by the bot.
    #[must_use]
    pub fn role(self, name: &str) -> Self {
        self.add_role(name, None, |_| {})
    }

    /// Adds a role that posts under its own identity.
    #[must_use]
    pub fn role_with_identity(self, name: &str, identity: &str) -> Self {
        self.add_role(name, Some(Login::from(identity)), |_| {})
    }

    /// Adds a role that reviews only these paths.
    #[must_use]
    pub fn role_for_paths(self, name: &str, paths: &str) -> Self {
        self.add_role(name, None, |role| role.paths.push(paths.to_owned()))
    }

    /// Adds a role that may not block.
    #[must_use]
    pub fn advisory_role(self, name: &str) -> Self {
        self.add_role(name, None, |role| role.blocks = false)
    }

    /// Adds a file to the base branch.
    #[must_use]
    pub fn base_has(mut self, path: &str, text: &str) -> Self {
        self.base_files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// Adds a file that the pull adds or changes.
    #[must_use]
    pub fn changes(mut self, path: &str, text: &str) -> Self {
        self.changed_files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// Changes the policy.
    #[must_use]
    pub fn with_policy(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    /// Opens the pull as alice.
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
        let client = world.client_with_tokens(&bot_login(), &holds);
        ScenarioRun {
            world,
            pull,
            policy,
            keys: Keys::empty(),
            client,
            inbox: Inbox::default(),
            pending: Vec::new(),
            last_turn: None,
            transcript: Transcript::new(title),
        }
    }

    fn add_role(mut self, name: &str, identity: Option<Login>, change: impl FnOnce(&mut Role)) -> Self {
        let mut role = Role { identity, ..Role::new(name) };
        change(&mut role);
        self.policy.roles.push(role);
        self
    }
}
