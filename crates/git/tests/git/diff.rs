use proptest::prelude::*;
use referee_core::track::{ChangeKind, DiffContent, FileDiff, LineKind};
use referee_git::{DiffError, parse_diff};

use crate::repository::odd_change;

fn file<'a, 'd>(files: &'a [FileDiff<'d>], path: &str) -> &'a FileDiff<'d> {
    files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("no `{path}` in {files:#?}"))
}

/// Returns the lines of a file with their sign. `¬` marks a missing line feed.
fn lines(file: &FileDiff<'_>) -> Vec<String> {
    let sign = |kind| match kind {
        LineKind::Context => ' ',
        LineKind::Removed => '-',
        LineKind::Added => '+',
    };
    let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    let lines = file.hunks().iter().flat_map(|hunk| hunk.lines());
    lines
        .map(|line| format!("{}{}{}", sign(line.kind), text(line.text), if line.ends_with_newline { "" } else { "¬" }))
        .collect()
}

#[test]
fn every_kind_of_change_is_parsed() {
    let (repository, old, new) = odd_change();
    let diff = repository.git().diff(&old, &new).expect("a diff");
    let files = parse_diff(&diff).expect("a valid diff");
    assert_eq!(files.len(), 16, "{:#?}", files.iter().map(|file| &file.path).collect::<Vec<_>>());

    let renamed = file(&files, "größer \"quoted\"\ttab");
    assert_eq!((renamed.kind, renamed.old_path.as_deref()), (ChangeKind::Renamed, Some("renamed from here")));
    assert_eq!(renamed.hunks().len(), 1);
    assert_eq!(
        lines(file(&files, "edited.sql")),
        [" -- keep", "--- drop", "+--- a/trap", "++++ b/trap", "+@@ -1 +1 @@", " select 1;", "-++ odd"]
    );
    let mode = file(&files, "mode.sh");
    assert_eq!((mode.old_mode, mode.new_mode, mode.hunks().len()), (Some(0o100_644), Some(0o100_755), 0));
    let both = file(&files, "mode and text.sh");
    assert_eq!((both.new_mode, lines(both)), (Some(0o100_755), vec!["-echo one".to_owned(), "+echo two".to_owned()]));
    let binary = file(&files, "logo.png");
    assert!(matches!(binary.content, DiffContent::Binary(_)));
    assert!(binary.old_blob.is_some() && binary.new_blob.is_some() && binary.old_blob != binary.new_blob);
    assert_eq!(lines(file(&files, "no end")), [" one", "-two¬", "+three¬"]);
    assert_eq!(file(&files, "gone.txt").kind, ChangeKind::Deleted);
    assert_eq!(
        (file(&files, "gone empty").kind, file(&files, "new empty").kind),
        (ChangeKind::Deleted, ChangeKind::Added)
    );
    assert_eq!(lines(file(&files, "windows.txt")), [" one\r", "-two\r", "+three\r"]);
    let latin = file(&files, "latin.txt").hunks()[0].lines().map(|line| line.text.to_vec()).collect::<Vec<_>>();
    assert_eq!(latin, [b"sign\xe9", b"sign\xe8"], "bytes stay unchanged");
    let hunks: Vec<_> =
        file(&files, "two hunks").hunks().iter().map(|hunk| (hunk.range.old_start, hunk.range.new_lines)).collect();
    assert_eq!(hunks, [(1, 6), (49, 7)]);
    assert_eq!(lines(file(&files, "ne\u{301}w.txt")), ["+first", "+", "+third"]);
    let link: Vec<_> = files.iter().filter(|file| file.path == "becomes a link").map(|file| file.kind).collect();
    assert_eq!(link, [ChangeKind::Deleted, ChangeKind::Added], "a type change is a deletion and an addition");
    let module = file(&files, "module");
    assert_eq!(lines(module), [format!("+Subproject commit {}", old.as_str())]);
    assert!(module.to_changed_file(None, None).hunks.is_empty(), "a submodule has no lines to comment on");
}

#[test]
fn a_diff_without_a_raw_list_gives_the_same_files() {
    let (repository, old, new) = odd_change();
    let with_list = repository.git().diff(&old, &new).expect("a diff");
    let plain = repository.run(&["diff", "-M", "--no-rename-empty", old.as_str(), new.as_str()]);
    let shape = |diff: &[u8]| -> Vec<_> {
        let files = parse_diff(diff).expect("a valid diff");
        files.iter().map(|file| (file.path.clone(), file.old_path.clone(), file.kind, file.hunks().len())).collect()
    };
    assert_eq!(shape(plain.as_bytes()), shape(&with_list));
    let binary = repository.run(&["diff", "-M", "--binary", old.as_str(), new.as_str()]);
    let files = parse_diff(binary.as_bytes()).expect("a valid diff");
    let DiffContent::Binary(data) = file(&files, "logo.png").content else { panic!("a binary file") };
    assert!(data.starts_with(b"literal") || data.starts_with(b"delta"));
}

/// Compares with `diffy` on input that both parsers support.
#[test]
fn an_independent_parser_gives_the_same_files() {
    let (repository, old, new) = odd_change();
    let plain = repository.run(&["diff", "-M", old.as_str(), new.as_str()]);
    let ours = parse_diff(plain.as_bytes()).expect("a valid diff");
    let theirs: Vec<_> = diffy::patch_set::PatchSet::parse(plain.as_str(), diffy::patch_set::ParseOptions::gitdiff())
        .collect::<Result<_, _>>()
        .expect("diffy parses it");
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let hunks: Vec<_> = theirs.patch().as_text().map_or(Vec::new(), |patch| patch.hunks().to_vec());
        let ranges =
            hunks.iter().map(|hunk| (hunk.old_range().start(), hunk.old_range().len(), hunk.new_range().len()));
        let our_ranges = ours.hunks().iter().map(|hunk| hunk.range);
        let our_ranges =
            our_ranges.map(|range| (range.old_start as usize, range.old_lines as usize, range.new_lines as usize));
        assert!(our_ranges.eq(ranges), "{}", ours.path);
        let lines = hunks.iter().map(|hunk| hunk.lines().len()).sum::<usize>();
        assert_eq!(ours.hunks().iter().map(|hunk| hunk.lines().count()).sum::<usize>(), lines, "{}", ours.path);
    }
}

/// A truncated diff that looks complete would leave files unreviewed.
#[test]
fn a_truncated_diff_is_detected() {
    let (repository, old, new) = odd_change();
    let diff = repository.git().diff(&old, &new).expect("a diff");
    let complete = parse_diff(&diff).expect("a valid diff");
    for end in 1..diff.len() {
        match parse_diff(&diff[..end]) {
            Err(DiffError::Truncated { .. } | DiffError::MissingFiles { .. }) => {}
            Err(other) => panic!("cut after {end}: {other}"),
            // A cut between two hunks of the last file, or before `\ No newline at end of file`, is not detectable.
            Ok(files) => {
                let (last, others) = files.split_last().expect("files");
                assert_eq!((files.len(), others), (complete.len(), &complete[..complete.len() - 1]), "cut after {end}");
                let all = complete[complete.len() - 1].hunks();
                assert!(last.hunks().len() <= all.len() && !last.hunks().is_empty(), "cut after {end}");
            }
        }
    }
    let plain = repository.run(&["diff", "-M", old.as_str(), new.as_str()]);
    for end in 1..plain.len() {
        if let Ok(files) = parse_diff(&plain.as_bytes()[..end]) {
            assert!(plain[..end].ends_with('\n'), "cut after {end}");
            let complete = parse_diff(plain.as_bytes()).expect("a valid diff");
            let is_prefix =
                files.iter().zip(&complete).all(|(file, other)| file.path == other.path && file.kind == other.kind);
            assert!(is_prefix, "cut after {end}");
        }
    }
}

#[test]
fn malformed_input_is_refused() {
    assert_eq!(parse_diff(b"").expect("no change"), []);
    for input in [
        "hello\n",
        "diff --cc a\nindex 1..2\n",
        "diff --git a/a b/a\nindex 11..22 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\nrubbish\n",
        "diff --git a/a b/a\nindex 11..22 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n-a\n+b\n+c\n-d\n",
        "diff --git a/a b/a\nindex 11..22 100644\n--- a/a\n+++ b/a\n@@ -99999999999 +1 @@\n-a\n+b\n",
        "diff --git a/a b/a\nindex 11..22 100644\n--- a/a\n+++ b/a\n@@ -+1 +1 @@\n-a\n+b\n",
        "diff --git a/a b/a\nold mode 99999\nnew mode 100644\n",
        "diff --git a/a b/b\nold mode 100644\nnew mode 100755\n",
    ] {
        assert!(matches!(parse_diff(input.as_bytes()), Err(DiffError::Malformed { .. })), "{input:?}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in any::<Vec<u8>>()) {
        let _ = parse_diff(&bytes);
        let _ = parse_diff(&[b":", bytes.as_slice()].concat());
        let _ = parse_diff(&[b"diff --git ", bytes.as_slice()].concat());
    }

    /// Lines of a diff in any order.
    #[test]
    fn shuffled_lines_of_a_diff_never_give_too_many_files(
        lines in prop::collection::vec(prop::sample::select(PIECES), 0..30),
    ) {
        let diff = lines.concat();
        if let Ok(files) = parse_diff(diff.as_bytes()) {
            let headers = diff.lines().filter(|line| line.starts_with("diff --git ")).count();
            prop_assert!(files.len() <= headers);
        }
    }
}

const PIECES: &[&str] = &[
    "diff --git a/x b/x\n",
    "diff --git \"a/\\303\\244\" \"b/\\303\\244\"\n",
    "index 1111111..2222222 100644\n",
    "index 0000000..e69de29\n",
    "old mode 100644\n",
    "new mode 100755\n",
    "new file mode 100644\n",
    "deleted file mode 100644\n",
    "similarity index 100%\n",
    "rename from a b\n",
    "rename to \"c\\td\"\n",
    "copy from x\n",
    "copy to y\n",
    "--- a/x\n",
    "--- /dev/null\n",
    "+++ b/x\n",
    "+++ \"b/\\\"\n",
    "@@ -1,2 +1,2 @@ fn\n",
    "@@ -0,0 +1 @@\n",
    " context\n",
    "\n",
    "-removed\n",
    "+added\n",
    "\\ No newline at end of file\n",
    "Binary files a/x and b/x differ\n",
    "GIT binary patch\n",
    "literal 3\n",
    ":100644 100644 1 2 M\0x\0\0",
];
