//! The long forms of both files. A test reads them with every line switched on, so they cannot drift from the table.

/// `referee.toml` as `init` writes it: every key at its default, switched off by a `#` without a blank behind it.
pub(crate) fn repository_example() -> &'static str {
    include_str!("example/referee.toml")
}

/// An operator file with every key, to be cut down.
pub(crate) fn operator_example() -> &'static str {
    include_str!("example/operator.toml")
}
