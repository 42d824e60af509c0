//! Every row of the threat tables in `docs/security-model.md` ends with tests that exist, or with "not protected".

use crate::source_tree::SourceTree;
use crate::{Violation, assert_none, locations};

const PAGE: &str = "docs/security-model.md";

fn check(tree: &SourceTree) -> Vec<Violation> {
    let Some(page) = tree.files.iter().find(|file| file.path == PAGE) else {
        return vec![Violation::new(PAGE, 1, "the page is missing", "write it")];
    };
    let exists = |test: &str| {
        let signature = format!("fn {test}(");
        tree.files.iter().any(|file| file.path.ends_with(".rs") && file.text.contains(&signature))
    };
    let mut in_table = false;
    let mut violations = Vec::new();
    for (index, line) in page.text.lines().enumerate() {
        if line.starts_with("| move |") || line.starts_with("|---") {
            in_table |= line.starts_with("| move |");
            continue;
        }
        in_table &= line.starts_with('|');
        if !in_table {
            continue;
        }
        let proof = line.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        let tests: Vec<&str> = proof.split('`').skip(1).step_by(2).collect();
        if tests.is_empty() && !proof.contains("not protected") {
            violations.push(Violation::new(
                PAGE,
                index + 1,
                "the row names no test",
                "name one, or say `not protected`",
            ));
        }
        let missing = tests.into_iter().filter(|test| !exists(test));
        violations.extend(
            missing
                .map(|test| Violation::new(PAGE, index + 1, format!("there is no test `{test}`"), "correct the name")),
        );
    }
    violations
}

#[test]
fn every_threat_has_its_test() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn a_row_without_a_test_is_caught() {
    let page = "| move | what holds | test |\n|---|---|---|\n| a | b | `known` |\n| a | b | `unknown` |\n| a | b | |\n\
                | a | b | not protected |\n\n| other | table |\n|---|---|\n| a | b |\n";
    let tree = SourceTree::from_files(&[(PAGE, page), ("crates/a/tests/a.rs", "fn known() {}")]);
    assert_eq!(locations(check(&tree)), [format!("{PAGE}:4"), format!("{PAGE}:5")]);
}
