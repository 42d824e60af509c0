//! What a worker finds in its environment: never what referee found in its own.

use std::path::Path;

use super::{Sandbox, Tier};

/// Where programs are looked for when the own `PATH` names no folder.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The whole environment. What is fixed wins over what the entry names.
pub(super) fn build_environment(cage: &Sandbox) -> Vec<(String, String)> {
    let text = |path: &Path| path.display().to_string();
    let home = match cage.tier {
        // Tier 0 promises nothing about credentials, and programs keep their log-ins at home.
        Tier::Scrubbed => crate::setup::env("HOME").unwrap_or_else(|| text(&cage.home_dir)),
        Tier::OwnHome | Tier::Bubblewrap => text(&cage.home_dir),
    };
    let temporary = match cage.tier {
        Tier::Bubblewrap => "/tmp".to_owned(),
        Tier::Scrubbed | Tier::OwnHome => text(&cage.home_dir.join("tmp")),
    };
    let fixed = [
        ("PATH", list_path_folders().join(":")),
        ("HOME", home),
        ("TMPDIR", temporary),
        ("LANG", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
        ("CI", "1".to_owned()),
        ("REFEREE_JOB", text(&cage.job_dir)),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
        ("GIT_TERMINAL_PROMPT", "0".to_owned()),
    ];
    let named = cage.env.iter().filter(|(name, _)| fixed.iter().all(|(key, _)| key != name)).cloned();
    let fixed = fixed.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    named.chain(fixed).collect()
}

/// The folders that programs are looked for in: those of the own `PATH` that a worker cannot bend by where it stands.
pub(super) fn list_path_folders() -> Vec<String> {
    let own = crate::setup::env("PATH").unwrap_or_default();
    let own: Vec<String> = own.split(':').filter(|folder| folder.starts_with('/')).map(str::to_owned).collect();
    if own.is_empty() { DEFAULT_PATH.split(':').map(str::to_owned).collect() } else { own }
}
