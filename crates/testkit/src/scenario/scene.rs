//! A pull that is open: reports come in, people act, turns are played.

use std::fmt;
use std::sync::Mutex;

use referee_core::decide::decide;
use referee_core::mark::{Keys, TagKind};
use referee_core::model::{FindingId, PullNumber, Review, ReviewId, Snapshot, Span, Thread};
use referee_core::plan::{Gate, Next, Plan};
use referee_core::policy::{Policy, Setting};
use referee_forge::{Gates, Reader};
use referee_turn::{Desk, Inbox, Nothing, Publishing, Turn, gather, turn};

use super::By;
use super::door::{Deed, Door, Moment};
use super::story::Story;
use super::words::Words;
use crate::play::{Reviewer, bot};
use crate::poll::block_on;
use crate::world::{At, Fault, Seat, World};

/// A pull that is open.
pub struct Scene {
    /// The forge.
    pub world: World,
    /// The pull.
    pub pull: PullNumber,
    /// The rules.
    pub policy: Policy,
    /// What seals Marks.
    pub keys: Keys,
    pub(super) seat: Seat,
    pub(super) inbox: Inbox,
    pub(super) coming: Vec<(Moment, Deed)>,
    pub(super) last: Option<Turn>,
    pub(super) story: Story,
}

impl Scene {
    /// A reviewer hands in a report of the head.
    #[track_caller]
    pub fn report(&mut self, words: Words) -> &mut Self {
        let snapshot = self.snapshot();
        let files = snapshot.changes.files.iter().map(|file| file.path.clone()).collect();
        let run = snapshot.taken_at.0.to_string();
        self.inbox.reports.push(words.written(&snapshot.pull.head, files, run));
        self.happened(words.tell());
        self
    }

    /// Reviewers do what the last turn asked for.
    #[track_caller]
    pub fn reviews(&mut self, mut reviewer: Reviewer) -> &mut Self {
        let played = self.last.take().unwrap_or_else(|| panic!("nothing was asked yet"));
        if let Next::Review(briefs) = &played.plan.next {
            for brief in briefs {
                let report = reviewer.review(&self.world, self.pull, brief, &played.snapshot);
                self.happened(format!("{} hands in a report", brief.role));
                self.inbox.reports.push(report);
            }
        }
        self.last = Some(played);
        self
    }

    /// Somebody acts.
    pub fn by(&mut self, who: &str) -> By<'_> {
        let person = self.world.hand().on(self.pull).as_(who);
        By { scene: self, person }
    }

    /// Somebody acts in the middle of the next turn.
    pub fn meanwhile(&mut self, moment: Moment, deed: impl FnOnce(&World) + Send + 'static) -> &mut Self {
        self.happened(format!("something will happen: {moment:?}"));
        self.coming.push((moment, Box::new(deed)));
        self
    }

    /// Something will go wrong.
    pub fn fault(&mut self, at: At, fault: Fault) -> &mut Self {
        self.happened(format!("something will go wrong: {fault:?} at {at:?}"));
        self.world.fault(at, fault);
        self
    }

    /// Time passes.
    pub fn wait(&mut self, span: Span) -> &mut Self {
        self.world.wait(span);
        self.happened(format!("{} minutes pass", span.0 / 60));
        self
    }

    /// The process ends; another one takes its place and knows nothing of it.
    pub fn new_process(&mut self) -> &mut Self {
        let holds: Vec<_> = self.policy.roles.iter().filter_map(|role| role.identity.clone()).collect();
        self.seat = self.world.as_user(&bot(), &holds);
        self.happened("a new process starts".to_owned());
        self
    }

    /// One turn, all gates open.
    #[track_caller]
    pub fn turn(&mut self) -> &mut Self {
        let settings = Gate::ALL.iter().map(|gate| (*gate, Setting::On)).collect();
        let gates = Gates::new(settings, Default::default(), self.policy.approve);
        self.turn_behind(&gates)
    }

    /// One turn, all gates shut; the inbox is kept.
    #[track_caller]
    pub fn dry_turn(&mut self) -> &mut Self {
        let inbox = self.inbox.clone();
        self.turn_behind(&Gates::dry_run());
        self.inbox = inbox;
        self
    }

    /// Turns until one writes nothing.
    ///
    /// # Panics
    ///
    /// When that takes too many.
    #[track_caller]
    pub fn until_quiet(&mut self) -> &mut Self {
        for _ in 0..10 {
            if self.turn().last().writes == 0 {
                return self;
            }
        }
        panic!("not quiet: {}", self.story.all());
    }

    #[track_caller]
    fn turn_behind(&mut self, gates: &Gates) -> &mut Self {
        let inbox = std::mem::take(&mut self.inbox);
        let door = Door { seat: &self.seat, coming: Mutex::new(std::mem::take(&mut self.coming)) };
        let desk = Desk {
            forge: &door,
            source: &self.world,
            journal: &Nothing,
            policy: &self.policy,
            gates,
            keys: &self.keys,
            publishing: Publishing::Alone,
        };
        let played = block_on(turn(&desk, self.pull, &inbox));
        match played {
            Ok(played) => {
                self.story.turn(&played);
                self.last = Some(played);
            }
            Err(error) => self.story.happened(format!("no turn: {error}")),
        }
        self
    }

    /// The last turn.
    #[track_caller]
    pub fn last(&self) -> &Turn {
        self.last.as_ref().unwrap_or_else(|| panic!("no turn was played"))
    }

    /// Its last plan.
    #[track_caller]
    pub fn plan(&self) -> &Plan {
        &self.last().plan
    }

    /// The steps of the last turn as `explain` prints them, statuses left out, and what became of those that were not
    /// done. The writes count as looked at.
    #[track_caller]
    pub fn steps(&mut self) -> String {
        let _ = self.world.effects();
        self.story.steps(self.last())
    }

    /// All that `explain` prints of the last turn. The writes count as looked at.
    #[track_caller]
    pub fn lines(&mut self) -> String {
        let _ = self.world.effects();
        self.story.lines(self.last())
    }

    /// The whole story so far. The writes count as looked at.
    pub fn told(&mut self) -> String {
        let _ = self.world.effects();
        self.story.all().to_owned()
    }

    /// What happened so far is not what this test is about.
    pub fn given(&mut self) -> &mut Self {
        let _ = self.world.effects();
        self
    }

    /// What `decide` would see now.
    #[track_caller]
    pub fn snapshot(&self) -> Snapshot {
        let seen = self.world.fork();
        let fetched = block_on(self.seat.at(&seen).fetch(self.pull)).unwrap_or_else(|error| panic!("no pull: {error}"));
        gather(fetched, &seen, &self.inbox, &self.policy, &self.keys).unwrap_or_else(|error| panic!("{error}"))
    }

    /// What `decide` would say now.
    #[track_caller]
    pub fn decided(&self) -> Plan {
        decide(&self.snapshot(), &self.policy)
    }

    /// Reviews of the bot and of the roles' own identities, oldest first.
    #[track_caller]
    pub fn own_reviews(&self) -> Vec<Review> {
        let own = |review: &Review| {
            let login = review.author.login.as_ref();
            review.verdict().is_some()
                && login.is_some_and(|login| {
                    *login == bot() || self.policy.roles.iter().any(|role| role.identity.as_ref() == Some(login))
                })
        };
        self.snapshot().reviews.into_iter().filter(own).collect()
    }

    /// A finding's thread: the newest open one, else the newest.
    #[track_caller]
    pub fn thread(&self, finding: FindingId) -> Option<Thread> {
        let is = |thread: &Thread| {
            let tag = thread.root().and_then(|root| root.text.tag());
            tag.is_some_and(|tag| matches!(&tag.kind, TagKind::Root { finding: of, .. } if *of == finding))
        };
        let threads: Vec<Thread> = self.snapshot().threads.into_iter().filter(is).collect();
        let open = threads.iter().rfind(|thread| thread.resolved.is_none()).cloned();
        open.or_else(|| threads.last().cloned())
    }

    /// A finding's thread as people read it: one line a note, without what is hidden.
    #[track_caller]
    pub fn conversation(&self, finding: u64) -> String {
        let thread = self.thread(FindingId(finding)).unwrap_or_else(|| panic!("F{finding} has no thread"));
        super::story::conversation(&thread)
    }

    /// The bot's newest summary as people read it.
    #[track_caller]
    pub fn summary(&self) -> String {
        let own = self.own_reviews();
        super::story::visible(own.last().unwrap_or_else(|| panic!("there is no review")).text.words())
    }

    /// Comments of the bot as people read them, oldest first.
    #[track_caller]
    pub fn own_comments(&self) -> Vec<String> {
        let comments = self.snapshot().comments;
        let own = comments.iter().filter(|comment| comment.author.is(&bot()));
        own.map(|comment| super::story::visible(comment.text.words())).collect()
    }

    /// What stands on the pull in the end, as people read it.
    pub fn pages(&self) -> String {
        super::story::pages(&self.snapshot())
    }

    pub(super) fn review_text(&self, review: &ReviewId) -> String {
        let reviews = self.own_reviews();
        reviews.iter().find(|it| it.id == *review).map(|it| it.text.words().to_owned()).unwrap_or_default()
    }

    pub(super) fn happened(&mut self, what: String) {
        self.story.happened(what);
    }
}

impl fmt::Debug for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.story.all())
    }
}
