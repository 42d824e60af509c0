//! Counts files without listing them.
//!
//! Trees may share subtrees: 300 kB of objects can hold a billion files, and every recursive command of git would visit
//! each of them (D43). Here each pair of trees is compared once, so the cost depends on the objects, not on the files.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use referee_core::model::Sha;

use crate::git::require_full_sha;
use crate::{Git, GitError};

/// Maximum number of files that a change may touch.
const MAX_CHANGED_FILES: u64 = 100_000;
/// Maximum number of files of a commit that is checked out.
const MAX_CHECKED_OUT_FILES: u64 = 2_000_000;
/// Maximum depth of folders. A deeper path cannot be checked out.
const MAX_DEPTH: usize = 1_000;
/// Maximum size of all trees that are read for one answer.
const MAX_TREE_BYTES: usize = 256 << 20;

const CAT_FILE: &str = "cat-file";

impl Git {
    /// Returns an error if two commits differ in more files than are compared.
    pub(crate) fn check_change_size(&self, old: &Sha, new: &Sha) -> Result<(), GitError> {
        match self.find_oversized(&[(old, new)])?.is_empty() {
            true => Ok(()),
            false => Err(GitError::TooLarge(describe_limit("the change", MAX_CHANGED_FILES))),
        }
    }

    /// Returns the pairs that differ in more files than are compared, by their position.
    pub fn find_oversized(&self, pairs: &[(&Sha, &Sha)]) -> Result<Vec<usize>, GitError> {
        let mut trees = TreeReader::open(self)?;
        let mut oversized = Vec::new();
        for (index, (old, new)) in pairs.iter().enumerate() {
            let (old, new) = (trees.find_root(old)?, trees.find_root(new)?);
            let mut count = FileCount { trees: &mut trees, known: HashMap::new(), limit: MAX_CHANGED_FILES };
            if count.count_changes(old.as_deref(), new.as_deref(), 0)?.is_none() {
                oversized.push(index);
            }
        }
        Ok(oversized)
    }

    /// Returns an error if a commit has more files than are checked out.
    pub(crate) fn check_tree_size(&self, commit: &Sha) -> Result<(), GitError> {
        let mut trees = TreeReader::open(self)?;
        let root = trees.find_root(commit)?;
        let mut count = FileCount { trees: &mut trees, known: HashMap::new(), limit: MAX_CHECKED_OUT_FILES };
        match count.count_changes(None, root.as_deref(), 0)? {
            Some(_) => Ok(()),
            None => Err(GitError::TooLarge(describe_limit("the commit", MAX_CHECKED_OUT_FILES))),
        }
    }
}

fn describe_limit(what: &str, limit: u64) -> String {
    format!("{what}, which has more than {limit} files or folders that are too deep,")
}

/// Counts files, with the results so far.
struct FileCount<'a> {
    trees: &'a mut TreeReader,
    known: HashMap<TreePair, u64>,
    limit: u64,
}

/// The ids of two trees, in hexadecimal digits.
type TreePair = (Option<String>, Option<String>);

impl FileCount<'_> {
    /// Counts the files in which two trees differ; `None` above the limit.
    fn count_changes(&mut self, old: Option<&str>, new: Option<&str>, depth: usize) -> Result<Option<u64>, GitError> {
        if old == new {
            return Ok(Some(0));
        }
        let pair = (old.map(str::to_owned), new.map(str::to_owned));
        if let Some(known) = self.known.get(&pair) {
            return Ok(Some(*known));
        }
        if depth > MAX_DEPTH {
            return Ok(None);
        }
        let (before, after) = (self.trees.read_tree(old)?, self.trees.read_tree(new)?);
        let (Some(mut before), Some(after)) = (before, after) else { return Ok(None) };
        let mut total = 0_u64;
        let mut sides: Vec<(Option<ListedObject>, Option<ListedObject>)> = Vec::with_capacity(after.len());
        for (name, entry) in after {
            sides.push((before.remove(&name), Some(entry)));
        }
        sides.extend(before.into_values().map(|entry| (Some(entry), None)));
        for (old, new) in sides.iter().filter(|(old, new)| old != new) {
            let folder = |side: &Option<ListedObject>| side.as_ref().filter(|it| it.is_folder).map(|it| it.id.clone());
            let is_file = |side: &Option<ListedObject>| side.as_ref().is_some_and(|it| !it.is_folder);
            total += u64::from(is_file(old) || is_file(new));
            let Some(below) = self.count_changes(folder(old).as_deref(), folder(new).as_deref(), depth + 1)? else {
                return Ok(None);
            };
            total = total.saturating_add(below);
            if total > self.limit {
                return Ok(None);
            }
        }
        self.known.insert(pair, total);
        Ok(Some(total))
    }
}

#[derive(Debug, PartialEq, Eq)]
struct ListedObject {
    is_folder: bool,
    id: String,
    mode: Vec<u8>,
}

/// Entries of one tree by name.
type TreeEntries = BTreeMap<Vec<u8>, ListedObject>;

/// A git process that returns one object after the other.
struct TreeReader {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    bytes_left: usize,
}

impl TreeReader {
    fn open(git: &Git) -> Result<Self, GitError> {
        let mut command = git.command(CAT_FILE);
        command.arg("--batch").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| git.spawn_error(error))?;
        let stdin = child.stdin.take();
        let Some(stdout) = child.stdout.take() else { return Err(GitError::unexpected_output(CAT_FILE, b"")) };
        Ok(Self { child, stdin, stdout: BufReader::new(stdout), bytes_left: MAX_TREE_BYTES })
    }

    /// Returns the id of a commit's tree; `None` if there is no such commit, which the next command reports.
    fn find_root(&mut self, commit: &Sha) -> Result<Option<String>, GitError> {
        let name = format!("{}^{{tree}}", require_full_sha(commit)?);
        let Some((id, _, size)) = self.request_object(&name)? else { return Ok(None) };
        self.skip_content(size)?;
        Ok(Some(id))
    }

    /// Reads a tree; `None` if too much was read.
    fn read_tree(&mut self, id: Option<&str>) -> Result<Option<TreeEntries>, GitError> {
        let Some(id) = id else { return Ok(Some(TreeEntries::new())) };
        let Some((_, kind, size)) = self.request_object(id)? else { return Ok(Some(TreeEntries::new())) };
        if kind != "tree" || size > self.bytes_left {
            return Ok(None);
        }
        self.bytes_left -= size;
        let mut content = vec![0; size + 1];
        self.stdout.read_exact(&mut content).map_err(broken_pipe)?;
        content.pop();
        let unexpected = || GitError::unexpected_output(CAT_FILE, b"a tree that cannot be parsed");
        parse_tree(&content, id.len() / 2).map(Some).ok_or_else(unexpected)
    }

    /// Asks for an object and returns its id, type and size; `None` if it does not exist.
    fn request_object(&mut self, name: &str) -> Result<Option<(String, String, usize)>, GitError> {
        let Some(stdin) = &mut self.stdin else { return Ok(None) };
        stdin.write_all(format!("{name}\n").as_bytes()).map_err(broken_pipe)?;
        stdin.flush().map_err(broken_pipe)?;
        let mut line = String::new();
        self.stdout.read_line(&mut line).map_err(broken_pipe)?;
        let fields: Vec<&str> = line.trim_end().split(' ').collect();
        match fields.as_slice() {
            [id, kind, size] => {
                let size = size.parse().map_err(|_| GitError::unexpected_output(CAT_FILE, line.as_bytes()))?;
                Ok(Some(((*id).to_owned(), (*kind).to_owned(), size)))
            }
            [_, "missing" | "ambiguous"] => Ok(None),
            _ => Err(GitError::unexpected_output(CAT_FILE, line.as_bytes())),
        }
    }

    fn skip_content(&mut self, size: usize) -> Result<(), GitError> {
        let mut content = (&mut self.stdout).take(size as u64 + 1);
        std::io::copy(&mut content, &mut std::io::sink()).map(drop).map_err(broken_pipe)
    }
}

impl Drop for TreeReader {
    fn drop(&mut self) {
        // Git ends with its input.
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn broken_pipe(source: std::io::Error) -> GitError {
    GitError::BrokenPipe { command: CAT_FILE, source }
}

/// Parses `<mode> <name>\0<id>` for each entry.
fn parse_tree(content: &[u8], id_length: usize) -> Option<TreeEntries> {
    let mut entries = TreeEntries::new();
    let mut rest = content;
    while !rest.is_empty() {
        let space = rest.iter().position(|byte| *byte == b' ')?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (mode, name) = (rest.get(..space)?, rest.get(space + 1..end)?);
        let id = rest.get(end + 1..end + 1 + id_length)?;
        let id = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let is_folder = matches!(mode, b"40000" | b"040000");
        entries.insert(name.to_vec(), ListedObject { is_folder, id, mode: mode.to_vec() });
        rest = &rest[end + 1 + id_length..];
    }
    Some(entries)
}
