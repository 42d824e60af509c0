//! What stands around the probes: things that a worker must not find, and how it is started.

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
use crate::error::SandboxError;
use crate::{Egress, ResourceLimits, Sandbox, Tier};

/// Low: what runs against them comes to no harm. Forks are counted over all of a user's processes where nothing is closed.
const PROBE_LIMITS: ResourceLimits =
    ResourceLimits { processes: 64, memory_bytes: 256 << 20, file_bytes: 1 << 20, open_files: 64, log_bytes: 64 << 10 };

/// A machine with something to find on it.
pub(super) struct ProbeTestbed {
    pub(super) tier: Tier,
    folder: TempDir,
    facts: ProbeFacts,
    /// Open as long as the probes run.
    _baits: (Option<NamedTempFile>, TcpListener, UnixListener),
}

impl ProbeTestbed {
    /// Lays it all out.
    pub(super) fn new(tier: Tier) -> Result<Self, SandboxError> {
        Self::set_up(tier).map_err(setup_failure)
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
        let unnamed = format!("referee-probe-{}", getpid().as_raw_nonzero());
        let socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&unnamed)?)?;
        let text = |path: &Path| path.display().to_string();
        let facts = ProbeFacts {
            tier: tier as u8,
            secret: text(&secret),
            outside: text(&outside),
            shared: shared.as_ref().map(|file| text(file.path())),
            home: std::env::home_dir().map(|home| text(&home)).unwrap_or_default(),
            pid: getpid().as_raw_nonzero().get(),
            tcp: tcp.local_addr()?.port(),
            udp: spawn_udp_echo()?,
            listed: spawn_listed_server()?,
            unnamed,
        };
        Ok(Self { tier, folder, facts, _baits: (shared, tcp, socket) })
    }

    /// A file or folder of the probes'.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A sandbox around them.
    pub(super) fn sandbox(&self) -> Sandbox {
        let own = getuid().is_root() || self.tier == Tier::Bubblewrap;
        Sandbox {
            tier: self.tier,
            work_dir: self.path("work"),
            job_dir: self.path("job"),
            home_dir: self.path("home"),
            egress: vec![Egress { host: "127.0.0.1".to_owned(), port: self.facts.listed }],
            env: Vec::new(),
            timeout: Duration::from_mins(2),
            log_path: self.path("log"),
            limits: ResourceLimits {
                processes: PROBE_LIMITS.processes + if own { 0 } else { count_user_threads() },
                ..PROBE_LIMITS
            },
        }
    }

    /// Runs all that are tried inside.
    pub(super) fn run_inside_probes(&self) -> Result<BTreeMap<String, ProbeResult>, SandboxError> {
        let own = std::env::current_exe().map_err(setup_failure)?;
        let facts = serde_json::to_string(&self.facts).map_err(|error| setup_failure(error.into()))?;
        let argv = [own.display().to_string(), "sandbox".to_owned(), "probe".to_owned(), facts];
        self.sandbox().run(&argv, "", &mut |_| {})?;
        let text = fs::read_to_string(self.path("job/answers")).map_err(|error| {
            let log = fs::read_to_string(self.path("log")).unwrap_or_default();
            setup_failure(error).with_hint(format!("it printed: {}", log.trim_end().escape_debug()))
        })?;
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }
}

fn setup_failure(error: io::Error) -> SandboxError {
    SandboxError::failed(format!("the sandbox was not tried: {error}"))
}

/// A server that may be reached.
fn spawn_listed_server() -> io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || listener.incoming().flatten().for_each(|mut stream| drop(stream.write_all(b"listed"))));
    Ok(port)
}

/// A server that may not.
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

/// How many threads this user has.
fn count_user_threads() -> u64 {
    let own = getuid().as_raw().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let statuses = entries.filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok());
    let field = |status: &str, name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next().map(str::to_owned)
    };
    let theirs = statuses.filter(|status| field(status, "Uid:").is_some_and(|user| user == own));
    theirs.filter_map(|status| field(&status, "Threads:")?.parse::<u64>().ok()).sum()
}
