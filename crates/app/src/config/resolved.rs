//! What both files come to: the policy that decides, and what the shell needs to act.

use std::collections::BTreeMap;

use referee_core::model::{Login, RoleName, Span, Time};
use referee_core::policy::Policy;
use referee_forge::ForgeKind;
use serde::Deserialize;

use super::secret::SecretSource;

/// What holds, every default resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResolvedConfig {
    /// What decides. `reply_template` and the logins of identities without `login` are still to be read.
    pub(crate) policy: Policy,
    /// Who reviews, in the order of the policy's roles.
    pub(crate) roles: Vec<RoleConfig>,
    /// Files that no role reads.
    pub(crate) exclude: Vec<String>,
    /// What `referee check` runs, by name.
    pub(crate) checks: BTreeMap<String, Vec<String>>,
    /// How many threads one run reads.
    pub(crate) max_threads: usize,
    /// The file, at the base, with the text of replies.
    pub(crate) reply_template: Option<String>,
    /// What happens when the forge cannot be read.
    pub(crate) on_error: OnError,
    /// The forges by name.
    pub(crate) forges: BTreeMap<String, ForgeEntry>,
    /// Other accounts that roles speak as.
    pub(crate) identities: BTreeMap<String, IdentityEntry>,
    /// The models that roles name.
    pub(crate) models: BTreeMap<String, ModelEntry>,
    /// The programs that roles name.
    pub(crate) commands: BTreeMap<String, CommandEntry>,
    /// The programs that workers run.
    pub(crate) agents: BTreeMap<String, Vec<String>>,
    /// The workers that projects name.
    pub(crate) workers: BTreeMap<String, WorkerEntry>,
    /// The daemon, if it is configured.
    pub(crate) serve: Option<ServeConfig>,
    /// Where the daemon keeps its queue.
    pub(crate) queue: QueueBackend,
    /// The journal keeps texts, not only their hashes and lengths.
    pub(crate) journal_texts: bool,
    /// What Marks are sealed with: the first signs, all verify.
    pub(crate) mark_keys: Vec<SecretSource>,
    /// Own texts from before that moment need no seal yet.
    pub(crate) mark_since: Option<Time>,
    /// Every value and where it comes from.
    pub(crate) origins: Vec<ValueOrigin>,
    /// What is right but may surprise.
    pub(crate) warnings: Vec<String>,
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueOrigin {
    /// Its dotted path.
    pub(crate) key: String,
    /// The value as it would stand in a file; of a secret its source.
    pub(crate) value: String,
    /// A file and line, a variable, a flag, or the default.
    pub(crate) origin: String,
}

/// Who reviews for a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RoleConfig {
    /// Its name.
    pub(crate) name: RoleName,
    /// Who reviews.
    pub(crate) reviewer: ReviewerKind,
    /// Files with guidance, read at the base.
    pub(crate) rules: Vec<String>,
    /// The name of the identity that speaks for it; `None` is the forge's token.
    pub(crate) identity: Option<String>,
}

/// Who reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReviewerKind {
    /// The embedded rules.
    Builtin,
    /// The program of that name; it is missing only where there is no operator file.
    Command(String),
    /// The model of that name; it is missing only where there is no operator file.
    Model(String),
}

/// What happens when the forge cannot be read (D16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnError {
    /// The next sweep tries again.
    Retry,
    /// It is reviewed all the same.
    Review,
}

/// A forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForgeEntry {
    /// Which software.
    pub(crate) kind: ForgeKind,
    /// Where it is; `None` is its public address.
    pub(crate) url: Option<String>,
    /// Who referee is there.
    pub(crate) token: Option<SecretSource>,
    /// Who pushes and opens pulls for workers; `None` is the same.
    pub(crate) author_token: Option<SecretSource>,
    /// A file with certificates to trust there; `~/` is the user's home.
    pub(crate) ca: Option<String>,
    /// What stands between here and there.
    pub(crate) proxy: Option<String>,
}

/// Another account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdentityEntry {
    /// Its token.
    pub(crate) token: Option<SecretSource>,
    /// Its name on the forge.
    pub(crate) login: Option<Login>,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelEntry {
    /// Whose protocol.
    pub(crate) provider: ModelProvider,
    /// Its name there.
    pub(crate) model: String,
    /// Where it is; `None` is the provider's own address.
    pub(crate) base_url: Option<String>,
    /// The key.
    pub(crate) key: Option<SecretSource>,
    /// Who is asked in an outage.
    pub(crate) fallback: Vec<String>,
}

/// Whose protocol a model speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModelProvider {
    /// OpenAI, and whatever is compatible with it.
    Openai,
    /// Anthropic.
    Anthropic,
    /// Gemini.
    Gemini,
    /// Ollama.
    Ollama,
}

/// A program that reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandEntry {
    /// What is run.
    pub(crate) argv: Vec<String>,
    /// What it prints, as `--report-format` names it.
    pub(crate) format: String,
    /// Exit codes of a run that went well.
    pub(crate) ok_codes: Vec<i32>,
    /// How long it may take.
    pub(crate) timeout: Span,
}

/// A worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerEntry {
    /// Which agent.
    pub(crate) agent: String,
    /// How long it may take.
    pub(crate) timeout: Span,
    /// The lowest sandbox tier it may run in.
    pub(crate) sandbox: u8,
    /// What the sandbox may reach.
    pub(crate) egress: Vec<String>,
    /// Variables it gets.
    pub(crate) env: Vec<String>,
}

/// The daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServeConfig {
    /// Where it listens.
    pub(crate) listen: String,
    /// How often all pulls are looked at.
    pub(crate) sweep: Span,
    /// Project files it dispatches.
    pub(crate) projects: Vec<String>,
    /// Webhooks by name.
    pub(crate) hooks: BTreeMap<String, WebhookEntry>,
}

/// A webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebhookEntry {
    /// Which forge rings.
    pub(crate) forge: String,
    /// What it signs with.
    pub(crate) secret: SecretSource,
}

/// Where the daemon keeps its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QueueBackend {
    /// In its own store.
    Embedded,
    /// On a server.
    Nats(String),
}
