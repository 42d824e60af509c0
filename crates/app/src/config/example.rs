//! Example files that show every key. A test loads them with every line uncommented, so that they match the key table.

/// Returns the `referee.toml` that `init` writes: every key at its default, commented out by a `#` without a space.
pub(crate) fn repository_example() -> &'static str {
    include_str!("example/referee.toml")
}
