//! Looks programs up on the `PATH`.

use std::path::{Path, PathBuf};

/// Used where `PATH` names no absolute folder.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Returns whether a program can be found: a name on the `PATH`, or an absolute path. A relative path is never found:
/// it would name a file of the work copy, which the untrusted change controls.
pub fn is_installed(program: &str) -> bool {
    find_program(program).is_some()
}

pub(crate) fn find_program(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_absolute() && path.is_file());
    }
    list_path_folders()
        .iter()
        .map(|folder| Path::new(folder).join(program))
        .find(|path| !program.is_empty() && path.is_file())
}

/// Returns the absolute folders of `PATH`. Relative ones are left out: they depend on the working directory.
pub(crate) fn list_path_folders() -> Vec<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders: Vec<String> = path.split(':').filter(|folder| folder.starts_with('/')).map(str::to_owned).collect();
    if folders.is_empty() { DEFAULT_PATH.split(':').map(str::to_owned).collect() } else { folders }
}

#[cfg(test)]
mod tests {
    use super::find_program;

    #[test]
    fn a_relative_path_is_never_found() {
        assert_eq!(find_program("./agent"), None);
        assert_eq!(find_program("bin/agent"), None);
        assert_eq!(find_program(""), None);
        assert!(find_program("sh").is_some_and(|path| path.is_absolute()));
    }
}
