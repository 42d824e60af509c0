//! A pull that is open: reports come in, people act, turns are played.

use std::fmt;
use std::sync::Mutex;

use referee_core::decide::decide;
use referee_core::mark::{Keys, TagKind};
use referee_core::model::{FindingId, PullNumber, Review, ReviewId, Snapshot, Span, Thread};
use referee_core::plan::{Gate, Next, Plan};
use referee_core::policy::{GateSetting, Policy};
use referee_forge::{Gates, Reader};
use referee_turn::{Inbox, NullJournal, PublishMode, Turn, TurnContext, gather_snapshot, run_turn};

use super::ScenarioActor;
use super::interrupt::{InterruptingForge, Interruption, TurnMoment};
use super::report_builder::ReportBuilder;
use super::transcript::Transcript;
use crate::poll::block_on;
use crate::simulation::{ReviewerBehaviour, bot_login};
use crate::world::{CallFault, FaultAt, World, WorldClient};

/// A pull that is open.
pub struct ScenarioRun {
    /// The forge.
    pub world: World,
    /// The pull.
    pub pull: PullNumber,
    /// The rules.
    pub policy: Policy,
    /// What seals Marks.
    pub keys: Keys,
    pub(super) client: WorldClient,
    pub(super) inbox: Inbox,
    pub(super) pending: Vec<(TurnMoment, Interruption)>,
    pub(super) last_turn: Option<Turn>,
    pub(super) transcript: Transcript,
}

impl ScenarioRun {
    /// A reviewer hands in a report of the head.
    #[track_caller]
    pub fn report(&mut self, words: ReportBuilder) -> &mut Self {
        let snapshot = self.snapshot();
        let files = snapshot.changes.files.iter().map(|file| file.path.clone()).collect();
        let run = snapshot.taken_at.0.to_string();
        self.inbox.reports.push(words.to_submission(&snapshot.pull.head, files, run));
        self.record(words.describe());
        self
    }

    /// Reviewers do what the last turn asked for.
    #[track_caller]
    pub fn run_reviewer(&mut self, mut reviewer: ReviewerBehaviour) -> &mut Self {
        let played = self.last_turn.take().unwrap_or_else(|| panic!("nothing was asked yet"));
        if let Next::Review(briefs) = &played.plan.next {
            for brief in briefs {
                let report = reviewer.review(&self.world, self.pull, brief, &played.snapshot);
                self.record(format!("{} hands in a report", brief.role));
                self.inbox.reports.push(report);
            }
        }
        self.last_turn = Some(played);
        self
    }

    /// Somebody acts.
    pub fn by(&mut self, who: &str) -> ScenarioActor<'_> {
        let person = self.world.people().on(self.pull).as_(who);
        ScenarioActor { run: self, person }
    }

    /// Somebody acts in the middle of the next turn.
    pub fn meanwhile(&mut self, moment: TurnMoment, deed: impl FnOnce(&World) + Send + 'static) -> &mut Self {
        self.record(format!("something will happen: {moment:?}"));
        self.pending.push((moment, Box::new(deed)));
        self
    }

    /// Something will go wrong.
    pub fn inject_fault(&mut self, at: FaultAt, fault: CallFault) -> &mut Self {
        self.record(format!("something will go wrong: {fault:?} at {at:?}"));
        self.world.inject_fault(at, fault);
        self
    }

    /// Time passes.
    pub fn wait(&mut self, span: Span) -> &mut Self {
        self.world.wait(span);
        self.record(format!("{} minutes pass", span.0 / 60));
        self
    }

    /// The process ends; another one takes its place and knows nothing of it.
    pub fn restart_process(&mut self) -> &mut Self {
        let holds: Vec<_> = self.policy.roles.iter().filter_map(|role| role.identity.clone()).collect();
        self.client = self.world.client_with_tokens(&bot_login(), &holds);
        self.record("a new process starts".to_owned());
        self
    }

    /// One turn, all gates open.
    #[track_caller]
    pub fn turn(&mut self) -> &mut Self {
        let settings = Gate::ALL.iter().map(|gate| (*gate, GateSetting::On)).collect();
        let gates = Gates::new(settings, Default::default(), self.policy.approve);
        self.run_turn(&gates)
    }

    /// One turn, all gates shut; the inbox is kept.
    #[track_caller]
    pub fn dry_turn(&mut self) -> &mut Self {
        let inbox = self.inbox.clone();
        self.run_turn(&Gates::dry_run());
        self.inbox = inbox;
        self
    }

    /// Turns until one writes nothing.
    ///
    /// # Panics
    ///
    /// When that takes too many.
    #[track_caller]
    pub fn run_until_quiet(&mut self) -> &mut Self {
        for _ in 0..10 {
            if self.turn().last_turn().writes == 0 {
                return self;
            }
        }
        panic!("not quiet: {}", self.transcript.as_str());
    }

    #[track_caller]
    fn run_turn(&mut self, gates: &Gates) -> &mut Self {
        let inbox = std::mem::take(&mut self.inbox);
        let door = InterruptingForge { client: &self.client, pending: Mutex::new(std::mem::take(&mut self.pending)) };
        let desk = TurnContext {
            forge: &door,
            source: &self.world,
            journal: &NullJournal,
            policy: &self.policy,
            gates,
            keys: &self.keys,
            publish_mode: PublishMode::SingleWriter,
        };
        let played = block_on(run_turn(&desk, self.pull, &inbox));
        match played {
            Ok(played) => {
                self.transcript.add_turn(&played);
                self.last_turn = Some(played);
            }
            Err(error) => self.transcript.add_event(format!("no turn: {error}")),
        }
        self
    }

    /// The last turn.
    #[track_caller]
    pub fn last_turn(&self) -> &Turn {
        self.last_turn.as_ref().unwrap_or_else(|| panic!("no turn was played"))
    }

    /// Its last plan.
    #[track_caller]
    pub fn plan(&self) -> &Plan {
        &self.last_turn().plan
    }

    /// The steps of the last turn as `explain` prints them, statuses left out, and what became of those that were not
    /// done. The writes count as looked at.
    #[track_caller]
    pub fn steps(&mut self) -> String {
        let _ = self.world.take_effects();
        self.transcript.list_steps(self.last_turn())
    }

    /// All that `explain` prints of the last turn. The writes count as looked at.
    #[track_caller]
    pub fn explain_lines(&mut self) -> String {
        let _ = self.world.take_effects();
        self.transcript.explain_turn(self.last_turn())
    }

    /// The whole story so far. The writes count as looked at.
    pub fn transcript(&mut self) -> String {
        let _ = self.world.take_effects();
        self.transcript.as_str().to_owned()
    }

    /// What happened so far is not what this test is about.
    pub fn discard_effects(&mut self) -> &mut Self {
        let _ = self.world.take_effects();
        self
    }

    /// What `decide` would see now.
    #[track_caller]
    pub fn snapshot(&self) -> Snapshot {
        let seen = self.world.fork();
        let fetched =
            block_on(self.client.on_fork(&seen).fetch(self.pull)).unwrap_or_else(|error| panic!("no pull: {error}"));
        gather_snapshot(fetched, &seen, &self.inbox, &self.policy, &self.keys).unwrap_or_else(|error| panic!("{error}"))
    }

    /// What `decide` would say now.
    #[track_caller]
    pub fn decide_now(&self) -> Plan {
        decide(&self.snapshot(), &self.policy)
    }

    /// Reviews of the bot and of the roles' own identities, oldest first.
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

    /// A finding's thread: the newest open one, else the newest.
    #[track_caller]
    pub fn find_thread(&self, finding: FindingId) -> Option<Thread> {
        let is = |thread: &Thread| {
            let tag = thread.root().and_then(|root| root.text.trusted_tag());
            tag.is_some_and(|tag| matches!(&tag.kind, TagKind::Root { finding: of, .. } if *of == finding))
        };
        let threads: Vec<Thread> = self.snapshot().threads.into_iter().filter(is).collect();
        let open = threads.iter().rfind(|thread| thread.resolved.is_none()).cloned();
        open.or_else(|| threads.last().cloned())
    }

    /// A finding's thread as people read it: one line a note, without what is hidden.
    #[track_caller]
    pub fn conversation(&self, finding: u64) -> String {
        let thread = self.find_thread(FindingId(finding)).unwrap_or_else(|| panic!("F{finding} has no thread"));
        super::transcript::render_conversation(&thread)
    }

    /// The bot's newest summary as people read it.
    #[track_caller]
    pub fn summary(&self) -> String {
        let own = self.own_reviews();
        super::transcript::visible_text(own.last().unwrap_or_else(|| panic!("there is no review")).text.body_or_empty())
    }

    /// Comments of the bot as people read them, oldest first.
    #[track_caller]
    pub fn own_comments(&self) -> Vec<String> {
        let comments = self.snapshot().comments;
        let own = comments.iter().filter(|comment| comment.author.has_login(&bot_login()));
        own.map(|comment| super::transcript::visible_text(comment.text.body_or_empty())).collect()
    }

    /// What stands on the pull in the end, as people read it.
    pub fn visible_texts(&self) -> String {
        super::transcript::render_texts(&self.snapshot())
    }

    pub(super) fn review_text(&self, review: &ReviewId) -> String {
        let reviews = self.own_reviews();
        reviews.iter().find(|it| it.id == *review).map(|it| it.text.body_or_empty().to_owned()).unwrap_or_default()
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
