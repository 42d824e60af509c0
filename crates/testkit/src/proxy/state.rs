//! What a proxy saw and what it was told.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fault::{Fault, When};

/// A request that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its method.
    pub method: String,
    /// Its path and query.
    pub path: String,
    /// What its sender was told; nothing if the connection was closed.
    pub status: Option<u16>,
    /// Whether the server saw it.
    pub passed: bool,
}

impl Seen {
    /// Whether it only reads. Git asks for objects by a POST.
    pub fn reads(&self) -> bool {
        reads(&self.method, &self.path)
    }
}

pub(super) fn reads(method: &str, path: &str) -> bool {
    matches!(method, "GET" | "HEAD") || path.ends_with("/git-upload-pack")
}

type Hook = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(super) struct State {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    log: Vec<Seen>,
    faults: Vec<(Fault, When)>,
    hooks: Vec<(usize, Hook)>,
}

impl State {
    pub(super) fn log(&self) -> Vec<Seen> {
        self.lock().log.clone()
    }

    pub(super) fn forget(&self) {
        *self.lock() = Inner::default();
    }

    pub(super) fn fault(&self, fault: Fault, when: When) {
        self.lock().faults.push((fault, when));
    }

    pub(super) fn after_write(&self, nth: usize, hook: Hook) {
        self.lock().hooks.push((nth, hook));
    }

    /// What happens to a request that comes now: every fault counts it, the first that strikes wins.
    pub(super) fn strike(&self, method: &str, path: &str) -> Option<Fault> {
        let mut inner = self.lock();
        let strikes = inner
            .faults
            .iter_mut()
            .filter_map(|(fault, when)| when.strikes(reads(method, path), path).then_some(*fault));
        strikes.collect::<Vec<_>>().first().copied()
    }

    /// Writes a request down before its sender gets to know.
    pub(super) fn saw(&self, seen: Seen) {
        let wrote = seen.passed && !seen.reads();
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

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
