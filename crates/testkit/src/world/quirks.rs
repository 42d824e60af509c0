use referee_core::mark::MAX_BLOCK_BYTES;
use referee_core::model::{Capabilities, Support};

/// Behaviours in which forges differ. Each field is a switch; the constructors describe real forges as measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// The forge kind that Marks are bound to.
    pub forge: &'static str,
    /// The list of reviews shows the original text; only the timeline shows the current one (PUB-10).
    pub original_text_in_lists: bool,
    /// Inline comments are stored one by one: a bad line leaves the comments before it in a draft (PUB-14).
    pub inline_one_by_one: bool,
    /// The inline comments that the forge fails to store.
    pub bad_lines: BadLines,
    /// A user has at most one draft, and the user's next post publishes it with all its comments.
    pub draft_adopted: bool,
    /// Two posts of one user swap their inline comments: each lands in the other's review (D6).
    pub posts_swap_comments: bool,
    /// A push that changes the diff dismisses approvals.
    pub dismiss_on_push: bool,
    /// A newer verdict removes the weight of the user's older reviews (D17).
    pub newest_verdict_only: bool,
    /// A review request removes the weight of that user's verdicts (PUB-20).
    pub request_clears_verdict: bool,
    /// Reviews carry a stale flag once the diff has changed.
    pub stale_flags: bool,
    /// Stale reviews do not count.
    pub stale_rows_ignored: bool,
    /// After a force-push of the same patch, reviews name the new commit.
    pub commit_rolls_forward: bool,
    /// A force-push removes earlier pushes from the timeline.
    pub force_push_forgets: bool,
    /// The API has no route to resolve; the web page may have one (FIX-12).
    pub no_resolve: bool,
    pub replies: ReplyMode,
    /// Threads opened without a verdict are wrapped in an empty review.
    pub threads_wrapped: bool,
    /// Summaries cannot be edited.
    pub no_edit: bool,
    /// Approving and requesting changes do not exist.
    pub no_verdicts: bool,
    /// A verdict on one's own pull is refused.
    pub no_verdict_on_own_pull: bool,
    /// A verdict on a closed pull is refused.
    pub no_verdict_on_closed: bool,
    /// Statuses cannot be written.
    pub no_statuses: bool,
    /// Labels and assignees cannot be written.
    pub no_labels: bool,
    /// The forge has nothing to keep a claim in.
    pub no_claims: bool,
    /// The first claim after a take-over succeeds too, because a take-over is not atomic (D6).
    pub claims_race: bool,
    /// The API does not reveal who has write access (D10).
    pub access_hidden: bool,
    /// A new comment is stored, but the response is an error.
    pub comment_answers_500: bool,
    /// Reads see the state as of this many writes ago, until `World::wait`.
    pub read_lag: usize,
    /// Lists are cut after this many entries and reported as truncated.
    pub page_limit: Option<usize>,
    /// The forge merges a pull once it is approved and its checks pass.
    pub auto_merge: bool,
    /// A leading slash is a command of the forge itself.
    pub slash_is_taken: bool,
    /// The maximum length of a text, in bytes.
    pub max_text: usize,
    /// Calls do not advance the clock; otherwise thousands of calls take an hour of simulated time.
    pub instant_calls: bool,
}

/// The way in which a forge stores replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyMode {
    /// As notes of the thread.
    Native,
    /// As notes, each wrapped in an empty review (LOOP-3).
    Wrapped,
    /// The API has no replies: the adapter posts a new note on the line, in an empty review.
    Emulated,
    /// The API has no replies, and the adapter has no substitute.
    Unsupported,
}

/// The inline comments that a forge fails to store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadLines {
    /// All that are on a missing line or file.
    All,
    /// Those past the end of an existing file, on its new side.
    PastEnd,
    /// None: every comment is stored, wherever it points.
    None,
}

impl Quirks {
    /// Returns a forge without surprises.
    pub fn plain() -> Self {
        Self {
            forge: "world",
            original_text_in_lists: false,
            inline_one_by_one: false,
            bad_lines: BadLines::All,
            draft_adopted: false,
            posts_swap_comments: false,
            dismiss_on_push: false,
            newest_verdict_only: false,
            request_clears_verdict: false,
            stale_flags: false,
            stale_rows_ignored: false,
            commit_rolls_forward: false,
            force_push_forgets: false,
            no_resolve: false,
            replies: ReplyMode::Native,
            threads_wrapped: false,
            no_edit: false,
            no_verdicts: false,
            no_verdict_on_own_pull: false,
            no_verdict_on_closed: false,
            no_statuses: false,
            no_labels: false,
            no_claims: false,
            claims_race: false,
            access_hidden: false,
            comment_answers_500: false,
            read_lag: 0,
            page_limit: None,
            auto_merge: false,
            slash_is_taken: false,
            max_text: 60_000,
            instant_calls: false,
        }
    }

    /// Returns Gitea from 1.26 on.
    pub fn gitea_like() -> Self {
        Self {
            forge: "gitea",
            original_text_in_lists: true,
            inline_one_by_one: true,
            draft_adopted: true,
            newest_verdict_only: true,
            request_clears_verdict: true,
            stale_flags: true,
            force_push_forgets: true,
            threads_wrapped: true,
            no_verdict_on_own_pull: true,
            no_verdict_on_closed: true,
            ..Self::plain()
        }
    }

    /// Returns Forgejo: no route to resolve, and verdicts on closed pulls are accepted.
    pub fn forgejo_like() -> Self {
        Self {
            forge: "forgejo",
            force_push_forgets: false,
            no_resolve: true,
            no_verdict_on_closed: false,
            ..Self::gitea_like()
        }
    }

    /// Returns GitHub: posts are atomic, replies are wrapped, commits roll forward.
    pub fn github_like() -> Self {
        Self {
            forge: "github",
            draft_adopted: true,
            newest_verdict_only: true,
            dismiss_on_push: true,
            commit_rolls_forward: true,
            replies: ReplyMode::Wrapped,
            threads_wrapped: true,
            no_verdict_on_own_pull: true,
            ..Self::plain()
        }
    }

    /// Returns all presets, by name.
    pub fn presets() -> [(&'static str, Self); 4] {
        [
            ("plain", Self::plain()),
            ("gitea-like", Self::gitea_like()),
            ("forgejo-like", Self::forgejo_like()),
            ("github-like", Self::github_like()),
        ]
    }

    pub(crate) fn capabilities(&self) -> Capabilities {
        let native_unless = |missing: bool| if missing { Support::Unsupported } else { Support::Native };
        Capabilities {
            edit_review: native_unless(self.no_edit),
            reply: match self.replies {
                ReplyMode::Native | ReplyMode::Wrapped => Support::Native,
                ReplyMode::Emulated => Support::Emulated,
                ReplyMode::Unsupported => Support::Unsupported,
            },
            resolve: if self.no_resolve { Support::Emulated } else { Support::Native },
            status: native_unless(self.no_statuses),
            verdicts: native_unless(self.no_verdicts),
            claim: native_unless(self.no_claims),
            labels: native_unless(self.no_labels),
            slash_is_taken: self.slash_is_taken,
            max_text: self.max_text,
            max_block: Some(MAX_BLOCK_BYTES),
        }
    }
}

impl Default for Quirks {
    fn default() -> Self {
        Self::plain()
    }
}
