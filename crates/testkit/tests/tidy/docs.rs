//! What the docs name exists: paths in backticks, targets of links, and types in the docs that explain the code.

use std::collections::BTreeSet;

use crate::rust_source::RustSource;
use crate::source_tree::{File, SourceTree};
use crate::{Violation, assert_none, locations};

/// Old entries of the changelog may name what was removed since.
const HISTORY: &str = "CHANGELOG.md";
const FOLDERS: [&str; 3] = ["crates/", "docs/", ".ci/"];
const STANDARD_TYPES: [&str; 8] = ["Arc", "BTreeMap", "HashMap", "Option", "Result", "Send", "String", "Vec"];

fn check(tree: &SourceTree) -> Vec<Violation> {
    let types = declared_types(tree);
    let mut violations = Vec::new();
    for file in tree.markdown().filter(|it| it.path != HISTORY) {
        for (line, text) in unfenced_lines(file) {
            let mut report_missing = |kind: &str, name: &str| {
                let what = format!("the {kind} `{name}` does not exist");
                violations.push(Violation::new(&file.path, line, what, "correct the name, or remove it"));
            };
            for path in paths(&text).into_iter().chain(link_targets(file, &text)).filter(|path| !tree.has(path)) {
                report_missing("path", &path);
            }
            if explains_code(&file.path) {
                for name in type_names(&text).iter().filter(|name| !types.contains(*name)) {
                    report_missing("type", name);
                }
            }
        }
    }
    violations
}

fn explains_code(path: &str) -> bool {
    matches!(path, "ARCHITECTURE.md" | "GLOSSARY.md") || path.starts_with("docs/flows/")
}

/// Returns the lines outside fenced blocks.
fn unfenced_lines(file: &File) -> impl Iterator<Item = (usize, String)> {
    let mut fenced = false;
    file.lines().filter_map(move |(line, text)| {
        let fence = text.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then(|| (line, text.to_owned()))
    })
}

/// Returns the texts between backticks.
fn code_spans(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn paths(text: &str) -> Vec<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/@".contains(c);
    let is_path = |span: &String| FOLDERS.iter().any(|it| span.starts_with(it)) && span.chars().all(plain);
    code_spans(text).into_iter().filter(is_path).map(|it| it.trim_end_matches('/').to_owned()).collect()
}

/// Returns the link targets inside the repository as paths from its root.
fn link_targets(file: &File, text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let inside = targets.filter(|it| !it.contains("://") && !it.starts_with(['#', '<']) && !it.starts_with("mailto:"));
    inside
        .map(|target| {
            let target = target.split('#').next().unwrap_or_default();
            let mut folder: Vec<&str> = file.path.split('/').collect();
            folder.pop();
            for part in target.split('/') {
                match part {
                    ".." => drop(folder.pop()),
                    "." | "" => {}
                    _ => folder.push(part),
                }
            }
            folder.join("/")
        })
        .collect()
}

/// Returns the camel-case names in code spans, also those of `Next::Spawn(job)` and `Plan { steps }`.
fn type_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for span in code_spans(text) {
        let end = span.find(|c: char| !c.is_ascii_alphanumeric() && c != ':').unwrap_or(span.len());
        let (head, rest) = span.split_at(end);
        let is_rust = rest.is_empty() || rest.trim_start().starts_with(['(', '{', '<']);
        let parts = head.split("::").filter(|part| is_camel_case(part) && !STANDARD_TYPES.contains(part));
        names.extend(parts.filter(|_| is_rust).map(str::to_owned));
    }
    names
}

fn is_camel_case(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase()) && word.contains(|c: char| c.is_ascii_lowercase())
}

/// Returns declared types, enum variants, and names passed to a macro at the root of a file (`id! { PullId }`).
fn declared_types(tree: &SourceTree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in tree.rust() {
        let rust = RustSource::parse(&file.text);
        for (index, word) in rust.idents().filter(|(_, word)| is_camel_case(word)) {
            if rust.declares_type(index) || is_variant(&rust, index) || is_macro_argument(&rust, index) {
                names.insert(word.to_owned());
            }
        }
    }
    names
}

fn is_variant(rust: &RustSource<'_>, index: usize) -> bool {
    let Some(open) = rust.parent(index) else {
        return false;
    };
    let start = (0..open).rev().find(|it| matches!(rust.text(*it), "enum" | ";" | "}" | "{" | ")")).unwrap_or(0);
    rust.text(open) == "{" && rust.text(start) == "enum" && matches!(rust.text(index - 1), "{" | "," | "]")
}

fn is_macro_argument(rust: &RustSource<'_>, index: usize) -> bool {
    let Some(open) = rust.parent(index) else {
        return false;
    };
    rust.parent(open).is_none() && rust.text(open.wrapping_sub(1)) == "!"
}

#[test]
fn docs_name_only_what_exists() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn a_name_that_does_not_exist_is_caught() {
    let architecture = "
`crates/core/src/lib.rs` and `crates/core/src/gone.rs`, [a](docs/a.md), [b](docs/b.md#x), [c](https://example.org/c)
`Plan { steps }`, `Next::Wait(whom)`, `Next::Later`, `Dream`, `Evaluated against`, `Result`, `PullId`
```
`crates/in/a/fence`
```
see `crates/app/src/daemon/sweep.rs`
";
    let code = "pub struct Plan;\npub enum Next { Idle, #[x] Wait(WaitingOn), }\nid! { PullId, \"x\" }\n";
    let tree = SourceTree::from_files(&[
        ("ARCHITECTURE.md", architecture),
        ("docs/a.md", "[up](../README.md) `Ghost`"),
        ("crates/core/src/lib.rs", code),
        ("CHANGELOG.md", "`crates/removed`"),
    ]);
    let want = [
        "ARCHITECTURE.md:2",
        "ARCHITECTURE.md:2",
        "ARCHITECTURE.md:3",
        "ARCHITECTURE.md:3",
        "ARCHITECTURE.md:7",
        "docs/a.md:1",
    ];
    assert_eq!(locations(check(&tree)), want);
}
