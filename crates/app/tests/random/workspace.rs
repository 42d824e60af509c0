//! The author's clone: a repository with the branches `main` and `topic`, and a linter installed beside it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::tree::SourceTree;

pub(crate) struct Workspace {
    root: TempDir,
}

/// The state of the linter's installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Well,
    /// Exits with a code that is not in `ok_codes`.
    Crashes,
    /// Exits with 0 and prints nothing.
    PrintsNothing,
}

impl Workspace {
    /// Creates the repository with `base` on `main`, and switches to `topic`.
    pub(crate) fn new(config: &str, base: &SourceTree) -> Self {
        let workspace = Self { root: TempDir::new().expect("a folder") };
        std::fs::create_dir_all(workspace.repo()).expect("a folder");
        std::fs::write(workspace.path("linter.sh"), include_str!("linter.sh")).expect("a file");
        workspace.set_health(Health::Well);
        ["home", "other-home"].iter().for_each(|home| workspace.write_operator_file(home));
        workspace.git(&["init", "--quiet", "--initial-branch=main"]);
        workspace.git(&["config", "user.name", "Ada"]);
        workspace.git(&["config", "user.email", "ada@example.org"]);
        std::fs::write(workspace.repo().join("referee.toml"), config).expect("a file");
        workspace.commit_tree(base, "Begin");
        workspace.git(&["switch", "--quiet", "--create", "topic"]);
        workspace
    }

    fn write_operator_file(&self, home: &str) {
        let (folder, linter) = (self.path(home).join(".config/referee"), self.path("linter.sh"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let text = format!("[commands.linter]\nargv = [\"sh\", {linter:?}]\nformat = \"sarif\"\n");
        std::fs::write(folder.join("operator.toml"), text).expect("a file");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    /// Makes the work tree equal to `tree`, apart from the config, and commits it.
    pub(crate) fn commit_tree(&self, tree: &SourceTree, message: &str) {
        let tracked = self.git(&["ls-files"]);
        for gone in tracked.lines().filter(|path| *path != "referee.toml" && !tree.0.contains_key(*path)) {
            std::fs::remove_file(self.repo().join(gone)).expect("a tracked file");
        }
        for path in tree.0.keys() {
            let file = self.repo().join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, tree.render(path)).expect("a file");
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    pub(crate) fn set_health(&self, health: Health) {
        let word = match health {
            Health::Well => "well",
            Health::Crashes => "crash",
            Health::PrintsNothing => "empty",
        };
        std::fs::write(self.path("linter.health"), word).expect("a file");
    }

    /// Runs the linter on the work tree and returns the path of its report.
    pub(crate) fn lint(&self) -> PathBuf {
        let report = self.path("report.sarif");
        let output = self.command("sh", "home").arg(self.path("linter.sh")).output().expect("sh runs");
        std::fs::write(&report, output.stdout).expect("a file");
        report
    }

    /// Returns the id of the patch that the pull proposes. It survives an amended message and a rebase.
    pub(crate) fn patch_id(&self) -> String {
        let diff = self.command("git", "home").args(["diff", "main...topic"]).output().expect("git runs").stdout;
        std::fs::write(self.path("diff"), diff).expect("a file");
        let diff = std::fs::File::open(self.path("diff")).expect("a file");
        let patch_id = self.command("git", "home").args(["patch-id", "--stable"]).stdin(diff).output();
        let output = patch_id.expect("git runs").stdout;
        String::from_utf8_lossy(&output).split(' ').next().unwrap_or_default().to_owned()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self.command("git", "home").args(args).output().expect("git runs");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Returns a command that runs in the clone, isolated from this machine's settings.
    pub(crate) fn command(&self, program: impl AsRef<Path>, home: &str) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("a PATH"))
            .env("HOME", self.path(home))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .env("TMPDIR", self.root.path())
            .current_dir(self.repo())
            .stdin(Stdio::null());
        command
    }
}
