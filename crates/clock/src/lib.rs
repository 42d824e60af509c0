//! The system clock. It is a crate of its own so that the feature `test-clock` exists in test builds only: Cargo ignores
//! the features of dev-dependencies in every other build.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current time in seconds since the Unix epoch.
///
/// With the feature `test-clock`, the environment variable `REFEREE_TEST_NOW` replaces it: pauses between retries last
/// minutes, and tests of the whole program cannot wait that long.
pub fn unix_seconds() -> i64 {
    #[cfg(feature = "test-clock")]
    if let Some(seconds) = std::env::var("REFEREE_TEST_NOW").ok().and_then(|seconds| seconds.parse().ok()) {
        return seconds;
    }
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX)
}
