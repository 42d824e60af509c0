//! What people do with a browser, where the interface has no route for it.

use std::collections::BTreeMap;
use std::io;

use referee_http::Response;

use super::accounts::PASSWORD;
use super::raw_http::exchange;

/// Somebody who is signed in.
pub(super) struct BrowserSession {
    port: u16,
    cookies: BTreeMap<String, String>,
}

impl BrowserSession {
    /// Signs in.
    pub(super) fn sign_in(port: u16, login: &str) -> io::Result<Self> {
        let mut session = Self { port, cookies: BTreeMap::new() };
        let form = exchange(port, "GET", "/user/login", "", "")?;
        session.store_cookies(&form);
        session.submit_form("/user/login", &[("user_name", login), ("password", PASSWORD)])?;
        // The page after it brings what forms must carry.
        let page = exchange(port, "GET", "/user/settings", &session.request_headers(), "")?;
        session.store_cookies(&page);
        Ok(session)
    }

    /// Sends a form.
    pub(super) fn submit_form(&mut self, path: &str, fields: &[(&str, &str)]) -> io::Result<Response> {
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", form_encode(value))).collect();
        let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
        let answer =
            exchange(self.port, "POST", path, &format!("{}{kind}", self.request_headers()), &fields.join("&"))?;
        self.store_cookies(&answer);
        Ok(answer)
    }

    fn request_headers(&self) -> String {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        // Forgejo wants it, Gitea has none any more.
        let token = self.cookies.get("_csrf").map(|token| format!("X-Csrf-Token: {}\r\n", decode_cookie(token)));
        format!("Cookie: {}\r\n{}", cookies.join("; "), token.unwrap_or_default())
    }

    fn store_cookies(&mut self, answer: &Response) {
        let set = answer.header("set-cookie").unwrap_or_default().lines();
        let pairs = set.filter_map(|line| line.split(';').next()?.split_once('='));
        self.cookies.extend(pairs.map(|(name, value)| (name.trim().to_owned(), value.to_owned())));
    }
}

fn form_encode(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn decode_cookie(text: &str) -> String {
    text.replace("%3A", ":").replace("%2F", "/").replace("%3D", "=").replace("%2B", "+")
}
