//! Names that say nothing: grab-bag modules, getters that say `get_`.

use crate::house::House;
use crate::rust::Rust;
use crate::{Complaint, hold, places};

const BAGS: [&str; 6] = ["util", "utils", "helper", "helpers", "misc", "common"];

fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in house.rust() {
        let stem = file.path.trim_end_matches("/mod.rs").trim_end_matches(".rs").rsplit('/').next().unwrap_or_default();
        if BAGS.contains(&stem) {
            complaints.push(Complaint::new(&file.path, 1, "a grab-bag module", "name it after the one thing it holds"));
        }
        let rust = Rust::read(&file.text);
        for (index, name) in rust.words().filter(|(_, word)| word.starts_with("get_")) {
            if rust.text(index.wrapping_sub(1)) == "fn" {
                let remedy = format!("call it `{}`", name.trim_start_matches("get_"));
                complaints.push(Complaint::new(&file.path, rust.line(index), "a getter says `get_`", remedy));
            }
        }
    }
    complaints
}

#[test]
fn names_say_something() {
    hold(check(&House::load()));
}

#[test]
fn empty_names_are_caught() {
    let house = House::of(&[
        ("crates/a/src/utils.rs", ""),
        ("crates/a/src/common/mod.rs", ""),
        ("crates/a/src/a.rs", "fn get_head() { map.get_mut(1) }"),
    ]);
    assert_eq!(
        places(check(&house)),
        ["crates/a/src/a.rs:1", "crates/a/src/common/mod.rs:1", "crates/a/src/utils.rs:1"]
    );
}
