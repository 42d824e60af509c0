//! Which threads a scan looks at (TRI-1).

use super::OwnIdentities;
use crate::model::{Author, Thread};

/// Which threads a scan looks at; the default is unresolved ones that are not outdated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadFilter {
    /// Resolved ones.
    pub resolved: ResolvedThreads,
    /// Outdated ones.
    pub outdated: OutdatedThreads,
    /// Only threads opened by one of these; empty is anybody. `[bot]` and case do not matter.
    pub authors: Vec<String>,
    /// Only threads on one of these: a file, a folder, a pattern; empty is anywhere.
    pub paths: Vec<String>,
}

/// What happens to resolved threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResolvedThreads {
    /// They are left out.
    #[default]
    Exclude,
    /// They are shown.
    Include,
}

/// What happens to outdated threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutdatedThreads {
    /// They are left out.
    #[default]
    Exclude,
    /// They are shown.
    Include,
}

impl ThreadFilter {
    /// Every thread there is.
    pub fn include_all() -> Self {
        Self { resolved: ResolvedThreads::Include, outdated: OutdatedThreads::Include, ..Self::default() }
    }

    /// Whether a thread is looked at.
    pub fn matches(&self, thread: &Thread, own: &OwnIdentities<'_>) -> bool {
        (self.resolved == ResolvedThreads::Include || own.thread_closure(thread).is_none())
            && (self.outdated == OutdatedThreads::Include || !thread.outdated)
            && (self.authors.is_empty() || thread.root().is_some_and(|root| self.matches_author(&root.author)))
            && (self.paths.is_empty() || thread.path.as_deref().is_some_and(|path| self.matches_path(path)))
    }

    fn matches_author(&self, author: &Author) -> bool {
        self.authors.iter().any(|wanted| normalise_login(wanted) == normalise_login(author.display_name()))
    }

    fn matches_path(&self, path: &str) -> bool {
        self.paths.iter().any(|wanted| {
            let folder = wanted.strip_suffix('/').unwrap_or(wanted);
            path == folder
                || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
                || fast_glob::glob_match(wanted, path)
        })
    }
}

/// A name as people type it.
fn normalise_login(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix('@').unwrap_or(&name);
    match name.strip_suffix("[bot]").unwrap_or(name) {
        "codex" => "chatgpt-codex-connector".to_owned(),
        "coderabbit" => "coderabbitai".to_owned(),
        other => other.to_owned(),
    }
}
