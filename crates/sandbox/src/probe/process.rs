//! Probes of what the program inherited, and of its resource limits.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::table::expect_empty;
use super::{ProbeFacts, ProbeResult};

/// Variables that may be set, besides those of the proxy.
const ALLOWED_VARIABLES: &[&str] = &[
    "CI",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_TERMINAL_PROMPT",
    "HOME",
    "LANG",
    "PATH",
    "PWD",
    "REFEREE_JOB",
    "TMPDIR",
    "TZ",
];

fn list_variable_names() -> impl Iterator<Item = String> {
    std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned())
}

pub(super) fn env_secrets(_: &ProbeFacts) -> ProbeResult {
    let words = ["TOKEN", "KEY", "SECRET", "PASS", "CREDENTIAL", "AUTH"];
    let found: Vec<String> =
        list_variable_names().filter(|name| words.iter().any(|word| name.to_uppercase().contains(word))).collect();
    expect_empty(&found, "no variable has such a name")
}

pub(super) fn env_others(_: &ProbeFacts) -> ProbeResult {
    let proxy = |name: &String| name.to_lowercase().ends_with("_proxy");
    let found: Vec<String> =
        list_variable_names().filter(|name| !ALLOWED_VARIABLES.contains(&name.as_str()) && !proxy(name)).collect();
    expect_empty(&found, "only the fixed variables")
}

pub(super) fn descriptors(_: &ProbeFacts) -> ProbeResult {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return Err("the descriptors cannot be listed".to_owned()) };
    let expected = [PathBuf::from("/proc"), job_dir().join("answers")];
    let is_expected = |path: &PathBuf| expected.iter().any(|expected| path.starts_with(expected));
    let found: Vec<String> = entries
        .flatten()
        .filter(|entry| {
            entry.file_name().to_str().and_then(|name| name.parse().ok()).is_none_or(|number: u32| number > 2)
        })
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter(|path| !is_expected(path))
        .map(|path| path.display().to_string())
        .collect();
    expect_empty(&found, "only stdin, stdout and stderr")
}

pub(super) fn terminal(_: &ProbeFacts) -> ProbeResult {
    match File::open("/dev/tty") {
        Ok(_) => Err("there is a controlling terminal".to_owned()),
        Err(error) => Ok(error.to_string()),
    }
}

pub(super) fn privileges(_: &ProbeFacts) -> ProbeResult {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    match status.lines().any(|line| line.split_whitespace().eq(["NoNewPrivs:", "1"])) {
        true => Ok("`no_new_privs` is set".to_owned()),
        false => Err("`no_new_privs` is not set".to_owned()),
    }
}

pub(super) fn home(_: &ProbeFacts) -> ProbeResult {
    let home = std::env::home_dir().unwrap_or_default();
    let Ok(entries) = fs::read_dir(&home) else { return Err("there is no home".to_owned()) };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    expect_empty(&names.filter(|name| name != "tmp").collect::<Vec<_>>(), "the home is empty")
}

/// More than the limits of the run, and few enough for any machine.
const MAX_ATTEMPTS: usize = 200;

pub(super) fn forks(_: &ProbeFacts) -> ProbeResult {
    let mut children: Vec<Child> = Vec::new();
    let refused = (0..MAX_ATTEMPTS).find_map(|_| {
        match Command::new("sleep").arg("60").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn() {
            Ok(child) => {
                children.push(child);
                None
            }
            Err(error) => Some(error),
        }
    });
    let started = children.len();
    for mut child in children {
        let _ = child.kill();
        let _ = child.wait();
    }
    match refused {
        Some(error) => Ok(format!("refused after {started}: {error}")),
        None => Err(format!("{started} processes were started")),
    }
}

pub(super) fn memory(_: &ProbeFacts) -> ProbeResult {
    match Vec::<u8>::new().try_reserve_exact(1 << 30) {
        Ok(()) => Err("1 GiB was granted".to_owned()),
        Err(_) => Ok("1 GiB was refused".to_owned()),
    }
}

/// Writes in a process of its own, because the kernel answers with SIGXFSZ.
pub(super) fn big_file(_: &ProbeFacts) -> ProbeResult {
    let path = job_dir().join("big");
    let _ = Command::new("dd")
        .args(["if=/dev/zero", "bs=65536", "count=64"])
        .arg(format!("of={}", path.display()))
        .output();
    let size = fs::metadata(&path).map_or(0, |metadata| metadata.len());
    let _ = fs::remove_file(path);
    if (1..=1 << 20).contains(&size) {
        Ok(format!("the file ended at {size} bytes"))
    } else {
        Err(format!("{size} bytes were written"))
    }
}

pub(super) fn open_files(_: &ProbeFacts) -> ProbeResult {
    let mut open = Vec::new();
    for count in 0..MAX_ATTEMPTS {
        match File::open("/dev/null") {
            Ok(file) => open.push(file),
            Err(error) => return Ok(format!("refused after {count}: {error}")),
        }
    }
    Err(format!("{} files were opened", open.len()))
}

pub(super) fn core_file(_: &ProbeFacts) -> ProbeResult {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    match limits.lines().find_map(|line| line.strip_prefix("Max core file size")) {
        Some(rest) if rest.split_whitespace().next() == Some("0") => Ok("core files are disabled".to_owned()),
        _ => Err("core files are enabled".to_owned()),
    }
}

fn job_dir() -> PathBuf {
    std::env::var_os("REFEREE_JOB").map(PathBuf::from).unwrap_or_default()
}
