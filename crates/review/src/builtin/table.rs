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
    "go":;
    "javascript":;
    "python":;
    "rust":;
    "typescript":;
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
