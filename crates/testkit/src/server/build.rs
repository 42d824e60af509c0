use std::path::{Path, PathBuf};
use std::{env, fmt};

/// A server version that `.ci/servers` builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServerBuild {
    Gitea126,
    Gitea127,
    Forgejo10,
}

impl ServerBuild {
    pub const ALL: [Self; 3] = [Self::Gitea126, Self::Gitea127, Self::Forgejo10];

    /// Returns the name of its build folder.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gitea126 => "gitea-1.26.0",
            Self::Gitea127 => "gitea-1.27.3",
            Self::Forgejo10 => "forgejo-10",
        }
    }

    /// Returns the path of the server's executable.
    pub(super) fn program_path(self) -> Result<PathBuf, String> {
        let program = cache_dir()?.join(self.name()).join(self.name().split('-').next().unwrap_or_default());
        if program.is_file() {
            return Ok(program);
        }
        Err(format!("there is no `{}`\n\nhint: `.ci/servers` builds it", program.display()))
    }

    /// Returns the folder with the static files that the executable reads at run time.
    pub(super) fn static_files(self) -> Result<PathBuf, String> {
        Ok(cache_dir()?.join(self.name()).join("src"))
    }
}

/// Returns the cache folder between runs; `.ci/tools` uses the same one.
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
