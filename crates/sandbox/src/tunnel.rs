//! The inner end of tier 2's network: listens on the listed ports of the host's loopback, and runs an HTTP proxy for the
//! other endpoints. Both forward to the relay outside.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;

use serde::{Deserialize, Serialize};

use super::Egress;
use super::relay::copy_both_ways;

/// Longer than the head of any proxy request.
const MAX_HEAD_BYTES: u64 = 16 << 10;

/// What the `enter` helper opens inside the sandbox.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TunnelRequest {
    /// The socket of the relay, at its path inside.
    pub(super) relay: PathBuf,
    /// Endpoints on the host's loopback, which listen at the same ports inside.
    pub(super) listen: Vec<Egress>,
}

/// Returns the endpoints on the host's loopback. If two of them share a port, the first wins.
pub(super) fn select_loopback(egress: &[Egress]) -> Vec<Egress> {
    let mut seen = BTreeSet::new();
    egress.iter().filter(|egress| egress.is_loopback() && seen.insert(egress.port)).cloned().collect()
}

/// Starts to listen, and returns the environment variables that name the proxy.
pub(super) fn open(tunnel: &TunnelRequest) -> io::Result<Vec<(&'static str, String)>> {
    let relay = &tunnel.relay;
    for egress in &tunnel.listen {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, egress.port))?;
        let endpoint = egress.to_string();
        spawn_listener(listener, relay.clone(), move |relay, stream| forward_connection(relay, stream, &endpoint));
    }
    let proxy = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = format!("http://{}", proxy.local_addr()?);
    spawn_listener(proxy, relay.clone(), handle_proxy_request);
    let names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    let direct = ["NO_PROXY", "no_proxy"].map(|name| (name, "localhost,127.0.0.1".to_owned()));
    Ok(names.map(|name| (name, address.clone())).into_iter().chain(direct).collect())
}

fn spawn_listener(
    listener: TcpListener,
    relay: PathBuf,
    handle: impl Fn(&Path, TcpStream) -> io::Result<()> + Clone + Send + 'static,
) {
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (relay, handle) = (relay.clone(), handle.clone());
            // If the program has used up its threads, its connection is dropped.
            let _ = thread::Builder::new().spawn(move || handle(&relay, stream));
        }
    });
}

fn forward_connection(relay: &Path, stream: TcpStream, endpoint: &str) -> io::Result<()> {
    match request_connection(relay, endpoint)? {
        Some(relayed) => copy_both_ways(relayed, stream),
        None => Ok(()),
    }
}

/// Handles the first request of a proxy connection: `CONNECT host:port`, or a plain request in absolute form, which
/// servers accept unchanged (RFC 9112 §3.2.2).
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
    let Some((endpoint, is_connect)) = parse_target(&line) else {
        return stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    };
    match request_connection(relay, &endpoint)? {
        Some(relayed) if is_connect => {
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            copy_both_ways(relayed, stream)
        }
        Some(mut relayed) => {
            relayed.write_all(&head)?;
            copy_both_ways(relayed, stream)
        }
        None => stream.write_all(b"HTTP/1.1 403 Not in egress\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
    }
}

/// Parses a request line into the endpoint it addresses and whether it is a `CONNECT`.
fn parse_target(line: &str) -> Option<(String, bool)> {
    let mut words = line.split(' ');
    let (method, address) = (words.next()?, words.next()?);
    if method == "CONNECT" {
        return Some((address.to_owned(), true));
    }
    let rest = address.strip_prefix("http://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let endpoint = Egress::parse(host).map_or_else(|| format!("{host}:80"), |egress| egress.to_string());
    Some((endpoint, false))
}

/// Asks the relay for a connection. Returns `None` if the relay refuses, or cannot connect.
fn request_connection(relay: &Path, endpoint: &str) -> io::Result<Option<UnixStream>> {
    let mut stream = UnixStream::connect(relay)?;
    stream.write_all(format!("{endpoint}\n").as_bytes())?;
    let mut answer = String::new();
    BufReader::with_capacity(1, (&stream).take(16)).read_line(&mut answer)?;
    Ok((answer == "open\n").then_some(stream))
}

#[cfg(test)]
mod tests {
    use super::parse_target;

    #[test]
    fn request_lines_are_parsed_into_endpoints() {
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
            let want = want.map(|(endpoint, is_connect)| (endpoint.to_owned(), is_connect));
            assert_eq!(parse_target(line), want, "{line}");
        }
    }
}
