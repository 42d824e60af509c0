//! The way out of tier 2, from inside: the listed ports of this machine listen here too, and for the rest there is a proxy.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;

use super::Egress;
use super::relay::copy_both_ways;

/// More than any head of a request to a proxy needs.
const MAX_HEAD_BYTES: u64 = 16 << 10;

/// What is opened inside.
#[derive(Debug, Args)]
pub(super) struct TunnelArgs {
    /// The socket that leads out
    #[arg(long)]
    relay: Option<PathBuf>,
    /// What of this machine is offered here
    #[arg(long, value_parser = parse_egress)]
    listen: Vec<Egress>,
}

impl TunnelArgs {
    pub(super) fn is_needed(&self) -> bool {
        self.relay.is_some()
    }
}

fn parse_egress(text: &str) -> Result<Egress, String> {
    Egress::parse(text).ok_or_else(|| "`host:port` is wanted".to_owned())
}

/// What listens inside: of two names of this machine with one port, the first.
pub(super) fn select_loopback(egress: &[Egress]) -> Vec<&Egress> {
    let mut seen = BTreeSet::new();
    egress.iter().filter(|egress| egress.is_loopback() && seen.insert(egress.port)).collect()
}

/// Opens it, and says what programs must know to find it.
pub(super) fn open(tunnel: &TunnelArgs) -> io::Result<Vec<(&'static str, String)>> {
    let Some(relay) = &tunnel.relay else { return Ok(Vec::new()) };
    for egress in &tunnel.listen {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, egress.port))?;
        let to = egress.to_string();
        spawn_listener(listener, relay.clone(), move |relay, stream| forward_connection(relay, stream, &to));
    }
    let proxy = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = format!("http://{}", proxy.local_addr()?);
    spawn_listener(proxy, relay.clone(), handle_proxy_request);
    let names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    let here = ["NO_PROXY", "no_proxy"].map(|name| (name, "localhost,127.0.0.1".to_owned()));
    Ok(names.map(|name| (name, address.clone())).into_iter().chain(here).collect())
}

fn spawn_listener(
    listener: TcpListener,
    relay: PathBuf,
    each: impl Fn(&Path, TcpStream) -> io::Result<()> + Clone + Send + 'static,
) {
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (relay, each) = (relay.clone(), each.clone());
            // Where the worker has used up all threads, its connection just ends.
            let _ = thread::Builder::new().spawn(move || each(&relay, stream));
        }
    });
}

fn forward_connection(relay: &Path, stream: TcpStream, to: &str) -> io::Result<()> {
    match request_connection(relay, to)? {
        Some(out) => copy_both_ways(out, stream),
        None => Ok(()),
    }
}

/// A proxy's first request: `CONNECT host:port`, or a plain request with a whole address, which the server takes as it is.
fn handle_proxy_request(relay: &Path, mut stream: TcpStream) -> io::Result<()> {
    let mut head = Vec::new();
    let mut reader = BufReader::with_capacity(1, (&stream).take(MAX_HEAD_BYTES));
    while !head.ends_with(b"\r\n\r\n") {
        if reader.read_until(b'\n', &mut head)? == 0 {
            return stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    }
    drop(reader);
    let line = String::from_utf8_lossy(head.split(|byte| *byte == b'\r').next().unwrap_or_default()).into_owned();
    let Some((to, connect)) = parse_target(&line) else {
        return stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    };
    match request_connection(relay, &to)? {
        Some(mut out) if connect => {
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            out.flush()?;
            copy_both_ways(out, stream)
        }
        Some(mut out) => {
            out.write_all(&head)?;
            copy_both_ways(out, stream)
        }
        None => stream.write_all(b"HTTP/1.1 403 Not in egress\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
    }
}

/// Where a request goes, and whether it asks for a tunnel.
fn parse_target(line: &str) -> Option<(String, bool)> {
    let mut words = line.split(' ');
    let (method, address) = (words.next()?, words.next()?);
    if method == "CONNECT" {
        return Some((address.to_owned(), true));
    }
    let rest = address.strip_prefix("http://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let ported = Egress::parse(host).map_or_else(|| format!("{host}:80"), |egress| egress.to_string());
    Some((ported, false))
}

fn request_connection(relay: &Path, to: &str) -> io::Result<Option<UnixStream>> {
    let mut out = UnixStream::connect(relay)?;
    out.write_all(format!("{to}\n").as_bytes())?;
    let mut line = String::new();
    BufReader::with_capacity(1, (&out).take(16)).read_line(&mut line)?;
    Ok((line == "open\n").then_some(out))
}

#[cfg(test)]
mod tests {
    use super::parse_target;

    #[test]
    fn where_a_request_goes() {
        for (line, want) in [
            ("CONNECT a.org:443 HTTP/1.1", Some(("a.org:443", true))),
            ("GET http://a.org/x?y HTTP/1.1", Some(("a.org:80", false))),
            ("GET http://a.org:8080 HTTP/1.1", Some(("a.org:8080", false))),
            ("GET http://b.org:1@a.org:2/ HTTP/1.1", Some(("a.org:2", false))),
            ("GET http://[::1]:2/ HTTP/1.1", Some(("[::1]:2", false))),
            ("GET /here HTTP/1.1", None),
            ("GET https://a.org/ HTTP/1.1", None),
            ("", None),
        ] {
            let want = want.map(|(to, connect)| (to.to_owned(), connect));
            assert_eq!(parse_target(line), want, "{line}");
        }
    }
}
