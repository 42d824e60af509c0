//! Gather computes from git what the forge does not report.

use referee_core::mark::Keys;
use referee_core::model::{Mergeable, Snapshot, Verdict};
use referee_core::policy::Policy;
use referee_turn::{Inbox, gather_snapshot};

use super::{FILE, WorldFixture};

impl WorldFixture {
    /// Gathers the pull as if the forge reported neither conflicts nor outdated threads.
    fn gather_without_hints(&self) -> Snapshot {
        let mut fetched = self.fetch();
        fetched.pull.mergeable = Mergeable::Unknown;
        fetched.threads.iter_mut().for_each(|thread| thread.outdated = false);
        gather_snapshot(fetched, &self.world, &Inbox::default(), &Policy::default(), &Keys::empty()).unwrap()
    }
}

#[test]
fn a_thread_is_outdated_once_its_line_is_gone() {
    let fixture = WorldFixture::plain();
    let alice = fixture.world.people().as_("alice");
    fixture.expect_done(&fixture.post_with(Verdict::Comment, "a look", &[(2, "why?"), (3, "and this?")]));
    drop(fixture.world.take_effects());
    let outdated = || fixture.gather_without_hints().threads.iter().map(|thread| thread.outdated).collect::<Vec<_>>();
    alice.push(FILE, |text| format!("// above\n{text}"));
    assert_eq!(outdated(), [false, false], "both lines only moved");
    alice.push(FILE, |text| text.replace("two", "zwei"));
    assert_eq!(outdated(), [true, false]);
}

#[test]
fn a_conflict_is_detected_without_the_forge() {
    let fixture = WorldFixture::plain();
    assert_eq!(fixture.gather_without_hints().pull.mergeable, Mergeable::Clean);
    fixture.world.people().as_("ruth").push_base(FILE, |_| "fn zero() {}\n".to_owned());
    assert_eq!(fixture.gather_without_hints().pull.mergeable, Mergeable::Conflict);
    fixture.world.people().as_("alice").mark_draft();
    assert_eq!(
        fixture.gather_without_hints().pull.mergeable,
        Mergeable::Unknown,
        "drafts are not checked for conflicts"
    );
}
