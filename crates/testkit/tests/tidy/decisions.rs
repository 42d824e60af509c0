//! One short record per decision: what the trap was, what was decided, what it costs.

use crate::house::{File, House};
use crate::{Complaint, hold, places};

const FOLDER: &str = "docs/decisions/";
const MOST: usize = 25;
const PARTS: [&str; 3] = ["**Context.**", "**Decision.**", "**What it costs.**"];

fn check(house: &House) -> Vec<Complaint> {
    let records: Vec<&File> = house.files.iter().filter(|it| it.path.starts_with(FOLDER)).collect();
    let gaps = (1..=records.len()).filter(|number| count(&records, *number) != 1).map(|number| {
        let what = format!("{} records have the number {number:04}", count(&records, number));
        Complaint::new(FOLDER, number, what, "number them without gaps; a record is never renumbered")
    });
    gaps.chain(records.iter().flat_map(|it| check_record(it))).collect()
}

fn check_record(file: &File) -> Vec<Complaint> {
    let lines = file.text.lines().count();
    let long = (lines > MOST).then(|| (format!("{lines} lines, {MOST} is the most"), "say it shorter"));
    let missing = PARTS.iter().filter(|part| !file.text.contains(**part));
    let missing = missing.map(|part| (format!("{part} is missing"), "a record has context, decision and cost"));
    let number: String = file.path.trim_start_matches(FOLDER).chars().take(4).collect();
    let titled = file.text.starts_with(&format!("# {number}. "));
    let title = (!titled).then(|| ("the title does not begin with the number".into(), "write `# NNNN. Title`"));
    let all = long.into_iter().chain(missing).chain(title);
    all.map(|(what, remedy)| Complaint::new(&file.path, 1, what, remedy)).collect()
}

fn count(records: &[&File], number: usize) -> usize {
    let prefix = format!("{FOLDER}{number:04}-");
    records.iter().filter(|it| it.path.starts_with(&prefix)).count()
}

#[test]
fn records_are_whole_and_short() {
    hold(check(&House::load()));
}

#[test]
fn a_bad_record_is_caught() {
    let sound = "# 0001. A\n\n**Context.** a\n\n**Decision.** b\n\n**What it costs.** c\n";
    let house = House::of(&[
        ("docs/decisions/0001-a.md", sound),
        ("docs/decisions/0003-c.md", "# 0003. C\n\n**Context.** a\n\n**Decision.** b\n"),
    ]);
    assert_eq!(places(check(&house)), ["docs/decisions/:2", "docs/decisions/0003-c.md:1"]);
}
