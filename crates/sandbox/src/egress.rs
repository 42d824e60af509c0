//! Endpoints that a sandboxed program may connect to.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// One host and port, matched exactly.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Egress {
    /// A lower-case name or an address, IPv6 without brackets.
    pub host: String,
    pub port: u16,
}

impl Egress {
    /// Parses `host:port`, with an IPv6 address in brackets.
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok().filter(|port| *port != 0)?;
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match inner {
            Some(inner) => inner.parse::<std::net::Ipv6Addr>().ok()?.to_string(),
            None => host.to_ascii_lowercase(),
        };
        let is_host_char = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let is_valid = inner.is_some() || (!host.is_empty() && host.len() < 254 && host.chars().all(is_host_char));
        is_valid.then_some(Self { host, port })
    }

    /// Returns whether the endpoint is on this machine. Such a port also listens inside the sandbox, so that the address
    /// works unchanged.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

impl fmt::Display for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Egress;

    #[test]
    fn only_host_and_port_is_parsed() {
        for text in ["127.0.0.1:8080", "api.example.org:443", "[::1]:80", "localhost:1"] {
            assert_eq!(Egress::parse(text).expect(text).to_string(), text);
        }
        assert_eq!(Egress::parse("API.Example.org:443"), Egress::parse("api.example.org:443"));
        for text in
            ["", "*", "host", ":1", "host:", "host:0", "host:70000", "a b:1", "::1:80", "https://a.org", "a/b:1"]
        {
            assert_eq!(Egress::parse(text), None, "{text}");
        }
    }

    #[test]
    fn loopback_addresses_and_localhost_are_on_this_machine() {
        for (text, want) in [
            ("127.0.0.1:1", true),
            ("127.8.8.8:1", true),
            ("[::1]:1", true),
            ("localhost:1", true),
            ("10.0.0.1:1", false),
            ("localhost.org:1", false),
        ] {
            assert_eq!(Egress::parse(text).expect(text).is_loopback(), want, "{text}");
        }
    }
}
