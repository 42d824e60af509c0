//! Core is pure: `decide` returns a plan, not a `Result`, and core has no `async` and names no forge. Differences between
//! forges reach core as capabilities.
//!
//! Code that decides names no model provider either (S4).

use crate::rust_source::RustSource;
use crate::source_tree::{File, SourceTree};
use crate::{Violation, assert_none, locations};

const FORGES: [&str; 4] = ["github", "gitlab", "gitea", "forgejo"];

fn check(tree: &SourceTree) -> Vec<Violation> {
    let sources = tree.rust().filter(|it| it.crate_name() == "core" && !it.is_test());
    sources.flat_map(check_file).chain(check_decide(tree)).collect()
}

fn check_file(file: &File) -> Vec<Violation> {
    let rust = RustSource::parse(&file.text);
    let words = rust.idents().filter(|(index, _)| !rust.in_test(*index));
    words
        .filter_map(|(index, word)| {
            let (what, fix) = match word {
                "async" | "await" => (format!("core uses `{word}`"), "take the value as an argument"),
                "tokio" => ("core uses tokio".into(), "take the value as an argument"),
                _ if FORGES.iter().any(|forge| word.to_lowercase().contains(forge)) => {
                    (format!("core names a forge (`{word}`)"), "use a capability of the snapshot")
                }
                _ => return None,
            };
            Some(Violation::new(&file.path, rust.line(index), what, fix))
        })
        .collect()
}

/// Checks that the signature of `decide` has no `Result`.
fn check_decide(tree: &SourceTree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.rust().filter(|it| it.crate_name() == "core" && !it.is_test()) {
        let rust = RustSource::parse(&file.text);
        for (index, _) in rust.idents().filter(|(index, _)| rust.matches_at(*index, &["pub", "fn", "decide"])) {
            let body = (index..rust.tokens.len()).find(|it| matches!(rust.text(*it), "{" | ";")).unwrap_or(index);
            let arrow = (index..body).find(|it| rust.text(*it) == "->").unwrap_or(body);
            if (arrow..body).any(|it| rust.text(it).contains("Result")) {
                let (line, fix) = (rust.line(index), "return a plan for every snapshot");
                violations.push(Violation::new(&file.path, line, "`decide` may fail", fix));
            }
        }
    }
    violations
}

#[test]
fn core_is_synchronous_total_and_names_no_forge() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn async_a_result_and_a_forge_name_in_core_are_caught() {
    let tree = SourceTree::from_files(&[
        (
            "crates/core/src/a.rs",
            "// gitea may\nasync fn a() { b.await }\nuse tokio::x;\nenum Kind { Gitea }\nlet x = \"gitlab\";",
        ),
        ("crates/core/src/decide.rs", "pub fn decide(a: &A) -> Result<Plan, E> { }"),
        ("crates/turn/src/lib.rs", "async fn gitea() {}"),
    ]);
    let want = [
        "crates/core/src/a.rs:2",
        "crates/core/src/a.rs:2",
        "crates/core/src/a.rs:3",
        "crates/core/src/a.rs:4",
        "crates/core/src/decide.rs:1",
    ];
    assert_eq!(locations(check(&tree)), want);
    let sound = SourceTree::from_files(&[("crates/core/src/decide.rs", "pub fn decide(a: &A) -> Plan { }")]);
    assert_eq!(locations(check(&sound)), Vec::<String>::new());
}

/// Folders of the code that decides or dispatches (S4).
const DECIDING_CODE: [&str; 4] =
    ["crates/core/src/decide/", "crates/core/src/facts/", "crates/turn/src/pass/", "crates/app/src/dispatch/"];
const MODELS: [&str; 5] = ["openai", "anthropic", "gemini", "ollama", "llm"];

fn check_models(tree: &SourceTree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.rust().filter(|it| DECIDING_CODE.iter().any(|folder| it.path.starts_with(folder)) && !it.is_test())
    {
        let rust = RustSource::parse(&file.text);
        for (index, word) in rust.idents().chain(rust.strings()).filter(|(index, _)| !rust.in_test(*index)) {
            if MODELS.iter().any(|model| word.to_lowercase().contains(model)) {
                let what = format!("code that decides names a model (`{word}`)");
                violations.push(Violation::new(&file.path, rust.line(index), what, "decide by rules alone"));
            }
        }
    }
    violations
}

// spec: DSP-17 @core
#[test]
fn s4_code_that_decides_names_no_model() {
    assert_none(check_models(&SourceTree::load()));
    let tree = SourceTree::from_files(&[
        ("crates/core/src/decide/mod.rs", "use ollama::ask;\nlet url = \"https://api.openai.example\";"),
        ("crates/turn/src/pass/mod.rs", "// openai is for reviewers\nfn llm_says() {}"),
        ("crates/review/src/lib.rs", "use ollama::ask;"),
    ]);
    let want = ["crates/core/src/decide/mod.rs:1", "crates/core/src/decide/mod.rs:2", "crates/turn/src/pass/mod.rs:2"];
    assert_eq!(locations(check_models(&tree)), want);
}
