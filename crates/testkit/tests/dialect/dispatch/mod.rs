//! Dispatch passes over a repository: the rules, concurrent dispatchers, and a crash at every call.

mod concurrent;
mod crashes;
mod deliver;
mod rules;

use std::collections::{BTreeMap, BTreeSet};

use referee_core::decide::ProtocolLine;
use referee_core::mark::Keys;
use referee_core::model::{Access, CheckState, PullNumber, Span};
use referee_core::plan::{Gate, JobKind};
use referee_core::policy::{ApprovalMode, DispatchPolicy, GateSetting, Policy, PullFilter};
use referee_forge::{Forge, Gates, RequestedGates};
use referee_testkit::{Quirks, World, WorldClient, WorldPerson, block_on};
use referee_turn::{NullJournal, PassOutcome, PublishMode, SpawnMode, TurnContext, TurnError, run_pass};

/// A repository where `rodin` fixes, the bot `sonnet` reviews, and `carol` is the operator.
pub(crate) struct TestProject {
    pub(crate) world: World,
    pub(crate) policy: Policy,
}

impl TestProject {
    pub(crate) fn new(quirks: Quirks) -> Self {
        let world = World::new(quirks);
        for name in ["alice", "bob", "carol", "rodin"] {
            world.admit(name, Access::Write);
        }
        world.admit_bot("sonnet-bot", Access::Write);
        world.create_labels(&["wip", "ready", "bug"]);
        let work = DispatchPolicy {
            user: "rodin".into(),
            wip: "wip".to_owned(),
            ready: "ready".to_owned(),
            bug: "bug".to_owned(),
            assign: Some("carol".into()),
            wip_max_age: Span::from_hours(1),
            review_bots: vec!["sonnet".to_owned()],
            review_users: BTreeSet::from(["sonnet-bot".into()]),
            workers: JobKind::ALL.into_iter().collect(),
            max_jobs: 12,
            pulls: PullFilter::All,
        };
        Self { world, policy: Policy { operator: Some("carol".into()), work: Some(work), ..Policy::default() } }
    }

    /// Opens a pull that is ready for handoff.
    pub(crate) fn open_pull(&self, branch: &str) -> PullNumber {
        let path = format!("src/{branch}.rs");
        let open_pull = self.by("rodin", None).open_pull(branch, &[(path.as_str(), "fn a() {}\n")]);
        self.make_pass(open_pull);
        open_pull
    }

    /// Makes the head pass: checks, the bot's review, and the self-review.
    pub(crate) fn make_pass(&self, open_pull: PullNumber) {
        let rodin = self.by("rodin", Some(open_pull));
        let head = rodin.head();
        rodin.report_check("ci", CheckState::Pass);
        self.by("sonnet-bot", Some(open_pull)).approve(&bot_review(head.as_str(), ""));
        rodin.comment(&format!("Self-review against {head}\n\nAssessment: ✅ Clean\n"));
    }

    pub(crate) fn by(&self, login: &str, open_pull: Option<PullNumber>) -> WorldPerson {
        let people = self.world.people();
        open_pull.map_or(people.clone(), |open_pull| people.on(open_pull)).as_(login)
    }

    pub(crate) fn client(&self) -> WorldClient {
        self.world.client("rodin")
    }

    pub(crate) fn pass<F: Forge>(&self, forge: &F, gates: &Gates) -> Result<PassOutcome, TurnError> {
        block_on(self.run_pass_async(forge, gates, |_| {}))
    }

    /// Runs a pass that must succeed and returns its protocol lines.
    pub(crate) fn pass_lines<F: Forge>(&self, forge: &F) -> Vec<String> {
        let outcome = self.pass(forge, &default_gates()).expect("the pass succeeds");
        let _ = self.world.take_effects();
        assert!(!outcome.needs_rerun, "{:?}", outcome.started);
        outcome.lines.iter().map(ToString::to_string).collect()
    }

    pub(crate) async fn run_pass_async<F: Forge>(
        &self,
        forge: &F,
        gates: &Gates,
        on_line: impl FnMut(&ProtocolLine) + Send,
    ) -> Result<PassOutcome, TurnError> {
        run_pass(&self.turn_context(forge, gates, &Keys::empty()), SpawnMode::Print, on_line).await
    }

    pub(crate) fn turn_context<'a, F: Forge>(
        &'a self,
        forge: &'a F,
        gates: &'a Gates,
        keys: &'a Keys,
    ) -> TurnContext<'a> {
        TurnContext {
            forge,
            source: &self.world,
            journal: &NullJournal,
            policy: &self.policy,
            gates,
            keys,
            publish_mode: PublishMode::SingleWriter,
        }
    }
}

/// Returns the default gates of dispatch, which requests labels.
pub(crate) fn default_gates() -> Gates {
    let settings: BTreeMap<Gate, GateSetting> = Gate::ALL.iter().map(|gate| (*gate, gate.default_setting())).collect();
    Gates::new(settings, RequestedGates::from([Gate::Label]), ApprovalMode::Lift)
}

/// Renders a review in the format of the external review bot.
pub(crate) fn bot_review(head: &str, more: &str) -> String {
    format!("# Review\n\n<!-- review-bot:sonnet -->\n\nEvaluated against {}\n\n{more}", &head[..8])
}
