//! Reviews, threads and comments: posting, editing, dismissing.

use referee_core::model::{CommentId, NoteId, ReviewId, Sha, ThreadId, Verdict};
use serde_json::{Value, json};

use super::{ServerPerson, row_id};
use crate::server::ServerBuild;

impl ServerPerson {
    /// Approves the head.
    #[track_caller]
    pub fn approve(&self, text: &str) -> ReviewId {
        self.review(Verdict::Approve, &self.head(), text)
    }

    /// Requests changes at the head.
    #[track_caller]
    pub fn block(&self, text: &str) -> ReviewId {
        self.review(Verdict::RequestChanges, &self.head(), text)
    }

    /// Reviews without a verdict.
    #[track_caller]
    pub fn review_without_verdict(&self, text: &str) -> ReviewId {
        self.review(Verdict::Comment, &self.head(), text)
    }

    /// Reviews a commit, which may be older than the head.
    #[track_caller]
    pub fn review(&self, verdict: Verdict, commit: &Sha, text: &str) -> ReviewId {
        ReviewId(row_id(&self.post_review(event_name(verdict), commit, text, json!([]))))
    }

    /// Starts a review and never submits it.
    #[track_caller]
    pub fn leave_draft(&self, path: &str, line: u32, text: &str) -> ReviewId {
        // Servers refuse a draft without a body, although they create such drafts themselves.
        ReviewId(row_id(&self.post_review("PENDING", &self.head(), "not sent yet", inline_comment(path, line, text))))
    }

    /// Opens a thread on a line of the head.
    #[track_caller]
    pub fn open_thread(&self, path: &str, line: u32, text: &str) -> ThreadId {
        self.review_with_threads(&[(path, line, text)], "")
            .1
            .pop()
            .unwrap_or_else(|| self.fail("open a thread", "the review has no note"))
    }

    /// Opens a thread on a line that the pull removes.
    #[track_caller]
    pub fn open_thread_on_old_line(&self, path: &str, line: u32, text: &str) -> ThreadId {
        let notes = json!([{"path": path, "old_position": line, "body": text}]);
        let review = row_id(&self.post_review("COMMENT", &self.head(), "", notes));
        self.list_threads(&review).pop().unwrap_or_else(|| self.fail("open a thread", "the review has no note"))
    }

    /// Posts a review without a verdict that opens threads, at most one per line.
    #[track_caller]
    pub fn review_with_threads(&self, notes: &[(&str, u32, &str)], text: &str) -> (ReviewId, Vec<ThreadId>) {
        let notes = notes.iter().map(|(path, line, text)| inline_comment(path, *line, text)[0].clone()).collect();
        let review = row_id(&self.post_review("COMMENT", &self.head(), text, Value::Array(notes)));
        let threads = self.list_threads(&review);
        (ReviewId(review), threads)
    }

    /// Replies in a thread; through the web form where the API has no route for it.
    #[track_caller]
    pub fn reply(&self, thread: &ThreadId, text: &str) -> NoteId {
        let pull = self.pull().0;
        let root = self.find_root(thread);
        let review = root["pull_request_review_id"].to_string();
        match self.repo.server.build() {
            ServerBuild::Gitea127 => {
                let path = format!("/pulls/{pull}/comments/{thread}/replies");
                NoteId(row_id(&self.call_api("reply", "POST", &path, &json!({"body": text}))))
            }
            ServerBuild::Forgejo10 => {
                let comment = json!({"path": root["path"], "new_position": root["position"],
                    "old_position": root["original_position"], "body": text});
                NoteId(row_id(&self.call_api(
                    "reply",
                    "POST",
                    &format!("/pulls/{pull}/reviews/{review}/comments"),
                    &comment,
                )))
            }
            ServerBuild::Gitea126 => {
                let notes_before = self.list_notes(&review);
                let on_new_side = root["position"].as_u64().is_some_and(|line| line > 0);
                let (side, line) = if on_new_side {
                    ("proposed", &root["position"])
                } else {
                    ("previous", &root["original_position"])
                };
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
                self.expect_success("reply", self.repo.server.submit_form(&self.login, &form, &fields));
                let notes_after = self.list_notes(&review);
                match notes_after.iter().find(|row| !notes_before.iter().any(|old| old["id"] == row["id"])) {
                    Some(row) => NoteId(row_id(row)),
                    None => self.fail("reply", "the review has no new note"),
                }
            }
        }
    }

    /// Resolves a thread. Forgejo's API has no route for it, so this submits the web form there.
    #[track_caller]
    pub fn resolve(&self, thread: &ThreadId) {
        if self.repo.server.build() == ServerBuild::Forgejo10 {
            let form = format!("/{}/issues/resolve_conversation", self.repo.full_name());
            let fields = [("origin", "timeline"), ("action", "Resolve"), ("comment_id", thread.as_str())];
            self.expect_success("resolve", self.repo.server.submit_form(&self.login, &form, &fields));
            return;
        }
        self.call_api("resolve", "POST", &format!("/pulls/comments/{thread}/resolve"), &json!({}));
    }

    /// Reopens a resolved thread.
    #[track_caller]
    pub fn unresolve(&self, thread: &ThreadId) {
        self.call_api("reopen the thread", "POST", &format!("/pulls/comments/{thread}/unresolve"), &json!({}));
    }

    /// Comments on the pull.
    #[track_caller]
    pub fn comment(&self, text: &str) -> CommentId {
        let path = format!("/issues/{}/comments", self.pull().0);
        let response = self.send("POST", &path, Some(&json!({"body": text})));
        if response.status < 500 {
            return CommentId(row_id(&self.expect_success("comment", response)));
        }
        // Forgejo 10 stores the comment and then answers with an error.
        let comments = self.read_json("read comments", &path);
        let mine = |row: &&Value| row["user"]["login"] == self.login.as_str() && row["body"] == text;
        match comments.as_array().and_then(|rows| rows.iter().rev().find(mine)) {
            Some(row) => CommentId(row_id(row)),
            None => self.fail("comment", format!("status {}", response.status)),
        }
    }

    /// Edits a comment, a note or (by its id in the timeline) a review's summary, of any author. Needs write access.
    #[track_caller]
    pub fn edit_text(&self, id: &str, text: &str) {
        self.call_api("edit", "PATCH", &format!("/issues/comments/{id}"), &json!({"body": text}));
    }

    /// Requests a review from a user, for the first time or again.
    #[track_caller]
    pub fn request_review(&self, login: &str) {
        let path = format!("/pulls/{}/requested_reviewers", self.pull().0);
        self.call_api("request a review", "POST", &path, &json!({"reviewers": [login]}));
    }

    /// Withdraws a review request.
    #[track_caller]
    pub fn withdraw_request(&self, login: &str) {
        let path = format!("/pulls/{}/requested_reviewers", self.pull().0);
        self.call_api("withdraw the request", "DELETE", &path, &json!({"reviewers": [login]}));
    }

    /// Dismisses a review, as the owner.
    #[track_caller]
    pub fn dismiss(&self, review: &ReviewId) {
        let path = format!("/pulls/{}/reviews/{review}/dismissals", self.pull().0);
        self.call_api("dismiss", "POST", &path, &json!({"message": "no longer"}));
    }

    /// Lists the pull's first fifty reviews as this person sees them.
    #[track_caller]
    pub fn list_reviews(&self) -> Vec<Value> {
        let listed = self.read_json("list reviews", &format!("/pulls/{}/reviews?page=1&limit=50", self.pull().0));
        listed.as_array().cloned().unwrap_or_default()
    }

    /// Lists the notes of a review, lowest id first.
    #[track_caller]
    pub fn list_notes(&self, review: &str) -> Vec<Value> {
        let listed = self.read_json("list notes", &format!("/pulls/{}/reviews/{review}/comments", self.pull().0));
        let mut notes = listed.as_array().cloned().unwrap_or_default();
        notes.sort_by_key(|row| row["id"].as_u64());
        notes
    }

    #[track_caller]
    fn list_threads(&self, review: &str) -> Vec<ThreadId> {
        self.list_notes(review).iter().map(|row| ThreadId(row_id(row))).collect()
    }

    #[track_caller]
    fn find_root(&self, thread: &ThreadId) -> Value {
        let notes = self.list_reviews().into_iter().flat_map(|review| self.list_notes(&row_id(&review)));
        match notes.into_iter().find(|row| row_id(row) == thread.as_str()) {
            Some(root) => root,
            None => self.fail("reply", format!("there is no thread {thread} among the first fifty reviews")),
        }
    }

    #[track_caller]
    fn post_review(&self, event: &str, commit: &Sha, text: &str, notes: Value) -> Value {
        let review = json!({"event": event, "commit_id": commit, "body": text, "comments": notes});
        self.call_api("review", "POST", &format!("/pulls/{}/reviews", self.pull().0), &review)
    }
}

fn event_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approve => "APPROVED",
        Verdict::Comment => "COMMENT",
        Verdict::RequestChanges => "REQUEST_CHANGES",
    }
}

fn inline_comment(path: &str, line: u32, text: &str) -> Value {
    json!([{"path": path, "new_position": line, "body": text}])
}
