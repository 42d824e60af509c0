//! The outer end of tier 2's network: connects to the listed endpoints and refuses every other request.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::Egress;
use super::output_log::OutputLog;

/// Limits both the wait for a request and the wait for the connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Longer than any `host:port`.
const MAX_REQUEST_BYTES: u64 = 300;

const MAX_CONNECTIONS: usize = 256;

/// Further refusals are not logged, so that they cannot fill the disk.
const MAX_LOGGED_REFUSALS: usize = 100;

/// A relay that listens on a UNIX socket until it is dropped.
pub(super) struct Relay {
    socket: PathBuf,
    stopped: Arc<AtomicBool>,
}

impl Relay {
    pub(super) fn open(socket: &Path, egress: &[Egress], log: &Arc<OutputLog>) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let stopped = Arc::new(AtomicBool::new(false));
        let server = Arc::new(RelayServer {
            allowed: egress.to_vec(),
            log: Arc::clone(log),
            open_connections: AtomicUsize::new(0),
            refusal_count: AtomicUsize::new(0),
        });
        let relay = Self { socket: socket.to_owned(), stopped: Arc::clone(&stopped) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let server = Arc::clone(&server);
                // If no thread can be started, the connection is dropped.
                let _ = thread::Builder::new().spawn(move || server.serve(stream));
            }
        });
        Ok(relay)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        // Wakes the thread that waits in `accept`.
        let _ = UnixStream::connect(&self.socket);
    }
}

struct RelayServer {
    allowed: Vec<Egress>,
    log: Arc<OutputLog>,
    open_connections: AtomicUsize,
    refusal_count: AtomicUsize,
}

impl RelayServer {
    fn serve(&self, stream: UnixStream) {
        if self.open_connections.fetch_add(1, Ordering::Relaxed) < MAX_CONNECTIONS {
            // An error ends this one connection of the program.
            let _ = self.handle_request(stream);
        }
        self.open_connections.fetch_sub(1, Ordering::Relaxed);
    }

    /// Reads one line, `host:port`, and answers with one line, `open`, `refused` or `failed`. After `open` the stream
    /// belongs to the program and the server.
    fn handle_request(&self, mut stream: UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(CONNECT_TIMEOUT))?;
        let mut line = String::new();
        BufReader::with_capacity(1, (&stream).take(MAX_REQUEST_BYTES)).read_line(&mut line)?;
        let Some(egress) = Egress::parse(line.trim_end()).filter(|egress| self.allowed.contains(egress)) else {
            if self.refusal_count.fetch_add(1, Ordering::Relaxed) < MAX_LOGGED_REFUSALS {
                self.log.write_note(&format!("refused to connect to `{}`", line.trim_end().escape_default()));
            }
            return stream.write_all(b"refused\n");
        };
        let server = match connect_endpoint(&egress) {
            Ok(server) => server,
            Err(error) => {
                self.log.write_note(&format!("could not connect to `{egress}`: {error}"));
                return stream.write_all(b"failed\n");
            }
        };
        stream.set_read_timeout(None)?;
        stream.write_all(b"open\n")?;
        copy_both_ways(stream, server)
    }
}

/// Connects to an endpoint. Host names are resolved here, outside the sandbox. A name other than `localhost` must not
/// resolve to a loopback or link-local address: DNS rebinding would reach services of this machine that way.
fn connect_endpoint(egress: &Egress) -> io::Result<TcpStream> {
    let is_remote_name = egress.host.parse::<IpAddr>().is_err() && !egress.is_loopback();
    let is_local = |address: &SocketAddr| match address.ip().to_canonical() {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_link_local() || ip.is_unspecified(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unicast_link_local() || ip.is_unspecified(),
    };
    let addresses = (egress.host.as_str(), egress.port).to_socket_addrs()?;
    let mut last_error = io::Error::other("the name resolves to no address outside this machine");
    for address in addresses.filter(|address| !(is_remote_name && is_local(address))) {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

/// Copies in both directions until both are closed.
pub(super) fn copy_both_ways(mut unix: UnixStream, mut tcp: TcpStream) -> io::Result<()> {
    let (mut from_tcp, mut to_unix) = (tcp.try_clone()?, unix.try_clone()?);
    let backward = thread::Builder::new().spawn(move || {
        let _ = io::copy(&mut from_tcp, &mut to_unix);
        let _ = to_unix.shutdown(Shutdown::Write);
    })?;
    let _ = io::copy(&mut unix, &mut tcp);
    let _ = tcp.shutdown(Shutdown::Write);
    let _ = backward.join();
    Ok(())
}
