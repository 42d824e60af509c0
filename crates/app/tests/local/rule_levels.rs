//! The severities that the config sets for rules, built in or a linter's (D37).

use serde_json::{Value, json};

use crate::pull_view::string;
use crate::test_repo::TestRepo;

const PYTHON: &str = "import os\n\n\ndef load(path):\n    try:\n        return int(path)\n    except:\n        pass\n";

/// A report as ruff writes it.
fn ruff_sarif() -> String {
    let result = |rule: &str, level: &str, path: &str, line: u32| {
        json!({ "ruleId": rule, "level": level, "message": { "text": format!("{rule} at {path}") },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": path },
                "region": { "startLine": line, "startColumn": 1 } } }] })
    };
    let results = [
        result("D100", "error", "load.py", 1),
        result("F401", "error", "load.py", 1),
        result("E722", "error", "load.py", 7),
        result("W291", "note", "load.py", 4),
        result("F401", "error", "tests/load.py", 1),
    ];
    let driver = json!({ "name": "ruff", "version": "0.4.1", "rules": [] });
    json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": driver }, "results": results }] }).to_string()
}

/// A repository with this config on `main`, and a branch that adds two Python files.
fn branch_with_config(config: &str) -> TestRepo {
    let repo = TestRepo::with_config(config);
    repo.branch("topic", &[("load.py", PYTHON), ("tests/load.py", PYTHON)]);
    repo
}

fn review_sarif(repo: &TestRepo) -> Value {
    let path = repo.write_outside("ruff.sarif", ruff_sarif());
    repo.json(&["review", "--role", "lint", "--report", &path, "--report-format", "sarif"])
}

/// Returns rule, path and severity of each finding, sorted.
fn severities(turn: &Value) -> Vec<String> {
    let findings = turn["findings"].as_array().expect("findings").iter();
    let mut lines: Vec<String> = findings
        .map(|it| format!("{} {} {}", string(&it["rule"]), string(&it["path"]), string(&it["severity"])))
        .collect();
    lines.sort();
    lines
}

fn counts(turn: &Value) -> [u64; 3] {
    ["received", "new", "off"].map(|key| turn["accounting"][0][key].as_u64().expect("a count"))
}

const LINT: &str = "version = 1\n[[role]]\nname = \"lint\"\ncommand = \"ruff\"\n";

// spec: PUB-23 @local
#[test]
fn rules_of_a_linter_get_the_levels_of_the_config_and_what_is_off_is_counted_d37() {
    let rules = "[rules]\n\"ruff/D*\" = \"suggestion\"\nE722 = \"critical\"\n\"lint/W*\" = \"off\"\n\
                 [[rules.in]]\npaths = [\"tests/**\"]\n\"*\" = \"off\"\n";
    let turn = review_sarif(&branch_with_config(&format!("{LINT}{rules}")));
    let expected = ["D100 load.py suggestion", "E722 load.py critical", "F401 load.py warning"];
    assert_eq!(severities(&turn), expected);
    assert_eq!(counts(&turn), [5, 3, 2]);
    assert_eq!(turn["roles"][0]["own"], "request_changes");
}

#[test]
fn a_role_maps_the_levels_of_its_tool_d37() {
    let turn =
        review_sarif(&branch_with_config(&format!("{LINT}severity = {{ error = \"suggestion\", note = \"off\" }}\n")));
    assert!(severities(&turn).iter().all(|line| line.ends_with(" suggestion")), "{turn}");
    let [received, _, off] = counts(&turn);
    assert_eq!((severities(&turn).len(), received, off), (4, 5, 1));
    assert_eq!(turn["roles"][0]["own"], "approve");
}

// spec: PUB-23 @local
#[test]
fn a_built_in_rule_is_set_and_switched_off_per_path_d37() {
    let plain = branch_with_config("version = 1\n").json(&["review"]);
    assert_eq!(severities(&plain), ["py-bare-except load.py warning", "py-bare-except tests/load.py warning"]);
    let rules = "version = 1\n[rules]\n\"py-*\" = \"critical\"\n\
                 [[rules.in]]\npaths = [\"tests/**\"]\npy-bare-except = \"off\"\n";
    let repo = branch_with_config(rules);
    let turn = repo.json(&["review"]);
    assert_eq!(severities(&turn), ["py-bare-except load.py critical"]);
    assert_eq!(counts(&turn), [2, 1, 1]);
    let words = repo.run(&["review"]);
    assert_eq!(words.code, 20, "{}", words.err);
}

#[test]
fn the_terminal_says_how_many_results_are_switched_off_d37() {
    let repo = branch_with_config("version = 1\n[rules]\n\"*\" = \"off\"\n");
    let ran = repo.run_expecting(0, &["review"]);
    assert!(ran.out.contains("2 switched off") || ran.err.contains("2 switched off"), "{}\n{}", ran.out, ran.err);
}

#[test]
fn a_branch_cannot_switch_off_the_rules_that_judge_it_d37() {
    let repo = branch_with_config("version = 1\n");
    repo.write("referee.toml", "version = 1\n[rules]\n\"*\" = \"off\"\n");
    repo.commit("Switch every rule off");
    assert_eq!(severities(&repo.json(&["review"])).len(), 2);
}

#[test]
fn a_secret_rule_that_the_base_switches_off_reports_nothing_d37() {
    let secret = format!("token = \"ghp_{}\"\n", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
    let repo = TestRepo::with_config("version = 1\n[rules]\n\"github-*\" = \"off\"\n");
    repo.branch("topic", &[("conf.toml", &secret)]);
    let turn = repo.json(&["review"]);
    assert_eq!(severities(&turn), Vec::<String>::new());
    assert_eq!(counts(&turn), [1, 0, 1]);
}

#[test]
fn a_rule_that_is_switched_on_again_reports_code_that_was_reviewed_before_d34() {
    let repo = branch_with_config("version = 1\n[rules]\npy-bare-except = \"off\"\n");
    assert_eq!(severities(&repo.json(&["review"])), Vec::<String>::new());
    repo.git(&["switch", "--quiet", "main"]);
    repo.write("referee.toml", "version = 1\n");
    repo.commit("Switch the rule on");
    repo.git(&["switch", "--quiet", "topic"]);
    repo.write("other.py", "x = 1\n");
    repo.commit("Add another file");
    let turn = repo.json(&["review"]);
    assert_eq!(severities(&turn), ["py-bare-except load.py warning", "py-bare-except tests/load.py warning"]);
}

#[test]
fn an_unknown_level_is_an_error_with_its_line_d37() {
    let repo = branch_with_config("version = 1\n[rules]\n\"py-*\" = \"error\"\n");
    let ran = repo.run_expecting(2, &["review"]);
    assert!(ran.err.contains("`rules.py-*` must be one of `off`, `suggestion`, `warning`, `critical`"), "{}", ran.err);
}
