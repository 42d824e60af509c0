//! What a worker may reach.

use std::fmt;
use std::net::IpAddr;

/// One host at one port, exactly.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Egress {
    /// A name or an address, lower case, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Egress {
    /// `host:port`; an IPv6 address stands in brackets.
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok().filter(|port| *port != 0)?;
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match inner {
            Some(inner) => inner.parse::<std::net::Ipv6Addr>().ok()?.to_string(),
            None => host.to_ascii_lowercase(),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let fits = inner.is_some() || (!host.is_empty() && host.len() < 254 && host.chars().all(plain));
        fits.then_some(Self { host, port })
    }

    /// Whether it is on this machine. Inside, the same port then listens, so that addresses need no change.
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
    fn a_host_and_a_port_or_nothing() {
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
    fn this_machine_has_three_names() {
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
