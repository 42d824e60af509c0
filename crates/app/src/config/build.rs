//! From checked values to the types the program works with.

use std::collections::BTreeMap;

use referee_core::model::{Login, RoleName};
use referee_core::plan::Gate;
use referee_core::policy::{Policy, Role};
use serde::de::DeserializeOwned;

use super::Layers;
use super::layers::Settled;
use super::secret::Secret;
use super::setup::{
    CommandEntry, ForgeEntry, Hook, Identity, Model, OnError, Queue, Reviewer, RoleSetup, Serve, WorkerEntry,
};
use super::value::At;

/// The policy, without roles.
pub(super) fn policy(settled: &BTreeMap<String, Settled>, layers: &Layers<'_>) -> Policy {
    let values = Values(settled);
    let mut policy = Policy { author_may_accept: layers.local, ..Policy::default() };
    set(&mut policy.start, values.word("review.start"));
    set(&mut policy.max_inline, values.number("review.max_inline"));
    set(&mut policy.status, values.switch("review.status"));
    set(&mut policy.notify, values.switch("review.notify"));
    let floor: Option<Vec<_>> = values.at("review.floor").map(At::words);
    set(&mut policy.floor, floor.and_then(|floor| floor.try_into().ok()));
    set(&mut policy.risk_warnings, values.number("review.risk_warnings"));
    set(&mut policy.ci_required, values.text("review.ci").map(|ci| ci == "required"));
    set(&mut policy.rounds, values.number("loop.rounds"));
    policy.operator = values.text("loop.operator").filter(|it| !it.is_empty()).map(Login::from);
    set(&mut policy.approve, values.word("gates.approve"));
    for (name, gate) in [
        ("gates.review", Gate::Review),
        ("gates.reply", Gate::Reply),
        ("gates.resolve", Gate::Resolve),
        ("gates.label", Gate::Label),
        ("gates.work", Gate::Work),
    ] {
        policy.gates.extend(values.word(name).map(|setting| (gate, setting)));
    }
    set(&mut policy.threads.enabled, values.switch("threads.enabled"));
    set(&mut policy.threads.auto_resolve, values.at("threads.auto_resolve").map(At::words));
    set(&mut policy.threads.resolve_invalid, values.switch("threads.resolve_invalid"));
    set(&mut policy.threads.reply_needs_human, values.switch("threads.reply_needs_human"));
    set(&mut policy.threads.require_checks, values.switch("threads.require_checks"));
    set(&mut policy.threads.max_resolve, values.number("threads.max_resolve"));
    set(&mut policy.budget.tokens, values.number("budget.pull.tokens"));
    set(&mut policy.budget.micro_usd, values.number("budget.pull.usd"));
    set(&mut policy.budget.runs, values.number("budget.pull.runs"));
    set(&mut policy.budget.writes, values.number("budget.pull.writes"));
    policy.break_glass = values.texts("break_glass.who").iter().map(|who| Login::from(who.as_str())).collect();
    policy.protected = values.texts("work.protected");
    policy
}

/// Values of the policy by their dotted paths.
pub(super) struct Values<'a>(pub(super) &'a BTreeMap<String, Settled>);

impl<'a> Values<'a> {
    pub(super) fn at(&self, path: &str) -> Option<&'a At> {
        self.0.get(path).map(|settled| &settled.at)
    }

    pub(super) fn text(&self, path: &str) -> Option<&'a str> {
        self.at(path)?.text()
    }

    pub(super) fn texts(&self, path: &str) -> Vec<String> {
        self.at(path).map(At::texts).unwrap_or_default()
    }

    pub(super) fn word<T: DeserializeOwned>(&self, path: &str) -> Option<T> {
        self.at(path)?.word()
    }

    pub(super) fn number<T: TryFrom<u64>>(&self, path: &str) -> Option<T> {
        self.at(path)?.number()
    }

    fn switch(&self, path: &str) -> Option<bool> {
        self.at(path)?.switch()
    }

    pub(super) fn on_error(&self) -> OnError {
        self.word("guards.on_error").unwrap_or(OnError::Retry)
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// A role for the policy, and who reviews for it.
pub(super) fn role(at: &At, identities: &BTreeMap<String, Identity>) -> Option<(Role, RoleSetup)> {
    let name = RoleName::from(at.at("name")?.text()?);
    let named = |key: &str| at.at(key).and_then(At::text).map(str::to_owned);
    let reviewer = named("command").map(Reviewer::Command).or_else(|| named("model").map(Reviewer::Model));
    let identity = named("identity");
    let speaks = identity.as_ref().and_then(|identity| identities.get(identity)?.login.clone());
    let role = Role {
        name: name.clone(),
        identity: speaks,
        blocks: at.at("blocks")?.switch()?,
        paths: at.at("paths")?.texts(),
        ad_hoc: false,
    };
    let rules = at.at("rules")?.texts();
    Some((role, RoleSetup { name, reviewer: reviewer.unwrap_or(Reviewer::Builtin), rules, identity }))
}

/// All entries of a table of the operator file.
pub(super) fn entries<T>(operator: &At, table: &str, read: fn(&At) -> Option<T>) -> BTreeMap<String, T> {
    operator.entries(table).filter_map(|(name, at)| Some((name.clone(), read(at)?))).collect()
}

pub(super) fn argv(at: &At) -> Option<Vec<String>> {
    Some(at.at("argv")?.texts())
}

pub(super) fn forge(at: &At) -> Option<ForgeEntry> {
    let (kind, entry) =
        ["github", "gitlab", "gitea", "forgejo"].into_iter().find_map(|kind| Some((kind, at.at(kind)?)))?;
    Some(ForgeEntry {
        kind: word(kind)?,
        url: entry.at("url").and_then(At::text).map(str::to_owned),
        token: secret(entry, "token"),
        author_token: secret(entry, "author_token"),
        ca: entry.at("ca").and_then(At::text).map(str::to_owned),
        proxy: entry.at("proxy").and_then(At::text).map(str::to_owned),
    })
}

pub(super) fn identity(at: &At) -> Option<Identity> {
    Some(Identity { token: secret(at, "token"), login: at.at("login").and_then(At::text).map(Login::from) })
}

pub(super) fn model(at: &At) -> Option<Model> {
    Some(Model {
        provider: at.at("provider")?.word()?,
        model: at.at("model")?.text()?.to_owned(),
        base_url: at.at("base_url").and_then(At::text).map(str::to_owned),
        key: secret(at, "key"),
        fallback: at.at("fallback")?.texts(),
    })
}

pub(super) fn command(at: &At) -> Option<CommandEntry> {
    Some(CommandEntry {
        argv: argv(at)?,
        format: at.at("format")?.text()?.to_owned(),
        ok_codes: at.at("ok_codes")?.list().iter().filter_map(At::number::<u32>).map(u32::cast_signed).collect(),
        timeout: at.at("timeout")?.time()?,
    })
}

pub(super) fn worker(at: &At) -> Option<WorkerEntry> {
    Some(WorkerEntry {
        agent: at.at("agent")?.text()?.to_owned(),
        timeout: at.at("timeout")?.time()?,
        sandbox: at.at("sandbox")?.number()?,
        egress: at.at("egress")?.texts(),
        env: at.at("env")?.texts(),
    })
}

pub(super) fn serve(at: &At) -> Option<Serve> {
    Some(Serve {
        listen: at.at("listen")?.text()?.to_owned(),
        sweep: at.at("sweep")?.time()?,
        projects: at.at("projects")?.texts(),
        hooks: entries(at, "hook", hook),
    })
}

fn hook(at: &At) -> Option<Hook> {
    Some(Hook { forge: at.at("forge")?.text()?.to_owned(), secret: secret(at, "secret")? })
}

pub(super) fn queue(operator: &At) -> Queue {
    let nats = operator.at("store.queue.nats").and_then(At::text);
    nats.map_or(Queue::Embedded, |address| Queue::Nats(address.to_owned()))
}

fn secret(at: &At, key: &str) -> Option<Secret> {
    Secret::of(at.at(key)?)
}

fn word<T: DeserializeOwned>(word: &str) -> Option<T> {
    let value = super::value::Value::Text(word.to_owned());
    At { value, place: None }.word()
}
