//! Every language rule is embedded, matches its bad samples, and does not match its good ones.

use std::fs;
use std::path::{Path, PathBuf};

use referee_review::builtin::RuleSet;
use serde::Deserialize;

use crate::test_change::{TestChange, repository_rules, rule};

/// Rule folders and the file extensions of their languages.
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
    let mut missing = Vec::new();
    for (language, _) in LANGUAGES {
        let names: Vec<String> = rule_files(language).iter().map(|file| stem(file)).collect();
        if names.iter().any(|id| !ids.contains(&id.as_str())) {
            missing.push(format!("    \"{language}\":\n        \"{}\";", names.join("\"\n        \"")));
        }
    }
    assert!(missing.is_empty(), "`LANGUAGE_RULES` in src/builtin/embedded_files.rs must list\n{}", missing.join("\n"));
}

#[test]
fn every_language_rule_matches_its_bad_samples_only() {
    let mut wrong = Vec::new();
    for (language, extension) in LANGUAGES {
        for file in rule_files(language) {
            let id = stem(&file);
            let text = fs::read_to_string(folder(language).join("samples").join(format!("{id}.yml")));
            let text = text.unwrap_or_else(|_| panic!("`{id}` has no samples"));
            let samples: Samples = ast_grep_config::from_str(&text).expect("samples can be read");
            assert_eq!(samples.id, id, "the samples name their rule");
            assert!(!samples.valid.is_empty() && !samples.invalid.is_empty(), "`{id}` has samples of both kinds");
            let rules = isolate_rule(&file);
            let matches = |code: &String| {
                let report = TestChange::default().adds(&format!("src/sample.{extension}"), code).review_with(&rules);
                report.findings.iter().any(|finding| rule(finding) == "isolated")
            };
            let unmatched = samples
                .invalid
                .iter()
                .filter(|code| !matches(code))
                .map(|code| format!("{id} does not match:\n{code}"));
            wrong.extend(unmatched);
            wrong
                .extend(samples.valid.iter().filter(|code| matches(code)).map(|code| format!("{id} matches:\n{code}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn typescript_rules_apply_to_tsx() {
    for file in rule_files("typescript") {
        let id = stem(&file);
        let text = fs::read_to_string(folder("typescript").join("samples").join(format!("{id}.yml")));
        let samples: Samples = ast_grep_config::from_str(&text.expect("it has samples")).expect("samples can be read");
        // Another rule of the same class may report the finding instead.
        let matches = |code: &String| !TestChange::default().adds("src/sample.tsx", code).review().findings.is_empty();
        assert!(samples.invalid.iter().any(matches), "{id}");
    }
}

/// Loads a rule with another id and without its class, so that no other rule reports the finding instead.
fn isolate_rule(file: &Path) -> RuleSet {
    let text = fs::read_to_string(file).expect("the rule can be read");
    let lines = text.lines().filter(|line| !line.starts_with("  class: "));
    let lines = lines
        .filter(|line| *line != "metadata:")
        .map(|line| if line.starts_with("id: ") { "id: isolated" } else { line });
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    repository_rules(&[(".referee/rules/isolated.yml", &text)])
}

fn folder(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rules").join(language)
}

fn rule_files(language: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(language)).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yml"));
    files.sort();
    files
}

fn stem(file: &Path) -> String {
    file.file_stem().expect("a file has a name").to_string_lossy().into_owned()
}
