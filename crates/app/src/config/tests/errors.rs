//! Snapshots of the error messages.

use super::super::*;
use super::{build_layers, empty_env, load_pair, operator_example};

fn render_errors(repository: &str, operator: Option<&str>) -> String {
    load_pair(repository, operator).expect_err("it is wrong").to_string()
}

#[test]
fn an_unknown_key_gets_a_suggestion() {
    insta::assert_snapshot!(render_errors("[review]\nmax_inlines = 3\n", None), @r#"
    error: `review.max_inlines` is not a known key
     --> referee.toml at main@3f2c1e9:2:1
      |
    2 | max_inlines = 3
      | ^^^^^^^^^^^ unknown key
      |
      = hint: did you mean `max_inline`?

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_key_of_another_table_gets_that_table_as_hint() {
    insta::assert_snapshot!(render_errors("[review]\nrounds = 3\n", None), @r#"
    error: `review.rounds` is not a known key
     --> referee.toml at main@3f2c1e9:2:1
      |
    2 | rounds = 3
      | ^^^^^^ unknown key
      |
      = hint: `rounds` is a key of `[loop]`

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn an_unknown_key_without_a_similar_one_gets_the_list_of_keys() {
    insta::assert_snapshot!(render_errors("[guards]\ncolour = \"red\"\n", None), @r#"
    error: `guards.colour` is not a known key
     --> referee.toml at main@3f2c1e9:2:1
      |
    2 | colour = *****
      | ^^^^^^ unknown key
      |
      = hint: this table has `on_error`

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_value_of_the_wrong_type_is_an_error() {
    insta::assert_snapshot!(render_errors("[review]\nstatus = \"yes\"\n", None), @r#"
    error: `review.status` must be `true` or `false`
     --> referee.toml at main@3f2c1e9:2:10
      |
    2 | status = "yes"
      |          ^^^^^ this is a string

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_number_out_of_range_is_an_error() {
    insta::assert_snapshot!(render_errors("[loop]\nrounds = 0\n", None), @r#"
    error: `loop.rounds` must be a whole number, 1 or more
     --> referee.toml at main@3f2c1e9:2:10
      |
    2 | rounds = 0
      |          ^ invalid value

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn an_unknown_word_gets_the_list_of_words_and_a_suggestion() {
    insta::assert_snapshot!(render_errors("[gates]\nreply = \"asks\"\n", None), @r#"
    error: `gates.reply` must be one of `off`, `ask`, `on`
     --> referee.toml at main@3f2c1e9:2:9
      |
    2 | reply = "asks"
      |         ^^^^^^ unknown value
      |
      = hint: did you mean `ask`?

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_floor_needs_three_entries() {
    insta::assert_snapshot!(render_errors("[review]\nfloor = [\"warning\", \"critical\"]\n", None), @r#"
    error: `review.floor` must be a list of 3 entries
     --> referee.toml at main@3f2c1e9:2:9
      |
    2 | floor = ["warning", "critical"]
      |         ^^^^^^^^^^^^^^^^^^^^^^^ this has 2

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn an_unknown_version_is_the_only_error_reported() {
    insta::assert_snapshot!(render_errors("version = 2\nfuture = true\n", None), @r#"
    error: this version of referee does not know version 2 of the config format
     --> referee.toml at main@3f2c1e9:1:11
      |
    1 | version = 2
      |           ^ only 1 is known
      |
      = hint: install a newer referee, or write `version = 1`

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn role_names_must_be_unique() {
    insta::assert_snapshot!(render_errors("[[role]]\nname = \"lint\"\nbuiltin = true\n\n[[role]]\nname = \"lint\"\nbuiltin = true\n", None), @r#"
    error: role `lint` is defined twice
     --> referee.toml at main@3f2c1e9:6:8
      |
    2 | name = "lint"
      |        ------ first definition
    ...
    6 | name = "lint"
      |        ^^^^^^ second definition

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_role_needs_a_reviewer() {
    insta::assert_snapshot!(render_errors("[[role]]\nname = \"lint\"\n", None), @r#"
    error: role `lint` needs exactly one of `builtin`, `command`, `model`
     --> referee.toml at main@3f2c1e9:2:8
      |
    2 | name = "lint"
      |        ^^^^^^ no reviewer
      |
      = hint: `builtin = true` selects the embedded rules; `command` and `model` name entries of the operator file

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_role_has_one_reviewer_only() {
    insta::assert_snapshot!(render_errors("[[role]]\nname = \"lint\"\nbuiltin = true\ncommand = \"clippy\"\n", Some("[commands.clippy]\nargv = [\"cargo\", \"clippy\"]\n")), @r#"
    error: role `lint` needs exactly one of `builtin`, `command`, `model`
     --> referee.toml at main@3f2c1e9:2:8
      |
    2 | name = "lint"
      |        ^^^^^^ this has `builtin`, `command`

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_role_needs_a_name() {
    insta::assert_snapshot!(render_errors("[[role]]\nbuiltin = true\n", None), @r#"
    error: `role` needs `name`: the name shown on a pull
     --> referee.toml at main@3f2c1e9:1:1
      |
    1 | [[role]]
      | ^^^^^^^^ `name` is missing here

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_reference_to_a_missing_entry_is_an_error() {
    insta::assert_snapshot!(render_errors("[[role]]\nname = \"lint\"\ncommand = \"clippy2\"\n", Some("[commands.clippy]\nargv = [\"cargo\", \"clippy\"]\n")), @r#"
    error: `role.command` names `clippy2`, but the operator file has no `[commands.clippy2]`
     --> referee.toml at main@3f2c1e9:3:11
      |
    3 | command = "clippy2"
      |           ^^^^^^^^^ no such entry
      |
      = hint: did you mean `clippy`?

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_literal_secret_is_refused_and_not_shown() {
    insta::assert_snapshot!(render_errors("", Some("[forge.work.github]\ntoken = \"hunter2\"\n")), @r#"
    error: `forge.work.github.token` is refused: a config file must not contain a secret
     --> operator.toml:2:9
      |
    2 | token = *********
      |         ^^^^^^^^^ a literal secret, hidden here
      |
      = hint: write `{ env = "NAME" }`, `{ file = "/path" }` or `{ command = ["program"] }`; replace this secret, because others may have seen it

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn an_operator_key_in_the_repository_file_is_an_error() {
    insta::assert_snapshot!(render_errors("[models.default]\nprovider = \"openai\"\n", None), @r#"
    error: `models` belongs in the operator file, not in `referee.toml`
     --> referee.toml at main@3f2c1e9:1:2
      |
    1 | [models.default]
      |  ^^^^^^ wrong file

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_repository_key_in_the_operator_file_is_an_error() {
    insta::assert_snapshot!(render_errors("", Some("[loop]\nrounds = 3\n")), @r#"
    error: `loop` belongs in `referee.toml`, not in the operator file
     --> operator.toml:1:2
      |
    1 | [loop]
      |  ^^^^ wrong file

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_malformed_duration_is_an_error() {
    insta::assert_snapshot!(render_errors("", Some("[serve]\nsweep = \"15 minutes\"\n")), @r#"
    error: `serve.sweep` must be a duration such as `"50m"`, in `s`, `m`, `h` or `d`
     --> operator.toml:2:9
      |
    2 | sweep = "15 minutes"
      |         ^^^^^^^^^^^^ invalid value

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_forge_must_have_exactly_one_kind() {
    insta::assert_snapshot!(render_errors("", Some("[forge.work]\ngithub = {}\ngitlab = {}\n")), @r#"
    error: `forge.work` needs exactly one of `github`, `gitlab`, `gitea`, `forgejo`
     --> operator.toml:1:1
      |
    1 | [forge.work]
      | ^^^^^^^^^^^^ this has 2

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn the_file_of_a_secret_must_be_an_absolute_path() {
    insta::assert_snapshot!(render_errors("", Some("[identity.sec]\ntoken = { file = \"token.txt\" }\n")), @r#"
    error: `identity.sec.token.file` must be an absolute path, or one that begins with `~/`
     --> operator.toml:2:18
      |
    2 | token = { file = *********** }
      |                  ^^^^^^^^^^^ invalid value

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_command_needs_a_program() {
    insta::assert_snapshot!(render_errors("", Some("[commands.lint]\nargv = []\n")), @r#"
    error: `commands.lint.argv` must be a program and its arguments such as `["cargo", "test"]`
     --> operator.toml:2:8
      |
    2 | argv = []
      |        ^^ the program is missing

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn invalid_toml_is_an_error_at_its_position() {
    insta::assert_snapshot!(render_errors("[review]\nstart = \"push\n", None), @r#"
    error: invalid TOML: invalid basic string, expected `"`
     --> referee.toml at main@3f2c1e9:2:14
      |
    2 | start = "push
      |              ^ here

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn all_errors_of_all_sources_are_reported_together() {
    let repository = "version = 1\nreviw = 1\n\n[loop]\nrounds = \"three\"\n";
    let operator = "[gates]\nwork = \"never\"\n";
    let env = |name: &str| (name == "REFEREE_REVIEW_STATUS").then(|| "maybe".to_owned());
    let flags = [FlagOverride { name: "--max-inline", key: "review.max_inline", value: "-1" }];
    let errors = load_config(&build_layers(repository, Some(operator), &flags, &env)).expect_err("much is wrong");
    insta::assert_snapshot!(errors, @r#"
    error: `reviw` is not a known key
     --> referee.toml at main@3f2c1e9:2:1
      |
    2 | reviw = 1
      | ^^^^^ unknown key
      |
      = hint: did you mean `review`?

    error: `loop.rounds` must be a whole number, 1 or more
     --> referee.toml at main@3f2c1e9:5:10
      |
    5 | rounds = "three"
      |          ^^^^^^^ this is a string

    error: `gates.work` must be one of `off`, `ask`, `on`
     --> operator.toml:2:8
      |
    2 | work = "never"
      |        ^^^^^^^ unknown value

    error: `review.max_inline` must be a whole number, 0 or more
     --> --max-inline:1:1
      |
    1 | -1
      | ^^ invalid value

    error: `review.status` must be `true` or `false`
     --> REFEREE_REVIEW_STATUS:1:1
      |
    1 | maybe
      | ^^^^^ this is a string

    error: the config cannot be used: 5 errors
    "#);
    assert_eq!(errors.count(), 5);
}

#[test]
fn only_the_first_syntax_error_of_a_line_is_reported() {
    let message = render_errors("[review\nstart = = 1\n", None);
    assert!(message.ends_with("error: the config cannot be used: 2 errors"), "{message}");
}

#[test]
fn an_invalid_operator_file_causes_no_errors_in_the_repository_file() {
    let message = render_errors("[[role]]\nname = \"lint\"\ncommand = \"clippy\"\n", Some("[commands"));
    assert!(message.ends_with("error: the config cannot be used: 1 error"), "{message}");
}

/// The examples, truncated at many offsets or with a character inserted there.
#[test]
fn no_input_makes_the_loader_panic_and_every_error_lies_inside_its_text() {
    let characters =
        ["\"", "'", "[", "]", "{", "}", "=", "\n", "\r\n", "#", ".", ",", "\u{feff}", "\0", "é", "🦀", "-", "9", "x ="];
    for text in [repository_example().replace("\n#", "\n"), operator_example().to_owned()] {
        let cuts = (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(11);
        for (cut, character) in cuts.zip(characters.into_iter().cycle()) {
            let (head, tail) = text.split_at(cut);
            for text in [head.to_owned(), tail.to_owned(), format!("{head}{character}{tail}")] {
                let Err(errors) = load_config(&build_layers(&text, Some(&text), &[], &empty_env)) else { continue };
                for fault in &errors.faults {
                    let span = fault.location.span.clone();
                    assert!(text.get(span.clone()).is_some(), "{span:?} of {text}");
                }
                // All faults are rendered by the same code, so the first and the last are enough.
                let last = errors.faults.last().cloned();
                let ends = errors.faults.first().cloned().into_iter().chain(last).collect();
                assert!(!ConfigErrors { faults: ends, ..errors }.to_string().is_empty());
            }
        }
    }
}
