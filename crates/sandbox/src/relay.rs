//! The only way out of tier 2, from outside: it connects to what is listed, and to nothing else.

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

/// How long one connection may take to be asked for, and to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Longer than any name and port.
const MAX_REQUEST_BYTES: u64 = 300;

/// Connections at once.
const MAX_CONNECTIONS: usize = 256;

/// How many refusals the log names.
const MAX_LOGGED_REFUSALS: usize = 100;

/// It listens as long as it lives.
pub(super) struct Relay {
    socket: PathBuf,
    stopped: Arc<AtomicBool>,
}

impl Relay {
    pub(super) fn open(socket: &Path, egress: &[Egress], printed: &Arc<OutputLog>) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let over = Arc::new(AtomicBool::new(false));
        let desk = Arc::new(RelayServer {
            allowed: egress.to_vec(),
            log: Arc::clone(printed),
            open_connections: AtomicUsize::new(0),
            refusal_count: AtomicUsize::new(0),
        });
        let ends = Arc::clone(&over);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let desk = Arc::clone(&desk);
                // Where there is no thread left, the connection just ends.
                let _ = thread::Builder::new().spawn(move || desk.serve(stream));
            }
        });
        Ok(Self { socket: socket.to_owned(), stopped: over })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        // Wakes whoever waits for a connection.
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
            // Whatever goes wrong here ends one connection of the worker's.
            let _ = self.handle_request(stream);
        }
        self.open_connections.fetch_sub(1, Ordering::Relaxed);
    }

    /// One line asks for `host:port`, one line answers; then it is theirs.
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

/// Names are looked up here, where the worker has no say. One that leads back to this machine was not meant so.
fn connect_endpoint(egress: &Egress) -> io::Result<TcpStream> {
    let named = egress.host.parse::<IpAddr>().is_err() && !egress.is_loopback();
    let inward = |address: &SocketAddr| match address.ip().to_canonical() {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_link_local() || ip.is_unspecified(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unicast_link_local() || ip.is_unspecified(),
    };
    let mut last = io::Error::other("its name leads to no address outside");
    for address in (egress.host.as_str(), egress.port).to_socket_addrs()?.filter(|address| !(named && inward(address)))
    {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Both ways, until both are at their end.
pub(super) fn copy_both_ways(mut here: UnixStream, mut there: TcpStream) -> io::Result<()> {
    let (mut from_there, mut to_here) = (there.try_clone()?, here.try_clone()?);
    let back = thread::Builder::new().spawn(move || {
        let _ = io::copy(&mut from_there, &mut to_here);
        let _ = to_here.shutdown(Shutdown::Write);
    })?;
    let _ = io::copy(&mut here, &mut there);
    let _ = there.shutdown(Shutdown::Write);
    let _ = back.join();
    Ok(())
}
