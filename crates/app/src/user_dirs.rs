//! Where the user keeps what is remembered of pulls on forges, and what can be fetched again.

use std::path::{Path, PathBuf};

use crate::session::config_files::env;

/// Triage, checks, outcomes, the journal. None where there is no home: everything is right without it (LOOP-7).
pub(crate) fn state_dir() -> Option<PathBuf> {
    resolve_dir("XDG_STATE_HOME", ".local/state")
}

/// Commits of elsewhere.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    resolve_dir("XDG_CACHE_HOME", ".cache")
}

/// A relative path in such a variable is to be ignored.
fn resolve_dir(variable: &str, at_home: &str) -> Option<PathBuf> {
    let named = env(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let named = named.or_else(|| Some(Path::new(&env("HOME").filter(|home| !home.is_empty())?).join(at_home)));
    named.map(|folder| folder.join("referee"))
}
