//! Adapters have no route and no mutation that merges, closes, dismisses or deletes text, and send DELETE only for
//! referee's label and referee's reaction.
//!
//! A permitted DELETE says which on its line or on the line above: `// delete: own label`, `// delete: own reaction`.
//! Test code is excepted: tests try the forbidden routes.

use crate::rust_source::RustSource;
use crate::source_tree::{File, SourceTree};
use crate::{Violation, assert_none, locations};

const ADAPTERS: [&str; 3] = ["forge", "http", "github-schema"];

/// Parts of mutation, field and function names, compared without case and underscores.
const FORBIDDEN_NAMES: [&str; 20] = [
    "mergepull",
    "mergemerge",
    "acceptmerge",
    "mergebranch",
    "automergeenable",
    "enablepullrequestautomerge",
    "enqueuepull",
    "mergewhenpipelinesucceeds",
    "closepull",
    "closemerge",
    "closeissue",
    "stateevent",
    "dismisspullrequestreview",
    "dismissreview",
    "deletepullrequestreview",
    "deletereview",
    "deleteissue",
    "deletecomment",
    "deletenote",
    "deleteref",
];

/// Forbidden segments of routes; `merge_requests`, `mergeable` and `merge-base` are different segments.
const FORBIDDEN_SEGMENTS: [&str; 4] = ["merge", "dismissals", "undismissals", "merge_ref"];

/// The timeline's event of a review that a person dismissed. It is only read.
const DISMISS_EVENT: &str = "dismiss_review";

const PERMITTED: [&str; 2] = ["// delete: own label", "// delete: own reaction"];

fn check(tree: &SourceTree) -> Vec<Violation> {
    let adapters = tree.rust().filter(|it| ADAPTERS.contains(&it.crate_name()) && !it.is_test());
    adapters.flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Violation> {
    let rust = RustSource::parse(&file.text);
    let mut violations = Vec::new();
    let mut report = |index: usize, what: String, fix: &str| {
        violations.push(Violation::new(&file.path, rust.line(index), what, fix));
    };
    for (index, word) in rust.idents().chain(rust.strings()).filter(|(index, _)| !rust.in_test(*index)) {
        let plain = word.to_lowercase().replace('_', "");
        if word == DISMISS_EVENT {
            continue;
        }
        if let Some(name) = FORBIDDEN_NAMES.iter().find(|name| plain.contains(**name)) {
            report(index, format!("an adapter names `{name}`"), "referee never does this: remove it");
        }
        if is_delete(word, rust.text(index + 1)) && !permitted(&rust, rust.line(index)) {
            let fix = "only referee's label and reaction may be deleted; say which: `// delete: own label`";
            report(index, "a DELETE without its comment".into(), fix);
        }
    }
    for (index, text) in rust.strings().filter(|(index, _)| !rust.in_test(*index)) {
        let mut segments = text.split(['/', '?', '&', ' ', '"']).skip(1);
        if text.contains('/')
            && let Some(segment) = segments.find(|segment| FORBIDDEN_SEGMENTS.contains(segment))
        {
            report(index, format!("an adapter has the route `/{segment}`"), "referee never does this: remove it");
        }
    }
    violations
}

/// Whether a word is the HTTP method in any spelling, or a removing mutation of GraphQL.
fn is_delete(word: &str, after: &str) -> bool {
    matches!(word, "DELETE" | "Delete")
        || (word == "delete" && after == "(")
        || word.contains("removeReaction")
        || word.contains("RemoveReaction")
        || word.contains("removeLabels")
        || word.contains("RemoveLabels")
}

fn permitted(rust: &RustSource<'_>, line: usize) -> bool {
    rust.comments.iter().any(|comment| {
        (comment.line == line || comment.line + 1 == line) && PERMITTED.iter().any(|it| comment.text.starts_with(it))
    })
}

#[test]
fn adapters_have_no_forbidden_route() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn a_forbidden_route_is_caught() {
    let source = r#"
fn a() {
    post("/repos/{repo}/pulls/{n}/merge");
    put("/projects/{id}/merge_requests/{n}/merge?sha={head}");
    let q = "mutation { mergePullRequest(input: $i) { x } }";
    fn close_pull_request() {}
    body.insert("state_event", "close");
    post("/pulls/7/reviews/3/dismissals");
    http.send(Method::DELETE, route);
    struct DeletePullRequestReview;
}
"#;
    let tree = SourceTree::from_files(&[("crates/forge/src/gitea/perform.rs", source)]);
    let lines: Vec<String> =
        locations(check(&tree)).iter().map(|it| it.rsplit(':').next().unwrap_or("").into()).collect();
    let mut numbers: Vec<usize> = lines.iter().map(|it| it.parse().expect("a line number")).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn reads_and_permitted_deletes_pass() {
    let source = r#"
fn a() {
    get("/projects/{id}/merge_requests/{n}/discussions");
    let mergeable = pull.mergeable; // the word merge in a comment
    http.send(Method::DELETE, route); // delete: own label
    // delete: own reaction
    http.send(Method::DELETE, route);
    let state = if raw.state == "closed" { Closed } else { Open };
}
#[cfg(test)]
mod tests { const TRIED: &str = "/pulls/1/merge"; }
"#;
    let tree = SourceTree::from_files(&[
        ("crates/forge/src/gitea/perform.rs", source),
        ("crates/http/tests/refused.rs", "const TRIED: &str = \"/pulls/1/merge\";"),
        ("crates/testkit/src/world.rs", "fn merge_pull() {}"),
    ]);
    assert_eq!(locations(check(&tree)), Vec::<String>::new());
}
