//! Builds the typed config from checked values.

use std::collections::BTreeMap;

use referee_core::model::{Login, RoleName};
use referee_core::plan::Gate;
use referee_core::policy::{Policy, Role};
use referee_review::RuleSetting;
use serde::de::DeserializeOwned;

use super::ConfigLayers;
use super::layers::ResolvedValue;
use super::resolved::{
    CommandEntry, ForgeEntry, IdentityEntry, ModelEntry, OnError, QueueBackend, ReviewerKind, RoleConfig, ServeConfig,
    WebhookEntry, WorkerEntry,
};
use super::secret::SecretSource;
use super::value::{ConfigNode, ConfigValue};

/// Builds the policy, without roles.
pub(super) fn build_policy(resolved: &BTreeMap<String, ResolvedValue>, layers: &ConfigLayers<'_>) -> Policy {
    let values = PolicyValues(resolved);
    let mut policy = Policy { author_may_accept: layers.is_local, ..Policy::default() };
    set_if_some(&mut policy.start, values.parse_word("review.start"));
    set_if_some(&mut policy.max_inline, values.number("review.max_inline"));
    set_if_some(&mut policy.status, values.boolean("review.status"));
    set_if_some(&mut policy.notify, values.boolean("review.notify"));
    let floor: Option<Vec<_>> = values.get("review.floor").map(ConfigNode::parse_words);
    set_if_some(&mut policy.floor, floor.and_then(|floor| floor.try_into().ok()));
    set_if_some(&mut policy.risk_warnings, values.number("review.risk_warnings"));
    set_if_some(&mut policy.ci_required, values.text("review.ci").map(|ci| ci == "required"));
    set_if_some(&mut policy.rounds, values.number("loop.rounds"));
    policy.operator = values.text("loop.operator").filter(|login| !login.is_empty()).map(Login::from);
    set_if_some(&mut policy.approve, values.parse_word("gates.approve"));
    for (name, gate) in [
        ("gates.review", Gate::Review),
        ("gates.reply", Gate::Reply),
        ("gates.resolve", Gate::Resolve),
        ("gates.label", Gate::Label),
        ("gates.work", Gate::Work),
    ] {
        policy.gates.extend(values.parse_word(name).map(|setting| (gate, setting)));
    }
    set_if_some(&mut policy.threads.enabled, values.boolean("threads.enabled"));
    set_if_some(&mut policy.threads.auto_resolve, values.get("threads.auto_resolve").map(ConfigNode::parse_words));
    set_if_some(&mut policy.threads.resolve_invalid, values.boolean("threads.resolve_invalid"));
    set_if_some(&mut policy.threads.reply_needs_human, values.boolean("threads.reply_needs_human"));
    set_if_some(&mut policy.threads.require_checks, values.boolean("threads.require_checks"));
    set_if_some(&mut policy.threads.max_resolve, values.number("threads.max_resolve"));
    set_if_some(&mut policy.budget.tokens, values.number("budget.pull.tokens"));
    set_if_some(&mut policy.budget.micro_usd, values.number("budget.pull.usd"));
    set_if_some(&mut policy.budget.runs, values.number("budget.pull.runs"));
    set_if_some(&mut policy.budget.writes, values.number("budget.pull.writes"));
    policy.break_glass = values.texts("break_glass.who").iter().map(|login| Login::from(login.as_str())).collect();
    policy.protected = values.texts("work.protected");
    policy
}

/// Resolved values of the policy by their dotted paths.
pub(super) struct PolicyValues<'a>(pub(super) &'a BTreeMap<String, ResolvedValue>);

impl<'a> PolicyValues<'a> {
    pub(super) fn get(&self, path: &str) -> Option<&'a ConfigNode> {
        self.0.get(path).map(|resolved| &resolved.node)
    }

    pub(super) fn text(&self, path: &str) -> Option<&'a str> {
        self.get(path)?.as_text()
    }

    pub(super) fn texts(&self, path: &str) -> Vec<String> {
        self.get(path).map(ConfigNode::to_strings).unwrap_or_default()
    }

    pub(super) fn parse_word<T: DeserializeOwned>(&self, path: &str) -> Option<T> {
        self.get(path)?.parse_word()
    }

    pub(super) fn number<T: TryFrom<u64>>(&self, path: &str) -> Option<T> {
        self.get(path)?.as_number()
    }

    fn boolean(&self, path: &str) -> Option<bool> {
        self.get(path)?.as_bool()
    }

    pub(super) fn on_error(&self) -> OnError {
        self.parse_word("guards.on_error").unwrap_or(OnError::Retry)
    }
}

fn set_if_some<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// Builds a role's entry in the policy and its reviewer.
pub(super) fn build_role(
    node: &ConfigNode,
    identities: &BTreeMap<String, IdentityEntry>,
) -> Option<(Role, RoleConfig)> {
    let name = RoleName::from(node.get("name")?.as_text()?);
    let text = |key: &str| node.get(key).and_then(ConfigNode::as_text).map(str::to_owned);
    let reviewer = text("command").map(ReviewerKind::Command).or_else(|| text("model").map(ReviewerKind::Model));
    let identity = text("identity");
    let login = identity.as_ref().and_then(|identity| identities.get(identity)?.login.clone());
    let role = Role {
        identity: login,
        blocks: node.get("blocks")?.as_bool()?,
        paths: node.get("paths")?.to_strings(),
        free: reviewer.is_none(),
        ..Role::new(name.clone())
    };
    let rules = node.get("rules")?.to_strings();
    let tool_levels =
        node.entries("severity").filter_map(|(level, node)| Some((level.clone(), node.parse_word()?))).collect();
    let reviewer = reviewer.unwrap_or(ReviewerKind::Builtin);
    Some((role, RoleConfig { name, reviewer, tool_levels, rules, identity }))
}

/// Builds the entries of `[rules]`, then those of each `[[rules.in]]`, in the order of the file.
pub(super) fn build_rule_settings(repository: &ConfigNode) -> Vec<RuleSetting> {
    let Some(rules) = repository.get("rules") else { return Vec::new() };
    let mut settings = build_rule_table(rules, &[]);
    for table in rules.get("in").map(ConfigNode::as_list).unwrap_or_default() {
        let paths = table.get("paths").map(ConfigNode::to_strings).unwrap_or_default();
        settings.extend(build_rule_table(table, &paths));
    }
    settings
}

fn build_rule_table(table: &ConfigNode, paths: &[String]) -> Vec<RuleSetting> {
    let mut entries: Vec<(&String, &ConfigNode)> = match &table.value {
        ConfigValue::Table(table) => table.iter().collect(),
        _ => Vec::new(),
    };
    entries.sort_by_key(|(_, node)| node.location.as_ref().map(|location| location.span.start));
    let settings = entries.into_iter().filter_map(|(rule, node)| {
        Some(RuleSetting { rule: rule.clone(), paths: paths.to_vec(), level: node.parse_word()? })
    });
    settings.collect()
}

/// Builds every entry of a table of the operator file.
pub(super) fn build_entries<T>(
    operator: &ConfigNode,
    table: &str,
    build: fn(&ConfigNode) -> Option<T>,
) -> BTreeMap<String, T> {
    operator.entries(table).filter_map(|(name, node)| Some((name.clone(), build(node)?))).collect()
}

pub(super) fn parse_argv(node: &ConfigNode) -> Option<Vec<String>> {
    Some(node.get("argv")?.to_strings())
}

pub(super) fn build_forge(node: &ConfigNode) -> Option<ForgeEntry> {
    let (kind, entry) =
        ["github", "gitlab", "gitea", "forgejo"].into_iter().find_map(|kind| Some((kind, node.get(kind)?)))?;
    Some(ForgeEntry {
        kind: parse_word(kind)?,
        url: entry.get("url").and_then(ConfigNode::as_text).map(str::to_owned),
        token: build_secret_source(entry, "token"),
        author_token: build_secret_source(entry, "author_token"),
        ca: entry.get("ca").and_then(ConfigNode::as_text).map(str::to_owned),
        proxy: entry.get("proxy").and_then(ConfigNode::as_text).map(str::to_owned),
        timeout: entry.get("timeout").and_then(ConfigNode::as_duration),
    })
}

pub(super) fn build_identity(node: &ConfigNode) -> Option<IdentityEntry> {
    Some(IdentityEntry {
        token: build_secret_source(node, "token"),
        login: node.get("login").and_then(ConfigNode::as_text).map(Login::from),
    })
}

pub(super) fn build_model(node: &ConfigNode) -> Option<ModelEntry> {
    Some(ModelEntry {
        provider: node.get("provider")?.parse_word()?,
        model: node.get("model")?.as_text()?.to_owned(),
        base_url: node.get("base_url").and_then(ConfigNode::as_text).map(str::to_owned),
        key: build_secret_source(node, "key"),
        fallback: node.get("fallback")?.to_strings(),
    })
}

pub(super) fn build_command(node: &ConfigNode) -> Option<CommandEntry> {
    Some(CommandEntry {
        argv: parse_argv(node)?,
        format: node.get("format")?.as_text()?.to_owned(),
        ok_codes: node
            .get("ok_codes")?
            .as_list()
            .iter()
            .filter_map(ConfigNode::as_number::<u32>)
            .map(u32::cast_signed)
            .collect(),
        timeout: node.get("timeout")?.as_duration()?,
    })
}

pub(super) fn build_worker(node: &ConfigNode) -> Option<WorkerEntry> {
    Some(WorkerEntry {
        agent: node.get("agent")?.as_text()?.to_owned(),
        timeout: node.get("timeout")?.as_duration()?,
        sandbox: node.get("sandbox")?.as_number()?,
        egress: node.get("egress")?.to_strings(),
        env: node.get("env")?.to_strings(),
    })
}

pub(super) fn build_serve(node: &ConfigNode) -> Option<ServeConfig> {
    Some(ServeConfig {
        listen: node.get("listen")?.as_text()?.to_owned(),
        sweep: node.get("sweep")?.as_duration()?,
        projects: node.get("projects")?.to_strings(),
        hooks: build_entries(node, "hook", build_webhook),
    })
}

fn build_webhook(node: &ConfigNode) -> Option<WebhookEntry> {
    Some(WebhookEntry { forge: node.get("forge")?.as_text()?.to_owned(), secret: build_secret_source(node, "secret")? })
}

pub(super) fn build_queue(operator: &ConfigNode) -> QueueBackend {
    let nats = operator.get("store.queue.nats").and_then(ConfigNode::as_text);
    nats.map_or(QueueBackend::Embedded, |address| QueueBackend::Nats(address.to_owned()))
}

fn build_secret_source(node: &ConfigNode, key: &str) -> Option<SecretSource> {
    SecretSource::from_node(node.get(key)?)
}

fn parse_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    let value = ConfigValue::Text(word.to_owned());
    ConfigNode { value, location: None }.parse_word()
}
