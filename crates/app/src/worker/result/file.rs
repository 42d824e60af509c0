//! Reads a file from an untrusted folder: only regular files up to a size limit, without following links.

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub(super) fn read_regular_file(path: &Path, max_bytes: u64) -> Result<Vec<u8>, String> {
    let file = open(path)?;
    let metadata = file.metadata().map_err(|error| format!("its result cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err("its result is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(max_bytes + 1).read_to_end(&mut bytes).map_err(|error| format!("its result cannot be read: {error}"))?;
    if bytes.len() as u64 > max_bytes {
        return Err(format!("its result is larger than {} kB", max_bytes >> 10));
    }
    Ok(bytes)
}

/// `NOFOLLOW` refuses a link, and `NONBLOCK` keeps a FIFO without a writer from blocking.
#[cfg(target_os = "linux")]
fn open(path: &Path) -> Result<File, String> {
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;

    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => Ok(file.into()),
        Err(Errno::NOENT) => Err("it left no result".to_owned()),
        Err(Errno::LOOP) => Err("its result is not a regular file".to_owned()),
        Err(error) => Err(format!("its result cannot be read: {error}")),
    }
}

#[cfg(not(target_os = "linux"))]
fn open(_path: &Path) -> Result<File, String> {
    Err("its result is not read: workers run on Linux only".to_owned())
}
