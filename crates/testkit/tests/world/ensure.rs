//! Actions are idempotent, texts of others are never edited, and every effect must be checked.

use referee_core::model::{CheckState, ReviewId, Verdict};
use referee_core::plan::{Action, CommentTarget, Precondition};
use referee_forge::{Forge, ForgeError, Gates, PerformOutcome, RequestedGates};
use referee_testkit::{Quirks, World, block_on};

use super::{FILE, WorldFixture, edit, login};

#[test]
fn repeating_any_action_has_no_further_effect() {
    for (name, quirks) in Quirks::presets() {
        let fixture = WorldFixture::new(quirks);
        let thread = fixture.world.people().as_("ruth").open_thread(FILE, 3, "why?");
        fixture.expect_done(&fixture.post_with(Verdict::RequestChanges, "words", &[(1, "finding")]));
        let review = fixture.reviews().remove(0);
        drop(fixture.effects());
        let issue = fixture.world.people().as_("ruth").open_issue(&["bug"]);
        let text = serde_json::from_value("looks fine".into()).unwrap();
        let comment = |target| Action::EnsureComment { existing: None, target, text: "hello".to_owned() };
        let actions = [
            fixture.post_with(Verdict::Approve, "more words", &[(2, "other finding")]),
            edit(&review, "new words"),
            Action::Supersede {
                review: review.id.clone(),
                successor: None,
                edit: review.edit.clone().unwrap(),
                text: "old".to_owned(),
            },
            fixture.open(&[(1, "late finding")]),
            Action::Reply { thread: thread.clone(), text: "because".to_owned() },
            comment(CommentTarget::Pull),
            comment(CommentTarget::Issue(issue)),
            Action::SetLabel { name: "wip".to_owned(), on: true },
            Action::SetLabel { name: "wip".to_owned(), on: false },
            Action::Assign { target: CommentTarget::Pull, who: Some(login("oscar")) },
            Action::Assign { target: CommentTarget::Issue(issue), who: Some(login("referee")) },
            Action::Assign { target: CommentTarget::Issue(issue), who: None },
            Action::SetStatus {
                commit: fixture.head(),
                context: "referee/security".to_owned(),
                state: CheckState::Pass,
                text,
            },
        ];
        for action in actions {
            fixture.expect_done(&action);
            assert_eq!(fixture.effects().len(), 1, "{name}: {}", action.name());
            assert_eq!(fixture.perform(&action), Ok(PerformOutcome::AlreadySo), "{name}: {}", action.name());
            assert_eq!(fixture.effects(), [""; 0], "{name}: {}", action.name());
        }
        let resolve = Action::Resolve { thread, mark: None };
        let first = fixture.perform(&resolve).unwrap();
        assert_eq!(matches!(first, PerformOutcome::Done(_)), fixture.fetch().threads[0].can_resolve, "{name}");
        assert_eq!(
            fixture.perform(&resolve).unwrap() == PerformOutcome::AlreadySo,
            matches!(first, PerformOutcome::Done(_))
        );
    }
}

#[test]
fn a_review_that_no_longer_stands_is_posted_again() {
    let fixture = WorldFixture::new(Quirks::gitea_like());
    let block = fixture.post(Verdict::RequestChanges, "no");
    fixture.expect_done(&block);
    fixture.expect_done(&fixture.post(Verdict::RequestChanges, "no, says the other role"));
    assert_eq!(
        fixture.perform(&block),
        Ok(PerformOutcome::AlreadySo),
        "a newer review with the same verdict replaced it, so it still stands"
    );
    fixture.expect_done(&fixture.post(Verdict::Approve, "fine"));
    fixture.expect_done(&block);
    fixture.world.people().as_("alice").request_review("referee");
    fixture.expect_done(&block);
}

#[test]
fn a_standing_review_without_its_threads_is_completed() {
    let fixture = WorldFixture::plain();
    fixture.expect_done(&fixture.post_with(Verdict::Comment, "words", &[(1, "first")]));
    let complete = fixture.post_with(Verdict::Comment, "words", &[(1, "first"), (2, "second")]);
    let created = fixture.expect_done(&complete);
    assert_eq!((fixture.reviews().len(), created.threads.len(), fixture.fetch().threads.len()), (1, 2, 2));
    assert_eq!(fixture.perform(&complete), Ok(PerformOutcome::AlreadySo));
}

#[test]
fn texts_of_others_are_not_edited_although_the_forge_would_allow_it() {
    let fixture = WorldFixture::plain();
    let ruth = fixture.world.people().as_("ruth");
    ruth.approve("fine");
    let comment = ruth.comment("hello");
    let review = fixture.reviews().remove(0);
    let assert_forbidden = |result| assert!(matches!(result, Err(ForgeError::Forbidden(_))), "{result:?}");
    assert_forbidden(fixture.perform(&edit(&review, "forged")));
    let text = "forged".to_owned();
    assert_forbidden(fixture.perform(&Action::EnsureComment {
        existing: Some(comment),
        target: CommentTarget::Pull,
        text,
    }));
    let expect = Precondition::OwnText { edit: review.edit.clone().unwrap(), seen: review.text.hash.clone() };
    let label = Action::SetLabel { name: "wip".to_owned(), on: true };
    assert_forbidden(fixture.client.perform_unsealed(fixture.pull, &login("referee"), &label, &expect));
    ruth.label("wip");
    assert_forbidden(fixture.perform(&Action::SetLabel { name: "wip".to_owned(), on: false }));
    assert_eq!(fixture.world.calls().changes, 0);
}

#[test]
fn edit_ids_are_not_review_ids() {
    let fixture = WorldFixture::plain();
    fixture.world.people().as_("ruth").comment("takes the first text id");
    fixture.expect_done(&fixture.post(Verdict::Comment, "words"));
    let review = fixture.reviews().remove(0);
    let edit_id = review.edit.clone().unwrap();
    assert_ne!(edit_id.as_str(), review.id.as_str());
    let wrong_edit_id =
        Action::EditReview { review: review.id.clone(), edit: review.id.as_str().into(), text: "new words".to_owned() };
    assert!(matches!(fixture.perform(&wrong_edit_id), Err(ForgeError::NotFound(_))));
    let missing_review =
        Action::EditReview { review: ReviewId::from("77"), edit: edit_id, text: "new words".to_owned() };
    assert!(matches!(fixture.perform(&missing_review), Err(ForgeError::NotFound(_))));
}

#[test]
fn a_client_acts_only_with_tokens_it_holds() {
    let fixture = WorldFixture::plain();
    let as_ruth = fixture.client.perform_unsealed(
        fixture.pull,
        &login("ruth"),
        &fixture.post(Verdict::Approve, "fine"),
        &Precondition::Nothing,
    );
    assert_eq!(as_ruth, Err(ForgeError::Unauthenticated));
    let two_tokens = fixture.world.client_with_tokens(&login("referee"), &[login("second")]);
    let by_second = two_tokens.perform_unsealed(
        fixture.pull,
        &login("second"),
        &fixture.post(Verdict::Approve, "fine"),
        &Precondition::Nothing,
    );
    assert!(matches!(by_second, Ok(PerformOutcome::Done(_))));
    assert!(fixture.reviews()[0].is_by(&login("second")));
}

#[test]
fn pulls_are_opened_once_and_only_with_the_work_permit() {
    let fixture = WorldFixture::plain();
    let settings = referee_core::plan::Gate::ALL.map(|gate| (gate, referee_core::policy::GateSetting::On));
    let gates = Gates::new(settings.into(), RequestedGates::new(), referee_core::policy::ApprovalMode::Off);
    let delivery = referee_core::plan::Delivery::OpenPull {
        branch: "referee/issue-7".to_owned(),
        commit: fixture.head(),
        title: serde_json::from_value("seven".into()).unwrap(),
        body: serde_json::from_value("for #7".into()).unwrap(),
        epoch: 1,
    };
    let open =
        |gate| block_on(fixture.client.open_pull(&delivery, fixture.client.login(), &gates.permit_gate(gate).unwrap()));
    assert!(matches!(open(referee_core::plan::Gate::Review), Err(ForgeError::Forbidden(_))));
    let number = open(referee_core::plan::Gate::Work).unwrap();
    assert_eq!(open(referee_core::plan::Gate::Work), Ok(number));
    assert_eq!(fixture.effects(), [format!("referee opens `referee/issue-7` on {number}")]);
}

#[test]
#[should_panic(expected = "unchecked effects: referee labels `wip` on #1")]
fn unchecked_effects_fail_the_test() {
    let world = World::new(Quirks::plain());
    let pull = world.people().as_("alice").open_pull("feature", &[(FILE, "fn one() {}\n")]);
    let client = world.client("referee");
    let label = Action::SetLabel { name: "wip".to_owned(), on: true };
    client.perform_unsealed(pull, &login("referee"), &label, &Precondition::Nothing).unwrap();
}
