//! What must never happen has no route: adapters name no merge, no close, no dismissal, no deletion of words, and send
//! DELETE for an own label and an own reaction only.
//!
//! A permitted DELETE says which on its line or on the line above: `// delete: own label`, `// delete: own reaction`.
//! Tests that try a forbidden route name it, so test code is excepted.

use crate::house::{File, House};
use crate::rust::Rust;
use crate::{Complaint, hold, places};

const ADAPTERS: [&str; 3] = ["forge", "http", "github-schema"];

/// Parts of mutation, field and function names, compared without case and underscores.
const NAMES: [&str; 20] = [
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

/// Segments of routes. `merge_requests`, `mergeable` and `merge-base` are others.
const SEGMENTS: [&str; 4] = ["merge", "dismissals", "undismissals", "merge_ref"];

/// What a timeline calls the row in which a person took a review's weight: it is read.
const READ: &str = "dismiss_review";

const PERMITTED: [&str; 2] = ["// delete: own label", "// delete: own reaction"];

fn check(house: &House) -> Vec<Complaint> {
    let adapters = house.rust().filter(|it| ADAPTERS.contains(&it.room()) && !it.is_test());
    adapters.flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Complaint> {
    let rust = Rust::read(&file.text);
    let mut complaints = Vec::new();
    let mut say = |index: usize, what: String, remedy: &str| {
        complaints.push(Complaint::new(&file.path, rust.line(index), what, remedy));
    };
    for (index, word) in rust.words().chain(rust.strings()).filter(|(index, _)| !rust.in_test(*index)) {
        let plain = word.to_lowercase().replace('_', "");
        if word == READ {
            continue;
        }
        if let Some(name) = NAMES.iter().find(|name| plain.contains(**name)) {
            say(index, format!("an adapter names `{name}`"), "referee cannot do this: remove it");
        }
        if is_delete(word, rust.text(index + 1)) && !permitted(&rust, rust.line(index)) {
            let remedy = "delete only an own label or an own reaction, and say which: `// delete: own label`";
            say(index, "a DELETE without its permission".into(), remedy);
        }
    }
    for (index, text) in rust.strings().filter(|(index, _)| !rust.in_test(*index)) {
        let mut segments = text.split(['/', '?', '&', ' ', '"']).skip(1);
        if text.contains('/')
            && let Some(segment) = segments.find(|segment| SEGMENTS.contains(segment))
        {
            say(index, format!("an adapter has the route `/{segment}`"), "referee cannot do this: remove it");
        }
    }
    complaints
}

/// The method in any spelling, and GraphQL's removals.
fn is_delete(word: &str, after: &str) -> bool {
    matches!(word, "DELETE" | "Delete")
        || (word == "delete" && after == "(")
        || word.contains("removeReaction")
        || word.contains("RemoveReaction")
        || word.contains("removeLabels")
        || word.contains("RemoveLabels")
}

fn permitted(rust: &Rust<'_>, line: usize) -> bool {
    rust.remarks.iter().any(|remark| {
        (remark.line == line || remark.line + 1 == line) && PERMITTED.iter().any(|it| remark.text.starts_with(it))
    })
}

#[test]
fn adapters_cannot_do_what_must_never_happen() {
    hold(check(&House::load()));
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
    let house = House::of(&[("crates/forge/src/gitea/perform.rs", source)]);
    let lines: Vec<String> =
        places(check(&house)).iter().map(|it| it.rsplit(':').next().unwrap_or("").into()).collect();
    let mut numbers: Vec<usize> = lines.iter().map(|it| it.parse().expect("a line number")).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn reading_and_own_marks_pass() {
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
    let house = House::of(&[
        ("crates/forge/src/gitea/perform.rs", source),
        ("crates/http/tests/refused.rs", "const TRIED: &str = \"/pulls/1/merge\";"),
        ("crates/testkit/src/world.rs", "fn merge_pull() {}"),
    ]);
    assert_eq!(places(check(&house)), Vec::<String>::new());
}
