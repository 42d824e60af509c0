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

use super::{Facts, Found};
use crate::failure::Failure;
use crate::worker::cage::{Cage, Egress, Limits, Tier};

/// Low: what runs against them comes to no harm. Forks are counted over all of a user's processes where nothing is closed.
const LIMITS: Limits = Limits { processes: 64, memory: 256 << 20, file: 1 << 20, files: 64, log: 64 << 10 };

/// A machine with something to find on it.
pub(crate) struct Stand {
    pub(super) tier: Tier,
    folder: TempDir,
    facts: Facts,
    /// Open as long as the probes run.
    _baits: (Option<NamedTempFile>, TcpListener, UnixListener),
}

impl Stand {
    /// Lays it all out.
    pub(super) fn build(tier: Tier) -> Result<Self, Failure> {
        Self::lay(tier).map_err(failed)
    }

    fn lay(tier: Tier) -> io::Result<Self> {
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
        let facts = Facts {
            tier: tier as u8,
            secret: text(&secret),
            outside: text(&outside),
            shared: shared.as_ref().map(|file| text(file.path())),
            home: std::env::home_dir().map(|home| text(&home)).unwrap_or_default(),
            pid: getpid().as_raw_nonzero().get(),
            tcp: tcp.local_addr()?.port(),
            udp: echo()?,
            listed: listed()?,
            unnamed,
        };
        Ok(Self { tier, folder, facts, _baits: (shared, tcp, socket) })
    }

    /// A file or folder of the probes'.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A cage around them.
    pub(super) fn cage(&self) -> Cage {
        let own = getuid().is_root() || self.tier == Tier::Sealed;
        Cage {
            tier: self.tier,
            work: self.path("work"),
            job: self.path("job"),
            home: self.path("home"),
            egress: vec![Egress { host: "127.0.0.1".to_owned(), port: self.facts.listed }],
            env: Vec::new(),
            deadline: Duration::from_mins(2),
            log: self.path("log"),
            limits: Limits { processes: LIMITS.processes + if own { 0 } else { crowd() }, ..LIMITS },
        }
    }

    /// Runs all that are tried inside.
    pub(super) fn ask(&self) -> Result<BTreeMap<String, Found>, Failure> {
        let own = std::env::current_exe().map_err(failed)?;
        let facts = serde_json::to_string(&self.facts).map_err(|error| failed(error.into()))?;
        let argv = [own.display().to_string(), "cage".to_owned(), "probe".to_owned(), facts];
        self.cage().run(&argv, "", &mut |_| {})?;
        let text = fs::read_to_string(self.path("job/answers")).map_err(|error| {
            let log = fs::read_to_string(self.path("log")).unwrap_or_default();
            failed(error).hint(format!("it printed: {}", log.trim_end().escape_debug()))
        })?;
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }
}

fn failed(error: io::Error) -> Failure {
    Failure::failed(format!("the cage was not tried: {error}"))
}

/// A server that may be reached.
fn listed() -> io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || listener.incoming().flatten().for_each(|mut stream| drop(stream.write_all(b"listed"))));
    Ok(port)
}

/// A server that may not.
fn echo() -> io::Result<u16> {
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
fn crowd() -> u64 {
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
