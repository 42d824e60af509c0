//! A temporary repository, filled by `git fast-import`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use referee_core::model::Sha;

pub(crate) type Files = BTreeMap<String, String>;

pub(crate) struct Repo {
    pub(crate) dir: PathBuf,
}

impl Repo {
    /// Creates a bare repository in a new folder.
    pub(crate) fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("referee-bench-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).expect("a temporary folder");
        let repo = Repo { dir };
        assert!(repo.git(&["init", "--quiet", "--bare", "."]).status().expect("run git").success());
        repo
    }

    /// Creates one commit without a parent for each set of files.
    pub(crate) fn commits<'a>(&self, trees: impl Iterator<Item = &'a Files>) -> Vec<Sha> {
        let mut input = Vec::new();
        let mut count = 0;
        for files in trees {
            count += 1;
            let head = format!(
                "commit refs/heads/c{count}\nmark :{count}\ncommitter Bench <bench@localhost> 0 +0000\ndata 0\n"
            );
            input.extend_from_slice(head.as_bytes());
            for (path, text) in files {
                input.extend_from_slice(format!("M 100644 inline {path}\ndata {}\n", text.len()).as_bytes());
                input.extend_from_slice(text.as_bytes());
                input.push(b'\n');
            }
            input.push(b'\n');
        }
        let marks = self.dir.join("marks");
        let mut import = self.git(&["fast-import", "--quiet", "--export-marks=marks"]);
        let mut child = import.stdin(Stdio::piped()).spawn().expect("run git");
        child.stdin.take().expect("a pipe").write_all(&input).expect("write to git");
        assert!(child.wait().expect("wait for git").success(), "fast-import failed");
        read_marks(&marks, count)
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(&self.dir).stdin(Stdio::null());
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        command
    }
}

impl Drop for Repo {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Parses lines of `:<mark> <commit>`, in any order.
fn read_marks(path: &Path, count: usize) -> Vec<Sha> {
    let mut shas = vec![Sha::from(""); count];
    for line in std::fs::read_to_string(path).expect("marks").lines() {
        let (mark, name) = line.trim_start_matches(':').split_once(' ').expect("a mark and a name");
        shas[mark.parse::<usize>().expect("a number") - 1] = Sha::from(name);
    }
    shas
}
