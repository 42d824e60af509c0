//! A reading that leans on an earlier one may miss what happened since. Nothing is written on its word.

use std::sync::atomic::{AtomicUsize, Ordering};

use referee_core::mark::Keys;
use referee_core::model::{Access, Author, Board, Login, PullNumber, Resolution, Sha, Span};
use referee_core::plan::{Delivery, Gate, Next};
use referee_core::policy::Setting;
use referee_forge::{Claimed, Errand, Fetched, Forge, ForgeError, Gates, Performed, Permit, Purpose, Reader};
use referee_testkit::play::{Play, Reviewer, Stage};
use referee_testkit::{Seat, block_on};
use referee_turn::{Desk, Inbox, Nothing, Publishing, Turn, turn};

// spec: LOOP-7 @core
#[test]
fn what_is_written_leans_on_all_of_the_pull() {
    for (whole, writes) in [(true, true), (false, false)] {
        let play = Stage::default().play();
        let first = played(&play, &play.seats[0], &Inbox::default());
        let Next::Review(briefs) = &first.plan.next else { panic!("a review comes first: {:?}", first.plan.next) };
        let report = Reviewer::Honest.review(&play.world, play.pull, &briefs[0], &first.snapshot);
        let blocked = played(&play, &play.seats[0], &Inbox { reports: vec![report], ..Inbox::default() });
        assert!(blocked.writes > 0, "{:?}", blocked.plan.why);

        let late = Late { seat: play.seats[0].clone(), whole, anew: AtomicUsize::new(0) };
        let turn = played(&play, &late, &Inbox::default());
        assert_eq!(turn.writes > 0, writes, "{:?}", turn.plan.why);
        assert_eq!(late.anew.load(Ordering::Relaxed) > 0, !whole);
        let _ = play.world.effects();
    }
}

fn played<F: Forge>(play: &Play, forge: &F, inbox: &Inbox) -> Turn {
    let settings = Gate::ALL.iter().map(|gate| (*gate, Setting::On)).collect();
    let desk = Desk {
        forge,
        source: &play.world,
        journal: &Nothing,
        policy: &play.policy,
        gates: &Gates::new(settings, Default::default(), play.policy.approve),
        keys: &Keys::none(),
        publishing: Publishing::Alone,
    };
    block_on(turn(&desk, play.pull, inbox)).expect("a turn")
}

/// Still sees every thread as settled, long after all of them were opened again.
#[derive(Debug)]
struct Late {
    seat: Seat,
    /// What it says of its readings.
    whole: bool,
    anew: AtomicUsize,
}

#[async_trait::async_trait]
impl Reader for Late {
    async fn fetch(&self, pull: PullNumber) -> Result<Fetched, ForgeError> {
        let mut fetched = self.seat.fetch(pull).await?;
        let by = Author { login: Some(Login::from("carol")), bot: false, access: Access::Write };
        for thread in &mut fetched.threads {
            thread.resolved = Some(Resolution { by: by.clone(), at: None });
        }
        Ok(Fetched { whole: self.whole, ..fetched })
    }

    async fn fetch_anew(&self, pull: PullNumber) -> Result<Fetched, ForgeError> {
        self.anew.fetch_add(1, Ordering::Relaxed);
        self.seat.fetch(pull).await
    }

    async fn head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.seat.head(pull).await
    }

    async fn board(&self) -> Result<Board, ForgeError> {
        self.seat.board().await
    }
}

#[async_trait::async_trait]
impl Forge for Late {
    async fn perform(&self, pull: PullNumber, errand: &Errand<'_>) -> Result<Performed, ForgeError> {
        self.seat.perform(pull, errand).await
    }

    async fn claim(&self, pull: PullNumber, purpose: Purpose, ttl: Span) -> Result<Claimed, ForgeError> {
        self.seat.claim(pull, purpose, ttl).await
    }

    async fn release(&self, pull: PullNumber, purpose: Purpose, epoch: u64) -> Result<(), ForgeError> {
        self.seat.release(pull, purpose, epoch).await
    }

    async fn open_pull(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.seat.open_pull(delivery, permit).await
    }
}
