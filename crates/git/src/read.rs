//! Reads files and blobs, many in one git process.

use std::collections::HashMap;

use referee_core::model::Sha;

use crate::git::require_full_sha;
use crate::{Git, GitError};

const CAT_FILE: &str = "cat-file";
/// Above this number of paths, one `ls-tree` of the commit is faster than resolving each path.
const LS_TREE_THRESHOLD: usize = 16;

/// A file of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// Quoted as git quotes it if it is not UTF-8.
    pub path: String,
    pub mode: u32,
    /// The blob, or the commit of a submodule.
    pub id: String,
}

impl Git {
    /// Returns the contents of files at a commit, in the order of `paths`. `None` if there is no such file.
    ///
    /// For a path that is not UTF-8, use [`read_blobs`](Git::read_blobs) with the blob id of the diff.
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
        // Git does not distinguish a missing commit from a missing file.
        let none_found = !contents.is_empty() && contents.iter().all(Option::is_none);
        if none_found && !self.has_commit(commit)? {
            return Err(GitError::CommitNotFound(commit.clone()));
        }
        Ok(contents)
    }

    /// Reads files by blob id. With `<commit>:<path>`, git would unpack every tree on the way to each path again.
    fn read_files_by_blob(&self, commit: &str, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        // The caller reports a missing commit.
        let output = self.output("ls-tree", &["-r", "-z", "--full-tree", commit])?.stdout;
        let entries = output.split(|byte| *byte == 0).filter_map(|entry| {
            let text = std::str::from_utf8(entry).ok()?;
            let (fields, path) = text.split_once('\t')?;
            let mut fields = fields.split(' ').skip(1);
            (fields.next() == Some("blob")).then(|| Some((path, fields.next()?)))?
        });
        let blobs: HashMap<&str, &str> = entries.collect();
        let found: Vec<Option<&str>> = paths.iter().map(|path| blobs.get(path).copied()).collect();
        let ids: Vec<String> = found.iter().flatten().map(|blob| (*blob).to_owned()).collect();
        let mut contents = self.cat_objects(&ids)?.into_iter();
        Ok(found.into_iter().map(|blob| blob.and_then(|_| contents.next().flatten())).collect())
    }

    /// Lists all files, links and submodules of a commit or tree.
    pub fn list_tree(&self, commit: &Sha) -> Result<Vec<TreeFile>, GitError> {
        let output = self.run("ls-tree", &["-r", "-z", "--full-tree", require_full_sha(commit)?])?;
        let entries = output.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        let parsed = entries.map(|entry| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let mut fields = std::str::from_utf8(&entry[..tab]).ok()?.split(' ');
            let mode = u32::from_str_radix(fields.next()?, 8).ok()?;
            let id = fields.nth(1)?.to_owned();
            Some(TreeFile { path: crate::diff::decode_path(&entry[tab + 1..]), mode, id })
        });
        parsed.collect::<Option<Vec<_>>>().ok_or_else(|| GitError::unexpected_output("ls-tree", &output))
    }

    /// Lists the files below a path at a commit, or the path itself if it is a file. Skips paths that are not UTF-8.
    pub fn list_files(&self, commit: &Sha, path: &str) -> Result<Vec<String>, GitError> {
        let output =
            self.run("ls-tree", &["-r", "-z", "--name-only", "--full-tree", require_full_sha(commit)?, "--", path])?;
        let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect())
    }

    /// Returns the contents of blobs by their full ids, in order. `None` if there is no such blob.
    pub fn read_blobs(&self, ids: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let ids: Result<Vec<String>, GitError> =
            ids.iter().map(|id| require_full_sha(&Sha::from(*id)).map(str::to_owned)).collect();
        self.cat_objects(&ids?)
    }

    fn cat_objects(&self, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        self.read_objects("blob", names)
    }

    /// Returns the contents of objects of one kind, in the order of `names`. `None` if there is no such object.
    pub(crate) fn read_objects(&self, kind: &str, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let mut command = self.command(CAT_FILE);
        command.args(["--batch", "--buffer", "-z"]);
        let input = names.iter().flat_map(|name| [name.as_str(), "\0"]).collect();
        parse_cat_file(&self.run_with_input(CAT_FILE, command, input)?, kind, names)
    }
}

/// Parses `<id> blob <size>\n<content>\n` or `<requested name> missing\n` for each name.
fn parse_cat_file(output: &[u8], wanted: &str, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
    let mut rest = output;
    let mut contents = Vec::with_capacity(names.len());
    for name in names {
        let unexpected = || GitError::unexpected_output(CAT_FILE, &rest[..rest.len().min(300)]);
        // The requested name may itself contain a line feed.
        let name_len = if rest.starts_with(name.as_bytes()) { name.len() } else { 0 };
        let end = rest[name_len..].iter().position(|byte| *byte == b'\n').ok_or_else(unexpected)? + name_len;
        let head = String::from_utf8_lossy(&rest[..end]);
        let after = &rest[end + 1..];
        if [" missing", " ambiguous", " submodule"].iter().any(|suffix| head.ends_with(suffix)) {
            contents.push(None);
            rest = after;
            continue;
        }
        let mut fields = head.rsplit(' ');
        let size: usize = fields.next().and_then(|size| size.parse().ok()).ok_or_else(unexpected)?;
        let kind = fields.next().ok_or_else(unexpected)?;
        let content = after.get(..size).ok_or_else(unexpected)?;
        contents.push((kind == wanted).then(|| content.to_vec()));
        rest = after.get(size + 1..).ok_or_else(unexpected)?;
    }
    Ok(contents)
}
