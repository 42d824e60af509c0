//! What may stand behind a key of a config file. The walk, the JSON schema and the tests all read this one description.

/// One key of a table.
pub(super) struct ConfigKey {
    /// Its name.
    pub(super) name: &'static str,
    /// What it takes.
    pub(super) value_type: ValueType,
    /// What holds without it.
    pub(super) default: KeyDefault,
    /// What it is for, in a line.
    pub(super) about: &'static str,
}

/// What holds where a key is missing. Defaults are written as in TOML, so that they are checked like any file.
pub(super) enum KeyDefault {
    /// Nothing.
    Unset,
    /// An error.
    Required,
    /// A default of the entry it belongs to.
    Literal(&'static str),
    /// A default of the policy, which flags, the environment and the operator still have a say in.
    Layered {
        /// On a forge.
        forge: &'static str,
        /// On local pulls.
        local: &'static str,
    },
}

/// What a key takes.
pub(super) enum ValueType {
    /// The version of the format.
    Version,
    /// `true` or `false`.
    Bool,
    /// `true`; the opposite is to leave it out.
    OnlyTrue,
    /// A whole number within bounds.
    Number(u64, u64),
    /// Dollars.
    Usd,
    /// Any text.
    Text,
    /// A short name that forges and shells take as it is.
    Name,
    /// `http://…` or `https://…`, without credentials.
    Url,
    /// `127.0.0.1:7300`.
    Address,
    /// A path that does not depend on where referee is started.
    FilePath,
    /// `50m`.
    Duration,
    /// `2026-11-15`.
    Date,
    /// One of a few words, least permissive first where that matters.
    Enum(&'static [&'static str]),
    /// A list.
    List(&'static ValueType),
    /// A list of a known length.
    FixedList(usize, &'static ValueType),
    /// A program and its arguments.
    Argv,
    /// A secret by its source, never the secret itself.
    Secret,
    /// The name of an entry in a table of the operator file.
    EntryName(&'static str),
    /// A table with these keys.
    Table(&'static [ConfigKey]),
    /// A table with exactly one of these keys.
    OneOf(&'static [ConfigKey]),
    /// A table whose keys the user chooses.
    Map(&'static ValueType),
    /// The roles: tables with names of their own, each with exactly one of [`REVIEWERS`].
    Roles(&'static [ConfigKey]),
    /// Either a word or a table.
    Either(&'static ValueType, &'static ValueType),
}

/// Who may review for a role.
pub(super) const REVIEWERS: [&str; 3] = ["builtin", "command", "model"];

impl ConfigKey {
    /// A key that need not be there.
    pub(super) const fn new(name: &'static str, shape: ValueType, about: &'static str) -> Self {
        Self { name, value_type: shape, default: KeyDefault::Unset, about }
    }

    /// A key of the policy with the same default everywhere.
    pub(super) const fn layered(
        name: &'static str,
        shape: ValueType,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, value_type: shape, default: KeyDefault::Layered { forge: default, local: default }, about }
    }

    /// The same with another default on local pulls.
    pub(super) const fn with_local_default(mut self, default: &'static str) -> Self {
        if let KeyDefault::Layered { forge, .. } = self.default {
            self.default = KeyDefault::Layered { forge, local: default };
        }
        self
    }

    /// The same with a default.
    pub(super) const fn with_default(mut self, default: &'static str) -> Self {
        self.default = KeyDefault::Literal(default);
        self
    }

    /// The same, but it must be there.
    pub(super) const fn required(mut self) -> Self {
        self.default = KeyDefault::Required;
        self
    }
}

impl ValueType {
    /// What belongs here, as the end of "this must be …".
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Version => "the number 1".into(),
            Self::Bool => "`true` or `false`".into(),
            Self::OnlyTrue => "`true`, or left out".into(),
            Self::Number(least, most) if *most >= u64::from(u32::MAX) => format!("a whole number from {least} on"),
            Self::Number(least, most) => format!("a whole number from {least} to {most}"),
            Self::Usd => "an amount in dollars such as `2.00`".into(),
            Self::Text => "a text in quotes".into(),
            Self::Name => "a name of letters, digits, `-`, `_` and `.`".into(),
            Self::Url => "a URL such as `\"https://git.example.org\"`, without credentials".into(),
            Self::Address => "an address with its port such as `\"127.0.0.1:7300\"`".into(),
            Self::FilePath => "an absolute path, or one that begins with `~/`".into(),
            Self::Duration => "a length of time such as `\"50m\"`, in `s`, `m`, `h` or `d`".into(),
            Self::Date => "a day such as `\"2026-11-15\"`".into(),
            Self::Enum(words) => format!("one of {}", quote_names(words.iter().copied())),
            Self::List(_) => "a list in `[ ]`".into(),
            Self::FixedList(length, _) => format!("a list of {length} entries"),
            Self::Argv => "a program and its arguments such as `[\"cargo\", \"test\"]`".into(),
            Self::Secret => "the secret's source: `{ env = … }`, `{ file = … }` or `{ command = … }`".into(),
            Self::EntryName(table) => format!("the name of an entry of `[{table}]` in the operator file"),
            Self::Table(_) | Self::Map(_) => "a table".into(),
            Self::OneOf(keys) => format!("a table with one of {}", quote_names(keys.iter().map(|key| key.name))),
            Self::Roles(_) => "an array of tables, written as `[[role]]`".into(),
            Self::Either(one, other) => format!("{}, or {}", one.describe(), other.describe()),
        }
    }

    /// The keys of this table, if that is what it is.
    pub(super) fn keys(&self) -> &'static [ConfigKey] {
        match self {
            Self::Table(keys) | Self::OneOf(keys) | Self::Roles(keys) => keys,
            _ => &[],
        }
    }
}

/// Names as a sentence lists them.
pub(super) fn quote_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
