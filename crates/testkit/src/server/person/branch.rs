//! Branches in a real git repository, and the pull as a whole.

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

    /// Opens a pull from the person's fork.
    #[track_caller]
    pub fn open_from_fork(&self, branch: &str, files: &[(&str, &str)]) -> PullNumber {
        let fork = self.call_api("fork", "POST", "/forks", &json!({}));
        let fork = fork["full_name"].as_str().unwrap_or_default();
        self.open_pull_from(fork, branch, &format!("{}:{branch}", self.login), files)
    }

    /// Pushes a commit that changes one file. The closure receives "" for a new file.
    #[track_caller]
    pub fn push(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        self.commit(|_| self.edit_file(path, edit))
    }

    /// Pushes a commit that deletes a file.
    #[track_caller]
    pub fn remove(&self, path: &str) -> Sha {
        self.commit(|folder| self.expect_ok("remove a file", fs::remove_file(folder.join(path))))
    }

    /// Pushes a commit that renames a file.
    #[track_caller]
    pub fn rename(&self, from: &str, to: &str) -> Sha {
        self.commit(|folder| {
            self.edit_file(to, |_| String::new());
            self.expect_ok("rename a file", fs::rename(folder.join(from), folder.join(to)));
        })
    }

    /// Pushes a commit that edits the working tree in any way, and waits until all routes of the server show it.
    #[track_caller]
    pub fn commit(&self, edit: impl FnOnce(&Path)) -> Sha {
        let head = self.commit_without_waiting(edit);
        self.wait_for_head(&head);
        head
    }

    /// Pushes without waiting. Some servers show the push on one route before another.
    #[track_caller]
    pub fn commit_without_waiting(&self, edit: impl FnOnce(&Path)) -> Sha {
        let (url, branch) = self.find_branch();
        let tip = self.fetch_branch(&url, &branch);
        self.commit_and_push(&url, &branch, &tip, "a change", edit)
    }

    /// Force-pushes the same patch as a different commit.
    #[track_caller]
    pub fn amend(&self) -> Sha {
        self.replace_commits("the same change again", |_| ())
    }

    /// Replaces all commits of the pull by one with another patch.
    #[track_caller]
    pub fn force_push(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        self.replace_commits("another change", |_| self.edit_file(path, edit))
    }

    /// Pushes a change of one file to the base branch.
    #[track_caller]
    pub fn push_base(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        self.commit_to_base(|_| self.edit_file(path, edit))
    }

    /// Pushes a commit that edits the working tree in any way to the base branch.
    #[track_caller]
    pub fn commit_to_base(&self, edit: impl FnOnce(&Path)) -> Sha {
        let url = self.repo.url();
        let tip = self.fetch_branch(&url, BASE_BRANCH);
        let commit = self.commit_and_push(&url, BASE_BRANCH, &tip, "a change of the base", edit);
        self.wait_until("see the base branch", || self.shows_branch(&self.repo.full_name(), BASE_BRANCH, &commit));
        commit
    }

    #[track_caller]
    pub fn close(&self) {
        self.edit_pull("close the pull", &json!({"state": "closed"}));
    }

    #[track_caller]
    pub fn reopen(&self) {
        self.edit_pull("reopen the pull", &json!({"state": "open"}));
    }

    /// Changes the title.
    #[track_caller]
    pub fn retitle(&self, title: &str) {
        self.edit_pull("retitle the pull", &json!({"title": title}));
    }

    /// Converts the pull to a draft.
    #[track_caller]
    pub fn mark_draft(&self) {
        self.retitle(&format!("{DRAFT_PREFIX}{}", self.title()));
    }

    /// Marks a draft as ready for review.
    #[track_caller]
    pub fn mark_ready(&self) {
        let title = self.title();
        self.retitle(title.strip_prefix(DRAFT_PREFIX).unwrap_or(&title));
    }

    /// Creates the first commit of the base branch.
    #[track_caller]
    pub(super) fn push_first_commit(&self, files: &[(&str, &str)]) {
        self.write_files(files);
        let (checkout, credentials) = (&self.repo.checkout, self.credentials());
        let first = self.expect_ok("create the first commit", checkout.commit(credentials, "first commit"));
        self.expect_ok("push", checkout.push(credentials, &self.repo.url(), &first, BASE_BRANCH));
        self.wait_until("see the base branch", || self.shows_branch(&self.repo.full_name(), BASE_BRANCH, &first));
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

    /// Replaces the pull's commits by a single commit of their edited changes, on the same merge base.
    #[track_caller]
    fn replace_commits(&self, message: &str, edit: impl FnOnce(&Path)) -> Sha {
        let (url, branch) = self.find_branch();
        let (old_head, pull) = (self.fetch_branch(&url, &branch), self.fetch_pull());
        let base = Sha::from(pull["merge_base"].as_str().unwrap_or_default());
        let checkout = &self.repo.checkout;
        self.expect_ok(
            "replace commits",
            checkout.checkout_commit(&old_head).and_then(|()| checkout.reset_soft(&base)),
        );
        edit(checkout.folder());
        let head = self.expect_ok("commit", checkout.commit(self.credentials(), message));
        self.expect_ok("force-push", checkout.push(self.credentials(), &url, &head, &branch));
        self.wait_for_head(&head);
        head
    }

    #[track_caller]
    fn commit_and_push(&self, url: &str, branch: &str, parent: &Sha, message: &str, edit: impl FnOnce(&Path)) -> Sha {
        let (checkout, credentials) = (&self.repo.checkout, self.credentials());
        self.expect_ok("check out a commit", checkout.checkout_commit(parent));
        edit(checkout.folder());
        let commit = self.expect_ok("commit", checkout.commit(credentials, message));
        self.expect_ok("push", checkout.push(credentials, url, &commit, branch));
        commit
    }

    /// Returns the URL of the repository that holds the pull's branch, and the branch's name.
    #[track_caller]
    fn find_branch(&self) -> (String, String) {
        let head = &self.fetch_pull()["head"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (format!("{}/{}", self.repo.server.url(), text(&head["repo"]["full_name"])), text(&head["ref"]))
    }

    #[track_caller]
    fn fetch_branch(&self, url: &str, name: &str) -> Sha {
        self.expect_ok("fetch", self.repo.checkout.fetch(self.credentials(), url, name))
    }

    /// Waits until both the API and the pull's ref show that head, because a server lists a pull's files from that ref.
    #[track_caller]
    pub fn wait_for_head(&self, head: &Sha) {
        let (url, name) = (self.repo.url(), format!("refs/pull/{}/head", self.pull().0));
        self.wait_until("see the push", || {
            let tip = self.expect_ok(
                "read the pull's ref",
                self.repo.checkout.resolve_remote_ref(self.credentials(), &url, &name),
            );
            tip.as_ref() == Some(head) && self.head() == *head
        });
    }

    /// Waits until the API shows the branch: servers answer a push before they have processed it.
    #[track_caller]
    fn shows_branch(&self, full_name: &str, branch: &str, commit: &Sha) -> bool {
        let response =
            self.repo.server.send_as(&self.login, "GET", &format!("/repos/{full_name}/branches/{branch}"), None);
        response.json::<Value>().is_ok_and(|row| row["commit"]["id"] == commit.as_str())
    }

    #[track_caller]
    fn wait_until(&self, what: &str, condition: impl Fn() -> bool) {
        for _ in 0..300 {
            if condition() {
                return;
            }
            thread::park_timeout(Duration::from_millis(100));
        }
        self.fail(what, "timed out after 30 s");
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

/// The title prefix that marks a draft by default.
const DRAFT_PREFIX: &str = "WIP: ";
