//! A cached read may miss recent events, so before any write the pull is fetched again.

use std::sync::atomic::{AtomicUsize, Ordering};

use referee_core::mark::Keys;
use referee_core::model::{Access, Author, Board, Login, PullNumber, Resolution, Sha, Span};
use referee_core::plan::{Delivery, Gate};
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
fn a_plan_from_a_cached_read_is_made_again_before_writing() {
    for (is_fresh, writes) in [(true, true), (false, false)] {
        let simulation = SimulationSetup::default().build();
        let first = run_one_turn(&simulation, &simulation.clients[0], &Inbox::default());
        let [brief] = first.plan.reviews.as_slice() else { panic!("no review is due: {:?}", first.plan.next) };
        let report = ReviewerBehaviour::Honest.review(&simulation.world, simulation.pull, brief, &first.snapshot);
        let blocked =
            run_one_turn(&simulation, &simulation.clients[0], &Inbox { reports: vec![report], ..Inbox::default() });
        assert!(blocked.writes > 0, "{:?}", blocked.plan.why);

        let stale = StaleForge { client: simulation.clients[0].clone(), is_fresh, fresh_reads: AtomicUsize::new(0) };
        let turn = run_one_turn(&simulation, &stale, &Inbox::default());
        assert_eq!(turn.writes > 0, writes, "{:?}", turn.plan.why);
        assert_eq!(stale.fresh_reads.load(Ordering::Relaxed) > 0, !is_fresh);
        let _ = simulation.world.take_effects();
    }
}

fn run_one_turn<F: Forge>(simulation: &Simulation, forge: &F, inbox: &Inbox) -> Turn {
    let settings = Gate::ALL.iter().map(|gate| (*gate, GateSetting::On)).collect();
    let context = TurnContext {
        forge,
        source: &simulation.world,
        journal: &NullJournal,
        policy: &simulation.policy,
        gates: &Gates::new(settings, Default::default(), simulation.policy.approve),
        keys: &Keys::empty(),
        publish_mode: PublishMode::SingleWriter,
    };
    block_on(finish(&context, simulation.pull, inbox)).expect("a turn")
}

/// A forge whose plain reads show every thread as resolved although all are open.
#[derive(Debug)]
struct StaleForge {
    client: WorldClient,
    /// Whether it reports its plain reads as fresh.
    is_fresh: bool,
    fresh_reads: AtomicUsize,
}

#[async_trait::async_trait]
impl Reader for StaleForge {
    fn info(&self) -> ForgeInfo {
        self.client.info()
    }

    async fn fetch_reusing(&self, pull: PullNumber, reuse: Reuse<'_>) -> Result<FetchedPull, ForgeError> {
        if let Reuse::Nothing = reuse {
            self.fresh_reads.fetch_add(1, Ordering::Relaxed);
            return self.client.fetch(pull).await;
        }
        let mut fetched = self.client.fetch(pull).await?;
        let by = Author { login: Some(Login::from("carol")), bot: false, access: Access::Write };
        for thread in &mut fetched.threads {
            thread.resolved = Some(Resolution { by: by.clone(), at: None });
        }
        Ok(FetchedPull { is_fresh: self.is_fresh, ..fetched })
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.client.fetch_head(pull).await
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        self.client.fetch_board().await
    }
}

#[async_trait::async_trait]
impl Forge for StaleForge {
    async fn perform(&self, pull: PullNumber, request: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        self.client.perform(pull, request).await
    }

    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        self.client.acquire_claim(pull, purpose, ttl).await
    }

    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError> {
        self.client.release_claim(pull, purpose, epoch).await
    }

    async fn open_pull(&self, delivery: &Delivery, by: &Login, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.client.open_pull(delivery, by, permit).await
    }
}
