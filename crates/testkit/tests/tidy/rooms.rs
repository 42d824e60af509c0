//! What each room may reach, beside its dependencies: paths into the standard library and into core.
//!
//! Test code may reach further; a test that reads a fixture is no decision that reads a file.

use crate::house::House;
use crate::rust::Rust;
use crate::{Complaint, hold, places};

/// Room, path it may not name, and what to do instead.
const CLOSED: &[(&str, &str, &str)] = &[
    ("core", "std::fs", "take the text as an argument"),
    ("core", "std::env", "put it into the policy"),
    ("core", "std::net", "core knows no network"),
    ("core", "std::process", "core starts nothing"),
    ("core", "std::thread", "core is one function call"),
    ("core", "std::time::Instant", "use the snapshot's `taken_at`"),
    ("core", "std::time::SystemTime", "use the snapshot's `taken_at`"),
    ("forge", "std::env", "take it as an argument"),
    ("forge", "referee_core::policy", "an adapter decides nothing: use model, plan, mark, sanitise"),
    ("forge", "referee_core::facts", "an adapter decides nothing: use model, plan, mark, sanitise"),
    ("forge", "referee_core::decide", "an adapter decides nothing: use model, plan, mark, sanitise"),
    ("forge", "referee_core::render", "an adapter writes no words: use model, plan, mark, sanitise"),
    ("turn", "std::env", "take it as an argument"),
    ("turn", "std::time::Instant", "the forge's time comes with the facts"),
    ("turn", "std::time::SystemTime", "the forge's time comes with the facts"),
    ("review", "referee_core::decide", "a reviewer reports; what is posted is decided in a turn"),
    ("git", "referee_core::decide", "git answers questions of fact"),
    ("http", "std::env", "take it as an argument"),
];

/// Gates are made from the policy's settings, and nothing else in that room looks at a policy.
const EXCEPT: (&str, &str) = ("crates/forge/src/gate.rs", "referee_core::policy");

fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in house.rust().filter(|it| !it.is_test()) {
        let closed: Vec<_> = CLOSED.iter().filter(|(room, _, _)| *room == file.room()).collect();
        let rust = Rust::read(&file.text);
        let heads = rust.words().filter(|(index, word)| {
            matches!(*word, "std" | "referee_core") && !rust.in_test(*index) && rust.text(index.wrapping_sub(1)) != "::"
        });
        for (index, _) in heads {
            let paths: Vec<String> = rust.paths_from(index).iter().map(|path| path.join("::")).collect();
            for (room, door, remedy) in &closed {
                let inside = format!("{door}::");
                let excepted = EXCEPT == (file.path.as_str(), *door);
                if !excepted && paths.iter().any(|path| path == door || path.starts_with(&inside)) {
                    let what = format!("{room} reaches `{door}`");
                    complaints.push(Complaint::new(&file.path, rust.line(index), what, *remedy));
                }
            }
        }
    }
    complaints
}

#[test]
fn rooms_reach_only_what_they_may() {
    hold(check(&House::load()));
}

#[test]
fn a_closed_door_is_caught() {
    let house = House::of(&[
        (
            "crates/core/src/a.rs",
            "use std::{collections::BTreeMap, env};\nfn a() { std::time::SystemTime::now(); }\nuse std::time::Duration;",
        ),
        ("crates/core/tests/a.rs", "use std::fs;"),
        (
            "crates/forge/src/lib.rs",
            "use referee_core::{model::Pull, decide::decide};\nuse referee_core::model::Thread;",
        ),
        ("crates/forge/src/gate.rs", "use referee_core::policy::Setting;"),
        ("crates/app/src/main.rs", "use std::env;"),
    ]);
    let want = ["crates/core/src/a.rs:1", "crates/core/src/a.rs:2", "crates/forge/src/lib.rs:1"];
    assert_eq!(places(check(&house)), want);
}
