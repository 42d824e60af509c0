//! Every result of a report is counted, and every finding reads the same in every run and output.

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::on_each_server;
use crate::pull_view::string;
use crate::test_pull::TestPull;

on_each_server! { every_result_is_counted_and_reads_the_same_in_every_run }

const HELP: &str = "https://linter.example/rules/unused";

fn result(rule: &str, text: &str, path: &str, line: u32) -> Value {
    let region = json!({ "startLine": line, "startColumn": 3 });
    let place = json!({ "physicalLocation": { "artifactLocation": { "uri": path }, "region": region } });
    json!({ "ruleId": rule, "level": "error", "message": { "text": text }, "locations": [place] })
}

/// What a reader sees of each finding, in the order of the document.
fn readings(turn: &Value) -> Vec<Value> {
    let keys = ["id", "title", "body", "rule", "severity", "path", "line", "column", "help"];
    let reading = |finding: &Value| keys.iter().map(|key| finding[*key].clone()).collect();
    turn["findings"].as_array().unwrap_or_else(|| panic!("{turn:#}")).iter().map(reading).collect()
}

// spec: PUB-23, PUB-24 @gitea @forgejo
fn every_result_is_counted_and_reads_the_same_in_every_run(build: ServerBuild) {
    // One thread only, so that the other findings stand in the summary.
    let test_pull = TestPull::new(build, &["lint"], "[review]\nci = \"optional\"\nmax_inline = 1\n");
    let site = &test_pull.site;
    let unused = "Variable `total` is assigned and never used, whatever the long name of it may suggest to a reader\n\n\
                  The value is computed in vain.";
    let mut suppressed = result("F841", "ignored", "a.txt", 1);
    suppressed["suppressions"] = json!([{ "kind": "inSource" }]);
    let mut passed = result("F841", "fine", "a.txt", 1);
    passed["kind"] = json!("pass");
    let results = json!([
        result("F841", unused, "a.txt", 3),
        result("F841", unused, "a.txt", 3),
        result("E711", "Comparison to None\n\nUse `is`.", "a.txt", 5),
        result("E712", "Comparison to True\n\nUse `if x`.", "a.txt", 9),
        result("F841", "An old problem", "README.md", 1),
        result("X000", "Elsewhere", "/usr/lib/python3/other/package.py", 1),
        json!({ "ruleId": "X000", "level": "note", "message": { "text": "Nowhere" } }),
        suppressed,
        passed,
    ]);
    let driver = json!({ "name": "linter", "rules": [{ "id": "F841", "helpUri": HELP }] });
    let report = json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": driver }, "results": results }] });
    let file = site.path("lint.sarif");
    std::fs::write(&file, report.to_string()).expect("a file");
    let file = file.display().to_string();
    let args = ["--role", "lint", "--report", &file];

    let first = site.json("review", test_pull.pull, &args);
    let counts = |new: u32, known: u32| {
        json!([{ "role": "lint", "received": 9, "new": new, "known": known, "merged": 1, "held_back": 0,
                 "pre_existing": 1, "without_place": 1, "outside": 1, "off": 1, "unsupported": 1 }])
    };
    assert_eq!(first["accounting"], counts(3, 0));
    let summary = test_pull.talk().last_review_text();
    assert!(summary.contains("9 received, 3 new, 1 the same as another result"), "{summary}");
    assert!(summary.contains("`/usr/lib/python3/other/package.py`:1: Elsewhere"), "{summary}");

    let found = readings(&first);
    let expected = json!(["F1", unused.lines().next(), unused, "F841", "warning", "a.txt", 3, 3, HELP]);
    let body = |reading: &Value| string(&reading[2]);
    assert_eq!((found.len(), test_pull.talk().notes("referee").len()), (3, 1));
    for at in [0, 1, 3, 4, 5, 6, 7, 8] {
        assert_eq!(found[0][at], expected[at], "{:#}", found[0]);
    }
    assert!(found.iter().zip(["computed in vain.", "`is`", "`if x`"]).all(|(it, end)| body(it).contains(end)));
    site.forget();
    let again = site.json("review", test_pull.pull, &args);
    assert_eq!((&again["accounting"], &again["calls"]["writes"]), (&counts(0, 3), &json!(0)));
    for turn in [again, site.json("explain", test_pull.pull, &[]), site.json("review", test_pull.pull, &["--dry-run"])]
    {
        assert_eq!(readings(&turn), found);
    }
    let sarif = site.on("review", test_pull.pull, &["--dry-run", "--format", "sarif"]).out;
    let sarif: Value = serde_json::from_str(&sarif).unwrap_or_else(|error| panic!("{error}: {sarif}"));
    let rules: Vec<String> =
        sarif["runs"][0]["results"].as_array().expect("results").iter().map(|it| string(&it["ruleId"])).collect();
    assert_eq!(rules, ["F841", "E711", "E712"]);
}
