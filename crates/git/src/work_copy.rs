//! Separate repositories for untrusted workers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use referee_core::model::Sha;

use crate::git::{require_full_sha, require_success, set_config_env};
use crate::{Git, GitError, GitIdentity};

/// A commit checked out in a repository that shares nothing with its source, so that nothing done there affects the
/// source. The directory is deleted on drop.
#[derive(Debug)]
pub struct WorkCopy {
    dir: PathBuf,
    config: String,
    identity: String,
    initial_size: u64,
}

const BASE_REF: &str = "refs/heads/base";
const PACK_OBJECTS: &str = "pack-objects";

impl Git {
    /// Creates a repository in the new directory `dir` with `commit` checked out (detached), `base` as its only branch,
    /// the history of both and no remote. The files are exactly as committed: no hook or filter runs, and submodules
    /// stay empty. `user` is the configured author.
    pub fn create_work_copy(
        &self,
        dir: &Path,
        commit: &Sha,
        base: &Sha,
        user: &GitIdentity,
    ) -> Result<WorkCopy, GitError> {
        let filesystem_error = |source| GitError::Filesystem { dir: dir.to_owned(), source };
        self.check_tree_size(commit)?;
        let (name, base) = (require_full_sha(commit)?, require_full_sha(base)?);
        let dir = std::path::absolute(dir).map_err(filesystem_error)?;
        // Fails if the directory exists: it might contain files of another user.
        fs::create_dir(&dir).map_err(filesystem_error)?;
        let mut copy = WorkCopy { dir, config: render_config(user), identity: String::new(), initial_size: 0 };
        let git = copy.git();
        git.run("init", &["--quiet", "--template=", "--initial-branch=work", "--object-format=sha1", "."])?;
        self.send_commits(&git, &[name, base])
            .map_err(|error| self.map_missing_commit(&[commit, &Sha::from(base)], error))?;
        git.run("update-ref", &["--no-deref", BASE_REF, base])?;
        git.run("update-ref", &["--no-deref", "HEAD", name])?;
        fs::write(copy.git_dir().join("config"), &copy.config).map_err(filesystem_error)?;
        copy.identity = git.author_identity()?.to_string();
        let mut reset = git.command_with_options("reset", &["-c", "submodule.recurse=false"]);
        set_config_env(&mut reset, &git.disable_filters_config()?);
        require_success("reset", git.execute(reset.args(["--hard", "--quiet", name]))?)?;
        copy.initial_size = sum_file_sizes(&copy.git_dir()).map_err(filesystem_error)?;
        Ok(copy)
    }

    /// Copies commits with their history into another repository. Fetches missing blobs here, because the other
    /// repository has no remote.
    fn send_commits(&self, target: &Git, commits: &[&str]) -> Result<(), GitError> {
        let broken_pipe = |source| GitError::BrokenPipe { command: PACK_OBJECTS, source };
        let mut pack = self.command(PACK_OBJECTS);
        pack.args(["--revs", "--stdout", "--quiet", "--delta-base-offset"]);
        let pack = pack.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut packing = pack.spawn().map_err(|error| self.spawn_error(error))?;
        let stdin = packing.stdin.take();
        let packed = packing.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let mut index: Command = target.command("index-pack");
        let index = index.args(["--stdin", "--fix-thin"]).stdin(packed).stdout(Stdio::piped()).stderr(Stdio::piped());
        let indexing = index.spawn().map_err(|error| target.spawn_error(error))?;
        if let Some(mut stdin) = stdin {
            let input: String = commits.iter().flat_map(|commit| [commit, "\n"]).collect();
            // The exit code shows a broken pipe.
            let _ = io::Write::write_all(&mut stdin, input.as_bytes());
        }
        let packing = packing.wait_with_output().map_err(broken_pipe)?;
        let indexing = indexing.wait_with_output().map_err(broken_pipe)?;
        require_success(PACK_OBJECTS, self.mask_stderr(packing))?;
        require_success("index-pack", indexing).map(drop)
    }
}

impl WorkCopy {
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns name and address of the configured author, as git writes them into a commit.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    pub(crate) fn git_dir(&self) -> PathBuf {
        self.dir.join(".git")
    }

    /// Returns the content of `.git/config` at creation.
    pub(crate) fn config(&self) -> &str {
        &self.config
    }

    /// Returns the size of `.git` at creation, in bytes.
    pub(crate) fn initial_size(&self) -> u64 {
        self.initial_size
    }

    /// Opens the repository. Safe only before a worker could write into it.
    fn git(&self) -> Git {
        Git::from_dir(&self.dir)
    }
}

impl Drop for WorkCopy {
    fn drop(&mut self) {
        // `drop` cannot report an error.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Renders the config of a work copy: its author, and no signing, no automatic repacking and no advice.
fn render_config(user: &GitIdentity) -> String {
    let quoted = |text: &Option<String>| {
        let text = text.as_deref().unwrap_or_default();
        text.chars().filter(|char| !char.is_control() && !matches!(char, '"' | '\\')).collect::<String>()
    };
    format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogAllRefUpdates = true\n\
         [user]\n\tname = \"{}\"\n\temail = \"{}\"\n\
         [commit]\n\tgpgSign = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[advice]\n\tdetachedHead = false\n",
        quoted(&user.name),
        quoted(&user.email),
    )
}

/// Returns the total size of the files below a directory. Fails on anything else, such as a symlink or a socket.
pub(crate) fn sum_file_sizes(dir: &Path) -> io::Result<u64> {
    let (mut queue, mut size) = (vec![dir.to_owned()], 0_u64);
    while let Some(dir) = queue.pop() {
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            // Does not follow a symlink.
            let metadata = fs::symlink_metadata(entry.path())?;
            if metadata.is_dir() {
                queue.push(entry.path());
            } else if metadata.is_file() {
                size = size.saturating_add(metadata.len());
            } else {
                let name = entry.file_name().to_string_lossy().into_owned();
                return Err(io::Error::other(format!("`{name}` is neither a file nor a directory")));
            }
        }
    }
    Ok(size)
}
