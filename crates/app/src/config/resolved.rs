//! The typed config: the policy for `decide`, and the settings of the program around it.

use std::collections::BTreeMap;

use referee_core::hash::Hash;
use referee_core::model::{Login, RoleName, Span, Time};
use referee_core::policy::Policy;
use referee_forge::ForgeKind;
use referee_review::{RuleLevel, RuleLevels, RuleSetting};
use serde::Deserialize;

use super::secret::SecretSource;

/// The whole config, with every default applied.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResolvedConfig {
    /// The policy. The caller still fills in the text of `reply_template` and the logins of identities without `login`.
    pub(crate) policy: Policy,
    /// In the order of the policy's roles.
    pub(crate) roles: Vec<RoleConfig>,
    /// The entries of `[rules]` in the order of the file.
    pub(crate) rule_settings: Vec<RuleSetting>,
    /// Globs of files that no role reviews.
    pub(crate) exclude: Vec<String>,
    /// Commands of `referee check`, by name.
    pub(crate) checks: BTreeMap<String, Vec<String>>,
    /// Maximum number of threads that one run reads.
    pub(crate) max_threads: usize,
    /// Path of the reply template, read at the base.
    pub(crate) reply_template: Option<String>,
    pub(crate) on_error: OnError,
    pub(crate) forges: BTreeMap<String, ForgeEntry>,
    pub(crate) identities: BTreeMap<String, IdentityEntry>,
    pub(crate) models: BTreeMap<String, ModelEntry>,
    /// Reviewer programs.
    pub(crate) commands: BTreeMap<String, CommandEntry>,
    /// Command lines of the agents that workers run.
    pub(crate) agents: BTreeMap<String, Vec<String>>,
    pub(crate) workers: BTreeMap<String, WorkerEntry>,
    pub(crate) serve: Option<ServeConfig>,
    pub(crate) queue: QueueBackend,
    /// Whether the journal keeps texts, not only their hashes and lengths.
    pub(crate) journal_texts: bool,
    /// The keys of Mark seals: the first one signs, all of them verify.
    pub(crate) mark_keys: Vec<SecretSource>,
    /// Texts that referee wrote before this time may be unsealed.
    pub(crate) mark_since: Option<Time>,
    pub(crate) origins: Vec<ValueOrigin>,
    /// Problems that do not prevent a run.
    pub(crate) warnings: Vec<String>,
}

impl ResolvedConfig {
    /// Warns of keys that are set and that this version does not use.
    pub(super) fn warn_of_unused_keys(&mut self) {
        let mut warn = |key: &str, reason: &str| self.warnings.push(format!("{key} has no effect: {reason}"));
        if self.on_error == OnError::Review {
            warn("`guards.on_error = \"review\"`", "a pull that cannot be read is read again, and not reviewed");
        }
        if self.serve.is_some() || self.queue != QueueBackend::Embedded {
            warn("`[serve]` or `[store]`", "this version has no daemon");
        }
        if !self.models.is_empty() {
            warn("`[models]`", "this version runs no models");
        }
        for role in self.roles.iter().filter(|role| !role.rules.is_empty()) {
            warn(&format!("`rules` of the role `{}`", role.name), "only workers get the guidance, not the reviewer");
        }
    }

    /// Returns the severities that the config sets for the results of a role, which may be ad hoc.
    pub(crate) fn rule_levels(&self, role: &RoleName) -> RuleLevels {
        let tool_levels =
            self.roles.iter().find(|config| config.name == *role).map(|config| config.tool_levels.clone());
        RuleLevels::for_role(role, tool_levels.unwrap_or_default(), self.rule_settings.clone())
    }

    /// Records what the config says about each role's results, so that a change of it widens the next review (D34).
    pub(super) fn hash_role_inputs(&mut self) {
        for config in &self.roles {
            let inputs = Hash::digest_value(&(self.rule_levels(&config.name), &config.rules));
            let role = self.policy.roles.iter_mut().find(|role| role.name == config.name);
            role.into_iter().for_each(|role| role.inputs = Some(inputs.clone()));
        }
    }
}

/// A value and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueOrigin {
    /// Dotted path of the key.
    pub(crate) key: String,
    /// The value in TOML; for a secret, its source.
    pub(crate) value: String,
    /// A file and line, a variable, a flag, or the default.
    pub(crate) origin: String,
}

/// How a role is reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RoleConfig {
    pub(crate) name: RoleName,
    pub(crate) reviewer: ReviewerKind,
    /// Severities for the tool's own levels (D37).
    pub(crate) tool_levels: BTreeMap<String, RuleLevel>,
    /// Files with guidance for the reviewer, read at the base.
    pub(crate) rules: Vec<String>,
    /// Name of the identity that posts the role's reviews; `None` is the account of the forge's token.
    pub(crate) identity: Option<String>,
}

/// The reviewer of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReviewerKind {
    /// The embedded rules.
    Builtin,
    /// Name of an entry of `[commands]`. The entry is missing only where there is no operator file.
    Command(String),
    /// Name of an entry of `[models]`. The entry is missing only where there is no operator file.
    Model(String),
}

/// What happens when the forge cannot be read (D16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnError {
    /// The next sweep tries again.
    Retry,
    /// The review starts nevertheless.
    Review,
}

/// An entry of `[forge.<name>.<kind>]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForgeEntry {
    pub(crate) kind: ForgeKind,
    /// `None` is the forge's public address.
    pub(crate) url: Option<String>,
    pub(crate) token: Option<SecretSource>,
    /// Token that pushes and opens pulls for workers; `None` is `token`.
    pub(crate) author_token: Option<SecretSource>,
    /// Path of a PEM file with additional CA certificates; `~/` is the home directory.
    pub(crate) ca: Option<String>,
    pub(crate) proxy: Option<String>,
    /// Time limit of one request; `None` is the client's default.
    pub(crate) timeout: Option<Span>,
}

/// An additional account that posts for roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdentityEntry {
    pub(crate) token: Option<SecretSource>,
    /// The login, for a job that does not have the token.
    pub(crate) login: Option<Login>,
}

/// An entry of `[models]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelEntry {
    pub(crate) provider: ModelProvider,
    /// Name of the model at the provider.
    pub(crate) model: String,
    /// `None` is the provider's own address.
    pub(crate) base_url: Option<String>,
    pub(crate) key: Option<SecretSource>,
    /// Names of the models to try in an outage, in order.
    pub(crate) fallback: Vec<String>,
}

/// The API protocol of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModelProvider {
    /// OpenAI and compatible services.
    Openai,
    Anthropic,
    Gemini,
    Ollama,
}

/// A reviewer program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandEntry {
    pub(crate) argv: Vec<String>,
    /// The format of its output, as `--report-format` names it.
    pub(crate) format: String,
    /// Exit codes that mean success.
    pub(crate) ok_codes: Vec<i32>,
    pub(crate) timeout: Span,
}

/// An entry of `[workers]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerEntry {
    /// Name of an entry of `[agents]`.
    pub(crate) agent: String,
    pub(crate) timeout: Span,
    /// The lowest sandbox tier that the worker may run in.
    pub(crate) sandbox: u8,
    /// Hosts and ports that the sandbox may connect to.
    pub(crate) egress: Vec<String>,
    /// Environment variables passed to the worker.
    pub(crate) env: Vec<String>,
}

/// Settings of the daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServeConfig {
    pub(crate) listen: String,
    /// Interval between two passes over all pulls.
    pub(crate) sweep: Span,
    /// Paths of the project files to dispatch.
    pub(crate) projects: Vec<String>,
    pub(crate) hooks: BTreeMap<String, WebhookEntry>,
}

/// An entry of `[serve.hook]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebhookEntry {
    /// Name of the forge that sends the webhook.
    pub(crate) forge: String,
    /// Source of the signing secret.
    pub(crate) secret: SecretSource,
}

/// Storage of the daemon's queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QueueBackend {
    /// The daemon's own store.
    Embedded,
    /// Address of a NATS server.
    Nats(String),
}
