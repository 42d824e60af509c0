//! What a forge does not tell of a pull, git tells.

use referee_core::mark::Keys;
use referee_core::model::{Mergeable, Snapshot, Verdict};
use referee_core::policy::Policy;
use referee_turn::{Inbox, gather_snapshot};

use super::{FILE, Stage};

impl Stage {
    /// The pull as a forge shows it that knows neither conflicts nor outdated threads.
    fn untold(&self) -> Snapshot {
        let mut fetched = self.fetch();
        fetched.pull.mergeable = Mergeable::Unknown;
        fetched.threads.iter_mut().for_each(|thread| thread.outdated = false);
        gather_snapshot(fetched, &self.world, &Inbox::default(), &Policy::default(), &Keys::empty()).unwrap()
    }
}

#[test]
fn a_thread_is_outdated_once_its_review_s_line_is_gone() {
    let stage = Stage::plain();
    let alice = stage.world.people().as_("alice");
    stage.made(&stage.post_with(Verdict::Comment, "a look", &[(2, "why?"), (3, "and this?")]));
    drop(stage.world.take_effects());
    let outdated = || stage.untold().threads.iter().map(|thread| thread.outdated).collect::<Vec<_>>();
    alice.push(FILE, |text| format!("// above\n{text}"));
    assert_eq!(outdated(), [false, false], "they moved");
    alice.push(FILE, |text| text.replace("two", "zwei"));
    assert_eq!(outdated(), [true, false]);
}

#[test]
fn a_conflict_is_found_where_the_forge_says_nothing() {
    let stage = Stage::plain();
    assert_eq!(stage.untold().pull.mergeable, Mergeable::Clean);
    stage.world.people().as_("ruth").push_base(FILE, |_| "fn zero() {}\n".to_owned());
    assert_eq!(stage.untold().pull.mergeable, Mergeable::Conflict);
    stage.world.people().as_("alice").mark_draft();
    assert_eq!(stage.untold().pull.mergeable, Mergeable::Unknown, "a draft is not asked");
}
