//! Only `decide` constructs an `Action`; all other code may only match on one.
//!
//! | position of `Action::X` | counts as |
//! |---|---|
//! | before `=>`, `\|`, `if` or `=`, also inside a tuple or a field of a pattern | a pattern |
//! | in `matches!` after the first comma | a pattern |
//! | anywhere else | a construction |
//!
//! Importing the variants or renaming the type would hide a construction from this check, so both are violations.

use crate::rust_source::RustSource;
use crate::source_tree::SourceTree;
use crate::{Violation, assert_none, locations};

const REMEDY: &str = "plan it in `crates/core/src/decide`, where the rules are";

fn check(tree: &SourceTree) -> Vec<Violation> {
    let sources = tree.rust().filter(|it| !it.is_test() && it.crate_name() != "testkit" && !is_decide(&it.path));
    let mut violations = Vec::new();
    for file in sources {
        let rust = RustSource::parse(&file.text);
        let mut report = |index: usize, what: &str, fix: &str| {
            violations.push(Violation::new(&file.path, rust.line(index), what, fix));
        };
        for (index, word) in rust.idents().filter(|(index, _)| !rust.in_test(*index)) {
            let named = word == "Action" || (word == "Self" && in_impl_of_action(&rust, index));
            if !named || maps_itself(&rust, &file.path, index) {
                continue;
            }
            if rust.text(index + 1) == "as" {
                report(index, "`Action` is renamed, which hides where it is constructed", "use its own name");
            } else if rust.text(index + 1) == "::" && matches!(rust.text(index + 2), "{" | "*") {
                report(
                    index,
                    "the variants of `Action` are imported, which hides where they are constructed",
                    "write `Action::X`",
                );
            } else if rust.text(index + 1) == "::" && is_variant(rust.text(index + 2)) && !is_pattern(&rust, index) {
                report(index, &format!("`Action::{}` is constructed outside `decide`", rust.text(index + 2)), REMEDY);
            }
        }
    }
    violations
}

fn is_decide(path: &str) -> bool {
    path == "crates/core/src/decide.rs" || path.starts_with("crates/core/src/decide/")
}

/// Tells variants (camel case) from functions and constants of the type.
fn is_variant(word: &str) -> bool {
    word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase)
}

fn in_impl_of_action(rust: &RustSource<'_>, index: usize) -> bool {
    impl_of_action(rust, index).is_some()
}

/// Returns the opening brace of the `impl … Action` around a token. `-> impl Trait` and `f: impl Trait` do not count.
fn impl_of_action(rust: &RustSource<'_>, index: usize) -> Option<usize> {
    let mut at = index;
    while let Some(open) = rust.parent(at) {
        let level = rust.parent(open);
        let starts = |it: &usize| {
            rust.parent(*it) == level && (matches!(rust.text(*it), ";" | "}" | "{") || starts_impl_item(rust, *it))
        };
        let first = level.map_or(0, |outer| outer + 1);
        let start = (first..open).rev().find(starts).unwrap_or(first);
        let header: Vec<&str> = (start..open).map(|it| rust.text(it)).collect();
        let subject = header.iter().position(|word| *word == "for").unwrap_or(0);
        if rust.text(open) == "{" && header.first() == Some(&"impl") && header[subject..].contains(&"Action") {
            return Some(open);
        }
        at = open;
    }
    None
}

fn starts_impl_item(rust: &RustSource<'_>, index: usize) -> bool {
    let before = index.checked_sub(1).map_or("", |before| rust.text(before));
    rust.text(index) == "impl" && matches!(before, "" | "}" | "{" | ";" | "]")
}

/// Whether the token is in a method, where the type is defined, that maps an action to the same action with other texts.
fn maps_itself(rust: &RustSource<'_>, path: &str, index: usize) -> bool {
    let home = path == "crates/core/src/plan.rs" || path.starts_with("crates/core/src/plan/");
    let Some(block) = impl_of_action(rust, index).filter(|_| home) else { return false };
    let mut body = index;
    while let Some(open) = rust.parent(body).filter(|open| *open != block) {
        body = open;
    }
    let start =
        (block..body).rev().find(|it| rust.text(*it) == "fn" && rust.parent(*it) == Some(block)).unwrap_or(body);
    (start..body).any(|it| rust.text(it) == "self")
}

fn is_pattern(rust: &RustSource<'_>, path: usize) -> bool {
    let mut start = path;
    let mut end = path + 3;
    loop {
        start = path_start(rust, start);
        if matches!(rust.text(end), "{" | "(") {
            end = rust.matching(end).unwrap_or(end) + 1;
        }
        if matches!(rust.text(end), "=>" | "|" | "if" | "=") {
            return true;
        }
        let Some(open) = rust.parent(path_start(rust, start)) else {
            return false;
        };
        if is_matches_pattern(rust, open, start) {
            return true;
        }
        let closes = matches!(rust.text(end), "," | ")" | "]" | "}" | "|");
        // A brace belongs to a pattern only around `field: pattern`; otherwise it is a block or the arms of a match.
        let climbs = rust.text(open) != "{" || rust.text(start.wrapping_sub(1)) == ":";
        if !closes || !climbs {
            return false;
        }
        end = rust.matching(open).unwrap_or(open) + 1;
        start = open;
    }
}

/// Returns the first word of the path that ends before or at `index`: `plan` of `plan::Action`, `Some` of `Some(`.
fn path_start(rust: &RustSource<'_>, index: usize) -> usize {
    let mut at = index;
    if matches!(rust.text(at), "(" | "{") && rust.text(at.wrapping_sub(1)).starts_with(char::is_alphabetic) {
        at -= 1;
    }
    while rust.text(at.wrapping_sub(1)) == "::" {
        at = at.saturating_sub(2);
    }
    at
}

/// Whether `start` is inside `matches!(value, …)`, after the value.
fn is_matches_pattern(rust: &RustSource<'_>, open: usize, start: usize) -> bool {
    let macros = ["matches", "assert_matches", "debug_assert_matches"];
    let is_matches = rust.text(open.wrapping_sub(1)) == "!" && macros.contains(&rust.text(open.wrapping_sub(2)));
    is_matches && (open + 1..start).any(|it| rust.text(it) == "," && rust.parent(it) == Some(open))
}

#[test]
fn only_decide_constructs_actions() {
    assert_none(check(&SourceTree::load()));
}

#[cfg(test)]
fn lines(source: &str) -> Vec<usize> {
    let violations = check(&SourceTree::from_files(&[("crates/turn/src/a.rs", source)]));
    violations.iter().map(|it| it.line).collect()
}

#[test]
fn matching_on_an_action_is_allowed() {
    let source = "
fn a(step: Step) {
    match step.action {
        Action::Reply { .. } | Action::Resolve(_) => {}
        plan::Action::Assign { who, .. } if who.is_some() => {}
        Action::SetLabel => {}
        _ => {}
    }
    match (a, b) { (Action::Reply { .. }, Some(Action::Resolve(_))) => {} _ => {} }
    if let Step { action: Action::Reply { note, .. }, .. } = step {}
    let Some(Action::Reply { .. }) = x else { return };
    let yes = matches!(step.action, Action::Reply { .. } | Action::Resolve(_));
    let yes = matches!(&step, Step { action: Action::Reply { .. }, .. });
    steps.iter().map(Action::gate).filter(|it| matches!(it, Some(Action::Reply { .. })));
    impl Action { fn f(&self) { match self { Self::Reply { .. } => 1 } } }
}
#[cfg(test)]
mod tests { fn b() { let a = Action::Reply { x: 1 }; } }
";
    assert_eq!(lines(source), Vec::<usize>::new());
}

#[test]
fn constructing_an_action_is_caught() {
    let source = "
fn a() -> Action {
    let a = Action::Reply { note: 1 };
    steps.push(Step { action: Action::Resolve(t), reason });
    match x { A => out.push(plan::Action::SetLabel), }
    if cond { return Action::SetLabel }
    match x { A => Action::SetLabel, B => { Action::Reply { note: 2 } } }
    if matches!(Action::SetLabel, x) {}
    f(|it| Action::Reply { note: it })
}
impl From<X> for Action { fn from(x: X) -> Self { Self::Reply { note: x } } }
use crate::plan::Action::{Reply, Resolve};
use crate::plan::Action as Deed;
";
    assert_eq!(lines(source), [3, 4, 5, 6, 7, 7, 8, 9, 11, 12, 13]);
}

#[test]
fn decide_and_testkit_may_construct_actions() {
    let source = "fn a() { let a = Action::Reply; }";
    let defined = "impl<T> Action<T> {
    fn map<U>(&self, f: impl Fn() -> U) -> Action<U> { match self { Self::Reply { text } => Action::Reply { text } } }
    fn reply() -> Self { Self::Reply { text } }
}";
    let tree = SourceTree::from_files(&[
        ("crates/core/src/decide/publish.rs", source),
        ("crates/core/src/decide.rs", source),
        ("crates/testkit/src/world.rs", source),
        ("crates/core/src/plan.rs", source),
        ("crates/core/src/plan/action.rs", defined),
    ]);
    assert_eq!(locations(check(&tree)), ["crates/core/src/plan.rs:1", "crates/core/src/plan/action.rs:3"]);
}
