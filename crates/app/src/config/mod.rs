//! Loads the two config files into one [`ResolvedConfig`], and reports the errors of both together.
//!
//! `referee.toml` comes from the base of a pull, never from its head (SAF-2). The operator file belongs to the person who
//! runs referee. `key_table.rs` lists every key of both; validation, the JSON schema and the examples follow that table.

mod build;
mod error;
mod example;
mod key;
mod key_table;
mod layers;
mod loader;
mod origin;
mod reject;
mod resolved;
mod roles;
mod scalar;
mod schema;
mod secret;
mod source;
#[cfg(test)]
mod tests;
mod validate;
mod value;

use std::collections::BTreeMap;

use referee_core::model::{Login, RoleName};
use referee_core::policy::Role;

use build::PolicyValues;
use key_table::{OPERATOR_KEYS, REPOSITORY_KEYS};
use loader::ConfigLoader;
use value::ConfigNode;

pub(crate) use error::ConfigErrors;
pub(crate) use example::repository_example;
pub(crate) use resolved::{ForgeEntry, ResolvedConfig, ReviewerKind, RoleConfig, ValueOrigin, WorkerEntry};
pub(crate) use schema::build_config_schema;
pub(crate) use secret::{SecretSource, expand_home};
pub(crate) use value::parse_duration;

/// The sources of the config.
pub(crate) struct ConfigLayers<'a> {
    /// `referee.toml` at the base.
    pub(crate) repository: Option<ConfigFile<'a>>,
    pub(crate) operator: Option<ConfigFile<'a>>,
    pub(crate) flags: &'a [FlagOverride<'a>],
    /// Selects the defaults of local pulls, whose author may accept findings.
    pub(crate) is_local: bool,
    /// The git user, the default operator of local pulls.
    pub(crate) user: Option<Login>,
    /// Looks up an environment variable.
    pub(crate) env: &'a dyn Fn(&str) -> Option<String>,
}

/// The text of a config file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConfigFile<'a> {
    /// The name in messages, such as `referee.toml at main@3f2c1e9`.
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

/// A value given on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlagOverride<'a> {
    /// The flag, such as `--rounds`.
    pub(crate) name: &'a str,
    /// The key it overrides, such as `loop.rounds`.
    pub(crate) key: &'a str,
    pub(crate) value: &'a str,
}

/// Loads all layers. The error holds every fault of every layer.
pub(crate) fn load_config(layers: &ConfigLayers<'_>) -> Result<ResolvedConfig, ConfigErrors> {
    let mut loader = ConfigLoader::default();
    let repository = loader.load_file(REPOSITORY_KEYS, layers.repository.as_ref());
    let operator = loader.load_file(OPERATOR_KEYS, layers.operator.as_ref());
    let warnings = loader.check_references(&operator);
    let (repository, operator) = (repository.into_node(), operator.into_node());
    let resolved = layers::resolve_layers(&mut loader, layers, &repository, &operator);

    let mut origins = origin::collect_origins(&loader, &resolved, &repository, &operator);
    let mut policy = build::build_policy(&resolved, layers);
    let identities = build::build_entries(&operator, "identity", build::build_identity);
    let listed = repository.get("role").map(ConfigNode::as_list).unwrap_or_default();
    let mut roles: Vec<(Role, RoleConfig)> =
        listed.iter().filter_map(|node| build::build_role(node, &identities)).collect();
    if roles.is_empty() {
        roles = default_roles();
        origins.push(ValueOrigin { key: "role.static.builtin".into(), value: "true".into(), origin: "default".into() });
    }
    let (policy_roles, roles): (_, Vec<RoleConfig>) = roles.into_iter().unzip();
    policy.roles = policy_roles;
    policy.protected.extend(roles.iter().flat_map(|role| &role.rules).map(|path| escape_glob(path)));

    let values = PolicyValues(&resolved);
    policy.people_write = values.texts("people.write").iter().map(|login| Login::from(login.as_str())).collect();
    policy.bots = values.texts("people.bots");
    let keys = operator.get("mark.keys").map(ConfigNode::as_list).unwrap_or_default();
    let mut config = ResolvedConfig {
        policy,
        roles,
        rule_settings: build::build_rule_settings(&repository),
        exclude: values.texts("review.exclude"),
        checks: repository.entries("checks").map(|(name, argv)| (name.clone(), argv.to_strings())).collect(),
        max_threads: values.number("threads.max_threads").unwrap_or(usize::MAX),
        reply_template: values.text("threads.reply_template").filter(|path| !path.is_empty()).map(str::to_owned),
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
    loader.into_result()?;
    config.hash_role_inputs();
    config.warn_of_unused_keys();
    Ok(config)
}

/// Returns a glob that matches exactly this path.
fn escape_glob(path: &str) -> String {
    let path = path.trim_start_matches("./");
    path.chars().flat_map(|char| ["*?[]{}!\\".contains(char).then_some('\\'), Some(char)]).flatten().collect()
}

/// Returns the roles of a repository whose config names none (INTERFACE §2).
fn default_roles() -> Vec<(Role, RoleConfig)> {
    let name = RoleName::from("static");
    let role = Role { free: true, ..Role::new(name.clone()) };
    let (reviewer, tool_levels) = (ReviewerKind::Builtin, BTreeMap::new());
    vec![(role, RoleConfig { name, reviewer, tool_levels, rules: Vec::new(), identity: None })]
}
