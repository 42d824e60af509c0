//! Reviews, threads, comments, and changing them afterwards.

use referee_core::model::{CommentId, NoteId, ReviewId, Sha, ThreadId, Verdict};
use serde_json::{Value, json};

use super::{Person, id};
use crate::server::Build;

impl Person {
    /// Approves the head.
    #[track_caller]
    pub fn approve(&self, text: &str) -> ReviewId {
        self.review(Verdict::Approve, &self.head(), text)
    }

    /// Asks for changes at the head.
    #[track_caller]
    pub fn block(&self, text: &str) -> ReviewId {
        self.review(Verdict::RequestChanges, &self.head(), text)
    }

    /// Reviews without a verdict.
    #[track_caller]
    pub fn remark(&self, text: &str) -> ReviewId {
        self.review(Verdict::Comment, &self.head(), text)
    }

    /// Reviews a commit that need not be the head any more.
    #[track_caller]
    pub fn review(&self, verdict: Verdict, commit: &Sha, text: &str) -> ReviewId {
        ReviewId(id(&self.post(event(verdict), commit, text, json!([]))))
    }

    /// Begins a review and never submits it.
    #[track_caller]
    pub fn leave_draft(&self, path: &str, line: u32, text: &str) -> ReviewId {
        // A draft without words is refused, though servers leave such ones behind.
        ReviewId(id(&self.post("PENDING", &self.head(), "not sent yet", inline(path, line, text))))
    }

    /// Opens a thread on a line of the head.
    #[track_caller]
    pub fn note(&self, path: &str, line: u32, text: &str) -> ThreadId {
        self.remark_with(&[(path, line, text)], "").1.pop().unwrap_or_else(|| self.cannot("open a thread", "none"))
    }

    /// Opens a thread on a line that the pull takes away.
    #[track_caller]
    pub fn note_before(&self, path: &str, line: u32, text: &str) -> ThreadId {
        let notes = json!([{"path": path, "old_position": line, "body": text}]);
        let review = id(&self.post("COMMENT", &self.head(), "", notes));
        self.threads(&review).pop().unwrap_or_else(|| self.cannot("open a thread", "none"))
    }

    /// Reviews without a verdict and opens threads with it, at most one on a line.
    #[track_caller]
    pub fn remark_with(&self, notes: &[(&str, u32, &str)], text: &str) -> (ReviewId, Vec<ThreadId>) {
        let notes = notes.iter().map(|(path, line, text)| inline(path, *line, text)[0].clone()).collect();
        let review = id(&self.post("COMMENT", &self.head(), text, Value::Array(notes)));
        let threads = self.threads(&review);
        (ReviewId(review), threads)
    }

    /// Replies in a thread: where the interface cannot, by the form of its page.
    #[track_caller]
    pub fn reply(&self, thread: &ThreadId, text: &str) -> NoteId {
        let pull = self.pull().0;
        let root = self.root(thread);
        let review = root["pull_request_review_id"].to_string();
        match self.repo.server.build() {
            Build::Gitea127 => {
                let path = format!("/pulls/{pull}/comments/{thread}/replies");
                NoteId(id(&self.deed("reply", "POST", &path, &json!({"body": text}))))
            }
            Build::Forgejo10 => {
                let place = json!({"path": root["path"], "new_position": root["position"],
                    "old_position": root["original_position"], "body": text});
                NoteId(id(&self.deed("reply", "POST", &format!("/pulls/{pull}/reviews/{review}/comments"), &place)))
            }
            Build::Gitea126 => {
                let before = self.notes(&review);
                let new = root["position"].as_u64().is_some_and(|line| line > 0);
                let (side, line) =
                    if new { ("proposed", &root["position"]) } else { ("previous", &root["original_position"]) };
                let (line, path, head) = (line.to_string(), root["path"].as_str().unwrap_or_default(), self.head());
                let fields = [
                    ("origin", "timeline"),
                    ("latest_commit_id", head.as_str()),
                    ("side", side),
                    ("line", line.as_str()),
                    ("path", path),
                    ("reply", review.as_str()),
                    ("single_review", "true"),
                    ("content", text),
                ];
                let form = format!("/{}/pulls/{pull}/files/reviews/comments", self.repo.full_name());
                self.sure("reply", self.repo.server.fill_in(&self.login, &form, &fields));
                let now = self.notes(&review);
                match now.iter().find(|row| !before.iter().any(|known| known["id"] == row["id"])) {
                    Some(row) => NoteId(id(row)),
                    None => self.cannot("reply", "it does not show"),
                }
            }
        }
    }

    /// Resolves a thread. Forgejo's interface has no route for that, its page has a form.
    #[track_caller]
    pub fn resolve(&self, thread: &ThreadId) {
        if self.repo.server.build() == Build::Forgejo10 {
            let form = format!("/{}/issues/resolve_conversation", self.repo.full_name());
            let fields = [("origin", "timeline"), ("action", "Resolve"), ("comment_id", thread.as_str())];
            self.sure("resolve", self.repo.server.fill_in(&self.login, &form, &fields));
            return;
        }
        self.deed("resolve", "POST", &format!("/pulls/comments/{thread}/resolve"), &json!({}));
    }

    /// Opens a resolved thread again.
    #[track_caller]
    pub fn unresolve(&self, thread: &ThreadId) {
        self.deed("reopen the thread", "POST", &format!("/pulls/comments/{thread}/unresolve"), &json!({}));
    }

    /// Comments on the pull.
    #[track_caller]
    pub fn comment(&self, text: &str) -> CommentId {
        let path = format!("/issues/{}/comments", self.pull().0);
        let answer = self.ask("POST", &path, Some(&json!({"body": text})));
        if answer.status < 500 {
            return CommentId(id(&self.sure("comment", answer)));
        }
        // Forgejo 10 stores the comment, and then fails.
        let all = self.read("read comments", &path);
        let mine = |row: &&Value| row["user"]["login"] == self.login.as_str() && row["body"] == text;
        match all.as_array().and_then(|all| all.iter().rev().find(mine)) {
            Some(row) => CommentId(id(row)),
            None => self.cannot("comment", format!("status {}", answer.status)),
        }
    }

    /// Changes a comment, a note or (by the id in the timeline) a review's summary: anybody's, with write access.
    #[track_caller]
    pub fn edit(&self, id: &str, text: &str) {
        self.deed("edit", "PATCH", &format!("/issues/comments/{id}"), &json!({"body": text}));
    }

    /// Asks somebody for a review, for the first time or again.
    #[track_caller]
    pub fn request(&self, of: &str) {
        let path = format!("/pulls/{}/requested_reviewers", self.pull().0);
        self.deed("ask for a review", "POST", &path, &json!({"reviewers": [of]}));
    }

    /// Takes that back.
    #[track_caller]
    pub fn withdraw(&self, of: &str) {
        let path = format!("/pulls/{}/requested_reviewers", self.pull().0);
        self.deed("withdraw the request", "DELETE", &path, &json!({"reviewers": [of]}));
    }

    /// Dismisses a review, as the owner can.
    #[track_caller]
    pub fn dismiss(&self, review: &ReviewId) {
        let path = format!("/pulls/{}/reviews/{review}/dismissals", self.pull().0);
        self.deed("dismiss", "POST", &path, &json!({"message": "no longer"}));
    }

    /// The pull's reviews as the server lists them for this person: the first fifty.
    #[track_caller]
    pub fn reviews(&self) -> Vec<Value> {
        let listed = self.read("list reviews", &format!("/pulls/{}/reviews?page=1&limit=50", self.pull().0));
        listed.as_array().cloned().unwrap_or_default()
    }

    /// The notes of a review as the server lists them, lowest id first.
    #[track_caller]
    pub fn notes(&self, review: &str) -> Vec<Value> {
        let listed = self.read("list notes", &format!("/pulls/{}/reviews/{review}/comments", self.pull().0));
        let mut notes = listed.as_array().cloned().unwrap_or_default();
        notes.sort_by_key(|row| row["id"].as_u64());
        notes
    }

    #[track_caller]
    fn threads(&self, review: &str) -> Vec<ThreadId> {
        self.notes(review).iter().map(|row| ThreadId(id(row))).collect()
    }

    #[track_caller]
    fn root(&self, thread: &ThreadId) -> Value {
        let notes = self.reviews().into_iter().flat_map(|review| self.notes(&id(&review)));
        match notes.into_iter().find(|row| id(row) == thread.as_str()) {
            Some(root) => root,
            None => self.cannot("reply", format!("there is no thread {thread} among the first fifty reviews")),
        }
    }

    #[track_caller]
    fn post(&self, event: &str, commit: &Sha, text: &str, notes: Value) -> Value {
        let review = json!({"event": event, "commit_id": commit, "body": text, "comments": notes});
        self.deed("review", "POST", &format!("/pulls/{}/reviews", self.pull().0), &review)
    }
}

fn event(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approve => "APPROVED",
        Verdict::Comment => "COMMENT",
        Verdict::RequestChanges => "REQUEST_CHANGES",
    }
}

fn inline(path: &str, line: u32, text: &str) -> Value {
    json!([{"path": path, "new_position": line, "body": text}])
}
