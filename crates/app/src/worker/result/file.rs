//! Opening a file that somebody else may have made: what is there is a plain file, or it is not read.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The bytes of a plain file that is not too large.
pub(super) fn read_plain_file(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let file = open(path)?;
    let told = file.metadata().map_err(|error| format!("its result cannot be read: {error}"))?;
    if !told.is_file() {
        return Err("its result is no plain file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| format!("its result cannot be read: {error}"))?;
    if bytes.len() as u64 > most {
        return Err(format!("its result is larger than {} kB", most >> 10));
    }
    Ok(bytes)
}

/// No link is followed, and a pipe that nobody writes to is not waited for.
#[cfg(target_os = "linux")]
fn open(path: &Path) -> Result<File, String> {
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;

    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => Ok(file.into()),
        Err(Errno::NOENT) => Err("it left no result".to_owned()),
        Err(Errno::LOOP) => Err("its result is no plain file".to_owned()),
        Err(error) => Err(format!("its result cannot be read: {error}")),
    }
}

#[cfg(not(target_os = "linux"))]
fn open(_path: &Path) -> Result<File, String> {
    Err("its result is not read: workers run on Linux only".to_owned())
}
