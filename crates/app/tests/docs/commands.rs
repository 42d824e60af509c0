//! Every command and flag that the docs name exists.

use std::collections::BTreeMap;
use std::process::Command;

use crate::sandbox::{referee, text};

const PAGES: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/config.md",
    "docs/dispatch.md",
    "docs/rules.md",
    "docs/sandbox.md",
    "docs/forges/gitea.md",
    "docs/forges/forgejo.md",
];

#[test]
fn commands_and_flags_that_the_docs_name_exist() {
    let mut helps = BTreeMap::new();
    let mut wrong = Vec::new();
    for page in PAGES {
        for line in typed(&text(page)) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(at) = words.iter().position(|word| !word.starts_with('-')) else { continue };
            let command = words[at].trim_matches(['…', '.', ',']);
            // `-C DIR` and the like come before the command.
            if at > 0 || command.is_empty() || command.starts_with(|c: char| !c.is_ascii_lowercase()) {
                continue;
            }
            let help = helps.entry(command.to_owned()).or_insert_with(|| help(command));
            let Some(help) = help else {
                wrong.push(format!("{page}: there is no `referee {command}`"));
                continue;
            };
            let flags = words.iter().take_while(|word| **word != "--").filter(|word| word.starts_with("--"));
            for flag in flags.map(|flag| flag.split('=').next().unwrap_or_default()) {
                if !help.contains(flag) {
                    wrong.push(format!("{page}: `referee {command}` has no `{flag}`"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(helps.len() >= 10, "the docs name few commands: {:?}", helps.keys());
}

/// What stands after `referee ` in code: spans, and lines of blocks.
fn typed(page: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut fenced = false;
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            let after = line.strip_prefix("$ ").unwrap_or(line).rsplit_once("referee ");
            let begins = line.starts_with("$ referee ") || line.starts_with("referee ") || line.contains("| referee ");
            lines.extend(after.filter(|_| begins).map(|(_, rest)| rest.to_owned()));
        } else {
            let spans = line.split('`').skip(1).step_by(2);
            lines.extend(spans.filter_map(|span| span.strip_prefix("referee ")).map(ToOwned::to_owned));
        }
    }
    lines
}

fn help(command: &str) -> Option<String> {
    let output = Command::new(referee()).args([command, "--help"]).output().expect("it runs");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
