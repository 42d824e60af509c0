//! Selects the threads of a scan (TRI-1).

use super::OwnIdentities;
use crate::model::{Author, Thread};

/// Selects threads. The default selects unresolved ones that are not outdated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadFilter {
    pub resolved: ResolvedThreads,
    pub outdated: OutdatedThreads,
    /// Only threads opened by one of these logins. Empty: any. Ignores case and a `[bot]` suffix.
    pub authors: Vec<String>,
    /// Only threads in one of these files, directories or glob patterns. Empty: any.
    pub paths: Vec<String>,
}

/// Whether resolved threads are selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResolvedThreads {
    #[default]
    Exclude,
    Include,
}

/// Whether outdated threads are selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutdatedThreads {
    #[default]
    Exclude,
    Include,
}

impl ThreadFilter {
    /// Selects every thread.
    pub fn include_all() -> Self {
        Self { resolved: ResolvedThreads::Include, outdated: OutdatedThreads::Include, ..Self::default() }
    }

    pub fn matches(&self, thread: &Thread, own: &OwnIdentities<'_>) -> bool {
        (self.resolved == ResolvedThreads::Include || own.thread_closure(thread).is_none())
            && (self.outdated == OutdatedThreads::Include || !thread.outdated)
            && (self.authors.is_empty() || thread.root().is_some_and(|root| self.matches_author(&root.author)))
            && (self.paths.is_empty() || thread.path.as_deref().is_some_and(|path| self.selects_path(path)))
    }

    fn matches_author(&self, author: &Author) -> bool {
        self.authors.iter().any(|wanted| normalise_login(wanted) == normalise_login(author.display_name()))
    }

    /// Returns whether a file is selected.
    pub(super) fn selects_path(&self, path: &str) -> bool {
        self.paths.is_empty()
            || self.paths.iter().any(|wanted| {
                let dir = wanted.strip_suffix('/').unwrap_or(wanted);
                path == dir
                    || path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
                    || fast_glob::glob_match(wanted, path)
            })
    }
}

/// Normalises a login as people type it, with short names of well-known bots.
fn normalise_login(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix('@').unwrap_or(&name);
    match name.strip_suffix("[bot]").unwrap_or(name) {
        "codex" => "chatgpt-codex-connector".to_owned(),
        "coderabbit" => "coderabbitai".to_owned(),
        other => other.to_owned(),
    }
}
