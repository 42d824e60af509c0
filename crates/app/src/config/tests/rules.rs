//! `[rules]`, `[[rules.in]]` and the role's `severity` (D37).

use referee_review::{RuleLevel, RuleSetting};

use super::load_pair;

fn render_errors(repository: &str) -> String {
    load_pair(repository, None).expect_err("it is wrong").to_string()
}

#[test]
fn rule_settings_keep_the_order_of_the_file_d37() {
    let text = "[rules]\n\"z*\" = \"critical\"\n\"python.lang.x\" = \"off\"\na = \"warning\"\n\
                [[rules.in]]\npaths = [\"tests/**\"]\n\"*\" = \"suggestion\"\n\"b/c\" = \"off\"\n\
                [[rules.in]]\npaths = [\"docs/**\", \"*.md\"]\na = \"off\"\n";
    let config = load_pair(text, None).expect("nothing is wrong");
    let setting = |rule: &str, paths: &[&str], level: RuleLevel| RuleSetting {
        rule: rule.to_owned(),
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        level,
    };
    let expected = [
        setting("z*", &[], RuleLevel::Critical),
        setting("python.lang.x", &[], RuleLevel::Off),
        setting("a", &[], RuleLevel::Warning),
        setting("*", &["tests/**"], RuleLevel::Suggestion),
        setting("b/c", &["tests/**"], RuleLevel::Off),
        setting("a", &["docs/**", "*.md"], RuleLevel::Off),
    ];
    assert_eq!(config.rule_settings, expected);
}

#[test]
fn a_change_of_the_rules_changes_the_inputs_of_every_role_d34() {
    let inputs = |text: &str| load_pair(text, None).expect("nothing is wrong").policy.roles[0].inputs.clone();
    let role = "[[role]]\nname = \"lint\"\nbuiltin = true\n";
    let mapped = format!("{role}severity = {{ error = \"off\" }}\n");
    let ruled = format!("{role}[rules]\nx = \"off\"\n");
    assert_eq!(inputs(role), inputs(&format!("{role}blocks = true\n")));
    assert!(inputs(role).is_some() && inputs(role) != inputs(&mapped) && inputs(role) != inputs(&ruled));
}

#[test]
fn an_unknown_level_of_a_rule_gets_a_suggestion_d37() {
    insta::assert_snapshot!(render_errors("[rules]\n\"ruff/D*\" = \"suggestions\"\n"), @r#"
    error: `rules.ruff/D*` must be one of `off`, `suggestion`, `warning`, `critical`
     --> referee.toml at main@3f2c1e9:2:13
      |
    2 | "ruff/D*" = "suggestions"
      |             ^^^^^^^^^^^^^ unknown value
      |
      = hint: did you mean `suggestion`?

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_pattern_that_is_not_a_glob_is_an_error_d37() {
    insta::assert_snapshot!(render_errors("[rules]\n\"py-[a\" = \"off\"\n[[rules.in]]\npaths = [\"src/{a,b\"]\n"), @r#"
    error: `rules.py-[a` must be a valid glob such as `"src/**"`
     --> referee.toml at main@3f2c1e9:2:1
      |
    2 | "py-[a" = "off"
      | ^^^^^^^ unclosed character class at byte 3; missing ']' (to match a literal '[', escape it as '\[' or '[[]')

    error: `rules.in.paths` must be a valid glob such as `"src/**"`
     --> referee.toml at main@3f2c1e9:4:10
      |
    4 | paths = ["src/{a,b"]
      |          ^^^^^^^^^^ unclosed brace expansion at byte 4; missing '}' (to match a literal '{', escape it as '\{' or '[{]')

    error: the config cannot be used: 2 errors
    "#);
}

#[test]
fn rules_for_some_paths_need_the_paths_d37() {
    insta::assert_snapshot!(render_errors("[[rules.in]]\npath = [\"tests\"]\n"), @r#"
    error: `rules.in` needs `paths`: the files, as globs
     --> referee.toml at main@3f2c1e9:1:1
      |
    1 | [[rules.in]]
      | ^^^^^^^^^^^^ `paths` is missing here

    error: `rules.in.path` must be one of `off`, `suggestion`, `warning`, `critical`
     --> referee.toml at main@3f2c1e9:2:8
      |
    2 | path = ["tests"]
      |        ^^^^^^^^^ this is a list

    error: the config cannot be used: 2 errors
    "#);
}

#[test]
fn a_rule_id_with_a_dot_needs_quotes_d37() {
    insta::assert_snapshot!(render_errors("[rules]\npython.lang.eval = \"off\"\n"), @r#"
    error: `rules.python` must be one of `off`, `suggestion`, `warning`, `critical`
     --> referee.toml at main@3f2c1e9:2:1
      |
    2 | python.lang.eval = "off"
      | ^^^^^^ this is a table
      |
      = hint: put an id that contains a dot in quotes

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn an_unknown_level_of_a_tool_gets_a_suggestion_d37() {
    let role = "[[role]]\nname = \"lint\"\nbuiltin = true\n";
    insta::assert_snapshot!(render_errors(&format!("{role}severity = {{ errors = \"critical\", note = \"of\" }}\n")), @r#"
    error: `role.severity.errors` is not a known key
     --> referee.toml at main@3f2c1e9:4:14
      |
    4 | severity = { errors = **********, note = "of" }
      |              ^^^^^^ unknown key
      |
      = hint: did you mean `error`?

    error: `role.severity.note` must be one of `off`, `suggestion`, `warning`, `critical`
     --> referee.toml at main@3f2c1e9:4:42
      |
    4 | severity = { errors = **********, note = "of" }
      |                                          ^^^^ unknown value

    error: the config cannot be used: 2 errors
    "#);
}
