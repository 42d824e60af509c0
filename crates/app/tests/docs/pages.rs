//! Runs the `console` blocks of each page from top to bottom in one repository. `TRYCMD=overwrite` updates the page with
//! the actual output.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sandbox::{Sandbox, house, referee, text};

fn play(page: &str, more: &[(&str, String)]) {
    let name = Path::new(page).file_stem().and_then(|name| name.to_str()).expect("a name");
    let sandbox = Sandbox::new(name, more);
    let copy = sandbox.path(&format!("{name}.md"));
    std::fs::write(&copy, text(page)).expect("a page");
    let cases = trycmd::TestCases::new();
    for (key, value) in sandbox.env() {
        cases.env(key, value);
    }
    cases.register_bin("referee", referee().as_path());
    for program in ["git", "sed"] {
        cases.register_bin(program, found(program).as_path());
    }
    cases.case(&copy);
    let ran = catch_unwind(AssertUnwindSafe(|| cases.run()));
    if std::env::var("TRYCMD").is_ok_and(|mode| mode == "overwrite") {
        std::fs::copy(&copy, house().join(page)).expect("a page");
    }
    ran.unwrap_or_else(|panic| resume_unwind(panic));
}

/// The first block of a page that begins so.
fn fenced(page: &str, fence: &str) -> String {
    let text = text(page);
    let (_, rest) = text.split_once(fence).expect("a block");
    rest.split_once("```").expect("its end").0.to_owned()
}

fn found(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a PATH");
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|it| it.is_file()).expect("it is installed")
}

// spec: LOOP-1, INC-2, INC-6 @local
#[test]
fn the_readme_tour_prints_what_it_shows() {
    play("README.md", &[]);
}

#[test]
fn the_rules_page_prints_what_it_shows() {
    let rule = fenced("docs/rules.md", "```yaml\n");
    play("docs/rules.md", &[(".referee/rules/atomic.yml", rule)]);
}

#[test]
fn the_config_page_prints_what_it_shows() {
    let draft = fenced("docs/config.md", "```toml\n");
    play("docs/config.md", &[("draft.toml", draft)]);
}

#[test]
fn the_config_page_shows_every_key() {
    let page = text("docs/config.md");
    for file in ["referee.toml", "operator.toml"] {
        let example = text(&format!("crates/app/src/config/example/{file}"));
        assert!(page.contains(&format!("```toml\n{example}```\n")), "`docs/config.md` shows another {file}");
    }
}

#[test]
fn a_linter_is_piped_in_as_the_readme_shows() {
    let readme = text("README.md");
    let line = readme.lines().find(|line| line.contains("| referee review")).expect("a pipe in the README");
    let sandbox = Sandbox::new("pipe", &[]);
    let mut shell = Command::new("sh");
    let bin = referee();
    let folder = bin.parent().expect("a folder").display().to_string();
    shell.env_clear().envs(sandbox.env()).current_dir(sandbox.repository("pipe"));
    let path = sandbox.env().into_iter().find(|(key, _)| *key == "PATH").map(|(_, path)| path).unwrap_or_default();
    let output = shell.env("PATH", format!("{path}:{folder}")).args(["-c", line]).output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("warning[lint]: F1 this argument is passed by value"), "{said}");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
