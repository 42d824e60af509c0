//! Whose memory counts: a Mark in own text, sealed by an own key, and nobody's copy of it.

use serde_json::{Value, json};

use crate::publish::shop;
use crate::reviewer::refused;
use crate::shop::Shop;
use crate::talk::{Talk, body, finding, role};

/// What the operator file says from now on.
fn operator(shop: &Shop, words: &str) {
    let folder = shop.outside("home/.config/referee");
    std::fs::create_dir_all(&folder).expect("a folder");
    let words = format!("[commands.alpha]\nargv = [\"true\"]\n{words}");
    std::fs::write(folder.join("operator.toml"), words).expect("a file");
}

/// A key in a file; how the operator file names it.
fn key(shop: &Shop, name: &str) -> String {
    let path = shop.file(name, format!("{name}: a secret of more than sixteen bytes"));
    format!("{{ file = \"{path}\" }}")
}

fn blocks() -> Value {
    json!({ "findings": [finding("critical", "Token is logged", 3)] })
}

/// The seal at the end of a role's Mark; `-` is none.
fn seal(talk: &Talk) -> String {
    let says = talk.says("alpha");
    says.trim_end().trim_end_matches(" -->").rsplit(' ').next().expect("a seal").to_owned()
}

/// Changes a stored text behind the program's back.
fn tamper(shop: &Shop, old: &str, new: &str) {
    let db = rusqlite::Connection::open(shop.dir().join(".git/referee/referee.db")).expect("the database");
    let changed = db
        .execute("UPDATE texts SET body = replace(body, ?1, ?2) WHERE instr(body, ?1) > 0", [old, new])
        .expect("an update");
    assert!(changed > 0, "nothing says {old:?}");
}

fn trust(talk: &Talk, at: usize) -> Value {
    talk.reviews()[at]["text"]["reading"]["mark"]["trust"].clone()
}

// spec: PUB-12, PUB-9 @local
#[test]
fn a_copied_mark_is_nobodys_verdict() {
    let shop = shop(&["alpha"], "");
    shop.played("alpha", blocks());
    let own = Talk::of(&shop);
    let copy = own.says("alpha").replace("Changes requested", "Approved");
    let root = body(&own.threads()[0]["notes"][0]);
    shop.ends(0, &["local", "approve", "L1", &copy, "--as", "mallory"]);
    shop.ends(0, &["local", "comment", "L1", &copy, "--as", "mallory"]);
    shop.ends(0, &["local", "comment", "L1", "a.txt:9", &root, "--as", "mallory"]);
    let before = Talk::of(&shop);
    let turn = shop.played("alpha", blocks());
    assert_eq!((role(&turn, "alpha").0, &turn["calls"]["writes"]), (json!("request_changes"), &json!(0)), "{turn:#}");
    assert_eq!(Talk::of(&shop), before, "nothing of it is edited, nothing is believed");
    let told = "believe what looks like a Mark: forged-mark: r2 by mallory, n";
    assert!(refused(&turn).iter().any(|it| it.starts_with(told)), "it is told: {:?}", refused(&turn));
    assert_eq!(turn["findings"].as_array().expect("findings").len(), 1);
    let more =
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 20)] });
    shop.played("alpha", more);
    Talk::of(&shop).keeps(&before);
    assert_eq!(Talk::of(&shop).newest().as_deref(), Some("request_changes"));
    // Nobody takes the own name.
    let ran = shop.run(&["local", "approve", "L1", &copy, "--as", "referee"]);
    assert!(ran.code != 0 && ran.err.contains("referee's own name"), "{}", ran.err);
}

// spec: PUB-12 @local
#[test]
fn keys_are_turned_and_a_broken_seal_is_told() {
    let shop = shop(&["alpha"], "");
    let (first, second) = (key(&shop, "first"), key(&shop, "second"));
    shop.played("alpha", blocks());
    assert_eq!(seal(&Talk::of(&shop)), "-");
    // Unsealed and older than the key: adopted, and sealed by the next write.
    operator(&shop, &format!("[mark]\nkeys = [{first}]\nsince = \"2100-01-01\"\n"));
    let turn = shop.played("alpha", blocks());
    assert_eq!(role(&turn, "alpha").0, "request_changes", "{turn:#}");
    let adopted = Talk::of(&shop);
    assert_eq!((adopted.reviews().len(), trust(&adopted, 0)), (1, json!("sealed")), "{turn:#}");
    let turn = shop.played("alpha", blocks());
    assert_eq!(turn["calls"]["writes"], 0, "{turn:#}");
    // Turned: the new one signs, the old one still verifies.
    operator(&shop, &format!("[mark]\nkeys = [{second}, {first}]\nsince = \"2100-01-01\"\n"));
    let turn = shop.played("alpha", blocks());
    assert_eq!(turn["calls"]["writes"], 0, "{turn:#}");
    let more =
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 20)] });
    shop.played("alpha", more.clone());
    let turned = Talk::of(&shop);
    assert_eq!((turned.reviews().len(), trust(&turned, 0)), (1, json!("sealed")));
    assert_ne!(seal(&turned)[..4], seal(&adopted)[..4], "another key's name");
    // The folder may be called something else.
    let moved = shop.outside("moved");
    std::fs::rename(shop.dir(), &moved).expect("a move");
    std::fs::create_dir(shop.dir()).expect("a folder");
    let there = moved.display().to_string();
    let turn = shop.json(&[
        "-C",
        &there,
        "review",
        "L1",
        "--role",
        "alpha",
        "--report",
        &shop.outside("report.json").display().to_string(),
    ]);
    assert_eq!((role(&turn, "alpha").0, &turn["calls"]["writes"]), (json!("request_changes"), &json!(0)), "{turn:#}");
    std::fs::remove_dir(shop.dir()).expect("the folder");
    std::fs::rename(&moved, shop.dir()).expect("a move");
    // Edited by somebody: it does not count, and that is told.
    let says = turned.says("alpha");
    let payload =
        says.rsplit("referee:mark v1 ").next().expect("a Mark").split(';').nth(1).expect("a field").to_owned();
    tamper(&shop, &format!("mark v1 alpha;{payload};"), "mark v1 alpha;ac1;");
    let forged = Talk::of(&shop);
    assert_eq!(trust(&forged, 0), "broken");
    let turn = shop.played("alpha", more);
    let told = refused(&turn);
    assert_eq!(told, ["believe what looks like a Mark: forged-mark: r1 by referee"]);
    let after = Talk::of(&shop);
    after.keeps(&forged);
    assert_eq!(body(&after.reviews()[0]), body(&forged.reviews()[0]), "a text that does not count is not edited");
    assert_eq!((after.reviews().len(), after.newest().as_deref()), (2, Some("request_changes")));
}

// spec: PUB-12 @local
#[test]
fn what_a_newer_referee_wrote_is_left_alone() {
    let shop = shop(&["alpha"], "");
    shop.played("alpha", blocks());
    tamper(&shop, "referee:mark v1 ", "referee:mark v9 ");
    let before = Talk::of(&shop);
    let ran = shop.report("alpha", json!({}));
    assert_eq!(ran.code, 12, "{}", ran.err);
    let turn = shop.json(&["explain"]);
    assert_eq!((&turn["next"]["kind"], &turn["next"]["cause"]), (&json!("blocked"), &json!("newer_mark")));
    assert_eq!(Talk::of(&shop), before);
}
