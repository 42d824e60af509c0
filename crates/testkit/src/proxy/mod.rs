//! A fault-injecting proxy on loopback between a client and a server. It logs every request.
//!
//! The proxy runs on its own thread and runtime, so that a test may block. Each connection carries one request; only the
//! `Connection` header is rewritten.

mod fault;
mod relay;
mod state;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::oneshot;

pub use fault::{ProxyFault, RequestMatcher};
pub use state::LoggedRequest;
use state::ProxyState;

/// A proxy in front of one server. It stops when it is dropped.
pub struct Proxy {
    url: String,
    server: SocketAddr,
    state: Arc<ProxyState>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts a proxy in front of a loopback URL such as `http://127.0.0.1:3000`, optionally with a path.
    ///
    /// # Panics
    /// Panics if the URL is not a loopback URL with a port, or if no port is free.
    pub fn in_front_of(url: &str) -> Self {
        let rest = url.strip_prefix("http://").expect("an http:// URL");
        let (server, path) = rest.split_once('/').unwrap_or((rest, ""));
        let server: SocketAddr = server.replace("localhost", "127.0.0.1").parse().expect("an address with a port");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let state = Arc::new(ProxyState::default());
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || relay::run_relay(listener, server, &shared, stopped));
        let url = format!("http://{address}/{path}").trim_end_matches('/').to_owned();
        Self { url, server, state, stop: Some(stop), thread: Some(thread) }
    }

    /// Returns the proxy's URL, with the path of the server's URL and without a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns all requests since the start or the last [`Proxy::forget`], in the order of their responses.
    pub fn log(&self) -> Vec<LoggedRequest> {
        self.state.log()
    }

    /// Counts the reading requests in the log.
    pub fn read_count(&self) -> usize {
        self.log().iter().filter(|request| request.is_read()).count()
    }

    /// Counts the writing requests in the log, failed ones included.
    pub fn write_count(&self) -> usize {
        self.log().iter().filter(|request| !request.is_read()).count()
    }

    /// Clears the log, the pending faults, the pending hooks and the late requests.
    pub fn forget(&self) {
        self.state.forget();
    }

    /// Schedules a fault. Requests are counted from this call on.
    pub fn inject_fault(&self, fault: ProxyFault, when: RequestMatcher) {
        self.state.add_fault(fault, when);
    }

    /// Sends the requests of [`ProxyFault::Late`] to the server now, and returns the statuses that nobody waits for.
    ///
    /// # Panics
    /// Panics if the server cannot be reached.
    pub fn deliver_late_requests(&self) -> Vec<u16> {
        let deliver = |bytes: Vec<u8>| {
            let mut stream = TcpStream::connect(self.server).expect("the server listens");
            stream.write_all(&bytes).expect("the server reads");
            let mut response = Vec::new();
            stream.read_to_end(&mut response).expect("the server responds");
            relay::parse_status(&response).expect("a status")
        };
        self.state.take_late_requests().into_iter().map(deliver).collect()
    }

    /// Runs a hook after the server handled the nth write from now on, before the client receives the response.
    pub fn after_write(&self, nth: usize, hook: impl FnOnce() + Send + 'static) {
        self.state.after_write(nth, Box::new(hook));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // The thread may have stopped already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
