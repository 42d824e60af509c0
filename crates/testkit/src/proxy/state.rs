//! The log, the faults and the hooks of a proxy.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::fault::{ProxyFault, RequestMatcher};

/// A request that passed through the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedRequest {
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The status sent to the client; `None` if the connection was closed without a response.
    pub status: Option<u16>,
    /// Whether the server received the request.
    pub reached_server: bool,
}

impl LoggedRequest {
    /// Returns whether the request only reads. Git fetches objects with a POST to `git-upload-pack`.
    pub fn is_read(&self) -> bool {
        is_read_request(&self.method, &self.path)
    }
}

pub(super) fn is_read_request(method: &str, path: &str) -> bool {
    matches!(method, "GET" | "HEAD") || path.ends_with("/git-upload-pack")
}

type AfterWriteHook = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(super) struct ProxyState {
    inner: Mutex<ProxyInner>,
    /// Signals that a client of a held request left.
    client_left: Condvar,
}

#[derive(Default)]
struct ProxyInner {
    log: Vec<LoggedRequest>,
    faults: Vec<(ProxyFault, RequestMatcher)>,
    hooks: Vec<(usize, AfterWriteHook)>,
    /// Requests whose client still waits.
    held_count: usize,
    late_requests: Vec<Vec<u8>>,
}

impl ProxyState {
    pub(super) fn log(&self) -> Vec<LoggedRequest> {
        self.lock().log.clone()
    }

    pub(super) fn forget(&self) {
        *self.lock() = ProxyInner::default();
    }

    pub(super) fn add_fault(&self, fault: ProxyFault, when: RequestMatcher) {
        self.lock().faults.push((fault, when));
    }

    pub(super) fn hold_request(&self) {
        self.lock().held_count += 1;
    }

    /// Keeps a held request whose client left.
    pub(super) fn keep_late_request(&self, bytes: Vec<u8>) {
        let mut inner = self.lock();
        inner.held_count = inner.held_count.saturating_sub(1);
        inner.late_requests.push(bytes);
        self.client_left.notify_all();
    }

    /// Returns the late requests as soon as no client waits for one.
    pub(super) fn take_late_requests(&self) -> Vec<Vec<u8>> {
        let waits = |inner: &mut ProxyInner| inner.held_count > 0;
        let mut inner = self.client_left.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut inner.late_requests)
    }

    pub(super) fn after_write(&self, nth: usize, hook: AfterWriteHook) {
        self.lock().hooks.push((nth, hook));
    }

    /// Returns the fault for an incoming request. Every fault counts the request; the first one that matches applies.
    pub(super) fn next_fault(&self, method: &str, path: &str, body: &str) -> Option<ProxyFault> {
        let mut inner = self.lock();
        let matched = inner
            .faults
            .iter_mut()
            .filter_map(|(fault, when)| when.matches_next(is_read_request(method, path), path, body).then_some(*fault));
        matched.collect::<Vec<_>>().first().copied()
    }

    /// Logs a request before its response is sent, and runs the hooks that are due.
    pub(super) fn log_request(&self, request: LoggedRequest) {
        let wrote = request.reached_server && !request.is_read();
        let mut inner = self.lock();
        inner.log.push(request);
        let mut due = Vec::new();
        if wrote {
            for (nth, hook) in std::mem::take(&mut inner.hooks) {
                if nth <= 1 {
                    due.push(hook);
                } else {
                    inner.hooks.push((nth - 1, hook));
                }
            }
        }
        // Unlocked first: a hook may call the proxy.
        drop(inner);
        for hook in due {
            hook();
        }
    }

    fn lock(&self) -> MutexGuard<'_, ProxyInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
