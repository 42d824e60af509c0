//! The keys of both files, and nothing else: what is not here is an unknown key.

use super::shape::{Key, Shape};

use Shape::{
    Address, Argv, Date, Either, Entry, File, List, Map, Money, Name, Number, One, Roles, Row, Secret, Switch, Table,
    Text, Time, Url, Version, Word, Yes,
};

const MANY: u64 = u32::MAX as u64;
const SETTINGS: &[&str] = &["off", "ask", "on"];
const APPROVALS: &[&str] = &["off", "lift", "on"];
const SEVERITIES: &[&str] = &["suggestion", "warning", "critical"];
const CLASSES: &[&str] = &["valid", "invalid", "stale", "already_fixed", "needs_human"];

/// `referee.toml`.
pub(super) const REPOSITORY: &[Key] = &[
    Key::new("version", Version, "the version of this format"),
    Key::new("review", Table(REVIEW), "how a change is reviewed"),
    Key::new("loop", Table(LOOP), "when the loop ends"),
    Key::new("gates", Table(GATES), "what may happen: `off` never, `ask` when the command line asks, `on` always"),
    Key::new("threads", Table(THREADS), "how `comments` and `fix-comments` answer threads"),
    Key::new("budget", Table(BUDGET), "what one pull may take"),
    Key::new("guards", Table(GUARDS), "what happens when the forge cannot be read"),
    Key::new("break_glass", Table(BREAK_GLASS), "who may end the loop at once"),
    Key::new("people", Table(PEOPLE), "who is who where the forge does not say"),
    Key::new("work", Table(WORK), "what workers may do"),
    Key::new("checks", Map(&Argv), "what `referee check` runs, by name"),
    Key::new("role", Roles(ROLE), "the reviewers, in the order in which they are published"),
];

/// The operator file.
pub(super) const OPERATOR: &[Key] = &[
    Key::new("gates", Table(GATES_CEILING), "a ceiling for the repository's gates"),
    Key::new("budget", Table(BUDGET_CEILING), "a ceiling for the repository's budget"),
    Key::new("forge", Map(&One(FORGE_KINDS)), "the forges, as `[forge.<name>.<kind>]`"),
    Key::new("identity", Map(&Table(IDENTITY)), "other accounts that roles speak as"),
    Key::new("models", Map(&Table(MODEL)), "the models that roles name"),
    Key::new("commands", Map(&Table(COMMAND)), "the programs that roles name"),
    Key::new("agents", Map(&Table(AGENT)), "the programs that workers run"),
    Key::new("workers", Map(&Table(WORKER)), "the workers that projects name"),
    Key::new("serve", Table(SERVE), "the daemon"),
    Key::new("store", Table(STORE), "where the daemon keeps its queue"),
    Key::new("journal", Table(JOURNAL), "what the journal keeps"),
    Key::new("mark", Table(MARK), "what Marks are sealed with"),
];

const REVIEW: &[Key] = &[
    Key::layered("start", Word(&["push", "ci_green", "request"]), "'push'", "when a review starts"),
    Key::layered("exclude", List(&Text), "['**/*.lock']", "files that no role reads"),
    Key::layered("max_inline", Number(0, MANY), "15", "how many new findings get a thread in one post"),
    Key::layered("status", Switch, "true", "verdicts are written as statuses too"),
    Key::layered("notify", Switch, "true", "a change of what blocks is said in a comment"),
    Key::layered(
        "floor",
        Row(3, &Word(SEVERITIES)),
        "['suggestion', 'warning', 'critical']",
        "the lowest severity reported anew in round 1, 2, 3 and later",
    ),
    Key::layered("risk_warnings", Number(0, MANY), "3", "that many warnings block"),
    Key::layered("ci", Word(&["required", "optional"]), "'required'", "`optional`: no CI at all passes")
        .locally("'optional'"),
];

const LOOP: &[Key] = &[
    Key::layered("rounds", Number(1, MANY), "3", "how many times a role may ask for changes before a person is asked"),
    Key::layered("operator", Text, "", "who is asked"),
];

const GATES: &[Key] = &[
    Key::layered("review", Word(SETTINGS), "'on'", "own reviews, threads, comments and statuses"),
    Key::layered("approve", Word(APPROVALS), "'lift'", "approving: `lift` only to lift an own block").locally("'on'"),
    Key::layered("reply", Word(SETTINGS), "'ask'", "replies in threads of others").locally("'on'"),
    Key::layered("resolve", Word(SETTINGS), "'ask'", "resolving threads of others").locally("'on'"),
    Key::layered("label", Word(SETTINGS), "'ask'", "labels and assignees").locally("'on'"),
    Key::layered("work", Word(SETTINGS), "'ask'", "workers, push, new pulls"),
];

const GATES_CEILING: &[Key] = &[
    Key::new("review", Word(SETTINGS), "at most"),
    Key::new("approve", Word(APPROVALS), "at most"),
    Key::new("reply", Word(SETTINGS), "at most"),
    Key::new("resolve", Word(SETTINGS), "at most"),
    Key::new("label", Word(SETTINGS), "at most"),
    Key::new("work", Word(SETTINGS), "at most"),
];

const THREADS: &[Key] = &[
    Key::layered("enabled", Switch, "true", "the feature as a whole"),
    Key::layered("max_threads", Number(1, MANY), "100", "how many threads one run reads"),
    Key::layered("auto_resolve", List(&Word(CLASSES)), "[]", "classes that may be resolved beyond `valid`"),
    Key::layered("resolve_invalid", Switch, "false", "`invalid` may be resolved"),
    Key::layered("reply_needs_human", Switch, "false", "`needs_human` gets a reply"),
    Key::layered("require_checks", Switch, "true", "checks must have passed before anything is resolved"),
    Key::layered("max_resolve", Number(0, MANY), "20", "more resolutions in one run go to a person"),
    Key::layered("reply_template", Text, "''", "a file of the repository that overrides the built-in text"),
];

const BUDGET: &[Key] = &[Key::new("pull", Table(PULL), "for all runs on one pull")];

const PULL: &[Key] = &[
    Key::layered("tokens", Number(0, u64::MAX), "2_000_000", "tokens"),
    Key::layered("usd", Money, "2.00", "dollars"),
    Key::layered("runs", Number(0, MANY), "20", "reviewer runs"),
    Key::layered("writes", Number(0, MANY), "100", "texts written"),
];

const BUDGET_CEILING: &[Key] = &[Key::new("pull", Table(PULL_CEILING), "for all runs on one pull")];

const PULL_CEILING: &[Key] = &[
    Key::new("tokens", Number(0, u64::MAX), "at most"),
    Key::new("usd", Money, "at most"),
    Key::new("runs", Number(0, MANY), "at most"),
    Key::new("writes", Number(0, MANY), "at most"),
];

const GUARDS: &[Key] =
    &[Key::layered("on_error", Word(&["retry", "review"]), "'retry'", "`review`: fail open towards more review")];

const BREAK_GLASS: &[Key] = &[Key::layered("who", List(&Text), "[]", "by default the operator")];

const PEOPLE: &[Key] =
    &[Key::layered("write", List(&Text), "[]", "who counts as having write access where the token may not ask")];

const WORK: &[Key] = &[Key::layered(
    "protected",
    List(&Text),
    "['.github/**', '.gitea/**', '.forgejo/**', '.gitlab-ci.yml', 'referee.toml', 'CODEOWNERS']",
    "files that a worker may not touch",
)];

const ROLE: &[Key] = &[
    Key::new("name", Name, "its name, as it is shown on a pull").required(),
    Key::new("builtin", Yes, "the embedded rules review"),
    Key::new("model", Entry("models"), "a model of the operator file reviews"),
    Key::new("command", Entry("commands"), "a program of the operator file reviews"),
    Key::new("identity", Entry("identity"), "an identity of the operator file; by default the forge's token"),
    Key::new("blocks", Switch, "its verdict may block").or("true"),
    Key::new("paths", List(&Text), "files it looks at; empty is all").or("[]"),
    Key::new("rules", List(&Text), "files with guidance, read at the base").or("[]"),
];

const FORGE_KINDS: &[Key] = &[
    Key::new("github", Table(PUBLIC_FORGE), "GitHub"),
    Key::new("gitlab", Table(PUBLIC_FORGE), "GitLab"),
    Key::new("gitea", Table(OWN_FORGE), "Gitea"),
    Key::new("forgejo", Table(OWN_FORGE), "Forgejo"),
];

const PUBLIC_FORGE: &[Key] =
    &[Key::new("url", Url, "where it is, if not at its public address"), TOKEN, AUTHOR_TOKEN, CA, PROXY];
const OWN_FORGE: &[Key] = &[Key::new("url", Url, "where it is").required(), TOKEN, AUTHOR_TOKEN, CA, PROXY];
const TOKEN: Key = Key::new("token", Secret, "who referee is there");
const AUTHOR_TOKEN: Key =
    Key::new("author_token", Secret, "who pushes and opens pulls for workers; by default the same");
const CA: Key = Key::new("ca", File, "certificates to trust there beside the system's, in PEM");
const PROXY: Key = Key::new("proxy", Url, "what stands between here and there; the environment has no say");

const IDENTITY: &[Key] = &[
    Key::new("token", Secret, "its token"),
    Key::new("login", Text, "its name on the forge, where this job has no such token"),
];

const MODEL: &[Key] = &[
    Key::new(
        "provider",
        Word(&["openai", "anthropic", "gemini", "ollama"]),
        "whose protocol; any compatible service is `openai` with its `base_url`",
    )
    .required(),
    Key::new("model", Text, "its name there").required(),
    Key::new("base_url", Url, "where it is, if not at the provider's own address"),
    Key::new("key", Secret, "the key"),
    Key::new("fallback", List(&Entry("models")), "who is asked in an outage").or("[]"),
];

const COMMAND: &[Key] = &[
    Key::new("argv", Argv, "what is run").required(),
    Key::new(
        "format",
        Word(&["referee", "sarif", "rdjson", "rdjsonl", "checkstyle", "cargo", "gitlab"]),
        "what it prints",
    )
    .or("'referee'"),
    Key::new("ok_codes", List(&Number(0, 255)), "exit codes of a run that went well").or("[0]"),
    Key::new("timeout", Time, "how long it may take").or("'10m'"),
];

const AGENT: &[Key] = &[Key::new("argv", Argv, "what is run, with the prompt on its standard input").required()];

const WORKER: &[Key] = &[
    Key::new("agent", Entry("agents"), "which agent").required(),
    Key::new("timeout", Time, "how long it may take").or("'50m'"),
    Key::new("sandbox", Number(0, 9), "the lowest sandbox tier it may run in").or("2"),
    Key::new("egress", List(&Text), "what the sandbox may reach; nothing else").or("[]"),
    Key::new("env", List(&Text), "variables it gets").or("[]"),
];

const SERVE: &[Key] = &[
    Key::new("listen", Address, "where it listens").or("'127.0.0.1:7300'"),
    Key::new("sweep", Time, "how often all pulls are looked at").or("'15m'"),
    Key::new("projects", List(&Text), "project files it dispatches").or("[]"),
    Key::new("hook", Map(&Table(HOOK)), "webhooks, at `/hooks/<name>`"),
];

const HOOK: &[Key] = &[
    Key::new("forge", Entry("forge"), "which forge rings").required(),
    Key::new("secret", Secret, "what it signs with").required(),
];

const STORE: &[Key] =
    &[Key::new("queue", Either(&Word(&["embedded"]), &Table(NATS)), "where the queue is").or("'embedded'")];

const NATS: &[Key] = &[Key::new("nats", Text, "the server's address").required()];

const JOURNAL: &[Key] = &[Key::new("texts", Word(&["off", "on"]), "`off`: hashes and lengths only").or("'on'")];

const MARK: &[Key] = &[
    Key::new("keys", List(&Secret), "the first signs, all verify").or("[]"),
    Key::new("since", Date, "own texts from before that day need no seal yet"),
];

/// Where a secret comes from.
pub(super) const SECRET: &[Key] = &[
    Key::new("env", Text, "a variable"),
    Key::new("file", File, "a file"),
    Key::new("command", Argv, "what a program prints"),
];
