//! Answers to threads, by the fixing side. Each answer is judged alone, in this order:
//!
//! | rule | when | then |
//! |---|---|---|
//! | – | a precondition fails (`preconditions`) | what follows is shown as refused, with that reason |
//! | `named_twice` | two answers name one thread | both refused |
//! | `no_such_thread` | the pull has no such thread | refused |
//! | `not_triaged` | the stored triage does not name the thread | refused |
//! | – | the thread is closed, on the forge or in the own root's text | nothing: already so |
//! | – | none of these | reply and resolution, each by the class table (`ruling`) |
//! | `template` | the reply template is broken | the built-in reply is sent |
//! | `claims` | the reply says that the thread is resolved | the built-in reply is sent |
//! | `mass_resolve` | more resolutions than `threads.max_resolve`, those of `threads` included | no thread is resolved; a person decides (D9) |
//!
//! Replies do not wait for resolutions: a reply is sent although checks are missing (FIX-4).

mod answer_context;
mod outcome;
mod preconditions;
mod ruling;
mod step;

use answer_context::AnswerContext;
use preconditions::{FailedPrecondition, check_preconditions};
use ruling::{AnswerRuling, ResolveMethod};

pub use outcome::{AnswerResult, MAX_STORED_OUTCOMES, ThreadOutcome, append_outcomes};

use crate::model::{Answer, Snapshot, Thread};
use crate::plan::{Action, BlockedCause, Reason, Refusal, Step};
use crate::policy::Policy;
use crate::rule::Rule;
use crate::triage::OwnIdentities;

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
    pub blocked: Option<BlockedSettlement>,
    /// Why nothing at all may be sent (FIX-3).
    pub failed_precondition: Option<Reason>,
}

/// Why a person must decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedSettlement {
    /// In a word.
    pub cause: BlockedCause,
    /// By which rule, about which threads.
    pub why: Reason,
}

/// The table above, where nothing else is resolved.
pub fn settle(snapshot: &Snapshot, policy: &Policy) -> Settlement {
    settle_with_others(snapshot, policy, 0)
}

/// The table above, in a run that resolves so many other threads.
pub(super) fn settle_with_others(snapshot: &Snapshot, policy: &Policy, others: usize) -> Settlement {
    let mut out = Settlement::default();
    if snapshot.evidence.answers.is_empty() {
        return out;
    }
    let bar = check_preconditions(snapshot, policy);
    let own = OwnIdentities::new(snapshot, policy);
    for answer in &snapshot.evidence.answers {
        let found = match find_thread(snapshot, answer) {
            // A barred triage has no say in which threads may be named.
            ThreadLookup::Thread(thread)
                if bar.is_none() && !snapshot.evidence.detached && own.find_triage_item(thread).is_none() =>
            {
                ThreadLookup::Refused(Reason::new(Rule::NotTriaged).with_fact("the stored triage does not name it"))
            }
            found => found,
        };
        match found {
            ThreadLookup::Thread(thread) => out.answer_thread(&AnswerContext::new(snapshot, policy, answer, thread)),
            ThreadLookup::Refused(why) => out.add_refusal(format!("answer thread `{}`", answer.thread_id), why),
        }
    }
    out.cap_resolutions(policy.threads.max_resolve, others);
    if let Some(bar) = bar {
        out.withhold_steps(&bar);
    }
    out
}

enum ThreadLookup<'a> {
    Thread(&'a Thread),
    Refused(Reason),
}

fn find_thread<'a>(snapshot: &'a Snapshot, answer: &Answer) -> ThreadLookup<'a> {
    let named = snapshot.evidence.answers.iter().filter(|other| other.thread_id == answer.thread_id).count();
    if named > 1 {
        return ThreadLookup::Refused(Reason::new(Rule::NamedTwice).with_fact(format!("{named} answers name it")));
    }
    match snapshot.threads.iter().find(|thread| thread.id == answer.thread_id) {
        Some(thread) => ThreadLookup::Thread(thread),
        None => ThreadLookup::Refused(
            Reason::new(Rule::NoSuchThread).with_fact(format!("{} has no such thread", snapshot.pull.number)),
        ),
    }
}

impl Settlement {
    fn answer_thread(&mut self, case: &AnswerContext<'_>) {
        let thread = &case.thread.id;
        let mut outcome = ThreadOutcome {
            thread: thread.clone(),
            class: case.class,
            head: case.snapshot.pull.head.clone(),
            answers: case.latest_note.map(|note| note.id.clone()),
            reply: AnswerResult::Already,
            resolve: AnswerResult::Already,
        };
        if case.own.thread_closure(case.thread).is_none() {
            let reply = ruling::rule_on_reply(case);
            let (resolve, how) = ruling::rule_on_resolve(case, &reply);
            outcome.reply = self.add_reply(case, reply);
            outcome.resolve = self.add_resolution(case, resolve, how);
        }
        self.outcomes.push(outcome);
    }

    fn add_reply(&mut self, case: &AnswerContext<'_>, ruling: AnswerRuling) -> AnswerResult {
        let what = format!("reply in thread `{}`", case.thread.id);
        let fate = ruling.fate();
        match (ruling, case.latest_note) {
            (AnswerRuling::Allowed(why), Some(latest)) => {
                let (step, broken) = step::plan_reply(case, &latest.id, why);
                self.steps.push(step);
                if let Some(broken) = broken {
                    let why =
                        case.build_reason(Rule::Template).with_fact(broken).with_fact("the built-in words are used");
                    self.add_refusal(format!("use the reply template in thread `{}`", case.thread.id), why);
                }
                if case.text.dropped_fields.contains(&"replyBody") {
                    let why = case.build_reason(Rule::Claims).with_fact("replyBody says that the thread is resolved");
                    self.add_refusal(format!("use the answer's own words in thread `{}`", case.thread.id), why);
                }
            }
            (ruling, _) => self.add_ruling_refusal(what, ruling),
        }
        fate
    }

    fn add_resolution(&mut self, case: &AnswerContext<'_>, ruling: AnswerRuling, how: ResolveMethod) -> AnswerResult {
        let fate = ruling.fate();
        match ruling {
            AnswerRuling::Allowed(why) => self.steps.push(step::plan_resolution(case, how, why)),
            AnswerRuling::NeedsPerson(why) => {
                self.ask_person(why.rule, format!("thread `{}`", case.thread.id));
                self.add_refusal(format!("resolve thread `{}`", case.thread.id), why);
            }
            ruling => self.add_ruling_refusal(format!("resolve thread `{}`", case.thread.id), ruling),
        }
        fate
    }

    /// Nothing is mass-resolved (FIX-7): the first twenty of a thousand would be as wrong as all of them.
    fn cap_resolutions(&mut self, most: usize, others: usize) {
        let is_resolution = |step: &Step| matches!(step.action, Action::Resolve { .. });
        let planned = self.steps.iter().filter(|step| is_resolution(step)).count();
        let all = planned + others;
        if planned == 0 || all <= most {
            return;
        }
        let why =
            Reason::new(Rule::MassResolve).with_fact(format!("{all} resolutions, `threads.max_resolve` is {most}"));
        self.ask_person(why.rule, format!("{all} threads at once"));
        let (out, kept): (Vec<_>, Vec<_>) = self.steps.drain(..).partition(is_resolution);
        self.steps = kept;
        for step in out {
            self.add_refusal(describe_action(&step.action), why.clone());
        }
        for outcome in self.outcomes.iter_mut().filter(|outcome| outcome.resolve == AnswerResult::Planned) {
            outcome.resolve = AnswerResult::Refused;
        }
    }

    /// Turns every step into a refusal that shows what would have been said (FIX-3).
    fn withhold_steps(&mut self, bar: &FailedPrecondition) {
        for step in std::mem::take(&mut self.steps) {
            let mut why = bar.why.clone();
            if let Action::Reply { text, .. } = &step.action {
                why = why.with_fact(format!("would say: {}", text.words.as_str()));
            }
            self.add_refusal(describe_action(&step.action), why);
        }
        for outcome in &mut self.outcomes {
            for fate in [&mut outcome.reply, &mut outcome.resolve] {
                if *fate == AnswerResult::Planned {
                    *fate = AnswerResult::Refused;
                }
            }
        }
        self.failed_precondition = Some(bar.why.clone());
        self.refused.insert(0, Refusal { what: "answer threads".to_owned(), why: bar.why.clone() });
        if let Some(cause) = bar.cause {
            self.blocked = Some(BlockedSettlement { cause, why: bar.why.clone() });
        }
    }

    fn add_refusal(&mut self, what: String, why: Reason) {
        self.refused.push(Refusal { what, why });
    }

    fn add_ruling_refusal(&mut self, what: String, ruling: AnswerRuling) {
        match ruling {
            // What is so already was not refused.
            AnswerRuling::Allowed(_) | AnswerRuling::AlreadyDone => {}
            AnswerRuling::NotPermitted(why) | AnswerRuling::NeedsPerson(why) | AnswerRuling::Refused(why) => {
                self.add_refusal(what, why)
            }
        }
    }

    /// The first rule that asks a person names the reason; all of them give facts.
    fn ask_person(&mut self, rule: Rule, fact: String) {
        let why = match self.blocked.take() {
            Some(blocked) => blocked.why,
            None => Reason::new(rule),
        };
        self.blocked = Some(BlockedSettlement { cause: BlockedCause::NeedsHuman, why: why.with_fact(fact) });
    }
}

fn describe_action(action: &Action) -> String {
    match action {
        Action::Reply { thread, .. } => format!("reply in thread `{thread}`"),
        Action::Resolve { thread, .. } => format!("resolve thread `{thread}`"),
        other => other.name().to_owned(),
    }
}
