//! Probes of the network.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixStream};
use std::time::Duration;

use super::table::expect_empty;
use super::{ProbeFacts, ProbeResult};
use crate::bubblewrap::RELAY_SOCKET_PATH;

/// A server that does not answer within this time counts as unreachable.
const REPLY_TIMEOUT: Duration = Duration::from_secs(2);

/// An address of TEST-NET-1 (RFC 5737), which belongs to nobody.
const TEST_NET_ADDRESS: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 1), 443);

pub(super) fn interfaces(_: &ProbeFacts) -> ProbeResult {
    let text = fs::read_to_string("/proc/net/dev").map_err(|error| error.to_string())?;
    let names = text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned()));
    // Some kernels create these tunnel devices in every namespace. They have no route, which the probe `routes` checks.
    let harmless = ["lo", "sit0", "tunl0", "ip6tnl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "ip6gre0"];
    expect_empty(&names.filter(|name| !harmless.contains(&name.as_str())).collect::<Vec<_>>(), "only its own loopback")
}

pub(super) fn routes(_: &ProbeFacts) -> ProbeResult {
    let text = fs::read_to_string("/proc/net/route").map_err(|error| error.to_string())?;
    expect_empty(&text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>(), "none")
}

/// Returns an error if packets could leave the machine: then the probe must not send any.
fn require_isolated_network(facts: &ProbeFacts) -> Result<(), String> {
    routes(facts).and(interfaces(facts)).map(drop).map_err(|_| "not tried: the network is not isolated".to_owned())
}

pub(super) fn metadata(facts: &ProbeFacts) -> ProbeResult {
    require_isolated_network(facts)?;
    expect_no_connection((Ipv4Addr::new(169, 254, 169, 254), 80).into())
}

pub(super) fn tcp_out(facts: &ProbeFacts) -> ProbeResult {
    require_isolated_network(facts)?;
    expect_no_connection(TEST_NET_ADDRESS.into())
}

pub(super) fn udp_out(facts: &ProbeFacts) -> ProbeResult {
    require_isolated_network(facts)?;
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(|error| error.to_string())?;
    match socket.send_to(b"probe", TEST_NET_ADDRESS) {
        Ok(_) => Err("the packet was sent".to_owned()),
        Err(error) => Ok(error.to_string()),
    }
}

pub(super) fn dns(facts: &ProbeFacts) -> ProbeResult {
    require_isolated_network(facts)?;
    match ("example.org", 443).to_socket_addrs() {
        Ok(_) => Err("it was answered".to_owned()),
        Err(error) => Ok(error.to_string()),
    }
}

pub(super) fn tcp_local(facts: &ProbeFacts) -> ProbeResult {
    expect_no_connection((Ipv4Addr::LOCALHOST, facts.unlisted_tcp_port).into())
}

pub(super) fn udp_local(facts: &ProbeFacts) -> ProbeResult {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
    let connected = socket
        .set_read_timeout(Some(REPLY_TIMEOUT))
        .and_then(|()| socket.connect((Ipv4Addr::LOCALHOST, facts.udp_port)));
    connected.and_then(|()| socket.send(b"probe")).map_err(|error| format!("not tried: {error}"))?;
    match socket.recv(&mut [0; 16]) {
        Ok(_) => Err("it was answered".to_owned()),
        Err(error) => Ok(error.to_string()),
    }
}

pub(super) fn abstract_socket(facts: &ProbeFacts) -> ProbeResult {
    let address = UnixAddr::from_abstract_name(&facts.abstract_name).map_err(|error| error.to_string())?;
    match UnixStream::connect_addr(&address) {
        Ok(_) => Err("it was answered".to_owned()),
        Err(error) => Ok(error.to_string()),
    }
}

pub(super) fn relay_listed(facts: &ProbeFacts) -> ProbeResult {
    let answer = TcpStream::connect((Ipv4Addr::LOCALHOST, facts.listed_tcp_port)).and_then(|mut stream| {
        stream.set_read_timeout(Some(REPLY_TIMEOUT * 5))?;
        let mut text = String::new();
        stream.read_to_string(&mut text).map(|_| text)
    });
    match answer {
        Ok(text) if text == "listed" => Ok("it answered".to_owned()),
        Ok(text) => Err(format!("it answered `{}`", text.escape_default())),
        Err(error) => Err(format!("it cannot be reached: {error}")),
    }
}

pub(super) fn relay_other_port(facts: &ProbeFacts) -> ProbeResult {
    expect_relay_refusal(&format!("127.0.0.1:{}", facts.unlisted_tcp_port))
}

pub(super) fn relay_other_name(facts: &ProbeFacts) -> ProbeResult {
    expect_relay_refusal(&format!("localhost:{}", facts.listed_tcp_port))?;
    expect_relay_refusal(&format!("127.1:{}", facts.listed_tcp_port))
}

pub(super) fn relay_outside(_: &ProbeFacts) -> ProbeResult {
    expect_relay_refusal("169.254.169.254:80")?;
    expect_relay_refusal("192.0.2.1:443")
}

pub(super) fn proxy_outside(_: &ProbeFacts) -> ProbeResult {
    let proxy = std::env::var("HTTPS_PROXY").map_err(|error| format!("not tried: {error}"))?;
    let mut status_line = String::new();
    let asked = TcpStream::connect(proxy.trim_start_matches("http://")).and_then(|mut stream| {
        stream.set_read_timeout(Some(REPLY_TIMEOUT * 5))?;
        stream.write_all(b"CONNECT forge.example:443 HTTP/1.1\r\n\r\n")?;
        BufReader::new(stream).read_line(&mut status_line)
    });
    match asked {
        Ok(_) if status_line.starts_with("HTTP/1.1 403") => Ok(status_line.trim_end().to_owned()),
        Ok(_) => Err(status_line.trim_end().to_owned()),
        Err(error) => Err(format!("not tried: {error}")),
    }
}

fn expect_no_connection(address: SocketAddr) -> ProbeResult {
    match TcpStream::connect_timeout(&address, REPLY_TIMEOUT) {
        Ok(_) => Err("it was answered".to_owned()),
        Err(error) => Ok(error.to_string()),
    }
}

/// Asks the relay directly, without the tunnel.
fn expect_relay_refusal(endpoint: &str) -> ProbeResult {
    let mut answer = String::new();
    let asked = UnixStream::connect(RELAY_SOCKET_PATH).and_then(|mut stream| {
        stream.set_read_timeout(Some(REPLY_TIMEOUT * 5))?;
        stream.write_all(format!("{endpoint}\n").as_bytes())?;
        BufReader::new(stream).read_line(&mut answer)
    });
    match asked {
        Ok(_) if answer == "refused\n" => Ok("refused".to_owned()),
        Ok(_) => Err(format!("`{endpoint}`: {}", answer.trim_end())),
        Err(error) => Err(format!("not tried: {error}")),
    }
}
