//! The testbed of the probes: secrets and servers that a sandboxed program must not reach, and one server that it may.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io, thread};

use rustix::process::{getpid, getuid};
use tempfile::{NamedTempFile, TempDir};

use super::{ProbeFacts, ProbeResult};
use crate::helper_process::HelperRequest;
use crate::{Egress, ResourceLimits, Sandbox, SandboxError, Tier};

/// Low limits: a probe that exhausts them does not harm the machine.
const PROBE_LIMITS: ResourceLimits =
    ResourceLimits { processes: 64, memory_bytes: 256 << 20, file_bytes: 1 << 20, open_files: 64, log_bytes: 64 << 10 };

pub(super) struct ProbeTestbed {
    pub(super) tier: Tier,
    folder: TempDir,
    facts: ProbeFacts,
    /// Kept open while the probes run: the file in `/dev/shm`, the unlisted TCP port, the abstract socket.
    _baits: (Option<NamedTempFile>, TcpListener, UnixListener),
}

impl ProbeTestbed {
    pub(super) fn new(tier: Tier) -> Result<Self, SandboxError> {
        Self::set_up(tier).map_err(setup_error)
    }

    fn set_up(tier: Tier) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("referee-probe-").tempdir()?;
        let outside = folder.path().join("outside");
        for name in ["outside", "work", "job", "home"] {
            fs::create_dir(folder.path().join(name))?;
        }
        let secret = outside.join("secret");
        fs::write(&secret, "secret")?;
        let shared = NamedTempFile::new_in("/dev/shm").ok();
        let tcp = TcpListener::bind("127.0.0.1:0")?;
        let abstract_name = format!("referee-probe-{}", getpid().as_raw_nonzero());
        let abstract_socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name)?)?;
        let text = |path: &Path| path.display().to_string();
        let facts = ProbeFacts {
            tier: tier as u8,
            secret: text(&secret),
            outside: text(&outside),
            shared: shared.as_ref().map(|file| text(file.path())),
            home: std::env::home_dir().map(|home| text(&home)).unwrap_or_default(),
            pid: getpid().as_raw_nonzero().get(),
            unlisted_tcp_port: tcp.local_addr()?.port(),
            udp_port: spawn_udp_echo()?,
            listed_tcp_port: spawn_listed_server()?,
            abstract_name,
        };
        Ok(Self { tier, folder, facts, _baits: (shared, tcp, abstract_socket) })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a sandbox in the folders of the testbed.
    pub(super) fn sandbox(&self) -> Sandbox {
        // The kernel counts processes per user. A user namespace has a count of its own, and for root a control group
        // counts; everywhere else the limit includes what the user already runs.
        let counts_from_zero = getuid().is_root() || self.tier == Tier::Bubblewrap;
        let running = if counts_from_zero { 0 } else { count_user_threads() };
        Sandbox {
            tier: self.tier,
            work_dir: self.path("work"),
            job_dir: self.path("job"),
            home_dir: self.path("home"),
            egress: vec![Egress { host: "127.0.0.1".to_owned(), port: self.facts.listed_tcp_port }],
            env: Vec::new(),
            timeout: Duration::from_mins(2),
            log_path: self.path("log"),
            secrets: Vec::new(),
            limits: ResourceLimits { processes: PROBE_LIMITS.processes + running, ..PROBE_LIMITS },
        }
    }

    /// Runs all probes that run inside, in one sandboxed process, and returns their results by name.
    pub(super) fn run_inside_probes(&self) -> Result<BTreeMap<String, ProbeResult>, SandboxError> {
        let executable = std::env::current_exe().map_err(setup_error)?;
        let request = HelperRequest::Probe(self.facts.clone()).to_arguments().map_err(setup_error)?;
        let argv: Vec<String> = [executable.display().to_string()].into_iter().chain(request).collect();
        self.sandbox().run(&argv, "", &mut |_| {})?;
        let results = fs::read_to_string(self.path("job/answers")).map_err(|error| {
            let log = fs::read_to_string(self.path("log")).unwrap_or_default();
            setup_error(error).with_hint(format!("the log of the probes: {}", log.trim_end().escape_debug()))
        })?;
        Ok(results.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }
}

fn setup_error(error: io::Error) -> SandboxError {
    SandboxError::failed(format!("the sandbox was not probed: {error}"))
}

/// Starts a TCP server that is in `egress`.
fn spawn_listed_server() -> io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || listener.incoming().flatten().for_each(|mut stream| drop(stream.write_all(b"listed"))));
    Ok(port)
}

/// Starts a UDP server, which must not be reachable.
fn spawn_udp_echo() -> io::Result<u16> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let port = socket.local_addr()?.port();
    thread::spawn(move || {
        let mut packet = [0; 64];
        while let Ok((size, from)) = socket.recv_from(&mut packet) {
            let _ = socket.send_to(&packet[..size], from);
        }
    });
    Ok(port)
}

/// Returns how many threads this user runs.
fn count_user_threads() -> u64 {
    let user = getuid().as_raw().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let statuses = entries.filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok());
    let field = |status: &str, name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next().map(str::to_owned)
    };
    let of_user = statuses.filter(|status| field(status, "Uid:").is_some_and(|uid| uid == user));
    of_user.filter_map(|status| field(&status, "Threads:")?.parse::<u64>().ok()).sum()
}
