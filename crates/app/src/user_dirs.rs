//! The user's directories for referee's state and cache, after the XDG base directory specification.

use std::path::{Path, PathBuf};

use crate::session::config_files::env;

/// Returns the directory of the store. `None` without a home directory: referee works without a store (LOOP-7).
pub(crate) fn state_dir() -> Option<PathBuf> {
    resolve_dir("XDG_STATE_HOME", ".local/state")
}

/// Returns the directory of fetched commits and cached responses.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    resolve_dir("XDG_CACHE_HOME", ".cache")
}

/// The specification says that a relative path in such a variable is invalid and ignored.
fn resolve_dir(variable: &str, below_home: &str) -> Option<PathBuf> {
    let configured = env(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let default = || Some(Path::new(&env("HOME").filter(|home| !home.is_empty())?).join(below_home));
    configured.or_else(default).map(|folder| folder.join("referee"))
}
