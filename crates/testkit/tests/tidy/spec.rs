//! The matrix of `docs/spec.md`: which requirement a test proves in which layer. Every `✓` needs a test that names it.
//!
//! | cell | means |
//! |---|---|
//! | `✓` | proven by a test with the id and the layer above it: `// spec: PUB-3 @core` |
//! | `·` or empty | not proven yet |
//! | `–3` | does not apply, see footnote 3 |
//!
//! A `// spec:` comment belongs to the test, function or macro call that follows within three lines.

use std::collections::{BTreeMap, BTreeSet};

use crate::rust_source::RustSource;
use crate::source_tree::{File, SourceTree};
use crate::{Violation, assert_none, locations};

const SPEC: &str = "docs/spec.md";
const LAYERS: [&str; 7] = ["core", "local", "gitea", "forgejo", "github", "gitlab", "daemon"];

/// Chapters with the number of their requirements.
const CHAPTERS: [(&str, usize); 8] =
    [("PUB", 24), ("INC", 19), ("LOOP", 13), ("TRI", 11), ("FIX", 13), ("DSP", 18), ("SRV", 7), ("SAF", 7)];
const DECISIONS: usize = 45;

type Claims = BTreeSet<(String, &'static str)>;

fn check(tree: &SourceTree) -> Vec<Violation> {
    let Some(file) = tree.file(SPEC) else {
        return vec![Violation::new(SPEC, 1, "the spec is missing", "write it")];
    };
    let spec = read(file);
    let (claims, mut violations) = claims(tree);
    violations.extend(spec.violations.iter().cloned());
    violations.extend(check_ids(&spec));
    violations.extend(check_cells(&spec, &claims));
    violations.extend(check_footnotes(&spec));
    violations
}

struct Spec {
    requirements: BTreeMap<String, Requirement>,
    decisions: BTreeMap<String, usize>,
    footnotes: BTreeMap<String, usize>,
    violations: Vec<Violation>,
}

struct Requirement {
    cells: Vec<String>,
    line: usize,
}

fn read(file: &File) -> Spec {
    let mut spec = Spec {
        requirements: BTreeMap::new(),
        decisions: BTreeMap::new(),
        footnotes: BTreeMap::new(),
        violations: Vec::new(),
    };
    for (line, text) in file.lines() {
        if let Some((number, _)) = text.strip_prefix("- –").and_then(|rest| rest.split_once(": ")) {
            spec.footnotes.insert(number.to_owned(), line);
        }
        let Some(cells) = cells(text) else { continue };
        let id = cells[0].trim_start_matches('[').split(']').next().unwrap_or_default().to_owned();
        if !is_id(&id) {
            continue;
        }
        let twice = if id.contains('-') {
            let rest = cells[1..].iter().skip(1).cloned().collect();
            spec.requirements.insert(id.clone(), Requirement { cells: rest, line }).is_some()
        } else {
            spec.decisions.insert(id.clone(), line).is_some()
        };
        if twice {
            spec.violations.push(Violation::new(SPEC, line, format!("{id} is listed twice"), "keep one"));
        }
    }
    spec
}

/// Returns the cells of a table row; `\|` is a bar inside a cell.
fn cells(text: &str) -> Option<Vec<String>> {
    let inner = text.trim().strip_prefix('|')?.strip_suffix('|')?.replace("\\|", "\u{0}");
    Some(inner.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect())
}

fn is_id(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase() || c == '-');
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && !digits.is_empty()
        && digits.chars().all(|c| c.is_ascii_digit())
}

fn known_ids() -> BTreeSet<String> {
    let lines = CHAPTERS.iter().flat_map(|(chapter, last)| (1..=*last).map(move |n| format!("{chapter}-{n}")));
    lines.chain((1..=DECISIONS).map(|n| format!("D{n}"))).collect()
}

fn check_ids(spec: &Spec) -> Vec<Violation> {
    let listed: BTreeMap<&String, usize> = spec
        .requirements
        .iter()
        .map(|(id, it)| (id, it.line))
        .chain(spec.decisions.iter().map(|(id, line)| (id, *line)))
        .collect();
    let known = known_ids();
    let missing = known.iter().filter(|id| !listed.contains_key(id));
    let missing = missing.map(|id| Violation::new(SPEC, 1, format!("{id} is missing"), "list every requirement"));
    let unknown = listed.iter().filter(|(id, _)| !known.contains(**id));
    let unknown = unknown.map(|(id, line)| {
        let fix = "correct the id, or extend `CHAPTERS` in `crates/testkit/tests/tidy/spec.rs`";
        Violation::new(SPEC, *line, format!("{id} is not a known id"), fix)
    });
    missing.chain(unknown).collect()
}

fn check_cells(spec: &Spec, claims: &Claims) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (id, Requirement { cells, line }) in &spec.requirements {
        let mut report = |what: String, fix: String| violations.push(Violation::new(SPEC, *line, what, fix));
        if cells.len() != LAYERS.len() {
            report(
                format!("{id} has {} layers", cells.len()),
                format!("give it {}: {}", LAYERS.len(), LAYERS.join(", ")),
            );
            continue;
        }
        for (cell, layer) in cells.iter().zip(LAYERS) {
            let claimed = claims.contains(&(id.clone(), layer));
            let footnote = cell.strip_prefix('–');
            match cell.as_str() {
                "" | "·" => {}
                "✓" if claimed => {}
                "✓" => report(
                    format!("{id} is ticked for {layer}, and no test has `// spec: {id} @{layer}`"),
                    "write the test, or remove the tick".into(),
                ),
                _ if footnote.is_none() => report(format!("{id} has `{cell}` for {layer}"), "write ✓, · or –n".into()),
                _ if claimed => report(
                    format!("{id} does not apply to {layer}, but a test claims it"),
                    "correct the cell or the comment of the test".into(),
                ),
                _ if !spec.footnotes.contains_key(footnote.unwrap_or_default()) => {
                    report(format!("{id} has no footnote for `{cell}`"), "add the footnote `- –n: reason`".into());
                }
                _ => {}
            }
        }
    }
    violations
}

fn check_footnotes(spec: &Spec) -> Vec<Violation> {
    let used: BTreeSet<&str> =
        spec.requirements.values().flat_map(|it| &it.cells).filter_map(|cell| cell.strip_prefix('–')).collect();
    let unused = spec.footnotes.iter().filter(|(number, _)| !used.contains(number.as_str()));
    unused
        .map(|(number, line)| Violation::new(SPEC, *line, format!("no cell uses footnote –{number}"), "delete it"))
        .collect()
}

/// Returns what the `// spec:` comments of the tests claim, and the malformed comments.
fn claims(tree: &SourceTree) -> (Claims, Vec<Violation>) {
    let known = known_ids();
    let mut claims = Claims::new();
    let mut violations = Vec::new();
    for file in tree.rust() {
        let rust = RustSource::parse(&file.text);
        for comment in &rust.comments {
            let Some(claim) = comment.text.strip_prefix("// spec:") else {
                continue;
            };
            let mut report = |what: String, fix: &str| {
                violations.push(Violation::new(&file.path, comment.line, what, fix));
            };
            let (ids, layers) = claim.split_once('@').unwrap_or((claim, ""));
            let ids: Vec<&str> = ids.split([',', ' ']).filter(|it| !it.is_empty()).collect();
            let layers: Vec<&str> = layers.split(['@', ',', ' ']).filter(|it| !it.is_empty()).collect();
            if ids.is_empty() || layers.is_empty() {
                report("the comment names no id or no layer".into(), "write `// spec: PUB-3, PUB-4 @core`");
            }
            for id in ids.iter().filter(|id| !known.contains(**id)) {
                report(format!("`{id}` is not in the spec"), "correct the id; separate several by commas");
            }
            for layer in layers.iter().filter(|it| !LAYERS.contains(it)) {
                report(
                    format!("`{layer}` is not a layer"),
                    "use core, local, gitea, forgejo, github, gitlab or daemon",
                );
            }
            if !precedes_test(file, comment.line) {
                report("no test follows within three lines".into(), "put the comment directly above its test");
                continue;
            }
            let layers = LAYERS.into_iter().filter(|it| layers.contains(it));
            claims.extend(layers.flat_map(|layer| ids.iter().map(move |id| ((*id).to_owned(), layer))));
        }
    }
    (claims, violations)
}

fn precedes_test(file: &File, line: usize) -> bool {
    let mut after = file.text.lines().skip(line).take(3);
    after.any(|text| text.contains("#[test]") || text.contains("fn ") || text.contains("! {"))
}

/// Renders, per chapter and layer, how many of the applicable requirements are proven.
fn render_matrix(spec: &Spec) -> String {
    let mut text = format!("{:8}{}\n", "spec", LAYERS.map(|layer| format!("{layer:>9}")).concat());
    for (chapter, _) in CHAPTERS {
        let prefix = format!("{chapter}-");
        let counts = (0..LAYERS.len()).map(|column| {
            let rows = spec.requirements.iter().filter(|(id, _)| id.starts_with(&prefix));
            let cells: Vec<&str> = rows.filter_map(|(_, it)| it.cells.get(column)).map(String::as_str).collect();
            let proven = cells.iter().filter(|cell| **cell == "✓").count();
            let applicable = cells.iter().filter(|cell| !cell.starts_with('–')).count();
            format!("{:>9}", format!("{proven}/{applicable}"))
        });
        text.push_str(&format!("{chapter:8}{}\n", counts.collect::<String>()));
    }
    text
}

#[test]
#[expect(clippy::print_stdout, reason = "CI logs show the matrix")]
fn every_tick_has_its_test() {
    let tree = SourceTree::load();
    let spec = read(tree.file(SPEC).expect("there is a spec"));
    println!("{}", render_matrix(&spec));
    let open = |id: &str, layer: &str| {
        let column = LAYERS.iter().position(|it| *it == layer);
        let cell = spec.requirements.get(id).zip(column).and_then(|(it, column)| it.cells.get(column));
        cell.is_some_and(|cell| cell.is_empty() || cell == "·")
    };
    let (claims, _) = claims(&tree);
    let unticked = claims.iter().filter(|(id, layer)| open(id, layer)).map(|(id, layer)| format!("{id}@{layer}"));
    println!("tested but not ticked: {}", unticked.collect::<Vec<_>>().join(" "));
    assert_none(check(&tree));
}

/// Returns a spec with every id; all cells are open except those of PUB-1 to PUB-5.
#[cfg(test)]
fn sample() -> String {
    let mut text = String::from("- –1: reason\n");
    for id in known_ids() {
        let cells = match id.as_str() {
            "PUB-1" => "✓ | · | | · | · | · | ·",
            "PUB-2" => "–1 | · | · | · | · | · | ·",
            "PUB-3" => "–9 | · | · | · | · | · | ·",
            "PUB-4" => "yes | · | · | · | · | · | ·",
            "PUB-5" => "· | ·",
            _ => "· | · | · | · | · | · | ·",
        };
        text.push_str(&format!("| {id} | a \\| b | {cells} |\n"));
    }
    text
}

#[cfg(test)]
fn violations(test: &str) -> Vec<String> {
    let tree = SourceTree::from_files(&[(SPEC, &sample()), ("crates/a/tests/a.rs", test)]);
    check(&tree).iter().map(|it| it.what.clone()).collect()
}

#[test]
fn a_tick_without_a_test_is_caught() {
    let always = ["PUB-3 has no footnote for `–9`", "PUB-4 has `yes` for core", "PUB-5 has 2 layers"];
    let tick = "PUB-1 is ticked for core, and no test has `// spec: PUB-1 @core`";
    assert_eq!(violations(""), [&[tick][..], &always].concat());
    assert_eq!(violations("// spec: PUB-1 @core\n#[test]\nfn a() {}"), always);
    assert_eq!(violations("// spec: LOOP-1, PUB-1 @local @core\nproptest! {\n}"), always);
    assert_eq!(violations("// spec: PUB-1 @gitea\n#[test]\nfn a() {}"), [&[tick][..], &always].concat());
    assert_eq!(violations("let a = \"// spec: PUB-1 @core\";\nfn a() {}"), [&[tick][..], &always].concat());
}

#[test]
fn a_malformed_comment_is_caught() {
    let first = |test: &str| violations(test).first().cloned().unwrap_or_default();
    assert_eq!(first("// spec: PUB-99 @core\nfn a() {}"), "`PUB-99` is not in the spec");
    assert_eq!(first("// spec: PUB-1 @moon\nfn a() {}"), "`moon` is not a layer");
    assert_eq!(first("// spec: PUB-1\nfn a() {}"), "the comment names no id or no layer");
    assert_eq!(first("// spec: PUB-1 @core\n\n\n\nfn a() {}"), "no test follows within three lines");
    assert!(
        violations("// spec: PUB-2 @core\nfn a() {}")
            .contains(&"PUB-2 does not apply to core, but a test claims it".into())
    );
}

#[test]
fn missing_and_duplicate_requirements_are_caught() {
    let text = sample().replace("| D7 |", "| D8 |");
    let found =
        check(&SourceTree::from_files(&[(SPEC, &text), ("crates/a/tests/a.rs", "// spec: PUB-1 @core\nfn a() {}")]));
    let messages: Vec<&str> = found.iter().map(|it| it.what.as_str()).collect();
    assert!(messages.contains(&"D7 is missing") && messages.contains(&"D8 is listed twice"));
    assert!(locations(found).iter().all(|it| it.starts_with(SPEC)));
}
