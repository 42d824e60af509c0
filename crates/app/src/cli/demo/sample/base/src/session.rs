use std::io;
use std::path::Path;

/// Reads a session.
pub fn load(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path)
}
