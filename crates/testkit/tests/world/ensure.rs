//! Doing twice is doing once; nobody else's words are touched; effects are looked at.

use referee_core::model::{CheckState, ReviewId, Verdict};
use referee_core::plan::{Action, CommentTarget, Precondition};
use referee_forge::{Forge, ForgeError, Gates, PerformOutcome, RequestedGates};
use referee_testkit::{Quirks, World, block_on};

use super::{FILE, Stage, edit, login};

#[test]
fn every_action_done_twice_is_done_once() {
    for (name, quirks) in Quirks::presets() {
        let stage = Stage::new(quirks);
        let foreign = stage.world.people().as_("ruth").open_thread(FILE, 3, "why?");
        stage.made(&stage.post_with(Verdict::RequestChanges, "words", &[(1, "finding")]));
        let review = stage.reviews().remove(0);
        drop(stage.effects());
        let issue = stage.world.people().as_("ruth").open_issue(&["bug"]);
        let text = serde_json::from_value("looks fine".into()).unwrap();
        let comment = |target| Action::EnsureComment { existing: None, target, text: "hello".to_owned() };
        let actions = [
            stage.post_with(Verdict::Approve, "more words", &[(2, "other finding")]),
            edit(&review, "new words"),
            Action::Supersede { review: review.id.clone(), edit: review.edit.clone().unwrap(), text: "old".to_owned() },
            stage.open(&[(1, "late finding")]),
            Action::Reply { thread: foreign.clone(), text: "because".to_owned() },
            comment(CommentTarget::Pull),
            comment(CommentTarget::Issue(issue)),
            Action::SetLabel { name: "wip".to_owned(), on: true },
            Action::SetLabel { name: "wip".to_owned(), on: false },
            Action::Assign { target: CommentTarget::Pull, who: Some(login("oscar")) },
            Action::Assign { target: CommentTarget::Issue(issue), who: Some(login("referee")) },
            Action::Assign { target: CommentTarget::Issue(issue), who: None },
            Action::SetStatus {
                commit: stage.head(),
                context: "referee/security".to_owned(),
                state: CheckState::Pass,
                text,
            },
        ];
        for action in actions {
            stage.made(&action);
            assert_eq!(stage.effects().len(), 1, "{name}: {}", action.name());
            assert_eq!(stage.act(&action), Ok(PerformOutcome::AlreadySo), "{name}: {}", action.name());
            assert_eq!(stage.effects(), [""; 0], "{name}: {}", action.name());
        }
        let resolve = Action::Resolve { thread: foreign, mark: None };
        let first = stage.act(&resolve).unwrap();
        assert_eq!(matches!(first, PerformOutcome::Done(_)), stage.fetch().threads[0].can_resolve, "{name}");
        assert_eq!(stage.act(&resolve).unwrap() == PerformOutcome::AlreadySo, matches!(first, PerformOutcome::Done(_)));
    }
}

#[test]
fn a_review_is_posted_anew_once_it_no_longer_stands() {
    let stage = Stage::new(Quirks::gitea_like());
    let block = stage.post(Verdict::RequestChanges, "no");
    stage.made(&block);
    stage.made(&stage.post(Verdict::RequestChanges, "no, says the other role"));
    assert_eq!(stage.act(&block), Ok(PerformOutcome::AlreadySo), "an equal newer row replaced it");
    stage.made(&stage.post(Verdict::Approve, "fine"));
    stage.made(&block);
    stage.world.people().as_("alice").request_review("referee");
    stage.made(&block);
}

#[test]
fn a_standing_review_without_its_threads_is_completed() {
    let stage = Stage::plain();
    stage.made(&stage.post_with(Verdict::Comment, "words", &[(1, "first")]));
    let whole = stage.post_with(Verdict::Comment, "words", &[(1, "first"), (2, "second")]);
    let made = stage.made(&whole);
    assert_eq!((stage.reviews().len(), made.threads.len(), stage.fetch().threads.len()), (1, 2, 2));
    assert_eq!(stage.act(&whole), Ok(PerformOutcome::AlreadySo));
}

#[test]
fn nobody_elses_words_are_edited_where_the_forge_would_let_it() {
    let stage = Stage::plain();
    let ruth = stage.world.people().as_("ruth");
    ruth.approve("fine");
    let comment = ruth.comment("hello");
    let review = stage.reviews().remove(0);
    let foreign = |result| assert!(matches!(result, Err(ForgeError::Forbidden(_))), "{result:?}");
    foreign(stage.act(&edit(&review, "forged")));
    let text = "forged".to_owned();
    foreign(stage.act(&Action::EnsureComment { existing: Some(comment), target: CommentTarget::Pull, text }));
    let expect = Precondition::OwnText { edit: review.edit.clone().unwrap(), seen: review.text.hash.clone() };
    let label = Action::SetLabel { name: "wip".to_owned(), on: true };
    foreign(stage.seat.perform_unsealed(stage.pull, &login("referee"), &label, &expect));
    ruth.label("wip");
    foreign(stage.act(&Action::SetLabel { name: "wip".to_owned(), on: false }));
    assert_eq!(stage.world.calls().changes, 0);
}

#[test]
fn edit_ids_and_review_ids_are_different_things() {
    let stage = Stage::plain();
    stage.world.people().as_("ruth").comment("takes the first text id");
    stage.made(&stage.post(Verdict::Comment, "words"));
    let review = stage.reviews().remove(0);
    let edit_id = review.edit.clone().unwrap();
    assert_ne!(edit_id.as_str(), review.id.as_str());
    let confused =
        Action::EditReview { review: review.id.clone(), edit: review.id.as_str().into(), text: "new words".to_owned() };
    assert!(matches!(stage.act(&confused), Err(ForgeError::NotFound(_))));
    let nowhere = Action::EditReview { review: ReviewId::from("77"), edit: edit_id, text: "new words".to_owned() };
    assert!(matches!(stage.act(&nowhere), Err(ForgeError::NotFound(_))));
}

#[test]
fn a_token_that_is_not_held_does_nothing() {
    let stage = Stage::plain();
    let as_ruth = stage.seat.perform_unsealed(
        stage.pull,
        &login("ruth"),
        &stage.post(Verdict::Approve, "fine"),
        &Precondition::Nothing,
    );
    assert_eq!(as_ruth, Err(ForgeError::Unauthenticated));
    let both = stage.world.client_with_tokens(&login("referee"), &[login("second")]);
    let by_second = both.perform_unsealed(
        stage.pull,
        &login("second"),
        &stage.post(Verdict::Approve, "fine"),
        &Precondition::Nothing,
    );
    assert!(matches!(by_second, Ok(PerformOutcome::Done(_))));
    assert!(stage.reviews()[0].is_by(&login("second")));
}

#[test]
fn pulls_are_opened_once_and_only_with_the_work_permit() {
    let stage = Stage::plain();
    let on = referee_core::plan::Gate::ALL.map(|gate| (gate, referee_core::policy::GateSetting::On));
    let gates = Gates::new(on.into(), RequestedGates::new(), referee_core::policy::ApprovalMode::Off);
    let delivery = referee_core::plan::Delivery::OpenPull {
        branch: "referee/issue-7".to_owned(),
        commit: stage.head(),
        title: serde_json::from_value("seven".into()).unwrap(),
        body: serde_json::from_value("for #7".into()).unwrap(),
        epoch: 1,
    };
    let open = |gate| block_on(stage.seat.open_pull(&delivery, stage.seat.login(), &gates.permit_gate(gate).unwrap()));
    assert!(matches!(open(referee_core::plan::Gate::Review), Err(ForgeError::Forbidden(_))));
    let number = open(referee_core::plan::Gate::Work).unwrap();
    assert_eq!(open(referee_core::plan::Gate::Work), Ok(number));
    assert_eq!(stage.effects(), [format!("referee opens `referee/issue-7` on {number}")]);
}

#[test]
#[should_panic(expected = "unchecked effects: referee labels `wip` on #1")]
fn effects_that_nobody_looked_at_fail_the_test() {
    let world = World::new(Quirks::plain());
    let pull = world.people().as_("alice").open_pull("feature", &[(FILE, "fn one() {}\n")]);
    let seat = world.client("referee");
    let label = Action::SetLabel { name: "wip".to_owned(), on: true };
    seat.perform_unsealed(pull, &login("referee"), &label, &Precondition::Nothing).unwrap();
}
