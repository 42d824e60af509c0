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
use super::printed::Printed;

/// How long one connection may take to be asked for, and to be made.
const PATIENCE: Duration = Duration::from_secs(10);

/// Longer than any name and port.
const LONGEST: u64 = 300;

/// Connections at once.
const MOST: usize = 256;

/// How many refusals the log names.
const NAMED: usize = 100;

/// It listens as long as it lives.
pub(super) struct Relay {
    socket: PathBuf,
    over: Arc<AtomicBool>,
}

impl Relay {
    pub(super) fn open(socket: &Path, egress: &[Egress], printed: &Arc<Printed>) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let over = Arc::new(AtomicBool::new(false));
        let desk = Arc::new(Desk {
            egress: egress.to_vec(),
            printed: Arc::clone(printed),
            open: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
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
        Ok(Self { socket: socket.to_owned(), over })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // Wakes whoever waits for a connection.
        let _ = UnixStream::connect(&self.socket);
    }
}

struct Desk {
    egress: Vec<Egress>,
    printed: Arc<Printed>,
    open: AtomicUsize,
    refused: AtomicUsize,
}

impl Desk {
    fn serve(&self, stream: UnixStream) {
        if self.open.fetch_add(1, Ordering::Relaxed) < MOST {
            // Whatever goes wrong here ends one connection of the worker's.
            let _ = self.connect(stream);
        }
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// One line asks for `host:port`, one line answers; then it is theirs.
    fn connect(&self, mut stream: UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut line = String::new();
        BufReader::with_capacity(1, (&stream).take(LONGEST)).read_line(&mut line)?;
        let Some(egress) = Egress::read(line.trim_end()).filter(|egress| self.egress.contains(egress)) else {
            if self.refused.fetch_add(1, Ordering::Relaxed) < NAMED {
                self.printed.note(&format!("refused to connect to `{}`", line.trim_end().escape_default()));
            }
            return stream.write_all(b"refused\n");
        };
        let server = match reach(&egress) {
            Ok(server) => server,
            Err(error) => {
                self.printed.note(&format!("could not connect to `{egress}`: {error}"));
                return stream.write_all(b"failed\n");
            }
        };
        stream.set_read_timeout(None)?;
        stream.write_all(b"open\n")?;
        carry(stream, server)
    }
}

/// Names are looked up here, where the worker has no say. One that leads back to this machine was not meant so.
fn reach(egress: &Egress) -> io::Result<TcpStream> {
    let named = egress.host.parse::<IpAddr>().is_err() && !egress.is_loopback();
    let inward = |address: &SocketAddr| match address.ip().to_canonical() {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_link_local() || ip.is_unspecified(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unicast_link_local() || ip.is_unspecified(),
    };
    let mut last = io::Error::other("its name leads to no address outside");
    for address in (egress.host.as_str(), egress.port).to_socket_addrs()?.filter(|address| !(named && inward(address)))
    {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Both ways, until both are at their end.
pub(super) fn carry(mut here: UnixStream, mut there: TcpStream) -> io::Result<()> {
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
