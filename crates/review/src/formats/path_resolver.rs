//! Paths as tools write them, as paths of the repository.

use std::collections::HashSet;
use std::path::Path;

use super::ReportContext;

/// What is known of where files are.
#[derive(Debug)]
pub(super) struct PathResolver<'a> {
    /// Where the repository was, as given and with links followed, in `/`.
    roots: Vec<String>,
    changed_files: HashSet<&'a str>,
}

impl<'a> PathResolver<'a> {
    pub(super) fn new(origin: &ReportContext<'a>) -> Self {
        let canonical = origin.checkout_root.and_then(|root| root.canonicalize().ok());
        let roots = origin.checkout_root.into_iter().chain(canonical.as_deref());
        Self {
            roots: roots.filter_map(normalize_root).collect(),
            changed_files: origin.changed_files.iter().map(String::as_str).collect(),
        }
    }

    /// Whether the change has that file.
    pub(super) fn is_changed_file(&self, path: &str) -> bool {
        self.changed_files.contains(path)
    }

    /// A path in the repository, or nothing for one outside.
    pub(super) fn resolve_path(&self, text: &str) -> Option<String> {
        // Some names hold what looks like a separator of another system.
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
            true => self.roots.iter().find_map(|root| normalize_path(strip_root(&path, root)?)),
            false => normalize_path(&path),
        }
    }

    /// A URI reference, as SARIF writes it: relative ones are percent-encoded too.
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
    // What Windows calls the canonical form of `C:/x`.
    Some(root.trim_start_matches("//?/").trim_end_matches('/').to_owned())
}

/// `///path`, `//localhost/path` and `/path` are the same file; `///C:/path` is one on Windows.
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
    // Windows compares names without regard to case.
    let same = if has_drive(path) { head.eq_ignore_ascii_case(root) } else { head == root };
    path.get(root.len()..).filter(|_| same)?.strip_prefix('/')
}

/// Without `.` and `..`; nothing where it leaves the repository or names its root.
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

/// `%20` is a blank; what is no such code stays as it is.
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
