use proptest::prelude::*;
use referee_core::track::{Anchor, ChangeKind, ChangedFile, CodeLocation, DiffAnchors, HunkRange, Side};

/// A file of 40 lines, 42 before, with two hunks.
fn file() -> ChangedFile {
    ChangedFile {
        path: "src/new.rs".to_owned(),
        old_path: Some("src/old.rs".to_owned()),
        kind: ChangeKind::Renamed,
        hunks: vec![
            HunkRange { old_start: 3, old_lines: 7, new_start: 3, new_lines: 5 },
            HunkRange { old_start: 38, old_lines: 5, new_start: 36, new_lines: 5 },
        ],
        old_len: Some(42),
        new_len: Some(40),
    }
}

fn check(file: ChangedFile, path: &str, line: u32, end_line: u32, side: Side) -> Anchor {
    let files = [file];
    DiffAnchors::new(&files).resolve_anchor(&CodeLocation { path: path.to_owned(), line, end_line }, side)
}

// spec: PUB-13 @core
#[test]
fn a_line_of_the_diff_takes_a_comment() {
    let at = |line, end_line, side| check(file(), "src/new.rs", line, end_line, side);
    assert_eq!(at(3, 3, Side::New), Anchor::Line, "the first line of context");
    assert_eq!(at(3, 7, Side::New), Anchor::Line, "a whole hunk");
    assert_eq!(at(40, 40, Side::New), Anchor::Line, "the last line of the file");
    assert_eq!(at(9, 9, Side::Old), Anchor::Line);
}

// spec: PUB-13 @core
#[test]
fn a_line_outside_falls_back_to_the_file() {
    let at = |line, end_line, side| check(file(), "src/new.rs", line, end_line, side);
    for (line, end_line) in
        [(2, 2), (8, 8), (20, 20), (7, 8), (3, 36), (41, 41), (40, 41), (0, 0), (5, 4), (1, u32::MAX)]
    {
        assert_eq!(at(line, end_line, Side::New), Anchor::File, "{line}-{end_line}");
    }
    assert_eq!(at(10, 10, Side::Old), Anchor::File);
}

// spec: PUB-13 @core
#[test]
fn a_file_outside_the_diff_falls_back_to_the_summary() {
    assert_eq!(check(file(), "src/other.rs", 3, 3, Side::New), Anchor::Summary);
    assert_eq!(check(file(), "src/old.rs", 3, 3, Side::New), Anchor::Summary, "the new side has the new name alone");
    assert_eq!(check(file(), "src/old.rs", 3, 3, Side::Old), Anchor::Line, "the old side answers to both");
    let nothing: [ChangedFile; 0] = [];
    assert_eq!(DiffAnchors::new(&nothing).resolve_anchor(&CodeLocation::new("a", 1, 1), Side::New), Anchor::Summary);
}

#[test]
fn the_diff_shows_what_lies_in_a_hunk_in_part_and_new_or_changed_files_as_a_whole() {
    let files = [file()];
    let shows = |path, line, end_line, side| {
        DiffAnchors::new(&files).overlaps_diff(&CodeLocation::new(path, line, end_line), side)
    };
    for (line, end_line, shown) in
        [(3, 3, true), (7, 8, true), (1, 3, true), (1, 50, true), (0, 0, true), (2, 2, false), (8, 35, false)]
    {
        assert_eq!(shows("src/new.rs", line, end_line, Side::New), shown, "{line}-{end_line}");
    }
    assert!(shows("src/old.rs", 9, 9, Side::Old) && !shows("src/old.rs", 9, 9, Side::New));
    assert!(!shows("src/other.rs", 0, 0, Side::New));
    let empty = [ChangedFile { kind: ChangeKind::Added, hunks: Vec::new(), ..file() }];
    assert!(
        DiffAnchors::new(&empty).overlaps_diff(&CodeLocation::new("src/new.rs", 1, 1), Side::New),
        "all of it is new"
    );
}

// spec: PUB-13 @core
#[test]
fn a_side_that_is_not_there_takes_no_line() {
    let whole = HunkRange { old_start: 1, old_lines: 9, new_start: 1, new_lines: 9 };
    let one_sided = |kind| ChangedFile { kind, hunks: vec![whole], old_path: None, ..file() };
    assert_eq!(check(one_sided(ChangeKind::Deleted), "src/new.rs", 2, 2, Side::New), Anchor::File);
    assert_eq!(check(one_sided(ChangeKind::Deleted), "src/new.rs", 2, 2, Side::Old), Anchor::Line);
    assert_eq!(check(one_sided(ChangeKind::Added), "src/new.rs", 2, 2, Side::Old), Anchor::File);
    let binary = ChangedFile { hunks: Vec::new(), ..file() };
    assert_eq!(check(binary, "src/new.rs", 3, 3, Side::New), Anchor::File);
}

// spec: PUB-13 @core
#[test]
fn the_length_of_the_file_overrules_a_hunk() {
    let short = ChangedFile { new_len: Some(4), ..file() };
    assert_eq!(check(short, "src/new.rs", 5, 5, Side::New), Anchor::File);
    let unknown = ChangedFile { new_len: None, ..file() };
    assert_eq!(check(unknown, "src/new.rs", 5, 5, Side::New), Anchor::Line);
}

proptest! {
    // spec: PUB-13 @core
    #[test]
    fn any_place_has_an_answer(
        numbers in any::<[u32; 4]>(), line in any::<u32>(), end_line in any::<u32>(), old in any::<bool>(),
    ) {
        let [old_start, old_lines, new_start, new_lines] = numbers;
        let wild = ChangedFile { hunks: vec![HunkRange { old_start, old_lines, new_start, new_lines }], ..file() };
        let side = if old { Side::Old } else { Side::New };
        let answer = check(wild, "src/new.rs", line, end_line, side);
        prop_assert_ne!(answer, Anchor::Summary, "the file is in the diff");
        let length = if old { 42 } else { 40 };
        prop_assert!(answer != Anchor::Line || (1 <= line && line <= end_line && end_line <= length));
    }
}
