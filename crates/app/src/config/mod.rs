//! Config: two files by trust, read together and refused together.
//!
//! `referee.toml` comes from the base of a pull, never from its head (SAF-2); the operator file comes from whoever runs
//! referee. What may stand in them is one table (`table.rs`); the walk, the JSON schema and the examples are held to it.

#![cfg_attr(not(test), expect(dead_code, unused_imports, reason = "the commands that read it are being built"))]

mod build;
mod error;
mod example;
mod layers;
mod origin;
mod reading;
mod roles;
mod schema;
mod secret;
mod setup;
mod shape;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod value;
mod walk;

use referee_core::model::{Login, RoleName};
use referee_core::policy::Role;

use build::Values;
use reading::Reading;
use table::{OPERATOR, REPOSITORY};
use value::At;

pub(crate) use error::{Errors, Told};
pub(crate) use example::{example, operator_example};
pub(crate) use schema::schema;
pub(crate) use secret::{Secret, SecretError, SecretText, place};
pub(crate) use setup::{
    CommandEntry, ForgeEntry, ForgeKind, Hook, Identity, Model, OnError, Origin, Provider, Queue, Reviewer, RoleSetup,
    Serve, Setup, WorkerEntry,
};
pub(crate) use value::time as length_of_time;

/// Everything that has a say.
pub(crate) struct Layers<'a> {
    /// `referee.toml` at the base.
    pub(crate) repository: Option<File<'a>>,
    /// The operator file.
    pub(crate) operator: Option<File<'a>>,
    /// What the command line overrides.
    pub(crate) flags: &'a [Flag<'a>],
    /// The pull is a local one: other defaults, and its author may accept findings.
    pub(crate) local: bool,
    /// The git user, who is the operator of local pulls by default.
    pub(crate) user: Option<Login>,
    /// The environment.
    pub(crate) env: &'a dyn Fn(&str) -> Option<String>,
}

/// A file's text and the name it is shown by, such as `referee.toml at main@3f2c1e9`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File<'a> {
    /// The name.
    pub(crate) name: &'a str,
    /// The text.
    pub(crate) text: &'a str,
}

/// A value given on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag<'a> {
    /// The flag, such as `--rounds`.
    pub(crate) name: &'a str,
    /// The key it overrides, such as `loop.rounds`.
    pub(crate) key: &'a str,
    /// What was given.
    pub(crate) value: &'a str,
}

/// Reads all layers. Whatever is wrong anywhere is in the errors.
pub(crate) fn load(layers: &Layers<'_>) -> Result<Setup, Errors> {
    let mut reading = Reading::default();
    let repository = reading.file(REPOSITORY, layers.repository.as_ref());
    let operator = reading.file(OPERATOR, layers.operator.as_ref());
    let warnings = reading.check_mentions(&operator);
    let (repository, operator) = (repository.into_at(), operator.into_at());
    let settled = layers::settle(&mut reading, layers, &repository, &operator);

    let mut origins = origin::all(&reading, &settled, &repository, &operator);
    let mut policy = build::policy(&settled, layers);
    let identities = build::entries(&operator, "identity", build::identity);
    let listed = repository.at("role").map(At::list).unwrap_or_default();
    let mut roles: Vec<(Role, RoleSetup)> = listed.iter().filter_map(|at| build::role(at, &identities)).collect();
    if roles.is_empty() {
        roles = default_roles();
        origins.push(Origin { key: "role.static.builtin".into(), value: "true".into(), from: "default".into() });
    }
    let (of_policy, roles) = roles.into_iter().unzip();
    policy.roles = of_policy;

    let values = Values(&settled);
    let keys = operator.at("mark.keys").map(At::list).unwrap_or_default();
    let setup = Setup {
        policy,
        roles,
        exclude: values.texts("review.exclude"),
        checks: repository.entries("checks").map(|(name, argv)| (name.clone(), argv.texts())).collect(),
        max_threads: values.number("threads.max_threads").unwrap_or(usize::MAX),
        reply_template: values.text("threads.reply_template").filter(|it| !it.is_empty()).map(str::to_owned),
        on_error: values.on_error(),
        people_write: values.texts("people.write").iter().map(|who| Login::from(who.as_str())).collect(),
        forges: build::entries(&operator, "forge", build::forge),
        identities,
        models: build::entries(&operator, "models", build::model),
        commands: build::entries(&operator, "commands", build::command),
        agents: build::entries(&operator, "agents", build::argv),
        workers: build::entries(&operator, "workers", build::worker),
        serve: operator.at("serve").and_then(build::serve),
        queue: build::queue(&operator),
        journal_texts: operator.at("journal.texts").and_then(At::text) != Some("off"),
        mark_keys: keys.iter().filter_map(Secret::of).collect(),
        mark_since: operator.at("mark.since").and_then(At::text).and_then(value::day),
        origins,
        warnings,
    };
    reading.errors()?;
    Ok(setup)
}

/// The roles where no file names any (INTERFACE §2). The role `general` joins them, for whoever has a model's key in
/// the environment, once a model can be run.
fn default_roles() -> Vec<(Role, RoleSetup)> {
    let name = RoleName::from("static");
    let role = Role { name: name.clone(), identity: None, blocks: true, paths: Vec::new(), ad_hoc: false };
    vec![(role, RoleSetup { name, reviewer: Reviewer::Builtin, rules: Vec::new(), identity: None })]
}
