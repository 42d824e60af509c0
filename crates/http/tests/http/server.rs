//! A server on loopback that answers as it is told, also wrongly.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use referee_http::{Client, ClientLimits, ClientOptions, Route, Token};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// A secret that must show up nowhere.
pub(crate) const SECRET: &str = "s3cr3t-t0ken";

pub(crate) struct Server {
    pub(crate) url: Url,
    seen: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone)]
pub(crate) enum Reply {
    /// These bytes, and the connection is closed. None is a connection that breaks.
    Raw(String),
    /// Nothing, for ever.
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
    /// Answers each request with the next reply; the last one stays.
    pub(crate) async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/api/v1", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let mut replies: VecDeque<Reply> = replies.into_iter().collect();
        tokio::spawn(async move {
            let mut silent = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let request = request(&mut stream).await;
                log.lock().expect("the log").push(request);
                let reply = if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() };
                match reply.expect("a reply") {
                    Reply::Raw(text) => stream.write_all(text.as_bytes()).await.unwrap_or_default(),
                    Reply::Silence => silent.push(stream),
                }
            }
        });
        Self { url: Url::parse(&url).expect("an address"), seen }
    }

    /// What came, head and body, in order.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("the log").clone()
    }

    /// The first line of each request, without the protocol.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |it: &String| it.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
        self.seen().iter().map(line).collect()
    }

    pub(crate) fn reach(&self, routes: &'static [Route]) -> ClientOptions {
        reach(self.url.clone(), routes)
    }

    pub(crate) fn client(&self, routes: &'static [Route]) -> Client {
        Client::new(self.reach(routes)).expect("a client")
    }
}

/// As usual, but without long waits.
pub(crate) fn reach(base: Url, routes: &'static [Route]) -> ClientOptions {
    let usual = ClientOptions::new(base, Some(Token::new(SECRET)), routes);
    let limits = ClientLimits { max_attempts: 3, initial_backoff: Duration::from_millis(1), ..usual.limits };
    ClientOptions { limits, ..usual }
}

async fn request(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap_or_default();
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        let head = text.split_once("\r\n\r\n");
        let length = |head: &str| head.lines().find_map(|it| it.strip_prefix("content-length: ")?.parse().ok());
        // A greeting in TLS has no end that this server knows.
        if count == 0
            || text.starts_with('\u{16}')
            || head.is_some_and(|(head, body)| body.len() >= length(head).unwrap_or(0))
        {
            return text;
        }
    }
}
