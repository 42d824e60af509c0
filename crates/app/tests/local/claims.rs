//! Runs at the same moment on one pull of a server, and runs that end while they hold the claim (D42).

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use referee_core::model::{Access, Login, PullNumber, ReviewKind, Span};
use referee_forge::{FetchedPull, Reader};
use referee_testkit::dialect::{Dialect, FakeServer, create_repository};
use referee_testkit::proxy::{Proxy, ProxyFault, RequestMatcher};
use referee_testkit::{World, WorldClient, block_on};
use serde_json::json;
use tempfile::TempDir;

/// Pulls on a fake server behind a proxy, each with one new file.
struct Site {
    world: World,
    bot: WorldClient,
    pulls: Vec<PullNumber>,
    proxy: Proxy,
    token: String,
    home: TempDir,
    _server: FakeServer,
}

struct Ended {
    code: Option<i32>,
    err: String,
}

const TEXT: &str = "one\ntwo\nthree\n";

impl Site {
    fn new(dialect: Dialect, count: usize) -> Self {
        let home = TempDir::new().expect("a folder");
        let bare = home.path().join("api.git");
        let world = World::new(dialect.quirks());
        ["alice", "referee"].iter().for_each(|name| world.admit(name, Access::Write));
        let bot = world.client("referee");
        world.queue_commit_ids(create_repository(&bare, count, file_name, TEXT));
        let alice = world.people().as_("alice");
        alice.push_base("README.md", |_| "# api\n".to_owned());
        let open = |nth| alice.open_pull(&format!("topic-{nth}"), &[(&file_name(nth), TEXT)]);
        let pulls = (0..count).map(open).collect();
        let server = FakeServer::open_with_git(dialect, &world, &bare);
        let token = server.issue_token(&bot, &Login::from("referee"));
        let proxy = Proxy::in_front_of(server.base_url());
        Self { world, bot, pulls, proxy, token, home, _server: server }
    }

    /// Starts a review with two findings on the pull of that index, on a machine of that name.
    fn start(&self, nth: usize, machine: &str) -> Child {
        let home = self.home.path().join(machine);
        std::fs::create_dir_all(&home).expect("a folder");
        let finding = |line: u32| json!({ "title": format!("Word {line} is wrong"), "body": "It is.", "severity": "critical", "path": file_name(nth), "line": line, "side": "new" });
        let report = json!({
            "schema": "referee/report-1", "role": "lint", "head": self.fetch(nth).pull.head.as_str(), "outcome": "findings",
            "coverage": { "read": [file_name(nth)], "skipped": [] }, "findings": [finding(1), finding(3)],
        });
        let file = home.join(format!("report-{nth}.json"));
        std::fs::write(&file, report.to_string()).expect("a file");
        let page = format!("{}/acme/api/pulls/{}", self.proxy.url(), self.pulls[nth].0);
        Command::new(env!("CARGO_BIN_EXE_referee"))
            .args(["review", &page, "--role", "lint", "--report"])
            .arg(&file)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("a PATH"))
            .env("HOME", &home)
            .env("TMPDIR", &home)
            .env("REFEREE_TOKEN", &self.token)
            .current_dir(&home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("referee starts")
    }

    fn run(&self, nth: usize, machine: &str) -> Ended {
        Ended::wait_for(self.start(nth, machine))
    }

    fn fetch(&self, nth: usize) -> FetchedPull {
        block_on(self.bot.fetch(self.pulls[nth])).expect("the pull")
    }

    /// Checks that one review with two threads stands, and that another run writes nothing.
    #[track_caller]
    fn check_posted_once(&self, nth: usize, machine: &str) {
        let fetched = self.fetch(nth);
        let is_review = |row: ReviewKind| matches!(row, ReviewKind::Verdict(_));
        let reviews = fetched.reviews.iter().filter(|review| is_review(review.row)).count();
        assert_eq!(
            (reviews, fetched.threads.len()),
            (1, 2),
            "pull {nth}: {}",
            self.world.describe_pull(self.pulls[nth])
        );
        self.proxy.forget();
        let again = self.run(nth, machine);
        assert_eq!(again.code, Some(0), "{}", again.err);
        assert_eq!(self.proxy.write_count(), 0, "{:#?}", self.proxy.log());
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // The world wants every effect to be taken; these tests look at what stands.
        drop(self.world.take_effects());
    }
}

impl Ended {
    fn wait_for(run: Child) -> Self {
        let output = run.wait_with_output().expect("referee ends");
        Self { code: output.status.code(), err: String::from_utf8_lossy(&output.stderr).into_owned() }
    }
}

fn file_name(nth: usize) -> String {
    format!("src/f{nth}.txt")
}

/// 200 rounds in the soak, a tenth of them otherwise: half of them on two machines, half on one.
// spec: D42 @gitea
#[test]
fn two_runs_at_once_on_a_fresh_pull_post_everything_once() {
    let scale = std::env::var("REFEREE_SCALE").ok().and_then(|scale| scale.parse().ok()).unwrap_or(1_usize);
    let rounds = 20 * scale.clamp(1, 10);
    let site = Site::new(Dialect::Gitea127, rounds);
    for nth in 0..rounds {
        let other = if nth % 2 == 0 { "other" } else { "one" };
        let runs = [site.start(nth, "one"), site.start(nth, other)];
        for ended in runs.map(Ended::wait_for) {
            assert_eq!(ended.code, Some(0), "round {nth}: {}", ended.err);
        }
        site.check_posted_once(nth, other);
    }
}

// spec: D42 @gitea
#[test]
fn a_run_whose_claim_was_lost_says_so_waits_and_takes_it_over() {
    let site = Site::new(Dialect::Gitea127, 1);
    site.proxy.inject_fault(ProxyFault::DropAfter, RequestMatcher::nth_write(1).with_path("/reactions"));
    let mut run = site.start(0, "one");
    let mut messages = BufReader::new(run.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let waiting = messages.find(|line| line.starts_with("waiting: "));
    let said = "waiting: another run as `referee` is posting on #1, until ";
    assert!(waiting.as_ref().is_some_and(|line| line.starts_with(said)), "{waiting:?}");
    // The claim expires by the server's clock.
    site.world.wait(Span(31));
    drop(messages);
    assert_eq!(run.wait().expect("referee ends").code(), Some(0));
    site.check_posted_once(0, "one");
}

// spec: D42 @gitea
#[test]
fn a_signal_ends_a_run_between_two_writes_and_its_claim_is_released() {
    for signal in ["TERM", "INT"] {
        let site = Site::new(Dialect::Gitea127, 1);
        let pid: Arc<Mutex<Option<u32>>> = Arc::default();
        let shared = Arc::clone(&pid);
        // The second write posts the review; its response comes after the signal.
        site.proxy.after_write(2, move || {
            let pid = shared.lock().expect("a lock").expect("a running process");
            let sent = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status();
            assert!(sent.expect("kill runs").success());
        });
        // The signal arrives while the run waits for the response.
        let slow = ProxyFault::Slow(Duration::from_millis(500));
        site.proxy.inject_fault(slow, RequestMatcher::nth_write(2));
        let run = site.start(0, "one");
        *pid.lock().expect("a lock") = Some(run.id());
        let ended = Ended::wait_for(run);
        assert_eq!(ended.code, Some(75), "{signal}: {}", ended.err);
        assert!(ended.err.contains("interrupted: "), "{signal}: {}", ended.err);
        let writes: Vec<String> = site.proxy.log().into_iter().filter(|it| !it.is_read()).map(|it| it.method).collect();
        assert_eq!(writes, ["POST", "POST", "DELETE"], "{signal}: the claim, the review, the release");
        site.proxy.forget();
        let next = site.run(0, "other");
        assert!(next.code == Some(0) && !next.err.contains("waiting"), "{signal}: {}", next.err);
        site.check_posted_once(0, "other");
    }
}

// spec: D42 @gitea
#[test]
fn a_server_that_refuses_claims_gets_the_review_and_the_run_says_so() {
    let site = Site::new(Dialect::Gitea127, 1);
    site.world.change_quirks(|quirks| quirks.no_claims = true);
    let ended = site.run(0, "one");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("posted without a claim"), "{}", ended.err);
    site.check_posted_once(0, "one");
}
