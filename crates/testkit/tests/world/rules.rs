//! What the forge decides by itself.

use referee_core::model::Verdict;
use referee_testkit::Quirks;

use super::{Stage, login};

#[test]
fn the_newest_counting_verdict_of_each_user_decides() {
    let stage = Stage::plain();
    let hand = stage.world.people();
    assert!(!stage.world.decision(stage.pull).is_approved(), "nobody spoke");
    hand.as_("ruth").block("no");
    hand.as_("oscar").approve("fine");
    let decision = stage.world.decision(stage.pull);
    assert!(decision.is_blocked() && !decision.is_approved());
    assert_eq!((decision.approvers, decision.blockers), (vec![login("oscar")], vec![login("ruth")]));
    hand.as_("ruth").review_without_verdict("hm");
    assert!(stage.world.decision(stage.pull).is_blocked(), "a comment lifts nothing");
    hand.as_("ruth").approve("fine");
    assert!(stage.world.decision(stage.pull).is_approved());
}

#[test]
fn outsiders_and_the_author_carry_no_weight() {
    let stage = Stage::plain();
    stage.world.people().as_("mallory").block("no");
    stage.world.people().as_("alice").approve("my own");
    assert_eq!(stage.world.decision(stage.pull), referee_testkit::world::ApprovalTally::default());
}

#[test]
fn two_roles_of_one_identity_are_one_user_to_the_forge() {
    for (_, quirks) in Quirks::presets() {
        let stage = Stage::new(quirks);
        stage.made(&stage.post(Verdict::RequestChanges, "no, says one role"));
        stage.made(&stage.post(Verdict::Approve, "fine, says the other"));
        assert!(stage.world.decision(stage.pull).is_approved(), "this is why the worst must win before posting");
    }
}
