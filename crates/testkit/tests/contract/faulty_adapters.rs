//! The suite detects faulty adapters: each flaw breaks the clause about it.

use referee_core::model::{Board, Completeness, Login, PullNumber, Sha, Span, Support};
use referee_core::plan::{Action, Delivery, Precondition};
use referee_forge::{
    ActionRequest, ClaimOutcome, ClaimPurpose, CreatedIds, FetchedPull, Forge, ForgeError, ForgeInfo, PerformOutcome,
    Permit, Reader, Reuse,
};
use referee_testkit::contract::WorldSetup;
use referee_testkit::{Quirks, WorldClient};

use super::run_contract;

#[test]
fn each_flaw_breaks_the_clause_about_it() {
    let flaws = [
        (AdapterFlaw::HidesTruncation, "a_limited_read_is_reported_as_truncated"),
        (AdapterFlaw::ReadsListTexts, "the_edited_text_is_what_fetch_reads"),
        (AdapterFlaw::PostsAgain, "a_review_posted_twice_is_one"),
        (AdapterFlaw::CommentsAgain, "a_comment_is_written_once_and_edited_in_place"),
        (AdapterFlaw::EditsOthers, "texts_of_others_are_never_edited"),
        (AdapterFlaw::IgnoresPreconditions, "a_moved_head_is_reported"),
        (AdapterFlaw::IgnoresPreconditions, "a_concurrent_edit_is_reported"),
        (AdapterFlaw::AlwaysClaims, "a_claim_is_exclusive_and_can_be_released"),
        (AdapterFlaw::ClaimsAuthorship, "forged_marks_are_not_marks"),
        (AdapterFlaw::OverstatesCapabilities, "capabilities_match_behaviour"),
        (AdapterFlaw::LeaksToken, "errors_contain_no_secret_and_no_text"),
        (AdapterFlaw::HidesNotFound, "missing_objects_are_not_found"),
    ];
    for (flaw, clause) in flaws {
        let quirks = Quirks { no_labels: true, ..Quirks::gitea_like() };
        let contract = run_contract(&WorldSetup::new(quirks, move |client| FaultyAdapter(client, flaw)));
        assert!(contract.broken_clauses().contains(&clause), "{clause}\n{contract}");
    }
}

#[derive(Debug)]
struct FaultyAdapter(WorldClient, AdapterFlaw);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AdapterFlaw {
    HidesTruncation,
    ReadsListTexts,
    PostsAgain,
    CommentsAgain,
    EditsOthers,
    IgnoresPreconditions,
    AlwaysClaims,
    ClaimsAuthorship,
    OverstatesCapabilities,
    LeaksToken,
    HidesNotFound,
}

impl FaultyAdapter {
    fn map_error<T>(&self, result: Result<T, ForgeError>) -> Result<T, ForgeError> {
        result.map_err(|error| match self.1 {
            AdapterFlaw::LeaksToken => ForgeError::Refused(format!("{error} with token-of-referee")),
            AdapterFlaw::HidesNotFound => ForgeError::Refused(error.to_string()),
            _ => error,
        })
    }
}

#[async_trait::async_trait]
impl Reader for FaultyAdapter {
    fn info(&self) -> ForgeInfo {
        self.0.info()
    }

    async fn fetch_reusing(&self, pull: PullNumber, reuse: Reuse<'_>) -> Result<FetchedPull, ForgeError> {
        let Self(client, flaw) = self;
        let mut fetched = self.map_error(client.fetch_reusing(pull, reuse).await)?;
        match flaw {
            AdapterFlaw::HidesTruncation => fetched.complete = Completeness::Complete,
            AdapterFlaw::ReadsListTexts => {
                let list = client.world().raw_review_list(pull, client.login())?;
                for (review, raw) in fetched.reviews.iter_mut().zip(list) {
                    review.text = referee_core::model::Text::from_body(raw.body);
                }
            }
            AdapterFlaw::ClaimsAuthorship => {
                fetched.comments.iter_mut().for_each(|comment| comment.author.login = Some(client.login().clone()));
            }
            AdapterFlaw::OverstatesCapabilities => fetched.capabilities.labels = Support::Native,
            _ => {}
        }
        Ok(fetched)
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.map_error(self.0.fetch_head(pull).await)
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        self.map_error(self.0.fetch_board().await)
    }
}

#[async_trait::async_trait]
impl Forge for FaultyAdapter {
    async fn perform(&self, pull: PullNumber, request: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        let Self(client, flaw) = self;
        let mut action = request.action.map_text(|sealed| sealed.as_str().to_owned());
        let mut expect = request.expect.clone();
        // Trailing blanks make a different text that looks the same.
        let blanks = " ".repeat(usize::try_from(client.world().calls().writes).unwrap_or_default());
        match (flaw, &mut action) {
            (AdapterFlaw::PostsAgain, Action::PostReview { text, .. })
            | (AdapterFlaw::CommentsAgain, Action::EnsureComment { text, .. }) => text.push_str(&blanks),
            (AdapterFlaw::IgnoresPreconditions, _) => expect = Precondition::Nothing,
            _ => {}
        }
        let outcome = client.perform_unsealed(pull, request.by, &action, &expect);
        if let (AdapterFlaw::EditsOthers, Err(ForgeError::Forbidden(_)), Action::EditReview { review, text, .. }) =
            (flaw, &outcome, &action)
        {
            client.world().people().on(pull).as_(client.login().as_str()).edit_review(review, text);
            return Ok(PerformOutcome::Done(CreatedIds::default()));
        }
        self.map_error(outcome)
    }

    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        match (self.1, self.map_error(self.0.acquire_claim(pull, purpose, ttl).await)?) {
            (AdapterFlaw::AlwaysClaims, ClaimOutcome::HeldElsewhere(_)) => Ok(ClaimOutcome::Acquired(0)),
            (_, claimed) => Ok(claimed),
        }
    }

    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError> {
        self.map_error(self.0.release_claim(pull, purpose, epoch).await)
    }

    async fn open_pull(&self, delivery: &Delivery, by: &Login, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.map_error(self.0.open_pull(delivery, by, permit).await)
    }
}

#[test]
fn a_flaw_breaks_no_other_clause() {
    let contract = run_contract(&WorldSetup::new(Quirks::gitea_like(), |client| {
        FaultyAdapter(client, AdapterFlaw::IgnoresPreconditions)
    }));
    assert_eq!(contract.broken_clauses(), ["a_moved_head_is_reported", "a_concurrent_edit_is_reported"], "{contract}");
}
