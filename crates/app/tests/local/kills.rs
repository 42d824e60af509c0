//! Killed at every step of the journal, the next run goes on and nothing is there twice.
//!
//! A run is stopped where it is wanted by locks alone: each step is an intent in `state.db`, a write in `referee.db` and
//! a conclusion in `state.db`, so whoever holds one of the two files lets a run go as far as the next write to it.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::shop::Shop;

const CONFIG: &str = "version = 1\n[[role]]\nname = \"security\"\ncommand = \"reader\"\n[[role]]\nname = \"style\"\n\
                      command = \"reader\"\n";
const ROLES: [&str; 2] = ["security", "style"];
const CODE: &str = "fn a() { one() }\n\nfn b() { two() }\n\nfn c() { three() }\n";

/// A run that is about to be played, and what its two reviewers say.
struct Scene {
    name: &'static str,
    shop: Shop,
    reports: [Value; 2],
}

fn finding(title: &str, line: u32) -> Value {
    json!({ "title": title, "body": "It breaks.", "severity": "critical", "path": "src/a.rs", "line": line })
}

fn positions(says: &[(&str, &str)]) -> Value {
    let said = says.iter().map(|(id, says)| json!({ "finding": id, "position": says, "evidence": "src/a.rs:1" }));
    json!({ "positions": said.collect::<Vec<_>>() })
}

/// The first review: two roles, three threads.
fn first() -> Scene {
    let shop = Shop::with_config(CONFIG);
    shop.branch("topic", &[("src/a.rs", CODE)]);
    shop.ends(0, &["local", "open"]);
    shop.ends(0, &["local", "comment", "L1", "hello"]);
    let security = json!({ "findings": [finding("One panics", 1), finding("Two leaks", 3)] });
    Scene { name: "first", reports: [security, json!({ "findings": [finding("Three is slow", 5)] })], shop }
}

/// The second one: two are fixed, one is answered, one stays.
fn second() -> Scene {
    let Scene { shop, reports: [security, style], .. } = first();
    shop.played("security", security);
    shop.played("style", style);
    shop.ends(0, &["local", "reply", "L1", "F3", "fixed"]);
    shop.write("src/a.rs", "fn a() { uno() }\n\nfn b() { due() }\n\nfn c() { three() }\n");
    shop.commit("Fix two");
    let mut still = positions(&[("F3", "still_there")]);
    still["findings"] = json!([finding("Due is slower", 3)]);
    Scene { name: "second", reports: [positions(&[("F1", "fixed"), ("F2", "fixed")]), still], shop }
}

/// An approval that a new block takes the place of.
fn superseding() -> Scene {
    let Scene { shop, reports: [security, style], .. } = first();
    shop.played("security", security);
    shop.played("style", style);
    shop.write("src/a.rs", "fn a() { uno() }\n\nfn b() { due() }\n\nfn c() { tres() }\n");
    shop.commit("Fix all");
    shop.played("security", positions(&[("F1", "fixed"), ("F2", "fixed")]));
    shop.played("style", positions(&[("F3", "fixed")]));
    shop.write("src/a.rs", CODE.replace("one()", "four()"));
    shop.commit("Break it again");
    let back = json!({ "findings": [finding("Four panics", 1), finding("Two leaks", 3)] });
    Scene { name: "superseding", reports: [back, json!({ "findings": [finding("Three is slow", 5)] })], shop }
}

impl Scene {
    /// The same moment in a folder of its own. Its reviewers wait until somebody opens the gate, and count their runs.
    fn copy(&self) -> Shop {
        let shop = self.shop.twin();
        for (role, report) in ROLES.iter().zip(&self.reports) {
            shop.file(&format!("{role}.json"), shop.full_report(role, report.clone()).to_string());
        }
        let here = shop.outside("");
        let script = format!(
            "cd '{}'\nrole=$(sed -n 's/.*\"role\":\"\\([a-z]*\\)\".*/\\1/p')\necho $role >> runs\nread -r go < gate-$role\n\
             cat $role.json\n",
            here.display()
        );
        shop.reader(&script, "");
        let made = Command::new("mkfifo").args(ROLES.map(|role| gate(&shop, role))).status().expect("mkfifo runs");
        assert!(made.success());
        shop
    }
}

/// A run under way, with both files in hand.
struct Held {
    run: Child,
    forge: Connection,
    state: Connection,
    intents: i64,
}

impl Held {
    /// Started, both reviewers done, stopped before the first write to the forge.
    fn start(shop: &Shop) -> Self {
        let dir = shop.dir().join(".git/referee");
        let open = |name: &str| {
            let db = Connection::open(dir.join(name)).expect("a database");
            db.busy_timeout(std::time::Duration::from_secs(10)).expect("a timeout");
            db
        };
        let (forge, state) = (open("referee.db"), open("state.db"));
        let intents = count(&state);
        let mut command = shop.referee(&["review"]);
        let run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("referee runs");
        let held = Self { run, forge, state, intents };
        // Reviewers run: what is written to the forge before the turn is written.
        let_go(shop, ROLES[0]);
        lock(&held.forge);
        let_go(shop, ROLES[1]);
        held
    }

    /// Stopped between the nth intent and its write; false where there is none, and the run ended.
    fn reaches(&mut self, n: i64) -> bool {
        loop {
            if count(&self.state) >= self.intents + n {
                return true;
            }
            if self.run.try_wait().expect("a process").is_some() {
                return false;
            }
            std::thread::yield_now();
        }
    }

    /// The write that it waits for, and no more.
    fn write(&self) {
        let version =
            || -> i64 { self.forge.pragma_query_value(None, "data_version", |row| row.get(0)).expect("a version") };
        lock(&self.state);
        let before = version();
        release(&self.forge);
        while version() == before {
            std::thread::yield_now();
        }
        lock(&self.forge);
    }

    /// On to the next intent.
    fn conclude(&self) {
        release(&self.state);
    }

    fn kill(mut self) {
        self.run.kill().expect("it runs");
        self.run.wait().expect("it ends");
    }
}

fn lock(db: &Connection) {
    db.execute_batch("BEGIN IMMEDIATE").expect("a lock");
}

fn release(db: &Connection) {
    db.execute_batch("ROLLBACK").expect("a lock");
}

fn count(state: &Connection) -> i64 {
    state.query_row("SELECT coalesce(max(id), 0) FROM intents", [], |row| row.get(0)).expect("a number")
}

/// Lets a reviewer go on: whoever writes waits for whoever reads.
fn let_go(shop: &Shop, role: &str) {
    std::fs::write(gate(shop, role), "go\n").expect("a gate");
}

fn gate(shop: &Shop, role: &str) -> PathBuf {
    shop.outside(&format!("gate-{role}"))
}

fn runs(shop: &Shop) -> usize {
    std::fs::read_to_string(shop.outside("runs")).unwrap_or_default().lines().count()
}

/// What stands on the pull, without its times and what a run took. Of a summary what it decides and remembers: its line of what became of
/// findings since the last one leaves out those that the killed run had settled already.
fn standing(shop: &Shop) -> Value {
    let stands = shop.stands("L1");
    let reviews = stands["reviews"].as_array().expect("reviews").iter().map(|review| {
        let reading = &review["text"]["reading"];
        let mut mark = reading["mark"]["data"].clone();
        if let Some(mark) = mark.as_object_mut() {
            let of_the_run = ["evaluation", "inputs", "report", "spent", "words"];
            mark.retain(|name, _| !of_the_run.contains(&name.as_str()));
        }
        json!([review["id"], review["row"], review["commit"], review["counts"], mark, reading["block"]])
    });
    let (threads, comments, checks) = (&stands["threads"], &stands["comments"], &stands["checks"]);
    let mut kept = json!([reviews.collect::<Vec<_>>(), threads, comments, checks]);
    timeless(&mut kept);
    kept
}

fn timeless(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| name != "at");
            fields.values_mut().for_each(timeless);
        }
        Value::Array(values) => values.iter_mut().for_each(timeless),
        _ => {}
    }
}

/// A run to its end, its reviewers let through.
fn undisturbed(scene: &Scene) -> Value {
    let shop = scene.copy();
    let mut command = shop.referee(&["review"]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("referee runs");
    ROLES.iter().for_each(|role| let_go(&shop, role));
    run.wait().expect("it ends");
    standing(&shop)
}

/// After a kill: the next run goes on, asks nobody again, and the one after it has nothing to do.
fn goes_on(shop: &Shop, expected: &Value, at: &str) {
    shop.json(&["review"]);
    assert_eq!(runs(shop), 2, "{at}: a finished report is posted without its reviewer");
    let stands = standing(shop);
    assert_eq!(&stands, expected, "{at}");
    let quiet = shop.json(&["review"]);
    assert_eq!((&quiet["calls"]["writes"], &quiet["steps"]), (&json!(0), &json!([])), "{at}: {quiet:#}");
    let cut = shop.dir().join(".git/referee/state.db");
    let state = Connection::open(cut).expect("a database");
    let open: i64 =
        state.query_row("SELECT count(*) FROM intents WHERE outcome IS NULL", [], |row| row.get(0)).expect("a number");
    assert_eq!(open, 0, "{at}: what became of it was read back");
}

fn killed_at_every_step(scene: &Scene) {
    let expected = undisturbed(scene);
    let mut steps = 0;
    for n in 1.. {
        let shop = scene.copy();
        let mut held = Held::start(&shop);
        for before in 1..n {
            assert!(held.reaches(before), "{} of {n}", before);
            held.write();
            held.conclude();
        }
        if !held.reaches(n) {
            break;
        }
        steps = n;
        held.kill();
        goes_on(&shop, &expected, &format!("{}, step {n} meant", scene.name));
        let shop = scene.copy();
        let mut held = Held::start(&shop);
        for before in 1..=n {
            assert!(held.reaches(before), "{} of {n}", before);
            held.write();
            if before < n {
                held.conclude();
            }
        }
        held.kill();
        goes_on(&shop, &expected, &format!("{}, step {n} written", scene.name));
    }
    assert!(steps >= 4, "{}: only {steps} steps", scene.name);
}

#[test]
fn a_first_review_killed_at_every_step_is_finished_by_the_next() {
    killed_at_every_step(&first());
}

#[test]
fn a_second_review_killed_at_every_step_is_finished_by_the_next() {
    killed_at_every_step(&second());
}

#[test]
fn a_superseding_review_killed_at_every_step_is_finished_by_the_next() {
    killed_at_every_step(&superseding());
}

/// A run whose first reviewer is done and whose second one waits, with a child of its own; their numbers.
fn under_way(shop: &Shop) -> (Child, [String; 2]) {
    let here = shop.outside("");
    let here = here.display();
    let script = format!(
        "cd '{here}'\nrole=$(sed -n 's/.*\"role\":\"\\([a-z]*\\)\".*/\\1/p')\necho $role >> runs\n\
         [ $role = style ] && {{ sleep 600 & echo $$ $! > gate-style; wait; }}\ncat $role.json\n"
    );
    shop.reader(&script, "");
    let mut command = shop.referee(&["review"]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("referee runs");
    let told = std::fs::read_to_string(gate(shop, "style")).expect("a gate");
    let mut numbers = told.split_whitespace().map(str::to_owned);
    (run, std::array::from_fn(|_| numbers.next().expect("a number")))
}

/// What is dead and was not yet buried is a zombie.
fn is_alive(process: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
    state.is_ok_and(|stat| !stat.contains(") Z "))
}

#[cfg(target_os = "linux")]
#[test]
fn a_stopped_run_takes_its_reviewer_along_and_keeps_the_report_that_was_finished() {
    let scene = first();
    let expected = undisturbed(&scene);
    for signal in ["INT", "TERM", "KILL"] {
        let shop = scene.copy();
        let (mut run, reviewers) = under_way(&shop);
        assert!(reviewers.iter().all(|it| is_alive(it)), "{signal}: {reviewers:?}");
        let sent = Command::new("kill").args(["-s", signal, &run.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        run.wait().expect("it ends");
        // A signal that was sent takes its time; this never ends where none was.
        while reviewers.iter().any(|it| is_alive(it)) {
            std::thread::yield_now();
        }
        shop.reader("cat '{}/style.json'\n".replace("{}", &shop.outside("").display().to_string()).as_str(), "");
        let turn = shop.json(&["review"]);
        assert_eq!(runs(&shop), 2, "{signal}: {turn:#}");
        assert_eq!(standing(&shop), expected, "{signal}");
    }
}
