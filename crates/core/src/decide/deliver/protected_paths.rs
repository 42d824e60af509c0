//! Paths that no worker may change (DSP-15): those of the policy, and files that control how the repository is built,
//! run or trusted.

use crate::policy::Policy;
use crate::track::ChangedFile;

/// Protected with any policy: code owners, referee's config, hooks and lock files.
const ALWAYS_PROTECTED: [&str; 16] = [
    "**/codeowners",
    "referee.toml",
    ".gitmodules",
    ".githooks/**",
    ".husky/**",
    "**/.pre-commit-config.y*ml",
    "**/{.,}lefthook{-local,}.{yml,yaml,toml,json}",
    "**/*.lock",
    "**/*.lockb",
    "**/*.lockfile",
    "**/*-lock.json",
    "**/*-lock.yaml",
    "**/*.lock.json",
    "**/*.lock.hcl",
    "**/npm-shrinkwrap.json",
    "**/go.sum",
];

/// Returns the first protected path, looking at the old and the new name of each file.
pub(super) fn find_protected_path<'a>(
    policy: &Policy,
    files: impl Iterator<Item = &'a ChangedFile>,
) -> Option<&'a str> {
    let globs: Vec<String> = policy.protected.iter().map(|glob| glob.to_ascii_lowercase()).collect();
    // Some file systems ignore case, so compare in lower case.
    let is_protected = |path: &&str| {
        let path = path.to_ascii_lowercase();
        let mut all = ALWAYS_PROTECTED.iter().copied().chain(globs.iter().map(String::as_str));
        all.any(|glob| fast_glob::glob_match(glob, &path))
    };
    let mut names = files.flat_map(|file| std::iter::once(file.path.as_str()).chain(file.old_path.as_deref()));
    names.find(is_protected)
}
