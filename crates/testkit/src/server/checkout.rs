use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use referee_core::model::Sha;

use super::process::isolate;

/// A working tree in which the commits of all people are made, one after the other.
#[derive(Debug)]
pub(super) struct Checkout {
    folder: PathBuf,
}

/// The author of a commit and the token that authenticates the push.
#[derive(Clone, Copy)]
pub(super) struct PersonCredentials<'a> {
    pub(super) login: &'a str,
    pub(super) token: &'a str,
}

/// Disables credential helpers, and passes the token through the environment so that process lists do not show it.
const CREDENTIAL_HELPER: &str =
    r#"!f() { echo "username=$REFEREE_TEST_LOGIN"; echo "password=$REFEREE_TEST_TOKEN"; }; f"#;

impl Checkout {
    /// Creates an empty working tree.
    pub(super) fn new(folder: PathBuf) -> Result<Self, String> {
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let checkout = Self { folder };
        checkout.run_git(None, &["init", "--quiet", "--initial-branch", "work"])?;
        Ok(checkout)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Fetches a branch of the server and returns its commit.
    pub(super) fn fetch(&self, credentials: PersonCredentials<'_>, url: &str, name: &str) -> Result<Sha, String> {
        self.run_git(Some(credentials), &["fetch", "--quiet", url, name])?;
        self.rev_parse("FETCH_HEAD")
    }

    /// Checks out a commit and removes all other files.
    pub(super) fn checkout_commit(&self, commit: &Sha) -> Result<(), String> {
        self.run_git(None, &["checkout", "--quiet", "--force", "-B", "work", commit.as_str()])?;
        self.run_git(None, &["clean", "--quiet", "-ffdx"]).map(drop)
    }

    /// Makes that commit the parent of the next one. The files stay as they are.
    pub(super) fn reset_soft(&self, commit: &Sha) -> Result<(), String> {
        self.run_git(None, &["reset", "--quiet", "--soft", commit.as_str()]).map(drop)
    }

    /// Commits all files under a user's name.
    pub(super) fn commit(&self, credentials: PersonCredentials<'_>, message: &str) -> Result<Sha, String> {
        self.run_git(None, &["add", "--all"])?;
        let (name, mail) =
            (format!("user.name={}", credentials.login), format!("user.email={}@example.org", credentials.login));
        self.run_git(None, &["-c", &name, "-c", &mail, "commit", "--quiet", "--allow-empty", "--message", message])?;
        self.rev_parse("HEAD")
    }

    /// Force-pushes a commit to a branch of the server.
    pub(super) fn push(
        &self,
        credentials: PersonCredentials<'_>,
        url: &str,
        commit: &Sha,
        branch: &str,
    ) -> Result<(), String> {
        let refspec = format!("+{commit}:refs/heads/{branch}");
        self.run_git(Some(credentials), &["push", "--quiet", url, &refspec]).map(drop)
    }

    /// Resolves a ref on the server.
    pub(super) fn resolve_remote_ref(
        &self,
        credentials: PersonCredentials<'_>,
        url: &str,
        name: &str,
    ) -> Result<Option<Sha>, String> {
        let output = self.run_git(Some(credentials), &["ls-remote", "--quiet", url, name])?;
        Ok(output.split_whitespace().next().map(Sha::from))
    }

    /// Edits a file. The closure receives "" for a checkout file.
    pub(super) fn edit_file(&self, path: &str, edit: impl FnOnce(&str) -> String) -> io::Result<()> {
        let file = self.folder.join(path);
        fs::create_dir_all(file.parent().unwrap_or(&self.folder))?;
        let text = fs::read_to_string(&file).unwrap_or_default();
        fs::write(file, edit(&text))
    }

    fn rev_parse(&self, name: &str) -> Result<Sha, String> {
        Ok(Sha(self.run_git(None, &["rev-parse", "--verify", name])?))
    }

    fn run_git(&self, credentials: Option<PersonCredentials<'_>>, args: &[&str]) -> Result<String, String> {
        let mut git = Command::new("git");
        isolate(&mut git, &self.folder);
        if let Some(credentials) = credentials {
            git.env("REFEREE_TEST_LOGIN", credentials.login).env("REFEREE_TEST_TOKEN", credentials.token);
            git.args(["-c", "credential.helper=", "-c", &format!("credential.helper={CREDENTIAL_HELPER}")]);
        }
        let output = git.current_dir(&self.folder).args(args).output().map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(format!("`git {}`: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
    }
}
