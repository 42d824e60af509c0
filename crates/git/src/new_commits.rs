//! The commits that a worker made, with everything in them that can carry a text.

use std::collections::BTreeMap;

use referee_core::model::Sha;

use crate::git::require_full_sha;
use crate::{Git, GitError};

/// A commit as git stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawCommit {
    pub sha: Sha,
    pub parents: Vec<Sha>,
    /// `Name <address>`; bytes that are not UTF-8 are replaced.
    pub author: String,
    /// The author with time and time zone.
    pub author_line: String,
    /// `Name <address>`.
    pub committer: String,
    /// The whole object: headers, signature and message.
    pub bytes: Vec<u8>,
}

/// A file or folder of a commit that none of its parents has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedEntry {
    pub commit: Sha,
    pub path: Vec<u8>,
    /// `None` for a folder or a submodule.
    pub blob: Option<String>,
    /// The blob that was at this path in a parent.
    pub old_blob: Option<String>,
}

const REV_LIST: &str = "rev-list";
const DIFF_TREE: &str = "diff-tree";
const CAT_FILE: &str = "cat-file";

impl Git {
    /// Returns the commits reachable from `head` and from none of `known`, newest first. `None` if there are more than
    /// `limit`.
    pub fn list_new_commits(
        &self,
        head: &Sha,
        known: &[&Sha],
        limit: usize,
    ) -> Result<Option<Vec<RawCommit>>, GitError> {
        let max = format!("--max-count={}", limit + 1);
        let excluded: Result<Vec<String>, GitError> =
            known.iter().map(|sha| require_full_sha(sha).map(|sha| format!("^{sha}"))).collect();
        let excluded = excluded?;
        let mut arguments = vec![max.as_str(), "--topo-order", "--end-of-options", require_full_sha(head)?];
        arguments.extend(excluded.iter().map(String::as_str));
        arguments.push("--");
        let commits: Vec<&Sha> = known.iter().copied().chain([head]).collect();
        let output = self.run(REV_LIST, &arguments).map_err(|error| self.map_missing_commit(&commits, error))?;
        let output = String::from_utf8_lossy(&output);
        let shas: Vec<Sha> = output.lines().map(Sha::from).collect();
        if shas.len() > limit {
            return Ok(None);
        }
        let names: Vec<String> = shas.iter().map(|sha| sha.to_string()).collect();
        let objects = self.read_objects("commit", &names)?;
        let commits = shas.into_iter().zip(objects).map(|(sha, bytes)| {
            let bytes = bytes.ok_or_else(|| GitError::CommitNotFound(sha.clone()))?;
            parse_commit(sha, bytes).ok_or_else(|| GitError::unexpected_output(CAT_FILE, b"a commit without an author"))
        });
        commits.collect::<Result<Vec<_>, _>>().map(Some)
    }

    /// Returns the files and folders that these commits have and none of their parents has.
    pub fn list_added_entries(&self, commits: &[RawCommit]) -> Result<Vec<AddedEntry>, GitError> {
        let mut command = self.command_without_attributes(DIFF_TREE);
        // `-t` lists folders too: an empty one has a name, but no file.
        command.args(["--stdin", "--root", "-m", "-r", "-t", "-z", "--raw", "--no-abbrev", "--no-renames"]);
        let input = commits.iter().flat_map(|commit| [commit.sha.as_str(), "\n"]).collect();
        let output = self.run_with_input(DIFF_TREE, command, input)?;
        let parents: BTreeMap<&str, usize> =
            commits.iter().map(|commit| (commit.sha.as_str(), commit.parents.len().max(1))).collect();
        parse_added(&output, &parents).ok_or_else(|| GitError::unexpected_output(DIFF_TREE, &output))
    }

    /// Returns the total size of objects in bytes. Missing objects count nothing.
    pub fn measure_objects(&self, ids: &[&str]) -> Result<u64, GitError> {
        let mut command = self.command(CAT_FILE);
        command.args(["--batch-check=%(objectsize)", "--buffer"]);
        let input = ids.iter().flat_map(|id| [*id, "\n"]).collect();
        let output = self.run_with_input(CAT_FILE, command, input)?;
        Ok(String::from_utf8_lossy(&output).lines().filter_map(|line| line.parse::<u64>().ok()).sum())
    }

    /// Returns the commits of `head` since its merge base with `base` whose patch `base` has too.
    pub fn list_commits_in_base(&self, base: &Sha, head: &Sha) -> Result<Vec<Sha>, GitError> {
        let mut command = self.command_without_attributes("cherry");
        command.args([require_full_sha(base)?, require_full_sha(head)?]);
        let output = crate::git::require_success("cherry", self.execute(&mut command)?)?;
        let output = String::from_utf8_lossy(&output);
        Ok(output.lines().filter_map(|line| line.strip_prefix("- ")).map(Sha::from).collect())
    }
}

fn parse_commit(sha: Sha, bytes: Vec<u8>) -> Option<RawCommit> {
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let headers = || text.split("\n\n").next().unwrap_or_default().lines();
    let header = |name: &str| headers().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned));
    let parents = headers().filter_map(|line| line.strip_prefix("parent ")).map(Sha::from).collect();
    let (author_line, committer_line) = (header("author")?, header("committer")?);
    let person = |line: &str| line.rfind('>').map(|end| line[..=end].to_owned());
    let (author, committer) = (person(&author_line)?, person(&committer_line)?);
    Some(RawCommit { sha, parents, author, author_line, committer, bytes })
}

/// An entry of a commit's tree.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct EntryKey<'a> {
    commit: &'a str,
    path: &'a [u8],
    id: &'a str,
}

struct SeenEntry<'a> {
    /// How many parents have something else at this path.
    parents: usize,
    mode: &'a str,
    old_blob: Option<String>,
}

/// Returns whether a mode is that of a file or a symbolic link.
fn is_blob(mode: &str) -> bool {
    mode.starts_with("10") || mode.starts_with("12")
}

/// Parses `<commit>\0` followed by `:<modes> <ids> <status>\0<path>\0` for each change, once for each parent.
fn parse_added(output: &[u8], parents: &BTreeMap<&str, usize>) -> Option<Vec<AddedEntry>> {
    let mut fields = output.split(|byte| *byte == 0);
    let mut commit: Option<&str> = None;
    let mut seen: BTreeMap<EntryKey<'_>, SeenEntry<'_>> = BTreeMap::new();
    while let Some(field) = fields.next() {
        let text = std::str::from_utf8(field).ok()?;
        let Some(entry) = text.strip_prefix(':') else {
            commit = parents.get_key_value(text).map(|(sha, _)| *sha).or(commit);
            continue;
        };
        let mut parts = entry.split(' ');
        let (old_mode, new_mode) = (parts.next()?, parts.next()?);
        let (old_id, new_id) = (parts.next()?, parts.next()?);
        let path = fields.next()?;
        if new_mode != "000000" {
            let old = is_blob(old_mode).then(|| old_id.to_owned());
            let key = EntryKey { commit: commit?, path, id: new_id };
            let slot = seen.entry(key).or_insert(SeenEntry { parents: 0, mode: new_mode, old_blob: None });
            slot.parents += 1;
            slot.old_blob = slot.old_blob.take().or(old);
        }
    }
    // An entry is new if it differs from that of every parent.
    let new = seen.into_iter().filter(|(key, entry)| parents.get(key.commit).is_some_and(|all| entry.parents >= *all));
    let added = new.map(|(key, entry)| AddedEntry {
        commit: Sha::from(key.commit),
        path: key.path.to_vec(),
        blob: is_blob(entry.mode).then(|| key.id.to_owned()),
        old_blob: entry.old_blob,
    });
    Some(added.collect())
}
