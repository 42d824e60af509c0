//! Branches with real git, and the pull as a whole.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use referee_core::model::{PullNumber, Sha};
use serde_json::{Value, json};

use super::{BASE, Person};

impl Person {
    /// Opens a pull with these files changed.
    #[track_caller]
    pub fn open(&self, branch: &str, files: &[(&str, &str)]) -> PullNumber {
        self.open_from(&self.repo.full_name(), branch, branch, files)
    }

    /// Opens a pull from a fork of one's own.
    #[track_caller]
    pub fn open_from_fork(&self, branch: &str, files: &[(&str, &str)]) -> PullNumber {
        let fork = self.deed("fork", "POST", "/forks", &json!({}));
        let fork = fork["full_name"].as_str().unwrap_or_default();
        self.open_from(fork, branch, &format!("{}:{branch}", self.login), files)
    }

    /// Pushes a commit that changes one file; the closure gets "" for a new one.
    #[track_caller]
    pub fn push(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        self.commit(|_| self.write(path, edit))
    }

    /// Pushes a commit without a file.
    #[track_caller]
    pub fn remove(&self, path: &str) -> Sha {
        self.commit(|folder| self.done("remove a file", fs::remove_file(folder.join(path))))
    }

    /// Pushes a commit in which a file has another name.
    #[track_caller]
    pub fn rename(&self, from: &str, to: &str) -> Sha {
        self.commit(|folder| {
            self.write(to, |_| String::new());
            self.done("rename a file", fs::rename(folder.join(from), folder.join(to)));
        })
    }

    /// Pushes a commit with any change to the files in that folder, and waits until the server shows it everywhere.
    #[track_caller]
    pub fn commit(&self, edit: impl FnOnce(&Path)) -> Sha {
        let head = self.commit_unseen(edit);
        self.wait_for(&head);
        head
    }

    /// The same without waiting: some servers show it in one place and not in another for a while.
    #[track_caller]
    pub fn commit_unseen(&self, edit: impl FnOnce(&Path)) -> Sha {
        let (url, branch) = self.branch();
        let from = self.fetch(&url, &branch);
        self.put(&url, &branch, &from, "a change", edit)
    }

    /// Force-pushes the same patch as another commit.
    #[track_caller]
    pub fn amend(&self) -> Sha {
        self.replace("the same change again", |_| ())
    }

    /// Force-pushes another patch in place of all commits.
    #[track_caller]
    pub fn force_push(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        self.replace("another change", |_| self.write(path, edit))
    }

    /// Pushes to the branch that pulls want into.
    #[track_caller]
    pub fn push_base(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        let url = self.repo.url();
        let from = self.fetch(&url, BASE);
        let commit = self.put(&url, BASE, &from, "a change of the base", |_| self.write(path, edit));
        self.wait("see the base", || self.knows(&self.repo.full_name(), BASE, &commit));
        commit
    }

    /// Closes the pull.
    #[track_caller]
    pub fn close(&self) {
        self.change("close the pull", &json!({"state": "closed"}));
    }

    /// Opens it again.
    #[track_caller]
    pub fn reopen(&self) {
        self.change("reopen the pull", &json!({"state": "open"}));
    }

    /// Gives it another title.
    #[track_caller]
    pub fn retitle(&self, title: &str) {
        self.change("retitle the pull", &json!({"title": title}));
    }

    /// Says that it is not meant for review yet.
    #[track_caller]
    pub fn draft(&self) {
        self.retitle(&format!("{WIP}{}", self.title()));
    }

    /// Says that it is.
    #[track_caller]
    pub fn undraft(&self) {
        let title = self.title();
        self.retitle(title.strip_prefix(WIP).unwrap_or(&title));
    }

    /// The first commit of the base.
    #[track_caller]
    pub(super) fn begin(&self, files: &[(&str, &str)]) {
        self.write_all(files);
        let (checkout, pen) = (&self.repo.checkout, self.pen());
        let first = self.done("begin", checkout.commit(pen, "begin"));
        self.done("push", checkout.push(pen, &self.repo.url(), &first, BASE));
        self.wait("see the base", || self.knows(&self.repo.full_name(), BASE, &first));
    }

    #[track_caller]
    fn open_from(&self, full_name: &str, branch: &str, head: &str, files: &[(&str, &str)]) -> PullNumber {
        let base = self.fetch(&self.repo.url(), BASE);
        let url = format!("{}/{full_name}", self.repo.server.url());
        let commit = self.put(&url, branch, &base, "a change", |_| self.write_all(files));
        self.wait("see the branch", || self.knows(full_name, branch, &commit));
        let pull = json!({"title": branch, "head": head, "base": BASE, "body": "what it is for"});
        let opened = self.deed("open a pull", "POST", "/pulls", &pull);
        PullNumber(opened["number"].as_u64().unwrap_or_default())
    }

    /// Takes the pull's changes off the branch and puts one commit with them, edited, on the base it stands on.
    #[track_caller]
    fn replace(&self, message: &str, edit: impl FnOnce(&Path)) -> Sha {
        let (url, branch) = self.branch();
        let (old, pull) = (self.fetch(&url, &branch), self.look());
        let base = Sha::from(pull["merge_base"].as_str().unwrap_or_default());
        let checkout = &self.repo.checkout;
        self.done("replace commits", checkout.stand_on(&old).and_then(|()| checkout.back_to(&base)));
        edit(checkout.folder());
        let head = self.done("commit", checkout.commit(self.pen(), message));
        self.done("force-push", checkout.push(self.pen(), &url, &head, &branch));
        self.wait_for(&head);
        head
    }

    #[track_caller]
    fn put(&self, url: &str, branch: &str, on: &Sha, message: &str, edit: impl FnOnce(&Path)) -> Sha {
        let (checkout, pen) = (&self.repo.checkout, self.pen());
        self.done("stand on a commit", checkout.stand_on(on));
        edit(checkout.folder());
        let commit = self.done("commit", checkout.commit(pen, message));
        self.done("push", checkout.push(pen, url, &commit, branch));
        commit
    }

    /// Where the pull's branch is, and what it is called there.
    #[track_caller]
    fn branch(&self) -> (String, String) {
        let head = &self.look()["head"];
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (format!("{}/{}", self.repo.server.url(), word(&head["repo"]["full_name"])), word(&head["ref"]))
    }

    #[track_caller]
    fn fetch(&self, url: &str, name: &str) -> Sha {
        self.done("fetch", self.repo.checkout.fetch(self.pen(), url, name))
    }

    /// Until both the interface and the pull's own ref name that head: what a server tells of a pull's files may be as
    /// old as that ref.
    #[track_caller]
    pub fn wait_for(&self, head: &Sha) {
        let (url, name) = (self.repo.url(), format!("refs/pull/{}/head", self.pull().0));
        self.wait("see the push", || {
            let at = self.done("ask for the head", self.repo.checkout.remote(self.pen(), &url, &name));
            at.as_ref() == Some(head) && self.head() == *head
        });
    }

    /// Whether the interface knows that a branch is there: servers answer a push before they have taken note of it.
    #[track_caller]
    fn knows(&self, full_name: &str, branch: &str, commit: &Sha) -> bool {
        let answer = self.repo.server.ask(&self.login, "GET", &format!("/repos/{full_name}/branches/{branch}"), None);
        answer.json::<Value>().is_ok_and(|row| row["commit"]["id"] == commit.as_str())
    }

    #[track_caller]
    fn wait(&self, what: &str, is_so: impl Fn() -> bool) {
        for _ in 0..300 {
            if is_so() {
                return;
            }
            thread::park_timeout(Duration::from_millis(100));
        }
        self.cannot(what, "it does not show");
    }

    #[track_caller]
    fn write_all(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            self.write(path, |_| (*text).to_owned());
        }
    }

    #[track_caller]
    fn write(&self, path: &str, edit: impl FnOnce(&str) -> String) {
        self.done("write a file", self.repo.checkout.write(path, edit));
    }

    #[track_caller]
    fn change(&self, what: &str, to: &Value) {
        self.deed(what, "PATCH", &format!("/pulls/{}", self.pull().0), to);
    }

    #[track_caller]
    fn title(&self) -> String {
        self.look()["title"].as_str().unwrap_or_default().to_owned()
    }
}

/// What servers take for a draft unless they are told otherwise.
const WIP: &str = "WIP: ";
