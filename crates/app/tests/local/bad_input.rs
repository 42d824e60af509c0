//! Bad input of every kind gets a clear message and the right exit code, and nothing is lost.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::test_repo::{TestRepo, read_files};

const CONFIG: &str = "version = 1\n[[role]]\nname = \"security\"\ncommand = \"reader\"\n";
const CODE: &str = "fn a() { one() }\n\nfn b() { two() }\n";

/// A branch with a file, and one finding on it.
fn reviewed() -> TestRepo {
    let repo = fresh();
    repo.report_json("security", json!({ "findings": [finding("One panics", 1)] }));
    repo
}

fn fresh() -> TestRepo {
    let repo = TestRepo::with_config(CONFIG);
    repo.branch("topic", &[("src/a.rs", CODE)]);
    repo
}

fn finding(title: &str, line: u32) -> Value {
    json!({ "title": title, "severity": "critical", "path": "src/a.rs", "line": line })
}

fn states(turn: &Value) -> Vec<String> {
    let findings = turn["findings"].as_array().unwrap_or_else(|| panic!("no findings in {turn:#}"));
    findings.iter().map(|it| it["state"].as_str().expect("a state").to_owned()).collect()
}

// spec: SAF-6 @local
#[test]
fn nothing_to_review_has_its_own_message_and_exit_code() {
    let repo = TestRepo::new();
    let bare = repo.path_outside("bare");
    fs::create_dir_all(&bare).expect("a folder");
    let bare = bare.display().to_string();
    let ran = repo.run_expecting(1, &["-C", &bare, "review"]);
    assert!(ran.err.contains("is not in a git repository") && ran.err.contains("hint: "), "{}", ran.err);
    repo.git(&["init", "--quiet", "--initial-branch=main", &bare]);
    let ran = repo.run_expecting(3, &["-C", &bare, "review"]);
    assert!(ran.err.contains("`main` has no commits yet"), "{}", ran.err);
    let ran = repo.run_expecting(2, &["review", "nowhere..main"]);
    assert!(ran.err.contains("`nowhere` is not a commit"), "{}", ran.err);
    repo.git(&["switch", "--quiet", "--create", "topic"]);
    let ran = repo.run_expecting(3, &["review"]);
    let head = repo.head();
    assert!(ran.err.contains("`main..topic` changes nothing") && ran.err.contains(&head[..7]), "{}", ran.err);
    let ran = repo.run_expecting(3, &["review", "--json"]);
    let error: Value = serde_json::from_str(&ran.out).expect("a document");
    assert_eq!((&error["schema"], &error["exit"]), (&json!("referee/error-1"), &json!(3)));
}

fn garble(path: &Path) {
    fs::write(path, b"no database at all, ".repeat(400)).expect("a file");
}

/// As a newer referee would leave it.
fn age(path: &Path) {
    Connection::open(path).expect("a database").pragma_update(None, "user_version", 999).expect("a version");
}

// spec: SAF-6 @local
#[test]
fn an_unreadable_database_is_reported_and_left_alone() {
    for name in ["referee.db", "state.db"] {
        for (spoil, says) in [(garble as fn(&Path), "no database"), (age, "999")] {
            let repo = reviewed();
            let stood = repo.read_snapshot("L1");
            let path = repo.dir().join(".git/referee").join(name);
            for log in ["-wal", "-shm"] {
                let _ = fs::remove_file(repo.dir().join(".git/referee").join(format!("{name}{log}")));
            }
            spoil(&path);
            let spoiled = fs::read(&path).expect("a file");
            let ran = repo.run(&["review"]);
            if (name, says) == ("state.db", "no database") {
                // Its contents can be derived again, so the file is renamed and the run goes on.
                assert_eq!(ran.code, 20, "{}", ran.err);
                assert!(ran.err.contains("was renamed to"), "{}", ran.err);
                assert_eq!(fs::read(path.with_extension("db.bad-1")).expect("it is there"), spoiled);
                assert_eq!(repo.read_snapshot("L1")["threads"], stood["threads"]);
                continue;
            }
            assert_eq!(ran.code, 1, "{name} {says}: {}", ran.err);
            assert!(ran.err.contains(name) && ran.err.contains(says) && ran.err.contains("hint: "), "{}", ran.err);
            assert_eq!(fs::read(&path).expect("a file"), spoiled, "{name} is as it was");
        }
    }
}

// spec: SAF-6 @local
#[test]
fn a_read_only_checkout_is_reported_and_can_still_be_read() {
    let repo = fresh();
    // A file in place of the folder: not even root can write there.
    fs::write(repo.dir().join(".git/referee"), "").expect("a file");
    let report = repo
        .write_outside("r.json", repo.full_report("security", json!({ "findings": [finding("One", 1)] })).to_string());
    let args = ["review", "--role", "security", "--report", &report];
    let ran = repo.run_expecting(1, &args);
    assert!(ran.err.contains(".git/referee") && ran.err.contains("hint: "), "{}", ran.err);
    let dry = repo.run_expecting(20, &[&args[..], &["--dry-run"]].concat());
    assert!(dry.out.contains("F1"), "{}", dry.out);
    fs::remove_file(repo.dir().join(".git/referee")).expect("a file");
    repo.run_expecting(20, &args);
}

#[cfg(target_os = "linux")]
// spec: SAF-6 @local
#[test]
fn a_full_disk_is_reported_and_nothing_posted_is_lost() {
    let repo = reviewed();
    let stood = repo.read_snapshot("L1");
    let many: Vec<Value> = (1..=3).map(|line| finding(&format!("Number {line} fails"), line)).collect();
    let body = "long words ".repeat(900);
    let report = repo.full_report("security", json!({ "findings": many, "summary": body }));
    let report = repo.write_outside("r.json", report.to_string());
    // No file may grow beyond what is there: the limit binds everybody, and the signal that comes with it is not heard.
    let limited = repo.referee(&["review", "--role", "security", "--report", &report]);
    let argv: Vec<_> = limited.get_args().map(ToOwned::to_owned).collect();
    let program = limited.get_program().to_owned();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""]).arg(program).args(argv);
    for (name, value) in limited.get_envs() {
        shell.env(name, value.expect("a value"));
    }
    shell.current_dir(repo.dir());
    let output = shell.output().expect("a shell");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!([Some(1), Some(75)].contains(&output.status.code()), "{:?} {err}", output.status);
    assert!(err.contains(".git/referee") && err.contains("hint: "), "{err}");
    assert_eq!(repo.read_snapshot("L1")["threads"], stood["threads"]);
    repo.run_expecting(20, &["review", "--role", "security", "--report", &report]);
    assert_eq!(repo.read_snapshot("L1")["threads"].as_array().map(Vec::len), Some(3));
}

// spec: SAF-6 @local
#[test]
fn all_config_errors_are_reported_together_with_their_lines() {
    let wrong = "version = 1\n[revew]\nmax_inline = 3\n[loop]\nrounds = \"three\"\n[gates]\nreview = \"maybe\"\n";
    let repo = TestRepo::with_config(wrong);
    repo.branch("topic", &[("src/a.rs", CODE)]);
    let ran = repo.run_expecting(2, &["review"]);
    for says in [":2", ":5", ":7", "revew", "review", "rounds", "maybe"] {
        assert!(ran.err.contains(says), "`{says}` in {}", ran.err);
    }
    let ran = repo.run_expecting(2, &["review", "--operator", "nowhere.toml"]);
    assert!(ran.err.contains("nowhere.toml"), "{}", ran.err);
}

// spec: SAF-6 @local
#[test]
fn a_report_for_another_head_adds_findings_but_resolves_and_approves_nothing() {
    let repo = reviewed();
    let old = repo.head();
    repo.write("src/a.rs", CODE.replace("one()", "uno()"));
    repo.commit("Fix it");
    let positions = json!([{ "finding": "F1", "position": "fixed", "evidence": "src/a.rs:1" }]);
    let turn = repo.report_json("security", json!({ "head": old, "positions": positions }));
    assert_eq!((states(&turn), &turn["roles"][0]["own"]), (vec!["open".to_owned()], &json!("request_changes")));
    assert_eq!(turn["roles"][0]["at_head"], false);
    let nobody = "0123456789012345678901234567890123456789";
    let turn = repo.report_json("security", json!({ "head": nobody, "positions": positions }));
    assert_eq!((states(&turn), &turn["roles"][0]["at_head"]), (vec!["open".to_owned()], &json!(false)));
}

// spec: SAF-6 @local
#[test]
fn a_report_that_contradicts_itself_resolves_nothing() {
    let repo = reviewed();
    repo.write("src/a.rs", CODE.replace("one()", "uno()"));
    repo.commit("Fix it");
    let twice = json!([{ "finding": "F1", "position": "fixed", "evidence": "src/a.rs:1" },
                       { "finding": "F1", "position": "still_there", "evidence": "src/a.rs:1" }]);
    let ran = repo.report("security", json!({ "positions": twice }));
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("F1") && ran.err.contains("nothing was taken"), "{}", ran.err);
    assert_eq!(repo.read_snapshot("L1")["threads"][0]["resolved"], Value::Null);
}

// spec: SAF-6 @local
#[test]
fn all_type_errors_of_a_report_are_reported_together_and_nothing_is_used() {
    let repo = reviewed();
    let stood = repo.read_snapshot("L1");
    let wrong = json!({ "findings": [{ "title": 7, "severity": "huge", "path": "src/a.rs", "line": "one" }],
                        "positions": "none", "surprise": 1 });
    let ran = repo.report("security", wrong);
    assert_eq!(ran.code, 2, "{}", ran.err);
    for says in ["nothing was taken", "/findings/0/title", "/findings/0/severity", "/positions", "surprise"] {
        assert!(ran.err.contains(says), "`{says}` in {}", ran.err);
    }
    for text in ["", "{", "[]", "null", "\u{0}", "{\"schema\": \"other\"}"] {
        let path = repo.write_outside("r.json", text);
        let ran = repo.run(&["review", "--role", "security", "--report", &path]);
        assert!([2, 14, 20].contains(&ran.code), "{text:?}: {} {}", ran.code, ran.err);
    }
    let ran = repo.run_with_stdin(&["review", "--role", "security", "--report", "-"], b"\xff\xfe\x00{");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_eq!(repo.read_snapshot("L1")["threads"], stood["threads"]);
}

// spec: SAF-6 @local
#[test]
fn a_report_larger_than_the_limit_is_refused() {
    let repo = reviewed();
    for bytes in [100_000_000, 200_000_000] {
        let path = repo.write_outside("huge.json", "");
        let file = fs::File::options().write(true).open(&path).expect("a file");
        file.set_len(bytes).expect("a size");
        let ran = repo.run_expecting(2, &["review", "--role", "security", "--report", &path]);
        assert!(ran.err.contains("100 MB"), "{}", ran.err);
    }
}

// spec: SAF-6 @local
#[test]
fn a_path_outside_the_repository_is_never_read() {
    let repo = fresh();
    repo.write_outside("secret.txt", "hush-0451\n");
    let out = repo.path_outside("secret.txt").display().to_string();
    let found: Vec<Value> = ["../secret.txt", &out, ".git/config", "src/../../secret.txt"]
        .iter()
        .map(|path| json!({ "title": "A place elsewhere", "severity": "critical", "path": path, "line": 1 }))
        .collect();
    let ran = repo.report("security", json!({ "findings": found }));
    assert!([2, 20].contains(&ran.code), "{}", ran.err);
    assert!(!ran.out.contains("hush-0451") && !ran.err.contains("hush-0451"), "{}", ran.out);
    for (path, bytes) in read_files(&repo.dir().join(".git/referee")) {
        assert!(!bytes.windows(9).any(|it| it == b"hush-0451"), "{}", path.display());
    }
    let show = repo.run(&["local", "show", "L1"]);
    assert!(!show.out.contains("on ../") && !show.out.contains("on /"), "no thread is there: {}", show.out);
}

/// A document of that format with a finding on each of these lines.
fn document(format: &str, lines: &[u32]) -> String {
    let text = |line: u32| format!("Number {line} fails in a way that takes some words to tell, so that it is long");
    let all = |each: &dyn Fn(u32) -> Value| lines.iter().map(|line| each(*line)).collect::<Vec<_>>();
    let diagnostic = |line: u32| {
        json!({ "message": text(line), "severity": "ERROR", "code": { "value": format!("r{line}") },
                "location": { "path": "src/a.rs", "range": { "start": { "line": line, "column": 1 } } } })
    };
    let lines_of = |each: &dyn Fn(u32) -> Value| all(each).iter().map(|it| format!("{it}\n")).collect::<String>();
    match format {
        "sarif" => {
            let result = |line: u32| {
                json!({ "ruleId": format!("r{line}"), "level": "error", "message": { "text": text(line) },
                        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "src/a.rs" },
                                        "region": { "startLine": line } } }] })
            };
            let run = json!({ "tool": { "driver": { "name": "tool" } }, "results": all(&result) });
            json!({ "version": "2.1.0", "runs": [run] }).to_string()
        }
        "rdjson" => json!({ "source": { "name": "tool" }, "diagnostics": all(&diagnostic) }).to_string(),
        "rdjsonl" => lines_of(&diagnostic),
        "gitlab" => Value::from(all(&|line| {
            json!({ "description": text(line), "check_name": format!("r{line}"), "fingerprint": format!("f{line}"),
                    "severity": "blocker", "location": { "path": "src/a.rs", "lines": { "begin": line } } })
        }))
        .to_string(),
        "checkstyle" => {
            let error = |line: &u32| {
                format!("<error line=\"{line}\" severity=\"error\" message=\"{}\" source=\"r{line}\"/>", text(*line))
            };
            let errors: String = lines.iter().map(error).collect();
            format!(
                "<?xml version=\"1.0\"?><checkstyle version=\"1\"><file name=\"src/a.rs\">{errors}</file></checkstyle>"
            )
        }
        "cargo" => {
            let message = |line: u32| {
                let span = json!({ "file_name": "src/a.rs", "line_start": line, "line_end": line, "column_start": 1,
                                   "column_end": 2, "is_primary": true, "byte_start": 0, "byte_end": 1, "text": [],
                                   "label": null, "suggested_replacement": null, "expansion": null });
                json!({ "reason": "compiler-message", "package_id": "p", "manifest_path": "/p/Cargo.toml",
                        "target": { "kind": ["lib"], "name": "p", "src_path": "/p/src/a.rs" },
                        "message": { "message": text(line), "level": "error", "code": { "code": format!("r{line}") },
                                     "spans": [span], "children": [], "rendered": null } })
            };
            format!("{}{{\"reason\":\"build-finished\",\"success\":true}}\n", lines_of(&message))
        }
        other => panic!("{other}"),
    }
}

// spec: SAF-6 @local
#[test]
fn a_truncated_report_never_resolves_a_finding() {
    let code = |word: &str| (1..=12).map(|line| format!("fn f{line}() {{ {word}() }}\n")).collect::<String>();
    let all: Vec<u32> = (1..=12).collect();
    for format in ["sarif", "rdjson", "rdjsonl", "gitlab", "checkstyle", "cargo"] {
        let repo = TestRepo::with_config(CONFIG);
        repo.branch("topic", &[("src/a.rs", &code("old"))]);
        let hand_in = |text: &str| {
            let path = repo.write_outside("report", text);
            repo.json(&["review", "--role", "security", "--report", &path, "--report-format", format])
        };
        let first = hand_in(&document(format, &all));
        assert_eq!(states(&first).len(), 12, "{format}: {first:#}");
        repo.write("src/a.rs", code("new"));
        repo.commit("Change every line");
        let whole = document(format, &[12]);
        let long = document(format, &all);
        for cut in (0..long.len() - 1).step_by(1000) {
            hand_in(&long[..cut]);
            let stands = repo.read_snapshot("L1");
            let threads = stands["threads"].as_array().expect("threads");
            let resolved = threads.iter().filter(|it| it["resolved"] != Value::Null).count();
            assert_eq!(resolved, 0, "{format} cut at {cut}");
        }
        let last = hand_in(&whole);
        let fixed = states(&last).iter().filter(|state| *state == "fixed").count();
        // A stream without an end mark proves nothing by what it leaves out.
        assert_eq!(fixed, if format == "rdjsonl" { 0 } else { 11 }, "{format} whole: {last:#}");
    }
}

// spec: SAF-6, INC-15 @local
#[test]
fn a_program_that_hangs_floods_crashes_or_is_missing_is_a_failed_review() {
    let scripts = [
        ("sleep 600\n", "timeout = \"1s\"", "did not finish within"),
        ("echo this is no report\n", "", "not in the `referee` format"),
        ("echo '{\"schema\":'\n", "", "is truncated"),
        ("true\n", "", "printed nothing"),
        ("echo about to fall >&2; kill -9 $$\n", "", "was killed by signal 9: about to fall"),
        ("exit 3\n", "", "exited with code 3"),
    ];
    for (script, entry, says) in scripts {
        let repo = fresh();
        repo.install_reviewer(script, entry);
        let ran = repo.run_expecting(14, &["review"]);
        assert!(ran.err.contains(says), "`{says}` in {}", ran.err);
        let summary = repo.read_snapshot("L1")["reviews"].to_string();
        assert!(summary.contains("failed"), "visible on the pull: {summary}");
    }
    let repo = fresh();
    repo.write_operator_file("[commands.reader]\nargv = [\"no-such-program\"]\n");
    let ran = repo.run_expecting(14, &["review"]);
    assert!(ran.err.contains("`no-such-program` could not be started"), "{}", ran.err);
    let repo = fresh();
    let ran = repo.run_expecting(2, &["review"]);
    assert!(ran.err.contains("which the operator file does not define") && ran.err.contains("hint: "), "{}", ran.err);
}
