//! A decision record is short and has three parts: context, decision, consequence.

use crate::source_tree::{File, SourceTree};
use crate::{Violation, assert_none, locations};

const FOLDER: &str = "docs/decisions/";
const MAX_LINES: usize = 25;
const PARTS: [&str; 3] = ["**Context.**", "**Decision.**", "**Consequence.**"];

fn check(tree: &SourceTree) -> Vec<Violation> {
    let records: Vec<&File> = tree.files.iter().filter(|it| it.path.starts_with(FOLDER)).collect();
    let gaps = (1..=records.len()).filter(|number| count(&records, *number) != 1).map(|number| {
        let what = format!("{} records have the number {number:04}", count(&records, number));
        Violation::new(FOLDER, number, what, "number them without gaps; a record is never renumbered")
    });
    gaps.chain(records.iter().flat_map(|it| check_record(it))).collect()
}

fn check_record(file: &File) -> Vec<Violation> {
    let lines = file.text.lines().count();
    let long = (lines > MAX_LINES).then(|| (format!("{lines} lines, {MAX_LINES} is the limit"), "shorten it"));
    let missing = PARTS.iter().filter(|part| !file.text.contains(**part));
    let missing = missing.map(|part| (format!("{part} is missing"), "a record has context, decision and consequence"));
    let number: String = file.path.trim_start_matches(FOLDER).chars().take(4).collect();
    let titled = file.text.starts_with(&format!("# {number}. "));
    let title = (!titled).then(|| ("the title does not begin with the number".into(), "write `# NNNN. Title`"));
    let all = long.into_iter().chain(missing).chain(title);
    all.map(|(what, fix)| Violation::new(&file.path, 1, what, fix)).collect()
}

fn count(records: &[&File], number: usize) -> usize {
    let prefix = format!("{FOLDER}{number:04}-");
    records.iter().filter(|it| it.path.starts_with(&prefix)).count()
}

#[test]
fn records_are_complete_and_short() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn a_bad_record_is_caught() {
    let sound = "# 0001. A\n\n**Context.** a\n\n**Decision.** b\n\n**Consequence.** c\n";
    let tree = SourceTree::from_files(&[
        ("docs/decisions/0001-a.md", sound),
        ("docs/decisions/0003-c.md", "# 0003. C\n\n**Context.** a\n\n**Decision.** b\n"),
    ]);
    assert_eq!(locations(check(&tree)), ["docs/decisions/:2", "docs/decisions/0003-c.md:1"]);
}
