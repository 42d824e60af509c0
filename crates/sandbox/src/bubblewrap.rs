//! Tier 2: what bubblewrap is told. What is not listed here is not there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use super::program::{find_program, is_installed, list_path_folders};
use super::{Sandbox, seccomp, tunnel};

/// Where the program itself and its way out are seen inside.
const PROGRAM_PATH: &str = "/run/referee/program";
pub(super) const RELAY_SOCKET_PATH: &str = "/run/referee/relay";

/// What holds whatever is run. `--disable-userns`: inside a new user namespace one would have every right again.
/// No `--clearenv`: the environment is scrubbed already, and what is set on a command line is read by everybody.
const ISOLATION_ARGS: &[&str] = &[
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--hostname",
    "sandbox",
    "--proc",
    "/proc",
    // The first user's file rights hold inside too, and some of these files are the whole machine's switches.
    "--remount-ro",
    "/proc",
    "--dev",
    "/dev",
];

/// Of the system's own settings: how programs are linked, and whom they trust.
const ETC_BINDS: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "pki",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
];

/// The rest of them is the same on every machine.
const ETC_FILES: &[(&str, &str)] = &[
    ("passwd", "worker:x:1000:1000::/tmp:/bin/sh\n"),
    ("group", "worker:x:1000:\n"),
    ("hosts", "127.0.0.1 localhost\n"),
    ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
];

/// The command line up to the agent's own.
pub(super) fn build_arguments(
    sandbox: &Sandbox,
    argv: &[String],
    folder: &Path,
    own: &Path,
) -> io::Result<Vec<OsString>> {
    let mut all = BwrapArgs::default();
    match seccomp::build_seccomp_filter() {
        // Bubblewrap reads it from a descriptor, and only a shell can leave one open for it.
        Some(filter) => {
            let path = folder.join("filter");
            fs::write(&path, filter)?;
            all.push_all(&["sh", "-c", "exec \"$@\" 9<\"$0\""]);
            all.0.push(path.into());
            all.push_all(&["bwrap", "--seccomp", "9"]);
        }
        None => all.push_all(&["bwrap"]),
    }
    all.push_all(ISOLATION_ARGS);
    all.bind_system();
    for (name, text) in ETC_FILES {
        fs::write(folder.join(name), text)?;
        all.push_bind("--ro-bind", &folder.join(name), &Path::new("/etc").join(name));
    }
    for place in ["/tmp", "/dev/shm"] {
        all.push_all(&["--size", &sandbox.limits.memory_bytes.to_string(), "--tmpfs", place]);
    }
    all.push_all(&["--remount-ro", "/dev"]);
    collect_readable_paths(sandbox, argv).iter().for_each(|path| all.push_bind("--ro-bind", path, path));
    [&sandbox.home_dir, &sandbox.job_dir, &sandbox.work_dir]
        .iter()
        .for_each(|path| all.push_bind("--bind", path, path));
    all.push_bind("--ro-bind", own, Path::new(PROGRAM_PATH));
    let relayed = !sandbox.egress.is_empty();
    if relayed {
        all.push_bind("--bind", &folder.join("relay"), Path::new(RELAY_SOCKET_PATH));
    }
    all.push_all(&["--remount-ro", "/", "--chdir"]);
    all.0.push(sandbox.work_dir.clone().into());
    all.push_all(&["--", PROGRAM_PATH, "sandbox", "enter", "--limits", &sandbox.limits.to_string()]);
    if relayed {
        all.push_all(&["--relay", RELAY_SOCKET_PATH]);
        for egress in tunnel::select_loopback(&sandbox.egress) {
            all.push_all(&["--listen", &egress.to_string()]);
        }
    }
    all.push_all(&["--"]);
    Ok(all.0)
}

/// Why it does not work here, if it does not.
pub(super) fn check_usable() -> Result<(), String> {
    if !is_installed("bwrap") {
        return Err("`bwrap` is not on the PATH".to_owned());
    }
    let mut all = BwrapArgs::default();
    all.push_all(ISOLATION_ARGS);
    all.bind_system();
    all.push_all(&["--remount-ro", "/", "--", "true"]);
    let mut bubble = Command::new("bwrap");
    bubble.args(all.0).env_clear().env("PATH", list_path_folders().join(":")).stdin(Stdio::null());
    let output = bubble.output().map_err(|error| format!("`bwrap` does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "`bwrap` cannot close a room here: {}",
        said.lines().next().unwrap_or("it does not say why").trim_start_matches("bwrap: ")
    ))
}

/// What a worker may read beyond the system's programs: the folders of the `PATH`, its agent, and what its entry names.
fn collect_readable_paths(sandbox: &Sandbox, argv: &[String]) -> Vec<PathBuf> {
    let home = std::env::var("HOME").ok().map(PathBuf::from);
    let too_much = |path: &Path| path == Path::new("/") || home.as_ref().is_some_and(|home| home.starts_with(path));
    let folders = list_path_folders().into_iter().map(PathBuf::from).filter(|folder| folder.is_dir());
    let folders = folders.map(|folder| match folder.parent() {
        // Packages there stand on their own, with what their programs need beside them.
        Some(package) if package.starts_with("/opt/") && folder.ends_with("bin") => package.to_owned(),
        _ => folder,
    });
    let agent = argv
        .first()
        .and_then(|program| find_program(program))
        .map(|program| resolve_links(&program))
        .unwrap_or_default();
    let named = sandbox.env.iter().map(|(_, value)| PathBuf::from(value));
    let named = named.filter(|path| path.is_absolute() && (path.is_file() || path.is_dir()));
    let mut all: Vec<PathBuf> =
        folders.chain(agent).chain(named).filter(|path| !too_much(path) && !is_system_path(path)).collect();
    // Outer ones first, so that none hides another.
    all.sort();
    all.dedup();
    all
}

/// A program, and what its links lead to. One that lies in a tree of packages needs the tree.
fn resolve_links(program: &Path) -> Vec<PathBuf> {
    let mut all = vec![program.to_owned()];
    let mut at = program.to_owned();
    while let (Ok(to), true) = (fs::read_link(&at), all.len() < 16) {
        at = at.parent().unwrap_or(Path::new("/")).join(to);
        all.push(at.clone());
    }
    let real = fs::canonicalize(program).unwrap_or(at);
    let tree = real.ancestors().filter(|folder| folder.ends_with("node_modules")).last().map(Path::to_owned);
    all.push(real);
    // A link's own text may go through folders that are not there inside: the kernel follows it by its real path.
    all.retain(|path| path.components().all(|part| part != std::path::Component::ParentDir));
    all.extend(tree);
    all
}

fn is_system_path(path: &Path) -> bool {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let within = |root: &str| path.starts_with(root) || real.starts_with(root);
    ["/usr", "/proc", "/dev", "/sys"].into_iter().any(within) || ["/bin", "/sbin"].map(Path::new).contains(&path)
}

/// A command line in the making.
#[derive(Default)]
struct BwrapArgs(Vec<OsString>);

impl BwrapArgs {
    fn push_all(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn push_bind(&mut self, how: &str, from: &Path, to: &Path) {
        self.0.extend([how.into(), from.into(), to.into()]);
    }

    /// The system's programs and libraries.
    fn bind_system(&mut self) {
        self.push_all(&["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/nix/store", "/nix/store"]);
        for name in ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"] {
            match fs::read_link(name) {
                Ok(to) => self.push_bind("--symlink", &to, Path::new(name)),
                Err(_) => self.push_bind("--ro-bind-try", Path::new(name), Path::new(name)),
            }
        }
        for name in ETC_BINDS {
            let path = Path::new("/etc").join(name);
            self.push_bind("--ro-bind-try", &path, &path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_system_path;
    use std::path::Path;

    #[test]
    fn what_is_there_anyway_is_not_bound_twice() {
        assert!(is_system_path(Path::new("/usr/local/bin")));
        assert!(is_system_path(Path::new("/bin")));
        assert!(!is_system_path(Path::new("/opt")));
    }
}
