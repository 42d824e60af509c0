//! A history on a forge: a fake server, a proxy that loses requests and responses, and two machines that review.

use std::process::Command;
use std::time::Duration;

use referee_core::model::{Access, Login, Sha, Span, ThreadId};
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::proxy::{Proxy, ProxyFault, RequestMatcher};
use referee_testkit::{Quirks, World, WorldPerson};

use crate::dice::Dice;
use crate::run_output::RunOutput;
use crate::site::{Act, Push, Site};
use crate::tree::SourceTree;
use crate::workspace::Workspace;

pub(crate) struct HostedSite {
    workspace: Workspace,
    world: World,
    proxy: Proxy,
    token: String,
    _server: FakeServer,
}

impl HostedSite {
    pub(crate) fn new(dice: &mut Dice, config: &str, base: &SourceTree, tree: &SourceTree) -> Self {
        let dialect = Dialect::ALL[dice.below(3)];
        let workspace = Workspace::new(config, base);
        let world = World::new(Quirks { instant_calls: true, ..dialect.quirks() });
        for person in ["alice", "carol", "bob", "renovate-bot", "ci-bot"] {
            world.admit(person, Access::Write);
        }
        let client = world.client("referee");
        let bare = workspace.path("api.git");
        workspace.git(&["clone", "--quiet", "--bare", ".", bare.to_str().expect("a UTF-8 path")]);
        for key in ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"] {
            workspace.git(&["-C", bare.to_str().expect("a UTF-8 path"), "config", key, "true"]);
        }
        let server = FakeServer::open_with_git(dialect, &world, &bare);
        let token = server.issue_token(&client, &Login::from("referee"));
        let proxy = Proxy::in_front_of(server.base_url());
        let site = Self { workspace, world, proxy, token, _server: server };
        site.queue_commits(&["main"]);
        site.person("alice").push_base("referee.toml", |_| config.to_owned());
        for path in base.0.keys() {
            site.queue_commits(&["main"]);
            site.person("alice").push_base(path, |_| base.render(path));
        }
        site.workspace.commit_tree(tree, "Begin the topic");
        site.push_branches();
        site.queue_commits(&["topic"]);
        let files: Vec<(String, String)> = tree.0.keys().map(|path| (path.clone(), tree.render(path))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        site.person("alice").open_pull("topic", &files);
        site
    }

    fn person(&self, login: &str) -> WorldPerson {
        self.world.people().as_(login)
    }

    /// Gives the next commits in the world the ids of these branches' tips.
    fn queue_commits(&self, branches: &[&str]) {
        self.world.queue_commit_ids(branches.iter().map(|branch| Sha(self.workspace.git(&["rev-parse", branch]))));
    }

    fn push_branches(&self) {
        let bare = self.workspace.path("api.git");
        self.workspace.git(&["push", "--quiet", "--force", bare.to_str().expect("a UTF-8 path"), "main", "topic"]);
    }
}

impl Drop for HostedSite {
    /// What was written is judged by what later runs read.
    fn drop(&mut self) {
        drop(self.world.take_effects());
    }
}

impl Site for HostedSite {
    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn prepare(&self, host: usize, args: &[&str]) -> Command {
        // The claim of a run that was killed expires before the next one starts.
        self.world.wait(Span(if host == 0 { 60 } else { 0 }));
        let page = format!("{}/acme/api/pulls/1", self.proxy.url());
        let mut command = self.workspace.command(env!("CARGO_BIN_EXE_referee"), ["home", "other-home"][host]);
        let (verb, rest) = args.split_first().expect("a command");
        command.arg(verb).arg(page).args(rest).env("REFEREE_TOKEN", &self.token);
        if *verb == "review" {
            command.args(["--fail-on", "verdict"]);
        }
        // A run must not find the work tree's commits: it fetches them, as a server does.
        command.current_dir(self.workspace.path(["home", "other-home"][host]));
        command
    }

    /// Lets the server's clock run ahead while a run takes long: it waits for its claim, whose answer was lost.
    fn run(&self, args: &[&str]) -> RunOutput {
        let child = self.start(0, args);
        let (ended, has_ended) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || ended.send(child.wait_with_output()));
            loop {
                match has_ended.recv_timeout(Duration::from_secs(1)) {
                    Ok(output) => return RunOutput::from_output(&output.expect("referee runs")),
                    Err(_) => self.world.wait(Span(15)),
                }
            }
        })
    }

    fn publish(&self, push: Push<'_>) {
        self.push_branches();
        let alice = self.person("alice");
        match push {
            Push::Commit(tree) => {
                self.queue_commits(&["topic"]);
                alice.commit(|files| {
                    files.retain(|path, _| path == "referee.toml" || tree.0.contains_key(path));
                    files.extend(tree.0.keys().map(|path| (path.clone(), tree.render(path).into())));
                });
            }
            Push::Amend => {
                self.queue_commits(&["topic"]);
                alice.amend();
            }
            Push::Rebase(base) => {
                self.queue_commits(&["main", "topic"]);
                alice.push_base("main.py", |_| base.render("main.py"));
                alice.rebase();
            }
        }
    }

    fn act(&self, act: Act, id: &str, thread: Option<&str>) -> String {
        let dismissal = format!("/referee dismiss {id} known and harmless");
        let thread = thread.map(|thread| ThreadId(thread.to_owned()));
        match (act, thread) {
            (Act::OperatorDismisses, _) => drop(self.person("carol").comment(&dismissal)),
            (Act::BotSaysByDesign, Some(thread)) => {
                self.person("renovate-bot").reply(&thread, "by design, won't fix");
            }
            (Act::BotResolves, Some(thread)) => self.person("renovate-bot").resolve(&thread),
            (Act::BotDismisses | Act::BotSaysByDesign | Act::BotResolves, _) => {
                self.person("ci-bot").comment(&dismissal);
            }
            (Act::PersonBlocks, _) => drop(self.person("bob").block("Not like this")),
        }
        format!("{act:?} {id}")
    }

    fn disturb(&self, dice: &mut Dice) -> Option<String> {
        let faults = [
            ProxyFault::DropBefore,
            ProxyFault::DropAfter,
            ProxyFault::Error,
            ProxyFault::ErrorAfter,
            ProxyFault::Gateway,
            ProxyFault::Truncated,
            ProxyFault::WrongJson,
            ProxyFault::Refused([401, 403, 404, 413, 422][dice.below(5)]),
        ];
        let (fault, nth) = (dice.pick(&faults)?, 1 + dice.below(5));
        let when = if dice.chance(70) { RequestMatcher::nth_write(nth) } else { RequestMatcher::nth_read(nth * 2) };
        let description = format!("{fault:?} at {when:?}");
        self.proxy.inject_fault(fault, when);
        Some(description)
    }

    fn calm(&self) {
        self.proxy.forget();
    }
}
