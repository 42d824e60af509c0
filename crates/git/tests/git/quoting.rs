//! Paths that git quotes in a diff.

use referee_git::parse_diff;

use crate::repository::Repository;

#[test]
fn quoted_paths_are_parsed() {
    let names = ["with space", "tab\there", "quote\"here", "back\\slash", "b/b/b", "日本語", "a b/a b", "end ", "é"];
    for (number, name) in names.iter().enumerate() {
        let repository = Repository::new();
        repository.write(name, "one\n");
        let old = repository.commit();
        repository.write(name, format!("two {number}\n"));
        repository.run(&["add", "--all"]);
        repository.run(&["update-index", "--chmod=+x", name]);
        repository.run(&["commit", "--quiet", "--message=edit"]);
        let edited = repository.head();
        repository.run(&["update-index", "--chmod=-x", name]);
        repository.run(&["commit", "--quiet", "--message=mode"]);
        let new = repository.head();
        for (old, new) in [(&old, &edited), (&edited, &new)] {
            let plain = repository.run(&["diff", old.as_str(), new.as_str()]);
            assert_eq!(parse_diff(plain.as_bytes()).expect("a valid diff")[0].path, *name, "{plain}");
            let with_list = repository.git().diff(old, new).expect("a diff");
            assert_eq!(parse_diff(&with_list).expect("a valid diff")[0].path, *name);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_utf8_stays_quoted() {
    use std::os::unix::ffi::OsStrExt;

    let repository = Repository::new();
    let old = repository.commit();
    std::fs::write(repository.path("").join(std::ffi::OsStr::from_bytes(b"sign\xe9 \"x\"")), "one\n").expect("a file");
    let new = repository.commit();
    let with_list = repository.git().diff(&old, &new).expect("a diff");
    let plain = repository.run(&["diff", old.as_str(), new.as_str()]);
    let name = |diff: &[u8]| parse_diff(diff).expect("a valid diff")[0].path.clone();
    assert_eq!(name(plain.as_bytes()), "\"sign\\351 \\\"x\\\"\"");
    assert_eq!(name(&with_list), name(plain.as_bytes()));
}
