//! Implements `Source` over the commits of a `World`, in place of git.

use std::fmt::Write;

use referee_core::model::{Mergeable, Sha};
use referee_core::track::LineMap;
use referee_turn::{Source, SourceError};

use crate::world::{FileTree, World};

impl Source for World {
    fn merge_base(&self, one: &Sha, other: &Sha) -> Result<Option<Sha>, SourceError> {
        Ok(World::merge_base(self, one, other))
    }

    fn diff(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, SourceError> {
        let (old, new) = (self.find_tree(old)?, self.find_tree(new)?);
        Ok(diff_trees(&old, &new).into_bytes())
    }

    fn read_files(&self, at: &Sha, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, SourceError> {
        let tree = self.find_tree(at)?;
        Ok(paths.iter().map(|path| tree.get(*path).map(|text| text.as_bytes().to_vec())).collect())
    }

    fn is_ancestor(&self, ancestor: &Sha, of: &Sha) -> Result<bool, SourceError> {
        Ok(self.has_ancestor(of, ancestor))
    }

    fn check_mergeable(&self, base: &Sha, head: &Sha) -> Mergeable {
        self.with_repo(|repo| repo.check_merge(base, head))
    }
}

impl World {
    fn find_tree(&self, at: &Sha) -> Result<FileTree, SourceError> {
        if self.has_commit(at) { Ok(self.tree(at)) } else { Err(SourceError::Missing(at.as_str().to_owned())) }
    }
}

/// Renders the difference of two trees as `git diff` does. A deleted file counts as renamed to an added one when at least
/// half of their lines are equal.
fn diff_trees(old: &FileTree, new: &FileTree) -> String {
    let mut out = String::new();
    let deleted: Vec<&String> = old.keys().filter(|path| !new.contains_key(*path)).collect();
    let mut renamed: Vec<&String> = Vec::new();
    for (path, text) in new {
        match old.get(path) {
            Some(before) if before == text => {}
            Some(before) => write_file_diff(&mut out, path, path, "", before, text),
            None => {
                let similarity = |from: &String| old.get(from).map_or(0, |before| similarity_percent(before, text));
                let candidates = deleted.iter().filter(|from| !renamed.contains(from));
                let (percent, from) =
                    candidates.map(|from| (similarity(from), *from)).max_by_key(|pair| pair.0).unzip();
                if let (Some(percent @ 50..), Some(from)) = (percent, from) {
                    renamed.push(from);
                    let header = format!("similarity index {percent}%\nrename from {from}\nrename to {path}\n");
                    match old.get(from) {
                        Some(before) if percent < 100 => write_file_diff(&mut out, from, path, &header, before, text),
                        _ => drop(write!(out, "diff --git a/{from} b/{path}\n{header}")),
                    }
                } else {
                    write_file_diff(&mut out, path, path, "new file mode 100644\n", "", text);
                }
            }
        }
    }
    for path in deleted.into_iter().filter(|path| !renamed.contains(path)) {
        let before = old.get(path).map_or("", |text| text);
        write_file_diff(&mut out, path, path, "deleted file mode 100644\n", before, "");
    }
    out
}

/// Returns the percentage of lines that both texts share; 100 only if the texts are equal.
fn similarity_percent(one: &str, other: &str) -> usize {
    let (ours, mut theirs) = (split_lines(one), split_lines(other));
    let total = ours.len() + theirs.len();
    let mut shared = 0_usize;
    for line in ours {
        if let Some(index) = theirs.iter().position(|other_line| *other_line == line) {
            theirs.swap_remove(index);
            shared += 2;
        }
    }
    if one == other { 100 } else { (100 * shared).checked_div(total).unwrap_or(0).min(99) }
}

fn write_file_diff(out: &mut String, old_path: &str, new_path: &str, mode: &str, old: &str, new: &str) {
    let mode_suffix = if mode.contains("file mode") { "" } else { " 100644" };
    let _ = write!(out, "diff --git a/{old_path} b/{new_path}\n{mode}index 1111111..2222222{mode_suffix}\n");
    let map = LineMap::from_exact_diff(old, new);
    if map.changes().is_empty() {
        return;
    }
    let from = if mode.starts_with("new") { "/dev/null".to_owned() } else { format!("a/{old_path}") };
    let to = if mode.starts_with("deleted") { "/dev/null".to_owned() } else { format!("b/{new_path}") };
    let _ = write!(out, "--- {from}\n+++ {to}\n");
    write_hunks(out, &map, &split_lines(old), &split_lines(new));
}

const CONTEXT_LINES: usize = 3;

fn write_hunks(out: &mut String, map: &LineMap, old: &[&str], new: &[&str]) {
    let changes = map.changes();
    let mut first_index = 0;
    while let Some(first) = changes.get(first_index) {
        let mut last = first_index;
        while changes
            .get(last + 1)
            .is_some_and(|next| next.old.start as usize <= changes[last].old.end as usize + 2 * CONTEXT_LINES)
        {
            last += 1;
        }
        let before = (first.old.start as usize - 1).min(CONTEXT_LINES);
        let after = (old.len() + 1 - changes[last].old.end as usize).min(CONTEXT_LINES);
        let (old_start, new_start) = (first.old.start as usize - before, first.new.start as usize - before);
        let (old_end, new_end) = (changes[last].old.end as usize + after, changes[last].new.end as usize + after);
        let (old_len, new_len) = (old_end - old_start, new_end - new_start);
        let hunk_start = |start: usize, len: usize| if len == 0 { start - 1 } else { start };
        let _ = writeln!(
            out,
            "@@ -{},{old_len} +{},{new_len} @@",
            hunk_start(old_start, old_len),
            hunk_start(new_start, new_len)
        );
        let mut line = old_start;
        for change in &changes[first_index..=last] {
            write_lines(out, ' ', &old[line - 1..change.old.start as usize - 1]);
            write_lines(out, '-', &old[change.old.start as usize - 1..change.old.end as usize - 1]);
            write_lines(out, '+', &new[change.new.start as usize - 1..change.new.end as usize - 1]);
            line = change.old.end as usize;
        }
        write_lines(out, ' ', &old[line - 1..old_end - 1]);
        first_index = last + 1;
    }
}

fn write_lines(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn split_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}
