//! The suite can fail: each careless adapter breaks the clause that is about its carelessness, by name.

use referee_core::model::{Board, Completeness, Login, PullNumber, Sha, Span, Support};
use referee_core::plan::{Action, Delivery, Precondition};
use referee_forge::{
    ActionRequest, ClaimOutcome, ClaimPurpose, CreatedIds, FetchedPull, Forge, ForgeError, ForgeInfo, PerformOutcome,
    Permit, Reader, Reuse,
};
use referee_testkit::contract::WorldSetup;
use referee_testkit::{Quirks, WorldClient};

use super::run;

#[test]
fn a_careless_adapter_breaks_the_clause_about_it() {
    let flaws = [
        (Flaw::CutsSilently, "a_limited_read_is_reported_as_truncated"),
        (Flaw::ReadsTheList, "the_edited_text_is_what_fetch_reads"),
        (Flaw::PostsAnew, "a_review_posted_twice_is_one"),
        (Flaw::CommentsAnew, "a_comment_is_written_once_and_edited_in_place"),
        (Flaw::EditsAnybody, "texts_of_others_are_never_edited"),
        (Flaw::ExpectsNothing, "a_moved_head_is_reported"),
        (Flaw::ExpectsNothing, "a_concurrent_edit_is_reported"),
        (Flaw::ClaimsAlways, "a_claim_is_exclusive_and_can_be_released"),
        (Flaw::OwnsEverything, "forged_marks_are_not_marks"),
        (Flaw::Boasts, "capabilities_match_behaviour"),
        (Flaw::Leaks, "errors_contain_no_secret_and_no_text"),
        (Flaw::Blames, "missing_objects_are_not_found"),
    ];
    for (flaw, clause) in flaws {
        let quirks = Quirks { no_labels: true, ..Quirks::gitea_like() };
        let contract = run(&WorldSetup::new(quirks, move |seat| Careless(seat, flaw)));
        assert!(contract.broken_clauses().contains(&clause), "{clause}\n{contract}");
    }
}

#[derive(Debug)]
struct Careless(WorldClient, Flaw);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flaw {
    CutsSilently,
    ReadsTheList,
    PostsAnew,
    CommentsAnew,
    EditsAnybody,
    ExpectsNothing,
    ClaimsAlways,
    OwnsEverything,
    Boasts,
    Leaks,
    Blames,
}

impl Careless {
    fn told<T>(&self, result: Result<T, ForgeError>) -> Result<T, ForgeError> {
        result.map_err(|error| match self.1 {
            Flaw::Leaks => ForgeError::Refused(format!("{error} with token-of-referee")),
            Flaw::Blames => ForgeError::Refused(error.to_string()),
            _ => error,
        })
    }
}

#[async_trait::async_trait]
impl Reader for Careless {
    fn info(&self) -> ForgeInfo {
        self.0.info()
    }

    async fn fetch_reusing(&self, pull: PullNumber, reuse: Reuse<'_>) -> Result<FetchedPull, ForgeError> {
        let Self(seat, flaw) = self;
        let mut fetched = self.told(seat.fetch_reusing(pull, reuse).await)?;
        match flaw {
            Flaw::CutsSilently => fetched.complete = Completeness::Complete,
            Flaw::ReadsTheList => {
                let list = seat.world().raw_review_list(pull, seat.login())?;
                for (review, raw) in fetched.reviews.iter_mut().zip(list) {
                    review.text = referee_core::model::Text::from_body(raw.body);
                }
            }
            Flaw::OwnsEverything => {
                fetched.comments.iter_mut().for_each(|comment| comment.author.login = Some(seat.login().clone()));
            }
            Flaw::Boasts => fetched.capabilities.labels = Support::Native,
            _ => {}
        }
        Ok(fetched)
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.told(self.0.fetch_head(pull).await)
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        self.told(self.0.fetch_board().await)
    }
}

#[async_trait::async_trait]
impl Forge for Careless {
    async fn perform(&self, pull: PullNumber, errand: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        let Self(seat, flaw) = self;
        let mut action = errand.action.map_text(|sealed| sealed.as_str().to_owned());
        let mut expect = errand.expect.clone();
        // Blanks at the end make another text of it, and nobody sees them.
        let blanks = " ".repeat(usize::try_from(seat.world().calls().writes).unwrap_or_default());
        match (flaw, &mut action) {
            (Flaw::PostsAnew, Action::PostReview { text, .. })
            | (Flaw::CommentsAnew, Action::EnsureComment { text, .. }) => text.push_str(&blanks),
            (Flaw::ExpectsNothing, _) => expect = Precondition::Nothing,
            _ => {}
        }
        let ended = seat.perform_unsealed(pull, errand.by, &action, &expect);
        if let (Flaw::EditsAnybody, Err(ForgeError::Forbidden(_)), Action::EditReview { review, text, .. }) =
            (flaw, &ended, &action)
        {
            seat.world().people().on(pull).as_(seat.login().as_str()).edit_review(review, text);
            return Ok(PerformOutcome::Done(CreatedIds::default()));
        }
        self.told(ended)
    }

    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        match (self.1, self.told(self.0.acquire_claim(pull, purpose, ttl).await)?) {
            (Flaw::ClaimsAlways, ClaimOutcome::HeldElsewhere) => Ok(ClaimOutcome::Acquired(0)),
            (_, claimed) => Ok(claimed),
        }
    }

    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError> {
        self.told(self.0.release_claim(pull, purpose, epoch).await)
    }

    async fn open_pull(&self, delivery: &Delivery, by: &Login, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.told(self.0.open_pull(delivery, by, permit).await)
    }
}

#[test]
fn one_flaw_breaks_no_other_clause() {
    let contract = run(&WorldSetup::new(Quirks::gitea_like(), |seat| Careless(seat, Flaw::ExpectsNothing)));
    assert_eq!(contract.broken_clauses(), ["a_moved_head_is_reported", "a_concurrent_edit_is_reported"], "{contract}");
}
