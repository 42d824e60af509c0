//! The house as the checks see it: every text file of the checkout, by its path from the root.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) struct House {
    pub(crate) files: Vec<File>,
}

pub(crate) struct File {
    /// From the root, with `/` on every system.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl House {
    pub(crate) fn load() -> Self {
        let mut files = Vec::new();
        walk(&root(), &root(), &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    /// A house of samples, for the test that a check can fail.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| File { path: (*path).into(), text: (*text).into() });
        Self { files: files.collect() }
    }

    /// Rust sources of the crates, tests included.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|it| it.path.starts_with("crates/") && it.path.ends_with(".rs"))
    }

    pub(crate) fn markdown(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|it| it.path.ends_with(".md"))
    }

    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|it| it.path == path)
    }

    /// Whether a file, a folder or (without its `.rs`) a module of that path is there.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let module = format!("{path}.rs");
        let folder = format!("{path}/");
        self.files.iter().any(|it| it.path == path || it.path == module || it.path.starts_with(&folder))
    }
}

impl File {
    /// The folder under `crates/`, or nothing for a file elsewhere.
    pub(crate) fn room(&self) -> &str {
        self.path.strip_prefix("crates/").and_then(|rest| rest.split('/').next()).unwrap_or_default()
    }

    /// Test code by its place. Test modules inside a source are known by `Rust::in_test`.
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

/// Hidden folders that belong to the project; all others belong to a tool or a person.
const OURS: [&str; 6] = [".ci", ".cargo", ".config", ".forgejo", ".gitea", ".github"];

fn walk(root: &Path, folder: &Path, files: &mut Vec<File>) {
    let entries = fs::read_dir(folder).expect("the checkout can be read");
    for entry in entries {
        let entry = entry.expect("the checkout can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        let kind = entry.file_type().expect("the checkout can be read");
        if kind.is_dir() {
            let foreign = name.starts_with('.') && !OURS.contains(&name.as_str());
            if !foreign && name != "target" && name != "node_modules" {
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
fn the_walk_finds_this_file_and_no_build_output() {
    let house = House::load();
    assert!(house.file("crates/testkit/tests/tidy/house.rs").is_some());
    assert!(house.file(".ci/run").is_some());
    assert!(!house.files.iter().any(|it| it.path.starts_with("target/") || it.path.starts_with(".git/")));
}

#[test]
fn a_module_may_be_named_as_file_or_folder() {
    let house = House::of(&[("crates/core/src/facts.rs", ""), ("crates/core/src/mark/tag.rs", "")]);
    assert!(house.has("crates/core/src/facts"));
    assert!(house.has("crates/core/src/mark/"));
    assert!(!house.has("crates/core/src/fact"));
}
