//! What is printed when something is wrong: the whole of it, word for word.

use super::super::*;
use super::{build_layers, empty_env, load_pair};

fn render_errors(repository: &str, operator: Option<&str>) -> String {
    load_pair(repository, operator).expect_err("it is wrong").to_string()
}

#[test]
fn an_unknown_key_is_named_with_what_was_meant() {
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
fn a_key_of_another_table_is_sent_there() {
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
fn a_key_like_no_other_gets_the_list() {
    insta::assert_snapshot!(render_errors("[guards]\ncolour = \"red\"\n", None), @r#"
    error: `guards.colour` is not a known key
     --> referee.toml at main@3f2c1e9:2:1
      |
    2 | colour = *****
      | ^^^^^^ unknown key
      |
      = hint: known here: `on_error`

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_wrong_type_is_named() {
    insta::assert_snapshot!(render_errors("[review]\nstatus = \"yes\"\n", None), @r#"
    error: `review.status` must be `true` or `false`
     --> referee.toml at main@3f2c1e9:2:10
      |
    2 | status = "yes"
      |          ^^^^^ this is a text

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_number_out_of_bounds_is_named() {
    insta::assert_snapshot!(render_errors("[loop]\nrounds = 0\n", None), @r#"
    error: `loop.rounds` must be a whole number from 1 on
     --> referee.toml at main@3f2c1e9:2:10
      |
    2 | rounds = 0
      |          ^ this is not

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_word_outside_its_set_gets_the_list_and_what_was_meant() {
    insta::assert_snapshot!(render_errors("[gates]\nreply = \"asks\"\n", None), @r#"
    error: `gates.reply` must be one of `off`, `ask`, `on`
     --> referee.toml at main@3f2c1e9:2:9
      |
    2 | reply = "asks"
      |         ^^^^^^ this is none of them
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
fn another_version_is_refused_and_not_judged() {
    insta::assert_snapshot!(render_errors("version = 2\nfuture = true\n", None), @r#"
    error: version 2 of the config is not known to this version of referee
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
fn roles_need_names_of_their_own() {
    insta::assert_snapshot!(render_errors("[[role]]\nname = \"lint\"\nbuiltin = true\n\n[[role]]\nname = \"lint\"\nbuiltin = true\n", None), @r#"
    error: role `lint` is there twice
     --> referee.toml at main@3f2c1e9:6:8
      |
    2 | name = "lint"
      |        ------ the first one
    ...
    6 | name = "lint"
      |        ^^^^^^ a second one

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
      |        ^^^^^^ nobody reviews for it
      |
      = hint: `builtin = true` takes the embedded rules; `command` and `model` name entries of the operator file

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
      |        ^^^^^^ it has `builtin`, `command`

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_role_needs_a_name() {
    insta::assert_snapshot!(render_errors("[[role]]\nbuiltin = true\n", None), @r#"
    error: `role` needs `name`: its name, as it is shown on a pull
     --> referee.toml at main@3f2c1e9:1:1
      |
    1 | [[role]]
      | ^^^^^^^^ `name` is missing here

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn an_entry_that_is_not_there_is_named() {
    insta::assert_snapshot!(render_errors("[[role]]\nname = \"lint\"\ncommand = \"clippy2\"\n", Some("[commands.clippy]\nargv = [\"cargo\", \"clippy\"]\n")), @r#"
    error: `role.command` names `clippy2`, and the operator file has no `[commands.clippy2]`
     --> referee.toml at main@3f2c1e9:3:11
      |
    3 | command = "clippy2"
      |           ^^^^^^^^^ not there
      |
      = hint: did you mean `clippy`?

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_literal_secret_is_refused_and_not_shown() {
    insta::assert_snapshot!(render_errors("", Some("[forge.work.github]\ntoken = \"hunter2\"\n")), @r#"
    error: `forge.work.github.token` is refused: a secret must not stand in a file
     --> operator.toml:2:9
      |
    2 | token = *********
      |         ^^^^^^^^^ a literal, not shown here
      |
      = hint: write it as `{ env = "NAME" }`, `{ file = "/path" }` or `{ command = ["program"] }`; replace this one, others may have seen it

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn what_the_operator_says_has_no_place_in_the_repository() {
    insta::assert_snapshot!(render_errors("[models.default]\nprovider = \"openai\"\n", None), @r#"
    error: `models` belongs into the operator file, never into the repository
     --> referee.toml at main@3f2c1e9:1:2
      |
    1 | [models.default]
      |  ^^^^^^ not here

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn what_the_repository_says_has_no_place_in_the_operator_file() {
    insta::assert_snapshot!(render_errors("", Some("[loop]\nrounds = 3\n")), @r#"
    error: `loop` belongs into `referee.toml`, not into the operator file
     --> operator.toml:1:2
      |
    1 | [loop]
      |  ^^^^ not here

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_length_of_time_has_its_form() {
    insta::assert_snapshot!(render_errors("", Some("[serve]\nsweep = \"15 minutes\"\n")), @r#"
    error: `serve.sweep` must be a length of time such as `"50m"`, in `s`, `m`, `h` or `d`
     --> operator.toml:2:9
      |
    2 | sweep = "15 minutes"
      |         ^^^^^^^^^^^^ this is not

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn a_forge_is_of_one_kind() {
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
fn a_secret_has_one_source_at_a_fixed_place() {
    insta::assert_snapshot!(render_errors("", Some("[identity.sec]\ntoken = { file = \"token.txt\" }\n")), @r#"
    error: `identity.sec.token.file` must be an absolute path, or one that begins with `~/`
     --> operator.toml:2:18
      |
    2 | token = { file = *********** }
      |                  ^^^^^^^^^^^ this is not

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
      |        ^^ no program is named

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn what_is_no_toml_is_shown_where_it_breaks() {
    insta::assert_snapshot!(render_errors("[review]\nstart = \"push\n", None), @r#"
    error: this is no TOML: invalid basic string, expected `"`
     --> referee.toml at main@3f2c1e9:2:14
      |
    2 | start = "push
      |              ^ here

    error: the config cannot be used: 1 error
    "#);
}

#[test]
fn everything_wrong_in_all_sources_is_told_at_once() {
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

    error: `loop.rounds` must be a whole number from 1 on
     --> referee.toml at main@3f2c1e9:5:10
      |
    5 | rounds = "three"
      |          ^^^^^^^ this is a text

    error: `gates.work` must be one of `off`, `ask`, `on`
     --> operator.toml:2:8
      |
    2 | work = "never"
      |        ^^^^^^^ this is none of them

    error: `review.max_inline` must be a whole number from 0 on
     --> --max-inline:1:1
      |
    1 | -1
      | ^^ this is not

    error: `review.status` must be `true` or `false`
     --> REFEREE_REVIEW_STATUS:1:1
      |
    1 | maybe
      | ^^^^^ this is a text

    error: the config cannot be used: 5 errors
    "#);
    assert_eq!(errors.count(), 5);
    let told = ConfigErrorEntry {
        file: "referee.toml at main@3f2c1e9".into(),
        line: 5,
        column: 10,
        message: "`loop.rounds` must be a whole number from 1 on".into(),
        hint: None,
    };
    assert_eq!(errors.entries()[1], told);
}

#[test]
fn one_slip_in_a_line_is_one_error() {
    let said = render_errors("[review\nstart = = 1\n", None);
    assert!(said.ends_with("error: the config cannot be used: 2 errors"), "{said}");
}

#[test]
fn a_broken_operator_file_raises_no_errors_elsewhere() {
    let said = render_errors("[[role]]\nname = \"lint\"\ncommand = \"clippy\"\n", Some("[commands"));
    assert!(said.ends_with("error: the config cannot be used: 1 error"), "{said}");
}

/// Files as they come out of a shaky hand: cut anywhere, with any sign put anywhere.
#[test]
fn no_text_breaks_the_reading_and_every_error_lies_inside_its_text() {
    let signs =
        ["\"", "'", "[", "]", "{", "}", "=", "\n", "\r\n", "#", ".", ",", "\u{feff}", "\0", "é", "🦀", "-", "9", "x ="];
    for text in [repository_example().replace("\n#", "\n"), operator_example().to_owned()] {
        let cuts = (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(11);
        for (at, sign) in cuts.zip(signs.into_iter().cycle()) {
            let (head, tail) = text.split_at(at);
            for text in [head.to_owned(), tail.to_owned(), format!("{head}{sign}{tail}")] {
                let Err(errors) = load_config(&build_layers(&text, Some(&text), &[], &empty_env)) else { continue };
                for fault in &errors.faults {
                    let span = fault.location.span.clone();
                    assert!(text.get(span.clone()).is_some(), "{span:?} of {text}");
                }
                // Each is printed by the same code: the first and the last are enough to print.
                let last = errors.faults.last().cloned();
                let ends = errors.faults.first().cloned().into_iter().chain(last).collect();
                assert!(!ConfigErrors { faults: ends, ..errors }.to_string().is_empty());
            }
        }
    }
}
