//! Secrets are read from their sources and appear in no message.

use std::fs;

use super::super::secret::{SecretError, SecretText};
use super::super::*;
use super::load_pair;

#[test]
fn a_secret_is_read_from_its_source_without_the_final_newline() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("token");
    fs::write(&path, "hunter2\n").expect("written");
    let home = folder.path().to_string_lossy().into_owned();
    let env = |name: &str| match name {
        "TOKEN" => Some("hunter2".to_owned()),
        "EMPTY" => Some(" \n".to_owned()),
        "HOME" => Some(home.clone()),
        _ => None,
    };
    let echo = vec!["sh".to_owned(), "-c".to_owned(), "echo hunter2".to_owned()];
    for secret in [
        SecretSource::Env("TOKEN".into()),
        SecretSource::File(path.to_string_lossy().into_owned()),
        SecretSource::File("~/token".into()),
        SecretSource::Command(echo),
    ] {
        let text: SecretText = secret.read(&env).expect("it is there");
        assert_eq!(text.expose(), "hunter2");
        assert_eq!(format!("{text:?}"), "SecretText(…)");
    }
    let error = |secret: SecretSource| -> SecretError { secret.read(&env).expect_err("an error") };
    let message = |secret: SecretSource| error(secret).to_string();
    assert_eq!(message(SecretSource::Env("OTHER".into())), "the variable `OTHER` is not set");
    assert_eq!(message(SecretSource::Env("EMPTY".into())), "the variable `EMPTY` is empty");
    assert!(message(SecretSource::File("~/none".into())).starts_with("the file `~/none` cannot be read: "));
    let failing = vec!["sh".to_owned(), "-c".to_owned(), "echo hunter2; exit 3".to_owned()];
    let failed = message(SecretSource::Command(failing));
    assert!(failed.starts_with("the program `sh` failed: ") && !failed.contains("hunter2"), "{failed}");
}

#[test]
fn no_message_shows_what_may_be_a_secret() {
    for operator in [
        "[forge.w.github]\ntoken = \"hunter2\"",
        "[forge.w.github]\ntokens = \"hunter2\"",
        "[forge.w.github]\ntoken = [\"hunter2\"]",
        "[forge.w.github]\ntoken = { value = \"hunter2\" }",
        "[forge.w.github]\ntoken = \"hunter2",
        "[forge.w.github]\ntoken = hunter2",
        "[forge.w.github]\ntoken = \"\"\"\nhunter2",
        "[forge.w.github]\nurl = \"https://me:hunter2@example.org\"",
        "[mark]\nkeys = [\"hunter2\"]",
        "[mark]\nkeys = \"hunter2\"",
        "[tokens]\ngithub = { mine = \"hunter2\" }",
        "[models.m]\nmodel = \"m\"\nprovider = \"none\" # hunter2hunter2hunter2",
    ] {
        let errors = load_pair("", Some(operator)).expect_err("it is wrong");
        let rendered = format!("{errors} {}", errors.render_coloured());
        assert!(!rendered.contains("hunter2"), "{rendered}");
    }
}
