/// Whether a file's content is a pointer of git LFS: what the file is about lies elsewhere.
pub fn is_lfs_pointer(content: &[u8]) -> bool {
    // Longer ones are no pointers, says the format.
    let Some(text) = std::str::from_utf8(content).ok().filter(|text| text.len() < 1024) else { return false };
    let has = |start: &str| text.lines().any(|line| line.starts_with(start));
    text.starts_with("version https://git-lfs.github.com/spec/") && has("oid sha256:") && has("size ")
}
