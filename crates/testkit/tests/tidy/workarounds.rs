//! Ways around a rule: allowed lints, ignored tests, unwritten code, production code that depends on `cfg(test)`, and
//! sleeping instead of waiting for an event.

use crate::rust_source::RustSource;
use crate::source_tree::SourceTree;
use crate::{Violation, assert_none, locations};

fn check(tree: &SourceTree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.rust() {
        let rust = RustSource::parse(&file.text);
        for index in 0..rust.tokens.len() {
            let (what, fix) = match rust.text(index) {
                "allow" if in_attribute(&rust, index) && rust.text(index + 1) == "(" => (
                    "a lint is allowed",
                    "write `#[expect(…, reason = \"…\")]`, which fails when it is no longer needed",
                ),
                "ignore" if in_attribute(&rust, index) => ("a test is ignored", "make it run, or delete it"),
                "todo" | "unimplemented" if rust.matches_at(index + 1, &["!", "("]) => {
                    ("unwritten code that panics", "write it, or remove the case from the type")
                }
                "sleep" if rust.matches_at(index.wrapping_sub(2), &["thread", "::"]) => {
                    ("a thread sleeps", "wait for the event, or pass the time in")
                }
                "cfg" if depends_on_cfg_test(&rust, index) => (
                    "production code depends on `cfg(test)`",
                    "use `#[cfg(test)]` for test modules only; pass the difference as an argument",
                ),
                _ => continue,
            };
            violations.push(Violation::new(&file.path, rust.line(index), what, fix));
        }
    }
    violations
}

/// Whether a token is inside `#[…]` or `#![…]`, at any depth.
fn in_attribute(rust: &RustSource<'_>, index: usize) -> bool {
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

/// Whether a `cfg` mentions `test`, other than a plain `#[cfg(test)]` on a module, an import or a helper of a test file.
fn depends_on_cfg_test(rust: &RustSource<'_>, index: usize) -> bool {
    let open = if rust.text(index + 1) == "!" { index + 2 } else { index + 1 };
    let Some(close) = rust.matching(open) else {
        return false;
    };
    let mentions = (open..close).any(|it| rust.text(it) == "test");
    if !mentions || in_test_file(rust) {
        return false;
    }
    let plain = rust.matches_at(index.wrapping_sub(2), &["#", "[", "cfg", "(", "test", ")", "]"]);
    let mut item = close + 2;
    while rust.matches_at(item, &["#", "["]) {
        item = rust.matching(item + 1).map_or(usize::MAX - 8, |end| end + 1);
    }
    !plain || !(item..item + 6).any(|it| matches!(rust.text(it), "mod" | "use"))
}

/// Whether the file has tests at its root, as the tidy checks do. Its helpers may then be `#[cfg(test)]` items at the root.
fn in_test_file(rust: &RustSource<'_>) -> bool {
    (0..rust.tokens.len()).any(|it| rust.parent(it).is_none() && rust.matches_at(it, &["#", "[", "test", "]"]))
}

#[test]
fn there_are_no_workarounds() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn each_workaround_is_caught() {
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
    let tree = SourceTree::from_files(&[("crates/a/src/a.rs", source)]);
    let lines: Vec<usize> = check(&tree).iter().map(|it| it.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 7, 8, 10]);
}

#[test]
fn similar_looking_code_passes() {
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
    assert_eq!(locations(check(&SourceTree::from_files(&[("crates/a/src/a.rs", source)]))), Vec::<String>::new());
}
