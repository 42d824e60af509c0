use std::path::{Path, PathBuf};
use std::{env, fmt};

/// A server as `.ci/servers` builds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServerBuild {
    /// Gitea 1.26.0.
    Gitea126,
    /// Gitea 1.27.3.
    Gitea127,
    /// Forgejo 10.
    Forgejo10,
}

impl ServerBuild {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Gitea126, Self::Gitea127, Self::Forgejo10];

    /// What its folder is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gitea126 => "gitea-1.26.0",
            Self::Gitea127 => "gitea-1.27.3",
            Self::Forgejo10 => "forgejo-10",
        }
    }

    /// The program.
    pub(super) fn program_path(self) -> Result<PathBuf, String> {
        let program = cache_dir()?.join(self.name()).join(self.name().split('-').next().unwrap_or_default());
        if program.is_file() {
            return Ok(program);
        }
        Err(format!("there is no `{}`\n\nhint: `.ci/servers` builds it", program.display()))
    }

    /// What the program reads while it runs.
    pub(super) fn static_files(self) -> Result<PathBuf, String> {
        Ok(cache_dir()?.join(self.name()).join("src"))
    }
}

/// Where things are kept between runs: the same folder as in `.ci/tools`.
pub fn cache_dir() -> Result<PathBuf, String> {
    let folder = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let default = || folder("HOME").map(|home| home.join(".cache"));
    folder("REFEREE_CACHE")
        .or_else(|| folder("XDG_CACHE_HOME").or_else(default).map(|cache| cache.join(Path::new("referee-ci"))))
        .ok_or_else(|| "set HOME or REFEREE_CACHE".to_owned())
}

impl fmt::Display for ServerBuild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
