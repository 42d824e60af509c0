//! A reading that leans on an earlier one may miss what happened since. Nothing is written on its word.

use std::sync::atomic::{AtomicUsize, Ordering};

use referee_core::mark::Keys;
use referee_core::model::{Access, Author, Board, Login, PullNumber, Resolution, Sha, Span};
use referee_core::plan::{Delivery, Gate, Next};
use referee_core::policy::GateSetting;
use referee_forge::{
    ActionRequest, ClaimOutcome, ClaimPurpose, FetchedPull, Forge, ForgeError, ForgeInfo, Gates, PerformOutcome,
    Permit, Reader, Reuse,
};
use referee_testkit::simulation::{ReviewerBehaviour, Simulation, SimulationSetup};
use referee_testkit::{WorldClient, block_on};
use referee_turn::{Inbox, NullJournal, PublishMode, Turn, TurnContext, finish};

// spec: LOOP-7 @core
#[test]
fn what_is_written_leans_on_all_of_the_pull() {
    for (whole, writes) in [(true, true), (false, false)] {
        let play = SimulationSetup::default().build();
        let first = played(&play, &play.clients[0], &Inbox::default());
        let Next::Review(briefs) = &first.plan.next else { panic!("a review comes first: {:?}", first.plan.next) };
        let report = ReviewerBehaviour::Honest.review(&play.world, play.pull, &briefs[0], &first.snapshot);
        let blocked = played(&play, &play.clients[0], &Inbox { reports: vec![report], ..Inbox::default() });
        assert!(blocked.writes > 0, "{:?}", blocked.plan.why);

        let late = Late { seat: play.clients[0].clone(), whole, anew: AtomicUsize::new(0) };
        let turn = played(&play, &late, &Inbox::default());
        assert_eq!(turn.writes > 0, writes, "{:?}", turn.plan.why);
        assert_eq!(late.anew.load(Ordering::Relaxed) > 0, !whole);
        let _ = play.world.take_effects();
    }
}

fn played<F: Forge>(play: &Simulation, forge: &F, inbox: &Inbox) -> Turn {
    let settings = Gate::ALL.iter().map(|gate| (*gate, GateSetting::On)).collect();
    let desk = TurnContext {
        forge,
        source: &play.world,
        journal: &NullJournal,
        policy: &play.policy,
        gates: &Gates::new(settings, Default::default(), play.policy.approve),
        keys: &Keys::empty(),
        publish_mode: PublishMode::SingleWriter,
    };
    block_on(finish(&desk, play.pull, inbox)).expect("a turn")
}

/// Still sees every thread as settled, long after all of them were opened again.
#[derive(Debug)]
struct Late {
    seat: WorldClient,
    /// What it says of its readings.
    whole: bool,
    anew: AtomicUsize,
}

#[async_trait::async_trait]
impl Reader for Late {
    fn info(&self) -> ForgeInfo {
        self.seat.info()
    }

    async fn fetch_reusing(&self, pull: PullNumber, reuse: Reuse<'_>) -> Result<FetchedPull, ForgeError> {
        if let Reuse::Nothing = reuse {
            self.anew.fetch_add(1, Ordering::Relaxed);
            return self.seat.fetch(pull).await;
        }
        let mut fetched = self.seat.fetch(pull).await?;
        let by = Author { login: Some(Login::from("carol")), bot: false, access: Access::Write };
        for thread in &mut fetched.threads {
            thread.resolved = Some(Resolution { by: by.clone(), at: None });
        }
        Ok(FetchedPull { is_fresh: self.whole, ..fetched })
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.seat.fetch_head(pull).await
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        self.seat.fetch_board().await
    }
}

#[async_trait::async_trait]
impl Forge for Late {
    async fn perform(&self, pull: PullNumber, errand: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        self.seat.perform(pull, errand).await
    }

    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        self.seat.acquire_claim(pull, purpose, ttl).await
    }

    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError> {
        self.seat.release_claim(pull, purpose, epoch).await
    }

    async fn open_pull(&self, delivery: &Delivery, by: &Login, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.seat.open_pull(delivery, by, permit).await
    }
}
