use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Reads a session.
pub fn load(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path)
}

/// Writes a session.
pub fn save(path: &Path, session: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    let _ = file.write_all(session.as_bytes());
    Ok(())
}
