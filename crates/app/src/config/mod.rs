//! Config: two files by trust, read together and refused together.
//!
//! `referee.toml` comes from the base of a pull, never from its head (SAF-2); the operator file comes from whoever runs
//! referee. What may stand in them is one table (`table.rs`); the walk, the JSON schema and the examples are held to it.

#![cfg_attr(not(test), expect(dead_code, unused_imports, reason = "the commands that read it are being built"))]

mod build;
mod error;
mod example;
mod key;
mod key_table;
mod layers;
mod loader;
mod origin;
mod resolved;
mod roles;
mod schema;
mod secret;
mod source;
#[cfg(test)]
mod tests;
mod validate;
mod value;

use referee_core::model::{Login, RoleName};
use referee_core::policy::Role;

use build::PolicyValues;
use key_table::{OPERATOR_KEYS, REPOSITORY_KEYS};
use loader::ConfigLoader;
use value::ConfigNode;

pub(crate) use error::{ConfigErrorEntry, ConfigErrors};
pub(crate) use example::{operator_example, repository_example};
pub(crate) use resolved::{
    CommandEntry, ForgeEntry, IdentityEntry, ModelEntry, ModelProvider, OnError, QueueBackend, ResolvedConfig,
    ReviewerKind, RoleConfig, ServeConfig, ValueOrigin, WebhookEntry, WorkerEntry,
};
pub(crate) use schema::build_config_schema;
pub(crate) use secret::{SecretError, SecretSource, SecretText, expand_home};
pub(crate) use value::parse_duration as length_of_time;

/// Everything that has a say.
pub(crate) struct ConfigLayers<'a> {
    /// `referee.toml` at the base.
    pub(crate) repository: Option<ConfigFile<'a>>,
    /// The operator file.
    pub(crate) operator: Option<ConfigFile<'a>>,
    /// What the command line overrides.
    pub(crate) flags: &'a [FlagOverride<'a>],
    /// The pull is a local one: other defaults, and its author may accept findings.
    pub(crate) is_local: bool,
    /// The git user, who is the operator of local pulls by default.
    pub(crate) user: Option<Login>,
    /// The environment.
    pub(crate) env: &'a dyn Fn(&str) -> Option<String>,
}

/// A file's text and the name it is shown by, such as `referee.toml at main@3f2c1e9`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConfigFile<'a> {
    /// The name.
    pub(crate) name: &'a str,
    /// The text.
    pub(crate) text: &'a str,
}

/// A value given on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlagOverride<'a> {
    /// The flag, such as `--rounds`.
    pub(crate) name: &'a str,
    /// The key it overrides, such as `loop.rounds`.
    pub(crate) key: &'a str,
    /// What was given.
    pub(crate) value: &'a str,
}

/// Reads all layers. Whatever is wrong anywhere is in the errors.
pub(crate) fn load_config(layers: &ConfigLayers<'_>) -> Result<ResolvedConfig, ConfigErrors> {
    let mut reading = ConfigLoader::default();
    let repository = reading.load_file(REPOSITORY_KEYS, layers.repository.as_ref());
    let operator = reading.load_file(OPERATOR_KEYS, layers.operator.as_ref());
    let warnings = reading.check_references(&operator);
    let (repository, operator) = (repository.into_node(), operator.into_node());
    let settled = layers::resolve_layers(&mut reading, layers, &repository, &operator);

    let mut origins = origin::collect_origins(&reading, &settled, &repository, &operator);
    let mut policy = build::build_policy(&settled, layers);
    let identities = build::build_entries(&operator, "identity", build::build_identity);
    let listed = repository.get("role").map(ConfigNode::as_list).unwrap_or_default();
    let mut roles: Vec<(Role, RoleConfig)> =
        listed.iter().filter_map(|at| build::build_role(at, &identities)).collect();
    if roles.is_empty() {
        roles = default_roles();
        origins.push(ValueOrigin { key: "role.static.builtin".into(), value: "true".into(), origin: "default".into() });
    }
    let (of_policy, roles) = roles.into_iter().unzip();
    policy.roles = of_policy;

    let values = PolicyValues(&settled);
    policy.people_write = values.texts("people.write").iter().map(|who| Login::from(who.as_str())).collect();
    let keys = operator.get("mark.keys").map(ConfigNode::as_list).unwrap_or_default();
    let setup = ResolvedConfig {
        policy,
        roles,
        exclude: values.texts("review.exclude"),
        checks: repository.entries("checks").map(|(name, argv)| (name.clone(), argv.to_strings())).collect(),
        max_threads: values.number("threads.max_threads").unwrap_or(usize::MAX),
        reply_template: values.text("threads.reply_template").filter(|it| !it.is_empty()).map(str::to_owned),
        on_error: values.on_error(),
        forges: build::build_entries(&operator, "forge", build::build_forge),
        identities,
        models: build::build_entries(&operator, "models", build::build_model),
        commands: build::build_entries(&operator, "commands", build::build_command),
        agents: build::build_entries(&operator, "agents", build::parse_argv),
        workers: build::build_entries(&operator, "workers", build::build_worker),
        serve: operator.get("serve").and_then(build::build_serve),
        queue: build::build_queue(&operator),
        journal_texts: operator.get("journal.texts").and_then(ConfigNode::as_text) != Some("off"),
        mark_keys: keys.iter().filter_map(SecretSource::from_node).collect(),
        mark_since: operator.get("mark.since").and_then(ConfigNode::as_text).and_then(value::parse_day),
        origins,
        warnings,
    };
    reading.into_result()?;
    Ok(setup)
}

/// The roles where no file names any (INTERFACE §2). The role `general` joins them, for whoever has a model's key in
/// the environment, once a model can be run.
fn default_roles() -> Vec<(Role, RoleConfig)> {
    let name = RoleName::from("static");
    let role = Role { name: name.clone(), identity: None, blocks: true, paths: Vec::new(), ad_hoc: false };
    vec![(role, RoleConfig { name, reviewer: ReviewerKind::Builtin, rules: Vec::new(), identity: None })]
}
