//! The relay of a proxy: one request per connection, forwarded unchanged.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::fault::ProxyFault;
use super::state::{LoggedRequest, ProxyState};

const HEAD_END: &[u8] = b"\r\n\r\n";

/// Accepts connections until `stopped` resolves.
pub(super) fn run_relay(
    listener: std::net::TcpListener,
    server: SocketAddr,
    state: &Arc<ProxyState>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("create a runtime");
    runtime.block_on(async {
        listener.set_nonblocking(true).expect("make the socket non-blocking");
        let listener = TcpListener::from_std(listener).expect("register the listener");
        let accepting = async {
            while let Ok((client, _)) = listener.accept().await {
                let state = Arc::clone(state);
                // A client that disconnected is not an error of the proxy.
                tokio::spawn(async move { serve_connection(client, server, &state).await.unwrap_or_default() });
            }
        };
        tokio::select! {
            () = accepting => {}
            _ = stopped => {}
        }
    });
}

async fn serve_connection(mut client: TcpStream, server: SocketAddr, state: &ProxyState) -> io::Result<()> {
    let Some(request) = RelayedRequest::read(&mut client).await? else { return Ok(()) };
    let fault = state.next_fault(&request.method, &request.path, &String::from_utf8_lossy(&request.body));
    if fault == Some(ProxyFault::Late) {
        return hold_until_client_leaves(client, request, state).await;
    }
    let reaches_server = fault.is_none_or(ProxyFault::reaches_server);
    let response = if reaches_server { forward(&request, server).await.ok() } else { None };
    let reached_server = response.is_some();
    let response = apply_fault(fault, response.unwrap_or_else(unreachable_response));
    let (method, path) = (request.method, request.path);
    state.log_request(LoggedRequest { method, path, status: parse_status(&response), reached_server });
    if let Some(ProxyFault::Slow(time)) = fault {
        tokio::time::sleep(time).await;
    }
    client.write_all(&response).await?;
    client.shutdown().await
}

/// Waits until the client closes the connection, and keeps the request for a later delivery.
async fn hold_until_client_leaves(
    mut client: TcpStream,
    request: RelayedRequest,
    state: &ProxyState,
) -> io::Result<()> {
    state.hold_request();
    let mut rest = Vec::new();
    // A client that resets the connection left too.
    let _ = client.read_to_end(&mut rest).await;
    let (method, path) = (request.method.clone(), request.path.clone());
    state.keep_late_request(request.to_closing_bytes());
    state.log_request(LoggedRequest { method, path, status: None, reached_server: false });
    Ok(())
}

struct RelayedRequest {
    method: String,
    path: String,
    head: String,
    body: Vec<u8>,
}

impl RelayedRequest {
    /// Reads one request; `None` if the client disconnects before the request is complete.
    async fn read(client: &mut TcpStream) -> io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        loop {
            if let Some(request) = Self::parse(&bytes) {
                return Ok(Some(request));
            }
            if client.read_buf(&mut bytes).await? == 0 {
                return Ok(None);
            }
        }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (head, body) = split_head_body(bytes)?;
        let head = String::from_utf8_lossy(head).into_owned();
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            if name.eq_ignore_ascii_case("content-length") { value.trim().parse().ok() } else { None }
        });
        let mut request_line = head.lines().next()?.split(' ').map(str::to_owned);
        let (method, path) = (request_line.next()?, request_line.next()?);
        (body.len() >= length.unwrap_or(0)).then(|| Self { method, path, head, body: body.to_vec() })
    }

    /// Serialises the request with `Connection: close`.
    fn to_closing_bytes(&self) -> Vec<u8> {
        let keeps = |line: &&str| !line.to_ascii_lowercase().starts_with("connection:");
        let lines: Vec<&str> = self.head.lines().filter(keeps).chain(["connection: close"]).collect();
        [lines.join("\r\n").as_bytes(), HEAD_END, &self.body].concat()
    }
}

async fn forward(request: &RelayedRequest, server: SocketAddr) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server).await?;
    stream.write_all(&request.to_closing_bytes()).await?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await?;
    Ok(response)
}

/// Returns the bytes sent to the client; empty for a connection that is closed without a response.
fn apply_fault(fault: Option<ProxyFault>, response: Vec<u8>) -> Vec<u8> {
    let Some(fault) = fault else { return response };
    match fault {
        ProxyFault::DropBefore | ProxyFault::DropAfter | ProxyFault::Late => Vec::new(),
        ProxyFault::Error | ProxyFault::ErrorAfter => {
            build_response("500 Internal Server Error", "", r#"{"message":"broken on purpose"}"#)
        }
        ProxyFault::Gateway => {
            let page = "<html><body><h1>502 Bad Gateway</h1></body></html>";
            build_response("502 Bad Gateway", "content-type: text/html\r\n", page)
        }
        ProxyFault::RateLimited(seconds) => {
            build_response("429 Too Many Requests", &format!("retry-after: {seconds}\r\n"), "too many requests")
        }
        ProxyFault::Refused(status) => {
            build_response(&format!("{status} Refused"), "", r#"{"message":"refused on purpose"}"#)
        }
        ProxyFault::WrongJson => {
            let status = String::from_utf8_lossy(&response)
                .lines()
                .next()
                .and_then(|line| Some(line.split_once(' ')?.1.to_owned()));
            build_response(status.as_deref().unwrap_or("200 OK"), "content-type: application/json\r\n", "{\"id\": ]")
        }
        ProxyFault::NullList => build_response("200 OK", "content-type: application/json\r\n", "null"),
        ProxyFault::Truncated => {
            let body_length = split_head_body(&response).map_or(0, |(_, body)| body.len());
            response[..response.len() - body_length.div_ceil(2)].to_vec()
        }
        ProxyFault::Slow(_) => response,
    }
}

fn unreachable_response() -> Vec<u8> {
    build_response("502 Bad Gateway", "", "the server behind the proxy is unreachable")
}

fn build_response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

fn split_head_body(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.windows(HEAD_END.len()).position(|window| window == HEAD_END)?;
    Some((&bytes[..end], &bytes[end + HEAD_END.len()..]))
}

pub(super) fn parse_status(response: &[u8]) -> Option<u16> {
    std::str::from_utf8(response.get(9..12)?).ok()?.parse().ok()
}
