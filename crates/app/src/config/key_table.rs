//! The keys of both files. Any other key is unknown and an error.

use super::key::{ConfigKey, ValueType};

use ValueType::{
    Address, Argv, Bool, Date, Duration, Either, EntryName, Enum, FilePath, FixedList, Glob, Globs, List, Map, Name,
    Number, OneOf, OnlyTrue, Roles, Secret, Table, Text, Url, Usd, Version,
};

const U32_MAX: u64 = u32::MAX as u64;
const SETTINGS: &[&str] = &["off", "ask", "on"];
const APPROVALS: &[&str] = &["off", "lift", "on"];
const SEVERITIES: &[&str] = &["suggestion", "warning", "critical"];
const LEVELS: ValueType = Enum(&["off", "suggestion", "warning", "critical"]);
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
    ConfigKey::new("budget", Table(BUDGET), "what one pull may cost"),
    ConfigKey::new("guards", Table(GUARDS), "what happens when the forge cannot be read"),
    ConfigKey::new("break_glass", Table(BREAK_GLASS), "who may end the loop at once"),
    ConfigKey::new("people", Table(PEOPLE), "who is who where the forge does not say"),
    ConfigKey::new(
        "rules",
        Globs(RULES, &LEVELS),
        "severities of rules, built in or a linter's, by id or glob; the last match wins",
    ),
    ConfigKey::new("work", Table(WORK), "what workers may do"),
    ConfigKey::new("checks", Map(&Argv), "what `referee check` runs, by name"),
    ConfigKey::new("role", Roles(ROLE), "the reviewer roles, in the order in which their reviews are posted"),
];

/// The operator file.
pub(super) const OPERATOR_KEYS: &[ConfigKey] = &[
    ConfigKey::new("gates", Table(GATES_CEILING), "a ceiling for the repository's gates"),
    ConfigKey::new("budget", Table(BUDGET_CEILING), "a ceiling for the repository's budget"),
    ConfigKey::new("forge", Map(&OneOf(FORGE_KINDS)), "the forges, as `[forge.<name>.<kind>]`"),
    ConfigKey::new("identity", Map(&Table(IDENTITY)), "additional accounts that post for roles"),
    ConfigKey::new("models", Map(&Table(MODEL)), "the models that roles name"),
    ConfigKey::new("commands", Map(&Table(COMMAND)), "the programs that roles name"),
    ConfigKey::new("agents", Map(&Table(AGENT)), "the programs that workers run"),
    ConfigKey::new("workers", Map(&Table(WORKER)), "the workers that projects name"),
    ConfigKey::new("serve", Table(SERVE), "the daemon"),
    ConfigKey::new("store", Table(STORE), "where the daemon keeps its queue"),
    ConfigKey::new("journal", Table(JOURNAL), "what the journal keeps"),
    ConfigKey::new("mark", Table(MARK), "the seal of referee's Marks"),
];

const REVIEW: &[ConfigKey] = &[
    ConfigKey::layered("start", Enum(&["push", "ci_green", "request"]), "'push'", "when a review starts"),
    ConfigKey::layered("exclude", List(&Glob), "['**/*.lock']", "files that no role reads"),
    ConfigKey::layered("max_inline", Number(0, U32_MAX), "15", "how many new findings get a thread in one post"),
    ConfigKey::layered("status", Bool, "true", "also post each verdict as a commit status"),
    ConfigKey::layered("notify", Bool, "true", "post a comment when the set of blocking findings changes"),
    ConfigKey::layered(
        "floor",
        FixedList(3, &Enum(SEVERITIES)),
        "['suggestion', 'warning', 'critical']",
        "the lowest severity of new findings in round 1, 2, 3 and later",
    ),
    ConfigKey::layered("risk_warnings", Number(0, U32_MAX), "3", "the number of warnings that block"),
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
    ConfigKey::layered("operator", Text, "", "the person who is asked"),
];

const GATES: &[ConfigKey] = &[
    ConfigKey::layered("review", Enum(SETTINGS), "'on'", "referee's reviews, threads, comments and statuses"),
    ConfigKey::layered("approve", Enum(APPROVALS), "'lift'", "approving: `lift` only lifts referee's earlier block")
        .with_local_default("'on'"),
    ConfigKey::layered("reply", Enum(SETTINGS), "'ask'", "replies in other people's threads")
        .with_local_default("'on'"),
    ConfigKey::layered("resolve", Enum(SETTINGS), "'ask'", "resolving other people's threads")
        .with_local_default("'on'"),
    ConfigKey::layered("label", Enum(SETTINGS), "'ask'", "labels and assignees").with_local_default("'on'"),
    ConfigKey::layered("work", Enum(SETTINGS), "'ask'", "starting workers, pushing, opening pulls"),
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
    ConfigKey::layered("enabled", Bool, "true", "switches both commands on or off"),
    ConfigKey::layered("max_threads", Number(1, U32_MAX), "100", "the number of threads that one run reads at most"),
    ConfigKey::layered("auto_resolve", List(&Enum(CLASSES)), "[]", "classes that may be resolved beyond `valid`"),
    ConfigKey::layered("resolve_invalid", Bool, "false", "`invalid` may be resolved"),
    ConfigKey::layered("reply_needs_human", Bool, "false", "`needs_human` gets a reply"),
    ConfigKey::layered("require_checks", Bool, "true", "checks must have passed before anything is resolved"),
    ConfigKey::layered("max_resolve", Number(0, U32_MAX), "20", "above this number in one run a person is asked"),
    ConfigKey::layered("reply_template", Text, "''", "a file of the repository that replaces the built-in reply text"),
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

const GUARDS: &[ConfigKey] = &[ConfigKey::layered(
    "on_error",
    Enum(&["retry", "review"]),
    "'retry'",
    "`review`: review although a check failed",
)];

const BREAK_GLASS: &[ConfigKey] = &[ConfigKey::layered("who", List(&Text), "[]", "by default the operator")];

const PEOPLE: &[ConfigKey] = &[
    ConfigKey::layered("write", List(&Text), "[]", "who has write access, where the token may not read permissions"),
    ConfigKey::layered(
        "bots",
        List(&Text),
        "['*[bot]', '*-bot', '*_bot', 'bot-*']",
        "logins of programs, `*` as wildcard: they accept, dismiss and command nothing",
    ),
];

const RULES: &[ConfigKey] =
    &[ConfigKey::new("in", List(&Globs(RULES_IN, &LEVELS)), "the same for some files, as `[[rules.in]]`")];

const RULES_IN: &[ConfigKey] = &[ConfigKey::new("paths", List(&Glob), "the files, as globs").required()];

const WORK: &[ConfigKey] = &[ConfigKey::layered(
    "protected",
    List(&Text),
    "[]",
    "more files that a worker may not touch, as globs, beside those of docs/dispatch.md",
)];

const ROLE: &[ConfigKey] = &[
    ConfigKey::new("name", Name, "the name shown on a pull").required(),
    ConfigKey::new("builtin", OnlyTrue, "the embedded rules review"),
    ConfigKey::new("model", EntryName("models"), "a model of the operator file reviews"),
    ConfigKey::new("command", EntryName("commands"), "a program of the operator file reviews"),
    ConfigKey::new("identity", EntryName("identity"), "an identity of the operator file; by default the forge's token"),
    ConfigKey::new("blocks", Bool, "whether its verdict may block").with_default("true"),
    ConfigKey::new("paths", List(&Glob), "the files it reviews; empty means all").with_default("[]"),
    ConfigKey::new("severity", Table(TOOL_LEVELS), "severities for the tool's own levels"),
    ConfigKey::new("rules", List(&Text), "files with guidance for the reviewer, read at the base").with_default("[]"),
];

/// The levels of all formats. `critical`, `warning` and `suggestion` are those of referee's own format and rules.
const TOOL_LEVELS: &[ConfigKey] = &[
    ConfigKey::new("error", LEVELS, "SARIF, checkstyle, rdjson, cargo"),
    ConfigKey::new("warning", LEVELS, "all but GitLab"),
    ConfigKey::new("note", LEVELS, "SARIF, cargo"),
    ConfigKey::new("none", LEVELS, "SARIF"),
    ConfigKey::new("info", LEVELS, "checkstyle, rdjson, GitLab"),
    ConfigKey::new("help", LEVELS, "cargo"),
    ConfigKey::new("blocker", LEVELS, "GitLab"),
    ConfigKey::new("critical", LEVELS, "GitLab, referee"),
    ConfigKey::new("major", LEVELS, "GitLab"),
    ConfigKey::new("minor", LEVELS, "GitLab"),
    ConfigKey::new("suggestion", LEVELS, "referee"),
];

const FORGE_KINDS: &[ConfigKey] = &[
    ConfigKey::new("github", Table(PUBLIC_FORGE), "GitHub"),
    ConfigKey::new("gitlab", Table(PUBLIC_FORGE), "GitLab"),
    ConfigKey::new("gitea", Table(SELF_HOSTED_FORGE), "Gitea"),
    ConfigKey::new("forgejo", Table(SELF_HOSTED_FORGE), "Forgejo"),
];

const PUBLIC_FORGE: &[ConfigKey] = &[
    ConfigKey::new("url", Url, "the server's address; by default the public one"),
    TOKEN,
    AUTHOR_TOKEN,
    CA,
    PROXY,
    TIMEOUT,
];
const SELF_HOSTED_FORGE: &[ConfigKey] =
    &[ConfigKey::new("url", Url, "the server's address").required(), TOKEN, AUTHOR_TOKEN, CA, PROXY, TIMEOUT];
const TOKEN: ConfigKey = ConfigKey::new("token", Secret, "the token of referee's account");
const AUTHOR_TOKEN: ConfigKey =
    ConfigKey::new("author_token", Secret, "the token that pushes and opens pulls for workers; by default `token`");
const CA: ConfigKey = ConfigKey::new("ca", FilePath, "CA certificates in PEM, trusted in addition to the system's");
const PROXY: ConfigKey = ConfigKey::new("proxy", Url, "the HTTP proxy; proxy variables of the environment are ignored");
const TIMEOUT: ConfigKey = ConfigKey::new("timeout", Duration, "the time limit of one request; by default 60s");

const IDENTITY: &[ConfigKey] = &[
    ConfigKey::new("token", Secret, "the account's token"),
    ConfigKey::new("login", Text, "the account's login, for a job that does not have the token"),
];

const MODEL: &[ConfigKey] = &[
    ConfigKey::new(
        "provider",
        Enum(&["openai", "anthropic", "gemini", "ollama"]),
        "the API protocol; for a compatible service `openai` with its `base_url`",
    )
    .required(),
    ConfigKey::new("model", Text, "the model's name at the provider").required(),
    ConfigKey::new("base_url", Url, "the address; by default the provider's"),
    ConfigKey::new("key", Secret, "the API key"),
    ConfigKey::new("fallback", List(&EntryName("models")), "the models to try in an outage").with_default("[]"),
];

const COMMAND: &[ConfigKey] = &[
    ConfigKey::new("argv", Argv, "the program and its arguments").required(),
    ConfigKey::new(
        "format",
        Enum(&["referee", "sarif", "rdjson", "rdjsonl", "checkstyle", "cargo", "gitlab"]),
        "the format of its output",
    )
    .with_default("'referee'"),
    ConfigKey::new("ok_codes", List(&Number(0, 255)), "exit codes that mean success").with_default("[0]"),
    ConfigKey::new("timeout", Duration, "the time limit of a run").with_default("'10m'"),
];

const AGENT: &[ConfigKey] =
    &[ConfigKey::new("argv", Argv, "the program and its arguments; the prompt is on its stdin").required()];

const WORKER: &[ConfigKey] = &[
    ConfigKey::new("agent", EntryName("agents"), "the agent it runs").required(),
    ConfigKey::new("timeout", Duration, "the time limit of a run").with_default("'50m'"),
    ConfigKey::new("sandbox", Number(0, 9), "the lowest sandbox tier it may run in").with_default("2"),
    ConfigKey::new("egress", List(&Text), "the only hosts and ports the sandbox may connect to").with_default("[]"),
    ConfigKey::new("env", List(&Text), "environment variables passed to the worker").with_default("[]"),
];

const SERVE: &[ConfigKey] = &[
    ConfigKey::new("listen", Address, "the address it listens on").with_default("'127.0.0.1:7300'"),
    ConfigKey::new("sweep", Duration, "the interval between two passes over all pulls").with_default("'15m'"),
    ConfigKey::new("projects", List(&Text), "project files it dispatches").with_default("[]"),
    ConfigKey::new("hook", Map(&Table(HOOK)), "webhooks, at `/hooks/<name>`"),
];

const HOOK: &[ConfigKey] = &[
    ConfigKey::new("forge", EntryName("forge"), "the forge that sends the webhook").required(),
    ConfigKey::new("secret", Secret, "the secret that signs its requests").required(),
];

const STORE: &[ConfigKey] =
    &[ConfigKey::new("queue", Either(&Enum(&["embedded"]), &Table(NATS)), "where the queue is stored")
        .with_default("'embedded'")];

const NATS: &[ConfigKey] = &[ConfigKey::new("nats", Text, "the server's address").required()];

const JOURNAL: &[ConfigKey] =
    &[ConfigKey::new("texts", Enum(&["off", "on"]), "`off` keeps hashes and lengths only").with_default("'on'")];

const MARK: &[ConfigKey] = &[
    ConfigKey::new("keys", List(&Secret), "signing keys: the first one signs, all of them verify").with_default("[]"),
    ConfigKey::new("since", Date, "texts that referee wrote before this day may be unsealed"),
];

/// The sources of a secret.
pub(super) const SECRET_KEYS: &[ConfigKey] = &[
    ConfigKey::new("env", Text, "an environment variable"),
    ConfigKey::new("file", FilePath, "a file"),
    ConfigKey::new("command", Argv, "a program that prints the secret"),
];
