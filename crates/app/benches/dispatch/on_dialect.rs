//! Many pulls on a fake server, with a bare repository for git.

use std::path::Path;

use referee_core::model::{Access, CheckState, Login, PullNumber};
use referee_testkit::dialect::{Dialect, FakeServer, create_repository};
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
        world.queue_commit_ids(create_repository(&home.path().join("api.git"), count, path, TEXT));
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
