//! Symbolic links that connect a worker's change with a protected path (DSP-15).
//!
//! | row | example |
//! |---|---|
//! | a changed link leads to a protected path, or into or around one | `notes -> .github/workflows`, `all -> .` |
//! | a changed link gives a file a protected name | `deploy -> x`, with `x/CODEOWNERS` in the tree |
//! | a changed file has a protected name through a link | `CLAUDE.md -> docs/guide.md`, with a change of `docs/guide.md` |
//!
//! Targets are followed inside the tree, through links on the way. A link that leaves the tree is an escape, which
//! another row refuses.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;

use super::protected_paths::{ProtectedPaths, fold_path};
use crate::model::ProtectedLink;
use crate::policy::Policy;

/// A file or symbolic link of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    pub path: String,
    /// The target of a symbolic link; `None` for other files.
    pub link_target: Option<String>,
}

/// Returns the changed paths that a link connects with a protected path. `before` and `after` are the whole trees,
/// `changed` the paths that the pull changes with or without the worker's commits.
pub fn find_protected_links(
    policy: &Policy,
    before: &[TreeEntry],
    after: &[TreeEntry],
    changed: &[&str],
) -> Vec<ProtectedLink> {
    let protected = ProtectedPaths::new(policy);
    let (before, after) = (LinkedTree::new(before), LinkedTree::new(after));
    let mut found = Vec::new();
    let (routes_before, routes_after) = (before.list_routes(), after.list_routes());
    for route in &routes_after {
        let link = &after.links[&route.name];
        let is_new = before.links.get(&route.name).is_none_or(|known| known.target != link.target);
        if let Some(reached) = is_new.then(|| after.find_reached(route, &protected)).flatten() {
            found.push(ProtectedLink { path: link.path.to_owned(), protected: reached });
        }
    }
    for path in changed {
        let folded = fold_path(path);
        let mut aliases = routes_before.iter().chain(&routes_after).filter_map(|route| route.find_alias(&folded));
        let alias = aliases.find(|alias| protected.contains(alias));
        found.extend(alias.map(|alias| ProtectedLink { path: (*path).to_owned(), protected: alias }));
    }
    found
}

/// A tree with the names as a file system without case would compare them.
struct LinkedTree<'a> {
    files: BTreeSet<String>,
    links: BTreeMap<String, LinkNode<'a>>,
}

struct LinkNode<'a> {
    path: &'a str,
    target: &'a str,
}

/// As many links as Linux follows.
const MAX_LINKS_FOLLOWED: usize = 40;

impl<'a> LinkedTree<'a> {
    fn new(entries: &'a [TreeEntry]) -> Self {
        let mut tree = Self { files: BTreeSet::new(), links: BTreeMap::new() };
        for TreeEntry { path, link_target } in entries {
            let name = fold_path(path);
            if let Some(target) = link_target {
                tree.links.insert(name.clone(), LinkNode { path, target });
            }
            tree.files.insert(name);
        }
        tree
    }

    /// Follows every link. Leaves out links that leave the tree or run in a circle.
    fn list_routes(&self) -> Vec<LinkRoute> {
        self.links.keys().filter_map(|name| self.follow(name)).collect()
    }

    fn follow(&self, name: &str) -> Option<LinkRoute> {
        let mut pending: VecDeque<String> = name.split('/').map(str::to_owned).collect();
        let mut reached: Vec<String> = Vec::new();
        let mut passed: Vec<String> = Vec::new();
        while let Some(part) = pending.pop_front() {
            match part.as_str() {
                "" | "." => continue,
                ".." => drop(reached.pop()?),
                _ => reached.push(part),
            }
            let path = reached.join("/");
            let Some(link) = self.links.get(&path) else { continue };
            if passed.len() == MAX_LINKS_FOLLOWED || link.target.starts_with('/') {
                return None;
            }
            passed.push(path);
            reached.pop();
            for part in fold_path(link.target).rsplit('/') {
                pending.push_front(part.to_owned());
            }
        }
        Some(LinkRoute { name: name.to_owned(), passed, target: reached.join("/") })
    }

    /// Returns the protected path that a link reaches, or the protected name that it gives a file.
    fn find_reached(&self, route: &LinkRoute, protected: &ProtectedPaths) -> Option<String> {
        let LinkRoute { name, target, .. } = route;
        if protected.contains(target) {
            return Some(target.clone());
        }
        let start = if target.is_empty() { String::new() } else { format!("{target}/") };
        let rest = self.files.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
        let mut below = rest.take_while(|file| file.starts_with(&start));
        below.find_map(|file| {
            let alias = format!("{name}/{}", relative_to(target, file));
            [file.clone(), alias].into_iter().find(|name| protected.contains(name))
        })
    }
}

/// A link and where it leads.
struct LinkRoute {
    name: String,
    /// The links that were followed, the first of them included.
    passed: Vec<String>,
    /// The root is the empty path.
    target: String,
}

impl LinkRoute {
    /// Returns the name that this link gives to a path.
    fn find_alias(&self, path: &str) -> Option<String> {
        let Self { name, passed, target } = self;
        if target == path || passed[1..].iter().any(|link| link == path) {
            return Some(name.clone());
        }
        let is_below =
            target.is_empty() || path.strip_prefix(target.as_str()).is_some_and(|rest| rest.starts_with('/'));
        is_below.then(|| format!("{name}/{}", relative_to(target, path)))
    }
}

fn relative_to<'a>(folder: &str, path: &'a str) -> &'a str {
    path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/')
}
