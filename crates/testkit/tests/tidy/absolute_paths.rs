//! No file contains an absolute path of a developer's machine: it is wrong on every other machine.

use crate::source_tree::SourceTree;
use crate::{Violation, assert_none, locations};

/// Concatenated so that this file does not violate its own rule.
const HOMES: [&str; 5] = [
    concat!("/", "home/"),
    concat!("/", "Users/"),
    concat!("/", "root/"),
    concat!("/", "work/"),
    concat!(":\\", "Users\\"),
];

fn check(tree: &SourceTree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in &tree.files {
        for (line, text) in file.lines() {
            if let Some(home) = HOMES.iter().find(|home| contains_path(text, home)) {
                let what = format!("an absolute path of a machine (`{home}…`)");
                violations.push(Violation::new(
                    &file.path,
                    line,
                    what,
                    "write it relative to the root of the repository",
                ));
            }
        }
    }
    violations
}

/// Whether `home` begins a path in `text`, rather than continuing one.
fn contains_path(text: &str, home: &str) -> bool {
    text.match_indices(home).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        home.starts_with(':') || before.is_none_or(|c| !c.is_alphanumeric() && !"._-/}>".contains(c))
    })
}

#[test]
fn no_file_contains_an_absolute_path() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn an_absolute_path_is_caught() {
    let home = HOMES[0];
    let windows = HOMES[4];
    let text = format!("see `{home}kim/x`\nhttps://example.org{home}x\ncrates{home}x\nC{windows}kim");
    let tree = SourceTree::from_files(&[("docs/a.md", &text)]);
    assert_eq!(locations(check(&tree)), ["docs/a.md:1", "docs/a.md:4"]);
}
