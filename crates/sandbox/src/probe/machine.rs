//! Probes of what the program can see and change on the machine.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::process::{Pid, test_kill_process};

use super::table::expect_empty;
use super::{ProbeFacts, ProbeResult};

/// Expects that no file can be opened, and that every folder is missing or empty.
fn expect_unreadable<P: AsRef<Path>>(paths: &[P]) -> ProbeResult {
    let opens = |path: &&P| match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()),
        Ok(_) => File::open(path).is_ok(),
        Err(_) => false,
    };
    let found: Vec<String> = paths.iter().filter(opens).map(|path| path.as_ref().display().to_string()).collect();
    expect_empty(&found, "does not exist")
}

/// Expects that no file can be opened for writing. Nothing is written.
fn expect_unwritable(paths: &[&str]) -> ProbeResult {
    let opens = |path: &&&str| OpenOptions::new().append(true).open(path).is_ok();
    let found: Vec<String> = paths.iter().filter(opens).map(|path| (*path).to_owned()).collect();
    expect_empty(&found, "none can be opened")
}

fn expect_unreachable(paths: &[&str]) -> ProbeResult {
    let found: Vec<String> =
        paths.iter().filter(|path| UnixStream::connect(path).is_ok()).map(|path| (*path).to_owned()).collect();
    expect_empty(&found, "does not exist")
}

fn expect_home_unreadable(facts: &ProbeFacts, names: &[&str]) -> ProbeResult {
    expect_unreadable(&names.iter().map(|name| Path::new(&facts.home).join(name)).collect::<Vec<_>>())
}

fn proc_path(facts: &ProbeFacts, name: &str) -> String {
    format!("/proc/{}/{name}", facts.pid)
}

pub(super) fn init_environ(_: &ProbeFacts) -> ProbeResult {
    let text = fs::read("/proc/1/environ").unwrap_or_default();
    let names = text.split(|byte| *byte == 0).filter_map(|pair| pair.split(|byte| *byte == b'=').next());
    let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
    let own = |name: &String| name.is_empty() || std::env::var_os(name).is_some();
    expect_empty(&names.filter(|name| !own(name)).collect::<Vec<_>>(), "only its own variables")
}

pub(super) fn parent_environ(facts: &ProbeFacts) -> ProbeResult {
    expect_unreadable(&[proc_path(facts, "environ")])
}

pub(super) fn parent_memory(facts: &ProbeFacts) -> ProbeResult {
    expect_unreadable(&[proc_path(facts, "mem")])
}

pub(super) fn parent_root(facts: &ProbeFacts) -> ProbeResult {
    expect_unreadable(&[proc_path(facts, "root"), format!("/proc/1/root{}", facts.secret), proc_path(facts, "cwd")])
}

pub(super) fn processes(facts: &ProbeFacts) -> ProbeResult {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok()).count();
    match Path::new(&proc_path(facts, "")).exists() {
        true => Err("the process of referee is visible".to_owned()),
        false => Ok(format!("{pids} processes, all inside")),
    }
}

pub(super) fn signals(facts: &ProbeFacts) -> ProbeResult {
    match Pid::from_raw(facts.pid).map(test_kill_process) {
        Some(Ok(())) => Err("the signal would be delivered".to_owned()),
        Some(Err(error)) => Ok(error.to_string()),
        None => Err("not tried: the pid of referee is not valid".to_owned()),
    }
}

/// A seccomp filter refuses the system calls for keys. Without one, no key may be listed.
pub(super) fn keyring(_: &ProbeFacts) -> ProbeResult {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if status.lines().any(|line| line.split_whitespace().eq(["Seccomp:", "2"])) {
        return Ok("seccomp refuses the system calls".to_owned());
    }
    let keys = fs::read_to_string("/proc/keys").unwrap_or_default();
    let secret = |line: &&str| line.split_whitespace().nth(7).is_some_and(|kind| kind != "keyring");
    expect_empty(&keys.lines().filter(secret).map(str::to_owned).collect::<Vec<_>>(), "no key is listed")
}

pub(super) fn shared_memory(facts: &ProbeFacts) -> ProbeResult {
    expect_unreadable(facts.shared.as_slice())
}

pub(super) fn docker(_: &ProbeFacts) -> ProbeResult {
    expect_unreachable(&[
        "/run/docker.sock",
        "/var/run/docker.sock",
        "/run/podman/podman.sock",
        "/run/containerd/containerd.sock",
    ])
}

pub(super) fn bus(_: &ProbeFacts) -> ProbeResult {
    expect_unreachable(&[
        "/run/dbus/system_bus_socket",
        "/var/run/dbus/system_bus_socket",
        "/run/systemd/private",
        "/run/user/1000/bus",
    ])
}

pub(super) fn temporary(facts: &ProbeFacts) -> ProbeResult {
    expect_unreadable(&[&facts.secret])
}

/// Folders of the `PATH` may be visible there, but no other file.
pub(super) fn real_home(facts: &ProbeFacts) -> ProbeResult {
    let entries = fs::read_dir(&facts.home).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    let found: Vec<String> = files.map(|entry| entry.path().display().to_string()).collect();
    expect_empty(&found, "none of its files")
}

pub(super) fn ssh(facts: &ProbeFacts) -> ProbeResult {
    expect_home_unreadable(facts, &[".ssh", ".gnupg"])
}

pub(super) fn netrc(facts: &ProbeFacts) -> ProbeResult {
    expect_home_unreadable(facts, &[".netrc", ".git-credentials"])
}

pub(super) fn settings(facts: &ProbeFacts) -> ProbeResult {
    expect_home_unreadable(facts, &[".config", ".local/share/keyrings", ".gitconfig"])
}

pub(super) fn registries(facts: &ProbeFacts) -> ProbeResult {
    expect_home_unreadable(facts, &[".cargo/credentials.toml", ".cargo/credentials", ".npmrc", ".pypirc", ".docker"])
}

pub(super) fn clouds(facts: &ProbeFacts) -> ProbeResult {
    expect_home_unreadable(facts, &[".aws", ".azure", ".kube", ".claude", ".codex"])
}

pub(super) fn passwords(_: &ProbeFacts) -> ProbeResult {
    expect_unreadable(&["/etc/shadow", "/etc/sudoers", "/etc/machine-id", "/etc/ssl/private", "/etc/ssh"])?;
    match fs::read_to_string("/etc/passwd").is_ok_and(|text| text.lines().count() > 1) {
        true => Err("/etc/passwd".to_owned()),
        false => Ok("does not exist".to_owned()),
    }
}

pub(super) fn other_folders(_: &ProbeFacts) -> ProbeResult {
    expect_unreadable(&["/var", "/srv", "/mnt", "/media", "/boot", "/sys", "/lost+found"])
}

pub(super) fn symlink_out(facts: &ProbeFacts) -> ProbeResult {
    let link = Path::new("probe-link");
    let _ = fs::remove_file(link);
    std::os::unix::fs::symlink(&facts.secret, link).map_err(|error| format!("not tried: {error}"))?;
    let found = expect_unreadable(&[link]);
    let _ = fs::remove_file(link);
    found
}

pub(super) fn write_outside(facts: &ProbeFacts) -> ProbeResult {
    let path = Path::new(&facts.outside).join("written");
    expect_refused(File::create(path))
}

pub(super) fn hard_link_out(facts: &ProbeFacts) -> ProbeResult {
    expect_refused(fs::hard_link(&facts.secret, "probe-hard-link"))
}

pub(super) fn write_system(_: &ProbeFacts) -> ProbeResult {
    let writes = |folder: &&&str| File::create(Path::new(folder).join("probe")).is_ok();
    let found: Vec<&&str> =
        ["/", "/etc", "/usr", "/usr/bin", "/run", "/run/referee", "/dev"].iter().filter(writes).collect();
    expect_empty(&found.iter().map(|folder| (**folder).to_owned()).collect::<Vec<_>>(), "read only")
}

/// Changes the permissions rather than the content: writing to a running program fails in any case (`ETXTBSY`).
pub(super) fn write_program(_: &ProbeFacts) -> ProbeResult {
    let executable = std::env::current_exe().map_err(|error| format!("not tried: {error}"))?;
    let permissions = fs::metadata(&executable).map_err(|error| format!("not tried: {error}"))?.permissions();
    expect_refused(fs::set_permissions(executable, permissions))
}

pub(super) fn kernel_switches(_: &ProbeFacts) -> ProbeResult {
    let names = [
        "sys/kernel/core_pattern",
        "sys/kernel/modprobe",
        "sysrq-trigger",
        "sys/vm/drop_caches",
        "kcore",
        "self/oom_score_adj",
    ];
    expect_unwritable(&names.map(|name| format!("/proc/{name}")).each_ref().map(String::as_str))
}

pub(super) fn devices(_: &ProbeFacts) -> ProbeResult {
    let entries = fs::read_dir("/dev").into_iter().flatten().flatten();
    let harmless = ["full", "null", "ptmx", "random", "tty", "urandom", "zero", "console"];
    let device =
        |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_block_device() || kind.is_char_device());
    let names = entries.filter(device).map(|entry| entry.file_name().to_string_lossy().into_owned());
    expect_empty(
        &names.filter(|name| !harmless.contains(&name.as_str())).collect::<Vec<_>>(),
        "only devices without data",
    )
}

/// Creates the device of the kernel's memory. It is not opened.
pub(super) fn make_device(_: &ProbeFacts) -> ProbeResult {
    expect_refused(mknodat(CWD, "probe-device", FileType::CharacterDevice, Mode::RUSR, makedev(1, 1)))
}

pub(super) fn mount(_: &ProbeFacts) -> ProbeResult {
    expect_refused(rustix::mount::mount_bind("/usr", "/tmp"))?;
    expect_refused(rustix::mount::unmount("/proc", rustix::mount::UnmountFlags::DETACH))
}

pub(super) fn user_namespace(_: &ProbeFacts) -> ProbeResult {
    match Command::new("unshare").args(["--user", "--map-root-user", "true"]).output() {
        Ok(output) if output.status.success() => Err("a user namespace was created".to_owned()),
        Ok(output) => Ok(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("it could not be tried: `unshare`: {error}")),
    }
}

pub(super) fn capabilities(_: &ProbeFacts) -> ProbeResult {
    let status = fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let sets = status.lines().filter(|line| line.starts_with("Cap"));
    let some =
        sets.filter(|line| line.split_whitespace().nth(1).is_none_or(|set| set.bytes().any(|digit| digit != b'0')));
    expect_empty(&some.map(str::to_owned).collect::<Vec<_>>(), "no capability")
}

pub(super) fn setuid(_: &ProbeFacts) -> ProbeResult {
    let mounts = fs::read_to_string("/proc/self/mounts").map_err(|error| error.to_string())?;
    let counts = mounts
        .lines()
        .filter(|line| line.split(' ').nth(3).is_none_or(|how| how.split(',').all(|word| word != "nosuid")));
    let places = counts.map(|line| line.split(' ').nth(1).unwrap_or_default().to_owned());
    expect_empty(&places.collect::<Vec<_>>(), "all mounts are nosuid")
}

fn expect_refused<T, E: ToString>(result: Result<T, E>) -> ProbeResult {
    match result {
        Ok(_) => Err("the operation succeeded".to_owned()),
        Err(error) => Ok(error.to_string()),
    }
}
