//! Branches with real git, and the pull as a whole.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use referee_core::model::{PullNumber, Sha};
use serde_json::{Value, json};

use super::{BASE_BRANCH, ServerPerson};

impl ServerPerson {
    /// Opens a pull with these files changed.
    #[track_caller]
    pub fn open_pull(&self, branch: &str, files: &[(&str, &str)]) -> PullNumber {
        self.open_pull_from(&self.repo.full_name(), branch, branch, files)
    }

    /// Opens a pull from a fork of one's own.
    #[track_caller]
    pub fn open_from_fork(&self, branch: &str, files: &[(&str, &str)]) -> PullNumber {
        let fork = self.call_api("fork", "POST", "/forks", &json!({}));
        let fork = fork["full_name"].as_str().unwrap_or_default();
        self.open_pull_from(fork, branch, &format!("{}:{branch}", self.login), files)
    }

    /// Pushes a commit that changes one file; the closure gets "" for a new one.
    #[track_caller]
    pub fn push(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        self.commit(|_| self.edit_file(path, edit))
    }

    /// Pushes a commit without a file.
    #[track_caller]
    pub fn remove(&self, path: &str) -> Sha {
        self.commit(|folder| self.expect_ok("remove a file", fs::remove_file(folder.join(path))))
    }

    /// Pushes a commit in which a file has another name.
    #[track_caller]
    pub fn rename(&self, from: &str, to: &str) -> Sha {
        self.commit(|folder| {
            self.edit_file(to, |_| String::new());
            self.expect_ok("rename a file", fs::rename(folder.join(from), folder.join(to)));
        })
    }

    /// Pushes a commit with any change to the files in that folder, and waits until the server shows it everywhere.
    #[track_caller]
    pub fn commit(&self, edit: impl FnOnce(&Path)) -> Sha {
        let head = self.commit_without_waiting(edit);
        self.wait_for_head(&head);
        head
    }

    /// The same without waiting: some servers show it in one place and not in another for a while.
    #[track_caller]
    pub fn commit_without_waiting(&self, edit: impl FnOnce(&Path)) -> Sha {
        let (url, branch) = self.find_branch();
        let from = self.fetch_branch(&url, &branch);
        self.commit_and_push(&url, &branch, &from, "a change", edit)
    }

    /// Force-pushes the same patch as another commit.
    #[track_caller]
    pub fn amend(&self) -> Sha {
        self.replace_commits("the same change again", |_| ())
    }

    /// Force-pushes another patch in place of all commits.
    #[track_caller]
    pub fn force_push(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        self.replace_commits("another change", |_| self.edit_file(path, edit))
    }

    /// Pushes to the branch that pulls want into.
    #[track_caller]
    pub fn push_base(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        let url = self.repo.url();
        let from = self.fetch_branch(&url, BASE_BRANCH);
        let commit =
            self.commit_and_push(&url, BASE_BRANCH, &from, "a change of the base", |_| self.edit_file(path, edit));
        self.wait_until("see the base", || self.shows_branch(&self.repo.full_name(), BASE_BRANCH, &commit));
        commit
    }

    /// Closes the pull.
    #[track_caller]
    pub fn close(&self) {
        self.edit_pull("close the pull", &json!({"state": "closed"}));
    }

    /// Opens it again.
    #[track_caller]
    pub fn reopen(&self) {
        self.edit_pull("reopen the pull", &json!({"state": "open"}));
    }

    /// Gives it another title.
    #[track_caller]
    pub fn retitle(&self, title: &str) {
        self.edit_pull("retitle the pull", &json!({"title": title}));
    }

    /// Says that it is not meant for review yet.
    #[track_caller]
    pub fn mark_draft(&self) {
        self.retitle(&format!("{DRAFT_PREFIX}{}", self.title()));
    }

    /// Says that it is.
    #[track_caller]
    pub fn mark_ready(&self) {
        let title = self.title();
        self.retitle(title.strip_prefix(DRAFT_PREFIX).unwrap_or(&title));
    }

    /// The first commit of the base.
    #[track_caller]
    pub(super) fn push_first_commit(&self, files: &[(&str, &str)]) {
        self.write_files(files);
        let (checkout, pen) = (&self.repo.checkout, self.credentials());
        let first = self.expect_ok("begin", checkout.commit(pen, "begin"));
        self.expect_ok("push", checkout.push(pen, &self.repo.url(), &first, BASE_BRANCH));
        self.wait_until("see the base", || self.shows_branch(&self.repo.full_name(), BASE_BRANCH, &first));
    }

    #[track_caller]
    fn open_pull_from(&self, full_name: &str, branch: &str, head: &str, files: &[(&str, &str)]) -> PullNumber {
        let base = self.fetch_branch(&self.repo.url(), BASE_BRANCH);
        let url = format!("{}/{full_name}", self.repo.server.url());
        let commit = self.commit_and_push(&url, branch, &base, "a change", |_| self.write_files(files));
        self.wait_until("see the branch", || self.shows_branch(full_name, branch, &commit));
        let pull = json!({"title": branch, "head": head, "base": BASE_BRANCH, "body": "what it is for"});
        let opened = self.call_api("open a pull", "POST", "/pulls", &pull);
        PullNumber(opened["number"].as_u64().unwrap_or_default())
    }

    /// Takes the pull's changes off the branch and puts one commit with them, edited, on the base it stands on.
    #[track_caller]
    fn replace_commits(&self, message: &str, edit: impl FnOnce(&Path)) -> Sha {
        let (url, branch) = self.find_branch();
        let (old, pull) = (self.fetch_branch(&url, &branch), self.fetch_pull());
        let base = Sha::from(pull["merge_base"].as_str().unwrap_or_default());
        let checkout = &self.repo.checkout;
        self.expect_ok("replace commits", checkout.checkout_commit(&old).and_then(|()| checkout.reset_soft(&base)));
        edit(checkout.folder());
        let head = self.expect_ok("commit", checkout.commit(self.credentials(), message));
        self.expect_ok("force-push", checkout.push(self.credentials(), &url, &head, &branch));
        self.wait_for_head(&head);
        head
    }

    #[track_caller]
    fn commit_and_push(&self, url: &str, branch: &str, on: &Sha, message: &str, edit: impl FnOnce(&Path)) -> Sha {
        let (checkout, pen) = (&self.repo.checkout, self.credentials());
        self.expect_ok("stand on a commit", checkout.checkout_commit(on));
        edit(checkout.folder());
        let commit = self.expect_ok("commit", checkout.commit(pen, message));
        self.expect_ok("push", checkout.push(pen, url, &commit, branch));
        commit
    }

    /// Where the pull's branch is, and what it is called there.
    #[track_caller]
    fn find_branch(&self) -> (String, String) {
        let head = &self.fetch_pull()["head"];
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (format!("{}/{}", self.repo.server.url(), word(&head["repo"]["full_name"])), word(&head["ref"]))
    }

    #[track_caller]
    fn fetch_branch(&self, url: &str, name: &str) -> Sha {
        self.expect_ok("fetch", self.repo.checkout.fetch(self.credentials(), url, name))
    }

    /// Until both the interface and the pull's own ref name that head: what a server tells of a pull's files may be as
    /// old as that ref.
    #[track_caller]
    pub fn wait_for_head(&self, head: &Sha) {
        let (url, name) = (self.repo.url(), format!("refs/pull/{}/head", self.pull().0));
        self.wait_until("see the push", || {
            let at = self
                .expect_ok("ask for the head", self.repo.checkout.resolve_remote_ref(self.credentials(), &url, &name));
            at.as_ref() == Some(head) && self.head() == *head
        });
    }

    /// Whether the interface knows that a branch is there: servers answer a push before they have taken note of it.
    #[track_caller]
    fn shows_branch(&self, full_name: &str, branch: &str, commit: &Sha) -> bool {
        let answer =
            self.repo.server.send_as(&self.login, "GET", &format!("/repos/{full_name}/branches/{branch}"), None);
        answer.json::<Value>().is_ok_and(|row| row["commit"]["id"] == commit.as_str())
    }

    #[track_caller]
    fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        for _ in 0..300 {
            if is_so() {
                return;
            }
            thread::park_timeout(Duration::from_millis(100));
        }
        self.fail(what, "it does not show");
    }

    #[track_caller]
    fn write_files(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            self.edit_file(path, |_| (*text).to_owned());
        }
    }

    #[track_caller]
    fn edit_file(&self, path: &str, edit: impl FnOnce(&str) -> String) {
        self.expect_ok("write a file", self.repo.checkout.edit_file(path, edit));
    }

    #[track_caller]
    fn edit_pull(&self, what: &str, to: &Value) {
        self.call_api(what, "PATCH", &format!("/pulls/{}", self.pull().0), to);
    }

    #[track_caller]
    fn title(&self) -> String {
        self.fetch_pull()["title"].as_str().unwrap_or_default().to_owned()
    }
}

/// What servers take for a draft unless they are told otherwise.
const DRAFT_PREFIX: &str = "WIP: ";
