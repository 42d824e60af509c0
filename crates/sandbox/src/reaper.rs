//! What a worker leaves behind, and its end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, wait};

/// How often new ones are looked for before those that stand still are ended.
const MAX_STOP_ROUNDS: usize = 100;

/// Ends all that came of this process; `group` is the one that the first of them leads. It must be a subreaper: whoever
/// left its parent then hangs on this one, wherever it went.
pub(super) fn kill_descendants(group: Pid) {
    // The kernel ends a group at once, and nobody in it can be faster.
    let _ = kill_process_group(group, Signal::KILL);
    // Elsewhere somebody may start others while this looks. Who stands still starts nobody, and takes no free place.
    let mut still = BTreeSet::new();
    for _ in 0..MAX_STOP_ROUNDS {
        let fresh: Vec<Pid> = find_descendants().into_iter().filter(|pid| still.insert(pid.as_raw_nonzero())).collect();
        if fresh.is_empty() {
            break;
        }
        for pid in fresh {
            let _ = kill_process(pid, Signal::STOP);
        }
    }
    loop {
        let left = find_descendants();
        if left.is_empty() {
            return;
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
        }
        if wait(WaitOptions::empty()).is_err() {
            return;
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }
}

/// Whoever has this process among its parents, the dead that nobody has asked about included.
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
    let mut found = Vec::new();
    let mut open = vec![getpid().as_raw_nonzero().get()];
    while let Some(of) = open.pop() {
        let here = children.remove(&of).unwrap_or_default();
        found.extend(here.iter().filter_map(|pid| Pid::from_raw(*pid)));
        open.extend(here);
    }
    found
}

/// `pid (name) state parent …`; the name may hold anything, brackets too.
fn parse_parent_pid(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parse_parent_pid;

    #[test]
    fn a_name_cannot_lie_about_the_parent() {
        assert_eq!(parse_parent_pid("7 (sh) S 3 7 7 0"), Some(3));
        assert_eq!(parse_parent_pid("7 (a) S 1 (b) R 3 7"), Some(3));
        assert_eq!(parse_parent_pid("7"), None);
    }
}
