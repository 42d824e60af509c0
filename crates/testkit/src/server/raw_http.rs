//! A minimal blocking HTTP client, for routes that an adapter must not have and tests that are not async.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use referee_http::Response;
use serde_json::Value;

/// Sends one request on a new connection and reads the response.
pub(super) fn send_request(
    port: u16,
    token: Option<&str>,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> io::Result<Response> {
    let token = token.map(|token| format!("Authorization: token {token}\r\n")).unwrap_or_default();
    let body = body.map(Value::to_string).unwrap_or_default();
    let content_type = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
    exchange(port, method, path, &format!("{token}{content_type}"), &body)
}

/// Sends one request with extra headers, each ending in CRLF.
pub(super) fn exchange(port: u16, method: &str, path: &str, headers: &str, body: &str) -> io::Result<Response> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let length = body.len();
    // No `Connection: close`: a server that refuses the request before reading the body then resets the connection, and
    // the response is lost.
    let head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}");
    stream.write_all(format!("{head}Content-Length: {length}\r\n\r\n{body}").as_bytes())?;
    read_response(&mut BufReader::new(stream))
}

fn read_response(from: &mut impl BufRead) -> io::Result<Response> {
    let status = read_line(from)?;
    let status = status.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
    let mut response = Response { status, headers: Default::default(), body: Vec::new() };
    loop {
        let header = read_line(from)?;
        let Some((name, value)) = header.split_once(':') else { break };
        let values = response.headers.entry(name.to_lowercase()).or_default();
        // Each cookie has its own header line.
        values.push_str(if values.is_empty() { "" } else { "\n" });
        values.push_str(value.trim());
    }
    if response.header("transfer-encoding") == Some("chunked") {
        loop {
            let length = usize::from_str_radix(&read_line(from)?, 16).map_err(|_| io::ErrorKind::InvalidData)?;
            read_bytes(from, length, &mut response.body)?;
            read_line(from)?;
            if length == 0 {
                break;
            }
        }
    } else if let Some(length) = response.header("content-length").and_then(|length| length.parse().ok()) {
        read_bytes(from, length, &mut response.body)?;
    }
    Ok(response)
}

fn read_line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn read_bytes(from: &mut impl BufRead, length: usize, into: &mut Vec<u8>) -> io::Result<()> {
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    into.append(&mut bytes);
    Ok(())
}
