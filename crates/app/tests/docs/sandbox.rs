//! A repository with a branch to review. Names and dates are fixed, so that commit ids are stable.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A folder with a repository in it.
pub(crate) struct Sandbox {
    root: TempDir,
}

/// A program that prints what clippy would.
const CARGO: &str = r#"#!/bin/sh
cat <<'END'
{"reason":"compiler-message","message":{"message":"this argument is passed by value","code":{"code":"clippy::needless_pass_by_value"},"level":"warning","spans":[{"file_name":"src/session.rs","line_start":11,"line_end":11,"column_start":1,"column_end":2,"is_primary":true}],"children":[],"rendered":null}}
{"reason":"build-finished","success":true}
END
"#;

impl Sandbox {
    /// `main` with these files too, and `feature/sessions` with one critical finding and one warning.
    pub(crate) fn new(page: &str, more: &[(&str, String)]) -> Self {
        let sandbox = Self { root: TempDir::new().expect("a folder") };
        let repository = sandbox.repository(page);
        for folder in [&repository, &sandbox.path("home"), &sandbox.path("bin")] {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        let git = |args: &[&str]| sandbox.run(Path::new("git"), args, &repository);
        git(&["init", "--quiet", "--initial-branch=main"]);
        git(&["config", "user.name", "Ada"]);
        git(&["config", "user.email", "ada@example.org"]);
        for (scene, branch, message) in
            [("base", "main", "Notes, as they are"), ("feature", "feature/sessions", "Save sessions, ask for rights")]
        {
            if branch != "main" {
                git(&["switch", "--quiet", "--create", branch]);
            }
            for path in ["web/login.js", "src/session.rs"] {
                let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/demo/sample").join(scene).join(path);
                let to = repository.join(path);
                std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
                std::fs::copy(sample, to).expect("a sample");
            }
            for (path, text) in more.iter().filter(|_| branch == "main") {
                let path = repository.join(path);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                std::fs::write(path, text).expect("a file");
            }
            git(&["add", "--all"]);
            git(&["commit", "--quiet", "--message", message]);
        }
        sandbox.write_program("cargo", CARGO);
        sandbox
    }

    /// Where trycmd runs what `page` says.
    pub(crate) fn repository(&self, page: &str) -> PathBuf {
        self.path(&format!("{page}.in"))
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The environment of every command: nothing of this machine's settings.
    pub(crate) fn env(&self) -> Vec<(&'static str, String)> {
        let path = std::env::var("PATH").expect("a PATH");
        let home = self.path("home").display().to_string();
        let date = "2026-01-05T10:00:00Z".to_owned();
        vec![
            ("PATH", format!("{}:{path}", self.path("bin").display())),
            ("XDG_CONFIG_HOME", format!("{home}/.config")),
            ("HOME", home),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_AUTHOR_DATE", date.clone()),
            ("GIT_COMMITTER_DATE", date),
            ("LC_ALL", "C".to_owned()),
            ("TZ", "UTC".to_owned()),
        ]
    }

    /// Runs a program; what it printed, words and data as they came.
    pub(crate) fn run(&self, program: &Path, args: &[&str], dir: &Path) -> String {
        let mut command = Command::new(program);
        command.env_clear().envs(self.env()).current_dir(dir).args(args);
        let output = command.output().expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&output.stdout) + &text(&output.stderr)
    }

    fn write_program(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path("bin").join(name);
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a program");
    }
}

/// The project's own folder.
pub(crate) fn house() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A text of the project.
pub(crate) fn text(path: &str) -> String {
    std::fs::read_to_string(house().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The program.
pub(crate) fn referee() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_referee"))
}
