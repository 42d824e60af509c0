//! No file names a place on somebody's machine: it is wrong everywhere else, and it tells who wrote it.

use crate::house::House;
use crate::{Complaint, hold, places};

/// Put together here so that this file does not complain about itself.
const HOMES: [&str; 5] = [
    concat!("/", "home/"),
    concat!("/", "Users/"),
    concat!("/", "root/"),
    concat!("/", "work/"),
    concat!(":\\", "Users\\"),
];

fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in &house.files {
        for (line, text) in file.lines() {
            if let Some(home) = HOMES.iter().find(|home| names(text, home)) {
                let what = format!("a path of a machine (`{home}…`)");
                complaints.push(Complaint::new(&file.path, line, what, "name it from the root of the repository"));
            }
        }
    }
    complaints
}

/// Where it starts a path: after a blank, a quote or the like, not in the middle of a longer one.
fn names(text: &str, home: &str) -> bool {
    text.match_indices(home).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        home.starts_with(':') || before.is_none_or(|c| !c.is_alphanumeric() && !"._-/}>".contains(c))
    })
}

#[test]
fn no_file_names_a_machine() {
    hold(check(&House::load()));
}

#[test]
fn a_machine_path_is_caught() {
    let home = HOMES[0];
    let windows = HOMES[4];
    let text = format!("see `{home}kim/x`\nhttps://example.org{home}x\ncrates{home}x\nC{windows}kim");
    let house = House::of(&[("docs/a.md", &text)]);
    assert_eq!(places(check(&house)), ["docs/a.md:1", "docs/a.md:4"]);
}
