//! What people do with a browser, where the interface has no route for it.

use std::collections::BTreeMap;
use std::io;

use referee_http::Answer;

use super::people::PASSWORD;
use super::wire::exchange;

/// Somebody who is signed in.
pub(super) struct Session {
    port: u16,
    cookies: BTreeMap<String, String>,
}

impl Session {
    /// Signs in.
    pub(super) fn of(port: u16, login: &str) -> io::Result<Self> {
        let mut session = Self { port, cookies: BTreeMap::new() };
        let form = exchange(port, "GET", "/user/login", "", "")?;
        session.remember(&form);
        session.post("/user/login", &[("user_name", login), ("password", PASSWORD)])?;
        // The page after it brings what forms must carry.
        let page = exchange(port, "GET", "/user/settings", &session.headers(), "")?;
        session.remember(&page);
        Ok(session)
    }

    /// Sends a form.
    pub(super) fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> io::Result<Answer> {
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
        let answer = exchange(self.port, "POST", path, &format!("{}{kind}", self.headers()), &fields.join("&"))?;
        self.remember(&answer);
        Ok(answer)
    }

    fn headers(&self) -> String {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        // Forgejo wants it, Gitea has none any more.
        let token = self.cookies.get("_csrf").map(|token| format!("X-Csrf-Token: {}\r\n", decoded(token)));
        format!("Cookie: {}\r\n{}", cookies.join("; "), token.unwrap_or_default())
    }

    fn remember(&mut self, answer: &Answer) {
        let set = answer.header("set-cookie").unwrap_or_default().lines();
        let pairs = set.filter_map(|line| line.split(';').next()?.split_once('='));
        self.cookies.extend(pairs.map(|(name, value)| (name.trim().to_owned(), value.to_owned())));
    }
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn decoded(text: &str) -> String {
    text.replace("%3A", ":").replace("%2F", "/").replace("%3D", "=").replace("%2B", "+")
}
