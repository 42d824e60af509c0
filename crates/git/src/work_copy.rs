//! A repository of its own for somebody who is not trusted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use referee_core::model::Sha;

use crate::git::{require_full_sha, require_success, set_config_env};
use crate::{Git, GitError, GitIdentity};

/// A commit as files, in a repository that shares nothing with the one it came from: whatever is done there stays there.
/// The folder goes with the value.
#[derive(Debug)]
pub struct WorkCopy {
    dir: PathBuf,
    config: String,
    initial_size: u64,
}

const BASE_REF: &str = "refs/heads/base";
const PACK_OBJECTS: &str = "pack-objects";

impl Git {
    /// Puts a commit into a new folder, as a repository of its own: without a branch, without a remote, with `base` as its
    /// only branch and all that led to both. The files are as they are committed: neither a hook nor a filter runs, and
    /// submodules stay empty. Whoever commits there is that user.
    pub fn create_work_copy(&self, dir: &Path, at: &Sha, base: &Sha, user: &GitIdentity) -> Result<WorkCopy, GitError> {
        let unusable = |source| GitError::Filesystem { dir: dir.to_owned(), source };
        let (name, base) = (require_full_sha(at)?, require_full_sha(base)?);
        let dir = std::path::absolute(dir).map_err(unusable)?;
        // Made here, so that nothing of somebody else is in it.
        fs::create_dir(&dir).map_err(unusable)?;
        let mut copy = WorkCopy { dir, config: render_config(user), initial_size: 0 };
        let git = copy.git();
        git.run("init", &["--quiet", "--template=", "--initial-branch=work", "--object-format=sha1", "."])?;
        self.send_commits(&git, &[name, base])
            .map_err(|error| self.map_missing_commit(&[at, &Sha::from(base)], error))?;
        git.run("update-ref", &["--no-deref", BASE_REF, base])?;
        git.run("update-ref", &["--no-deref", "HEAD", name])?;
        fs::write(copy.git_dir().join("config"), &copy.config).map_err(unusable)?;
        let mut files = git.command_with_options("reset", &["-c", "submodule.recurse=false"]);
        set_config_env(&mut files, &git.disable_filters_config()?);
        require_success("reset", git.execute(files.args(["--hard", "--quiet", name]))?)?;
        copy.initial_size = sum_file_sizes(&copy.git_dir()).map_err(unusable)?;
        Ok(copy)
    }

    /// Gives another repository these commits and all that led to them, as objects of its own. What was left on a server
    /// is fetched here: the other one has nobody to ask.
    fn send_commits(&self, to: &Git, commits: &[&str]) -> Result<(), GitError> {
        let broke = |source| GitError::BrokenPipe { command: PACK_OBJECTS, source };
        let mut pack = self.command(PACK_OBJECTS);
        pack.args(["--revs", "--stdout", "--quiet", "--delta-base-offset"]);
        let pack = pack.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut packing = pack.spawn().map_err(|error| self.spawn_error(error))?;
        let stdin = packing.stdin.take();
        let packed = packing.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let mut index: Command = to.command("index-pack");
        let index = index.args(["--stdin", "--fix-thin"]).stdin(packed).stdout(Stdio::piped()).stderr(Stdio::piped());
        let indexing = index.spawn().map_err(|error| to.spawn_error(error))?;
        if let Some(mut stdin) = stdin {
            let asked: String = commits.iter().flat_map(|commit| [commit, "\n"]).collect();
            // A broken pipe shows in how it ends.
            let _ = io::Write::write_all(&mut stdin, asked.as_bytes());
        }
        let packing = packing.wait_with_output().map_err(broke)?;
        let indexing = indexing.wait_with_output().map_err(broke)?;
        require_success(PACK_OBJECTS, packing)?;
        require_success("index-pack", indexing).map(drop)
    }
}

impl WorkCopy {
    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its git folder.
    pub(crate) fn git_dir(&self) -> PathBuf {
        self.dir.join(".git")
    }

    /// The settings it was handed out with.
    pub(crate) fn config(&self) -> &str {
        &self.config
    }

    /// How many bytes its git folder took when it was made.
    pub(crate) fn initial_size(&self) -> u64 {
        self.initial_size
    }

    /// Only while nobody else has been there.
    fn git(&self) -> Git {
        Git::from_dir(&self.dir)
    }
}

impl Drop for WorkCopy {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// What a copy is told: who commits there, and that nothing is signed, packed or asked for behind the back of whoever
/// works there.
fn render_config(user: &GitIdentity) -> String {
    let quoted = |text: &Option<String>| {
        let text = text.as_deref().unwrap_or_default();
        text.chars().filter(|it| !it.is_control() && !matches!(it, '"' | '\\')).collect::<String>()
    };
    format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogAllRefUpdates = true\n\
         [user]\n\tname = \"{}\"\n\temail = \"{}\"\n\
         [commit]\n\tgpgSign = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[advice]\n\tdetachedHead = false\n",
        quoted(&user.name),
        quoted(&user.email),
    )
}

/// How many bytes the files of a folder take. What is neither a file nor a folder is an error.
pub(crate) fn sum_file_sizes(folder: &Path) -> io::Result<u64> {
    let (mut left, mut size) = (vec![folder.to_owned()], 0_u64);
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            // Of the entry itself: a link is not followed.
            let about = fs::symlink_metadata(entry.path())?;
            if about.is_dir() {
                left.push(entry.path());
            } else if about.is_file() {
                size = size.saturating_add(about.len());
            } else {
                let name = entry.file_name().to_string_lossy().into_owned();
                return Err(io::Error::other(format!("`{name}` is neither a file nor a folder")));
            }
        }
    }
    Ok(size)
}
