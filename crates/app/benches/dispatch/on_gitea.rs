//! Many pulls on a real Gitea.

use std::path::Path;
use std::time::Duration;

use referee_core::model::PullNumber;
use referee_testkit::proxy::Proxy;
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::many::more;
use crate::site::TestSite;
use crate::stage::{self, People, Resolved, Stage};

/// Pulls on a real Gitea.
pub(crate) struct OnGitea {
    site: TestSite,
    pulls: Vec<PullNumber>,
    home: std::path::PathBuf,
}

impl OnGitea {
    pub(crate) fn new(count: usize) -> Self {
        let site = TestSite::new(ServerBuild::Gitea127, &[("README.md", "# shop\n")]);
        let owner = site.repo.as_("owner");
        for name in ["wip", "ready", "bug"] {
            owner.send("POST", "/labels", Some(&json!({"name": name, "color": "#ee0701"})));
        }
        let first = site.open("topic", &[("a.txt", "one\ntwo\nthree\n")]);
        let pulls: Vec<PullNumber> = std::iter::once(first).chain(more(&site, first, count - 1)).collect();
        pulls.iter().enumerate().for_each(|(nth, pull)| stage::set_state(&site, nth, *pull));
        let home = site.path("home");
        std::fs::create_dir_all(&home).expect("a folder");
        stage::write_project_file(&home, &site.repo.full_name(), site.proxy.url(), site.repo.server().token("referee"));
        let all = Self { site, pulls, home };
        all.settle();
        all
    }

    /// Waits until the server has computed whether each pull can be merged; the script relies on that.
    fn settle(&self) {
        let merges = |pull: &PullNumber| -> bool {
            let row: Value = self.site.at("alice", *pull).fetch_pull();
            row["mergeable"] == true
        };
        for _ in 0..600 {
            if self.pulls.iter().all(merges) {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(200));
        }
        panic!("the server did not compute whether the pulls can be merged");
    }
}

impl Stage for OnGitea {
    fn count(&self) -> usize {
        self.pulls.len()
    }

    fn proxy(&self) -> &Proxy {
        &self.site.proxy
    }

    fn home(&self) -> &Path {
        &self.home
    }

    fn change_ten_pulls(&self) {
        stage::change_pulls(&self.site, &self.pulls);
    }
}

impl People for TestSite {
    fn check(&self, pull: PullNumber, state: &str) {
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
        let thread = ruth.open_thread("a.txt", 2, "why two?");
        if resolved == Resolved::Yes {
            ruth.resolve(&thread);
        }
    }
}
