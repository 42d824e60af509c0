//! Passes over a repository: the rules, two at once, and a crash at every call.

mod at_once;
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

/// A repository with a project: `rodin` fixes, the bot `sonnet` reviews, `carol` takes over.
pub(crate) struct Project {
    pub(crate) world: World,
    pub(crate) policy: Policy,
}

impl Project {
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

    /// A pull that is ready but for what the test does to it next.
    pub(crate) fn pull(&self, branch: &str) -> PullNumber {
        let path = format!("src/{branch}.rs");
        let pull = self.by("rodin", None).open_pull(branch, &[(path.as_str(), "fn a() {}\n")]);
        self.passes_all(pull);
        pull
    }

    /// Checks, the bot and the fixing side are content with the head.
    pub(crate) fn passes_all(&self, pull: PullNumber) {
        let rodin = self.by("rodin", Some(pull));
        let head = rodin.head();
        rodin.report_check("ci", CheckState::Pass);
        self.by("sonnet-bot", Some(pull)).approve(&evaluated(head.as_str(), ""));
        rodin.comment(&format!("Self-review against {head}\n\nAssessment: ✅ Clean\n"));
    }

    pub(crate) fn by(&self, login: &str, pull: Option<PullNumber>) -> WorldPerson {
        let hand = self.world.people();
        pull.map_or(hand.clone(), |pull| hand.on(pull)).as_(login)
    }

    pub(crate) fn seat(&self) -> WorldClient {
        self.world.client("rodin")
    }

    pub(crate) fn pass<F: Forge>(&self, forge: &F, gates: &Gates) -> Result<PassOutcome, TurnError> {
        block_on(self.passing(forge, gates, |_| {}))
    }

    /// The lines of a pass that must go well.
    pub(crate) fn lines<F: Forge>(&self, forge: &F) -> Vec<String> {
        let passed = self.pass(forge, &open()).expect("everything can be read");
        let _ = self.world.take_effects();
        assert!(!passed.needs_rerun, "{:?}", passed.started);
        passed.lines.iter().map(ToString::to_string).collect()
    }

    pub(crate) async fn passing<F: Forge>(
        &self,
        forge: &F,
        gates: &Gates,
        say: impl FnMut(&ProtocolLine) + Send,
    ) -> Result<PassOutcome, TurnError> {
        run_pass(&self.desk(forge, gates, &Keys::empty()), SpawnMode::Print, say).await
    }

    pub(crate) fn desk<'a, F: Forge>(&'a self, forge: &'a F, gates: &'a Gates, keys: &'a Keys) -> TurnContext<'a> {
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

/// Gates as they are where nobody says otherwise, and dispatch asks for labels.
pub(crate) fn open() -> Gates {
    let settings: BTreeMap<Gate, GateSetting> = Gate::ALL.iter().map(|gate| (*gate, gate.default_setting())).collect();
    Gates::new(settings, RequestedGates::from([Gate::Label]), ApprovalMode::Lift)
}

/// A review in the words of the source's bot.
pub(crate) fn evaluated(head: &str, more: &str) -> String {
    format!("# Review\n\n<!-- review-bot:sonnet -->\n\nEvaluated against {}\n\n{more}", &head[..8])
}
