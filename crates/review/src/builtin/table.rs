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
        "go-atomic-self"
        "go-break-in-select"
        "go-compare-self"
        "go-constant-comparison"
        "go-copied-lock"
        "go-defer-in-loop"
        "go-dropped-error"
        "go-dropped-result"
        "go-format-args"
        "go-hardcoded-secret"
        "go-index-as-truth"
        "go-loop-capture"
        "go-lost-cancel"
        "go-lost-error"
        "go-missing-return"
        "go-nil-for-error"
        "go-nil-map-write"
        "go-off-by-one"
        "go-predictable-random"
        "go-request-path"
        "go-rows-error"
        "go-same-branches"
        "go-secret-logged"
        "go-shell-command"
        "go-signal-unbuffered"
        "go-sql-text"
        "go-swapped-arguments"
        "go-timing-compare"
        "go-tls-unverified"
        "go-unchecked-assertion"
        "go-unchecked-error"
        "go-unclosed-body"
        "go-unclosed-resource"
        "go-unexported-json"
        "go-unreachable"
        "go-unreleased-lock"
        "go-waitgroup-add"
        "go-weak-hash"
        "go-world-writable"
        "go-wrong-defer";
    "javascript":
        "js-assign-in-condition"
        "js-async-callback"
        "js-async-executor"
        "js-callback-error"
        "js-called-too-early"
        "js-case-fallthrough"
        "js-change-while-iterating"
        "js-clamp-swapped"
        "js-compare-self"
        "js-constant-comparison"
        "js-cors-any"
        "js-debug-leftover"
        "js-duplicate-key"
        "js-effect-cleanup"
        "js-empty-catch"
        "js-eval"
        "js-finally-return"
        "js-hardcoded-secret"
        "js-index-as-truth"
        "js-missing-await"
        "js-missing-return"
        "js-missing-return-in-callback"
        "js-null-result"
        "js-off-by-one"
        "js-open-cookie"
        "js-predictable-random"
        "js-raw-html"
        "js-request-path"
        "js-same-branches"
        "js-secret-logged"
        "js-shell-command"
        "js-sql-text"
        "js-throw-literal"
        "js-timing-compare"
        "js-tls-unverified"
        "js-token-unverified"
        "js-unreachable"
        "js-unreleased-client"
        "js-useless-statement"
        "js-var-loop-capture"
        "js-weak-crypto"
        "js-wrong-array-call";
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
        "py-index-as-truth"
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
        "rs-bounds-swapped"
        "rs-compare-self"
        "rs-discarded-result"
        "rs-dropped-future"
        "rs-float-equality"
        "rs-forgotten-value"
        "rs-hardcoded-secret"
        "rs-hash-without-eq"
        "rs-leftover-macro"
        "rs-lock-across-await"
        "rs-lock-not-held"
        "rs-off-by-one"
        "rs-panic-in-drop"
        "rs-path-escape"
        "rs-relaxed-flag"
        "rs-same-branches"
        "rs-secret-logged"
        "rs-shell-command"
        "rs-spawn-dropped"
        "rs-sql-text"
        "rs-static-mut"
        "rs-timing-compare"
        "rs-tls-unverified"
        "rs-truncating-cast"
        "rs-unchecked-bytes"
        "rs-unchecked-subtraction"
        "rs-unimplemented"
        "rs-unreachable"
        "rs-unwrap-outside"
        "rs-weak-crypto"
        "rs-world-writable";
    "typescript":
        "ts-asserted-lookup"
        "ts-assign-in-condition"
        "ts-async-callback"
        "ts-async-executor"
        "ts-callback-error"
        "ts-called-too-early"
        "ts-case-fallthrough"
        "ts-change-while-iterating"
        "ts-clamp-swapped"
        "ts-compare-self"
        "ts-constant-comparison"
        "ts-cors-any"
        "ts-debug-leftover"
        "ts-duplicate-enum"
        "ts-duplicate-key"
        "ts-effect-cleanup"
        "ts-empty-catch"
        "ts-eval"
        "ts-finally-return"
        "ts-hardcoded-secret"
        "ts-index-as-truth"
        "ts-missing-await"
        "ts-missing-return"
        "ts-missing-return-in-callback"
        "ts-null-result"
        "ts-off-by-one"
        "ts-open-cookie"
        "ts-optional-assertion"
        "ts-predictable-random"
        "ts-raw-html"
        "ts-request-path"
        "ts-same-branches"
        "ts-secret-logged"
        "ts-shell-command"
        "ts-sql-text"
        "ts-throw-literal"
        "ts-timing-compare"
        "ts-tls-unverified"
        "ts-token-unverified"
        "ts-unchecked-json"
        "ts-unreachable"
        "ts-unreleased-client"
        "ts-useless-statement"
        "ts-var-loop-capture"
        "ts-weak-crypto"
        "ts-wrong-array-call";
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
