//! Answers to threads, by the fixing side. Each answer is looked at alone, in this order:
//!
//! | # | when | then |
//! |---|---|---|
//! | 1 | something bars every answer (`bar`) | whatever follows is shown as refused, with that reason |
//! | 2 | two answers name one thread | both refused |
//! | 3 | the pull has no such thread | refused |
//! | 4 | the stored triage does not name it, and it is to be looked at | refused |
//! | 5 | the thread is closed, on the forge or in the own root's text | nothing: already so |
//! | 6 | else | reply and resolution, each by the class table (`class`) |
//! | 7 | more resolutions than `threads.max_resolve`, those of `threads` among them | none is planned; a person decides (D9) |
//!
//! Replies do not wait for resolutions: what may be said is said although checks are missing (FIX-4).

mod bar;
mod case;
mod class;
mod outcome;
mod step;

use bar::{Bar, bar};
use case::Case;
use class::{How, Ruling};

pub use outcome::{Fate, KEPT, ThreadOutcome, keep};

use crate::model::{Answer, Snapshot, Thread};
use crate::plan::{Action, Cause, Reason, Refusal, Step};
use crate::policy::Policy;
use crate::triage::Own;

/// What becomes of the answers that came in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settlement {
    /// What to do: per thread the reply, then the resolution.
    pub steps: Vec<Step>,
    /// What was considered and not done.
    pub refused: Vec<Refusal>,
    /// What became of each answer.
    pub outcomes: Vec<ThreadOutcome>,
    /// Why a person must decide.
    pub blocked: Option<Blocked>,
    /// Why nothing at all may be sent (FIX-3).
    pub barred: Option<Reason>,
}

/// Why a person must decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// In a word.
    pub cause: Cause,
    /// By which rule, about which threads.
    pub why: Reason,
}

/// The table above, where nothing else is resolved.
pub fn settle(snapshot: &Snapshot, policy: &Policy) -> Settlement {
    settle_beside(snapshot, policy, 0)
}

/// The table above, in a run that resolves so many other threads.
pub(super) fn settle_beside(snapshot: &Snapshot, policy: &Policy, others: usize) -> Settlement {
    let mut out = Settlement::default();
    if snapshot.evidence.answers.is_empty() {
        return out;
    }
    let bar = bar(snapshot, policy);
    let own = Own::of(snapshot, policy);
    for answer in &snapshot.evidence.answers {
        let found = match find(snapshot, answer) {
            // A barred triage has no say in which threads may be named.
            Found::Thread(thread) if bar.is_none() && !snapshot.evidence.detached && own.triaged(thread).is_none() => {
                Found::Not(Reason::new("not_triaged").fact("the stored triage does not name it"))
            }
            found => found,
        };
        match found {
            Found::Thread(thread) => out.answer(&Case::new(snapshot, policy, answer, thread)),
            Found::Not(why) => out.refuse(format!("answer thread `{}`", answer.thread_id), why),
        }
    }
    out.cap(policy.threads.max_resolve, others);
    if let Some(bar) = bar {
        out.withhold(&bar);
    }
    out
}

enum Found<'a> {
    Thread(&'a Thread),
    Not(Reason),
}

fn find<'a>(snapshot: &'a Snapshot, answer: &Answer) -> Found<'a> {
    let named = snapshot.evidence.answers.iter().filter(|other| other.thread_id == answer.thread_id).count();
    if named > 1 {
        return Found::Not(Reason::new("named_twice").fact(format!("{named} answers name it")));
    }
    match snapshot.threads.iter().find(|thread| thread.id == answer.thread_id) {
        Some(thread) => Found::Thread(thread),
        None => Found::Not(Reason::new("no_such_thread").fact(format!("{} has no such thread", snapshot.pull.number))),
    }
}

impl Settlement {
    fn answer(&mut self, case: &Case<'_>) {
        let thread = &case.thread.id;
        let mut outcome = ThreadOutcome {
            thread: thread.clone(),
            class: case.class,
            head: case.snapshot.pull.head.clone(),
            answers: case.latest.map(|note| note.id.clone()),
            reply: Fate::Already,
            resolve: Fate::Already,
        };
        if case.own.closed(case.thread).is_none() {
            let reply = class::reply(case);
            let (resolve, how) = class::resolve(case, &reply);
            outcome.reply = self.reply(case, reply);
            outcome.resolve = self.resolve(case, resolve, how);
        }
        self.outcomes.push(outcome);
    }

    fn reply(&mut self, case: &Case<'_>, ruling: Ruling) -> Fate {
        let what = format!("reply in thread `{}`", case.thread.id);
        let fate = ruling.fate();
        match (ruling, case.latest) {
            (Ruling::Yes(why), Some(latest)) => {
                let (step, broken) = step::reply(case, &latest.id, why);
                self.steps.push(step);
                if let Some(broken) = broken {
                    let why = case.reason("template").fact(broken).fact("the built-in words are used");
                    self.refuse(format!("use the reply template in thread `{}`", case.thread.id), why);
                }
                if case.said.unsaid.contains(&"replyBody") {
                    let why = case.reason("claims").fact("replyBody says that the thread is resolved");
                    self.refuse(format!("use the answer's own words in thread `{}`", case.thread.id), why);
                }
            }
            (ruling, _) => self.refuse_for(what, ruling),
        }
        fate
    }

    fn resolve(&mut self, case: &Case<'_>, ruling: Ruling, how: How) -> Fate {
        let fate = ruling.fate();
        match ruling {
            Ruling::Yes(why) => self.steps.push(step::resolve(case, how, why)),
            Ruling::Person(why) => {
                self.ask(&why.rule, format!("thread `{}`", case.thread.id));
                self.refuse(format!("resolve thread `{}`", case.thread.id), why);
            }
            ruling => self.refuse_for(format!("resolve thread `{}`", case.thread.id), ruling),
        }
        fate
    }

    /// Nothing is mass-resolved (FIX-7): the first twenty of a thousand would be as wrong as all of them.
    fn cap(&mut self, most: usize, others: usize) {
        let is_resolution = |step: &Step| matches!(step.action, Action::Resolve { .. });
        let planned = self.steps.iter().filter(|step| is_resolution(step)).count();
        let all = planned + others;
        if planned == 0 || all <= most {
            return;
        }
        let why = Reason::new("mass_resolve").fact(format!("{all} resolutions, `threads.max_resolve` is {most}"));
        self.ask(&why.rule, format!("{all} threads at once"));
        let (out, kept): (Vec<_>, Vec<_>) = self.steps.drain(..).partition(is_resolution);
        self.steps = kept;
        for step in out {
            self.refuse(what(&step.action), why.clone());
        }
        for outcome in self.outcomes.iter_mut().filter(|outcome| outcome.resolve == Fate::Planned) {
            outcome.resolve = Fate::Refused;
        }
    }

    /// Turns every step into a refusal that shows what would have been said (FIX-3).
    fn withhold(&mut self, bar: &Bar) {
        for step in std::mem::take(&mut self.steps) {
            let mut why = bar.why.clone();
            if let Action::Reply { text, .. } = &step.action {
                why = why.fact(format!("would say: {}", text.words.as_str()));
            }
            self.refuse(what(&step.action), why);
        }
        for outcome in &mut self.outcomes {
            for fate in [&mut outcome.reply, &mut outcome.resolve] {
                if *fate == Fate::Planned {
                    *fate = Fate::Refused;
                }
            }
        }
        self.barred = Some(bar.why.clone());
        self.refused.insert(0, Refusal { what: "answer threads".to_owned(), why: bar.why.clone() });
        if let Some(cause) = bar.cause {
            self.blocked = Some(Blocked { cause, why: bar.why.clone() });
        }
    }

    fn refuse(&mut self, what: String, why: Reason) {
        self.refused.push(Refusal { what, why });
    }

    fn refuse_for(&mut self, what: String, ruling: Ruling) {
        match ruling {
            // What is so already was not refused.
            Ruling::Yes(_) | Ruling::Already => {}
            Ruling::NotPermitted(why) | Ruling::Person(why) | Ruling::No(why) => self.refuse(what, why),
        }
    }

    /// The first rule that asks a person names the reason; all of them give facts.
    fn ask(&mut self, rule: &str, fact: String) {
        let why = match self.blocked.take() {
            Some(blocked) => blocked.why,
            None => Reason::new(rule),
        };
        self.blocked = Some(Blocked { cause: Cause::NeedsHuman, why: why.fact(fact) });
    }
}

fn what(action: &Action) -> String {
    match action {
        Action::Reply { thread, .. } => format!("reply in thread `{thread}`"),
        Action::Resolve { thread, .. } => format!("resolve thread `{thread}`"),
        other => other.name().to_owned(),
    }
}
