//! Which threads a scan looks at (TRI-1).

use super::Own;
use crate::model::{Author, Thread};

/// Which threads a scan looks at; the default is unresolved ones that are not outdated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Resolved ones.
    pub resolved: Resolved,
    /// Outdated ones.
    pub outdated: Outdated,
    /// Only threads opened by one of these; empty is anybody. `[bot]` and case do not matter.
    pub authors: Vec<String>,
    /// Only threads on one of these: a file, a folder, a pattern; empty is anywhere.
    pub paths: Vec<String>,
}

/// What happens to resolved threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resolved {
    /// They are left out.
    #[default]
    LeaveOut,
    /// They are shown.
    Show,
}

/// What happens to outdated threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outdated {
    /// They are left out.
    #[default]
    LeaveOut,
    /// They are shown.
    Show,
}

impl Filter {
    /// Every thread there is.
    pub fn everything() -> Self {
        Self { resolved: Resolved::Show, outdated: Outdated::Show, ..Self::default() }
    }

    /// Whether a thread is looked at.
    pub fn takes(&self, thread: &Thread, own: &Own<'_>) -> bool {
        (self.resolved == Resolved::Show || own.closed(thread).is_none())
            && (self.outdated == Outdated::Show || !thread.outdated)
            && (self.authors.is_empty() || thread.root().is_some_and(|root| self.names(&root.author)))
            && (self.paths.is_empty() || thread.path.as_deref().is_some_and(|path| self.holds(path)))
    }

    fn names(&self, author: &Author) -> bool {
        self.authors.iter().any(|wanted| plain(wanted) == plain(author.name()))
    }

    fn holds(&self, path: &str) -> bool {
        self.paths.iter().any(|wanted| {
            let folder = wanted.strip_suffix('/').unwrap_or(wanted);
            path == folder
                || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
                || fast_glob::glob_match(wanted, path)
        })
    }
}

/// A name as people type it.
fn plain(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix('@').unwrap_or(&name);
    match name.strip_suffix("[bot]").unwrap_or(name) {
        "codex" => "chatgpt-codex-connector".to_owned(),
        "coderabbit" => "coderabbitai".to_owned(),
        other => other.to_owned(),
    }
}
