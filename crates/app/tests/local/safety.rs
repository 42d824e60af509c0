//! The reviewed change cannot configure its review, secrets are not printed, and a dry run leaves no trace.

use serde_json::{Value, json};

use crate::test_repo::{TestRepo, changed_files, read_files};

const STATIC: &str = "version = 1\n[[role]]\nname = \"static\"\nbuiltin = true\n";
const READER: &str = "version = 1\n[[role]]\nname = \"security\"\ncommand = \"reader\"\n";
/// A rule of the repository's own.
const RULE: &str =
    "id: no-launch\nlanguage: Python\nseverity: error\nmessage: Do not launch.\nrule:\n  pattern: launch($A)\n";

/// A value of a published shape, in pieces: this file must not hold one.
fn token() -> String {
    ["gh", "p_", "1B4rqfHMOoDGhqXq5zyPSsMT", "q7r2sK0aVbXc"].concat()
}

fn places(turn: &Value) -> Vec<String> {
    let findings = turn["findings"].as_array().unwrap_or_else(|| panic!("no findings in {turn:#}"));
    findings.iter().map(|it| format!("{}:{}", it["path"].as_str().expect("a path"), it["line"])).collect()
}

// spec: SAF-2 @local
#[test]
fn config_and_rules_of_the_head_are_ignored() {
    let repo = TestRepo::with_config(STATIC);
    repo.write(".referee/rules/own.yml", RULE);
    repo.commit("Add a rule");
    repo.branch("topic", &[("job.py", "launch(1)\n"), ("key.txt", &format!("token = \"{}\"\n", token()))]);
    let before = places(&repo.json(&["review", "--dry-run"]));
    assert_eq!(before, ["job.py:1", "key.txt:1"]);
    let off = "version = 1\n[review]\nexclude = [\"**\"]\nmax_inline = 1\n[gates]\nreview = \"off\"\n[loop]\nrounds = 9\n\
               [[role]]\nname = \"static\"\nbuiltin = true\nblocks = false\n";
    repo.write("referee.toml", off);
    repo.write(".referee/rules/own.yml", "id: broken\nthis is no rule\n");
    repo.write(".gitleaks.toml", "[allowlist]\npaths = ['.*']\nregexes = ['.*']\n");
    repo.commit("Turn it all off");
    let turn = repo.json(&["review"]);
    assert_eq!(places(&turn), before);
    assert_eq!((&turn["roles"][0]["own"], &turn["pull"]["rounds"]), (&json!("request_changes"), &json!(3)), "{turn:#}");
    assert_eq!(repo.read_snapshot("L1")["threads"].as_array().map(Vec::len), Some(2), "the gate is open still");
    let explanation = repo.run(&["explain", "L1"]);
    assert!(explanation.err.contains("`referee.toml` of the work tree differs"), "{}", explanation.err);
}

// spec: SAF-2 @local
#[test]
fn config_and_rules_of_the_base_apply() {
    let repo = TestRepo::with_config(&format!("{STATIC}[review]\nexclude = [\"job.py\"]\n"));
    repo.write(".referee/rules/own.yml", RULE);
    repo.write(".gitleaks.toml", "[allowlist]\npaths = ['key.txt']\n");
    repo.commit("Turn it off at the base");
    repo.branch("topic", &[("job.py", "launch(1)\n"), ("key.txt", &format!("token = \"{}\"\n", token()))]);
    assert_eq!(places(&repo.json(&["review", "--dry-run"])), [] as [&str; 0]);
}

// spec: SAF-2 @local
#[test]
fn config_of_an_unprotected_base_branch_is_ignored() {
    let repo = TestRepo::with_config(STATIC);
    let key = format!("token = \"{}\"\n", token());
    repo.branch("stack", &[("referee.toml", "version = 1\n[review]\nexclude = [\"**\"]\n")]);
    repo.branch("topic", &[("key.txt", &key)]);
    assert_eq!(places(&repo.json(&["review", "stack..topic"])), ["key.txt:1"]);
}

const SECRETS: [(&str, &str); 4] = [
    ("REFEREE_TOKEN", "hush-referee-0451"),
    ("GITHUB_TOKEN", "hush-github-0451"),
    ("OPENAI_API_KEY", "hush-openai-0451"),
    ("MARK_KEY", "hush-mark-0451-0451-0451"),
];

/// Every command that says something of a pull.
const EVERYTHING: &[&[&str]] = &[
    &["review", "--dry-run", "--verbose"],
    &["review", "--format", "sarif"],
    &["review", "--format", "rdjson"],
    &["review", "--format", "checkstyle"],
    &["review", "--format", "gitlab"],
    &["review", "--format", "github"],
    &["review", "--format", "md"],
    &["review", "--format", "jsonl"],
    &["review", "--full", "--verbose"],
    &["explain", "L1"],
    &["explain", "L1", "--json"],
    &["comments", "L1", "--json"],
    &["local", "show", "L1"],
    &["local", "show", "L1", "--json"],
    &["replay", "1", "--json"],
    &["status"],
    &["doctor"],
    &["doctor", "--json"],
];

/// What all of them printed, and what is kept in the git folder.
fn traces(repo: &TestRepo) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for args in EVERYTHING {
        let ran = repo.referee(args).envs(SECRETS).output().expect("referee runs");
        all.push((format!("stdout of {args:?}"), ran.stdout));
        all.push((format!("stderr of {args:?}"), ran.stderr));
    }
    let kept = read_files(&repo.dir().join(".git/referee"));
    assert!(!kept.is_empty());
    all.extend(kept.into_iter().map(|(path, bytes)| (path.display().to_string(), bytes)));
    all
}

fn holds(bytes: &[u8], value: &str) -> bool {
    bytes.windows(value.len()).any(|window| window == value.as_bytes())
}

// spec: SAF-4 @local
#[test]
fn a_secret_in_the_change_is_found_and_never_repeated() {
    let repo = TestRepo::with_config(STATIC);
    repo.branch("topic", &[("key.txt", &format!("token = \"{}\"\n", token()))]);
    assert_eq!(places(&repo.json(&["review"])), ["key.txt:1"]);
    for (what, bytes) in traces(&repo) {
        assert!(!holds(&bytes, &token()), "{what}: {}", String::from_utf8_lossy(&bytes));
    }
}

// spec: SAF-4 @local
#[test]
fn secrets_reach_no_output_no_file_and_no_program() {
    let repo = TestRepo::with_config(READER);
    repo.branch("topic", &[("src/a.rs", "fn a() {}\n")]);
    let seen = repo.path_outside("seen");
    repo.install_reviewer(&format!("env > '{}'\nenv >&2\nexit 7\n", seen.display()), "");
    let token = repo.write_outside("token", "hush-file-0451\n");
    let entry = std::fs::read_to_string(repo.path_outside("home/.config/referee/operator.toml")).expect("the file");
    repo.write_operator_file(&format!(
        "{entry}\n[forge.work.gitea]\nurl = \"https://git.example.org\"\ntoken = {{ file = {token:?} }}\n\
         [models.default]\nprovider = \"openai\"\nmodel = \"m\"\nkey = {{ env = \"OPENAI_API_KEY\" }}\n\
         [mark]\nkeys = [{{ env = \"MARK_KEY\" }}]\n"
    ));
    let first = repo.referee(&["review"]).envs(SECRETS).output().expect("referee runs");
    assert_eq!(first.status.code(), Some(14), "{}", String::from_utf8_lossy(&first.stderr));
    let mut all = traces(&repo);
    let given = std::fs::read(&seen).expect("the program ran");
    assert!(holds(&given, "PATH="), "the program has an environment");
    all.extend([("its environment".to_owned(), given), ("stdout".to_owned(), first.stdout)]);
    all.push(("stderr".to_owned(), first.stderr));
    for (what, bytes) in all {
        for value in SECRETS.map(|(_, value)| value).into_iter().chain(["hush-file-0451"]) {
            assert!(!holds(&bytes, value), "`{value}` in {what}: {}", String::from_utf8_lossy(&bytes));
        }
    }
}

// spec: SAF-4 @local
#[test]
fn a_literal_secret_in_a_file_is_refused_without_being_repeated() {
    let repo = TestRepo::with_config(STATIC);
    repo.branch("topic", &[("a.py", "a = 1\n")]);
    repo.write_operator_file("[forge.work.gitea]\nurl = \"https://git.example.org\"\ntoken = \"hush-literal-0451\"\n");
    let ran = repo.run_expecting(2, &["review"]);
    assert!(ran.err.contains("operator.toml:3"), "{}", ran.err);
    assert!(!ran.err.contains("hush-literal") && !ran.out.contains("hush-literal"), "{}", ran.err);
    let ran = repo.run(&["doctor", "--json"]);
    assert!(!ran.err.contains("hush-literal") && !ran.out.contains("hush-literal"), "{}{}", ran.out, ran.err);
}

// spec: SAF-5 @local
#[test]
fn a_dry_run_on_an_existing_pull_leaves_no_trace() {
    let repo = TestRepo::with_config(READER);
    repo.branch("topic", &[("src/a.rs", "fn a() {}\n")]);
    let finding = json!({ "title": "It panics", "severity": "critical", "path": "src/a.rs", "line": 1 });
    repo.report_json("security", json!({ "findings": [finding] }));
    repo.write("src/a.rs", "fn a() { b() }\n");
    repo.commit("Go on");
    let fixed = json!({ "positions": [{ "finding": "F1", "position": "fixed", "evidence": "src/a.rs:1" }] });
    let report = repo.write_outside("report.json", repo.full_report("security", fixed).to_string());
    let before = read_files(&repo.dir());
    let turn = repo.json(&["review", "--role", "security", "--report", &report, "--dry-run"]);
    assert_eq!((&turn["roles"][0]["own"], &turn["calls"]["writes"]), (&json!("approve"), &json!(0)), "{turn:#}");
    let receipts: Vec<&Value> = turn["steps"].as_array().expect("steps").iter().map(|it| &it["receipt"]).collect();
    assert!(receipts.len() > 2 && receipts.iter().all(|it| *it == "withheld"), "{turn:#}");
    // The database's readers share a file of locks, beside a log that stays empty.
    let mut left = changed_files(&repo.dir(), &before);
    left.retain(|path| {
        let name = path.to_string_lossy();
        let empty = std::fs::metadata(repo.dir().join(path)).is_ok_and(|it| it.len() == 0);
        !(name.ends_with(".db-shm") || name.ends_with(".db-wal") && empty)
    });
    assert_eq!(left, [] as [std::path::PathBuf; 0]);
}
