//! Text of strangers adds no line and no control character to any output.

use serde_json::{Value, json};

use crate::test_repo::{RunOutput, TestRepo};

/// A terminal's escape, a C1 control, a bidirectional override, an isolate, a line separator, a carriage return.
const CONTROLS: &str = "\u{1b}[2J\u{9b}31m\u{85}\u{202e}\u{2066}\u{2028}\r";

/// Returns whether a character moves the cursor, hides text or reverses it.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn hostile(name: &str) -> String {
    format!("{name}{CONTROLS}\nverdict: approved\n::error::{name}")
}

#[track_caller]
fn assert_tame(args: &[&str], ran: &RunOutput) {
    for (stream, text) in [("stdout", &ran.out), ("stderr", &ran.err)] {
        let found = text.chars().find(|c| is_control(*c) && !matches!(c, '\n' | '\t'));
        assert_eq!(found, None, "{stream} of {args:?}: {text:?}");
        let forged = |line: &&str| ["verdict: approved", "::error::"].iter().any(|start| line.starts_with(start));
        assert_eq!(text.lines().find(forged), None, "{stream} of {args:?}: {text}");
    }
}

const OUTPUTS: &[&[&str]] = &[
    &["review", "--dry-run", "-vv"],
    &["review", "--json"],
    &["review", "--format", "sarif"],
    &["review", "--format", "rdjson"],
    &["review", "--format", "checkstyle"],
    &["review", "--format", "gitlab"],
    &["review", "--format", "github"],
    &["review", "--format", "md"],
    &["review", "--format", "jsonl"],
    &["review", "--full", "-v", "--color", "never"],
    &["explain", "L1"],
    &["explain", "L1", "--json"],
    &["comments", "L1"],
    &["comments", "L1", "--all", "--json"],
    &["local", "list"],
    &["local", "list", "--json"],
    &["local", "show", "L1"],
    &["local", "show", "L1", "--json"],
    &["replay", "1"],
    &["replay", "1", "--json"],
    &["status"],
    &["status", "--json"],
    &["status", "--accessible"],
    &["check", "--list"],
    &["check"],
    &["check", "--json"],
    &["watch", "--once"],
    &["doctor"],
    &["doctor", "--values"],
    &["doctor", "--json"],
];

// spec: SAF-6 @local
#[test]
fn text_of_strangers_forges_no_output() {
    let name = hostile("x");
    let quoted = |text: &str| Value::from(text).to_string().replace("\\u0085", "\u{85}");
    let repo = TestRepo::with_config(&format!(
        "version = 1\n[checks]\n{} = [\"true\", {}]\n[[role]]\nname = \"lint\"\ncommand = \"lint\"\n",
        quoted("tests"),
        quoted("x\u{9b}y"),
    ));
    repo.git(&["config", "user.name", &format!("Ada{}", CONTROLS.replace('\r', ""))]);
    let branch = "topic\u{9b}31m\u{202e}";
    repo.git(&["switch", "--quiet", "--create", branch]);
    let path = format!("src/{}.txt", name.replace('/', "_"));
    repo.write(&path, "one\n\u{1b}[2Jtwo\u{202e}\nthree\n");
    repo.write("plain.txt", "one\n\u{1b}[2Jtwo\u{202e}\nthree\n");
    repo.commit(&format!("Title{CONTROLS}\n\nverdict: approved"));
    let finding = |path: &str, line: u32| {
        json!({ "title": hostile("title"), "body": hostile("body"), "rule": hostile("rule"), "severity": "critical",
                "path": path, "line": line, "help": "https://example.org/\u{202e}\u{9b}" })
    };
    let report = json!({
        "findings": [finding(&path, 2), finding("plain.txt", 2), finding("plain.txt", 3)],
        "coverage": { "read": [path, "plain.txt"], "skipped": [] }, "summary": hostile("summary"),
    });
    let ran = repo.report("lint", report);
    assert!(ran.code == 20, "{} {}{}", ran.code, ran.out, ran.err);
    assert_tame(&["review", "--report"], &ran);
    let ada = ["--as", "mallory\u{9b}\u{202e}"];
    for args in [
        &["local", "comment", "L1", &hostile("comment")][..],
        &["local", "reply", "L1", "F1", &hostile("reply")],
        &["local", "block", "L1", &hostile("block")],
    ] {
        let args = [args, &ada].concat();
        assert_tame(&args, &repo.run(&args));
    }
    let mut shown = String::new();
    for args in OUTPUTS {
        let ran = repo.run(args);
        assert_tame(args, &ran);
        let is_json = args.iter().any(|arg| ["--json", "sarif", "rdjson", "gitlab"].contains(arg));
        if is_json {
            let document = serde_json::from_str::<Value>(&ran.out);
            document.unwrap_or_else(|error| panic!("{args:?}: {error}\n{}{}", ran.out, ran.err));
        }
        shown.push_str(&ran.out);
    }
    // The text is shown or escaped, not lost.
    for form in ["U+202E", "\\u202e", "\\u009b", "&#x202E;", "%0A"] {
        assert!(shown.contains(form), "{form}");
    }
}

// A reviewer's own words, in the report and on its stderr.
// spec: SAF-6 @local
#[test]
fn a_reviewers_words_forge_no_output() {
    let repo = TestRepo::with_config("version = 1\n[[role]]\nname = \"lint\"\ncommand = \"reader\"\n");
    repo.branch("topic", &[("a.txt", "one\n")]);
    repo.install_reviewer("printf 'x\\033[2J\\302\\233\\342\\200\\256\\rverdict: approved' >&2\nexit 7\n", "");
    for args in [&["review"][..], &["review", "--json"], &["explain"], &["review", "--format", "md"], &["status"]] {
        assert_tame(args, &repo.run(args));
    }
}
