//! A scripted server on loopback. It can also break the protocol.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use referee_http::{Client, ClientLimits, ClientOptions, Route, Token};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// The client's token, which must not appear in any output.
pub(crate) const SECRET: &str = "s3cr3t-t0ken";

pub(crate) struct Server {
    pub(crate) url: Url,
    requests: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone)]
pub(crate) enum Reply {
    /// Sends these bytes and closes the connection. An empty string is a broken connection.
    Raw(String),
    /// Never answers and keeps the connection open.
    Silence,
}

impl Reply {
    pub(crate) fn new(status: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        Self::Raw(format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"))
    }

    pub(crate) fn ok(body: &str) -> Self {
        Self::new("200 OK", "", body)
    }

    pub(crate) fn broken() -> Self {
        Self::Raw(String::new())
    }
}

impl Server {
    /// Answers each request with the next reply, and repeats the last one.
    pub(crate) async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/api/v1", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        let mut replies: VecDeque<Reply> = replies.into_iter().collect();
        tokio::spawn(async move {
            let mut silent = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let request = read_request(&mut stream).await;
                log.lock().expect("the log").push(request);
                let reply = if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() };
                match reply.expect("a reply") {
                    Reply::Raw(text) => stream.write_all(text.as_bytes()).await.unwrap_or_default(),
                    Reply::Silence => silent.push(stream),
                }
            }
        });
        Self { url: Url::parse(&url).expect("an address"), requests }
    }

    /// Returns every request received so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("the log").clone()
    }

    /// Returns the request line of each request, without the protocol version.
    pub(crate) fn request_lines(&self) -> Vec<String> {
        let line = |text: &String| text.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
        self.requests().iter().map(line).collect()
    }

    pub(crate) fn options(&self, routes: &'static [Route]) -> ClientOptions {
        client_options(self.url.clone(), routes)
    }

    pub(crate) fn client(&self, routes: &'static [Route]) -> Client {
        Client::new(self.options(routes)).expect("a client")
    }
}

/// Returns the default options with short backoffs.
pub(crate) fn client_options(base: Url, routes: &'static [Route]) -> ClientOptions {
    let defaults = ClientOptions::new(base, Some(Token::new(SECRET)), routes);
    let limits = ClientLimits { max_attempts: 3, initial_backoff: Duration::from_millis(1), ..defaults.limits };
    ClientOptions { limits, ..defaults }
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap_or_default();
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        let head = text.split_once("\r\n\r\n");
        let length = |head: &str| head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        // A TLS ClientHello (0x16) is never complete as HTTP.
        if count == 0
            || text.starts_with('\u{16}')
            || head.is_some_and(|(head, body)| body.len() >= length(head).unwrap_or(0))
        {
            return text;
        }
    }
}
