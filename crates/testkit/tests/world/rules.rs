//! The forge's own decisions: which verdicts count.

use referee_core::model::Verdict;
use referee_testkit::Quirks;

use super::{WorldFixture, login};

#[test]
fn the_newest_counting_verdict_of_each_user_decides() {
    let fixture = WorldFixture::plain();
    let people = fixture.world.people();
    assert!(!fixture.world.decision(fixture.pull).is_approved(), "there is no review");
    people.as_("ruth").block("no");
    people.as_("oscar").approve("fine");
    let decision = fixture.world.decision(fixture.pull);
    assert!(decision.is_blocked() && !decision.is_approved());
    assert_eq!((decision.approvers, decision.blockers), (vec![login("oscar")], vec![login("ruth")]));
    people.as_("ruth").review_without_verdict("hm");
    assert!(fixture.world.decision(fixture.pull).is_blocked(), "a comment does not lift the block");
    people.as_("ruth").approve("fine");
    assert!(fixture.world.decision(fixture.pull).is_approved());
}

#[test]
fn outsiders_and_the_author_carry_no_weight() {
    let fixture = WorldFixture::plain();
    fixture.world.people().as_("mallory").block("no");
    fixture.world.people().as_("alice").approve("my own");
    assert_eq!(fixture.world.decision(fixture.pull), referee_testkit::world::ApprovalTally::default());
}

#[test]
fn the_newest_verdict_wins_between_two_roles_of_one_identity() {
    for (_, quirks) in Quirks::presets() {
        let fixture = WorldFixture::new(quirks);
        fixture.expect_done(&fixture.post(Verdict::RequestChanges, "no, says one role"));
        fixture.expect_done(&fixture.post(Verdict::Approve, "fine, says the other"));
        assert!(
            fixture.world.decision(fixture.pull).is_approved(),
            "referee itself must let the worst verdict win before it posts"
        );
    }
}
