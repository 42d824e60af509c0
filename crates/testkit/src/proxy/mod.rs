//! A proxy on loopback between a client and a real server: it writes down what passes, and breaks what it is told to.
//!
//! It has a thread and a runtime of its own, so that a test may block. Each connection carries one request, and nothing
//! is rewritten but that.

mod fault;
mod relay;
mod state;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::oneshot;

pub use fault::{ProxyFault, RequestMatcher};
pub use state::LoggedRequest;
use state::ProxyState;

/// A proxy in front of one server. It ends when it is dropped.
pub struct Proxy {
    url: String,
    state: Arc<ProxyState>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// A proxy in front of an address on this machine: `http://127.0.0.1:3000`, or with a path below which all is.
    ///
    /// # Panics
    /// If that is no such address, or if there is no free port.
    pub fn in_front_of(url: &str) -> Self {
        let rest = url.strip_prefix("http://").expect("a plain address");
        let (server, path) = rest.split_once('/').unwrap_or((rest, ""));
        let server: SocketAddr = server.replace("localhost", "127.0.0.1").parse().expect("an address with a port");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let here = listener.local_addr().expect("an own address");
        let state = Arc::new(ProxyState::default());
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || relay::run_relay(listener, server, &shared, stopped));
        let url = format!("http://{here}/{path}").trim_end_matches('/').to_owned();
        Self { url, state, stop: Some(stop), thread: Some(thread) }
    }

    /// Where it listens, with the path of what is behind it and without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// All that came since the beginning or the last [`Proxy::forget`], in the order in which it was answered.
    pub fn log(&self) -> Vec<LoggedRequest> {
        self.state.log()
    }

    /// How many of those read.
    pub fn read_count(&self) -> usize {
        self.log().iter().filter(|seen| seen.is_read()).count()
    }

    /// How many of those write, whatever became of them.
    pub fn write_count(&self) -> usize {
        self.log().iter().filter(|seen| !seen.is_read()).count()
    }

    /// Forgets what came, the faults that did not happen yet, and what should be done after a write.
    pub fn forget(&self) {
        self.state.forget();
    }

    /// Breaks a request. Requests are counted from now on.
    pub fn inject_fault(&self, fault: ProxyFault, when: RequestMatcher) {
        self.state.add_fault(fault, when);
    }

    /// Does something when the nth write from now on was done by the server and its sender does not know yet.
    pub fn after_write(&self, nth: usize, hook: impl FnOnce() + Send + 'static) {
        self.state.after_write(nth, Box::new(hook));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Whoever stopped already is as good as stopped.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
