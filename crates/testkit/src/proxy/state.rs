//! What a proxy saw and what it was told.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fault::{ProxyFault, RequestMatcher};

/// A request that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedRequest {
    /// Its method.
    pub method: String,
    /// Its path and query.
    pub path: String,
    /// What its sender was told; nothing if the connection was closed.
    pub status: Option<u16>,
    /// Whether the server saw it.
    pub reached_server: bool,
}

impl LoggedRequest {
    /// Whether it only reads. Git asks for objects by a POST.
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
}

#[derive(Default)]
struct ProxyInner {
    log: Vec<LoggedRequest>,
    faults: Vec<(ProxyFault, RequestMatcher)>,
    hooks: Vec<(usize, AfterWriteHook)>,
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

    pub(super) fn after_write(&self, nth: usize, hook: AfterWriteHook) {
        self.lock().hooks.push((nth, hook));
    }

    /// What happens to a request that comes now: every fault counts it, the first that strikes wins.
    pub(super) fn next_fault(&self, method: &str, path: &str) -> Option<ProxyFault> {
        let mut inner = self.lock();
        let strikes = inner
            .faults
            .iter_mut()
            .filter_map(|(fault, when)| when.matches_next(is_read_request(method, path), path).then_some(*fault));
        strikes.collect::<Vec<_>>().first().copied()
    }

    /// Writes a request down before its sender gets to know.
    pub(super) fn log_request(&self, seen: LoggedRequest) {
        let wrote = seen.reached_server && !seen.is_read();
        let mut inner = self.lock();
        inner.log.push(seen);
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
        // A hook may ask the proxy.
        drop(inner);
        for hook in due {
            hook();
        }
    }

    fn lock(&self) -> MutexGuard<'_, ProxyInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
