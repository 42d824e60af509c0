//! Many objects in one call.

use std::collections::HashMap;

use referee_core::model::Sha;

use crate::git::{redact_output, require_full_sha};
use crate::{Git, GitError};

const CAT_FILE: &str = "cat-file";
/// From here on one listing of the commit costs less than finding each file's way through it.
const LS_TREE_THRESHOLD: usize = 16;

impl Git {
    /// The content of files at a commit, in the order of `paths`; none where there is no such file.
    ///
    /// A path that is no UTF-8 has no name here: its content is read by the [`blob`](Git::blobs) that a diff names.
    pub fn read_files(&self, commit: &Sha, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let name = require_full_sha(commit)?;
        if let Some(path) = paths.iter().find(|path| path.contains('\0')) {
            return Err(GitError::InvalidPath((*path).to_owned()));
        }
        let contents = if paths.len() > LS_TREE_THRESHOLD {
            self.read_files_by_blob(name, paths)?
        } else {
            self.cat_objects(&paths.iter().map(|path| format!("{name}:{path}")).collect::<Vec<_>>())?
        };
        // To git, a file of a commit that is not here is a file like any other that is not there.
        let none = !contents.is_empty() && contents.iter().all(Option::is_none);
        if none && !self.has_commit(commit)? { Err(GitError::CommitNotFound(commit.clone())) } else { Ok(contents) }
    }

    /// The same by the names of the blobs: for each path of a commit git unpacks every folder on the way to it anew.
    fn read_files_by_blob(&self, commit: &str, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        // A commit that is not here is told by the caller.
        let listed = self.output("ls-tree", &["-r", "-z", "--full-tree", commit])?.stdout;
        let entries = listed.split(|byte| *byte == 0).filter_map(|entry| {
            let text = std::str::from_utf8(entry).ok()?;
            let (about, path) = text.split_once('\t')?;
            let mut about = about.split(' ').skip(1);
            (about.next() == Some("blob")).then(|| Some((path, about.next()?)))?
        });
        let blobs: HashMap<&str, &str> = entries.collect();
        let found: Vec<Option<&str>> = paths.iter().map(|path| blobs.get(path).copied()).collect();
        let named: Vec<String> = found.iter().flatten().map(|blob| (*blob).to_owned()).collect();
        let mut contents = self.cat_objects(&named)?.into_iter();
        Ok(found.into_iter().map(|blob| blob.and_then(|_| contents.next().flatten())).collect())
    }

    /// The names of the files under a path at a commit; the path itself if it is a file.
    ///
    /// A name that is no UTF-8 is left out.
    pub fn list_files(&self, commit: &Sha, path: &str) -> Result<Vec<String>, GitError> {
        let listed =
            self.run("ls-tree", &["-r", "-z", "--name-only", "--full-tree", require_full_sha(commit)?, "--", path])?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect())
    }

    /// The content of blobs by their full names, as a diff gives them, in their order; none where there is no such blob.
    pub fn read_blobs(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let names: Result<Vec<String>, GitError> =
            names.iter().map(|name| require_full_sha(&Sha::from(*name)).map(str::to_owned)).collect();
        self.cat_objects(&names?)
    }

    fn cat_objects(&self, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let mut command = self.command(CAT_FILE);
        command.args(["--batch", "--buffer", "-z"]);
        let asked = names.iter().flat_map(|name| [name.as_str(), "\0"]).collect();
        parse_cat_file(&self.run_with_input(CAT_FILE, command, asked)?, names)
    }
}

/// `<name> blob <size>\n<content>\n`, or `<what was asked> missing\n`, one after the other.
fn parse_cat_file(answer: &[u8], names: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
    let mut rest = answer;
    let mut contents = Vec::with_capacity(names.len());
    for name in names {
        let odd =
            || GitError::UnexpectedOutput { command: CAT_FILE, answer: redact_output(&rest[..rest.len().min(300)]) };
        // What was asked may hold a line break itself.
        let asked = if rest.starts_with(name.as_bytes()) { name.len() } else { 0 };
        let end = rest[asked..].iter().position(|byte| *byte == b'\n').ok_or_else(odd)? + asked;
        let head = String::from_utf8_lossy(&rest[..end]);
        let after = &rest[end + 1..];
        if [" missing", " ambiguous", " submodule"].iter().any(|no| head.ends_with(no)) {
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
