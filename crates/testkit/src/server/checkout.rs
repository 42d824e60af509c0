use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use referee_core::model::Sha;

use super::process::isolate;

/// A working tree in which people's commits are made, one after the other.
#[derive(Debug)]
pub(super) struct Checkout {
    folder: PathBuf,
}

/// Whose commit it is, and what opens the server to them.
#[derive(Clone, Copy)]
pub(super) struct PersonCredentials<'a> {
    pub(super) login: &'a str,
    pub(super) token: &'a str,
}

/// Asks no helper of whoever runs the tests, and shows no token in a list of processes.
const CREDENTIAL_HELPER: &str = r#"!f() { echo "username=$REFEREE_HAND"; echo "password=$REFEREE_HAND_TOKEN"; }; f"#;

impl Checkout {
    /// An empty one.
    pub(super) fn new(folder: PathBuf) -> Result<Self, String> {
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let new = Self { folder };
        new.run_git(None, &["init", "--quiet", "--initial-branch", "work"])?;
        Ok(new)
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What a branch of the server points at, here now as a commit.
    pub(super) fn fetch(&self, pen: PersonCredentials<'_>, url: &str, name: &str) -> Result<Sha, String> {
        self.run_git(Some(pen), &["fetch", "--quiet", url, name])?;
        self.rev_parse("FETCH_HEAD")
    }

    /// Stands on a commit, and nothing else is in the folder.
    pub(super) fn checkout_commit(&self, commit: &Sha) -> Result<(), String> {
        self.run_git(None, &["checkout", "--quiet", "--force", "-B", "work", commit.as_str()])?;
        self.run_git(None, &["clean", "--quiet", "-ffdx"]).map(drop)
    }

    /// The next commit follows that one; the folder stays as it is.
    pub(super) fn reset_soft(&self, commit: &Sha) -> Result<(), String> {
        self.run_git(None, &["reset", "--quiet", "--soft", commit.as_str()]).map(drop)
    }

    /// A commit of everything in the folder, in somebody's name.
    pub(super) fn commit(&self, pen: PersonCredentials<'_>, message: &str) -> Result<Sha, String> {
        self.run_git(None, &["add", "--all"])?;
        let (name, mail) = (format!("user.name={}", pen.login), format!("user.email={}@example.org", pen.login));
        self.run_git(None, &["-c", &name, "-c", &mail, "commit", "--quiet", "--allow-empty", "--message", message])?;
        self.rev_parse("HEAD")
    }

    /// Makes a branch of the server point at a commit, whatever it pointed at.
    pub(super) fn push(&self, pen: PersonCredentials<'_>, url: &str, commit: &Sha, branch: &str) -> Result<(), String> {
        let place = format!("+{commit}:refs/heads/{branch}");
        self.run_git(Some(pen), &["push", "--quiet", url, &place]).map(drop)
    }

    /// What a name on the server points at.
    pub(super) fn resolve_remote_ref(
        &self,
        pen: PersonCredentials<'_>,
        url: &str,
        name: &str,
    ) -> Result<Option<Sha>, String> {
        let told = self.run_git(Some(pen), &["ls-remote", "--quiet", url, name])?;
        Ok(told.split_whitespace().next().map(Sha::from))
    }

    /// Changes a file; the closure gets "" for a new one.
    pub(super) fn edit_file(&self, path: &str, edit: impl FnOnce(&str) -> String) -> io::Result<()> {
        let file = self.folder.join(path);
        fs::create_dir_all(file.parent().unwrap_or(&self.folder))?;
        let text = fs::read_to_string(&file).unwrap_or_default();
        fs::write(file, edit(&text))
    }

    fn rev_parse(&self, name: &str) -> Result<Sha, String> {
        Ok(Sha(self.run_git(None, &["rev-parse", "--verify", name])?))
    }

    fn run_git(&self, pen: Option<PersonCredentials<'_>>, args: &[&str]) -> Result<String, String> {
        let mut git = Command::new("git");
        isolate(&mut git, &self.folder);
        if let Some(pen) = pen {
            git.env("REFEREE_HAND", pen.login).env("REFEREE_HAND_TOKEN", pen.token);
            git.args(["-c", "credential.helper=", "-c", &format!("credential.helper={CREDENTIAL_HELPER}")]);
        }
        let ended = git.current_dir(&self.folder).args(args).output().map_err(|error| error.to_string())?;
        if ended.status.success() {
            return Ok(String::from_utf8_lossy(&ended.stdout).trim().to_owned());
        }
        Err(format!("`git {}`: {}", args.join(" "), String::from_utf8_lossy(&ended.stderr).trim()))
    }
}
