//! What the docs name exists: paths in backticks, targets of links, and types in the docs that explain the code.
//!
//! What is named but not there yet stands in `docs/to-come.md`, one row per part. A row goes when all of it is there.

use std::collections::BTreeSet;

use crate::house::{File, House};
use crate::rust::Rust;
use crate::{Complaint, hold, places};

const TO_COME: &str = "docs/to-come.md";
const HISTORY: &str = "CHANGELOG.md";
const FOLDERS: [&str; 3] = ["crates/", "docs/", ".ci/"];
const KNOWN: [&str; 6] = ["BTreeMap", "HashMap", "Option", "Result", "String", "Vec"];

fn check(house: &House) -> Vec<Complaint> {
    let types = declared(house);
    let parts: Vec<Part> = house.file(TO_COME).map(read_parts).unwrap_or_default();
    let coming = |name: &str| parts.iter().any(|part| part.covers(name));
    let mut named = BTreeSet::new();
    let mut complaints = Vec::new();
    for file in house.markdown().filter(|it| it.path != HISTORY && it.path != TO_COME) {
        for (line, text) in prose(file) {
            for path in paths(&text).into_iter().chain(links(file, &text)) {
                if !house.has(&path) && !coming(&path) {
                    complaints.push(missing(file, line, "path", &path));
                }
                named.insert(path);
            }
            let explains = types_are_checked(&file.path);
            for name in type_names(file, &text).into_iter().filter(|_| explains) {
                if !types.contains(&name) && !coming(&name) {
                    complaints.push(missing(file, line, "type", &name));
                }
                named.insert(name);
            }
        }
    }
    complaints.extend(parts.iter().flat_map(|part| part.check(house, &types, &named)));
    complaints
}

fn missing(file: &File, line: usize, kind: &str, name: &str) -> Complaint {
    let what = format!("the {kind} `{name}` does not exist");
    Complaint::new(&file.path, line, what, format!("correct the name, or list it in `{TO_COME}` under its part"))
}

fn types_are_checked(path: &str) -> bool {
    matches!(path, "ARCHITECTURE.md" | "GLOSSARY.md") || path.starts_with("docs/flows/")
}

struct Part {
    name: String,
    names: Vec<String>,
    line: usize,
}

fn read_parts(file: &File) -> Vec<Part> {
    let rows = file.lines().filter(|(_, text)| text.starts_with("| ") && text.contains('`'));
    rows.map(|(line, text)| {
        let name = text.trim_matches(['|', ' ']).split('|').next().unwrap_or_default().trim().to_owned();
        Part { name, names: spans(text), line }
    })
    .collect()
}

impl Part {
    /// A listed folder covers what is in it.
    fn covers(&self, name: &str) -> bool {
        self.names.iter().any(|it| it == name || name.starts_with(&format!("{}/", it.trim_end_matches('/'))))
    }

    fn check(&self, house: &House, types: &BTreeSet<String>, named: &BTreeSet<String>) -> Vec<Complaint> {
        let there = |name: &String| {
            if name.contains('/') { house.has(name) } else { types.contains(name) }
        };
        let covers = |name: &&String| named.iter().any(|it| it == *name || it.starts_with(&format!("{name}/")));
        let mut complaints = Vec::new();
        if self.names.iter().all(there) {
            let what = format!("all of \"{}\" is there", self.name);
            complaints.push(Complaint::new(TO_COME, self.line, what, "delete the row"));
        }
        for name in self.names.iter().filter(|name| !covers(name)) {
            let what = format!("no doc names `{name}`");
            complaints.push(Complaint::new(TO_COME, self.line, what, "delete it from the row"));
        }
        complaints
    }
}

/// Lines outside fenced blocks.
fn prose(file: &File) -> impl Iterator<Item = (usize, String)> {
    let mut fenced = false;
    file.lines().filter_map(move |(line, text)| {
        let fence = text.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then(|| (line, text.to_owned()))
    })
}

fn spans(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn paths(text: &str) -> Vec<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let is_path = |span: &String| FOLDERS.iter().any(|it| span.starts_with(it)) && span.chars().all(plain);
    spans(text).into_iter().filter(is_path).map(|it| it.trim_end_matches('/').to_owned()).collect()
}

/// Targets inside the repository, from its root.
fn links(file: &File, text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let inside = targets.filter(|it| !it.contains("://") && !it.starts_with(['#', '<']) && !it.starts_with("mailto:"));
    inside
        .map(|target| {
            let target = target.split('#').next().unwrap_or_default();
            let mut folder: Vec<&str> = file.path.split('/').collect();
            folder.pop();
            for step in target.split('/') {
                match step {
                    ".." => drop(folder.pop()),
                    "." | "" => {}
                    _ => folder.push(step),
                }
            }
            folder.join("/")
        })
        .collect()
}

/// Camel-case names, also of `Next::Review(briefs)` and `Plan { steps }`. The last column of the glossary holds names
/// that must not exist.
fn type_names(file: &File, text: &str) -> Vec<String> {
    let row = text.trim_end().strip_suffix('|').filter(|_| file.path == "GLOSSARY.md" && text.starts_with('|'));
    let text = row.and_then(|row| row.rsplit_once('|')).map_or(text, |(head, _)| head);
    let mut names = Vec::new();
    for span in spans(text) {
        let end = span.find(|c: char| !c.is_ascii_alphanumeric() && c != ':').unwrap_or(span.len());
        let (head, rest) = span.split_at(end);
        let whole = rest.is_empty() || rest.trim_start().starts_with(['(', '{', '<']);
        let parts = head.split("::").filter(|part| is_camel(part) && !KNOWN.contains(part));
        names.extend(parts.filter(|_| whole).map(str::to_owned));
    }
    names
}

fn is_camel(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase()) && word.contains(|c: char| c.is_ascii_lowercase())
}

/// Types by keyword, variants, and the names that a macro at a file's root is given (`id! { PullId }`).
fn declared(house: &House) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in house.rust() {
        let rust = Rust::read(&file.text);
        for (index, word) in rust.words().filter(|(_, word)| is_camel(word)) {
            let before = rust.text(index.wrapping_sub(1));
            let keyword = matches!(before, "struct" | "enum" | "trait" | "type" | "union");
            if keyword || is_variant(&rust, index) || is_given_to_macro(&rust, index) {
                names.insert(word.to_owned());
            }
        }
    }
    names
}

fn is_variant(rust: &Rust<'_>, index: usize) -> bool {
    let Some(open) = rust.parent(index) else {
        return false;
    };
    let start = (0..open).rev().find(|it| matches!(rust.text(*it), "enum" | ";" | "}" | "{" | ")")).unwrap_or(0);
    rust.text(open) == "{" && rust.text(start) == "enum" && matches!(rust.text(index - 1), "{" | "," | "]")
}

fn is_given_to_macro(rust: &Rust<'_>, index: usize) -> bool {
    let Some(open) = rust.parent(index) else {
        return false;
    };
    rust.parent(open).is_none() && rust.text(open.wrapping_sub(1)) == "!"
}

#[test]
#[expect(clippy::print_stdout, reason = "what is still to come is worth reading")]
fn docs_name_what_exists() {
    let house = House::load();
    let types = declared(&house);
    for part in house.file(TO_COME).map(read_parts).unwrap_or_default() {
        let there = |name: &&String| {
            if name.contains('/') { !house.has(name) } else { !types.contains(*name) }
        };
        let left: Vec<&str> = part.names.iter().filter(there).map(String::as_str).collect();
        println!("to come, {}: {}", part.name, left.join(" "));
    }
    hold(check(&house));
}

#[test]
fn dead_names_are_caught() {
    let architecture = "
`crates/core/src/lib.rs` and `crates/core/src/gone.rs`, [a](docs/a.md), [b](docs/b.md#x), [c](https://example.org/c)
`Plan { steps }`, `Next::Review(briefs)`, `Next::Later`, `Dream`, `Evaluated against`, `Result`, `PullId`
```
`crates/in/a/fence`
```
see `crates/app/src/daemon/sweep.rs`
";
    let code = "pub struct Plan;\npub enum Next { Idle, #[x] Review(Vec<Brief>), }\nid! { PullId, \"x\" }\n";
    let to_come = "| part | names |\n|---|---|\n| daemon | `crates/app/src/daemon` |\n| plan | `Plan`, `Next` |\n| x | `Unnamed`, `Dream` |\n";
    let house = House::of(&[
        ("ARCHITECTURE.md", architecture),
        ("docs/a.md", "[up](../README.md) `Ghost`"),
        (TO_COME, to_come),
        ("crates/core/src/lib.rs", code),
    ]);
    let want = [
        "ARCHITECTURE.md:2",
        "ARCHITECTURE.md:2",
        "ARCHITECTURE.md:3",
        "docs/a.md:1",
        "docs/to-come.md:4",
        "docs/to-come.md:5",
    ];
    assert_eq!(places(check(&house)), want);
}

#[test]
fn the_glossary_s_last_column_names_what_must_not_exist() {
    let glossary = File { path: "GLOSSARY.md".into(), text: String::new() };
    assert_eq!(type_names(&glossary, "| `Pull` | see `Forge` | `PullRequest` |"), ["Pull", "Forge"]);
}
