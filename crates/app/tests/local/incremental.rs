//! A second review: findings that are fixed, unfixed, worse, accepted, disputed, moved or broken again.

use serde_json::{Value, json};

use crate::test_repo::TestRepo;

/// A role that blocks; its reports are handed in.
const CONFIG: &str = "version = 1\n[[role]]\nname = \"security\"\ncommand = \"reader\"\n";
const CODE: &str = "fn login(token: &str) {\n    check(token);\n    log(token);\n    done();\n}\n\nfn e() {}\n";
const FIX: &str = "    log(redacted(token));";

/// One critical finding stands on `src/a.rs:3`.
fn blocked() -> TestRepo {
    found(json!([leak()]))
}

fn found(findings: Value) -> TestRepo {
    let repo = TestRepo::with_config(CONFIG);
    repo.branch("topic", &[("src/a.rs", CODE)]);
    repo.report_json("security", json!({ "findings": findings }));
    repo
}

fn leak() -> Value {
    finding("critical", "The token is logged", 3)
}

fn finding(severity: &str, title: &str, line: u32) -> Value {
    json!({ "title": title, "body": "It breaks when it runs.", "severity": severity, "path": "src/a.rs", "line": line })
}

fn position(id: &str, position: &str, evidence: &str) -> Value {
    json!([{ "finding": id, "position": position, "evidence": evidence }])
}

/// One line of the file becomes another; committed.
fn change(repo: &TestRepo, line: usize, text: &str) -> String {
    let old = std::fs::read_to_string(repo.dir().join("src/a.rs")).expect("a file");
    let new = old.lines().enumerate().map(|(at, it)| if at + 1 == line { text } else { it });
    repo.write("src/a.rs", new.collect::<Vec<_>>().join("\n") + "\n");
    repo.commit("Change a line")
}

fn threads(repo: &TestRepo) -> Vec<Value> {
    repo.read_snapshot("L1")["threads"].as_array().expect("threads").clone()
}

fn notes(thread: &Value) -> Vec<String> {
    let notes = thread["notes"].as_array().expect("notes");
    notes.iter().map(|note| note["text"]["body"].as_str().expect("words").to_owned()).collect()
}

/// The text of the newest own review.
fn summary(repo: &TestRepo) -> String {
    let stands = repo.read_snapshot("L1");
    let reviews = stands["reviews"].as_array().expect("reviews");
    reviews.last().expect("a review")["text"]["body"].as_str().expect("words").to_owned()
}

fn state(turn: &Value, id: &str) -> (String, bool) {
    let findings = turn["findings"].as_array().expect("findings");
    let line = findings.iter().find(|it| it["id"] == id).unwrap_or_else(|| panic!("no {id} in {turn:#}"));
    (line["state"].as_str().expect("a state").to_owned(), line["counts"] == true)
}

// spec: INC-2 @local
#[test]
fn fixed_is_answered_with_the_commit_and_resolved() {
    let repo = blocked();
    let head = change(&repo, 3, FIX);
    let turn = repo.report_json("security", json!({ "positions": position("F1", "fixed", "src/a.rs:3 redacts it") }));
    assert_eq!(state(&turn, "F1"), ("fixed".to_owned(), false));
    let [thread] = &threads(&repo)[..] else { panic!("one thread") };
    assert_ne!(thread["resolved"], Value::Null);
    assert!(notes(thread)[1].contains(&head[..7]), "{thread:#}");
}

// spec: INC-2 @local
#[test]
fn fixed_on_unchanged_code_is_a_claim_that_resolves_nothing() {
    let repo = blocked();
    change(&repo, 7, "fn e() { f() }");
    let turn = repo.report_json("security", json!({ "positions": position("F1", "fixed", "trust me") }));
    assert_eq!(state(&turn, "F1"), ("open".to_owned(), true));
    assert_eq!(threads(&repo)[0]["resolved"], Value::Null);
    assert!(summary(&repo).contains("said to be fixed"), "{}", summary(&repo));
}

// spec: INC-3 @local
#[test]
fn an_unfixed_finding_is_kept_alive_and_nothing_is_written_in_its_thread() {
    let repo = blocked();
    let before = threads(&repo);
    change(&repo, 7, "fn e() { f() }");
    let still = || json!({ "positions": position("F1", "still_there", "src/a.rs:3 logs it") });
    let turn = repo.report_json("security", still());
    assert_eq!(state(&turn, "F1"), ("open".to_owned(), true));
    assert_eq!(threads(&repo), before);
    let again = repo.report_json("security", still());
    assert_eq!(again["calls"]["writes"], 0, "{again:#}");
}

// spec: INC-4 @local
#[test]
fn a_worsened_finding_is_reported_once_in_its_thread_and_in_the_summary() {
    let repo = found(json!([finding("warning", "The token is logged", 3)]));
    let root = threads(&repo)[0]["notes"][0].clone();
    change(&repo, 7, "fn e() { login(SECRET) }");
    let worse =
        || json!({ "findings": [leak()], "positions": position("F1", "worsened", "src/a.rs:7 passes a secret") });
    let turn = repo.report_json("security", worse());
    assert_eq!(turn["findings"][0]["severity"], "critical", "{turn:#}");
    assert_eq!(turn["roles"][0]["own"], "request_changes");
    let [thread] = &threads(&repo)[..] else { panic!("one thread") };
    assert_eq!(thread["notes"][0], root, "no note is edited");
    let said = notes(thread);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[1].contains("**critical**") && said[1].contains("src/a.rs:7"), "{}", said[1]);
    assert!(summary(&repo).contains("critical"), "{}", summary(&repo));
    assert_eq!(repo.report_json("security", worse())["calls"]["writes"], 0);
}

// spec: INC-5 @local
#[test]
fn a_thread_that_a_person_resolved_stays_resolved_and_its_finding_stops_counting() {
    let repo = blocked();
    repo.run_expecting(0, &["local", "resolve", "L1", "F1"]);
    let turn = repo.json(&["review"]);
    assert_eq!(state(&turn, "F1"), ("accepted".to_owned(), false));
    change(&repo, 7, "fn e() { f() }");
    let turn = repo.report_json("security", json!({ "positions": position("F1", "still_there", "src/a.rs:3") }));
    assert_eq!(state(&turn, "F1"), ("accepted".to_owned(), false));
    let [thread] = &threads(&repo)[..] else { panic!("one thread") };
    assert_eq!(thread["resolved"]["by"]["login"], "ada");
    let [_, confirmation] = &notes(thread)[..] else { panic!("the acceptance is confirmed once: {thread:#}") };
    assert!(confirmation.contains("accepted by ada"), "{confirmation}");
}

// spec: INC-5 @local
#[test]
fn a_settled_finding_with_a_higher_severity_opens_a_thread_that_cites_the_old_one() {
    let repo = found(json!([finding("warning", "The token is logged", 3)]));
    repo.run_expecting(0, &["local", "resolve", "L1", "F1"]);
    repo.json(&["review"]);
    change(&repo, 4, "    log(token); done();");
    let turn = repo.report_json("security", json!({ "findings": [leak()] }));
    assert!(state(&turn, "F1").1, "{turn:#}");
    let [old, new] = &threads(&repo)[..] else { panic!("two threads") };
    assert_ne!(old["resolved"], Value::Null, "never reopened");
    let words = &notes(new)[0];
    assert!(words.contains("F1") && words.contains("it was settled in the earlier thread"), "{words}");
}

// spec: INC-6 @local
#[test]
fn a_finding_marked_wont_fix_is_accepted_resolved_and_listed() {
    for (severity, words) in [("critical", "won't fix: the log is private"), ("warning", "Acknowledged.")] {
        let repo = found(json!([finding(severity, "The token is logged", 3)]));
        repo.run_expecting(0, &["local", "reply", "L1", "F1", words]);
        let turn = repo.json(&["review"]);
        assert_eq!(state(&turn, "F1"), ("accepted".to_owned(), false), "{words}");
        assert_eq!(turn["roles"][0]["own"], "approve", "{words}");
        assert_ne!(threads(&repo)[0]["resolved"], Value::Null, "{words}");
        assert!(summary(&repo).contains("accepted by ada"), "{}", summary(&repo));
    }
}

// spec: INC-7 @local
#[test]
fn a_concession_resolves_only_if_somebody_argued() {
    let repo = found(json!([finding("warning", "The token is logged", 3)]));
    let concedes = || json!({ "positions": position("F1", "conceded", "the log is private indeed") });
    let turn = repo.report_json("security", concedes());
    assert!(state(&turn, "F1").1, "nobody argued: {turn:#}");
    repo.run_expecting(0, &["local", "reply", "L1", "F1", "I disagree, the log is private"]);
    let handed = repo.json(&["comments", "L1"]).to_string();
    assert!(handed.contains("I disagree, the log is private"), "the reviewer can read why: {handed}");
    let turn = repo.report_json("security", concedes());
    assert!(!state(&turn, "F1").1, "{turn:#}");
    let [thread] = &threads(&repo)[..] else { panic!("one thread") };
    assert_ne!(thread["resolved"], Value::Null);
    assert!(notes(thread)[2].contains("Withdrawn"), "{thread:#}");
}

// spec: INC-7 @local
#[test]
fn one_rebuttal_with_evidence_then_a_person_decides() {
    let repo = blocked();
    repo.run_expecting(0, &["local", "reply", "L1", "F1", "I disagree, the log is private"]);
    let stands = || json!({ "positions": [{ "finding": "F1", "position": "stands", "reply": "src/log.rs:3 ships every line" }] });
    repo.report_json("security", stands());
    assert!(notes(&threads(&repo)[0])[2].contains("src/log.rs:3 ships every line"));
    assert_eq!(repo.report_json("security", stands())["calls"]["writes"], 0, "never when the last word is ours");
    repo.run_expecting(0, &["local", "reply", "L1", "F1", "I disagree, it does not"]);
    let turn = repo.report_json("security", stands());
    assert_eq!(turn["next"]["cause"], "needs_human", "{turn:#}");
    assert_eq!(notes(&threads(&repo)[0]).len(), 4, "no second rebuttal");
}

// spec: INC-8 @local
#[test]
fn a_false_claim_is_contested_once_with_file_and_line() {
    let repo = blocked();
    change(&repo, 7, "fn e() { f() }");
    repo.run_expecting(0, &["local", "reply", "L1", "F1", "fixed"]);
    let still = || json!({ "positions": position("F1", "still_there", "it logs still") });
    repo.report_json("security", still());
    let said = notes(&threads(&repo)[0]);
    assert_eq!(said.len(), 3);
    assert!(said[2].contains("Not fixed") && said[2].contains("`src/a.rs:3`"), "{}", said[2]);
    assert_eq!(repo.report_json("security", still())["calls"]["writes"], 0);
}

// spec: INC-9 @local
#[test]
fn a_finding_keeps_its_id_through_moves_renames_rewording_and_rebases() {
    let repo = blocked();
    repo.git(&["mv", "src/a.rs", "src/session.rs"]);
    repo.commit("Rename it");
    repo.git(&["switch", "--quiet", "main"]);
    repo.write("other.txt", "other\n");
    repo.commit("Go on elsewhere");
    repo.git(&["switch", "--quiet", "topic"]);
    repo.git(&["rebase", "--quiet", "main"]);
    let mut moved = leak();
    moved["path"] = json!("src/session.rs");
    let turn = repo.report_json("security", json!({ "findings": [moved] }));
    assert_eq!(state(&turn, "F1"), ("open".to_owned(), true));
    repo.write("src/session.rs", format!("// one\n// two\n{CODE}"));
    repo.commit("Move the lines");
    let mut reworded = finding("critical", "Secrets end up in the log", 5);
    reworded["path"] = json!("src/session.rs");
    let turn = repo.report_json("security", json!({ "findings": [reworded] }));
    let known: Vec<_> = turn["findings"].as_array().expect("findings").iter().collect();
    assert_eq!(known.len(), 1, "{turn:#}");
    assert_eq!((known[0]["id"].clone(), known[0]["line"].clone()), (json!("F1"), json!(5)));
    assert_eq!(threads(&repo).len(), 1);
}

// spec: INC-9, INC-15 @local
#[test]
fn a_prior_finding_without_a_position_makes_the_report_incomplete() {
    let repo = blocked();
    change(&repo, 3, FIX);
    let turn = repo.report_json("security", json!({}));
    assert_eq!(state(&turn, "F1"), ("open".to_owned(), true));
    assert_eq!(threads(&repo)[0]["resolved"], Value::Null);
    assert_eq!(turn["roles"][0]["at_head"], false, "{turn:#}");
}

// spec: INC-10 @local
#[test]
fn an_accepted_finding_does_not_return_reworded() {
    let repo = blocked();
    repo.run_expecting(0, &["local", "reply", "L1", "F1", "won't fix: the log is private"]);
    repo.json(&["review"]);
    change(&repo, 7, "fn e() { f() }");
    let again = finding("critical", "Credentials reach the log", 3);
    let turn = repo.report_json("security", json!({ "findings": [again] }));
    assert_eq!(turn["findings"].as_array().map(Vec::len), Some(1), "{turn:#}");
    assert_eq!(state(&turn, "F1"), ("accepted".to_owned(), false));
    assert_eq!((threads(&repo).len(), &turn["roles"][0]["own"]), (1, &json!("approve")));
}

// spec: INC-10 @local
#[test]
fn a_regression_returns_under_its_old_id() {
    let repo = blocked();
    change(&repo, 3, FIX);
    repo.report_json("security", json!({ "positions": position("F1", "fixed", "src/a.rs:3") }));
    let head = change(&repo, 3, "    log(token);");
    let turn = repo.report_json("security", json!({ "findings": [leak()] }));
    assert_eq!(turn["findings"].as_array().map(Vec::len), Some(1), "{turn:#}");
    assert!(state(&turn, "F1").1);
    let words = summary(&repo);
    assert!(words.contains("reopened in") && words.contains(&head[..7]), "{words}");
}

// spec: INC-11 @local
#[test]
fn the_verdict_moves_in_the_run_that_finds_everything_fixed_and_stays() {
    let repo = blocked();
    change(&repo, 3, FIX);
    let fixed = || json!({ "positions": position("F1", "fixed", "src/a.rs:3") });
    let turn = repo.report_json("security", fixed());
    let role = &turn["roles"][0];
    assert_eq!((&role["own"], &role["enforced"]), (&json!("approve"), &json!("approve")), "{turn:#}");
    let reviews = repo.read_snapshot("L1")["reviews"].clone();
    assert_eq!(repo.report_json("security", fixed())["calls"]["writes"], 0);
    assert_eq!(repo.read_snapshot("L1")["reviews"], reviews, "approving twice is approving once");
}

// spec: INC-12 @local
#[test]
fn the_verdict_follows_the_rubric() {
    let adviser = format!("{CONFIG}blocks = false\n");
    let skipped = json!({ "read": [], "skipped": [{ "path": "src/a.rs", "why": "too large" }] });
    let rows: [(&[&str], bool, &str); 6] = [
        (&[], true, "approve"),
        (&[], false, "comment"),
        (&["warning", "warning", "suggestion"], true, "approve"),
        (&["warning", "warning", "warning"], true, "request_changes"),
        (&["critical"], true, "request_changes"),
        (&["critical"], false, "request_changes"),
    ];
    for (severities, complete, expected) in rows {
        for (config, blocks) in [(CONFIG, true), (adviser.as_str(), false)] {
            let repo = TestRepo::with_config(config);
            repo.branch("topic", &[("src/a.rs", CODE)]);
            let titles = ["Alpha is wrong", "Beta is missing", "Gamma is late"];
            let found =
                severities.iter().zip(titles).zip(1..).map(|((severity, title), at)| finding(severity, title, at));
            let mut report = json!({ "findings": found.collect::<Vec<_>>() });
            if !complete {
                report["coverage"] = skipped.clone();
            }
            let turn = repo.report_json("security", report);
            let expected = if !blocks && expected == "request_changes" { "comment" } else { expected };
            let what = format!("{severities:?}, complete {complete}, blocks {blocks}");
            assert_eq!(turn["roles"][0]["own"], expected, "{what}");
        }
    }
}

// spec: INC-12, INC-15 @local
#[test]
fn a_standing_critical_blocks_also_when_the_newest_report_failed() {
    let repo = blocked();
    change(&repo, 3, FIX);
    let ran = repo.report("security", json!({ "outcome": "failed", "reason": "the model timed out" }));
    assert_eq!(ran.code, 20, "{}", ran.err);
    let turn = repo.json(&["explain", "L1"]);
    assert_eq!(state(&turn, "F1"), ("open".to_owned(), true));
    assert_eq!(turn["roles"][0]["own"], "request_changes", "{turn:#}");
    assert_eq!(threads(&repo)[0]["resolved"], Value::Null);
    assert!(summary(&repo).contains("the model timed out"), "{}", summary(&repo));
}

// spec: INC-15 @local
#[test]
fn a_failed_review_is_visible_and_approves_nothing() {
    let repo = TestRepo::with_config(CONFIG);
    repo.branch("topic", &[("src/a.rs", CODE)]);
    let ran = repo.report("security", json!({ "outcome": "failed", "reason": "the model timed out" }));
    assert_eq!(ran.code, 14, "{}", ran.err);
    assert!(summary(&repo).contains("the model timed out"), "{}", summary(&repo));
    let turn = repo.json(&["explain", "L1"]);
    assert_eq!((&turn["roles"][0]["own"], &turn["roles"][0]["at_head"]), (&json!("comment"), &json!(false)));
}

// spec: INC-15 @local
#[test]
fn an_incomplete_report_adds_findings_and_neither_resolves_nor_approves() {
    let repo = blocked();
    change(&repo, 3, FIX);
    change(&repo, 7, "fn e() { f() }");
    let coverage = json!({ "read": [], "skipped": [{ "path": "src/a.rs", "why": "too large" }] });
    let half = json!({ "findings": [finding("warning", "Gamma is late", 7)], "coverage": coverage,
                       "positions": position("F1", "fixed", "src/a.rs:3") });
    let turn = repo.report_json("security", half);
    assert_eq!(state(&turn, "F1"), ("open".to_owned(), true));
    assert!(state(&turn, "F2").1);
    assert_eq!(turn["roles"][0]["own"], "request_changes");
    assert_eq!(threads(&repo)[0]["resolved"], Value::Null);
}

/// Says that everything is fine, and leaves a line for each time it was asked.
fn asked_reader(repo: &TestRepo) -> impl Fn() -> usize {
    let runs = repo.path_outside("runs");
    let report = r#"{"schema":"referee/report-1","role":"security","head":"%s","outcome":"clean","coverage":{"read":["src/a.rs"],"skipped":[]}}"#;
    let script = format!("echo asked >> '{}'\nprintf '{report}' \"$(git rev-parse HEAD)\"\n", runs.display());
    repo.install_reviewer(&script, "");
    move || std::fs::read_to_string(&runs).unwrap_or_default().lines().count()
}

// spec: INC-13 @local
#[test]
fn break_glass_lifts_the_block_asks_no_reviewer_and_is_audited() {
    let repo = blocked();
    let asked = asked_reader(&repo);
    repo.run_expecting(0, &["local", "comment", "L1", "/referee break-glass production is down"]);
    let turn = repo.json(&["review"]);
    let role = &turn["roles"][0];
    assert_eq!((&role["own"], &role["enforced"]), (&json!("request_changes"), &json!("approve")), "{turn:#}");
    let audit = repo.read_snapshot("L1")["comments"].to_string();
    assert!(audit.contains("Glass broken") && audit.contains("production is down"), "{audit}");
    let quiet = repo.json(&["review"]);
    assert_eq!((&quiet["calls"]["writes"], asked()), (&json!(0), 0), "audited once, and nobody was asked");
    change(&repo, 7, "fn e() { f() }");
    repo.json(&["review"]);
    let stands = repo.read_snapshot("L1");
    let verdicts: Vec<&Value> = stands["reviews"].as_array().expect("reviews").iter().map(|it| &it["row"]).collect();
    assert_eq!((verdicts.len(), asked()), (3, 1), "a new patch ends it: {verdicts:?}");
}

// spec: INC-13 @local
#[test]
fn only_a_listed_person_may_break_the_glass() {
    let repo = TestRepo::with_config(&format!("{CONFIG}[break_glass]\nwho = [\"carol\"]\n"));
    repo.branch("topic", &[("src/a.rs", CODE)]);
    let asked = asked_reader(&repo);
    repo.report_json("security", json!({ "findings": [leak()] }));
    repo.run_expecting(0, &["local", "comment", "L1", "/referee break-glass I am in a hurry"]);
    assert_eq!(repo.json(&["review"])["roles"][0]["enforced"], "request_changes");
    repo.run_expecting(0, &["local", "--as", "carol", "comment", "L1", "/referee break-glass production is down"]);
    assert_eq!(repo.json(&["review"])["roles"][0]["enforced"], "approve");
    assert_eq!(asked(), 0);
}

// spec: INC-16 @local
#[test]
fn a_rebase_without_a_change_runs_no_reviewer_and_updates_text_and_mark() {
    let repo = TestRepo::with_config(CONFIG);
    repo.branch("topic", &[("src/a.rs", CODE)]);
    let asked = asked_reader(&repo);
    repo.json(&["review"]);
    assert_eq!(asked(), 1);
    repo.git(&["switch", "--quiet", "main"]);
    repo.write("other.txt", "other\n");
    repo.commit("Go on elsewhere");
    repo.git(&["switch", "--quiet", "topic"]);
    repo.git(&["rebase", "--quiet", "main"]);
    let turn = repo.json(&["review"]);
    assert_eq!((&turn["roles"][0]["at_head"], asked()), (&json!(true), 1), "{turn:#}");
    let head = repo.head();
    assert!(summary(&repo).contains(&format!("Evaluated against {}", &head[..7])), "{}", summary(&repo));
    let mark = repo.read_snapshot("L1")["reviews"][0]["text"]["reading"]["mark"]["data"]["head"].clone();
    assert_eq!(mark, json!(head));
    change(&repo, 7, "fn e()  {}");
    repo.json(&["review"]);
    assert_eq!(asked(), 2, "whitespace is content");
}
