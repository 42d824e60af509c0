//! Ways around a rule: silenced lints, tests that do not run, code that is not written yet, production code that knows
//! that it is tested, waiting instead of knowing.

use crate::house::House;
use crate::rust::Rust;
use crate::{Complaint, hold, places};

fn check(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in house.rust() {
        let rust = Rust::read(&file.text);
        for index in 0..rust.tokens.len() {
            let (what, remedy) = match rust.text(index) {
                "allow" if in_attribute(&rust, index) && rust.text(index + 1) == "(" => (
                    "a lint is allowed",
                    "write `#[expect(…, reason = \"…\")]`, which fails when it is no longer needed",
                ),
                "ignore" if in_attribute(&rust, index) => ("a test is ignored", "make it run, or delete it"),
                "todo" | "unimplemented" if rust.reads(index + 1, &["!", "("]) => {
                    ("code that panics because it is not written", "write it, or leave the branch out of the type")
                }
                "sleep" if rust.reads(index.wrapping_sub(2), &["thread", "::"]) => {
                    ("a thread sleeps", "wait for the event, or pass the time in")
                }
                "cfg" if knows_of_tests(&rust, index) => (
                    "production code knows that it is tested",
                    "keep `#[cfg(test)]` to test modules, pass the difference in",
                ),
                _ => continue,
            };
            complaints.push(Complaint::new(&file.path, rust.line(index), what, remedy));
        }
    }
    complaints
}

/// Inside `#[…]` or `#![…]`, at any depth.
fn in_attribute(rust: &Rust<'_>, index: usize) -> bool {
    let mut at = index;
    while let Some(open) = rust.parent(at) {
        let before = rust.text(open.wrapping_sub(1));
        let outer = if before == "!" { rust.text(open.wrapping_sub(2)) } else { before };
        if rust.text(open) == "[" && outer == "#" {
            return true;
        }
        at = open;
    }
    false
}

/// A `cfg` that mentions `test` and is not simply `#[cfg(test)]` on a module, an import or a test's helper.
fn knows_of_tests(rust: &Rust<'_>, index: usize) -> bool {
    let open = if rust.text(index + 1) == "!" { index + 2 } else { index + 1 };
    let Some(close) = rust.mate(open) else {
        return false;
    };
    let mentions = (open..close).any(|it| rust.text(it) == "test");
    if !mentions || in_test_file(rust) {
        return false;
    }
    let plain = rust.reads(index.wrapping_sub(2), &["#", "[", "cfg", "(", "test", ")", "]"]);
    let mut item = close + 2;
    while rust.reads(item, &["#", "["]) {
        item = rust.mate(item + 1).map_or(usize::MAX - 8, |end| end + 1);
    }
    !plain || !(item..item + 6).any(|it| matches!(rust.text(it), "mod" | "use"))
}

/// A file whose tests stand at its root (the tidy checks do) has helpers under `#[cfg(test)]` at its root as well.
fn in_test_file(rust: &Rust<'_>) -> bool {
    (0..rust.tokens.len()).any(|it| rust.parent(it).is_none() && rust.reads(it, &["#", "[", "test", "]"]))
}

#[test]
fn nobody_goes_around_a_rule() {
    hold(check(&House::load()));
}

#[test]
fn each_way_around_is_caught() {
    let source = "
#![allow(dead_code)]
#[cfg_attr(unix, allow(unused))]
fn a() { todo!() }
fn b() { unimplemented!(\"later\") }
mod c { #[test] #[ignore = \"slow\"] fn c() {} }
fn d() { std::thread::sleep(x); if cfg!(test) { return } }
#[cfg(not(test))]
fn e() {}
#[cfg(test)]
fn f() {}
";
    let house = House::of(&[("crates/a/src/a.rs", source)]);
    let lines: Vec<usize> = check(&house).iter().map(|it| it.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 7, 8, 10]);
}

#[test]
fn what_only_looks_alike_passes() {
    let source = "
#[expect(dead_code, reason = \"later\")]
fn allow(ignore: u8) { allow(ignore) } // todo!()
const A: &str = \"#[allow(x)]\";
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = \"tests\")]
mod tests;
#[cfg(unix)]
fn b() {}
";
    assert_eq!(places(check(&House::of(&[("crates/a/src/a.rs", source)]))), Vec::<String>::new());
}
