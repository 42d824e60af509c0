use std::cell::Cell;
use std::sync::Arc;

use referee_core::mark::{Binding, Keys, Tag, TagKind, Topic, seal_draft};
use referee_core::model::{CommentId, Login, PullNumber, RepoId, ReviewId, Sha, ThreadId, Verdict};
use referee_core::plan::{Action, DiffLocation, Gate, Precondition, TextDraft, Trailer};
use referee_core::policy::{ApprovalMode, GateSetting};
use referee_core::sanitise::SafeText;
use referee_core::track::Side;
use referee_forge::local::LocalForge;
use referee_forge::{ActionRequest, Forge, Gates, PerformOutcome, PlanBasis, Reader, RequestedGates};
use referee_testkit::contract::{ContractSetup, CreatedCounts, StagedPull};

use crate::repo::{FILE, TestRepo, alice, ruth};

/// A contract setup on a plain git repository.
pub(crate) struct LocalSetup {
    repo: TestRepo,
    forge: LocalForge,
    opened: Cell<u32>,
}

impl LocalSetup {
    pub(crate) fn new() -> Self {
        let repo = TestRepo::new();
        Self { forge: repo.forge(), repo, opened: Cell::new(0) }
    }

    /// Performs an action as another bot, through the forge's own verbs.
    async fn perform_as_other(&self, pull: PullNumber, action: &Action) -> Result<PerformOutcome, String> {
        perform_as(&self.forge, &Login::from("other-bot"), pull, action).await
    }

    /// Posts a review without a verdict as another bot.
    async fn post_remark(&self, pull: PullNumber, commit: Sha, text: &str) -> Result<ReviewId, String> {
        let text = draft(text, &commit);
        let post =
            Action::PostReview { role: "other".into(), verdict: Verdict::Comment, commit, text, threads: vec![] };
        match self.perform_as_other(pull, &post).await? {
            PerformOutcome::Done(created) => created.review.ok_or_else(|| "the post created no review".to_owned()),
            other => Err(format!("{other:?}")),
        }
    }
}

/// Performs an action under a login, with its texts sealed.
pub(crate) async fn perform_as(
    forge: &LocalForge,
    by: &Login,
    pull: PullNumber,
    action: &Action,
) -> Result<PerformOutcome, String> {
    let gates =
        Gates::new(Gate::ALL.map(|gate| (gate, GateSetting::On)).into(), RequestedGates::new(), ApprovalMode::On);
    let permit = gates.permit_gate(Gate::Review).map_err(|withheld| format!("{withheld:?}"))?;
    let binding = Binding { forge: "local".to_owned(), repo: RepoId(1), pull };
    let action = action.map_text(|draft| seal_draft(draft, &binding, &Keys::empty()));
    let request = ActionRequest {
        action: &action,
        by,
        expect: &Precondition::Nothing,
        permit: &permit,
        basis: PlanBasis::default(),
    };
    forge.perform(pull, &request).await.map_err(|error| error.to_string())
}

/// Builds a draft with a Tag.
pub(crate) fn draft(text: &str, head: &Sha) -> TextDraft {
    let tag = Tag { kind: TagKind::Topic(Topic::Said { to: "1".to_owned() }), head: head.clone() };
    TextDraft { words: SafeText::sanitise_line(text, 200), trailer: Trailer::Tag(Box::new(tag)) }
}

pub(crate) fn location_at(line: u32) -> DiffLocation {
    DiffLocation { path: FILE.to_owned(), line: Some(line), start_line: None, side: Side::New }
}

impl ContractSetup for LocalSetup {
    fn forge(&self) -> &dyn Forge {
        &self.forge
    }

    fn own_login(&self) -> Login {
        Login::from("referee")
    }

    async fn open_pull(&self) -> Result<StagedPull, String> {
        self.opened.set(self.opened.get() + 1);
        let branch = format!("feature-{}", self.opened.get());
        let head = self.repo.branch(&branch);
        let pull = self.forge.open_range(&branch, "main", &alice()).map_err(|error| error.to_string())?;
        Ok(StagedPull { pull, head, commentable_lines: [1, 2, 3].map(location_at), missing_line: location_at(999) })
    }

    async fn push_commit(&self, pull: PullNumber) -> Result<Sha, String> {
        let pulls = self.forge.list_pulls().map_err(|error| error.to_string())?;
        let pull = pulls.into_iter().find(|listed| listed.number == pull).ok_or("no such pull")?;
        self.repo.git(&["checkout", "--quiet", &pull.branch]);
        Ok(self.repo.commit(FILE, "fn one() {}\nfn two() {}\nfn three() {}\nfn four() {}\n"))
    }

    async fn post_comment(&self, pull: PullNumber, text: &str) -> Result<CommentId, String> {
        ruth(&self.forge).comment(pull, text).map_err(|error| error.to_string())
    }

    async fn post_review(&self, pull: PullNumber, text: &str) -> Result<ReviewId, String> {
        let head = self.forge.fetch_head(pull).await.map_err(|error| error.to_string())?;
        self.post_remark(pull, head, text).await
    }

    async fn open_thread(&self, pull: PullNumber, location: &DiffLocation, text: &str) -> Result<ThreadId, String> {
        let line = location.line.unwrap_or(1);
        ruth(&self.forge).open_thread(pull, &location.path, line, text).map_err(|error| error.to_string())
    }

    async fn add_label(&self, pull: PullNumber) -> Result<String, String> {
        let name = "wip".to_owned();
        self.perform_as_other(pull, &Action::SetLabel { name: name.clone(), on: true }).await?;
        Ok(name)
    }

    async fn fill_pages(&self, staged: &StagedPull) -> Result<CreatedCounts, String> {
        for n in 0..120_u32 {
            self.post_remark(staged.pull, staged.head.clone(), &format!("remark {n}")).await?;
            self.open_thread(staged.pull, &staged.commentable_lines[(n % 3) as usize], &format!("note {n}")).await?;
            self.post_comment(staged.pull, &format!("comment {n}")).await?;
        }
        Ok(CreatedCounts { reviews: 120, threads: 120, comments: 120 })
    }

    async fn with_low_limit(&self, _: PullNumber) -> Option<Arc<dyn Forge>> {
        None
    }

    async fn with_bad_token(&self) -> Option<Arc<dyn Forge>> {
        None
    }

    async fn as_outsider(&self) -> Option<(Arc<dyn Forge>, Login)> {
        None
    }

    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }
}
