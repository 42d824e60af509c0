//! Resolves the paths that tools write to paths of the repository.

use std::collections::HashSet;
use std::path::Path;

use super::ReportContext;

#[derive(Debug)]
pub(super) struct PathResolver<'a> {
    /// The folder of the checkout, as given and canonical, with `/` as the separator.
    roots: Vec<String>,
    changed_files: HashSet<&'a str>,
}

impl<'a> PathResolver<'a> {
    pub(super) fn new(context: &ReportContext<'a>) -> Self {
        let canonical = context.checkout_root.and_then(|root| root.canonicalize().ok());
        let roots = context.checkout_root.into_iter().chain(canonical.as_deref());
        Self {
            roots: roots.filter_map(normalize_root).collect(),
            changed_files: context.changed_files.iter().map(String::as_str).collect(),
        }
    }

    pub(super) fn is_changed_file(&self, path: &str) -> bool {
        self.changed_files.contains(path)
    }

    /// Returns a path relative to the repository, or `None` for a path outside of it.
    pub(super) fn resolve_path(&self, text: &str) -> Option<String> {
        // A file name may contain `\`, which is the separator of another system.
        if self.is_changed_file(text) {
            return Some(text.to_owned());
        }
        if let Some(rest) = text.strip_prefix("file:") {
            return self.resolve_path(&percent_decode(strip_host(rest)));
        }
        let path = text.replace('\\', "/");
        if path.contains('\0') || path.contains("://") {
            return None;
        }
        match is_absolute(&path) {
            true => {
                let in_checkout = self.roots.iter().find_map(|root| normalize_path(strip_root(&path, root)?));
                in_checkout.or_else(|| self.find_in_container(&path))
            }
            false => normalize_path(&path),
        }
    }

    /// Finds the changed file that a tool saw under another root, such as `/app/src/a.py` in a container. A file of the same
    /// name elsewhere on the system is another one, so the root has one folder, or the path in the repository has two names.
    fn find_in_container(&self, path: &str) -> Option<String> {
        let mut rest = path.trim_start_matches('/');
        let mut depth = 0;
        while let Some((_, below)) = rest.split_once('/') {
            (rest, depth) = (below, depth + 1);
            if self.is_changed_file(rest) && (depth <= 1 || rest.contains('/')) {
                return Some(rest.to_owned());
            }
        }
        None
    }

    /// Resolves a URI reference of SARIF. Relative references are percent-encoded too.
    pub(super) fn resolve_uri(&self, text: &str) -> Option<String> {
        if text.starts_with("file:") || self.is_changed_file(text) {
            self.resolve_path(text)
        } else {
            self.resolve_path(&percent_decode(text))
        }
    }
}

fn normalize_root(root: &Path) -> Option<String> {
    let root = root.to_str()?.replace('\\', "/");
    // Windows writes the canonical form of `C:/x` as `//?/C:/x`.
    Some(root.trim_start_matches("//?/").trim_end_matches('/').to_owned())
}

/// Strips the host of a `file:` URI: `///path`, `//localhost/path` and `/path` name the same file, and `///C:/path` names
/// one on Windows.
fn strip_host(rest: &str) -> &str {
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.find('/').map_or("", |at| &rest[at..]),
        None => rest,
    };
    path.strip_prefix('/').filter(|path| has_drive(path)).unwrap_or(path)
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || has_drive(path)
}

fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':') && bytes.get(2) == Some(&b'/')
}

fn strip_root<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    let head = path.get(..root.len())?;
    // File names on Windows are case-insensitive.
    let same = if has_drive(path) { head.eq_ignore_ascii_case(root) } else { head == root };
    path.get(root.len()..).filter(|_| same)?.strip_prefix('/')
}

/// Removes `.` and `..`. Returns `None` for a path that leaves the repository or names its root.
fn normalize_path(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Decodes `%20` and the like. A `%` without two hex digits stays.
fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = (*byte == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let code = code.filter(|code| code.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        plain.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
}
