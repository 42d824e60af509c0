//! The embedded files: one line per language rule, in the order of the folders.

/// A rule file and its samples, as they were when the program was built.
pub(super) struct Embedded {
    /// From the crate's root.
    pub(super) path: &'static str,
    /// The rule, in ast-grep's format.
    pub(super) rule: &'static str,
    /// What must hit and what must not, in the format of ast-grep's own tests.
    pub(super) samples: &'static str,
}

macro_rules! embed {
    ($($folder:literal: $($name:literal)*;)*) => {
        &[$($(Embedded {
            path: concat!("rules/", $folder, "/", $name, ".yml"),
            rule: include_str!(concat!("../../rules/", $folder, "/", $name, ".yml")),
            samples: include_str!(concat!("../../rules/", $folder, "/samples/", $name, ".yml")),
        },)*)*]
    };
}

/// Every file of the folders; a test compares.
pub(super) const LANGUAGE_RULES: &[Embedded] = embed! {
    "go":
        "go-copied-lock"
        "go-defer-in-loop"
        "go-dropped-error"
        "go-loop-capture"
        "go-lost-error"
        "go-nil-for-error"
        "go-nil-map-write"
        "go-predictable-random"
        "go-shell-command"
        "go-sql-text"
        "go-tls-unverified"
        "go-unchecked-error"
        "go-unclosed-body"
        "go-unclosed-resource"
        "go-unreleased-lock"
        "go-waitgroup-add"
        "go-weak-hash";
    "javascript":
        "js-assign-in-condition"
        "js-async-callback"
        "js-async-executor"
        "js-compare-self"
        "js-constant-comparison"
        "js-debug-leftover"
        "js-duplicate-key"
        "js-empty-catch"
        "js-eval"
        "js-finally-return"
        "js-index-as-truth"
        "js-missing-await"
        "js-off-by-one"
        "js-predictable-random"
        "js-raw-html"
        "js-same-branches"
        "js-shell-command"
        "js-sql-text"
        "js-tls-unverified"
        "js-unreachable"
        "js-useless-statement"
        "js-weak-crypto";
    "python":
        "py-archive-escape"
        "py-assert-tuple"
        "py-bare-except"
        "py-blocking-in-async"
        "py-called-too-early"
        "py-change-while-iterating"
        "py-clamp-swapped"
        "py-compare-self"
        "py-constant-comparison"
        "py-cors-any"
        "py-debug-leftover"
        "py-debug-server"
        "py-dropped-task"
        "py-duplicate-key"
        "py-error-to-default"
        "py-eval"
        "py-finally-return"
        "py-format-count"
        "py-hardcoded-secret"
        "py-is-literal"
        "py-late-binding"
        "py-lock-leak"
        "py-missing-await"
        "py-missing-f-prefix"
        "py-mktemp"
        "py-mutable-default"
        "py-no-timeout"
        "py-none-attribute"
        "py-none-result"
        "py-off-by-one"
        "py-open-chained"
        "py-open-redirect"
        "py-predictable-random"
        "py-request-path"
        "py-same-branches"
        "py-secret-logged"
        "py-self-assign"
        "py-shell-command"
        "py-sql-text"
        "py-strip-word"
        "py-swallowed-exception"
        "py-timing-compare"
        "py-tls-unverified"
        "py-token-unverified"
        "py-unchecked-match"
        "py-unclosed-resource"
        "py-unescaped-html"
        "py-unreachable"
        "py-unsafe-load"
        "py-useless-statement"
        "py-utcnow"
        "py-weak-hash"
        "py-world-writable"
        "py-wrong-raise"
        "py-xml-entities";
    "rust":
        "rs-always-true"
        "rs-blocking-in-async"
        "rs-compare-self"
        "rs-discarded-result"
        "rs-dropped-future"
        "rs-leftover-macro"
        "rs-lock-across-await"
        "rs-lock-not-held"
        "rs-off-by-one"
        "rs-same-branches"
        "rs-shell-command"
        "rs-sql-text"
        "rs-static-mut"
        "rs-tls-unverified"
        "rs-truncating-cast"
        "rs-unchecked-bytes";
    "typescript":
        "ts-assign-in-condition"
        "ts-async-callback"
        "ts-async-executor"
        "ts-compare-self"
        "ts-constant-comparison"
        "ts-debug-leftover"
        "ts-duplicate-key"
        "ts-empty-catch"
        "ts-eval"
        "ts-finally-return"
        "ts-index-as-truth"
        "ts-missing-await"
        "ts-off-by-one"
        "ts-predictable-random"
        "ts-raw-html"
        "ts-same-branches"
        "ts-shell-command"
        "ts-sql-text"
        "ts-tls-unverified"
        "ts-unreachable"
        "ts-useless-statement"
        "ts-weak-crypto";
};

impl Embedded {
    /// A rule's file has its name.
    pub(super) fn names(&self, id: &str) -> bool {
        self.path.rsplit('/').next().and_then(|name| name.strip_suffix(".yml")) == Some(id)
    }
}

macro_rules! texts {
    ($($name:literal)*) => {
        &[$((concat!("rules/text/", $name, ".yml"), include_str!(concat!("../../rules/text/", $name, ".yml"))),)*]
    };
}

/// Path and text of each text rule.
pub(super) const TEXT_RULES: &[(&str, &str)] = texts! {
    "bidi-control"
    "committed-env-file"
    "committed-key-file"
    "conflict-marker"
    "hidden-character"
    "huge-binary"
    "huge-text"
    "merge-leftover"
};

pub(super) const SECRET_RULES_PATH: &str = "rules/secrets.toml";
/// The secret rules, in gitleaks' format.
pub(super) const SECRET_RULES: &str = include_str!("../../rules/secrets.toml");
/// For each of them what must hit and what must not; `{36}` stands for that many random characters.
pub(super) const SECRET_SAMPLES: &str = include_str!("../../rules/text/secrets.samples.toml");
