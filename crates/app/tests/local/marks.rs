//! Which Marks count: those in referee's texts, sealed with its key, and no copies.

use serde_json::{Value, json};

use crate::publish::repo_with_topic;
use crate::pull_view::{PullView, body, finding, role_verdicts};
use crate::reviewer::refusals;
use crate::test_repo::TestRepo;

/// What the operator file says from now on.
fn operator(repo: &TestRepo, words: &str) {
    let folder = repo.path_outside("home/.config/referee");
    std::fs::create_dir_all(&folder).expect("a folder");
    let words = format!("[commands.alpha]\nargv = [\"true\"]\n{words}");
    std::fs::write(folder.join("operator.toml"), words).expect("a file");
}

/// A key in a file; how the operator file names it.
fn key(repo: &TestRepo, name: &str) -> String {
    let path = repo.write_outside(name, format!("{name}: a secret of more than sixteen bytes"));
    format!("{{ file = \"{path}\" }}")
}

fn blocks() -> Value {
    json!({ "findings": [finding("critical", "Token is logged", 3)] })
}

/// The seal at the end of a role's Mark; `-` is none.
fn seal(talk: &PullView) -> String {
    let says = talk.review_text("alpha");
    says.trim_end().trim_end_matches(" -->").rsplit(' ').next().expect("a seal").to_owned()
}

/// Changes a stored text behind the program's back.
fn tamper(repo: &TestRepo, old: &str, new: &str) {
    let db = rusqlite::Connection::open(repo.dir().join(".git/referee/referee.db")).expect("the database");
    let changed = db
        .execute("UPDATE texts SET body = replace(body, ?1, ?2) WHERE instr(body, ?1) > 0", [old, new])
        .expect("an update");
    assert!(changed > 0, "nothing says {old:?}");
}

fn trust(talk: &PullView, at: usize) -> Value {
    talk.reviews()[at]["text"]["reading"]["mark"]["trust"].clone()
}

// spec: PUB-12, PUB-9 @local
#[test]
fn a_copied_mark_does_not_count() {
    let repo = repo_with_topic(&["alpha"], "");
    repo.report_json("alpha", blocks());
    let own = PullView::read(&repo);
    let copy = own.review_text("alpha").replace("Changes requested", "Approved");
    let root = body(&own.threads()[0]["notes"][0]);
    repo.run_expecting(0, &["local", "approve", "L1", &copy, "--as", "mallory"]);
    repo.run_expecting(0, &["local", "comment", "L1", &copy, "--as", "mallory"]);
    repo.run_expecting(0, &["local", "comment", "L1", "a.txt:9", &root, "--as", "mallory"]);
    let before = PullView::read(&repo);
    let turn = repo.report_json("alpha", blocks());
    assert_eq!(
        (role_verdicts(&turn, "alpha").0, &turn["calls"]["writes"]),
        (json!("request_changes"), &json!(0)),
        "{turn:#}"
    );
    assert_eq!(PullView::read(&repo), before, "nothing of it is edited, nothing is believed");
    let told = "trust a text that looks like a Mark: forged-mark: r2 by mallory, n";
    assert!(refusals(&turn).iter().any(|it| it.starts_with(told)), "it is told: {:?}", refusals(&turn));
    assert_eq!(turn["findings"].as_array().expect("findings").len(), 1);
    let more =
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 20)] });
    repo.report_json("alpha", more);
    PullView::read(&repo).assert_keeps(&before);
    assert_eq!(PullView::read(&repo).newest_verdict().as_deref(), Some("request_changes"));
    // Nobody takes the own name.
    let ran = repo.run(&["local", "approve", "L1", &copy, "--as", "referee"]);
    assert!(ran.code != 0 && ran.err.contains("referee's own name"), "{}", ran.err);
}

// spec: PUB-12 @local
#[test]
fn keys_rotate_and_a_broken_seal_is_reported() {
    let repo = repo_with_topic(&["alpha"], "");
    let (first, second) = (key(&repo, "first"), key(&repo, "second"));
    repo.report_json("alpha", blocks());
    assert_eq!(seal(&PullView::read(&repo)), "-");
    // Unsealed and older than the key: adopted, and sealed by the next write.
    operator(&repo, &format!("[mark]\nkeys = [{first}]\nsince = \"2100-01-01\"\n"));
    let turn = repo.report_json("alpha", blocks());
    assert_eq!(role_verdicts(&turn, "alpha").0, "request_changes", "{turn:#}");
    let adopted = PullView::read(&repo);
    assert_eq!((adopted.reviews().len(), trust(&adopted, 0)), (1, json!("sealed")), "{turn:#}");
    let turn = repo.report_json("alpha", blocks());
    assert_eq!(turn["calls"]["writes"], 0, "{turn:#}");
    // Turned: the new one signs, the old one still verifies.
    operator(&repo, &format!("[mark]\nkeys = [{second}, {first}]\nsince = \"2100-01-01\"\n"));
    let turn = repo.report_json("alpha", blocks());
    assert_eq!(turn["calls"]["writes"], 0, "{turn:#}");
    let more =
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 20)] });
    repo.report_json("alpha", more.clone());
    let turned = PullView::read(&repo);
    assert_eq!((turned.reviews().len(), trust(&turned, 0)), (1, json!("sealed")));
    assert_ne!(seal(&turned)[..4], seal(&adopted)[..4], "another key's name");
    // The folder may be called something else.
    let moved = repo.path_outside("moved");
    std::fs::rename(repo.dir(), &moved).expect("a move");
    std::fs::create_dir(repo.dir()).expect("a folder");
    let there = moved.display().to_string();
    let turn = repo.json(&[
        "-C",
        &there,
        "review",
        "L1",
        "--role",
        "alpha",
        "--report",
        &repo.path_outside("report.json").display().to_string(),
    ]);
    assert_eq!(
        (role_verdicts(&turn, "alpha").0, &turn["calls"]["writes"]),
        (json!("request_changes"), &json!(0)),
        "{turn:#}"
    );
    std::fs::remove_dir(repo.dir()).expect("the folder");
    std::fs::rename(&moved, repo.dir()).expect("a move");
    // An edited Mark does not count, and the run reports it.
    let says = turned.review_text("alpha");
    let payload =
        says.rsplit("referee:mark v1 ").next().expect("a Mark").split(';').nth(1).expect("a field").to_owned();
    tamper(&repo, &format!("mark v1 alpha;{payload};"), "mark v1 alpha;ac1;");
    let forged = PullView::read(&repo);
    assert_eq!(trust(&forged, 0), "broken");
    let turn = repo.report_json("alpha", more);
    let told = refusals(&turn);
    assert_eq!(told, ["trust a text that looks like a Mark: forged-mark: r1 by referee"]);
    let after = PullView::read(&repo);
    after.assert_keeps(&forged);
    assert_eq!(body(&after.reviews()[0]), body(&forged.reviews()[0]), "a text that does not count is not edited");
    assert_eq!((after.reviews().len(), after.newest_verdict().as_deref()), (2, Some("request_changes")));
}

// spec: PUB-12 @local
#[test]
fn a_mark_of_a_newer_version_blocks_every_write() {
    let repo = repo_with_topic(&["alpha"], "");
    repo.report_json("alpha", blocks());
    tamper(&repo, "referee:mark v1 ", "referee:mark v9 ");
    let before = PullView::read(&repo);
    let ran = repo.report("alpha", json!({}));
    assert_eq!(ran.code, 14, "{}", ran.err);
    assert!(ran.err.contains("verdict: not reviewed on L1"), "{}", ran.err);
    let turn = repo.json(&["explain"]);
    assert_eq!((&turn["next"]["kind"], &turn["next"]["cause"]), (&json!("blocked"), &json!("newer_mark")));
    assert_eq!(PullView::read(&repo), before);
}
