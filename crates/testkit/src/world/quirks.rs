use referee_core::model::{Capabilities, Support};

/// What a forge does differently from what one would expect. Each field is a switch; the constructors are forges
/// as they were measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// The kind that Marks are bound to.
    pub forge: &'static str,
    /// The list of reviews keeps the first text; only the timeline has the current one (PUB-10).
    pub original_text_in_lists: bool,
    /// Inline comments are stored one by one: a bad line leaves those before it in a draft (PUB-14).
    pub inline_one_by_one: bool,
    /// Which inline comments it cannot store.
    pub bad_lines: BadLines,
    /// A user has one draft, and the user's next post takes it over with all that is in it.
    pub draft_adopted: bool,
    /// Posts of one user come in pairs whose inline comments land in each other's review (D6).
    pub posts_swap_comments: bool,
    /// A push that changes the diff dismisses approvals.
    pub dismiss_on_push: bool,
    /// A newer verdict takes the weight of the user's older rows (D17).
    pub newest_verdict_only: bool,
    /// A request for somebody's review takes the weight of that user's verdicts (PUB-20).
    pub request_clears_verdict: bool,
    /// Rows carry a stale flag once the diff changed.
    pub stale_flags: bool,
    /// Stale rows do not count.
    pub stale_rows_ignored: bool,
    /// After a force-push of the same patch rows name the new commit.
    pub commit_rolls_forward: bool,
    /// A force-push takes earlier pushes off the timeline.
    pub force_push_forgets: bool,
    /// The interface has no resolve; people may have one on the page (FIX-12).
    pub no_resolve: bool,
    /// How replies are stored.
    pub replies: ReplyMode,
    /// Threads opened beside a review come in an empty review of their own.
    pub threads_wrapped: bool,
    /// Summaries cannot be edited.
    pub no_edit: bool,
    /// Approve and request changes do not exist.
    pub no_verdicts: bool,
    /// A verdict on a pull of the own identity is refused.
    pub no_verdict_on_own_pull: bool,
    /// A verdict on a closed pull is refused.
    pub no_verdict_on_closed: bool,
    /// Statuses may not be written.
    pub no_statuses: bool,
    /// Labels and assignees may not be written.
    pub no_labels: bool,
    /// There is nothing to keep a claim in.
    pub no_claims: bool,
    /// The first claim after a take-over succeeds too: a take-over is not atomic (D6).
    pub claims_race: bool,
    /// Nobody can be asked who has write access (D10).
    pub access_hidden: bool,
    /// A new comment is stored and answered with an error.
    pub comment_answers_500: bool,
    /// Reads see the state as of so many writes ago, until `World::wait`.
    pub read_lag: usize,
    /// Lists are cut after so many entries, and said to be.
    pub page_limit: Option<usize>,
    /// The forge merges what is approved and green.
    pub auto_merge: bool,
    /// A leading slash belongs to the forge.
    pub slash_is_taken: bool,
    /// The longest text it takes, in bytes.
    pub max_text: usize,
    /// A call takes no time, so that many of them are not an hour.
    pub instant_calls: bool,
}

/// How a forge stores replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyMode {
    /// As notes of the thread.
    Native,
    /// As notes, each wrapped in an empty review (LOOP-3).
    Wrapped,
    /// The interface has no replies: the adapter posts a new note on the line, in an empty review.
    Emulated,
    /// The interface has no replies, and nothing takes their place.
    Unsupported,
}

/// Which inline comments a forge cannot store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadLines {
    /// Every one on a line or a file that is not there.
    All,
    /// Those past the end of a file that is there, on its new side.
    PastEnd,
    /// None: all are stored, wherever they point.
    None,
}

impl Quirks {
    /// A forge without surprises.
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

    /// Gitea from 1.26 on.
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

    /// Forgejo: no resolve, and verdicts on closed pulls are taken.
    pub fn forgejo_like() -> Self {
        Self {
            forge: "forgejo",
            force_push_forgets: false,
            no_resolve: true,
            no_verdict_on_closed: false,
            ..Self::gitea_like()
        }
    }

    /// GitHub: posts are atomic, replies come wrapped, commits roll forward.
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

    /// All constructors, by name.
    pub fn presets() -> [(&'static str, Self); 4] {
        [
            ("plain", Self::plain()),
            ("gitea-like", Self::gitea_like()),
            ("forgejo-like", Self::forgejo_like()),
            ("github-like", Self::github_like()),
        ]
    }

    pub(crate) fn capabilities(&self) -> Capabilities {
        let unless = |lacking: bool| if lacking { Support::Unsupported } else { Support::Native };
        Capabilities {
            edit_review: unless(self.no_edit),
            reply: match self.replies {
                ReplyMode::Native | ReplyMode::Wrapped => Support::Native,
                ReplyMode::Emulated => Support::Emulated,
                ReplyMode::Unsupported => Support::Unsupported,
            },
            resolve: if self.no_resolve { Support::Emulated } else { Support::Native },
            status: unless(self.no_statuses),
            verdicts: unless(self.no_verdicts),
            claim: unless(self.no_claims),
            labels: unless(self.no_labels),
            slash_is_taken: self.slash_is_taken,
            max_text: self.max_text,
        }
    }
}

impl Default for Quirks {
    fn default() -> Self {
        Self::plain()
    }
}
