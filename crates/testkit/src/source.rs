//! A world's commits as a source of texts: what git would say of them.

use std::fmt::Write;

use referee_core::model::{Mergeable, Sha};
use referee_core::track::LineMap;
use referee_turn::{Source, SourceError};

use crate::world::{Tree, World};

impl Source for World {
    fn merge_base(&self, one: &Sha, other: &Sha) -> Result<Option<Sha>, SourceError> {
        Ok(World::merge_base(self, one, other))
    }

    fn diff(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, SourceError> {
        let (old, new) = (self.known_tree(old)?, self.known_tree(new)?);
        Ok(diff(&old, &new).into_bytes())
    }

    fn files(&self, at: &Sha, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, SourceError> {
        let tree = self.known_tree(at)?;
        Ok(paths.iter().map(|path| tree.get(*path).map(|text| text.as_bytes().to_vec())).collect())
    }

    fn is_ancestor(&self, ancestor: &Sha, of: &Sha) -> Result<bool, SourceError> {
        Ok(self.stands_on(of, ancestor))
    }

    fn merges(&self, base: &Sha, head: &Sha) -> Mergeable {
        self.look(|repo| repo.merges(base, head))
    }
}

impl World {
    fn known_tree(&self, at: &Sha) -> Result<Tree, SourceError> {
        if self.has_commit(at) { Ok(self.tree(at)) } else { Err(SourceError::Missing(at.as_str().to_owned())) }
    }
}

/// The difference of two trees as git prints it. A file that vanished where another with half its lines appeared moved.
fn diff(old: &Tree, new: &Tree) -> String {
    let mut out = String::new();
    let gone: Vec<&String> = old.keys().filter(|path| !new.contains_key(*path)).collect();
    let mut moved: Vec<&String> = Vec::new();
    for (path, text) in new {
        match old.get(path) {
            Some(before) if before == text => {}
            Some(before) => file(&mut out, path, path, "", before, text),
            None => {
                let likeness = |from: &String| old.get(from).map_or(0, |before| alike(before, text));
                let free = gone.iter().filter(|from| !moved.contains(from));
                let (percent, from) = free.map(|from| (likeness(from), *from)).max_by_key(|it| it.0).unzip();
                if let (Some(percent @ 50..), Some(from)) = (percent, from) {
                    moved.push(from);
                    let head = format!("similarity index {percent}%\nrename from {from}\nrename to {path}\n");
                    match old.get(from) {
                        Some(before) if percent < 100 => file(&mut out, from, path, &head, before, text),
                        _ => drop(write!(out, "diff --git a/{from} b/{path}\n{head}")),
                    }
                } else {
                    file(&mut out, path, path, "new file mode 100644\n", "", text);
                }
            }
        }
    }
    for path in gone.into_iter().filter(|path| !moved.contains(path)) {
        let before = old.get(path).map_or("", |text| text);
        file(&mut out, path, path, "deleted file mode 100644\n", before, "");
    }
    out
}

/// How many of both texts' lines stand in the other one, in percent.
fn alike(one: &str, other: &str) -> usize {
    let (ours, mut theirs) = (lines(one), lines(other));
    let all = ours.len() + theirs.len();
    let mut shared = 0_usize;
    for line in ours {
        if let Some(at) = theirs.iter().position(|it| *it == line) {
            theirs.swap_remove(at);
            shared += 2;
        }
    }
    if one == other { 100 } else { (100 * shared).checked_div(all).unwrap_or(0).min(99) }
}

fn file(out: &mut String, old_path: &str, new_path: &str, mode: &str, old: &str, new: &str) {
    let mode_suffix = if mode.contains("file mode") { "" } else { " 100644" };
    let _ = write!(out, "diff --git a/{old_path} b/{new_path}\n{mode}index 1111111..2222222{mode_suffix}\n");
    let map = LineMap::exact(old, new);
    if map.changes().is_empty() {
        return;
    }
    let from = if mode.starts_with("new") { "/dev/null".to_owned() } else { format!("a/{old_path}") };
    let to = if mode.starts_with("deleted") { "/dev/null".to_owned() } else { format!("b/{new_path}") };
    let _ = write!(out, "--- {from}\n+++ {to}\n");
    hunks(out, &map, &lines(old), &lines(new));
}

const CONTEXT: usize = 3;

fn hunks(out: &mut String, map: &LineMap, old: &[&str], new: &[&str]) {
    let changes = map.changes();
    let mut at = 0;
    while let Some(first) = changes.get(at) {
        let mut last = at;
        while changes
            .get(last + 1)
            .is_some_and(|next| next.old.start as usize <= changes[last].old.end as usize + 2 * CONTEXT)
        {
            last += 1;
        }
        let before = (first.old.start as usize - 1).min(CONTEXT);
        let after = (old.len() + 1 - changes[last].old.end as usize).min(CONTEXT);
        let (old_start, new_start) = (first.old.start as usize - before, first.new.start as usize - before);
        let (old_end, new_end) = (changes[last].old.end as usize + after, changes[last].new.end as usize + after);
        let (old_len, new_len) = (old_end - old_start, new_end - new_start);
        let shown = |start: usize, len: usize| if len == 0 { start - 1 } else { start };
        let _ =
            writeln!(out, "@@ -{},{old_len} +{},{new_len} @@", shown(old_start, old_len), shown(new_start, new_len));
        let mut line = old_start;
        for change in &changes[at..=last] {
            put(out, ' ', &old[line - 1..change.old.start as usize - 1]);
            put(out, '-', &old[change.old.start as usize - 1..change.old.end as usize - 1]);
            put(out, '+', &new[change.new.start as usize - 1..change.new.end as usize - 1]);
            line = change.old.end as usize;
        }
        put(out, ' ', &old[line - 1..old_end - 1]);
        at = last + 1;
    }
}

fn put(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}
