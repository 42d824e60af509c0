//! A model of matrix mode, checked exhaustively: two to four roles on one identity, each in its own process, posting with a
//! crash, a lost response, a stale read and a claim taken over at any call (PUB-8, D3, D5, D6, D19).
//!
//! The processes decide by the real publishing table. A naive variant, which posts the approval and reads the siblings
//! afterwards, must fail the check.

use referee_core::decide::publish::{
    IdentityContext, PublishAction, PublishInput, StandingVerdict, StandingWeight, decide_for_identity,
};
use referee_core::model::Verdict::{self, Approve, Comment, RequestChanges};
use referee_core::policy::ApprovalMode;
use stateright::{Checker, Model, Property};

/// A review on the forge. `own` and `enforced` are the verdicts in its Mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ModelReview {
    role: usize,
    form: Verdict,
    own: Verdict,
    enforced: Verdict,
    /// Whether its Mark names the current head.
    at_head: bool,
    /// Whether it was posted at the current head.
    posted_at_head: bool,
    superseded: bool,
}

/// The forge: reviews in the order of their posting, and the number of writes so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct ModelForge {
    reviews: Vec<ModelReview>,
    writes: usize,
}

impl ModelForge {
    /// Returns the newest verdict of the identity, which is the one that counts on the forge.
    fn newest(&self) -> Option<Verdict> {
        self.reviews.iter().rev().map(|review| review.form).find(|form| *form != Comment)
    }

    fn standing(&self, role: usize) -> Option<&ModelReview> {
        self.reviews.iter().rev().find(|review| review.role == role && !review.superseded)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Write {
    Post {
        role: usize,
        form: Verdict,
        own: Verdict,
        enforced: Verdict,
        at_head: bool,
    },
    /// Applies only if the text is still the one that was planned on: the adapter reads it before every edit (PUB-9).
    Edit {
        row: usize,
        seen: ModelReview,
        now: ModelReview,
    },
    Supersede {
        row: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ProcessStage {
    /// Waits for the claim.
    Starting,
    /// Acquired the claim; the read comes next.
    Reading,
    /// Performs its planned writes.
    Writing {
        writes: Vec<Write>,
    },
    /// Reads again after writing; a view must include its own last write.
    Checking {
        own_write: usize,
    },
    /// Ended early; restarts once.
    Crashed,
    Ended,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Process {
    stage: ProcessStage,
    restarted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ModelState {
    forge: ModelForge,
    /// The view of a stale read: the forge before its last write.
    before: ModelForge,
    processes: Vec<Process>,
    holder: Option<usize>,
    crashes: u8,
    lost: u8,
    stale: u8,
    taken: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Claim(usize),
    /// The claim expired while its holder was still at work.
    TakeOver(usize),
    Read(usize),
    ReadStale(usize),
    Write(usize),
    /// The write succeeds, but its response is lost.
    WriteAndLose(usize),
    Crash(usize),
    Restart(usize),
}

/// The maximum number of each fault.
#[derive(Clone, Copy, Debug)]
struct FaultBounds {
    crashes: u8,
    lost: u8,
    stale: u8,
    taken: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlanVariant {
    /// Decides by the publishing table.
    Referee,
    /// Supersedes before posting, and reads the siblings only after an approval.
    Naive,
}

struct PublishModel {
    verdicts: Vec<Vec<Verdict>>,
    faults: FaultBounds,
    variant: PlanVariant,
    approve: ApprovalMode,
    roles: usize,
}

/// A model state with the roles' own verdicts, so that one run checks all combinations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ModelCase {
    own: Vec<Verdict>,
    state: ModelState,
}

impl Model for PublishModel {
    type State = ModelCase;
    type Action = Step;

    fn init_states(&self) -> Vec<ModelCase> {
        let process = Process { stage: ProcessStage::Starting, restarted: false };
        let state = ModelState {
            forge: ModelForge::default(),
            before: ModelForge::default(),
            processes: vec![process; self.roles],
            holder: None,
            crashes: 0,
            lost: 0,
            stale: 0,
            taken: 0,
        };
        let mut cases = Vec::new();
        for own in &self.verdicts {
            for earlier in [None, Some(Comment), Some(Approve), Some(RequestChanges)] {
                let mut case = ModelCase { own: own.clone(), state: state.clone() };
                // The reviews of every role at an earlier head.
                case.state.forge.reviews = earlier.map_or_else(Vec::new, |form| {
                    let (own, enforced) = (form, form);
                    let earlier = ModelReview {
                        role: 0,
                        form,
                        own,
                        enforced,
                        at_head: false,
                        posted_at_head: false,
                        superseded: false,
                    };
                    (0..self.roles).map(|role| ModelReview { role, ..earlier }).collect()
                });
                case.state.before = case.state.forge.clone();
                cases.push(case);
            }
        }
        cases
    }

    fn actions(&self, case: &ModelCase, actions: &mut Vec<Step>) {
        let state = &case.state;
        for (at, process) in state.processes.iter().enumerate() {
            let is_running = !matches!(process.stage, ProcessStage::Ended | ProcessStage::Crashed);
            match &process.stage {
                ProcessStage::Starting if state.holder.is_none() => actions.push(Step::Claim(at)),
                ProcessStage::Starting if state.taken < self.faults.taken => actions.push(Step::TakeOver(at)),
                ProcessStage::Reading => {
                    actions.push(Step::Read(at));
                    // A restart comes later than a forge lags, so a restarted process reads no stale view.
                    if state.stale < self.faults.stale && !process.restarted {
                        actions.push(Step::ReadStale(at));
                    }
                }
                ProcessStage::Writing { .. } => {
                    actions.push(Step::Write(at));
                    if state.lost < self.faults.lost && !process.restarted {
                        actions.push(Step::WriteAndLose(at));
                    }
                }
                ProcessStage::Checking { own_write } => {
                    actions.push(Step::Read(at));
                    let is_accepted = *own_write <= state.before.writes || self.variant == PlanVariant::Naive;
                    if state.stale < self.faults.stale && is_accepted {
                        actions.push(Step::ReadStale(at));
                    }
                }
                ProcessStage::Crashed => actions.push(Step::Restart(at)),
                ProcessStage::Starting | ProcessStage::Ended => {}
            }
            if is_running && state.crashes < self.faults.crashes && !process.restarted {
                actions.push(Step::Crash(at));
            }
        }
    }

    fn next_state(&self, last: &ModelCase, step: Step) -> Option<ModelCase> {
        let mut case = last.clone();
        let own = case.own.clone();
        let state = &mut case.state;
        match step {
            Step::Claim(at) | Step::TakeOver(at) => {
                state.taken += u8::from(matches!(step, Step::TakeOver(_)));
                state.holder = Some(at);
                state.processes[at].stage = ProcessStage::Reading;
            }
            Step::Read(at) => {
                let view = state.forge.clone();
                self.plan(state, at, &view, &own);
            }
            Step::ReadStale(at) => {
                state.stale += 1;
                let view = state.before.clone();
                self.plan(state, at, &view, &own);
            }
            Step::Write(at) => self.write(state, at),
            Step::WriteAndLose(at) => {
                state.lost += 1;
                self.write(state, at);
                crash_process(state, at);
            }
            Step::Crash(at) => {
                state.crashes += 1;
                crash_process(state, at);
            }
            Step::Restart(at) => {
                state.processes[at] = Process { stage: ProcessStage::Starting, restarted: true };
            }
        }
        Some(case)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no approval counts while a sibling's own verdict blocks", |_, case: &ModelCase| {
                let blocks = case.own.contains(&RequestChanges);
                let done = case.state.processes.iter().all(|process| process.stage == ProcessStage::Ended);
                !(done && blocks && case.state.forge.newest() == Some(Approve))
            }),
            Property::always("an approval counts only if every role approves, at any moment", |_, case: &ModelCase| {
                let last = case.state.forge.reviews.iter().rev().find(|review| review.form != Comment);
                !last.is_some_and(|review| review.form == Approve && review.posted_at_head)
                    || case.own.iter().all(|own| *own == Approve)
            }),
            Property::always("a block counts once every process has ended", |_, case: &ModelCase| {
                let blocks = case.own.contains(&RequestChanges);
                let done = case.state.processes.iter().all(|process| process.stage == ProcessStage::Ended);
                !(done && blocks) || case.state.forge.newest() == Some(RequestChanges)
            }),
            Property::always(
                "if every role approves, no role stays escalated or waiting",
                |model, case: &ModelCase| {
                    let done = case.state.processes.iter().all(|process| process.stage == ProcessStage::Ended);
                    let all = case.own.iter().all(|own| *own == Approve);
                    let released =
                        |role| case.state.forge.standing(role).is_some_and(|review| review.enforced == Approve);
                    !(done && all)
                        || ((0..model.roles).all(released) && case.state.forge.newest() != Some(RequestChanges))
                },
            ),
            Property::sometimes("every process ends", |_, case: &ModelCase| {
                case.state.processes.iter().all(|process| process.stage == ProcessStage::Ended)
            }),
        ]
    }
}

fn crash_process(state: &mut ModelState, at: usize) {
    state.processes[at].stage = ProcessStage::Crashed;
    // The claim expires, so the next process finds it free.
    if state.holder == Some(at) {
        state.holder = None;
    }
}

impl PublishModel {
    /// Plans the writes for a view, or ends the process if there are none.
    fn plan(&self, state: &mut ModelState, at: usize, view: &ModelForge, own: &[Verdict]) {
        let writes = match self.variant {
            PlanVariant::Referee => self.plan_by_table(at, view, own),
            PlanVariant::Naive => self.plan_naively(at, view, own),
        };
        if !writes.is_empty() {
            state.processes[at].stage = ProcessStage::Writing { writes };
            return;
        }
        state.processes[at].stage = ProcessStage::Ended;
        if state.holder == Some(at) {
            state.holder = None;
        }
    }

    /// Plans for all roles in the view, including the process's own.
    fn plan_by_table(&self, at: usize, view: &ModelForge, own: &[Verdict]) -> Vec<Write> {
        let inputs: Vec<PublishInput> = (0..self.roles)
            .map(|role| {
                let standing = view.standing(role);
                let current = role == at || standing.is_some_and(|review| review.at_head);
                let own_verdict = if role == at { Some(own[at]) } else { standing.map(|review| review.own) };
                PublishInput {
                    // A block at an earlier head still blocks; any other verdict at an earlier head does not count for this one.
                    own_verdict: own_verdict.map(|own| if current || own == RequestChanges { own } else { Comment }),
                    may_block: true,
                    is_current: current,
                    standing: standing
                        .map(|review| StandingVerdict { posted_as: review.form, weight: weight(view, review) }),
                    has_unread_approval: false,
                }
            })
            .collect();
        let context = IdentityContext {
            newest_verdict: view.newest(),
            approve: self.approve,
            can_post_verdicts: true,
            must_wait: inputs.iter().any(|input| !input.is_current),
            glass_broken: false,
            review_requested: false,
        };
        let (mut blocks, mut rest) = (Vec::new(), Vec::new());
        for (role, (row, input)) in decide_for_identity(&inputs, &context).iter().zip(&inputs).enumerate() {
            let (Some(own), enforced) = (input.own_verdict, row.enforced) else { continue };
            let list_index = |form| if form == RequestChanges { 0 } else { 1 };
            let lists = [&mut blocks, &mut rest];
            match row.action {
                PublishAction::Silent => {}
                PublishAction::Keep => {
                    let Some(seen) = view.standing(role).copied() else { continue };
                    let evaluated = if input.is_current { (own, true) } else { (seen.own, false) };
                    let now = ModelReview { enforced, own: evaluated.0, at_head: evaluated.1, ..seen };
                    if now != seen {
                        rest.push(Write::Edit { row: standing_index(view, role), seen, now });
                    }
                }
                PublishAction::Post(form) => {
                    let [first, second] = lists;
                    [first, second][list_index(form)].push(Write::Post {
                        role,
                        form,
                        own,
                        enforced,
                        at_head: input.is_current,
                    });
                }
                PublishAction::PostAndSupersede(form) => {
                    let [first, second] = lists;
                    [first, second][list_index(form)].push(Write::Post {
                        role,
                        form,
                        own,
                        enforced,
                        at_head: input.is_current,
                    });
                    rest.push(Write::Supersede { row: standing_index(view, role) });
                }
            }
        }
        blocks.extend(rest);
        blocks
    }

    /// Plans naively: only for its own role. The posted form of a sibling escalates, an approval is posted before the siblings
    /// are read, and the old review is superseded before the block is posted.
    fn plan_naively(&self, at: usize, view: &ModelForge, own: &[Verdict]) -> Vec<Write> {
        let sibling_blocks = (0..self.roles)
            .any(|role| role != at && view.standing(role).is_some_and(|review| review.form == RequestChanges));
        let enforced = if sibling_blocks { RequestChanges } else { own[at] };
        let post = |form| Write::Post { role: at, form, own: own[at], enforced: form, at_head: true };
        match view.standing(at) {
            None => vec![post(own[at])],
            Some(review) if review.form == enforced => Vec::new(),
            Some(_) if enforced == RequestChanges => {
                vec![Write::Supersede { row: standing_index(view, at) }, post(enforced)]
            }
            Some(_) => vec![post(enforced)],
        }
    }

    fn write(&self, state: &mut ModelState, at: usize) {
        let ProcessStage::Writing { writes } = &mut state.processes[at].stage else { return };
        let write = writes.remove(0);
        let is_last = writes.is_empty();
        state.before = state.forge.clone();
        let forge = &mut state.forge;
        forge.writes += 1;
        match write {
            Write::Post { role, form, own, enforced, at_head } => {
                forge.reviews.push(ModelReview {
                    role,
                    form,
                    own,
                    enforced,
                    at_head,
                    posted_at_head: true,
                    superseded: false,
                });
            }
            Write::Edit { row, seen, now } => {
                if forge.reviews[row] != seen {
                    state.processes[at].stage = ProcessStage::Reading;
                    return;
                }
                forge.reviews[row] = now;
            }
            Write::Supersede { row } => forge.reviews[row].superseded = true,
        }
        let own_write = forge.writes;
        if is_last {
            state.processes[at].stage = ProcessStage::Checking { own_write };
        }
    }
}

fn standing_index(view: &ModelForge, role: usize) -> usize {
    view.reviews.iter().rposition(|review| review.role == role && !review.superseded).unwrap_or(0)
}

/// Returns the weight of a review: every new verdict removes the weight of the user's older ones.
fn weight(view: &ModelForge, review: &ModelReview) -> StandingWeight {
    if review.form == Comment {
        return StandingWeight::NeverCounted;
    }
    let last = view.reviews.iter().rposition(|other| other.form != Comment);
    let this = view.reviews.iter().rposition(|other| other == review);
    if last == this { StandingWeight::Counts } else { StandingWeight::Replaced }
}

fn all_verdicts(roles: usize) -> Vec<Vec<Verdict>> {
    (0..1_usize << roles)
        .map(|bits| (0..roles).map(|role| if bits >> role & 1 == 0 { Approve } else { RequestChanges }).collect())
        .collect()
}

fn run_checker(
    roles: usize,
    approve: ApprovalMode,
    faults: FaultBounds,
    variant: PlanVariant,
) -> impl Checker<PublishModel> {
    PublishModel { verdicts: all_verdicts(roles), faults, variant, approve, roles }.checker().spawn_bfs().join()
}

const NONE: FaultBounds = FaultBounds { crashes: 0, lost: 0, stale: 0, taken: 0 };

// spec: PUB-8, LOOP-10, D3, D5, D6, D19 @core
#[test]
#[expect(clippy::print_stdout, reason = "the number of states is part of the proof")]
fn no_order_of_processes_leaves_an_approval_beside_a_block() {
    let all_faults = FaultBounds { crashes: 1, lost: 1, stale: 1, taken: 1 };
    let (crash, lost) = (FaultBounds { crashes: 1, ..NONE }, FaultBounds { lost: 1, ..NONE });
    let overlap = FaultBounds { stale: 1, taken: 1, ..NONE };
    for approve in [ApprovalMode::On, ApprovalMode::Lift] {
        let mut checks = vec![(2, all_faults), (3, crash), (3, lost), (3, overlap), (4, NONE), (4, crash)];
        if std::env::var("REFEREE_SCALE").is_ok_and(|scale| scale == "10") {
            checks.extend([(3, all_faults), (4, lost), (4, overlap)]);
        }
        for (roles, faults) in checks {
            let checker = run_checker(roles, approve, faults, PlanVariant::Referee);
            println!("{roles} roles, approve {approve:?}, {faults:?}: {} states", checker.unique_state_count());
            checker.assert_properties();
        }
    }
}

#[test]
fn the_naive_plan_fails_the_same_check() {
    let checker =
        run_checker(2, ApprovalMode::On, FaultBounds { crashes: 1, stale: 1, taken: 1, ..NONE }, PlanVariant::Naive);
    for property in [
        "an approval counts only if every role approves, at any moment",
        "no approval counts while a sibling's own verdict blocks",
        "if every role approves, no role stays escalated or waiting",
    ] {
        assert!(checker.discovery(property).is_some(), "the check must be able to fail: {property}");
    }
}
