//! The environment of a sandboxed program. It inherits nothing that is not listed here.

use std::path::Path;

use super::program::list_path_folders;
use super::{Sandbox, Tier};

/// Returns the whole environment. A fixed variable wins over one of the same name in [`Sandbox::env`].
pub(super) fn build_environment(sandbox: &Sandbox) -> Vec<(String, String)> {
    let text = |path: &Path| path.display().to_string();
    let home = match sandbox.tier {
        // Tier 0 does not protect credentials, and agents keep their logins in the user's home.
        Tier::Scrubbed => std::env::var("HOME").unwrap_or_else(|_| text(&sandbox.home_dir)),
        Tier::OwnHome | Tier::Bubblewrap => text(&sandbox.home_dir),
    };
    let temporary = match sandbox.tier {
        Tier::Bubblewrap => "/tmp".to_owned(),
        Tier::Scrubbed | Tier::OwnHome => text(&sandbox.home_dir.join("tmp")),
    };
    let fixed = [
        ("PATH", list_path_folders().join(":")),
        ("HOME", home),
        ("TMPDIR", temporary),
        ("LANG", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
        ("CI", "1".to_owned()),
        ("REFEREE_JOB", text(&sandbox.job_dir)),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
        ("GIT_TERMINAL_PROMPT", "0".to_owned()),
    ];
    let given = sandbox.env.iter().filter(|(name, _)| fixed.iter().all(|(key, _)| key != name)).cloned();
    let fixed = fixed.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    given.chain(fixed).collect()
}
