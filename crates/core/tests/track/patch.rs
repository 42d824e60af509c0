use proptest::prelude::*;
use referee_core::track::{ChangeKind, DiffContent, FileDiff, LineKind, PatchId};

use crate::diff_of::Patch;
use crate::texts::edited;

/// The id of the patch from one text to the other.
fn id(old: &str, new: &str) -> PatchId {
    PatchId::from_files(&[Patch::of(old, new).file()], |_| Some(old.as_bytes()))
}

/// Twenty different lines.
fn base() -> Vec<String> {
    (0..20).map(|line| format!("line {line}\n")).collect()
}

// spec: INC-16, LOOP-3 @core
#[test]
fn a_rebase_over_changes_elsewhere_keeps_the_patch() {
    let old = base().concat();
    let patch = |text: &str| text.replace("line 10\n", "line ten\nline ten and a half\n");
    let moved_base = format!("new head\n{}", old.replace("line 17\n", ""));
    assert_eq!(id(&old, &patch(&old)), id(&moved_base, &patch(&moved_base)));
}

// spec: INC-16 @core
#[test]
fn white_space_is_content() {
    let old = base().concat();
    let patch = |line: &str| old.replace("line 10\n", line);
    let names = ["line ten\n", "line  ten\n", "line ten \n", " line ten\n", "line ten\r\n", "line ten\n\n"]
        .map(|line| id(&old, &patch(line)));
    for (number, name) in names.iter().enumerate() {
        assert!(!names[..number].contains(name), "{number}");
    }
    assert_ne!(id("a\nb\n", "a\nc\n"), id("a\nb\n", "a\nc"), "the missing line feed at the end");
}

#[test]
fn a_change_near_by_in_the_base_is_another_patch() {
    let old = base().concat();
    let near = old.replace("line 12\n", "line twelve\n");
    let patch = |text: &str| text.replace("line 10\n", "line ten\n");
    assert_ne!(id(&old, &patch(&old)), id(&near, &patch(&near)));
}

#[test]
fn how_edits_are_grouped_to_hunks_does_not_matter() {
    let patch = |text: &str| text.replace("line 5\n", "five\n").replace("line 14\n", "fourteen\n");
    let old = base().concat();
    // Two lines in the middle are removed, so that the two edits share a hunk.
    let closer = old.replace("line 9\nline 10\n", "");
    assert_eq!(Patch::of(&old, &patch(&old)).file().hunks().len(), 2);
    assert_eq!(Patch::of(&closer, &patch(&closer)).file().hunks().len(), 1);
    assert_eq!(id(&old, &patch(&old)), id(&closer, &patch(&closer)));
}

/// A verdict must not be carried over to equal code at another place.
#[test]
fn a_change_that_hops_to_an_equal_place_is_another_patch() {
    let block = "start\none\ntwo\nthree\nfour\nfive\nsix\nend\n";
    let old = block.repeat(2);
    let put = |at: usize| {
        let mut new = old.clone();
        new.insert_str(at + block.find("four").expect("in the block"), "skip_checks()\n");
        new
    };
    let (first, second) = (put(0), put(block.len()));
    let (one, other) = (Patch::of(&old, &first), Patch::of(&old, &second));
    let body = |patch: &Patch| patch.file().hunks()[0].body.to_vec();
    assert_eq!(body(&one), body(&other), "the diff shows the same lines");
    assert_ne!(id(&old, &first), id(&old, &second));
    let shifted = format!("new head\n{old}");
    assert_eq!(id(&old, &second), id(&shifted, &format!("new head\n{second}")), "and a rebase keeps it");
}

#[test]
fn names_modes_and_binary_content_count() {
    let patch = Patch::of("a\n", "b\n");
    let name = |change: &dyn Fn(&mut FileDiff<'_>)| {
        let mut file = patch.file();
        change(&mut file);
        PatchId::from_files(&[file], |_| None)
    };
    let names = [
        name(&|_| ()),
        name(&|file| file.path = "b.rs".to_owned()),
        name(&|file| (file.old_path, file.kind) = (Some("b.rs".to_owned()), ChangeKind::Renamed)),
        name(&|file| file.kind = ChangeKind::Added),
        name(&|file| file.kind = ChangeKind::Deleted),
        name(&|file| file.new_mode = Some(0o100_755)),
        name(&|file| file.old_mode = Some(0o120_000)),
        name(&|file| file.content = DiffContent::Text(Vec::new())),
        name(&|file| file.content = DiffContent::Binary(b"")),
        name(&|file| (file.content, file.new_blob) = (DiffContent::Binary(b""), Some("abc"))),
        name(&|file| (file.content, file.old_blob) = (DiffContent::Binary(b""), Some("abc"))),
    ];
    for (number, name) in names.iter().enumerate() {
        assert!(!names[..number].contains(name), "{number}");
    }
    assert_eq!(names[0], name(&|file| file.new_blob = Some("abc")), "the name of a text's content depends on the base");
}

#[test]
fn the_order_of_the_files_does_not_matter_and_their_number_does() {
    let (one, other) = (Patch::of("a\n", "b\n"), Patch::of("a\n", "c\n"));
    let name = |files: &[FileDiff<'_>]| PatchId::from_files(files, |_| None);
    assert_eq!(name(&[one.file(), other.file()]), name(&[other.file(), one.file()]));
    assert_ne!(name(&[one.file()]), name(&[one.file(), one.file()]));
    assert_eq!(name(&[]).0.len(), 32);
}

#[test]
fn the_lines_of_a_hunk_are_read_back() {
    let patch = Patch::of("a\nb", "a\nc\n");
    let file = patch.file();
    let lines: Vec<_> =
        file.hunks()[0].lines().map(|line| (line.kind, line.text.to_vec(), line.ends_with_newline)).collect();
    assert_eq!(
        lines,
        [
            (LineKind::Context, b"a".to_vec(), true),
            (LineKind::Removed, b"b".to_vec(), false),
            (LineKind::Added, b"c".to_vec(), true),
        ]
    );
}

proptest! {
    // spec: INC-16, LOOP-3 @core
    #[test]
    fn any_rebase_over_far_changes_keeps_the_patch(
        edits in prop::collection::vec((0..40_usize, 0..3_usize), 1..4),
        far in prop::collection::vec((0..40_usize, 0..3_usize), 0..4),
    ) {
        let lines: Vec<String> = (0..40).map(|line| format!("line {line}\n")).collect();
        // A line that the base changes is far when no edit is within four lines of it.
        let far: Vec<_> = far.into_iter().filter(|(at, _)| edits.iter().all(|(edit, _)| edit.abs_diff(*at) > 4)).collect();
        let change = |line: &str, what: usize, word: &str| match what {
            0 => String::new(),
            1 => format!("{word}\n{line}"),
            _ => format!("{word} {line}"),
        };
        let build = |with: &[&[(usize, usize)]], word: &[&str]| -> String {
            lines.iter().enumerate().map(|(at, line)| {
                let found = with.iter().zip(word).find_map(|(edits, word)| {
                    edits.iter().find(|(edit, _)| *edit == at).map(|(_, what)| change(line, *what, word))
                });
                found.unwrap_or_else(|| line.clone())
            }).collect()
        };
        let (old, new) = (build(&[], &[]), build(&[&edits], &["edit"]));
        let (rebased_old, rebased_new) = (build(&[&far], &["base"]), build(&[&edits, &far], &["edit", "base"]));
        prop_assert_eq!(id(&old, &new), id(&rebased_old, &rebased_new));
    }

    /// On one base, different content is a different patch, also where lines repeat.
    #[test]
    fn other_content_is_another_patch((old, one) in edited(), (_, other) in edited()) {
        prop_assert_eq!(one == other, id(&old, &one) == id(&old, &other));
    }

    #[test]
    fn any_bytes_in_a_hunk_have_a_name(body in any::<Vec<u8>>(), text in any::<Vec<u8>>(), start in any::<u32>(), lines in any::<u32>()) {
        let nothing = Patch::of("", "");
        let mut file = nothing.file();
        let range = referee_core::track::HunkRange { old_start: start, old_lines: lines, new_start: start, new_lines: lines };
        file.content = DiffContent::Text(vec![referee_core::track::Hunk { range, body: &body }]);
        prop_assert_eq!(PatchId::from_files(&[file], |_| Some(&text)).0.len(), 32);
    }
}
