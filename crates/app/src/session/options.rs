//! What the command line says about where to work, without clap.

use std::path::PathBuf;

use url::Url;

use super::reference::RepoName;
use referee_forge::ForgeKind;

/// Options that every command takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// A config file to use instead of `referee.toml` at the base.
    pub(crate) config: Option<PathBuf>,
    /// The operator file; `None` is the user's own, if there is one.
    pub(crate) operator: Option<PathBuf>,
    /// The folder to work in.
    pub(crate) dir: PathBuf,
    pub(crate) forge: ForgeOptions,
}

/// The forge to use, as far as the command line names it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ForgeOptions {
    pub(crate) kind: Option<ForgeKind>,
    pub(crate) url: Option<Url>,
    pub(crate) repo: Option<RepoName>,
}
