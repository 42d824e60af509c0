//! Many objects in one call.

use std::collections::HashMap;

use referee_core::model::Sha;

use crate::program::{full, shortened};
use crate::{Git, GitError};

const NAME: &str = "cat-file";
/// From here on one listing of the commit costs less than finding each file's way through it.
const FEW: usize = 16;

impl Git {
    /// The content of files at a commit, in the order of `paths`; none where there is no such file.
    ///
    /// A path that is no UTF-8 has no name here: its content is read by the [`blob`](Git::blobs) that a diff names.
    pub fn files(&self, commit: &Sha, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let name = full(commit)?;
        if let Some(path) = paths.iter().find(|path| path.contains('\0')) {
            return Err(GitError::Unreadable((*path).to_owned()));
        }
        let contents = if paths.len() > FEW {
            self.by_blob(name, paths)?
        } else {
            self.batch(&paths.iter().map(|path| format!("{name}:{path}")).collect::<Vec<_>>())?
        };
        // To git, a file of a commit that is not here is a file like any other that is not there.
        let none = !contents.is_empty() && contents.iter().all(Option::is_none);
        if none && !self.has(commit)? { Err(GitError::Missing(commit.clone())) } else { Ok(contents) }
    }

    /// The same by the names of the blobs: for each path of a commit git unpacks every folder on the way to it anew.
    fn by_blob(&self, commit: &str, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
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
        let mut contents = self.batch(&named)?.into_iter();
        Ok(found.into_iter().map(|blob| blob.and_then(|_| contents.next().flatten())).collect())
    }

    /// The names of the files under a path at a commit; the path itself if it is a file.
    ///
    /// A name that is no UTF-8 is left out.
    pub fn under(&self, commit: &Sha, path: &str) -> Result<Vec<String>, GitError> {
        let listed = self.ask("ls-tree", &["-r", "-z", "--name-only", "--full-tree", full(commit)?, "--", path])?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect())
    }

    /// The content of blobs by their full names, as a diff gives them, in their order; none where there is no such blob.
    pub fn blobs(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let names: Result<Vec<String>, GitError> =
            names.iter().map(|name| full(&Sha::from(*name)).map(str::to_owned)).collect();
        self.batch(&names?)
    }

    fn batch(&self, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let mut command = self.command(NAME);
        command.args(["--batch", "--buffer", "-z"]);
        let asked = names.iter().flat_map(|name| [name.as_str(), "\0"]).collect();
        take_apart(&self.fed(NAME, command, asked)?, names)
    }
}

/// `<name> blob <size>\n<content>\n`, or `<what was asked> missing\n`, one after the other.
fn take_apart(answer: &[u8], names: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
    let mut rest = answer;
    let mut contents = Vec::with_capacity(names.len());
    for name in names {
        let odd = || GitError::Answer { command: NAME, answer: shortened(&rest[..rest.len().min(300)]) };
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
