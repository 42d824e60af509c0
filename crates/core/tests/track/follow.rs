use proptest::prelude::*;
use referee_core::track::{CodeLocation, FileChange, Track, extract_lines, follow_locations, is_touched};

use crate::texts::{count, edited, text};

const CODE: &str = "\
fn first(input: &str) -> usize {
    let length = input.len();
    check(length, input);
    length
}

fn second(input: &str) -> usize {
    let words = input.split(' ');
    let total = words.map(str::len).sum();
    total
}

fn third(limit: u32) -> Option<u32> {
    let doubled = limit.checked_mul(2)?;
    log_value(doubled);
    Some(doubled)
}
";

fn edit<'a>(path: &'a str, old: &'a str, new: &'a str) -> FileChange<'a> {
    FileChange { old_path: Some(path), new_path: Some(path), old_text: Some(old), new_text: Some(new) }
}

/// Follows one location.
fn one(location: &CodeLocation, delta: &[FileChange<'_>]) -> Track {
    follow_locations(std::slice::from_ref(location), delta).remove(0)
}

/// The location of the line with this text.
fn at(path: &str, text: &str, what: &str) -> CodeLocation {
    let line = text.lines().position(|line| line.contains(what)).expect("the line") as u32 + 1;
    CodeLocation::new(path, line, line)
}

#[test]
fn a_file_outside_the_delta_is_the_same() {
    let location = CodeLocation::new("a.rs", 3, 4);
    assert_eq!(one(&location, &[edit("b.rs", "x\n", "y\n")]), Track::Same(location));
}

// spec: INC-9 @core
#[test]
fn lines_above_shift_a_finding() {
    let new = format!("use std::fmt;\nuse std::io;\n{CODE}");
    let location = at("a.rs", CODE, "let total");
    assert_eq!(one(&location, &[edit("a.rs", CODE, &new)]), Track::Same(at("a.rs", &new, "let total")));
}

// spec: INC-9 @core
#[test]
fn a_rename_moves_a_finding() {
    let new = CODE.replace("fn first", "fn foremost");
    let delta = [FileChange { new_path: Some("b/c.rs"), ..edit("a.rs", CODE, &new) }];
    let location = at("a.rs", CODE, "log_value");
    assert_eq!(one(&location, &delta), Track::Moved(at("b/c.rs", &new, "log_value")));
}

// spec: INC-9 @core
#[test]
fn new_indentation_and_line_breaks_are_no_change() {
    let new = CODE.replace("    ", "\t").replace("check(length, input);", "check(\n\t\tlength,\n\t\tinput,\n\t);");
    let location = at("a.rs", CODE, "check(");
    let line = at("a.rs", &new, "check(").line;
    assert_eq!(one(&location, &[edit("a.rs", CODE, &new)]), Track::Same(CodeLocation::new("a.rs", line, line + 3)));
    let back = CodeLocation::new("a.rs", line, line + 3);
    assert_eq!(one(&back, &[edit("a.rs", &new, CODE)]), Track::Same(location), "joined again");
}

// spec: INC-9 @core
#[test]
fn a_block_is_followed_within_the_file_and_out_of_it() {
    let (first, rest) = CODE.split_once("\n\n").expect("two blocks");
    let location = at("a.rs", CODE, "check(length");
    let below = format!("{rest}\n{first}\n");
    assert_eq!(one(&location, &[edit("a.rs", CODE, &below)]), Track::Moved(at("a.rs", &below, "check(length")));
    let other = format!("mod inner {{\n    {}\n}}\n", first.replace('\n', "\n    "));
    let delta = [
        edit("a.rs", CODE, rest),
        FileChange { old_path: None, new_path: Some("inner.rs"), old_text: None, new_text: Some(&other) },
    ];
    assert_eq!(one(&location, &delta), Track::Moved(at("inner.rs", &other, "check(length")));
}

#[test]
fn a_deleted_file_is_searched_for_too() {
    let delta = [
        FileChange { new_path: None, new_text: None, ..edit("a.rs", CODE, "") },
        FileChange { old_path: None, old_text: None, ..edit("b.rs", "", CODE) },
    ];
    assert_eq!(one(&at("a.rs", CODE, "let words"), &delta), Track::Moved(at("b.rs", CODE, "let words")));
    assert_eq!(one(&at("a.rs", CODE, "let words"), &delta[..1]), Track::Gone);
}

#[test]
fn an_edit_is_a_change_at_its_new_place() {
    let new = format!("// head\n{}", CODE.replace("check(length, input);", "check(length, input)?;"));
    assert_eq!(
        one(&at("a.rs", CODE, "check("), &[edit("a.rs", CODE, &new)]),
        Track::Changed(at("a.rs", &new, "check("))
    );
    let replaced = CODE.replace("check(length, input);", "unrelated::thing::happens()");
    assert_eq!(
        one(&at("a.rs", CODE, "check("), &[edit("a.rs", CODE, &replaced)]),
        Track::Changed(at("a.rs", &replaced, "unrelated")),
        "nothing of it is left, but something stands in its place"
    );
}

#[test]
fn a_line_put_into_a_range_changes_it() {
    let location = CodeLocation::new("a.rs", 1, 5);
    let new = CODE.replace("    check(", "    guard(input);\n    check(");
    assert_eq!(one(&location, &[edit("a.rs", CODE, &new)]), Track::Changed(CodeLocation::new("a.rs", 1, 6)));
}

#[test]
fn deleted_code_is_gone() {
    let new = CODE.replace("    check(length, input);\n", "");
    assert_eq!(one(&at("a.rs", CODE, "check("), &[edit("a.rs", CODE, &new)]), Track::Gone);
}

#[test]
fn a_brace_is_not_found_elsewhere() {
    let new = format!("{}fn other() {{\n}}\n", CODE.rsplit_once("\n\nfn third").expect("the last block").0);
    let last = CodeLocation::new("a.rs", 17, 17);
    assert_eq!(extract_lines(CODE, 17, 17), "}\n");
    assert!(!matches!(one(&last, &[edit("a.rs", CODE, &new)]), Track::Moved(_)));
}

#[test]
fn a_copy_elsewhere_does_not_take_the_finding_along() {
    let copy = CODE.split_once("\n\n").expect("two blocks").0;
    let new = format!("{CODE}\nmod copy {{\n{copy}\n}}\n");
    let location = at("a.rs", CODE, "check(");
    assert_eq!(one(&location, &[edit("a.rs", CODE, &new)]), Track::Same(location));
}

/// D9 asks whether the code changed. Where indentation has meaning, a line that leaves its block is a changed line.
#[test]
fn in_python_the_depth_of_a_line_is_part_of_it() {
    let old = "def f(xs):\n    for x in xs:\n        total(x)\n        return x\n";
    let new = "def f(xs):\n    for x in xs:\n        total(x)\n    return x\n";
    let location = |path| at(path, old, "return");
    assert_eq!(one(&location("a.py"), &[edit("a.py", old, new)]), Track::Changed(location("a.py")));
    assert_eq!(one(&location("a.js"), &[edit("a.js", old, new)]), Track::Same(location("a.js")));
    let narrow = old.replace("    ", "  ");
    assert_eq!(
        one(&location("a.py"), &[edit("a.py", old, &narrow)]),
        Track::Same(location("a.py")),
        "another step, same depth"
    );
}

#[test]
fn files_that_were_not_given_did_not_change() {
    let binary = FileChange { old_text: None, new_text: None, ..edit("logo.png", "", "") };
    let location = CodeLocation::new("logo.png", 1, 1);
    assert_eq!(one(&location, &[binary]), Track::Same(location.clone()));
    let renamed = FileChange { new_path: Some("icon.png"), ..binary };
    assert_eq!(one(&location, &[renamed]), Track::Moved(CodeLocation::new("icon.png", 1, 1)));
}

#[test]
fn a_whole_file_changes_when_anything_in_it_does() {
    let location = CodeLocation::whole_file("a.rs");
    assert_eq!(one(&location, &[edit("a.rs", CODE, &CODE.replace("    ", "\t"))]), Track::Same(location.clone()));
    assert_eq!(one(&location, &[edit("a.rs", CODE, &CODE.replace("third", "last"))]), Track::Changed(location.clone()));
    let gone = FileChange { new_path: None, new_text: None, ..edit("a.rs", CODE, "") };
    assert_eq!(one(&location, &[gone]), Track::Gone);
    let nowhere = CodeLocation::new("a.rs", 4_000, 4_000);
    assert_eq!(one(&nowhere, &[edit("a.rs", CODE, &CODE.replace("third", "last"))]), Track::Changed(location));
}

#[test]
fn cited_lines_are_touched_where_something_came_or_went() {
    let new = CODE.replace("    check(length, input);\n", "").replace("let doubled =", "let twice =");
    let delta = [edit("a.rs", CODE, &new)];
    let touched_at = |line| is_touched(&CodeLocation::new("a.rs", line, line), &delta);
    let edited = at("a.rs", &new, "let twice").line;
    assert!(touched_at(edited) && !touched_at(edited - 1) && !touched_at(edited + 2));
    assert!(touched_at(2) && touched_at(3), "a line went between the two");
    assert!(!touched_at(1) && !touched_at(4));
    assert!(is_touched(&CodeLocation::whole_file("a.rs"), &delta));
    assert!(!is_touched(&CodeLocation::whole_file("b.rs"), &delta));
    assert!(
        !is_touched(&CodeLocation::new("a.rs", 1, 9), &[edit("a.rs", CODE, &CODE.replace("    ", "\t"))]),
        "white space"
    );
    let created = FileChange { old_path: None, old_text: None, ..edit("a.rs", "", CODE) };
    assert!(is_touched(&CodeLocation::new("a.rs", 2, 2), &[created]));
}

proptest! {
    /// For any texts, the result is a location in the new text, and code called unchanged reads the same there.
    #[test]
    fn following_is_total_and_keeps_its_word(
        (old, new) in edited(), other in text(), line in 0..40_u32, span in 0..4_u32, renamed in any::<bool>(),
    ) {
        let path = if renamed { "b.rs" } else { "a.rs" };
        let delta = [
            FileChange { new_path: Some(path), ..edit("a.rs", &old, &new) },
            FileChange { old_path: None, old_text: None, ..edit("c.rs", "", &other) },
        ];
        let location = CodeLocation::new("a.rs", line, line + span);
        let track = one(&location, &delta);
        let Some(there) = track.location() else { return Ok(()) };
        let text = if there.path == "c.rs" { &other } else { &new };
        prop_assert!(there.line <= there.end_line && there.end_line <= count(text).max(there.line));
        if matches!(track, Track::Same(_) | Track::Moved(_)) {
            let code = |text: &str, location: &CodeLocation| -> String {
                extract_lines(text, location.line, location.end_line).chars().filter(|c| !c.is_whitespace() && *c != ',').collect()
            };
            prop_assert!(code(text, there).contains(&code(&old, &location)) || line == 0 || line > count(&old));
        }
        prop_assert_eq!(matches!(track, Track::Same(_)), matches!(track, Track::Same(_)) && there.path == "a.rs");
        prop_assert_eq!(is_touched(there, &delta), is_touched(there, &delta));
    }

    #[test]
    fn an_untouched_text_moves_nothing(text in text(), line in 0..30_u32) {
        let location = CodeLocation::new("a.rs", line.min(count(&text)), line.min(count(&text)));
        prop_assert_eq!(one(&location, &[edit("a.rs", &text, &text)]), Track::Same(location));
    }

    #[test]
    fn places_are_followed_one_by_one((old, new) in edited(), lines in prop::collection::vec(0..30_u32, 0..6)) {
        let delta = [edit("a.rs", &old, &new)];
        let locations: Vec<CodeLocation> = lines.iter().map(|line| CodeLocation::new("a.rs", *line, *line)).collect();
        let each: Vec<Track> = locations.iter().map(|location| one(location, &delta)).collect();
        prop_assert_eq!(follow_locations(&locations, &delta), each);
    }

    #[test]
    fn any_strings_can_be_followed(old in any::<String>(), new in any::<String>(), line in any::<u32>(), end in any::<u32>()) {
        let location = CodeLocation { path: "a.py".to_owned(), line, end_line: end };
        let delta = [edit("a.py", &old, &new), edit("a.py", &new, &old)];
        prop_assert_eq!(follow_locations(&[location.clone(), location.clone()], &delta).len(), 2);
        is_touched(&location, &delta);
    }
}
