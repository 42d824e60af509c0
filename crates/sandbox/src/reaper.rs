//! Kills every descendant of the guard, wherever it went.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, wait};

/// How often to look for new descendants before those found so far are killed.
const MAX_STOP_ROUNDS: usize = 100;

/// Kills all descendants of this process; `group` is the process group of its direct child. This process must be a
/// subreaper: a descendant whose parent died is then a child of this process, whatever session it joined.
pub(super) fn kill_descendants(group: Pid) {
    // The kernel signals a whole group at once: none of its members can fork in between.
    let _ = kill_process_group(group, Signal::KILL);
    // SIGSTOP every other descendant before SIGKILL, so that none can fork while we walk the tree. A stopped process
    // also keeps its slot under the process limit, which a fork bomb would refill.
    let mut stopped = BTreeSet::new();
    for _ in 0..MAX_STOP_ROUNDS {
        let found: Vec<Pid> =
            find_descendants().into_iter().filter(|pid| stopped.insert(pid.as_raw_nonzero())).collect();
        if found.is_empty() {
            break;
        }
        for pid in found {
            let _ = kill_process(pid, Signal::STOP);
        }
    }
    loop {
        let remaining = find_descendants();
        if remaining.is_empty() {
            return;
        }
        for pid in remaining {
            let _ = kill_process(pid, Signal::KILL);
        }
        if wait(WaitOptions::empty()).is_err() {
            return;
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }
}

/// Returns all descendants of this process, zombies included.
fn find_descendants() -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(parent) =
            fs::read_to_string(entry.path().join("stat")).ok().and_then(|stat| parse_parent_pid(&stat))
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut descendants = Vec::new();
    let mut unvisited = vec![getpid().as_raw_nonzero().get()];
    while let Some(parent) = unvisited.pop() {
        let pids = children.remove(&parent).unwrap_or_default();
        descendants.extend(pids.iter().filter_map(|pid| Pid::from_raw(*pid)));
        unvisited.extend(pids);
    }
    descendants
}

/// Parses `/proc/PID/stat`: `pid (name) state parent …`. The name may contain any character, parentheses included.
fn parse_parent_pid(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parse_parent_pid;

    #[test]
    fn a_process_name_cannot_forge_the_parent() {
        assert_eq!(parse_parent_pid("7 (sh) S 3 7 7 0"), Some(3));
        assert_eq!(parse_parent_pid("7 (a) S 1 (b) R 3 7"), Some(3));
        assert_eq!(parse_parent_pid("7"), None);
    }
}
