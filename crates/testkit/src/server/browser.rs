//! A browser session, for actions that the API has no route for.

use std::collections::BTreeMap;
use std::io;

use referee_http::Response;

use super::accounts::PASSWORD;
use super::raw_http::exchange;

/// A signed-in session.
pub(super) struct BrowserSession {
    port: u16,
    cookies: BTreeMap<String, String>,
}

impl BrowserSession {
    pub(super) fn sign_in(port: u16, login: &str) -> io::Result<Self> {
        let mut session = Self { port, cookies: BTreeMap::new() };
        let login_page = exchange(port, "GET", "/user/login", "", "")?;
        session.store_cookies(&login_page);
        session.submit_form("/user/login", &[("user_name", login), ("password", PASSWORD)])?;
        // The next page sets the CSRF cookie that forms must carry.
        let page = exchange(port, "GET", "/user/settings", &session.request_headers(), "")?;
        session.store_cookies(&page);
        Ok(session)
    }

    /// Submits a form.
    pub(super) fn submit_form(&mut self, path: &str, fields: &[(&str, &str)]) -> io::Result<Response> {
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", form_encode(value))).collect();
        let content_type = "Content-Type: application/x-www-form-urlencoded\r\n";
        let response =
            exchange(self.port, "POST", path, &format!("{}{content_type}", self.request_headers()), &fields.join("&"))?;
        self.store_cookies(&response);
        Ok(response)
    }

    fn request_headers(&self) -> String {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        // Forgejo requires the CSRF field; Gitea dropped it.
        let token = self.cookies.get("_csrf").map(|token| format!("X-Csrf-Token: {}\r\n", decode_cookie(token)));
        format!("Cookie: {}\r\n{}", cookies.join("; "), token.unwrap_or_default())
    }

    fn store_cookies(&mut self, response: &Response) {
        let set_cookies = response.header("set-cookie").unwrap_or_default().lines();
        let pairs = set_cookies.filter_map(|line| line.split(';').next()?.split_once('='));
        self.cookies.extend(pairs.map(|(name, value)| (name.trim().to_owned(), value.to_owned())));
    }
}

fn form_encode(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

fn decode_cookie(text: &str) -> String {
    text.replace("%3A", ":").replace("%2F", "/").replace("%3D", "=").replace("%2B", "+")
}
