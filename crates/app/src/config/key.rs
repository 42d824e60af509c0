//! The description of one config key: its type, default and purpose. Validation, the JSON schema and the tests share it.

/// One key of a table.
pub(super) struct ConfigKey {
    pub(super) name: &'static str,
    pub(super) value_type: ValueType,
    pub(super) default: KeyDefault,
    /// One line on the key's purpose, for the JSON schema and error messages.
    pub(super) about: &'static str,
}

/// What applies where a key is missing. Defaults are written in TOML, so that they pass the same checks as a file.
pub(super) enum KeyDefault {
    /// The key stays unset.
    Unset,
    /// A missing key is an error.
    Required,
    /// A fixed default.
    Literal(&'static str),
    /// The default of a policy key, which flags, variables and the operator's ceiling can override.
    Layered {
        /// Default for pulls on a forge.
        forge: &'static str,
        /// Default for local pulls.
        local: &'static str,
    },
}

/// The type of a key's value.
pub(super) enum ValueType {
    /// The version of the config format.
    Version,
    Bool,
    /// `true`. To say `false`, leave the key out.
    OnlyTrue,
    /// A whole number from the first to the second bound, both included.
    Number(u64, u64),
    /// An amount in US dollars.
    Usd,
    Text,
    /// A glob of paths or rule ids.
    Glob,
    /// A short name that is valid on forges and in shells without quoting.
    Name,
    /// `http://…` or `https://…`, without credentials.
    Url,
    /// A socket address such as `127.0.0.1:7300`.
    Address,
    /// An absolute path, or one below the home directory.
    FilePath,
    /// A duration such as `50m`.
    Duration,
    /// A date such as `2026-11-15`.
    Date,
    /// One of the given words. Words that a ceiling can cap are in order, least permissive first.
    Enum(&'static [&'static str]),
    List(&'static ValueType),
    /// A list of exactly this length.
    FixedList(usize, &'static ValueType),
    /// A program and its arguments.
    Argv,
    /// The source of a secret, never the secret itself.
    Secret,
    /// The name of an entry in this table of the operator file.
    EntryName(&'static str),
    /// A table with these keys.
    Table(&'static [ConfigKey]),
    /// A table with exactly one of these keys.
    OneOf(&'static [ConfigKey]),
    /// A table whose keys the user chooses.
    Map(&'static ValueType),
    /// A table with these keys, and globs as further keys, whose values have one type.
    Globs(&'static [ConfigKey], &'static ValueType),
    /// The roles: an array of tables with unique names, each with exactly one of [`REVIEWERS`].
    Roles(&'static [ConfigKey]),
    /// Either a word or a table.
    Either(&'static ValueType, &'static ValueType),
}

/// The keys of a role that select its reviewer.
pub(super) const REVIEWERS: [&str; 3] = ["builtin", "command", "model"];

impl ConfigKey {
    /// Creates an optional key without a default.
    pub(super) const fn new(name: &'static str, value_type: ValueType, about: &'static str) -> Self {
        Self { name, value_type, default: KeyDefault::Unset, about }
    }

    /// Creates a policy key with the same default on forges and on local pulls.
    pub(super) const fn layered(
        name: &'static str,
        value_type: ValueType,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, value_type, default: KeyDefault::Layered { forge: default, local: default }, about }
    }

    /// Sets another default for local pulls.
    pub(super) const fn with_local_default(mut self, default: &'static str) -> Self {
        if let KeyDefault::Layered { forge, .. } = self.default {
            self.default = KeyDefault::Layered { forge, local: default };
        }
        self
    }

    pub(super) const fn with_default(mut self, default: &'static str) -> Self {
        self.default = KeyDefault::Literal(default);
        self
    }

    pub(super) const fn required(mut self) -> Self {
        self.default = KeyDefault::Required;
        self
    }
}

impl ValueType {
    /// Describes the expected value, as the end of the sentence "`key` must be …".
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Version => "the number 1".into(),
            Self::Bool => "`true` or `false`".into(),
            Self::OnlyTrue => "`true`, or left out".into(),
            Self::Number(min, max) if *max >= u64::from(u32::MAX) => format!("a whole number, {min} or more"),
            Self::Number(min, max) => format!("a whole number from {min} to {max}"),
            Self::Usd => "an amount in dollars such as `2.00`".into(),
            Self::Text => "a string in quotes".into(),
            Self::Glob => "a valid glob such as `\"src/**\"`".into(),
            Self::Name => "a name of letters, digits, `-`, `_` and `.`".into(),
            Self::Url => "a URL such as `\"https://git.example.org\"`, without credentials".into(),
            Self::Address => "an address with a port such as `\"127.0.0.1:7300\"`".into(),
            Self::FilePath => "an absolute path, or one that begins with `~/`".into(),
            Self::Duration => "a duration such as `\"50m\"`, in `s`, `m`, `h` or `d`".into(),
            Self::Date => "a date such as `\"2026-11-15\"`".into(),
            Self::Enum(words) => format!("one of {}", quote_names(words.iter().copied())),
            Self::List(_) => "a list in `[ ]`".into(),
            Self::FixedList(length, _) => format!("a list of {length} entries"),
            Self::Argv => "a program and its arguments such as `[\"cargo\", \"test\"]`".into(),
            Self::Secret => "the source of a secret: `{ env = … }`, `{ file = … }` or `{ command = … }`".into(),
            Self::EntryName(table) => format!("the name of an entry of `[{table}]` in the operator file"),
            Self::Table(_) | Self::Map(_) | Self::Globs(..) => "a table".into(),
            Self::OneOf(keys) => format!("a table with one of {}", quote_names(keys.iter().map(|key| key.name))),
            Self::Roles(_) => "an array of tables, written as `[[role]]`".into(),
            Self::Either(one, other) => format!("{}, or {}", one.describe(), other.describe()),
        }
    }

    /// Returns the keys of a table, or nothing for other types.
    pub(super) fn keys(&self) -> &'static [ConfigKey] {
        match self {
            Self::Table(keys) | Self::OneOf(keys) | Self::Roles(keys) | Self::Globs(keys, _) => keys,
            _ => &[],
        }
    }
}

/// Renders names in backticks, separated by commas.
pub(super) fn quote_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
