//! Secrets come from their source and go nowhere else.

use std::fs;

use super::super::*;
use super::{none, read};

#[test]
fn a_secret_is_read_from_its_source_without_the_final_newline() {
    let folder = tempfile::tempdir().expect("a folder");
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
        Secret::Env("TOKEN".into()),
        Secret::File(path.to_string_lossy().into_owned()),
        Secret::File("~/token".into()),
        Secret::Command(echo),
    ] {
        let text: SecretText = secret.read(&env).expect("it is there");
        assert_eq!(text.expose(), "hunter2");
        assert_eq!(format!("{text:?}"), "SecretText(…)");
    }
    let missing = |secret: Secret| -> SecretError { secret.read(&env).expect_err("it is not there") };
    let said = |secret: Secret| missing(secret).to_string();
    assert_eq!(said(Secret::Env("OTHER".into())), "the variable `OTHER` is not set");
    assert_eq!(said(Secret::Env("EMPTY".into())), "the variable `EMPTY` is empty");
    assert!(said(Secret::File("~/none".into())).starts_with("the file `~/none` cannot be read: "));
    let fails = vec!["sh".to_owned(), "-c".to_owned(), "echo hunter2; exit 3".to_owned()];
    let failed = said(Secret::Command(fails));
    assert!(failed.starts_with("the program `sh` failed: ") && !failed.contains("hunter2"), "{failed}");
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("token");
    fs::write(&path, "hunter2").expect("written");
    let secret = Secret::File(path.to_string_lossy().into_owned());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("set");
    assert!(secret.exposed(&none).expect("exposed").starts_with("others on this machine can read the file `"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
    assert_eq!(secret.exposed(&none), None);
    assert_eq!(Secret::Env("TOKEN".into()).exposed(&none), None);
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
        let errors = read("", Some(operator)).expect_err("it is wrong");
        let said = format!("{errors} {}", errors.coloured());
        assert!(!said.contains("hunter2"), "{said}");
    }
}
