//! The spec matrix: `docs/spec.md` says what is proven in which layer, and a `✓` needs a test that says so.
//!
//! | cell | means |
//! |---|---|
//! | `✓` | proven: a test carries the id and the layer, as in `// spec: PUB-3 @core` |
//! | `·` or nothing | not yet |
//! | `–3` | cannot apply, for the reason of footnote 3 |
//!
//! A remark binds to the test, function or macro call that follows within three lines.

use std::collections::{BTreeMap, BTreeSet};

use crate::house::{File, House};
use crate::rust::Rust;
use crate::{Complaint, hold, places};

const SPEC: &str = "docs/spec.md";
const LAYERS: [&str; 7] = ["core", "local", "gitea", "forgejo", "github", "gitlab", "daemon"];

/// Chapters with the number of their lines, and the decisions.
const CHAPTERS: [(&str, usize); 8] =
    [("PUB", 22), ("INC", 18), ("LOOP", 12), ("TRI", 11), ("FIX", 13), ("DSP", 18), ("SRV", 7), ("SAF", 7)];
const DECISIONS: usize = 28;

type Claims = BTreeSet<(String, &'static str)>;

fn check(house: &House) -> Vec<Complaint> {
    let Some(file) = house.file(SPEC) else {
        return vec![Complaint::new(SPEC, 1, "there is no spec", "write it")];
    };
    let spec = read(file);
    let (claims, mut complaints) = claims(house);
    complaints.extend(spec.complaints.iter().cloned());
    complaints.extend(check_ids(&spec));
    complaints.extend(check_cells(&spec, &claims));
    complaints.extend(check_footnotes(&spec));
    complaints
}

struct Spec {
    lines: BTreeMap<String, Line>,
    decisions: BTreeMap<String, usize>,
    footnotes: BTreeMap<String, usize>,
    complaints: Vec<Complaint>,
}

struct Line {
    cells: Vec<String>,
    line: usize,
}

fn read(file: &File) -> Spec {
    let mut spec =
        Spec { lines: BTreeMap::new(), decisions: BTreeMap::new(), footnotes: BTreeMap::new(), complaints: Vec::new() };
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
            spec.lines.insert(id.clone(), Line { cells: rest, line }).is_some()
        } else {
            spec.decisions.insert(id.clone(), line).is_some()
        };
        if twice {
            spec.complaints.push(Complaint::new(SPEC, line, format!("{id} stands here twice"), "keep one"));
        }
    }
    spec
}

/// Cells of a table row; `\|` is a bar inside a cell.
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

fn known() -> BTreeSet<String> {
    let lines = CHAPTERS.iter().flat_map(|(chapter, last)| (1..=*last).map(move |n| format!("{chapter}-{n}")));
    lines.chain((1..=DECISIONS).map(|n| format!("D{n}"))).collect()
}

fn check_ids(spec: &Spec) -> Vec<Complaint> {
    let there: BTreeMap<&String, usize> = spec
        .lines
        .iter()
        .map(|(id, it)| (id, it.line))
        .chain(spec.decisions.iter().map(|(id, line)| (id, *line)))
        .collect();
    let known = known();
    let lost = known.iter().filter(|id| !there.contains_key(id));
    let lost = lost.map(|id| Complaint::new(SPEC, 1, format!("{id} is missing"), "every line of the spec stands here"));
    let strange = there.iter().filter(|(id, _)| !known.contains(**id));
    let strange = strange.map(|(id, line)| {
        let remedy = "correct the id, or extend `CHAPTERS` in `crates/testkit/tests/tidy/spec.rs`";
        Complaint::new(SPEC, *line, format!("{id} is not a known id"), remedy)
    });
    lost.chain(strange).collect()
}

fn check_cells(spec: &Spec, claims: &Claims) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (id, Line { cells, line }) in &spec.lines {
        let mut say = |what: String, remedy: String| complaints.push(Complaint::new(SPEC, *line, what, remedy));
        if cells.len() != LAYERS.len() {
            say(format!("{id} has {} layers", cells.len()), format!("give it {}: {}", LAYERS.len(), LAYERS.join(", ")));
            continue;
        }
        for (cell, layer) in cells.iter().zip(LAYERS) {
            let claimed = claims.contains(&(id.clone(), layer));
            let footnote = cell.strip_prefix('–');
            match cell.as_str() {
                "" | "·" => {}
                "✓" if claimed => {}
                "✓" => say(
                    format!("{id} is ticked for {layer}, and no test says `// spec: {id} @{layer}`"),
                    "write the test, or take the tick away".into(),
                ),
                _ if footnote.is_none() => say(format!("{id} has `{cell}` for {layer}"), "write ✓, · or –n".into()),
                _ if claimed => say(
                    format!("{id} cannot apply to {layer}, and a test says it does"),
                    "correct the cell or the test's remark".into(),
                ),
                _ if !spec.footnotes.contains_key(footnote.unwrap_or_default()) => {
                    say(format!("{id} gives no reason for `{cell}`"), "add the footnote `- –n: reason`".into());
                }
                _ => {}
            }
        }
    }
    complaints
}

fn check_footnotes(spec: &Spec) -> Vec<Complaint> {
    let used: BTreeSet<&str> =
        spec.lines.values().flat_map(|it| &it.cells).filter_map(|cell| cell.strip_prefix('–')).collect();
    let unused = spec.footnotes.iter().filter(|(number, _)| !used.contains(number.as_str()));
    unused
        .map(|(number, line)| Complaint::new(SPEC, *line, format!("no cell uses footnote –{number}"), "delete it"))
        .collect()
}

/// What the tests say they prove, and the remarks that say it wrongly.
fn claims(house: &House) -> (Claims, Vec<Complaint>) {
    let known = known();
    let mut claims = Claims::new();
    let mut complaints = Vec::new();
    for file in house.rust() {
        let rust = Rust::read(&file.text);
        for remark in &rust.remarks {
            let Some(said) = remark.text.strip_prefix("// spec:") else {
                continue;
            };
            let mut say = |what: String, remedy: &str| {
                complaints.push(Complaint::new(&file.path, remark.line, what, remedy));
            };
            let (ids, layers) = said.split_once('@').unwrap_or((said, ""));
            let ids: Vec<&str> = ids.split([',', ' ']).filter(|it| !it.is_empty()).collect();
            let layers: Vec<&str> = layers.split(['@', ',', ' ']).filter(|it| !it.is_empty()).collect();
            if ids.is_empty() || layers.is_empty() {
                say("the remark names no id or no layer".into(), "write `// spec: PUB-3, PUB-4 @core`");
            }
            for id in ids.iter().filter(|id| !known.contains(**id)) {
                say(format!("`{id}` is no line of the spec"), "correct the id; separate several by commas");
            }
            for layer in layers.iter().filter(|it| !LAYERS.contains(it)) {
                say(
                    format!("`{layer}` is no layer"),
                    "take one of core, local, gitea, forgejo, github, gitlab, daemon",
                );
            }
            if !binds(file, remark.line) {
                say("no test follows within three lines".into(), "put the remark directly above its test");
                continue;
            }
            let layers = LAYERS.into_iter().filter(|it| layers.contains(it));
            claims.extend(layers.flat_map(|layer| ids.iter().map(move |id| ((*id).to_owned(), layer))));
        }
    }
    (claims, complaints)
}

fn binds(file: &File, line: usize) -> bool {
    let mut after = file.text.lines().skip(line).take(3);
    after.any(|text| text.contains("#[test]") || text.contains("fn ") || text.contains("! {"))
}

/// Per chapter and layer, how many of the lines that can apply are proven.
fn matrix(spec: &Spec) -> String {
    let mut text = format!("{:8}{}\n", "spec", LAYERS.map(|layer| format!("{layer:>9}")).concat());
    for (chapter, _) in CHAPTERS {
        let prefix = format!("{chapter}-");
        let counts = (0..LAYERS.len()).map(|column| {
            let rows = spec.lines.iter().filter(|(id, _)| id.starts_with(&prefix));
            let cells: Vec<&str> = rows.filter_map(|(_, it)| it.cells.get(column)).map(String::as_str).collect();
            let proven = cells.iter().filter(|cell| **cell == "✓").count();
            let apply = cells.iter().filter(|cell| !cell.starts_with('–')).count();
            format!("{:>9}", format!("{proven}/{apply}"))
        });
        text.push_str(&format!("{chapter:8}{}\n", counts.collect::<String>()));
    }
    text
}

#[test]
#[expect(clippy::print_stdout, reason = "the matrix is what this test is read for")]
fn every_tick_has_its_test() {
    let house = House::load();
    let spec = read(house.file(SPEC).expect("there is a spec"));
    println!("{}", matrix(&spec));
    let open = |id: &str, layer: &str| {
        let column = LAYERS.iter().position(|it| *it == layer);
        let cell = spec.lines.get(id).zip(column).and_then(|(it, column)| it.cells.get(column));
        cell.is_some_and(|cell| cell.is_empty() || cell == "·")
    };
    let (claims, _) = claims(&house);
    let unticked = claims.iter().filter(|(id, layer)| open(id, layer)).map(|(id, layer)| format!("{id}@{layer}"));
    println!("has a test and no tick yet: {}", unticked.collect::<Vec<_>>().join(" "));
    hold(check(&house));
}

/// A spec with every id, all cells open but those of PUB-1 to PUB-5.
#[cfg(test)]
fn sample() -> String {
    let mut text = String::from("- –1: reason\n");
    for id in known() {
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
fn said(test: &str) -> Vec<String> {
    let house = House::of(&[(SPEC, &sample()), ("crates/a/tests/a.rs", test)]);
    check(&house).iter().map(|it| it.what.clone()).collect()
}

#[test]
fn a_tick_without_a_test_is_caught() {
    let always = ["PUB-3 gives no reason for `–9`", "PUB-4 has `yes` for core", "PUB-5 has 2 layers"];
    let tick = "PUB-1 is ticked for core, and no test says `// spec: PUB-1 @core`";
    assert_eq!(said(""), [&[tick][..], &always].concat());
    assert_eq!(said("// spec: PUB-1 @core\n#[test]\nfn a() {}"), always);
    assert_eq!(said("// spec: LOOP-1, PUB-1 @local @core\nproptest! {\n}"), always);
    assert_eq!(said("// spec: PUB-1 @gitea\n#[test]\nfn a() {}"), [&[tick][..], &always].concat());
    assert_eq!(said("let a = \"// spec: PUB-1 @core\";\nfn a() {}"), [&[tick][..], &always].concat());
}

#[test]
fn a_wrong_remark_is_caught() {
    let first = |test: &str| said(test).first().cloned().unwrap_or_default();
    assert_eq!(first("// spec: PUB-99 @core\nfn a() {}"), "`PUB-99` is no line of the spec");
    assert_eq!(first("// spec: PUB-1 @moon\nfn a() {}"), "`moon` is no layer");
    assert_eq!(first("// spec: PUB-1\nfn a() {}"), "the remark names no id or no layer");
    assert_eq!(first("// spec: PUB-1 @core\n\n\n\nfn a() {}"), "no test follows within three lines");
    assert!(
        said("// spec: PUB-2 @core\nfn a() {}").contains(&"PUB-2 cannot apply to core, and a test says it does".into())
    );
}

#[test]
fn lost_and_doubled_lines_are_caught() {
    let text = sample().replace("| D7 |", "| D8 |");
    let found = check(&House::of(&[(SPEC, &text), ("crates/a/tests/a.rs", "// spec: PUB-1 @core\nfn a() {}")]));
    let said: Vec<&str> = found.iter().map(|it| it.what.as_str()).collect();
    assert!(said.contains(&"D7 is missing") && said.contains(&"D8 stands here twice"));
    assert!(places(found).iter().all(|it| it.starts_with(SPEC)));
}
