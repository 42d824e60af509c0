//! A running scenario: reports arrive, people act, turns run.

use std::fmt;
use std::sync::Mutex;

use referee_core::decide::{PlanScope, decide};
use referee_core::mark::{Keys, TagKind};
use referee_core::model::{FindingId, PullNumber, Review, ReviewId, Snapshot, Span, Thread};
use referee_core::plan::{Gate, Plan};
use referee_core::policy::{GateSetting, Policy};
use referee_forge::{Gates, Reader};
use referee_turn::{Inbox, NullJournal, PublishMode, Turn, TurnContext, finish, gather_snapshot};

use super::ScenarioActor;
use super::interrupt::{InterruptingForge, Interruption, TurnMoment};
use super::report_builder::ReportBuilder;
use super::transcript::Transcript;
use crate::poll::block_on;
use crate::simulation::{ReviewerBehaviour, bot_login};
use crate::world::{CallFault, FaultAt, World, WorldClient};

/// A scenario whose pull is open.
pub struct ScenarioRun {
    pub world: World,
    pub pull: PullNumber,
    pub policy: Policy,
    /// The keys that seal Marks.
    pub keys: Keys,
    pub(super) client: WorldClient,
    pub(super) inbox: Inbox,
    pub(super) pending: Vec<(TurnMoment, Interruption)>,
    pub(super) last_turn: Option<Turn>,
    pub(super) transcript: Transcript,
}

impl ScenarioRun {
    /// Submits a report on the head.
    #[track_caller]
    pub fn report(&mut self, report: ReportBuilder) -> &mut Self {
        let snapshot = self.snapshot();
        let files = snapshot.changes.files.iter().map(|file| file.path.clone()).collect();
        let run = snapshot.taken_at.0.to_string();
        self.inbox.reports.push(report.to_submission(&snapshot.pull.head, files, run));
        self.record(report.describe());
        self
    }

    /// Submits the reports that the last turn asked for, written by this reviewer.
    #[track_caller]
    pub fn run_reviewer(&mut self, mut reviewer: ReviewerBehaviour) -> &mut Self {
        let turn = self.last_turn.take().unwrap_or_else(|| panic!("no turn ran yet"));
        for brief in &turn.plan.reviews {
            let report = reviewer.review(&self.world, self.pull, brief, &turn.snapshot);
            self.record(format!("{} submits a report", brief.role));
            self.inbox.reports.push(report);
        }
        self.last_turn = Some(turn);
        self
    }

    /// Returns an actor for that person.
    pub fn by(&mut self, who: &str) -> ScenarioActor<'_> {
        let person = self.world.people().on(self.pull).as_(who);
        ScenarioActor { run: self, person }
    }

    /// Runs a closure at that moment of the next turn.
    pub fn meanwhile(&mut self, moment: TurnMoment, event: impl FnOnce(&World) + Send + 'static) -> &mut Self {
        self.record(format!("an event is scheduled: {moment:?}"));
        self.pending.push((moment, Box::new(event)));
        self
    }

    /// Schedules a fault.
    pub fn inject_fault(&mut self, at: FaultAt, fault: CallFault) -> &mut Self {
        self.record(format!("a fault is scheduled: {fault:?} at {at:?}"));
        self.world.inject_fault(at, fault);
        self
    }

    /// Lets time pass.
    pub fn wait(&mut self, span: Span) -> &mut Self {
        self.world.wait(span);
        self.record(format!("{} minutes pass", span.0 / 60));
        self
    }

    /// Replaces the process by a new one without any memory.
    pub fn restart_process(&mut self) -> &mut Self {
        let holds: Vec<_> = self.policy.roles.iter().filter_map(|role| role.identity.clone()).collect();
        self.client = self.world.client_with_tokens(&bot_login(), &holds);
        self.record("a new process starts".to_owned());
        self
    }

    /// Runs one turn with all gates open.
    #[track_caller]
    pub fn turn(&mut self) -> &mut Self {
        let settings = Gate::ALL.iter().map(|gate| (*gate, GateSetting::On)).collect();
        let gates = Gates::new(settings, Default::default(), self.policy.approve);
        self.run_turn(&gates)
    }

    /// Runs one turn with all gates shut, and keeps the inbox.
    #[track_caller]
    pub fn dry_turn(&mut self) -> &mut Self {
        let inbox = self.inbox.clone();
        self.run_turn(&Gates::dry_run());
        self.inbox = inbox;
        self
    }

    /// Runs turns until one writes nothing.
    ///
    /// # Panics
    ///
    /// Panics after ten turns that write.
    #[track_caller]
    pub fn run_until_quiet(&mut self) -> &mut Self {
        for _ in 0..10 {
            if self.turn().last_turn().writes == 0 {
                return self;
            }
        }
        panic!("the scenario still writes after ten turns: {}", self.transcript.as_str());
    }

    #[track_caller]
    fn run_turn(&mut self, gates: &Gates) -> &mut Self {
        let inbox = std::mem::take(&mut self.inbox);
        let forge = InterruptingForge { client: &self.client, pending: Mutex::new(std::mem::take(&mut self.pending)) };
        let context = TurnContext {
            forge: &forge,
            source: &self.world,
            journal: &NullJournal,
            policy: &self.policy,
            gates,
            keys: &self.keys,
            publish_mode: PublishMode::SingleWriter,
        };
        let turn = block_on(finish(&context, self.pull, &inbox));
        match turn {
            Ok(turn) => {
                self.transcript.add_turn(&turn);
                self.last_turn = Some(turn);
            }
            Err(error) => self.transcript.add_event(format!("the turn failed: {error}")),
        }
        self
    }

    /// Returns the last turn.
    #[track_caller]
    pub fn last_turn(&self) -> &Turn {
        self.last_turn.as_ref().unwrap_or_else(|| panic!("no turn ran yet"))
    }

    /// Returns the plan of the last turn.
    #[track_caller]
    pub fn plan(&self) -> &Plan {
        &self.last_turn().plan
    }

    /// Renders the steps of the last turn as `explain` does, without statuses and with the outcome of every step that was not
    /// done. Marks all effects as checked.
    #[track_caller]
    pub fn steps(&mut self) -> String {
        let _ = self.world.take_effects();
        self.transcript.list_steps(self.last_turn())
    }

    /// Renders the last turn as `explain` does. Marks all effects as checked.
    #[track_caller]
    pub fn explain_lines(&mut self) -> String {
        let _ = self.world.take_effects();
        self.transcript.explain_turn(self.last_turn())
    }

    /// Returns the transcript so far. Marks all effects as checked.
    pub fn transcript(&mut self) -> String {
        let _ = self.world.take_effects();
        self.transcript.as_str().to_owned()
    }

    /// Marks all effects so far as checked.
    pub fn discard_effects(&mut self) -> &mut Self {
        let _ = self.world.take_effects();
        self
    }

    /// Returns the snapshot that `decide` would receive now.
    #[track_caller]
    pub fn snapshot(&self) -> Snapshot {
        let fork = self.world.fork();
        let fetched = block_on(self.client.on_fork(&fork).fetch(self.pull))
            .unwrap_or_else(|error| panic!("cannot fetch the pull: {error}"));
        gather_snapshot(fetched, &fork, &self.inbox, &self.policy, &self.keys).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the plan that `decide` would make now.
    #[track_caller]
    pub fn decide_now(&self) -> Plan {
        decide(&self.snapshot(), &self.policy, &PlanScope::Everything)
    }

    /// Returns the reviews of the bot and of the identities of roles, oldest first.
    #[track_caller]
    pub fn own_reviews(&self) -> Vec<Review> {
        let own = |review: &Review| {
            let login = review.author.login.as_ref();
            review.verdict().is_some()
                && login.is_some_and(|login| {
                    *login == bot_login() || self.policy.roles.iter().any(|role| role.identity.as_ref() == Some(login))
                })
        };
        self.snapshot().reviews.into_iter().filter(own).collect()
    }

    /// Returns the newest open thread of a finding, else its newest one.
    #[track_caller]
    pub fn find_thread(&self, finding: FindingId) -> Option<Thread> {
        let is_about = |thread: &Thread| {
            let tag = thread.root().and_then(|root| root.text.trusted_tag());
            tag.is_some_and(|tag| matches!(&tag.kind, TagKind::Root { finding: tagged, .. } if *tagged == finding))
        };
        let threads: Vec<Thread> = self.snapshot().threads.into_iter().filter(is_about).collect();
        let open = threads.iter().rfind(|thread| thread.resolved.is_none()).cloned();
        open.or_else(|| threads.last().cloned())
    }

    /// Renders a finding's thread without hidden parts, one line per note.
    #[track_caller]
    pub fn conversation(&self, finding: u64) -> String {
        let thread = self.find_thread(FindingId(finding)).unwrap_or_else(|| panic!("F{finding} has no thread"));
        super::transcript::render_conversation(&thread)
    }

    /// Returns the bot's newest summary without hidden parts.
    #[track_caller]
    pub fn summary(&self) -> String {
        let own = self.own_reviews();
        super::transcript::visible_text(
            own.last().unwrap_or_else(|| panic!("the bot has no review")).text.body_or_empty(),
        )
    }

    /// Returns the bot's comments without hidden parts, oldest first.
    #[track_caller]
    pub fn own_comments(&self) -> Vec<String> {
        let comments = self.snapshot().comments;
        let own = comments.iter().filter(|comment| comment.author.has_login(&bot_login()));
        own.map(|comment| super::transcript::visible_text(comment.text.body_or_empty())).collect()
    }

    /// Renders all texts on the pull without hidden parts.
    pub fn visible_texts(&self) -> String {
        super::transcript::render_texts(&self.snapshot())
    }

    pub(super) fn review_text(&self, review: &ReviewId) -> String {
        let reviews = self.own_reviews();
        reviews.iter().find(|row| row.id == *review).map(|row| row.text.body_or_empty().to_owned()).unwrap_or_default()
    }

    pub(super) fn record(&mut self, what: String) {
        self.transcript.add_event(what);
    }
}

impl fmt::Debug for ScenarioRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.transcript.as_str())
    }
}
