//! Paths that no worker may change (DSP-15): those of the policy, and the files of [`PROTECTED_FILES`].

use std::collections::BTreeSet;

use crate::policy::Policy;
use crate::protected_files::PROTECTED_FILES;
use crate::track::ChangedFile;

/// The protected paths of one policy.
pub(super) struct ProtectedPaths {
    globs: Vec<String>,
}

impl ProtectedPaths {
    pub(super) fn new(policy: &Policy) -> Self {
        let fixed = PROTECTED_FILES.iter().copied().flatten();
        let own = policy.protected.iter().map(|glob| glob.to_lowercase());
        let mut globs: Vec<String> = fixed.map(|glob| (*glob).to_owned()).chain(own).collect();
        // A folder is protected with its content: a file or a link could take its place.
        let folders: BTreeSet<String> = globs.iter().filter_map(|glob| folder_of(glob)).collect();
        globs.extend(folders);
        Self { globs }
    }

    /// Returns whether a worker may not change this path.
    pub(super) fn contains(&self, path: &str) -> bool {
        let path = fold_path(path);
        self.globs.iter().any(|glob| fast_glob::glob_match(glob, &path))
    }

    /// Returns the first protected path, looking at the old and the new name of each file.
    pub(super) fn find<'a>(&self, files: impl Iterator<Item = &'a ChangedFile>) -> Option<&'a str> {
        let mut names = files.flat_map(|file| std::iter::once(file.path.as_str()).chain(file.old_path.as_deref()));
        names.find(|path| self.contains(path))
    }
}

/// Returns the glob of the folder whose content a glob covers.
fn folder_of(glob: &str) -> Option<String> {
    match glob.strip_suffix("/**}") {
        Some(start) => Some(format!("{start}}}")),
        None => glob.strip_suffix("/**").map(str::to_owned),
    }
}

/// Returns a path as the most tolerant file systems compare it: without case, without the invisible characters that HFS+
/// ignores, and without what Windows drops at the end of a name or takes for a separator.
pub(super) fn fold_path(path: &str) -> String {
    // Upper case first: `ſ` and `K` (the Kelvin sign) become `s` and `k` only this way.
    let folded = path.replace('\\', "/").to_uppercase().to_lowercase();
    let visible: String = folded.chars().filter(|char| !is_ignored(*char)).collect();
    let parts = visible.split('/').map(|part| {
        let name = part.split(':').next().unwrap_or_default();
        if name.trim_matches('.').is_empty() { name } else { name.trim_end_matches(['.', ' ']) }
    });
    parts.collect::<Vec<_>>().join("/")
}

fn is_ignored(char: char) -> bool {
    matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
