//! The reviewed change has no say, secrets stay where they are, and a dry run leaves no trace.

use serde_json::{Value, json};

use crate::shop::{Shop, changed, contents};

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
fn what_the_head_says_of_its_own_review_has_no_say() {
    let shop = Shop::with_config(STATIC);
    shop.write(".referee/rules/own.yml", RULE);
    shop.commit("Add a rule");
    shop.branch("topic", &[("job.py", "launch(1)\n"), ("key.txt", &format!("token = \"{}\"\n", token()))]);
    let before = places(&shop.json(&["review", "--dry-run"]));
    assert_eq!(before, ["job.py:1", "key.txt:1"]);
    let off = "version = 1\n[review]\nexclude = [\"**\"]\nmax_inline = 1\n[gates]\nreview = \"off\"\n[loop]\nrounds = 9\n\
               [[role]]\nname = \"static\"\nbuiltin = true\nblocks = false\n";
    shop.write("referee.toml", off);
    shop.write(".referee/rules/own.yml", "id: broken\nthis is no rule\n");
    shop.write(".gitleaks.toml", "[allowlist]\npaths = ['.*']\nregexes = ['.*']\n");
    shop.commit("Turn it all off");
    let turn = shop.json(&["review"]);
    assert_eq!(places(&turn), before);
    assert_eq!((&turn["roles"][0]["own"], &turn["pull"]["rounds"]), (&json!("request_changes"), &json!(3)), "{turn:#}");
    assert_eq!(shop.stands("L1")["threads"].as_array().map(Vec::len), Some(2), "the gate is open still");
    let told = shop.run(&["explain", "L1"]);
    assert!(told.err.contains("`referee.toml` of the work tree differs"), "{}", told.err);
}

// spec: SAF-2 @local
#[test]
fn the_same_files_count_at_the_base() {
    let shop = Shop::with_config(&format!("{STATIC}[review]\nexclude = [\"job.py\"]\n"));
    shop.write(".referee/rules/own.yml", RULE);
    shop.write(".gitleaks.toml", "[allowlist]\npaths = ['key.txt']\n");
    shop.commit("Turn it off at the base");
    shop.branch("topic", &[("job.py", "launch(1)\n"), ("key.txt", &format!("token = \"{}\"\n", token()))]);
    assert_eq!(places(&shop.json(&["review", "--dry-run"])), [] as [&str; 0]);
}

// spec: SAF-2 @local
#[test]
fn a_base_that_is_not_the_default_branch_has_no_say_either() {
    let shop = Shop::with_config(STATIC);
    let key = format!("token = \"{}\"\n", token());
    shop.branch("stack", &[("referee.toml", "version = 1\n[review]\nexclude = [\"**\"]\n")]);
    shop.branch("topic", &[("key.txt", &key)]);
    assert_eq!(places(&shop.json(&["review", "stack..topic"])), ["key.txt:1"]);
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
fn traces(shop: &Shop) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for args in EVERYTHING {
        let ran = shop.referee(args).envs(SECRETS).output().expect("referee runs");
        all.push((format!("stdout of {args:?}"), ran.stdout));
        all.push((format!("stderr of {args:?}"), ran.stderr));
    }
    let kept = contents(&shop.dir().join(".git/referee"));
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
    let shop = Shop::with_config(STATIC);
    shop.branch("topic", &[("key.txt", &format!("token = \"{}\"\n", token()))]);
    assert_eq!(places(&shop.json(&["review"])), ["key.txt:1"]);
    for (what, bytes) in traces(&shop) {
        assert!(!holds(&bytes, &token()), "{what}: {}", String::from_utf8_lossy(&bytes));
    }
}

// spec: SAF-4 @local
#[test]
fn what_opens_doors_reaches_no_output_no_file_and_no_program() {
    let shop = Shop::with_config(READER);
    shop.branch("topic", &[("src/a.rs", "fn a() {}\n")]);
    let seen = shop.outside("seen");
    shop.reader(&format!("env > '{}'\nenv >&2\nexit 7\n", seen.display()), "");
    let token = shop.file("token", "hush-file-0451\n");
    let entry = std::fs::read_to_string(shop.outside("home/.config/referee/operator.toml")).expect("the file");
    shop.operator(&format!(
        "{entry}\n[forge.work.gitea]\nurl = \"https://git.example.org\"\ntoken = {{ file = {token:?} }}\n\
         [models.default]\nprovider = \"openai\"\nmodel = \"m\"\nkey = {{ env = \"OPENAI_API_KEY\" }}\n\
         [mark]\nkeys = [{{ env = \"MARK_KEY\" }}]\n"
    ));
    let first = shop.referee(&["review"]).envs(SECRETS).output().expect("referee runs");
    assert_eq!(first.status.code(), Some(14), "{}", String::from_utf8_lossy(&first.stderr));
    let mut all = traces(&shop);
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
    let shop = Shop::with_config(STATIC);
    shop.branch("topic", &[("a.py", "a = 1\n")]);
    shop.operator("[forge.work.gitea]\nurl = \"https://git.example.org\"\ntoken = \"hush-literal-0451\"\n");
    let ran = shop.ends(2, &["review"]);
    assert!(ran.err.contains("operator.toml:3"), "{}", ran.err);
    assert!(!ran.err.contains("hush-literal") && !ran.out.contains("hush-literal"), "{}", ran.err);
    let ran = shop.run(&["doctor", "--json"]);
    assert!(!ran.err.contains("hush-literal") && !ran.out.contains("hush-literal"), "{}{}", ran.out, ran.err);
}

// spec: SAF-5 @local
#[test]
fn a_dry_run_on_a_pull_that_stands_leaves_no_trace() {
    let shop = Shop::with_config(READER);
    shop.branch("topic", &[("src/a.rs", "fn a() {}\n")]);
    let finding = json!({ "title": "It panics", "severity": "critical", "path": "src/a.rs", "line": 1 });
    shop.played("security", json!({ "findings": [finding] }));
    shop.write("src/a.rs", "fn a() { b() }\n");
    shop.commit("Go on");
    let fixed = json!({ "positions": [{ "finding": "F1", "position": "fixed", "evidence": "src/a.rs:1" }] });
    let report = shop.file("report.json", shop.full_report("security", fixed).to_string());
    let before = contents(&shop.dir());
    let turn = shop.json(&["review", "--role", "security", "--report", &report, "--dry-run"]);
    assert_eq!((&turn["roles"][0]["own"], &turn["calls"]["writes"]), (&json!("approve"), &json!(0)), "{turn:#}");
    let receipts: Vec<&Value> = turn["steps"].as_array().expect("steps").iter().map(|it| &it["receipt"]).collect();
    assert!(receipts.len() > 2 && receipts.iter().all(|it| *it == "withheld"), "{turn:#}");
    // The database's readers share a file of locks, beside a log that stays empty.
    let mut left = changed(&shop.dir(), &before);
    left.retain(|path| {
        let name = path.to_string_lossy();
        let empty = std::fs::metadata(shop.dir().join(path)).is_ok_and(|it| it.len() == 0);
        !(name.ends_with(".db-shm") || name.ends_with(".db-wal") && empty)
    });
    assert_eq!(left, [] as [std::path::PathBuf; 0]);
}
