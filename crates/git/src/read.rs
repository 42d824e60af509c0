//! Many objects in one call.

use std::io::Write;
use std::process::Stdio;

use referee_core::model::Sha;

use crate::program::{answer, full, shortened};
use crate::{Git, GitError};

const NAME: &str = "cat-file";

impl Git {
    /// The content of files at a commit, in the order of `paths`; none where there is no such file.
    pub fn files(&self, commit: &Sha, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let commit = full(commit)?;
        if let Some(path) = paths.iter().find(|path| path.contains(['\n', '\0'])) {
            return Err(GitError::Unreadable((*path).to_owned()));
        }
        self.batch(paths.iter().map(|path| format!("{commit}:{path}")).collect())
    }

    /// The content of blobs by their full names, as a diff gives them, in their order; none where there is no such blob.
    pub fn blobs(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let names: Result<Vec<String>, GitError> =
            names.iter().map(|name| full(&Sha::from(*name)).map(str::to_owned)).collect();
        self.batch(names?)
    }

    fn batch(&self, names: Vec<String>) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let count = names.len();
        let mut command = self.command(NAME);
        command.args(["--batch", "--buffer"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| self.not_started(error))?;
        let stdin = child.stdin.take();
        // Git answers while it is still asked: whoever writes everything first and reads then waits for ever.
        let output = std::thread::scope(|scope| {
            scope.spawn(move || {
                let Some(mut stdin) = stdin else { return };
                // A broken pipe shows in the answer: it is too short.
                let _ = stdin.write_all((names.join("\n") + "\n").as_bytes());
            });
            child.wait_with_output()
        });
        let output = output.map_err(|source| GitError::Pipe { command: NAME, source })?;
        take_apart(&answer(NAME, output)?, count)
    }
}

/// `<name> blob <size>\n<content>\n`, or `<name> missing\n`, one after the other.
fn take_apart(answer: &[u8], count: usize) -> Result<Vec<Option<Vec<u8>>>, GitError> {
    let mut rest = answer;
    let mut contents = Vec::with_capacity(count);
    for _ in 0..count {
        let odd = || GitError::Answer { command: NAME, answer: shortened(&rest[..rest.len().min(300)]) };
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(odd)?;
        let head = String::from_utf8_lossy(&rest[..end]);
        let after = &rest[end + 1..];
        if head.ends_with(" missing") || head.ends_with(" ambiguous") {
            contents.push(None);
            rest = after;
            continue;
        }
        let mut fields = head.rsplit(' ');
        let size: usize = fields.next().and_then(|size| size.parse().ok()).ok_or_else(odd)?;
        let kind = fields.next().ok_or_else(odd)?;
        let content = after.get(..size).ok_or_else(odd)?;
        contents.push((kind == "blob").then(|| content.to_vec()));
        rest = after.get(size + 1..).ok_or_else(odd)?;
    }
    Ok(contents)
}
