//! Many pulls on a fake server, with a bare repository for git.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use referee_core::model::{Access, CheckState, Login, PullNumber, Sha};
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::proxy::Proxy;
use referee_testkit::{Quirks, World, WorldPerson};
use tempfile::TempDir;

use crate::stage::{self, People, Resolved, Stage};

/// Pulls on a fake server.
pub(crate) struct OnDialect {
    world: World,
    pulls: Vec<PullNumber>,
    proxy: Proxy,
    home: TempDir,
    _server: FakeServer,
}

impl OnDialect {
    pub(crate) fn new(count: usize) -> Self {
        let home = TempDir::new().expect("a folder");
        let world = World::new(Quirks { instant_calls: true, ..Dialect::Gitea127.quirks() });
        ["alice", "ruth", "sec"].iter().for_each(|name| world.admit(name, Access::Write));
        let client = world.client("referee");
        world.create_labels(&["wip", "ready", "bug"]);
        world.queue_commit_ids(create_repository(&home.path().join("api.git"), count));
        let people = world.people();
        people.as_("alice").push_base("README.md", |_| "# api\n".to_owned());
        let open = |nth| people.as_("alice").open_pull(&format!("topic-{nth}"), &[(&path(nth), TEXT)]);
        let pulls: Vec<PullNumber> = (0..count).map(open).collect();
        pulls.iter().enumerate().for_each(|(nth, pull)| stage::set_state(&InWorld(&world), nth, *pull));
        let server = FakeServer::open_with_git(Dialect::Gitea127, &world, &home.path().join("api.git"));
        let token = server.issue_token(&client, &Login::from("referee"));
        let proxy = Proxy::in_front_of(server.base_url());
        stage::write_project_file(home.path(), "acme/api", proxy.url(), &token);
        Self { world, pulls, proxy, home, _server: server }
    }
}

const TEXT: &str = "fn a() {}\n";

fn path(nth: usize) -> String {
    format!("src/f{nth}.rs")
}

/// Creates a bare repository with a first commit and one commit per pull, and returns their ids in that order.
fn create_repository(bare: &Path, count: usize) -> Vec<Sha> {
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(bare).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        git
    };
    std::fs::create_dir_all(bare).expect("a folder");
    let made = git(&["init", "--quiet", "--bare", "."]).status().expect("git runs");
    assert!(made.success());
    // As on real servers: clients may leave out blobs and fetch any commit.
    for key in ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"] {
        assert!(git(&["config", key, "true"]).status().expect("git runs").success());
    }
    let mut script = String::new();
    let mut commit = |branch: &str, path: &str, text: &str, on: &str| {
        let _ = write!(
            script,
            "commit refs/heads/{branch}\ncommitter alice <alice@example.org> 1794739200 +0000\ndata 1\nx\n{on}\
             M 100644 inline {path}\ndata {}\n{text}\n",
            text.len()
        );
    };
    commit("main", "README.md", "# api\n", "");
    (0..count).for_each(|nth| commit(&format!("topic-{nth:05}"), &path(nth), TEXT, "from refs/heads/main\n"));
    let mut import = git(&["fast-import", "--quiet"]).spawn().expect("git runs");
    import.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("git reads");
    assert!(import.wait().expect("git ends").success());
    let names = git(&["for-each-ref", "--format=%(objectname)"]).output().expect("git runs").stdout;
    String::from_utf8_lossy(&names).lines().map(Sha::from).collect()
}

impl Stage for OnDialect {
    fn count(&self) -> usize {
        self.pulls.len()
    }

    fn proxy(&self) -> &Proxy {
        &self.proxy
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    fn change_ten_pulls(&self) {
        stage::change_pulls(&InWorld(&self.world), &self.pulls);
    }
}

struct InWorld<'a>(&'a World);

impl InWorld<'_> {
    fn at(&self, login: &str, pull: PullNumber) -> WorldPerson {
        self.0.people().on(pull).as_(login)
    }
}

impl People for InWorld<'_> {
    fn check(&self, pull: PullNumber, state: &str) {
        let state = match state {
            "success" => CheckState::Pass,
            "failure" => CheckState::Fail,
            _ => CheckState::Pending,
        };
        self.at("alice", pull).report_check("ci", state);
    }

    fn head(&self, pull: PullNumber) -> String {
        self.at("alice", pull).head().to_string()
    }

    fn remark(&self, pull: PullNumber, text: &str) {
        self.at("sec", pull).review_without_verdict(text);
    }

    fn block(&self, pull: PullNumber, text: &str) {
        self.at("ruth", pull).block(text);
    }

    fn comment(&self, pull: PullNumber, text: &str) {
        self.at("referee", pull).comment(text);
    }

    fn note(&self, pull: PullNumber, resolved: Resolved) {
        let ruth = self.at("ruth", pull);
        let nth = pull.0 - 1;
        let thread = ruth.open_thread(&format!("src/f{nth}.rs"), 1, "why?");
        if resolved == Resolved::Yes {
            ruth.resolve(&thread);
        }
    }
}
