//! Names that a diff has to quote.

use referee_git::parse_diff;

use crate::repository::Repository;

#[test]
fn names_come_through_whatever_they_hold() {
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
            assert_eq!(parse_diff(plain.as_bytes()).expect("it is read")[0].path, *name, "{plain}");
            let led = repository.git().diff(old, new).expect("a diff");
            assert_eq!(parse_diff(&led).expect("it is read")[0].path, *name);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_stays_quoted() {
    use std::os::unix::ffi::OsStrExt;

    let repository = Repository::new();
    let old = repository.commit();
    std::fs::write(repository.path("").join(std::ffi::OsStr::from_bytes(b"sign\xe9 \"x\"")), "one\n").expect("a file");
    let new = repository.commit();
    let led = repository.git().diff(&old, &new).expect("a diff");
    let plain = repository.run(&["diff", old.as_str(), new.as_str()]);
    let name = |diff: &[u8]| parse_diff(diff).expect("it is read")[0].path.clone();
    assert_eq!(name(plain.as_bytes()), "\"sign\\351 \\\"x\\\"\"");
    assert_eq!(name(&led), name(plain.as_bytes()));
}
