//! Tier 2: the arguments of `bwrap`. A file that is not bound here does not exist inside.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use super::helper_process::HelperRequest;
use super::program::{find_program, is_installed, list_path_folders};
use super::tunnel::{self, TunnelRequest};
use super::{Sandbox, seccomp};

/// The paths of this executable and of the relay's socket inside.
const EXECUTABLE_PATH: &str = "/run/referee/program";
pub(super) const RELAY_SOCKET_PATH: &str = "/run/referee/relay";

const MAX_LINKS: usize = 16;

/// Isolation that every run gets. `--disable-userns`: in a new user namespace the program would have all capabilities
/// again. No `--clearenv` with `--setenv`: the environment is scrubbed already, and every user of the machine can read a
/// command line.
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
    // If referee runs as root, files of root are writable inside too, and some in `/proc` configure the whole machine.
    "--remount-ro",
    "/proc",
    "--dev",
    "/dev",
];

/// The parts of `/etc` that are bound: dynamic linking and trusted certificates.
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

/// Files of `/etc` that are replaced, so that they reveal nothing of the machine.
const ETC_FILES: &[(&str, &str)] = &[
    ("passwd", "worker:x:1000:1000::/tmp:/bin/sh\n"),
    ("group", "worker:x:1000:\n"),
    ("hosts", "127.0.0.1 localhost\n"),
    ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
];

/// Returns the command line up to the arguments of the program. `folder` holds the files that are bound.
pub(super) fn build_arguments(
    sandbox: &Sandbox,
    argv: &[String],
    folder: &Path,
    executable: &Path,
) -> io::Result<Vec<OsString>> {
    let mut args = BwrapArgs::default();
    match seccomp::build_seccomp_filter() {
        // Bubblewrap reads the filter from a file descriptor. A shell opens it, because passing one on from here would
        // take `unsafe`.
        Some(filter) => {
            let path = folder.join("filter");
            fs::write(&path, filter)?;
            args.push_all(&["sh", "-c", "exec \"$@\" 9<\"$0\""]);
            args.0.push(path.into());
            args.push_all(&["bwrap", "--seccomp", "9"]);
        }
        None => args.push_all(&["bwrap"]),
    }
    args.push_all(ISOLATION_ARGS);
    args.bind_system();
    for (name, text) in ETC_FILES {
        fs::write(folder.join(name), text)?;
        args.push_bind("--ro-bind", &folder.join(name), &Path::new("/etc").join(name));
    }
    for mount_point in ["/tmp", "/dev/shm"] {
        args.push_all(&["--size", &sandbox.limits.memory_bytes.to_string(), "--tmpfs", mount_point]);
    }
    args.push_all(&["--remount-ro", "/dev"]);
    for path in collect_readable_paths(sandbox, argv) {
        args.push_bind("--ro-bind", &path, &path);
    }
    for path in [&sandbox.home_dir, &sandbox.job_dir, &sandbox.work_dir] {
        args.push_bind("--bind", path, path);
    }
    args.push_bind("--ro-bind", executable, Path::new(EXECUTABLE_PATH));
    let mut tunnel = None;
    if !sandbox.egress.is_empty() {
        args.push_bind("--bind", &folder.join("relay"), Path::new(RELAY_SOCKET_PATH));
        let listen = tunnel::select_loopback(&sandbox.egress);
        tunnel = Some(TunnelRequest { relay: PathBuf::from(RELAY_SOCKET_PATH), listen });
    }
    args.push_all(&["--remount-ro", "/", "--chdir"]);
    args.0.push(sandbox.work_dir.clone().into());
    args.push_all(&["--", EXECUTABLE_PATH]);
    let enter = HelperRequest::Enter { limits: sandbox.limits, tunnel };
    args.0.extend(enter.to_arguments()?.map(OsString::from));
    Ok(args.0)
}

/// Returns an error that says why bubblewrap cannot be used on this machine.
pub(super) fn check_usable() -> Result<(), String> {
    if !is_installed("bwrap") {
        return Err("`bwrap` is not on the PATH".to_owned());
    }
    let mut args = BwrapArgs::default();
    args.push_all(ISOLATION_ARGS);
    args.bind_system();
    args.push_all(&["--remount-ro", "/", "--", "true"]);
    let mut bwrap = Command::new("bwrap");
    bwrap.args(args.0).env_clear().env("PATH", list_path_folders().join(":")).stdin(Stdio::null());
    let output = bwrap.output().map_err(|error| format!("`bwrap` does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let reason = stderr.lines().next().unwrap_or("it gives no reason").trim_start_matches("bwrap: ");
    Err(format!("`bwrap` cannot create a sandbox here: {reason}"))
}

/// Returns what is readable beyond the system's programs: the folders of the `PATH`, the program itself, and the files
/// and folders that are values of [`Sandbox::env`]. Never `/`, and never a folder that contains the user's home.
fn collect_readable_paths(sandbox: &Sandbox, argv: &[String]) -> Vec<PathBuf> {
    let home = std::env::var("HOME").ok().map(PathBuf::from);
    let exposes_home = |path: &Path| path == Path::new("/") || home.as_ref().is_some_and(|home| home.starts_with(path));
    let folders = list_path_folders().into_iter().map(PathBuf::from).filter(|folder| folder.is_dir());
    let folders = folders.map(|folder| match folder.parent() {
        // A package in `/opt` keeps its libraries beside its `bin` folder.
        Some(package) if package.starts_with("/opt/") && folder.ends_with("bin") => package.to_owned(),
        _ => folder,
    });
    let program = argv.first().and_then(|program| find_program(program));
    let program = program.map(|program| resolve_links(&program)).unwrap_or_default();
    let named = sandbox.env.iter().map(|(_, value)| PathBuf::from(value));
    let named = named.filter(|path| path.is_absolute() && (path.is_file() || path.is_dir()));
    let mut paths: Vec<PathBuf> =
        folders.chain(program).chain(named).filter(|path| !exposes_home(path) && !is_system_path(path)).collect();
    // A parent folder comes before its children: bound later, it would hide them.
    paths.sort();
    paths.dedup();
    paths
}

/// Returns a program, the targets of its symbolic links, and the outermost `node_modules` folder it is in.
fn resolve_links(program: &Path) -> Vec<PathBuf> {
    let mut paths = vec![program.to_owned()];
    let mut link = program.to_owned();
    while let (Ok(target), true) = (fs::read_link(&link), paths.len() < MAX_LINKS) {
        link = link.parent().unwrap_or(Path::new("/")).join(target);
        paths.push(link.clone());
    }
    let real = fs::canonicalize(program).unwrap_or(link);
    let modules = real.ancestors().filter(|folder| folder.ends_with("node_modules")).last().map(Path::to_owned);
    paths.push(real);
    // A path through `..` may pass folders that do not exist inside. The real path is in the list as well.
    paths.retain(|path| path.components().all(|part| part != Component::ParentDir));
    paths.extend(modules);
    paths
}

/// Returns whether a path is visible inside without a bind of its own, or must not be bound at all.
fn is_system_path(path: &Path) -> bool {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let within = |root: &str| path.starts_with(root) || real.starts_with(root);
    ["/usr", "/proc", "/dev", "/sys"].into_iter().any(within) || ["/bin", "/sbin"].map(Path::new).contains(&path)
}

/// A command line that is being built.
#[derive(Default)]
struct BwrapArgs(Vec<OsString>);

impl BwrapArgs {
    fn push_all(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn push_bind(&mut self, option: &str, source: &Path, target: &Path) {
        self.0.extend([option.into(), source.into(), target.into()]);
    }

    /// Binds the system's programs and libraries, read-only.
    fn bind_system(&mut self) {
        self.push_all(&["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/nix/store", "/nix/store"]);
        for name in ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"] {
            match fs::read_link(name) {
                Ok(target) => self.push_bind("--symlink", &target, Path::new(name)),
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
    fn system_folders_are_not_bound_again() {
        assert!(is_system_path(Path::new("/usr/local/bin")));
        assert!(is_system_path(Path::new("/bin")));
        assert!(!is_system_path(Path::new("/opt")));
    }
}
