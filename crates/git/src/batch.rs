//! One question about many commits in one call: starting git takes longer than most of its answers.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::process::{Command, Stdio};

use referee_core::model::Sha;

use crate::cache::Credentials;
use crate::git::{redact_output, require_full_sha, require_success};
use crate::merge::parse_merge_tree;
use crate::refs::PIN_PREFIX;
use crate::{Git, GitError, MergeOutcome};

const DIFF_TREE: &str = "diff-tree";
const MERGE_TREE: &str = "merge-tree";
const REV_LIST: &str = "rev-list";

impl Git {
    /// The commits that were [fetched](Git::fetch) by their names.
    pub fn pinned_commits(&self) -> Result<BTreeSet<Sha>, GitError> {
        let names = self.run("for-each-ref", &["--format=%(objectname)", PIN_PREFIX])?;
        Ok(String::from_utf8_lossy(&names).lines().map(Sha::from).collect())
    }

    /// Where each of these heads left `base`, as [`merge_base`](Git::merge_base) tells it.
    pub fn merge_bases(&self, base: &Sha, heads: &[&Sha]) -> Result<Vec<Option<Sha>>, GitError> {
        let mut asked = format!("^{}\n", require_full_sha(base)?);
        for head in heads {
            asked.extend([require_full_sha(head)?, "\n"]);
        }
        let mut command = self.command(REV_LIST);
        command.args(["--parents", "--stdin"]);
        let listed = self.run_with_input(REV_LIST, command, asked)?;
        let listed = String::from_utf8_lossy(&listed);
        // What the heads have and the base has not, with what each stands on.
        let ahead: HashMap<&str, Vec<&str>> = listed
            .lines()
            .filter_map(|line| {
                let mut names = line.split(' ');
                Some((names.next()?, names.collect()))
            })
            .collect();
        heads.iter().map(|head| self.find_fork_point(base, head, &ahead)).collect()
    }

    /// A common ancestor is reached through one of those that the base has first; where these are several, git says which
    /// is the best.
    fn find_fork_point(
        &self,
        base: &Sha,
        head: &Sha,
        ahead: &HashMap<&str, Vec<&str>>,
    ) -> Result<Option<Sha>, GitError> {
        let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
        let mut next = vec![head.as_str()];
        while let Some(commit) = next.pop() {
            match ahead.get(commit) {
                Some(parents) if seen.insert(commit) => next.extend(parents),
                Some(_) => {}
                None => drop(shared.insert(commit)),
            }
        }
        match shared.len() {
            0 | 1 => Ok(shared.first().map(|commit| Sha::from(*commit))),
            _ => self.merge_base(base, head),
        }
    }

    /// The diffs from one commit to another, each as [`diff`](Git::diff) gives it.
    pub fn diff_pairs(&self, pairs: &[(&Sha, &Sha)]) -> Result<Vec<Vec<u8>>, GitError> {
        let mut command = self.diff_command();
        // A commit that is not here is passed over in silence: so those without a change must be named too.
        command.args(["--always", "--stdin"]);
        let told = self.run_with_input(DIFF_TREE, command, format_parent_lines(pairs)?)?;
        let heads: Vec<&str> = pairs.iter().map(|(_, new)| new.as_str()).collect();
        split_diffs(&told, &heads)
            .ok_or_else(|| GitError::UnexpectedOutput { command: DIFF_TREE, answer: redact_output(&told) })
    }

    /// What would come of merging each head into its base, as [`merges`](Git::merges) tells it. Histories that share
    /// nothing are an error here.
    pub fn try_merge_pairs(&self, pairs: &[(&Sha, &Sha)]) -> Result<Vec<MergeOutcome>, GitError> {
        let mut asked = String::new();
        for (base, head) in pairs {
            asked.extend([require_full_sha(base)?, " ", require_full_sha(head)?, "\n"]);
        }
        let mut command = self.command_without_attributes(MERGE_TREE);
        command.args(["--write-tree", "--name-only", "--no-messages", "-z", "--stdin"]);
        let answered = self.run_with_input(MERGE_TREE, command, asked)?;
        let odd = || GitError::UnexpectedOutput { command: MERGE_TREE, answer: redact_output(&answered) };
        // `1\0<tree>\0\0` for each, with `<path>\0` after the tree where there are conflicts.
        let mut rest = answered.as_slice();
        let mut all = Vec::with_capacity(pairs.len());
        while !rest.is_empty() {
            let after = rest.get(2..).ok_or_else(odd)?;
            let end = after.windows(2).position(|two| two == b"\0\0").ok_or_else(odd)?;
            all.push(parse_merge_tree(&after[..=end])?);
            rest = &after[end + 2..];
        }
        if all.len() == pairs.len() { Ok(all) } else { Err(odd()) }
    }

    /// Fetches the contents that the diffs of these pairs need, where a [fetch](Git::fetch) left them out: git itself would
    /// ask for those of each pair anew.
    pub fn fetch_blobs(&self, url: &str, pairs: &[(&Sha, &Sha)], credentials: &Credentials) -> Result<(), GitError> {
        if self.run_line("config", &["--get", &format!("remote.{url}.promisor")])?.as_deref() != Some("true") {
            return Ok(());
        }
        let mut command = self.command_without_attributes(DIFF_TREE);
        command.args(["-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-commit-id", "--stdin"]);
        let listed = self.run_with_input(DIFF_TREE, command, format_parent_lines(pairs)?)?;
        let listed = String::from_utf8_lossy(&listed);
        let entries = listed.split('\0').filter_map(|field| field.strip_prefix(':'));
        // A submodule's commit is nobody's content.
        let sides = entries.flat_map(|entry| {
            let mut parts = entry.split(' ');
            let (old, new) = (parts.next(), parts.next());
            [(old, parts.next()), (new, parts.next())]
        });
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
        let asked = blobs.into_iter().flat_map(|blob| [blob, "\n"]).collect();
        self.run_with_input("fetch", command, asked).map(drop)
    }

    /// What a call answers to what is asked through its input.
    pub(crate) fn run_with_input(
        &self,
        name: &'static str,
        mut command: Command,
        asked: String,
    ) -> Result<Vec<u8>, GitError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| self.spawn_error(error))?;
        let stdin = child.stdin.take();
        // Git answers while it is still asked: whoever writes everything first and reads then waits for ever.
        let output = std::thread::scope(|scope| {
            scope.spawn(move || {
                let Some(mut stdin) = stdin else { return };
                // A broken pipe shows in the answer: it is too short.
                let _ = stdin.write_all(asked.as_bytes());
            });
            child.wait_with_output()
        });
        require_success(name, output.map_err(|source| GitError::BrokenPipe { command: name, source })?)
    }
}

/// Each new commit as if the old one were all that it stands on.
fn format_parent_lines(pairs: &[(&Sha, &Sha)]) -> Result<String, GitError> {
    let mut asked = String::new();
    for (old, new) in pairs {
        asked.extend([require_full_sha(new)?, " ", require_full_sha(old)?, "\n"]);
    }
    Ok(asked)
}

/// The diffs of these commits, each led by its commit's name and a zero byte; none if one is not there.
fn split_diffs(told: &[u8], heads: &[&str]) -> Option<Vec<Vec<u8>>> {
    let mut rest = told;
    let mut diffs = Vec::with_capacity(heads.len());
    for head in heads {
        let diff = rest.strip_prefix(head.as_bytes())?.strip_prefix(b"\0")?;
        let end = if diff.starts_with(b":") { find_diff_end(diff)? } else { 0 };
        diffs.push(diff[..end].to_vec());
        rest = &diff[end..];
    }
    rest.is_empty().then_some(diffs)
}

/// Where the first diff ends: a file's name may hold anything but a zero byte, and stands in the list before the patch; in
/// the patch every line of a file has a sign before it.
fn find_diff_end(diff: &[u8]) -> Option<usize> {
    let patch = crate::diff::skip_raw_list(diff)?;
    let mut at = diff.len() - patch.len();
    while let Some(found) = diff.get(at..)?.iter().position(|byte| *byte == b'\n') {
        at += found + 1;
        let name = diff.get(at..)?.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if matches!(name, 40 | 64) && diff.get(at + name) == Some(&0) {
            return Some(at);
        }
    }
    Some(diff.len())
}

#[cfg(test)]
mod tests {
    use super::split_diffs;

    #[test]
    fn diffs_are_told_apart_whatever_files_are_called_and_hold() {
        let (one, two, three) = ("1".repeat(40), "2".repeat(40), "3".repeat(40));
        let blob = "a".repeat(40);
        let first = format!(
            ":100644 100644 {blob} {blob} M\0x\n{two}\0\0diff --git a/x b/x\n@@ -1 +1 @@\n-{two}\0\n+{three}\0\n"
        );
        let last = format!(":100644 000000 {blob} {blob} D\0y\0\0diff --git a/y b/y\ndeleted file mode 100644\n");
        let told = format!("{one}\0{first}{two}\0{three}\0{last}");
        let heads = [one.as_str(), two.as_str(), three.as_str()];
        let diffs = split_diffs(told.as_bytes(), &heads).expect("three diffs");
        assert_eq!(diffs, [first.as_bytes(), &[], last.as_bytes()]);
        assert_eq!(split_diffs(format!("{one}\0{first}{three}\0{last}").as_bytes(), &heads), None, "one is not there");
    }
}
