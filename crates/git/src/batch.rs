//! Queries about many commits in one git process, because starting git takes longer than most queries.

use std::collections::{BTreeSet, HashMap};
use std::process::Command;

use referee_core::model::Sha;

use crate::cache::Credentials;
use crate::git::{require_full_sha, require_success};
use crate::merge::parse_merge_tree;
use crate::refs::PIN_PREFIX;
use crate::{Git, GitError, MergeOutcome};

const DIFF_TREE: &str = "diff-tree";
const MERGE_TREE: &str = "merge-tree";
const REV_LIST: &str = "rev-list";

impl Git {
    /// Returns the commits pinned by [`fetch_commits`](Git::fetch_commits) or [`pin_commit`](Git::pin_commit).
    pub fn pinned_commits(&self) -> Result<BTreeSet<Sha>, GitError> {
        let names = self.run("for-each-ref", &["--format=%(objectname)", PIN_PREFIX])?;
        Ok(String::from_utf8_lossy(&names).lines().map(Sha::from).collect())
    }

    /// Returns the [`merge_base`](Git::merge_base) of `base` and each head.
    pub fn merge_bases(&self, base: &Sha, heads: &[&Sha]) -> Result<Vec<Option<Sha>>, GitError> {
        let mut input = format!("^{}\n", require_full_sha(base)?);
        for head in heads {
            input.extend([require_full_sha(head)?, "\n"]);
        }
        let mut command = self.command(REV_LIST);
        command.args(["--parents", "--stdin"]);
        let output = self.run_with_input(REV_LIST, command, input)?;
        let output = String::from_utf8_lossy(&output);
        // Commits that a head has and the base has not, with their parents.
        let ahead: HashMap<&str, Vec<&str>> = output
            .lines()
            .filter_map(|line| {
                let mut names = line.split(' ');
                Some((names.next()?, names.collect()))
            })
            .collect();
        heads.iter().map(|head| self.find_fork_point(base, head, &ahead)).collect()
    }

    /// Walks from `head` to the first commits that `base` has too. If there are several, `git merge-base` picks the
    /// best.
    fn find_fork_point(
        &self,
        base: &Sha,
        head: &Sha,
        ahead: &HashMap<&str, Vec<&str>>,
    ) -> Result<Option<Sha>, GitError> {
        let (mut visited, mut shared) = (BTreeSet::new(), BTreeSet::new());
        let mut queue = vec![head.as_str()];
        while let Some(commit) = queue.pop() {
            match ahead.get(commit) {
                Some(parents) if visited.insert(commit) => queue.extend(parents),
                Some(_) => {}
                None => drop(shared.insert(commit)),
            }
        }
        match shared.len() {
            0 | 1 => Ok(shared.first().map(|commit| Sha::from(*commit))),
            _ => self.merge_base(base, head),
        }
    }

    /// Returns the [`diff`](Git::diff) of each pair.
    pub fn diff_pairs(&self, pairs: &[(&Sha, &Sha)]) -> Result<Vec<Vec<u8>>, GitError> {
        let mut command = self.diff_command();
        // Git silently skips an unknown commit. With `--always` it names every other one, even without a change.
        command.args(["--always", "--stdin"]);
        let output = self.run_with_input(DIFF_TREE, command, format_parent_lines(pairs)?)?;
        let heads: Vec<&str> = pairs.iter().map(|(_, new)| new.as_str()).collect();
        split_diffs(&output, &heads).ok_or_else(|| GitError::unexpected_output(DIFF_TREE, &output))
    }

    /// Tries to merge each head into its base, as [`try_merge`](Git::try_merge) does. Unlike there, unrelated histories
    /// are an error.
    pub fn try_merge_pairs(&self, pairs: &[(&Sha, &Sha)]) -> Result<Vec<MergeOutcome>, GitError> {
        let mut input = String::new();
        for (base, head) in pairs {
            input.extend([require_full_sha(base)?, " ", require_full_sha(head)?, "\n"]);
        }
        let mut command = self.command_without_attributes(MERGE_TREE);
        command.args(["--write-tree", "--name-only", "--no-messages", "-z", "--stdin"]);
        let output = self.run_with_input(MERGE_TREE, command, input)?;
        let unexpected = || GitError::unexpected_output(MERGE_TREE, &output);
        // `1\0<tree>\0\0` for each pair, with `<path>\0` after the tree for each conflict.
        let mut rest = output.as_slice();
        let mut outcomes = Vec::with_capacity(pairs.len());
        while !rest.is_empty() {
            let record = rest.get(2..).ok_or_else(unexpected)?;
            let end = record.windows(2).position(|bytes| bytes == b"\0\0").ok_or_else(unexpected)?;
            outcomes.push(parse_merge_tree(&record[..=end])?);
            rest = &record[end + 2..];
        }
        if outcomes.len() == pairs.len() { Ok(outcomes) } else { Err(unexpected()) }
    }

    /// Fetches the blobs that the diffs of these pairs need and [`fetch_commits`](Git::fetch_commits) left out, in one
    /// request. Git's own lazy fetch would make one request per pair.
    pub fn fetch_blobs(&self, url: &str, pairs: &[(&Sha, &Sha)], credentials: &Credentials) -> Result<(), GitError> {
        if self.run_line("config", &["--get", &format!("remote.{url}.promisor")])?.as_deref() != Some("true") {
            return Ok(());
        }
        let mut command = self.command_without_attributes(DIFF_TREE);
        command.args(["-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-commit-id", "--stdin"]);
        let output = self.run_with_input(DIFF_TREE, command, format_parent_lines(pairs)?)?;
        let output = String::from_utf8_lossy(&output);
        let entries = output.split('\0').filter_map(|field| field.strip_prefix(':'));
        let sides = entries.flat_map(|entry| {
            let mut parts = entry.split(' ');
            let (old, new) = (parts.next(), parts.next());
            [(old, parts.next()), (new, parts.next())]
        });
        // Mode 160000 is a submodule, whose object is a commit and not a blob.
        let blobs: BTreeSet<&str> = sides
            .filter(|(mode, _)| mode.is_some_and(|mode| mode.starts_with('1') && mode != "160000"))
            .filter_map(|(_, blob)| blob)
            .collect();
        if blobs.is_empty() {
            return Ok(());
        }
        let git = self.with_credentials(url, credentials);
        let mut command =
            git.command_with_options("fetch", &["-c", "gc.auto=0", "-c", "fetch.negotiationAlgorithm=noop"]);
        command
            .args(["--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"])
            .args(["--filter=blob:none", "--stdin", "--end-of-options", url])
            .env("GIT_ALLOW_PROTOCOL", "https:http");
        let input = blobs.into_iter().flat_map(|blob| [blob, "\n"]).collect();
        git.run_with_input("fetch", command, input).map(drop)
    }

    /// Runs a command with `input` on its standard input and returns its standard output.
    pub(crate) fn run_with_input(
        &self,
        name: &'static str,
        command: Command,
        input: String,
    ) -> Result<Vec<u8>, GitError> {
        require_success(name, self.run_bounded(name, command, input)?)
    }
}

/// Formats each pair as `<new> <old>`, which `diff-tree --stdin` reads as a commit and its only parent.
fn format_parent_lines(pairs: &[(&Sha, &Sha)]) -> Result<String, GitError> {
    let mut input = String::new();
    for (old, new) in pairs {
        input.extend([require_full_sha(new)?, " ", require_full_sha(old)?, "\n"]);
    }
    Ok(input)
}

/// Splits the output into one diff per head. Each starts with the commit's id and a NUL byte. Returns `None` if a head
/// is missing.
fn split_diffs(output: &[u8], heads: &[&str]) -> Option<Vec<Vec<u8>>> {
    let mut rest = output;
    let mut diffs = Vec::with_capacity(heads.len());
    for head in heads {
        let diff = rest.strip_prefix(head.as_bytes())?.strip_prefix(b"\0")?;
        let end = if diff.starts_with(b":") { find_diff_end(diff)? } else { 0 };
        diffs.push(diff[..end].to_vec());
        rest = &diff[end..];
    }
    rest.is_empty().then_some(diffs)
}

/// Returns the length of the first diff, which ends before a line that is a commit id and a NUL byte. No other line
/// looks like that: the raw list, whose paths may contain line feeds, is skipped, and in a patch every content line has
/// a sign.
fn find_diff_end(diff: &[u8]) -> Option<usize> {
    let patch = crate::diff::skip_raw_list(diff)?;
    let mut line_start = diff.len() - patch.len();
    while let Some(line_end) = diff.get(line_start..)?.iter().position(|byte| *byte == b'\n') {
        line_start += line_end + 1;
        let digits = diff.get(line_start..)?.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if matches!(digits, 40 | 64) && diff.get(line_start + digits) == Some(&0) {
            return Some(line_start);
        }
    }
    Some(diff.len())
}

#[cfg(test)]
mod tests {
    use super::split_diffs;

    #[test]
    fn diffs_are_split_correctly_whatever_paths_and_contents_look_like() {
        let (one, two, three) = ("1".repeat(40), "2".repeat(40), "3".repeat(40));
        let blob = "a".repeat(40);
        let first = format!(
            ":100644 100644 {blob} {blob} M\0x\n{two}\0\0diff --git a/x b/x\n@@ -1 +1 @@\n-{two}\0\n+{three}\0\n"
        );
        let last = format!(":100644 000000 {blob} {blob} D\0y\0\0diff --git a/y b/y\ndeleted file mode 100644\n");
        let output = format!("{one}\0{first}{two}\0{three}\0{last}");
        let heads = [one.as_str(), two.as_str(), three.as_str()];
        let diffs = split_diffs(output.as_bytes(), &heads).expect("three diffs");
        assert_eq!(diffs, [first.as_bytes(), &[], last.as_bytes()]);
        assert_eq!(split_diffs(format!("{one}\0{first}{three}\0{last}").as_bytes(), &heads), None, "one is missing");
    }
}
