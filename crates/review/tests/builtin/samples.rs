//! Every language rule: what must hit does, what must not does not, and every file is embedded.

use std::fs;
use std::path::{Path, PathBuf};

use referee_review::builtin::RuleSet;
use serde::Deserialize;

use crate::desk::{Desk, own, rule};

/// Folders and what their files end with.
const LANGUAGES: [(&str, &str); 5] =
    [("go", "go"), ("javascript", "js"), ("python", "py"), ("rust", "rs"), ("typescript", "ts")];

#[derive(Deserialize)]
struct Samples {
    id: String,
    valid: Vec<String>,
    invalid: Vec<String>,
}

#[test]
fn every_rule_file_is_embedded_under_its_id() {
    let rules = RuleSet::load_embedded().expect("the embedded rules can be read");
    let ids = rules.ids();
    let mut lost = Vec::new();
    for (language, _) in LANGUAGES {
        let names: Vec<String> = rule_files(language).iter().map(|file| stem(file)).collect();
        if names.iter().any(|id| !ids.contains(&id.as_str())) {
            lost.push(format!("    \"{language}\":\n        \"{}\";", names.join("\"\n        \"")));
        }
    }
    assert!(lost.is_empty(), "`LANGUAGE_RULES` in src/builtin/table.rs should say\n{}", lost.join("\n"));
}

#[test]
fn every_rule_hits_what_it_must_and_nothing_that_it_must_not() {
    let mut wrong = Vec::new();
    for (language, end) in LANGUAGES {
        for file in rule_files(language) {
            let id = stem(&file);
            let text = fs::read_to_string(folder(language).join("samples").join(format!("{id}.yml")));
            let text = text.unwrap_or_else(|_| panic!("`{id}` has no samples"));
            let samples: Samples = ast_grep_config::from_str(&text).expect("samples can be read");
            assert_eq!(samples.id, id, "the samples name their rule");
            assert!(!samples.valid.is_empty() && !samples.invalid.is_empty(), "`{id}` has samples of both kinds");
            let rules = alone(&file);
            let hits = |code: &String| {
                let report = Desk::default().adds(&format!("src/sample.{end}"), code).review_by(&rules);
                report.findings.iter().any(|found| rule(found) == "alone")
            };
            let missed = samples.invalid.iter().filter(|code| !hits(code)).map(|code| format!("{id} misses:\n{code}"));
            wrong.extend(missed);
            wrong.extend(samples.valid.iter().filter(|code| hits(code)).map(|code| format!("{id} hits:\n{code}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn rules_for_typescript_read_files_with_markup() {
    for file in rule_files("typescript") {
        let id = stem(&file);
        let text = fs::read_to_string(folder("typescript").join("samples").join(format!("{id}.yml")));
        let samples: Samples = ast_grep_config::from_str(&text.expect("it has samples")).expect("samples can be read");
        // A rule of the same kind may speak in its place.
        let hits = |code: &String| !Desk::default().adds("src/sample.tsx", code).review().findings.is_empty();
        assert!(samples.invalid.iter().any(hits), "{id}");
    }
}

/// The rule under another name and of no kind, so that no other rule speaks in its place.
fn alone(file: &Path) -> RuleSet {
    let text = fs::read_to_string(file).expect("the rule can be read");
    let lines = text.lines().filter(|line| !line.starts_with("  class: "));
    let lines =
        lines.filter(|line| *line != "metadata:").map(|line| if line.starts_with("id: ") { "id: alone" } else { line });
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    own(&[(".referee/rules/alone.yml", &text)])
}

fn folder(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rules").join(language)
}

fn rule_files(language: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(language)).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "yml"));
    files.sort();
    files
}

fn stem(file: &Path) -> String {
    file.file_stem().expect("a file has a name").to_string_lossy().into_owned()
}
