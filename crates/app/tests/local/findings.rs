//! Nothing that was found is lost: hundreds of findings, every result counted, whole texts in every run.

use serde_json::{Value, json};

use crate::pull_view::{PullView, actions, role_verdicts, string};
use crate::test_repo::{RunOutput, TestRepo};

const CONFIG: &str = "version = 1\n[[role]]\nname = \"lint\"\ncommand = \"linter\"\n";
const HELP: &str = "https://linter.example/rules/unused-variable";

/// A repository in which a linter's reports are handed in. The files `m0.py` to `m6.py` define variables, of which the
/// linter reports those that are still there.
struct LintedRepo {
    repo: TestRepo,
    total: usize,
}

impl LintedRepo {
    fn new(total: usize) -> Self {
        let repo = TestRepo::with_config(CONFIG);
        repo.git(&["switch", "--quiet", "--create", "topic"]);
        Self { repo, total }
    }

    /// Commits the files with the variables for which `is_unused` holds, and returns the linter's report of them.
    fn commit(&self, is_unused: impl Fn(usize) -> bool) -> Value {
        let per_file = self.total / 7;
        let mut results = Vec::new();
        for file in 0..7 {
            let mut text = String::new();
            for line in 0..per_file {
                let number = file * per_file + line;
                if is_unused(number) {
                    text.push_str(&format!("value_{number} = compute({number})\n"));
                    results.push(unused(number, &format!("m{file}.py"), line + 1));
                } else {
                    text.push_str(&format!("use(value_{number})\n"));
                }
            }
            self.repo.write(&format!("m{file}.py"), text);
        }
        self.repo.commit("Change the variables");
        sarif(&results)
    }

    fn review(&self, report: &Value) -> Value {
        review(&self.repo, report)
    }
}

fn unused(number: usize, path: &str, line: usize) -> Value {
    let text = format!(
        "Local variable `value_{number}` is assigned to but never used, and this message is so long that a table cuts \
         it before it says {number}\n\nThe value of `value_{number}` is computed in vain."
    );
    result("F841", &text, path, line)
}

fn result(rule: &str, text: &str, path: &str, line: usize) -> Value {
    json!({ "ruleId": rule, "level": "error", "message": { "text": text }, "locations": [place(path, line, 3)] })
}

fn place(path: &str, line: usize, column: usize) -> Value {
    let region = json!({ "startLine": line, "startColumn": column });
    json!({ "physicalLocation": { "artifactLocation": { "uri": path }, "region": region } })
}

fn sarif(results: &[Value]) -> Value {
    let rules = json!([{ "id": "F841", "helpUri": HELP }, { "id": "E711" }, { "id": "X000" }]);
    json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "linter", "rules": rules } },
            "results": results }] })
}

/// Hands in a report and returns the document of the run.
fn review(repo: &TestRepo, report: &Value) -> Value {
    let path = repo.write_outside("report.sarif", report.to_string());
    repo.json(&["review", "--role", "lint", "--report", &path])
}

fn review_words(repo: &TestRepo, report: &Value) -> RunOutput {
    let path = repo.write_outside("report.sarif", report.to_string());
    repo.run(&["review", "--role", "lint", "--report", &path, "--report-format", "sarif"])
}

fn findings(turn: &Value) -> &[Value] {
    turn["findings"].as_array().expect("findings")
}

fn count_open(turn: &Value) -> usize {
    findings(turn).iter().filter(|finding| finding["counts"] == true).count()
}

/// Asserts that every finding reads as the linter wrote it (PUB-24).
fn assert_whole(turn: &Value) {
    for finding in findings(turn) {
        let title = string(&finding["title"]);
        let number = title.rsplit(' ').next().expect("a last word");
        assert!(title.contains(&format!("`value_{number}`")), "{finding}");
        assert_eq!(finding["body"], format!("The value of `value_{number}` is computed in vain."), "{finding}");
        assert_eq!((&finding["rule"], &finding["column"]), (&json!("F841"), &json!(3)), "{finding}");
        assert_eq!(finding["help"], HELP, "{finding}");
    }
}

/// Asserts that every result of the run's reports is accounted for (PUB-23), and returns the counts of the role.
fn accounting(turn: &Value) -> Value {
    let entries = turn["accounting"].as_array().expect("accounting");
    let [entry] = entries.as_slice() else { panic!("one report: {entries:?}") };
    let count = |key: &str| entry[key].as_u64().unwrap_or_else(|| panic!("no `{key}`: {entry}"));
    let kept =
        ["new", "known", "merged", "held_back", "pre_existing", "without_place", "outside", "off", "unsupported"];
    assert_eq!(count("received"), kept.iter().map(|key| count(key)).sum::<u64>(), "{entry}");
    entry.clone()
}

// spec: PUB-24, PUB-23, PUB-2 @local
// D33: the local forge keeps every finding whole.
#[test]
fn seven_hundred_findings_are_known_titled_and_counted_in_every_run() {
    let linted = LintedRepo::new(700);
    let report = linted.commit(|_| true);
    let first = linted.review(&report);
    assert_eq!((findings(&first).len(), accounting(&first)["new"].as_u64()), (700, Some(700)));
    assert_whole(&first);
    for turn in [linted.review(&report), linted.repo.json(&["explain"]), linted.repo.json(&["review", "--dry-run"])] {
        assert_eq!((findings(&turn).len(), count_open(&turn)), (700, 700));
        assert_eq!(actions(&turn), Vec::<String>::new(), "an unchanged head needs no write");
        assert_whole(&turn);
    }
    let ids = |turn: &Value| -> Vec<(Value, Value)> {
        findings(turn).iter().map(|finding| (finding["id"].clone(), finding["title"].clone())).collect()
    };
    let half = linted.review(&linted.commit(|number| number % 2 == 0));
    assert_eq!((findings(&half).len(), count_open(&half)), (700, 350));
    assert_eq!(ids(&half), ids(&first), "an id means the same finding in every run");
    assert_whole(&half);
    let summary = PullView::read(&linted.repo).review_text("lint");
    assert!(summary.contains("350 fixed (") && summary.contains("350 still open ("), "{summary}");
    assert_eq!(role_verdicts(&half, "lint").0, "request_changes");
    let few = linted.review(&linted.commit(|number| number < 6 && number % 2 == 0));
    assert_eq!((count_open(&few), role_verdicts(&few, "lint").0), (3, json!("request_changes")));
    let none = linted.review(&linted.commit(|_| false));
    assert_eq!((count_open(&none), role_verdicts(&none, "lint").0), (0, json!("approve")));
}

// spec: PUB-24 @local
#[test]
fn every_output_format_of_a_second_run_names_rule_column_and_text() {
    let linted = LintedRepo::new(35);
    linted.review(&linted.commit(|_| true));
    let run = |format: &str| linted.repo.run(&["review", "--role", "lint", "--dry-run", "--format", format]).out;
    let sarif: Value = serde_json::from_str(&run("sarif")).expect("SARIF");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 35);
    for result in results {
        assert_eq!(result["ruleId"], "F841");
        assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startColumn"], 3);
        assert!(string(&result["message"]["text"]).ends_with("is computed in vain."), "{result}");
    }
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["rules"][0]["helpUri"], HELP);
    let checkstyle = run("checkstyle");
    assert_eq!(checkstyle.matches("column=\"3\"").count(), 35, "{checkstyle}");
    assert_eq!(checkstyle.matches("source=\"referee.F841\"").count(), 35, "{checkstyle}");
    for format in ["jsonl", "rdjson", "gitlab", "github", "md", "human"] {
        let out = run(format);
        assert!(out.contains("value_34"), "{format}: {out}");
    }
    let human = run("human");
    assert!(human.contains("is computed in vain.") && human.contains(HELP), "{human}");
}

// spec: PUB-24 @local
#[test]
fn a_thread_shows_its_whole_title_and_a_finding_without_thread_its_text_in_the_summary() {
    let linted = LintedRepo::new(35);
    linted.review(&linted.commit(|_| true));
    let pull = PullView::read(&linted.repo);
    assert_eq!(pull.threads().len(), 15, "`max_inline`");
    for thread in pull.threads() {
        let root = string(&thread["notes"][0]["text"]["body"]);
        assert!(root.contains("before it says ") && !root.contains('…'), "{root}");
    }
    let summary = pull.review_text("lint");
    let details = summary.split("Details of findings without a thread").nth(1).expect("a fold");
    for number in 15..35 {
        assert!(details.contains(&format!("before it says {number}")), "{number}: {summary}");
        assert!(
            details.contains(&format!("The value of `value_{number}` is computed in vain.")),
            "{number}: {summary}"
        );
    }
}

// spec: PUB-23 @local
#[test]
fn no_result_of_a_linter_disappears_uncounted() {
    let repo = TestRepo::with_config(CONFIG);
    let old = "old\n".repeat(20);
    repo.write("old.py", &old);
    repo.commit("Add old code");
    repo.git(&["push", "--quiet", ".", "HEAD:main"]);
    repo.branch(
        "topic",
        &[("a.py", "x = y = z = None\nif x == None or y == None:\n    pass\n"), ("old.py", &format!("{old}new\n"))],
    );
    let on_line = |rule: &str, text: &str| result(rule, text, "a.py", 1);
    let suppressed = json!({ "ruleId": "F841", "message": { "text": "ignored" }, "locations": [place("a.py", 1, 1)],
                             "suppressions": [{ "kind": "inSource" }] });
    let passed =
        json!({ "ruleId": "F841", "kind": "pass", "message": { "text": "fine" }, "locations": [place("a.py", 1, 1)] });
    let mut two_places = result("X000", "Two definitions of `x`", "a.py", 1);
    two_places["locations"] = json!([place("/usr/lib/x.py", 7, 1), place("a.py", 3, 1), place("old.py", 21, 1)]);
    let report = sarif(&[
        on_line("F841", "Local variable `x` is never used"),
        on_line("F841", "Local variable `y` is never used"),
        on_line("F841", "Local variable `z` is never used"),
        on_line("F841", "Local variable `z` is never used"),
        json!({ "ruleId": "E711", "message": { "text": "Comparison to None" }, "locations": [place("a.py", 2, 4)] }),
        json!({ "ruleId": "E711", "message": { "text": "Comparison to None" }, "locations": [place("a.py", 2, 17)] }),
        result("F841", "An old problem", "old.py", 1),
        result("F841", "In a container", "/app/src/a.py", 1),
        json!({ "ruleId": "X000", "level": "note", "message": { "text": "Nowhere" } }),
        suppressed,
        passed,
        two_places,
    ]);
    let turn = review(&repo, &report);
    let counts = accounting(&turn);
    let expected = json!({ "role": "lint", "received": 12, "new": 6, "known": 0, "merged": 1, "held_back": 0,
        "pre_existing": 1, "without_place": 1, "outside": 1, "off": 1, "unsupported": 1 });
    assert_eq!(counts, expected);
    assert_eq!(count_open(&turn), 6);
    let two = findings(&turn).iter().find(|finding| finding["rule"] == "X000").expect("the finding with two places");
    assert_eq!((&two["path"], &two["line"]), (&json!("a.py"), &json!(3)));
    assert!(string(&two["body"]).contains("`/usr/lib/x.py:7`, `old.py:21`"), "{two}");
    let summary = PullView::read(&repo).review_text("lint");
    let words = "12 received, 6 new, 1 the same as another result, 1 pre-existing, outside this change, 1 without a file, \
                 1 outside this repository, 1 switched off, 1 of a kind that is no finding";
    assert!(summary.contains(words), "{summary}");
    let again = review_words(&repo, &report);
    let words = words.replace("6 new", "6 known");
    assert!(again.err.contains(&format!("lint: {words}")), "{}", again.err);
}

// spec: PUB-23, LOOP-5 @local
#[test]
fn what_is_held_back_is_said_with_its_reason() {
    let linted = LintedRepo::new(35);
    linted.review(&linted.commit(|number| number < 3));
    // The linter finds more on code that did not change: its rule set is the same.
    let mut report = linted.commit(|number| number < 2);
    let results = report["runs"][0]["results"].as_array_mut().expect("results");
    results.push(result("E711", "Comparison to None", "m1.py", 2));
    let turn = linted.review(&report);
    let counts = accounting(&turn);
    assert_eq!((&counts["known"], &counts["held_back"]), (&json!(2), &json!(1)));
    assert_eq!(counts["held_back_because"]["unchanged"], 1);
    let again = review_words(&linted.repo, &report);
    assert!(again.err.contains("1 held back on code that did not change since the last review"), "{}", again.err);
}

// spec: INC-9 @local
// D38
#[test]
fn after_a_fix_no_id_means_another_variable() {
    let repo = TestRepo::with_config(CONFIG);
    repo.branch("topic", &[("a.py", "def f():\n    x, y, z = 1, 2, 3\n    return 0\n")]);
    let named = |name: &str| result("F841", &format!("Local variable `{name}` is never used"), "a.py", 2);
    let first = review(&repo, &sarif(&[named("x"), named("y")]));
    let titles = |turn: &Value| -> Vec<(String, String, bool)> {
        let line = |finding: &Value| (string(&finding["id"]), string(&finding["title"]), finding["counts"] == true);
        findings(turn).iter().map(line).collect()
    };
    assert_eq!(titles(&first)[1], ("F2".into(), "Local variable `y` is never used".into(), true));
    // `y` is used now, and `z` is new.
    repo.write("a.py", "def f():\n    x, y, z = 1, 2, 4\n    return y\n");
    repo.commit("Use y");
    let second = review(&repo, &sarif(&[named("x"), named("z")]));
    let expected = [("F1", "x", true), ("F2", "y", false), ("F3", "z", true)];
    let expected =
        expected.map(|(id, name, counts)| (id.into(), format!("Local variable `{name}` is never used"), counts));
    assert_eq!(titles(&second), expected);
}

// spec: LOOP-13 @local
#[test]
fn the_built_in_rules_read_every_head_of_a_long_branch() {
    let repo = TestRepo::new();
    repo.branch("topic", &[("a.py", "x = 1\n")]);
    for number in 0..24 {
        repo.write("a.py", format!("x = {number}\n"));
        repo.commit("Change the number");
        repo.run_expecting(0, &["review"]);
    }
    repo.write("a.py", "import os\nos.system(\"rm \" + input())\ntry:\n    pass\nexcept:\n    pass\n");
    repo.commit("Add defects");
    let turn = repo.json(&["review"]);
    assert!(count_open(&turn) > 0, "{turn:#}");
    assert_eq!(turn["roles"][0]["at_head"], true, "{turn:#}");
}

// spec: PUB-1 @local
#[test]
fn a_finding_in_a_file_whose_name_has_a_newline_is_posted() {
    let repo = TestRepo::new();
    repo.branch("topic", &[("new\nline.py", "try:\n    pass\nexcept:\n    pass\n")]);
    let first = repo.json(&["review"]);
    assert_eq!(
        (&first["findings"][0]["path"], &first["findings"][0]["line"]),
        (&json!("new\nline.py"), &json!(3)),
        "{first:#}"
    );
    let second = repo.json(&["review"]);
    assert_eq!((&second["calls"]["writes"], &second["findings"][0]["thread"]), (&json!(0), &json!("t1")), "{second:#}");
}

// spec: PUB-23 @local
#[test]
fn the_findings_of_a_first_run_that_approves_are_new() {
    let linted = LintedRepo::new(35);
    let mut report = linted.commit(|number| number < 4);
    for result in report["runs"][0]["results"].as_array_mut().expect("results") {
        result["level"] = json!("note");
    }
    let first = linted.review(&report);
    assert_eq!(role_verdicts(&first, "lint").0, "approve", "it decides again after an approval");
    let counts = accounting(&first);
    assert_eq!((&counts["new"], &counts["known"]), (&json!(4), &json!(0)));
    let counts = accounting(&linted.review(&report));
    assert_eq!((&counts["new"], &counts["known"]), (&json!(0), &json!(4)));
}

// spec: PUB-16, PUB-23, PUB-2 @local
#[test]
fn what_a_report_says_as_a_whole_is_shown_and_kept() {
    let repo = TestRepo::with_config("version = 1\n[[role]]\nname = \"alpha\"\ncommand = \"reader\"\n");
    repo.branch("topic", &[("a.py", "x = 1\n")]);
    let outside = json!({ "title": "Key is world-readable", "severity": "warning", "path": "/etc/key.pem", "line": 3 });
    let report = json!({ "summary": "The parser holds.\n\n<!-- hidden -->/approve @all", "findings": [outside] });
    let turn = repo.report_json("alpha", report.clone());
    assert!(string(&turn["roles"][0]["summary"]).starts_with("The parser holds."), "{turn:#}");
    let summary = PullView::read(&repo).review_text("alpha");
    let words = summary.split("The report says:").nth(1).unwrap_or_else(|| panic!("{summary}"));
    for part in ["The parser holds.", "`/etc/key.pem`:3: Key is world-readable"] {
        assert!(words.contains(part), "{part}: {summary}");
    }
    assert!(!words.contains("hidden") && !words.contains("\n/approve"), "{summary}");
    // The next run has the report no more, or once more: neither writes.
    let again = repo.report("alpha", report);
    assert!(again.err.contains("alpha: The parser holds."), "{}", again.err);
    for args in [&["review", "--role", "alpha"][..], &["explain"]] {
        assert_eq!(actions(&repo.json(args)), Vec::<String>::new(), "{args:?}");
    }
    assert_eq!(PullView::read(&repo).review_text("alpha"), summary);
}
