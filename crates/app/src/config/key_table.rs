//! The keys of both files, and nothing else: what is not here is an unknown key.

use super::key::{ConfigKey, ValueType};

use ValueType::{
    Address, Argv, Bool, Date, Duration, Either, EntryName, Enum, FilePath, FixedList, List, Map, Name, Number, OneOf,
    OnlyTrue, Roles, Secret, Table, Text, Url, Usd, Version,
};

const U32_MAX: u64 = u32::MAX as u64;
const SETTINGS: &[&str] = &["off", "ask", "on"];
const APPROVALS: &[&str] = &["off", "lift", "on"];
const SEVERITIES: &[&str] = &["suggestion", "warning", "critical"];
const CLASSES: &[&str] = &["valid", "invalid", "stale", "already_fixed", "needs_human"];

/// `referee.toml`.
pub(super) const REPOSITORY_KEYS: &[ConfigKey] = &[
    ConfigKey::new("version", Version, "the version of this format"),
    ConfigKey::new("review", Table(REVIEW), "how a change is reviewed"),
    ConfigKey::new("loop", Table(LOOP), "when the loop ends"),
    ConfigKey::new(
        "gates",
        Table(GATES),
        "what may happen: `off` never, `ask` when the command line asks, `on` always",
    ),
    ConfigKey::new("threads", Table(THREADS), "how `comments` and `fix-comments` answer threads"),
    ConfigKey::new("budget", Table(BUDGET), "what one pull may take"),
    ConfigKey::new("guards", Table(GUARDS), "what happens when the forge cannot be read"),
    ConfigKey::new("break_glass", Table(BREAK_GLASS), "who may end the loop at once"),
    ConfigKey::new("people", Table(PEOPLE), "who is who where the forge does not say"),
    ConfigKey::new("work", Table(WORK), "what workers may do"),
    ConfigKey::new("checks", Map(&Argv), "what `referee check` runs, by name"),
    ConfigKey::new("role", Roles(ROLE), "the reviewers, in the order in which they are published"),
];

/// The operator file.
pub(super) const OPERATOR_KEYS: &[ConfigKey] = &[
    ConfigKey::new("gates", Table(GATES_CEILING), "a ceiling for the repository's gates"),
    ConfigKey::new("budget", Table(BUDGET_CEILING), "a ceiling for the repository's budget"),
    ConfigKey::new("forge", Map(&OneOf(FORGE_KINDS)), "the forges, as `[forge.<name>.<kind>]`"),
    ConfigKey::new("identity", Map(&Table(IDENTITY)), "other accounts that roles speak as"),
    ConfigKey::new("models", Map(&Table(MODEL)), "the models that roles name"),
    ConfigKey::new("commands", Map(&Table(COMMAND)), "the programs that roles name"),
    ConfigKey::new("agents", Map(&Table(AGENT)), "the programs that workers run"),
    ConfigKey::new("workers", Map(&Table(WORKER)), "the workers that projects name"),
    ConfigKey::new("serve", Table(SERVE), "the daemon"),
    ConfigKey::new("store", Table(STORE), "where the daemon keeps its queue"),
    ConfigKey::new("journal", Table(JOURNAL), "what the journal keeps"),
    ConfigKey::new("mark", Table(MARK), "what Marks are sealed with"),
];

const REVIEW: &[ConfigKey] = &[
    ConfigKey::layered("start", Enum(&["push", "ci_green", "request"]), "'push'", "when a review starts"),
    ConfigKey::layered("exclude", List(&Text), "['**/*.lock']", "files that no role reads"),
    ConfigKey::layered("max_inline", Number(0, U32_MAX), "15", "how many new findings get a thread in one post"),
    ConfigKey::layered("status", Bool, "true", "verdicts are written as statuses too"),
    ConfigKey::layered("notify", Bool, "true", "a change of what blocks is said in a comment"),
    ConfigKey::layered(
        "floor",
        FixedList(3, &Enum(SEVERITIES)),
        "['suggestion', 'warning', 'critical']",
        "the lowest severity reported anew in round 1, 2, 3 and later",
    ),
    ConfigKey::layered("risk_warnings", Number(0, U32_MAX), "3", "that many warnings block"),
    ConfigKey::layered("ci", Enum(&["required", "optional"]), "'required'", "`optional`: no CI at all passes")
        .with_local_default("'optional'"),
];

const LOOP: &[ConfigKey] = &[
    ConfigKey::layered(
        "rounds",
        Number(1, U32_MAX),
        "3",
        "how many times a role may ask for changes before a person is asked",
    ),
    ConfigKey::layered("operator", Text, "", "who is asked"),
];

const GATES: &[ConfigKey] = &[
    ConfigKey::layered("review", Enum(SETTINGS), "'on'", "own reviews, threads, comments and statuses"),
    ConfigKey::layered("approve", Enum(APPROVALS), "'lift'", "approving: `lift` only to lift an own block")
        .with_local_default("'on'"),
    ConfigKey::layered("reply", Enum(SETTINGS), "'ask'", "replies in threads of others").with_local_default("'on'"),
    ConfigKey::layered("resolve", Enum(SETTINGS), "'ask'", "resolving threads of others").with_local_default("'on'"),
    ConfigKey::layered("label", Enum(SETTINGS), "'ask'", "labels and assignees").with_local_default("'on'"),
    ConfigKey::layered("work", Enum(SETTINGS), "'ask'", "workers, push, new pulls"),
];

const GATES_CEILING: &[ConfigKey] = &[
    ConfigKey::new("review", Enum(SETTINGS), "at most"),
    ConfigKey::new("approve", Enum(APPROVALS), "at most"),
    ConfigKey::new("reply", Enum(SETTINGS), "at most"),
    ConfigKey::new("resolve", Enum(SETTINGS), "at most"),
    ConfigKey::new("label", Enum(SETTINGS), "at most"),
    ConfigKey::new("work", Enum(SETTINGS), "at most"),
];

const THREADS: &[ConfigKey] = &[
    ConfigKey::layered("enabled", Bool, "true", "the feature as a whole"),
    ConfigKey::layered("max_threads", Number(1, U32_MAX), "100", "how many threads one run reads"),
    ConfigKey::layered("auto_resolve", List(&Enum(CLASSES)), "[]", "classes that may be resolved beyond `valid`"),
    ConfigKey::layered("resolve_invalid", Bool, "false", "`invalid` may be resolved"),
    ConfigKey::layered("reply_needs_human", Bool, "false", "`needs_human` gets a reply"),
    ConfigKey::layered("require_checks", Bool, "true", "checks must have passed before anything is resolved"),
    ConfigKey::layered("max_resolve", Number(0, U32_MAX), "20", "more resolutions in one run go to a person"),
    ConfigKey::layered("reply_template", Text, "''", "a file of the repository that overrides the built-in text"),
];

const BUDGET: &[ConfigKey] = &[ConfigKey::new("pull", Table(PULL), "for all runs on one pull")];

const PULL: &[ConfigKey] = &[
    ConfigKey::layered("tokens", Number(0, u64::MAX), "2_000_000", "tokens"),
    ConfigKey::layered("usd", Usd, "2.00", "dollars"),
    ConfigKey::layered("runs", Number(0, U32_MAX), "20", "reviewer runs"),
    ConfigKey::layered("writes", Number(0, U32_MAX), "100", "texts written"),
];

const BUDGET_CEILING: &[ConfigKey] = &[ConfigKey::new("pull", Table(PULL_CEILING), "for all runs on one pull")];

const PULL_CEILING: &[ConfigKey] = &[
    ConfigKey::new("tokens", Number(0, u64::MAX), "at most"),
    ConfigKey::new("usd", Usd, "at most"),
    ConfigKey::new("runs", Number(0, U32_MAX), "at most"),
    ConfigKey::new("writes", Number(0, U32_MAX), "at most"),
];

const GUARDS: &[ConfigKey] =
    &[ConfigKey::layered("on_error", Enum(&["retry", "review"]), "'retry'", "`review`: fail open towards more review")];

const BREAK_GLASS: &[ConfigKey] = &[ConfigKey::layered("who", List(&Text), "[]", "by default the operator")];

const PEOPLE: &[ConfigKey] =
    &[ConfigKey::layered("write", List(&Text), "[]", "who counts as having write access where the token may not ask")];

const WORK: &[ConfigKey] = &[ConfigKey::layered(
    "protected",
    List(&Text),
    "['.github/**', '.gitea/**', '.forgejo/**', '.gitlab-ci.yml', 'referee.toml', 'CODEOWNERS']",
    "files that a worker may not touch",
)];

const ROLE: &[ConfigKey] = &[
    ConfigKey::new("name", Name, "its name, as it is shown on a pull").required(),
    ConfigKey::new("builtin", OnlyTrue, "the embedded rules review"),
    ConfigKey::new("model", EntryName("models"), "a model of the operator file reviews"),
    ConfigKey::new("command", EntryName("commands"), "a program of the operator file reviews"),
    ConfigKey::new("identity", EntryName("identity"), "an identity of the operator file; by default the forge's token"),
    ConfigKey::new("blocks", Bool, "its verdict may block").with_default("true"),
    ConfigKey::new("paths", List(&Text), "files it looks at; empty is all").with_default("[]"),
    ConfigKey::new("rules", List(&Text), "files with guidance, read at the base").with_default("[]"),
];

const FORGE_KINDS: &[ConfigKey] = &[
    ConfigKey::new("github", Table(PUBLIC_FORGE), "GitHub"),
    ConfigKey::new("gitlab", Table(PUBLIC_FORGE), "GitLab"),
    ConfigKey::new("gitea", Table(OWN_FORGE), "Gitea"),
    ConfigKey::new("forgejo", Table(OWN_FORGE), "Forgejo"),
];

const PUBLIC_FORGE: &[ConfigKey] =
    &[ConfigKey::new("url", Url, "where it is, if not at its public address"), TOKEN, AUTHOR_TOKEN, CA, PROXY];
const OWN_FORGE: &[ConfigKey] = &[ConfigKey::new("url", Url, "where it is").required(), TOKEN, AUTHOR_TOKEN, CA, PROXY];
const TOKEN: ConfigKey = ConfigKey::new("token", Secret, "who referee is there");
const AUTHOR_TOKEN: ConfigKey =
    ConfigKey::new("author_token", Secret, "who pushes and opens pulls for workers; by default the same");
const CA: ConfigKey = ConfigKey::new("ca", FilePath, "certificates to trust there beside the system's, in PEM");
const PROXY: ConfigKey = ConfigKey::new("proxy", Url, "what stands between here and there; the environment has no say");

const IDENTITY: &[ConfigKey] = &[
    ConfigKey::new("token", Secret, "its token"),
    ConfigKey::new("login", Text, "its name on the forge, where this job has no such token"),
];

const MODEL: &[ConfigKey] = &[
    ConfigKey::new(
        "provider",
        Enum(&["openai", "anthropic", "gemini", "ollama"]),
        "whose protocol; any compatible service is `openai` with its `base_url`",
    )
    .required(),
    ConfigKey::new("model", Text, "its name there").required(),
    ConfigKey::new("base_url", Url, "where it is, if not at the provider's own address"),
    ConfigKey::new("key", Secret, "the key"),
    ConfigKey::new("fallback", List(&EntryName("models")), "who is asked in an outage").with_default("[]"),
];

const COMMAND: &[ConfigKey] = &[
    ConfigKey::new("argv", Argv, "what is run").required(),
    ConfigKey::new(
        "format",
        Enum(&["referee", "sarif", "rdjson", "rdjsonl", "checkstyle", "cargo", "gitlab"]),
        "what it prints",
    )
    .with_default("'referee'"),
    ConfigKey::new("ok_codes", List(&Number(0, 255)), "exit codes of a run that went well").with_default("[0]"),
    ConfigKey::new("timeout", Duration, "how long it may take").with_default("'10m'"),
];

const AGENT: &[ConfigKey] =
    &[ConfigKey::new("argv", Argv, "what is run, with the prompt on its standard input").required()];

const WORKER: &[ConfigKey] = &[
    ConfigKey::new("agent", EntryName("agents"), "which agent").required(),
    ConfigKey::new("timeout", Duration, "how long it may take").with_default("'50m'"),
    ConfigKey::new("sandbox", Number(0, 9), "the lowest sandbox tier it may run in").with_default("2"),
    ConfigKey::new("egress", List(&Text), "what the sandbox may reach; nothing else").with_default("[]"),
    ConfigKey::new("env", List(&Text), "variables it gets").with_default("[]"),
];

const SERVE: &[ConfigKey] = &[
    ConfigKey::new("listen", Address, "where it listens").with_default("'127.0.0.1:7300'"),
    ConfigKey::new("sweep", Duration, "how often all pulls are looked at").with_default("'15m'"),
    ConfigKey::new("projects", List(&Text), "project files it dispatches").with_default("[]"),
    ConfigKey::new("hook", Map(&Table(HOOK)), "webhooks, at `/hooks/<name>`"),
];

const HOOK: &[ConfigKey] = &[
    ConfigKey::new("forge", EntryName("forge"), "which forge rings").required(),
    ConfigKey::new("secret", Secret, "what it signs with").required(),
];

const STORE: &[ConfigKey] =
    &[ConfigKey::new("queue", Either(&Enum(&["embedded"]), &Table(NATS)), "where the queue is")
        .with_default("'embedded'")];

const NATS: &[ConfigKey] = &[ConfigKey::new("nats", Text, "the server's address").required()];

const JOURNAL: &[ConfigKey] =
    &[ConfigKey::new("texts", Enum(&["off", "on"]), "`off`: hashes and lengths only").with_default("'on'")];

const MARK: &[ConfigKey] = &[
    ConfigKey::new("keys", List(&Secret), "the first signs, all verify").with_default("[]"),
    ConfigKey::new("since", Date, "own texts from before that day need no seal yet"),
];

/// Where a secret comes from.
pub(super) const SECRET_KEYS: &[ConfigKey] = &[
    ConfigKey::new("env", Text, "a variable"),
    ConfigKey::new("file", FilePath, "a file"),
    ConfigKey::new("command", Argv, "what a program prints"),
];
