//! A run killed at every step of the journal. The next run completes it, and nothing is posted twice.
//!
//! Database locks stop a run at a chosen step: each step writes an intent to `state.db`, the action to `referee.db` and
//! the receipt to `state.db`, so a test that locks one of the two files stops the run at its next write to that file.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::test_repo::TestRepo;

const CONFIG: &str = "version = 1\n[[role]]\nname = \"security\"\ncommand = \"reader\"\n[[role]]\nname = \"style\"\n\
                      command = \"reader\"\n";
const ROLES: [&str; 2] = ["security", "style"];
const CODE: &str = "fn a() { one() }\n\nfn b() { two() }\n\nfn c() { three() }\n";

/// A run that is about to be played, and what its two reviewers say.
struct Scene {
    name: &'static str,
    repo: TestRepo,
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
    let repo = TestRepo::with_config(CONFIG);
    repo.branch("topic", &[("src/a.rs", CODE)]);
    repo.run_expecting(0, &["local", "open"]);
    repo.run_expecting(0, &["local", "comment", "L1", "hello"]);
    let security = json!({ "findings": [finding("One panics", 1), finding("Two leaks", 3)] });
    Scene { name: "first", reports: [security, json!({ "findings": [finding("Three is slow", 5)] })], repo }
}

/// The second one: two are fixed, one is answered, one stays.
fn second() -> Scene {
    let Scene { repo, reports: [security, style], .. } = first();
    repo.report_json("security", security);
    repo.report_json("style", style);
    repo.run_expecting(0, &["local", "reply", "L1", "F3", "fixed"]);
    repo.write("src/a.rs", "fn a() { uno() }\n\nfn b() { due() }\n\nfn c() { three() }\n");
    repo.commit("Fix two");
    let mut still = positions(&[("F3", "still_there")]);
    still["findings"] = json!([finding("Due is slower", 3)]);
    Scene { name: "second", reports: [positions(&[("F1", "fixed"), ("F2", "fixed")]), still], repo }
}

/// An approval that a new block takes the place of.
fn superseding() -> Scene {
    let Scene { repo, reports: [security, style], .. } = first();
    repo.report_json("security", security);
    repo.report_json("style", style);
    repo.write("src/a.rs", "fn a() { uno() }\n\nfn b() { due() }\n\nfn c() { tres() }\n");
    repo.commit("Fix all");
    repo.report_json("security", positions(&[("F1", "fixed"), ("F2", "fixed")]));
    repo.report_json("style", positions(&[("F3", "fixed")]));
    repo.write("src/a.rs", CODE.replace("one()", "four()"));
    repo.commit("Break it again");
    let back = json!({ "findings": [finding("Four panics", 1), finding("Two leaks", 3)] });
    Scene { name: "superseding", reports: [back, json!({ "findings": [finding("Three is slow", 5)] })], repo }
}

impl Scene {
    /// Copies this state into another folder. Its reviewers wait until the gate opens, and count their runs.
    fn copy(&self) -> TestRepo {
        let repo = self.repo.duplicate();
        for (role, report) in ROLES.iter().zip(&self.reports) {
            repo.write_outside(&format!("{role}.json"), repo.full_report(role, report.clone()).to_string());
        }
        let here = repo.path_outside("");
        let script = format!(
            "cd '{}'\nrole=$(sed -n 's/.*\"role\":\"\\([a-z]*\\)\".*/\\1/p')\necho $role >> runs\nread -r go < gate-$role\n\
             cat $role.json\n",
            here.display()
        );
        repo.install_reviewer(&script, "");
        let made = Command::new("mkfifo").args(ROLES.map(|role| gate(&repo, role))).status().expect("mkfifo runs");
        assert!(made.success());
        repo
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
    fn start(repo: &TestRepo) -> Self {
        let dir = repo.dir().join(".git/referee");
        let open = |name: &str| {
            let db = Connection::open(dir.join(name)).expect("a database");
            db.busy_timeout(std::time::Duration::from_secs(10)).expect("a timeout");
            db
        };
        let (forge, state) = (open("referee.db"), open("state.db"));
        let intents = count(&state);
        let mut command = repo.referee(&["review"]);
        let run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("referee runs");
        let held = Self { run, forge, state, intents };
        // Reviewers run: what is written to the forge before the turn is written.
        let_go(repo, ROLES[0]);
        lock(&held.forge);
        let_go(repo, ROLES[1]);
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

/// Lets a reviewer go on: opening the FIFO for writing waits for the reader.
fn let_go(repo: &TestRepo, role: &str) {
    std::fs::write(gate(repo, role), "go\n").expect("a gate");
}

fn gate(repo: &TestRepo, role: &str) -> PathBuf {
    repo.path_outside(&format!("gate-{role}"))
}

fn runs(repo: &TestRepo) -> usize {
    std::fs::read_to_string(repo.path_outside("runs")).unwrap_or_default().lines().count()
}

/// What stands on the pull, without its times and what a run took. Of a summary what it decides and remembers: its line of what became of
/// findings since the last one leaves out those that the killed run had settled already.
fn standing(repo: &TestRepo) -> Value {
    let stands = repo.read_snapshot("L1");
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
    let repo = scene.copy();
    let mut command = repo.referee(&["review"]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("referee runs");
    ROLES.iter().for_each(|role| let_go(&repo, role));
    run.wait().expect("it ends");
    standing(&repo)
}

/// After a kill: the next run completes without running a reviewer again, and the one after it writes nothing.
fn goes_on(repo: &TestRepo, expected: &Value, at: &str) {
    repo.json(&["review"]);
    assert_eq!(runs(repo), 2, "{at}: a finished report is posted without its reviewer");
    let stands = standing(repo);
    assert_eq!(&stands, expected, "{at}");
    let quiet = repo.json(&["review"]);
    assert_eq!((&quiet["calls"]["writes"], &quiet["steps"]), (&json!(0), &json!([])), "{at}: {quiet:#}");
    let cut = repo.dir().join(".git/referee/state.db");
    let state = Connection::open(cut).expect("a database");
    let open: i64 =
        state.query_row("SELECT count(*) FROM intents WHERE outcome IS NULL", [], |row| row.get(0)).expect("a number");
    assert_eq!(open, 0, "{at}: what became of it was read back");
}

fn killed_at_every_step(scene: &Scene) {
    let expected = undisturbed(scene);
    let mut steps = 0;
    for n in 1.. {
        let repo = scene.copy();
        let mut held = Held::start(&repo);
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
        goes_on(&repo, &expected, &format!("{}, step {n} meant", scene.name));
        let repo = scene.copy();
        let mut held = Held::start(&repo);
        for before in 1..=n {
            assert!(held.reaches(before), "{} of {n}", before);
            held.write();
            if before < n {
                held.conclude();
            }
        }
        held.kill();
        goes_on(&repo, &expected, &format!("{}, step {n} written", scene.name));
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
fn under_way(repo: &TestRepo) -> (Child, [String; 2]) {
    let here = repo.path_outside("");
    let here = here.display();
    let script = format!(
        "cd '{here}'\nrole=$(sed -n 's/.*\"role\":\"\\([a-z]*\\)\".*/\\1/p')\necho $role >> runs\n\
         [ $role = style ] && {{ sleep 600 & echo $$ $! > gate-style; wait; }}\ncat $role.json\n"
    );
    repo.install_reviewer(&script, "");
    let mut command = repo.referee(&["review"]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("referee runs");
    let told = std::fs::read_to_string(gate(repo, "style")).expect("a gate");
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
fn an_interrupted_run_ends_its_reviewer_and_keeps_finished_reports() {
    let scene = first();
    let expected = undisturbed(&scene);
    for signal in ["INT", "TERM", "KILL"] {
        let repo = scene.copy();
        let (mut run, reviewers) = under_way(&repo);
        assert!(reviewers.iter().all(|it| is_alive(it)), "{signal}: {reviewers:?}");
        let sent = Command::new("kill").args(["-s", signal, &run.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        run.wait().expect("it ends");
        // A signal that was sent takes its time; this never ends where none was.
        while reviewers.iter().any(|it| is_alive(it)) {
            std::thread::yield_now();
        }
        repo.install_reviewer(
            "cat '{}/style.json'\n".replace("{}", &repo.path_outside("").display().to_string()).as_str(),
            "",
        );
        let turn = repo.json(&["review"]);
        assert_eq!(runs(&repo), 2, "{signal}: {turn:#}");
        assert_eq!(standing(&repo), expected, "{signal}");
    }
}
