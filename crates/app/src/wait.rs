//! Waiting for a forge: one runtime for the whole run, so that its connections live as long as the run does.

use std::future::Future;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

use crate::failure::Failure;

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

/// Waits. The local forge answers at once; others wait for their sockets here.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = match RUNTIME.get() {
        Some(runtime) => runtime,
        None => {
            let made = Builder::new_current_thread().enable_all().build();
            let made = made.map_err(|error| Failure::failed(format!("nothing can be waited for: {error}")))?;
            RUNTIME.get_or_init(|| made)
        }
    };
    Ok(runtime.block_on(future))
}
