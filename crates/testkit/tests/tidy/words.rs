//! One word per thing: GLOSSARY.md says which, and which synonyms no type may carry.
//!
//! Its table has three columns: word, meaning, not. A synonym is a whole type name in backticks, or a pattern with `*`
//! at either end; `(but in …)` after it names rooms where the word means something else. What a forge itself calls a
//! thing may stand in the adapters' wire types.

use crate::house::{File, House};
use crate::rust::Rust;
use crate::{Complaint, hold, places};

const GLOSSARY: &str = "GLOSSARY.md";

struct Synonym {
    pattern: String,
    word: String,
    but_in: Vec<String>,
    line: usize,
}

fn check(house: &House) -> Vec<Complaint> {
    let Some(glossary) = house.file(GLOSSARY) else {
        return vec![Complaint::new(GLOSSARY, 1, "there is no glossary", "write it")];
    };
    let synonyms = read(glossary);
    let declared = house.rust().filter(|it| !is_wire(&it.path)).flat_map(|it| check_types(it, &synonyms));
    declared.chain(check_glossary(glossary, &synonyms)).collect()
}

fn check_types(file: &File, synonyms: &[Synonym]) -> Vec<Complaint> {
    let rust = Rust::read(&file.text);
    let types = rust.words().filter(|(index, _)| declares_type(&rust, *index));
    types
        .filter_map(|(index, name)| {
            let synonym = synonyms
                .iter()
                .find(|it| it.matches(name) && !it.but_in.iter().any(|room| file.path.starts_with(room)))?;
            let what = format!("the type `{name}` uses a banned synonym of {}", synonym.word);
            let remedy = format!("say {}, or change {GLOSSARY} with a reason", synonym.word);
            Some(Complaint::new(&file.path, rust.line(index), what, remedy))
        })
        .collect()
}

/// A word cannot be another word's synonym, or nobody could write it.
fn check_glossary(glossary: &File, synonyms: &[Synonym]) -> Vec<Complaint> {
    let words: Vec<String> = rows(glossary).map(|(_, cells)| bare(&cells[0])).collect();
    let clashes = synonyms.iter().filter(|it| words.iter().any(|word| it.matches(word)));
    clashes
        .map(|it| {
            let what = format!("`{}` is banned and is a word itself", it.pattern);
            Complaint::new(GLOSSARY, it.line, what, "keep one of the two")
        })
        .collect()
}

fn read(glossary: &File) -> Vec<Synonym> {
    let mut synonyms = Vec::new();
    for (line, cells) in rows(glossary) {
        let word = bare(&cells[0]);
        for entry in cells[2].split(',') {
            let mut quoted = entry.split('`').skip(1).step_by(2).map(str::to_owned);
            if let Some(pattern) = quoted.next() {
                synonyms.push(Synonym { pattern, word: word.clone(), but_in: quoted.collect(), line });
            }
        }
    }
    synonyms
}

/// Rows of three cells below a header that begins with `word`.
fn rows(glossary: &File) -> impl Iterator<Item = (usize, [String; 3])> {
    glossary.lines().filter_map(|(line, text)| {
        let inner = text.trim().strip_prefix('|')?.strip_suffix('|')?;
        let cells: Vec<String> = inner.split('|').map(|cell| cell.trim().to_owned()).collect();
        let cells: [String; 3] = cells.try_into().ok()?;
        let heads = cells[0] == "word" || cells[0].starts_with("--");
        (!heads).then_some((line, cells))
    })
}

fn bare(cell: &str) -> String {
    cell.trim_matches(['`', '*']).to_owned()
}

impl Synonym {
    fn matches(&self, name: &str) -> bool {
        match (self.pattern.strip_prefix('*'), self.pattern.strip_suffix('*')) {
            (Some(_), Some(_)) => name.contains(self.pattern.trim_matches('*')),
            (Some(end), None) => name.ends_with(end),
            (None, Some(start)) => name.starts_with(start),
            (None, None) => name == self.pattern,
        }
    }
}

fn declares_type(rust: &Rust<'_>, index: usize) -> bool {
    let before = rust.text(index.wrapping_sub(1));
    matches!(before, "struct" | "enum" | "trait" | "type" | "union")
}

fn is_wire(path: &str) -> bool {
    path.starts_with("crates/github-schema/") || path.ends_with("/wire.rs") || path.contains("/wire/")
}

#[test]
fn types_use_the_glossary_s_words() {
    let house = House::load();
    let glossary = house.file(GLOSSARY).expect("there is a glossary");
    assert!(read(glossary).len() > 20, "the table of the glossary can be read");
    hold(check(&house));
}

#[test]
fn a_synonym_is_caught() {
    let glossary = "
| word | meaning | not |
|---|---|---|
| `Pull` | a change | `PullRequest*`, `Pr` |
| **Forge** | a host | `Provider` (but in `crates/review`), `*Platform` |
| `Pr` | clash | |
";
    let source =
        "struct PullRequestId;\nenum Provider {}\ntrait GitPlatform {}\nstruct Print;\nfn f(p: PullRequest) {}";
    let house = House::of(&[
        (GLOSSARY, glossary),
        ("crates/forge/src/a.rs", source),
        ("crates/forge/src/gitea/wire.rs", source),
        ("crates/review/src/llm/a.rs", "enum Provider {}"),
    ]);
    let want = ["GLOSSARY.md:4", "crates/forge/src/a.rs:1", "crates/forge/src/a.rs:2", "crates/forge/src/a.rs:3"];
    assert_eq!(places(check(&house)), want);
}
