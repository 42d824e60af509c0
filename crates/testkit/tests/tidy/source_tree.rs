//! The text files of the checkout, by their path from the root.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) struct SourceTree {
    pub(crate) files: Vec<File>,
}

pub(crate) struct File {
    /// From the root, with `/` on every system.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceTree {
    pub(crate) fn load() -> Self {
        let mut files = Vec::new();
        walk(&root(), &root(), &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    /// Builds a tree of samples, for the tests that a check can fail.
    pub(crate) fn from_files(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| File { path: (*path).into(), text: (*text).into() });
        Self { files: files.collect() }
    }

    /// Returns the Rust files of all crates, tests included.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|it| it.path.starts_with("crates/") && it.path.ends_with(".rs"))
    }

    pub(crate) fn markdown(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|it| it.path.ends_with(".md"))
    }

    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|it| it.path == path)
    }

    /// Whether a file, a folder or (without its `.rs`) a module with this path exists.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let module = format!("{path}.rs");
        let folder = format!("{path}/");
        self.files.iter().any(|it| it.path == path || it.path == module || it.path.starts_with(&folder))
    }
}

impl File {
    /// Returns the folder under `crates/`; empty for a file outside of it.
    pub(crate) fn crate_name(&self) -> &str {
        self.path.strip_prefix("crates/").and_then(|rest| rest.split('/').next()).unwrap_or_default()
    }

    /// Whether the whole file is test code. `RustSource::in_test` finds test modules inside a source file.
    pub(crate) fn is_test(&self) -> bool {
        ["/tests/", "/benches/", "/examples/", "/fuzz/"].iter().any(|folder| self.path.contains(folder))
            || self.path.ends_with("/tests.rs")
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Hidden folders that belong to the project. All others belong to a tool or a person and are skipped.
const HIDDEN_FOLDERS: [&str; 6] = [".ci", ".cargo", ".config", ".forgejo", ".gitea", ".github"];

fn walk(root: &Path, folder: &Path, files: &mut Vec<File>) {
    let entries = fs::read_dir(folder).expect("the checkout can be read");
    for entry in entries {
        let entry = entry.expect("the checkout can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        let kind = entry.file_type().expect("the checkout can be read");
        if kind.is_dir() {
            let skipped = name.starts_with('.') && !HIDDEN_FOLDERS.contains(&name.as_str());
            if !skipped && name != "target" && name != "node_modules" {
                walk(root, &path, files);
            }
        } else if kind.is_file()
            && name != ".git"
            && let Ok(text) = fs::read_to_string(&path)
        {
            let inside = path.strip_prefix(root).expect("the walk stays inside");
            let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
            files.push(File { path: parts.join("/"), text });
        }
    }
}

#[test]
fn the_tree_has_this_file_and_no_build_output() {
    let tree = SourceTree::load();
    assert!(tree.file("crates/testkit/tests/tidy/source_tree.rs").is_some());
    assert!(tree.file(".ci/run").is_some());
    assert!(!tree.files.iter().any(|it| it.path.starts_with("target/") || it.path.starts_with(".git/")));
}

#[test]
fn a_module_is_found_by_file_or_folder() {
    let tree = SourceTree::from_files(&[("crates/core/src/facts.rs", ""), ("crates/core/src/mark/tag.rs", "")]);
    assert!(tree.has("crates/core/src/facts"));
    assert!(tree.has("crates/core/src/mark/"));
    assert!(!tree.has("crates/core/src/fact"));
}
