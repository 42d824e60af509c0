//! What no worker may touch (DSP-15): what policy names, and what decides how the repository builds, runs or trusts.

use crate::policy::Policy;
use crate::track::ChangedFile;

/// Whatever the policy says: code owners, referee's own config, hooks, and lock files.
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

/// The first file that is protected, by its name before or after.
pub(super) fn find_protected_path<'a>(
    policy: &Policy,
    files: impl Iterator<Item = &'a ChangedFile>,
) -> Option<&'a str> {
    let globs: Vec<String> = policy.protected.iter().map(|glob| glob.to_ascii_lowercase()).collect();
    // A name in other letters is the same file on some disks.
    let guarded = |path: &&str| {
        let path = path.to_ascii_lowercase();
        let mut all = ALWAYS_PROTECTED.iter().copied().chain(globs.iter().map(String::as_str));
        all.any(|glob| fast_glob::glob_match(glob, &path))
    };
    let mut names = files.flat_map(|file| std::iter::once(file.path.as_str()).chain(file.old_path.as_deref()));
    names.find(guarded)
}
