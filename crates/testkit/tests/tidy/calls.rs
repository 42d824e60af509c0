//! Verbs that write have one caller each.
//!
//! | verb | called by |
//! |---|---|
//! | `perform` | `crates/turn`: one place puts gates, expectations and receipts around every write |
//! | `open_pull` | `crates/app/src/worker`: a delivery is no action of the loop |
//! | `push_commit` | the same: push exists in one place (SAF-1) |
//!
//! The testkit drives them, so it is excepted. A forge that stands before another one passes its own call on: a `perform`
//! within `fn perform` has the caller's permit in its hands and is no second caller.

use crate::house::House;
use crate::rust::Rust;
use crate::{Complaint, hold, places};

const CALLERS: [(&str, &str); 3] =
    [("perform", "crates/turn/"), ("open_pull", "crates/app/src/worker"), ("push_commit", "crates/app/src/worker")];

fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in house.rust().filter(|it| !it.is_test() && it.room() != "testkit") {
        let rust = Rust::read(&file.text);
        let mut within = String::new();
        for (index, word) in rust.words().filter(|(index, _)| !rust.in_test(*index)) {
            if word == "fn" {
                within = rust.text(index + 1).to_owned();
            }
            let called = rust.text(index + 1) == "(" && matches!(rust.text(index.wrapping_sub(1)), "." | "::");
            let verb = CALLERS.iter().find(|(verb, caller)| *verb == word && !file.path.starts_with(caller));
            if let Some((verb, caller)) = verb
                && called
                && within != *verb
            {
                let what = format!("`{verb}` is called outside `{caller}`");
                complaints.push(Complaint::new(
                    &file.path,
                    rust.line(index),
                    what,
                    "return a plan and let that room act",
                ));
            }
        }
    }
    complaints
}

#[test]
fn verbs_that_write_have_one_caller() {
    hold(check(&House::load()));
}

#[test]
fn a_second_caller_is_caught() {
    let source =
        "fn a() {\n forge.perform(x);\n Forge::perform(&forge, x);\n forge.open_pull(d);\n}\nfn perform(x: u8) {}";
    let house = House::of(&[
        ("crates/app/src/cli/review.rs", source),
        ("crates/turn/src/apply.rs", source),
        ("crates/testkit/src/contract.rs", source),
        ("crates/app/src/forge.rs", "fn perform(x: u8) { it.perform(x); }\nfn other() { it.perform(x); }"),
    ]);
    let want = [
        "crates/app/src/cli/review.rs:2",
        "crates/app/src/cli/review.rs:3",
        "crates/app/src/cli/review.rs:4",
        "crates/app/src/forge.rs:2",
        "crates/turn/src/apply.rs:4",
    ];
    assert_eq!(places(check(&house)), want);
}
