//! Matrix mode: three roles as three concurrent processes, each on its own machine (D6, D8).

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use referee_core::model::PullNumber;
use referee_testkit::proxy::{ProxyFault, RequestMatcher};
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::chance::{Dice, times};
use crate::on_each_server;
use crate::site::{RunOutput, TestSite};
use crate::standing::{Review, Standing};

on_each_server! { three_jobs_at_once_agree_on_the_worst a_job_without_the_claim_exits_with_try_later }

const ROLES: [&str; 3] = ["security", "style", "logic"];

/// What a role says of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Blocks,
    Remarks,
    Nothing,
}

/// How the roles are spread over identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spread {
    One,
    /// `security` speaks as `sec`.
    Two,
}

// spec: PUB-7, PUB-8, PUB-21 @gitea @forgejo
fn three_jobs_at_once_agree_on_the_worst(build: ServerBuild) {
    repeat(build, Spread::One, times(1, 20));
}

// spec: PUB-7, PUB-8 @gitea
#[test]
fn three_jobs_of_two_identities_agree_on_the_worst() {
    repeat(ServerBuild::Gitea127, Spread::Two, times(1, 20));
}

/// The claim could not be had: the report is kept, and the next run posts it.
// spec: PUB-8 @gitea @forgejo
fn a_job_without_the_claim_exits_with_try_later(build: ServerBuild) {
    let site = site(build, Spread::One);
    let pull = site.open("busy", &files("busy"));
    let file = site.full_report(pull, "security", report("security", Says::Blocks, &[]));
    site.proxy.inject_fault(ProxyFault::RateLimited(3600), RequestMatcher::nth_write(1).with_path("/reactions"));
    let ran = job(&site, pull, "security", &["--report", &file]).finish();
    assert_eq!(ran.code, 75, "{ran:?}");
    assert_eq!(site.proxy.write_count(), 1, "{:#?}", site.proxy.log());
    assert!(ran.err.contains("hint: ") && ran.err.contains("kept"), "{}", ran.err);
    std::fs::remove_file(&file).expect("the report of the caller is gone");
    let ran = job(&site, pull, "security", &[]).finish();
    assert_eq!(ran.code, 0, "{ran:?}");
    let stands = Standing::of(&site, "referee", pull);
    assert_eq!(stands.reviews.len(), 1, "{stands:#?}");
    assert_eq!(stands.reviews[0].state, "REQUEST_CHANGES");
    assert_eq!(stands.notes.len(), 1, "{stands:#?}");
}

fn repeat(build: ServerBuild, spread: Spread, times: usize) {
    let site = site(build, spread);
    let mut dice = Dice::new();
    for round in 0..times {
        let branch = format!("round-{round}");
        let pull = site.open(&branch, &files(&branch));
        let told = format!("REFEREE_SEED={}, round {round}, {spread:?}", dice.seed);
        // The first head has something to mend more often than not, the second has not half of the time.
        let draw = |dice: &mut Dice, most| match dice.below(most) {
            0 => Says::Blocks,
            1 => Says::Remarks,
            _ => Says::Nothing,
        };
        let first = ROLES.map(|role| (role, draw(&mut dice, 3)));
        let ids = publish(&site, pull, spread, &first, &[], &mut dice, &told);
        site.at("alice", pull).push("src/a.rs", |text| text.replace("old", "new"));
        let quiet = dice.below(2) == 0;
        let second = ROLES.map(|role| (role, if quiet { Says::Nothing } else { draw(&mut dice, 5) }));
        publish(&site, pull, spread, &second, &ids, &mut dice, &format!("{told}, second head, after {first:?}"));
    }
}

/// Three jobs at once; what stands afterwards is right. The findings' ids and roles.
fn publish(
    site: &TestSite,
    pull: PullNumber,
    spread: Spread,
    says: &[(&'static str, Says); 3],
    before: &[(String, String)],
    dice: &mut Dice,
    told: &str,
) -> Vec<(String, String)> {
    let told = format!("{told}: {says:?}");
    let mut jobs: Vec<(&str, String)> =
        says.iter().map(|(role, says)| (*role, site.full_report(pull, role, report(role, *says, before)))).collect();
    dice.shuffle(&mut jobs);
    let head = site.at("alice", pull).head().to_string();
    let watched = AtomicBool::new(true);
    let seen: Vec<Vec<Review>> = thread::scope(|scope| {
        let sampler = scope.spawn(|| {
            let mut seen = Vec::new();
            while watched.load(Ordering::Relaxed) {
                seen.push(rows(site, pull));
            }
            seen
        });
        let started: Vec<(&str, Job)> =
            jobs.iter().map(|(role, file)| (*role, job(site, pull, role, &["--report", file]))).collect();
        let ended: Vec<(&str, RunOutput)> = started.into_iter().map(|(role, job)| (role, job.finish())).collect();
        for (role, mut ran) in ended {
            // What could not be settled is kept, and the next run settles it without the report.
            for _ in 0..3 {
                if ran.code == 75 {
                    ran = job(site, pull, role, &[]).finish();
                }
            }
            assert!(matches!(ran.code, 0 | 12), "{told}: {role} ended with {ran:?}");
        }
        watched.store(false, Ordering::Relaxed);
        sampler.join().expect("the sampler")
    });
    let identities: &[(&str, &[&str])] = match spread {
        Spread::One => &[("referee", &ROLES)],
        Spread::Two => &[("referee", &["style", "logic"]), ("sec", &["security"])],
    };
    if spread == Spread::Two {
        // Nobody but its own job can say for `sec` that the others have come.
        let ran = job(site, pull, "security", &[]).finish();
        assert!(matches!(ran.code, 0 | 12), "{told}: {ran:?}");
    }
    for (login, roles) in identities {
        let of = |role: &str| says.iter().find(|(name, _)| *name == role).expect("a role").1;
        let blocks = roles.iter().any(|role| of(role) == Says::Blocks);
        let mut blocked = false;
        for rows in &seen {
            let own: Vec<&Review> = rows.iter().filter(|row| row.words == *login && row.counts).collect();
            blocked |= blocks && own.iter().any(|row| row.state == "REQUEST_CHANGES");
            // An approval of the head before stands until the block is there.
            let wrong = |row: &&Review| row.state == "APPROVED" && (blocked || (blocks && row.commit == head));
            assert_eq!(own.into_iter().find(wrong), None, "{told}: {login}: {rows:#?}");
        }
        let stands = Standing::of(site, login, pull);
        let mut verdicts =
            stands.reviews.iter().filter(|row| row.state == "APPROVED" || row.state == "REQUEST_CHANGES");
        let newest = verdicts.next_back();
        if blocks {
            assert!(newest.is_some_and(|row| row.state == "REQUEST_CHANGES" && row.counts), "{told}: {stands:#?}");
        } else {
            let counting = |row: &&Review| row.state == "REQUEST_CHANGES" && row.counts;
            assert_eq!(stands.reviews.iter().find(counting), None, "{told}: {stands:#?}");
        }
        once(&stands, &head, roles, &told);
        for role in *roles {
            let state = if blocks { "failure" } else { "success" };
            assert_eq!(stands.statuses[&format!("referee/{role}")].0, state, "{told}: {stands:#?}");
            let new = usize::from(of(role) != Says::Nothing);
            let old = before.iter().filter(|(_, of)| of == role).count();
            let opened = |title: String| stands.notes.iter().filter(|note| note.2.contains(&title)).count();
            let threads = (opened(title(role, before)), opened(title(role, &[])));
            let expected = if before.is_empty() { (new, new) } else { (new, old) };
            assert_eq!(threads, expected, "{told}: {role} of {stands:#?}");
        }
    }
    site.proxy.forget();
    let mut command = site.referee(&["review", &site.page(pull)]);
    let ran = RunOutput::from_output(on_its_own(site, &mut command, "quiet").output().expect("it runs"));
    assert!(matches!(ran.code, 0 | 12), "{told}: {ran:?}");
    assert_eq!(site.proxy.write_count(), 0, "{told}: {ran:?}\n{:#?}", site.proxy.log());
    findings(site, pull)
}

/// No role has two rows that say the same at one head, and no thread is there twice.
fn once(stands: &Standing, head: &str, roles: &[&str], told: &str) {
    for role in roles {
        let mut known = BTreeSet::new();
        let now = format!("Evaluated against {} by {role}", head.get(..7).unwrap_or_default());
        let of = |row: &&Review| row.words.contains(&now);
        for row in stands.reviews.iter().filter(of) {
            let superseded = row.words.starts_with("Superseded");
            assert!(superseded || known.insert(&row.state), "{told}: {role} stands twice: {stands:#?}");
        }
    }
    let notes: BTreeSet<&str> = stands.notes.iter().map(|note| note.2.as_str()).collect();
    assert_eq!(notes.len(), stands.notes.len(), "{told}: {stands:#?}");
    assert!(stands.reviews.iter().all(|row| row.state != "PENDING"), "{told}: {stands:#?}");
}

/// All reviews by all authors, with the author's name in place of the text.
fn rows(site: &TestSite, pull: PullNumber) -> Vec<Review> {
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let row = |row: &Value| Review {
        state: string(&row["state"]),
        counts: row["official"] == true && row["dismissed"] != true,
        commit: string(&row["commit_id"]),
        words: string(&row["user"]["login"]),
    };
    site.at("alice", pull).list_reviews().iter().map(row).collect()
}

fn site(build: ServerBuild, spread: Spread) -> TestSite {
    let identity = |role: &str| if spread == Spread::Two && role == "security" { "identity = \"sec\"\n" } else { "" };
    let roles: Vec<String> =
        ROLES.iter().map(|role| format!("[[role]]\nname = \"{role}\"\nbuiltin = true\n{}", identity(role))).collect();
    let config = format!("version = 1\n[gates]\napprove = \"on\"\n{}", roles.concat());
    let site = TestSite::new(build, &[("src/a.rs", "// old\n"), ("referee.toml", &config)]);
    let operator = "[identity.sec]\ntoken = { env = \"SEC_TOKEN\" }\nlogin = \"sec\"\n";
    std::fs::write(site.path("operator.toml"), operator).expect("a file");
    site
}

fn files(branch: &str) -> Vec<(&'static str, &str)> {
    vec![("src/a.rs", "// old one\n// old two\n// old three\n"), ("name.txt", branch)]
}

/// Something else at the second head.
fn title(role: &str, before: &[(String, String)]) -> String {
    format!("{role} minds {}", if before.is_empty() { "this" } else { "that" })
}

fn report(role: &str, says: Says, before: &[(String, String)]) -> Value {
    let line = 1 + ROLES.iter().position(|it| *it == role).unwrap_or_default();
    // Below this floor, a role that blocked before reports nothing new (LOOP-5).
    let severity = if says == Says::Blocks { "critical" } else { "warning" };
    let findings = json!([{
        "title": title(role, before), "body": "It could be better.", "severity": severity,
        "path": "src/a.rs", "line": line, "side": "new",
    }]);
    let fixed = |(id, _): &(String, String)| json!({ "finding": id, "position": "fixed", "evidence": format!("src/a.rs:{line}"), "reply": "" });
    let positions: Vec<Value> = before.iter().filter(|(_, of)| of == role).map(fixed).collect();
    match says {
        Says::Nothing => json!({ "positions": positions }),
        _ => json!({ "findings": findings, "positions": positions }),
    }
}

/// The open findings: id and role.
fn findings(site: &TestSite, pull: PullNumber) -> Vec<(String, String)> {
    let mut command = site.referee(&["explain", &site.page(pull), "--json"]);
    let ran = RunOutput::from_output(on_its_own(site, &mut command, "quiet").output().expect("it runs"));
    let told: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    told["findings"].as_array().expect("findings").iter().map(|it| (string(&it["id"]), string(&it["role"]))).collect()
}

/// A CI job of one role.
struct Job(Child);

impl Job {
    fn finish(self) -> RunOutput {
        RunOutput::from_output(self.0.wait_with_output().expect("it ends"))
    }
}

fn job(site: &TestSite, pull: PullNumber, role: &str, args: &[&str]) -> Job {
    let page = site.page(pull);
    let mut command = site.referee(&[&["review", &page, "--role", role], args].concat());
    let command = on_its_own(site, &mut command, role);
    Job(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts"))
}

/// On a machine that shares no file with the other jobs.
fn on_its_own<'a>(site: &TestSite, command: &'a mut Command, name: &str) -> &'a mut Command {
    let home = site.path(name);
    std::fs::create_dir_all(&home).expect("a folder");
    if matches!(name, "security" | "quiet") {
        command.env("SEC_TOKEN", site.repo.server().token("sec"));
    }
    command.env("REFEREE_OPERATOR", site.path("operator.toml")).env("HOME", &home).env("TMPDIR", &home);
    command.current_dir(home)
}
