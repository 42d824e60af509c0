//! Where an adapter may leave what it read, so that the next reading can be shorter.

use std::fmt;

/// Where an adapter may leave what it read, by name. All of it may be lost at any time: that costs requests only.
pub trait Shelf: fmt::Debug + Send + Sync {
    /// What was kept under that name.
    fn load(&self, key: &str) -> Option<String>;

    /// Keeps it under that name, in place of what was there.
    fn keep(&self, key: &str, value: &str);
}
