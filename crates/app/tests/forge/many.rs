//! A repository with many open pulls, and the requests of a sweep over them.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use referee_core::model::{CommentId, Mergeable, PullNumber, ThreadId, Time};
use referee_forge::{CachedForge, FetchedPull, Memento, MementoStore, Reader, Reuse, ServerSite, connect};
use referee_http::{ClientOptions, Token};
use referee_testkit::server::{ServerBuild, ServerPerson};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::site::TestSite;

/// A repository with many open pulls; every fifth has an open thread, every tenth a comment.
pub(crate) struct Many {
    pub(crate) site: TestSite,
    pub(crate) pulls: Vec<PullNumber>,
    pub(crate) threads: Vec<(PullNumber, ThreadId)>,
    comments: Vec<(PullNumber, CommentId)>,
    forge: CachedForge,
    runtime: Runtime,
}

/// Pulls, as a sweep saw them.
pub(crate) type Swept = BTreeMap<PullNumber, FetchedPull>;

impl Many {
    pub(crate) fn new(build: ServerBuild, count: usize) -> Self {
        let site = TestSite::new(build, &[("README.md", "# shop\n")]);
        let first = site.open("topic", &[("a.txt", "one\ntwo\nthree\n")]);
        let pulls: Vec<PullNumber> = std::iter::once(first).chain(more(&site, first, count - 1)).collect();
        let ruth = |pull| site.at("ruth", pull);
        let threads = pulls.iter().step_by(5).map(|pull| (*pull, ruth(*pull).open_thread("a.txt", 2, "why two?")));
        let threads = threads.collect();
        let comments = pulls.iter().step_by(10).map(|pull| (*pull, ruth(*pull).comment("looks fine"))).collect();
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let forge = runtime.block_on(forge(&site));
        Self { site, pulls, threads, comments, forge, runtime }
    }

    /// One sweep. Without the clock, and whether it merges, which a list does not tell, a pull on which nothing happened
    /// looks as it did before.
    pub(crate) fn sweep(&self) -> Swept {
        self.site.proxy.forget();
        let swept = self.runtime.block_on(self.forge.fetch_board_and_pulls(Reuse::Cached));
        let (_, pulls) = swept.expect("the open pulls");
        let told = pulls.into_iter().map(|mut fetched| {
            fetched.pull.mergeable = Mergeable::Unknown;
            let comparable = FetchedPull {
                taken_at: Time::default(),
                is_fresh: true,
                head_read_last: false,
                memento: None,
                ..fetched
            };
            (comparable.pull.number, comparable)
        });
        told.collect()
    }

    /// Requests since the sweep began: pages of the list, and all others.
    pub(crate) fn asked(&self) -> (usize, usize) {
        let log = self.site.proxy.log();
        let pages = log.iter().filter(|seen| seen.path.contains("/pulls?")).count();
        (pages, log.len() - pages)
    }

    /// Something happens on four pulls; what, by pull.
    pub(crate) fn happens(&self) -> BTreeMap<PullNumber, &'static str> {
        let mut happened = BTreeMap::new();
        let person = |pull: PullNumber| -> ServerPerson { self.site.at("ruth", pull) };
        let (pull, comment) = &self.comments[0];
        person(*pull).edit_text(comment.as_str(), "looks fine, but for the name");
        happened.insert(*pull, "an edited comment");
        person(self.pulls[1]).report_check("build", "failure");
        happened.insert(self.pulls[1], "a new status");
        person(self.pulls[2]).label("later");
        happened.insert(self.pulls[2], "a label");
        // Forgejo has no route for it.
        if self.site.repo.server().build() != ServerBuild::Forgejo10 {
            let (pull, thread) = &self.threads[1];
            person(*pull).resolve(thread);
            happened.insert(*pull, "a resolved thread");
        }
        happened
    }
}

/// More pulls of the same change, each on top of the one before. One push and one request for each, no more: a server takes its time over a push.
pub(crate) fn more(site: &TestSite, first: PullNumber, count: usize) -> Vec<PullNumber> {
    let folder = site.path("checkout");
    std::fs::create_dir_all(&folder).expect("a folder");
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=alice", "-c", "user.email=alice@example.org"];
        let ran = Command::new("git").args(who).args(args).current_dir(&folder).env("HOME", &folder).output();
        let ran = ran.expect("git runs");
        assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    let token = site.repo.server().token("alice");
    let url = site.repo.url().replacen("://", &format!("://alice:{token}@"), 1);
    git(&["clone", "--quiet", &url, "."]);
    git(&["checkout", "--quiet", "--detach", site.at("alice", first).head().as_str()]);
    let branches: Vec<String> = (0..count).map(|nth| format!("topic-{nth}")).collect();
    for branch in &branches {
        git(&["commit", "--quiet", "--allow-empty", "--message", branch]);
        git(&["branch", branch]);
    }
    git(&[&["push", "--quiet", "origin"], branches.iter().map(String::as_str).collect::<Vec<_>>().as_slice()].concat());
    let open = |branch: &String| {
        let body = json!({ "title": branch, "head": branch, "base": "main" });
        let answer = site.repo.as_("alice").send("POST", "/pulls", Some(&body));
        let pull: serde_json::Value = answer.json().expect("a pull");
        PullNumber(pull["number"].as_u64().unwrap_or_else(|| panic!("{branch}: {pull}")))
    };
    branches.iter().map(open).collect()
}

/// The repository through the proxy, with a cache in front.
async fn forge(site: &TestSite) -> CachedForge {
    let mut client = ClientOptions::new(site.proxy.url().parse().expect("an address"), None, &[]);
    // Requests are counted here, not timed.
    (client.limits.requests_per_minute, client.limits.burst) = (60_000, 10_000);
    let name = site.repo.full_name();
    let (owner, repo) = name.split_once('/').expect("a name");
    let server = ServerSite {
        kind: None,
        client,
        owner: owner.to_owned(),
        repo: repo.to_owned(),
        token: Token::new(site.repo.server().token("referee")),
        known: None,
    };
    let forge = connect(&referee_forge::Site::Server(Box::new(server))).await.expect("the forge");
    CachedForge::new(forge, Some(Arc::new(Memory::default())))
}

#[derive(Debug, Default)]
struct Memory(Mutex<BTreeMap<String, Memento>>);

impl MementoStore for Memory {
    fn load(&self, key: &str) -> Option<Memento> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn save(&self, key: &str, memento: &Memento) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), memento.clone());
    }

    fn remove(&self, key: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}
