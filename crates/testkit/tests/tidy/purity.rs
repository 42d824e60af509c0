//! Deciding cannot fail and cannot wait: `decide` returns a plan, not a `Result`, and core knows no `async`.
//! It knows no forge either: what differs between forges reaches it as a capability.

use crate::house::{File, House};
use crate::rust::Rust;
use crate::{Complaint, hold, places};

const FORGES: [&str; 4] = ["github", "gitlab", "gitea", "forgejo"];

fn check(house: &House) -> Vec<Complaint> {
    let sources = house.rust().filter(|it| it.room() == "core" && !it.is_test());
    sources.flat_map(check_file).chain(check_decide(house)).collect()
}

fn check_file(file: &File) -> Vec<Complaint> {
    let rust = Rust::read(&file.text);
    let words = rust.words().filter(|(index, _)| !rust.in_test(*index));
    words
        .filter_map(|(index, word)| {
            let (what, remedy) = match word {
                "async" | "await" => (format!("core says `{word}`"), "decide on values that are already there"),
                "tokio" => ("core uses tokio".into(), "decide on values that are already there"),
                _ if FORGES.iter().any(|forge| word.to_lowercase().contains(forge)) => {
                    (format!("core names a forge (`{word}`)"), "ask a capability of the snapshot")
                }
                _ => return None,
            };
            Some(Complaint::new(&file.path, rust.line(index), what, remedy))
        })
        .collect()
}

/// Whoever asks core to decide gets a plan: the signature cannot fail.
fn check_decide(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in house.rust().filter(|it| it.room() == "core" && !it.is_test()) {
        let rust = Rust::read(&file.text);
        for (index, _) in rust.words().filter(|(index, _)| rust.reads(*index, &["pub", "fn", "decide"])) {
            let body = (index..rust.tokens.len()).find(|it| matches!(rust.text(*it), "{" | ";")).unwrap_or(index);
            let arrow = (index..body).find(|it| rust.text(*it) == "->").unwrap_or(body);
            if (arrow..body).any(|it| rust.text(it).contains("Result")) {
                let (line, remedy) = (rust.line(index), "return a plan for every snapshot");
                complaints.push(Complaint::new(&file.path, line, "`decide` may fail", remedy));
            }
        }
    }
    complaints
}

#[test]
fn core_decides_at_once_and_for_all_forges_alike() {
    hold(check(&House::load()));
}

#[test]
fn a_core_that_waits_fails_or_knows_a_forge_is_caught() {
    let house = House::of(&[
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
    assert_eq!(places(check(&house)), want);
    let sound = House::of(&[("crates/core/src/decide.rs", "pub fn decide(a: &A) -> Plan { }")]);
    assert_eq!(places(check(&sound)), Vec::<String>::new());
}

/// S4: what decides, and what dispatches, knows no model: nothing there can ask one.
const DECIDES: [&str; 4] =
    ["crates/core/src/decide/", "crates/core/src/facts/", "crates/turn/src/pass/", "crates/app/src/dispatch/"];
const MODELS: [&str; 5] = ["openai", "anthropic", "gemini", "ollama", "llm"];

fn check_models(house: &House) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in house.rust().filter(|it| DECIDES.iter().any(|room| it.path.starts_with(room)) && !it.is_test()) {
        let rust = Rust::read(&file.text);
        for (index, word) in rust.words().chain(rust.strings()).filter(|(index, _)| !rust.in_test(*index)) {
            if MODELS.iter().any(|model| word.to_lowercase().contains(model)) {
                let what = format!("what decides names a model (`{word}`)");
                complaints.push(Complaint::new(&file.path, rust.line(index), what, "decide by rules alone"));
            }
        }
    }
    complaints
}

// spec: DSP-17 @core
#[test]
fn s4_no_model_decides() {
    hold(check_models(&House::load()));
    let house = House::of(&[
        ("crates/core/src/decide/mod.rs", "use ollama::ask;\nlet url = \"https://api.openai.example\";"),
        ("crates/turn/src/pass/mod.rs", "// openai is for reviewers\nfn llm_says() {}"),
        ("crates/review/src/lib.rs", "use ollama::ask;"),
    ]);
    let want = ["crates/core/src/decide/mod.rs:1", "crates/core/src/decide/mod.rs:2", "crates/turn/src/pass/mod.rs:2"];
    assert_eq!(places(check_models(&house)), want);
}
