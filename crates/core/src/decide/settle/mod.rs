//! Answers of the fixing side to threads. Each answer is judged on its own, in this order:
//!
//! | rule | when | then |
//! |---|---|---|
//! | – | a precondition fails (`preconditions`) | everything below is shown as refused, with that reason |
//! | `named_twice` | two answers name one thread | both refused |
//! | `no_such_thread` | the pull has no such thread | refused |
//! | `not_triaged` | the stored triage does not name the thread | refused |
//! | – | the thread is closed, on the forge or by a mark in the root note | nothing: already done |
//! | – | otherwise | reply and resolution, each by the class table (`ruling`) |
//! | `template` | the reply template is broken | the built-in reply is sent |
//! | `claims` | the reply says that the thread is resolved | the built-in reply is sent |
//! | `mass_resolve` | more resolutions than `threads.max_resolve`, counting those of `threads` | no thread is resolved; a person decides (D9) |
//!
//! A reply does not wait for its resolution: it is sent although checks are missing (FIX-4).

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

/// The decision about all answers of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settlement {
    /// Steps per thread: the reply, then the resolution.
    pub steps: Vec<Step>,
    /// Steps that were considered and refused, with the reason.
    pub refused: Vec<Refusal>,
    pub outcomes: Vec<ThreadOutcome>,
    pub blocked: Option<BlockedSettlement>,
    /// Why no answer may be sent (FIX-3).
    pub failed_precondition: Option<Reason>,
}

/// Why a person must decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedSettlement {
    pub cause: BlockedCause,
    /// The rule and the threads concerned.
    pub why: Reason,
}

/// Decides about the answers of a snapshot, when nothing else is resolved in the run.
pub fn settle(snapshot: &Snapshot, policy: &Policy) -> Settlement {
    settle_with_others(snapshot, policy, 0)
}

/// Decides about the answers of a snapshot in a run that resolves `others` more threads.
pub(super) fn settle_with_others(snapshot: &Snapshot, policy: &Policy, others: usize) -> Settlement {
    let mut out = Settlement::default();
    if snapshot.evidence.answers.is_empty() {
        return out;
    }
    let failed = check_preconditions(snapshot, policy);
    let own = OwnIdentities::new(snapshot, policy);
    for answer in &snapshot.evidence.answers {
        let lookup = match find_thread(snapshot, answer) {
            // If a precondition about the triage failed, the triage does not limit which threads may be answered.
            ThreadLookup::Thread(thread)
                if failed.is_none() && !snapshot.evidence.detached && own.find_triage_item(thread).is_none() =>
            {
                ThreadLookup::Refused(Reason::new(Rule::NotTriaged).with_fact("the stored triage does not name it"))
            }
            lookup => lookup,
        };
        match lookup {
            ThreadLookup::Thread(thread) => out.answer_thread(&AnswerContext::new(snapshot, policy, answer, thread)),
            ThreadLookup::Refused(why) => out.add_refusal(format!("answer thread `{}`", answer.thread_id), why),
        }
    }
    out.cap_resolutions(policy.threads.max_resolve, others);
    if let Some(failed) = failed {
        out.withhold_steps(&failed);
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
    fn answer_thread(&mut self, context: &AnswerContext<'_>) {
        let thread = &context.thread.id;
        let mut outcome = ThreadOutcome {
            thread: thread.clone(),
            class: context.class,
            head: context.snapshot.pull.head.clone(),
            answers: context.latest_note.map(|note| note.id.clone()),
            reply: AnswerResult::Already,
            resolve: AnswerResult::Already,
        };
        if context.own.thread_closure(context.thread).is_none() {
            let reply = ruling::rule_on_reply(context);
            let (resolve, how) = ruling::rule_on_resolve(context, &reply);
            outcome.reply = self.add_reply(context, reply);
            outcome.resolve = self.add_resolution(context, resolve, how);
        }
        self.outcomes.push(outcome);
    }

    fn add_reply(&mut self, context: &AnswerContext<'_>, ruling: AnswerRuling) -> AnswerResult {
        let what = format!("reply in thread `{}`", context.thread.id);
        let result = ruling.result();
        match (ruling, context.latest_note) {
            (AnswerRuling::Allowed(why), Some(latest)) => {
                let (step, broken) = step::plan_reply(context, &latest.id, why);
                self.steps.push(step);
                if let Some(broken) = broken {
                    let why =
                        context.build_reason(Rule::Template).with_fact(broken).with_fact("the built-in reply is used");
                    self.add_refusal(format!("use the reply template in thread `{}`", context.thread.id), why);
                }
                if context.text.dropped_fields.contains(&"replyBody") {
                    let why =
                        context.build_reason(Rule::Claims).with_fact("replyBody says that the thread is resolved");
                    self.add_refusal(format!("use the answer's `replyBody` in thread `{}`", context.thread.id), why);
                }
            }
            (ruling, _) => self.add_ruling_refusal(what, ruling),
        }
        result
    }

    fn add_resolution(
        &mut self,
        context: &AnswerContext<'_>,
        ruling: AnswerRuling,
        how: ResolveMethod,
    ) -> AnswerResult {
        let result = ruling.result();
        match ruling {
            AnswerRuling::Allowed(why) => self.steps.push(step::plan_resolution(context, how, why)),
            AnswerRuling::NeedsPerson(why) => {
                self.ask_person(why.rule, format!("thread `{}`", context.thread.id));
                self.add_refusal(format!("resolve thread `{}`", context.thread.id), why);
            }
            ruling => self.add_ruling_refusal(format!("resolve thread `{}`", context.thread.id), ruling),
        }
        result
    }

    /// Refuses all resolutions above the limit (FIX-7). Keeping the first twenty would be arbitrary.
    fn cap_resolutions(&mut self, max: usize, others: usize) {
        let is_resolution = |step: &Step| matches!(step.action, Action::Resolve { .. });
        let planned = self.steps.iter().filter(|step| is_resolution(step)).count();
        let all = planned + others;
        if planned == 0 || all <= max {
            return;
        }
        let why =
            Reason::new(Rule::MassResolve).with_fact(format!("{all} resolutions, `threads.max_resolve` is {max}"));
        self.ask_person(why.rule, format!("{all} threads at once"));
        let (dropped, kept): (Vec<_>, Vec<_>) = self.steps.drain(..).partition(is_resolution);
        self.steps = kept;
        for step in dropped {
            self.add_refusal(describe_action(&step.action), why.clone());
        }
        for outcome in self.outcomes.iter_mut().filter(|outcome| outcome.resolve == AnswerResult::Planned) {
            outcome.resolve = AnswerResult::Refused;
        }
    }

    /// Turns every step into a refusal that shows the text of the reply (FIX-3).
    fn withhold_steps(&mut self, failed: &FailedPrecondition) {
        for step in std::mem::take(&mut self.steps) {
            let mut why = failed.why.clone();
            if let Action::Reply { text, .. } = &step.action {
                why = why.with_fact(format!("would say: {}", text.words.as_str()));
            }
            self.add_refusal(describe_action(&step.action), why);
        }
        for outcome in &mut self.outcomes {
            for result in [&mut outcome.reply, &mut outcome.resolve] {
                if *result == AnswerResult::Planned {
                    *result = AnswerResult::Refused;
                }
            }
        }
        self.failed_precondition = Some(failed.why.clone());
        self.refused.insert(0, Refusal { what: "answer threads".to_owned(), why: failed.why.clone() });
        if let Some(cause) = failed.cause {
            self.blocked = Some(BlockedSettlement { cause, why: failed.why.clone() });
        }
    }

    fn add_refusal(&mut self, what: String, why: Reason) {
        self.refused.push(Refusal { what, why });
    }

    fn add_ruling_refusal(&mut self, what: String, ruling: AnswerRuling) {
        match ruling {
            // Nothing was refused.
            AnswerRuling::Allowed(_) | AnswerRuling::AlreadyDone => {}
            AnswerRuling::NotPermitted(why) | AnswerRuling::NeedsPerson(why) | AnswerRuling::Refused(why) => {
                self.add_refusal(what, why)
            }
        }
    }

    /// Records that a person must decide. The first rule gives the reason; every call adds a fact.
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
