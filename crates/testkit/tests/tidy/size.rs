//! A file over 400 lines is two concepts. Tests may be longer: a table of cases is one concept however long.

use crate::house::House;
use crate::{Complaint, hold, places};

const MOST: usize = 400;

fn check(house: &House) -> Vec<Complaint> {
    let sources = house.rust().filter(|it| !it.is_test());
    sources
        .filter_map(|it| {
            let lines = it.text.lines().count();
            let what = format!("{lines} lines, {MOST} is the most");
            (lines > MOST).then(|| Complaint::new(&it.path, MOST + 1, what, "split it by concept"))
        })
        .collect()
}

#[test]
fn no_file_is_too_long() {
    hold(check(&House::load()));
}

#[test]
fn a_long_file_is_caught() {
    let (long, full) = ("\n".repeat(401), "\n".repeat(400));
    let house = House::of(&[
        ("crates/a/src/long.rs", &long),
        ("crates/a/src/full.rs", &full),
        ("crates/a/src/long/tests.rs", &long),
        ("crates/a/tests/long.rs", &long),
        ("crates/a/benches/long.rs", &long),
    ]);
    assert_eq!(places(check(&house)), ["crates/a/src/long.rs:401"]);
}
