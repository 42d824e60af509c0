//! Rules of the repository.

use referee_review::builtin::{RuleError, RuleSet};

use crate::test_change::{TestChange, repository_rules, rule_lines};

const RULE: &str = "id: no-print\nlanguage: python\nseverity: info\nmessage: printed\nrule:\n  pattern: print($X)\n";

#[test]
fn a_rule_applies_to_the_files_it_names() {
    let rules = repository_rules(&[(".referee/rules/a.yml", &format!("{RULE}ignores: ['tests/**']\n"))]);
    let change = TestChange::default()
        .adds("tests/a.py", "print(1)\n")
        .adds("src/a.py", "print(1)\n")
        .adds("a.js", "print(1)\n");
    let report = change.review_with(&rules);
    assert_eq!(rule_lines(&report), [("no-print", 1)]);
    assert_eq!(report.findings[0].path, "src/a.py");
}

#[test]
fn a_file_can_hold_several_rules_and_disable_one() {
    let text = format!("{RULE}---\n{}", RULE.replace("no-print", "never").replace("info", "off"));
    let rules = repository_rules(&[(".referee/rules/a.yml", &text)]);
    assert_eq!(rule_lines(&TestChange::default().adds("a.py", "print(1)\n").review_with(&rules)), [("no-print", 1)]);
    assert_eq!(rules.find_page("no-print").expect("it has a page").title, "printed");
}

#[test]
fn an_error_in_a_rule_names_file_and_line() {
    let cases = [
        ("id: a\nlanguage: java\nrule: { pattern: a }\n", 2, "the language `java` is not supported"),
        ("id: a\nlanguage: rust\nrule: { kind: no_such_kind }\n", 3, "no_such_kind"),
        ("id: a\nlanguage: rust\nrule: [\n", 3, "unclosed bracket '['"),
        ("language: rust\nrule: { pattern: a }\n", 1, "no `id`"),
        ("id: a\nlanguage: rust\nrule: { pattern: a }\nignore: ['x']\n", 4, "unknown field `ignore`"),
        ("id: a\nlanguage: rust\nrule: { pattern: a }\nfix: $B\n", 3, "B"),
    ];
    for (text, line, reason) in cases {
        let errors = load_errors(&[(".referee/rules/x.yml", text)]);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].path, ".referee/rules/x.yml");
        assert_eq!(errors[0].line, line, "{errors:?}");
        assert!(errors[0].reason.contains(reason) && !errors[0].reason.contains('\n'), "{errors:?}");
    }
}

#[test]
fn an_error_in_a_gitleaks_file_names_its_line() {
    let cases = [
        ("[[rules]]\nid = 1\n", 2, "string"),
        ("[[rules]]\nid = 'a'\nregex = '('\n", 3, "does not compile"),
        ("[[rules]]\nid = 'a'\nregex = '(?:a{999}){999}'\n", 3, "does not compile"),
        ("[allowlist]\npaths = [\n  'a',\n  '[',\n]\n", 4, "does not compile"),
        ("[extend]\npath = 'other.toml'\n", 2, "cannot be extended"),
        ("[[rules]\n", 1, ""),
    ];
    for (text, line, reason) in cases {
        let errors = load_errors(&[(".gitleaks.toml", text)]);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!((errors[0].path.as_str(), errors[0].line), (".gitleaks.toml", line), "{errors:?}");
        assert!(errors[0].reason.contains(reason), "{errors:?}");
    }
}

#[test]
fn all_errors_are_reported_at_once_and_leave_the_report_incomplete() {
    let errors =
        load_errors(&[(".gitleaks.toml", "["), (".referee/rules/x.yml", "rule: 1"), (".referee/rules/a.yml", RULE)]);
    assert_eq!(errors.len(), 2);
    let rules = RuleSet::load_embedded().expect("the embedded rules can be read").with_broken(errors.clone());
    let report = TestChange::default().adds("a.txt", "<<<<<<< a\n").review_with(&rules);
    assert_eq!(rule_lines(&report), [("conflict-marker", 1)], "the embedded rules still apply");
    let coverage = report.coverage.expect("a review has coverage");
    let paths: Vec<&str> = coverage.skipped.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, [".gitleaks.toml", ".referee/rules/x.yml"]);
    assert!(report.summary.contains(&errors[0].to_string()), "{}", report.summary);
}

fn load_errors(files: &[(&str, &str)]) -> Vec<RuleError> {
    let files: Vec<(String, String)> = files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
    match RuleSet::load_embedded().expect("the embedded rules can be read").with_repository_rules(&files) {
        Ok(_) => panic!("{files:?} has no error"),
        Err(errors) => errors,
    }
}
