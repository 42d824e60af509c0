//! Matrix mode, checked exhaustively: two to four roles on one identity, each its own process, posting with a crash, a
//! lost reply, a stale read and a claim taken over at any call (PUB-8, D3, D5, D6, D19).
//!
//! The processes decide by the publishing table itself. The twin decides as the source documents do: post the approval,
//! then look at the siblings; and it must fail.

use referee_core::decide::publish::{
    IdentityContext, PublishAction, PublishInput, StandingVerdict, StandingWeight, decide_for_identity,
};
use referee_core::model::Verdict::{self, Approve, Comment, RequestChanges};
use referee_core::policy::ApprovalMode as Setting;
use stateright::{Checker, Model, Property};

/// One review on the forge. `own` and `enforced` are what its Mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Review {
    role: usize,
    form: Verdict,
    own: Verdict,
    enforced: Verdict,
    /// Its Mark is of this head; otherwise it is left from an earlier one.
    at_head: bool,
    /// It was posted at this head, whatever its Mark says since.
    here: bool,
    superseded: bool,
}

/// The forge: rows in the order they were posted, and how many writes it has taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Forge {
    reviews: Vec<Review>,
    writes: usize,
}

impl Forge {
    /// The newest verdict of the identity is what the forge goes by.
    fn newest(&self) -> Option<Verdict> {
        self.reviews.iter().rev().map(|review| review.form).find(|form| *form != Comment)
    }

    fn standing(&self, role: usize) -> Option<&Review> {
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
    /// Written only over the text that was planned on: the adapter reads it before every edit (PUB-9).
    Edit {
        row: usize,
        seen: Review,
        now: Review,
    },
    Supersede {
        row: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    /// Wants the claim.
    Starting,
    /// Holds it, as far as it knows, and is about to read.
    Reading,
    /// Writes what it planned.
    Writing {
        writes: Vec<Write>,
    },
    /// Looks again after writing; only a view that has its own last write counts.
    Checking {
        own_write: usize,
    },
    /// Gone; runs once more.
    Crashed,
    Ended,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Process {
    stage: Stage,
    restarted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    forge: Forge,
    /// What a stale read sees: the forge before its last write.
    before: Forge,
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
    /// The claim ran out while its holder was still at work.
    TakeOver(usize),
    Read(usize),
    ReadStale(usize),
    Write(usize),
    /// It happened, and nobody told.
    WriteAndLose(usize),
    Crash(usize),
    Restart(usize),
}

/// How often each fault may strike.
#[derive(Clone, Copy, Debug)]
struct Faults {
    crashes: u8,
    lost: u8,
    stale: u8,
    taken: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// By the table.
    Referee,
    /// As the source documents have it: supersede before posting, look at the siblings after an approval.
    Sources,
}

struct Matrix {
    verdicts: Vec<Vec<Verdict>>,
    faults: Faults,
    order: Order,
    approve: Setting,
    roles: usize,
}

/// The roles' own verdicts are part of the initial state, so that one run checks them all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Case {
    own: Vec<Verdict>,
    state: State,
}

impl Model for Matrix {
    type State = Case;
    type Action = Step;

    fn init_states(&self) -> Vec<Case> {
        let process = Process { stage: Stage::Starting, restarted: false };
        let state = State {
            forge: Forge::default(),
            before: Forge::default(),
            processes: vec![process; self.roles],
            holder: None,
            crashes: 0,
            lost: 0,
            stale: 0,
            taken: 0,
        };
        let mut cases = Vec::new();
        for own in &self.verdicts {
            for left in [None, Some(Comment), Some(Approve), Some(RequestChanges)] {
                let mut case = Case { own: own.clone(), state: state.clone() };
                // What every role left at an earlier head.
                case.state.forge.reviews = left.map_or_else(Vec::new, |form| {
                    let (own, enforced) = (form, form);
                    let left = Review { role: 0, form, own, enforced, at_head: false, here: false, superseded: false };
                    (0..self.roles).map(|role| Review { role, ..left }).collect()
                });
                case.state.before = case.state.forge.clone();
                cases.push(case);
            }
        }
        cases
    }

    fn actions(&self, case: &Case, actions: &mut Vec<Step>) {
        let state = &case.state;
        for (at, process) in state.processes.iter().enumerate() {
            let under_way = !matches!(process.stage, Stage::Ended | Stage::Crashed);
            match &process.stage {
                Stage::Starting if state.holder.is_none() => actions.push(Step::Claim(at)),
                Stage::Starting if state.taken < self.faults.taken => actions.push(Step::TakeOver(at)),
                Stage::Reading => {
                    actions.push(Step::Read(at));
                    // Whoever runs again after a crash or a lost reply does so later than a forge lags.
                    if state.stale < self.faults.stale && !process.restarted {
                        actions.push(Step::ReadStale(at));
                    }
                }
                Stage::Writing { .. } => {
                    actions.push(Step::Write(at));
                    if state.lost < self.faults.lost && !process.restarted {
                        actions.push(Step::WriteAndLose(at));
                    }
                }
                Stage::Checking { own_write } => {
                    actions.push(Step::Read(at));
                    let believed = *own_write <= state.before.writes || self.order == Order::Sources;
                    if state.stale < self.faults.stale && believed {
                        actions.push(Step::ReadStale(at));
                    }
                }
                Stage::Crashed => actions.push(Step::Restart(at)),
                Stage::Starting | Stage::Ended => {}
            }
            if under_way && state.crashes < self.faults.crashes && !process.restarted {
                actions.push(Step::Crash(at));
            }
        }
    }

    fn next_state(&self, last: &Case, step: Step) -> Option<Case> {
        let mut case = last.clone();
        let own = case.own.clone();
        let state = &mut case.state;
        match step {
            Step::Claim(at) | Step::TakeOver(at) => {
                state.taken += u8::from(matches!(step, Step::TakeOver(_)));
                state.holder = Some(at);
                state.processes[at].stage = Stage::Reading;
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
                fall(state, at);
            }
            Step::Crash(at) => {
                state.crashes += 1;
                fall(state, at);
            }
            Step::Restart(at) => {
                state.processes[at] = Process { stage: Stage::Starting, restarted: true };
            }
        }
        Some(case)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no approval counts while a sibling's own verdict blocks", |_, case: &Case| {
                let blocks = case.own.contains(&RequestChanges);
                let done = case.state.processes.iter().all(|process| process.stage == Stage::Ended);
                !(done && blocks && case.state.forge.newest() == Some(Approve))
            }),
            Property::always("no approval counts at any moment that not every role gave", |_, case: &Case| {
                let last = case.state.forge.reviews.iter().rev().find(|review| review.form != Comment);
                !last.is_some_and(|review| review.form == Approve && review.here)
                    || case.own.iter().all(|own| *own == Approve)
            }),
            Property::always("a block counts once everybody has spoken", |_, case: &Case| {
                let blocks = case.own.contains(&RequestChanges);
                let done = case.state.processes.iter().all(|process| process.stage == Stage::Ended);
                !(done && blocks) || case.state.forge.newest() == Some(RequestChanges)
            }),
            Property::always("if every role approves nobody is left escalated or waiting", |model, case: &Case| {
                let done = case.state.processes.iter().all(|process| process.stage == Stage::Ended);
                let all = case.own.iter().all(|own| *own == Approve);
                let released = |role| case.state.forge.standing(role).is_some_and(|it| it.enforced == Approve);
                !(done && all) || ((0..model.roles).all(released) && case.state.forge.newest() != Some(RequestChanges))
            }),
            Property::sometimes("everybody ends", |_, case: &Case| {
                case.state.processes.iter().all(|process| process.stage == Stage::Ended)
            }),
        ]
    }
}

fn fall(state: &mut State, at: usize) {
    state.processes[at].stage = Stage::Crashed;
    // The claim runs out by itself; whoever comes next finds it free.
    if state.holder == Some(at) {
        state.holder = None;
    }
}

impl Matrix {
    /// Decides on a view: what is left to write, or that nothing is.
    fn plan(&self, state: &mut State, at: usize, view: &Forge, own: &[Verdict]) {
        let writes = match self.order {
            Order::Referee => self.by_table(at, view, own),
            Order::Sources => self.by_sources(at, view, own),
        };
        if !writes.is_empty() {
            state.processes[at].stage = Stage::Writing { writes };
            return;
        }
        state.processes[at].stage = Stage::Ended;
        if state.holder == Some(at) {
            state.holder = None;
        }
    }

    /// One plan for all roles that the view knows, and the process's own.
    fn by_table(&self, at: usize, view: &Forge, own: &[Verdict]) -> Vec<Write> {
        let voices: Vec<PublishInput> = (0..self.roles)
            .map(|role| {
                let standing = view.standing(role);
                let current = role == at || standing.is_some_and(|review| review.at_head);
                let said = if role == at { Some(own[at]) } else { standing.map(|review| review.own) };
                PublishInput {
                    // An earlier head's block still blocks; anything else of an earlier head says nothing of this one.
                    own_verdict: said.map(|own| if current || own == RequestChanges { own } else { Comment }),
                    may_block: true,
                    is_current: current,
                    standing: standing
                        .map(|review| StandingVerdict { posted_as: review.form, weight: weight(view, review) }),
                    has_unread_approval: false,
                }
            })
            .collect();
        let bearing = IdentityContext {
            newest_verdict: view.newest(),
            approve: self.approve,
            can_post_verdicts: true,
            must_wait: voices.iter().any(|voice| !voice.is_current),
            glass_broken: false,
            review_requested: false,
        };
        let (mut blocks, mut rest) = (Vec::new(), Vec::new());
        for (role, (row, voice)) in decide_for_identity(&voices, &bearing).iter().zip(&voices).enumerate() {
            let (Some(own), enforced) = (voice.own_verdict, row.enforced) else { continue };
            let place = |form| if form == RequestChanges { 0 } else { 1 };
            let lists = [&mut blocks, &mut rest];
            match row.action {
                PublishAction::Silent => {}
                PublishAction::Keep => {
                    let Some(seen) = view.standing(role).copied() else { continue };
                    let evaluated = if voice.is_current { (own, true) } else { (seen.own, false) };
                    let now = Review { enforced, own: evaluated.0, at_head: evaluated.1, ..seen };
                    if now != seen {
                        rest.push(Write::Edit { row: row_of(view, role), seen, now });
                    }
                }
                PublishAction::Post(form) => {
                    let [first, second] = lists;
                    [first, second][place(form)].push(Write::Post {
                        role,
                        form,
                        own,
                        enforced,
                        at_head: voice.is_current,
                    });
                }
                PublishAction::PostAndSupersede(form) => {
                    let [first, second] = lists;
                    [first, second][place(form)].push(Write::Post {
                        role,
                        form,
                        own,
                        enforced,
                        at_head: voice.is_current,
                    });
                    rest.push(Write::Supersede { row: row_of(view, role) });
                }
            }
        }
        blocks.extend(rest);
        blocks
    }

    /// The source documents: only the own role; a sibling's *state* escalates; an approval is posted first, then the
    /// siblings are looked at; the old review is superseded before the block is posted.
    fn by_sources(&self, at: usize, view: &Forge, own: &[Verdict]) -> Vec<Write> {
        let sibling_blocks =
            (0..self.roles).any(|role| role != at && view.standing(role).is_some_and(|it| it.form == RequestChanges));
        let enforced = if sibling_blocks { RequestChanges } else { own[at] };
        let post = |form| Write::Post { role: at, form, own: own[at], enforced: form, at_head: true };
        match view.standing(at) {
            None => vec![post(own[at])],
            Some(review) if review.form == enforced => Vec::new(),
            Some(_) if enforced == RequestChanges => {
                vec![Write::Supersede { row: row_of(view, at) }, post(enforced)]
            }
            Some(_) => vec![post(enforced)],
        }
    }

    fn write(&self, state: &mut State, at: usize) {
        let Stage::Writing { writes } = &mut state.processes[at].stage else { return };
        let write = writes.remove(0);
        let over = writes.is_empty();
        state.before = state.forge.clone();
        let forge = &mut state.forge;
        forge.writes += 1;
        match write {
            Write::Post { role, form, own, enforced, at_head } => {
                forge.reviews.push(Review { role, form, own, enforced, at_head, here: true, superseded: false });
            }
            Write::Edit { row, seen, now } => {
                if forge.reviews[row] != seen {
                    state.processes[at].stage = Stage::Reading;
                    return;
                }
                forge.reviews[row] = now;
            }
            Write::Supersede { row } => forge.reviews[row].superseded = true,
        }
        let own_write = forge.writes;
        if over {
            state.processes[at].stage = Stage::Checking { own_write };
        }
    }
}

fn row_of(view: &Forge, role: usize) -> usize {
    view.reviews.iter().rposition(|review| review.role == role && !review.superseded).unwrap_or(0)
}

/// A user's older verdicts lose their weight with every new one.
fn weight(view: &Forge, review: &Review) -> StandingWeight {
    if review.form == Comment {
        return StandingWeight::NeverCounted;
    }
    let last = view.reviews.iter().rposition(|it| it.form != Comment);
    let this = view.reviews.iter().rposition(|it| it == review);
    if last == this { StandingWeight::Counts } else { StandingWeight::Replaced }
}

fn all_verdicts(roles: usize) -> Vec<Vec<Verdict>> {
    (0..1_usize << roles)
        .map(|bits| (0..roles).map(|role| if bits >> role & 1 == 0 { Approve } else { RequestChanges }).collect())
        .collect()
}

fn check(roles: usize, approve: Setting, faults: Faults, order: Order) -> impl Checker<Matrix> {
    Matrix { verdicts: all_verdicts(roles), faults, order, approve, roles }.checker().spawn_bfs().join()
}

const NONE: Faults = Faults { crashes: 0, lost: 0, stale: 0, taken: 0 };

// spec: PUB-8, LOOP-10, D3, D5, D6, D19 @core
#[test]
#[expect(clippy::print_stdout, reason = "the number of states is part of the proof")]
fn no_order_of_arrival_leaves_an_approval_beside_a_block() {
    let every = Faults { crashes: 1, lost: 1, stale: 1, taken: 1 };
    let (crash, lost) = (Faults { crashes: 1, ..NONE }, Faults { lost: 1, ..NONE });
    let overlap = Faults { stale: 1, taken: 1, ..NONE };
    for approve in [Setting::On, Setting::Lift] {
        let mut checks = vec![(2, every), (3, crash), (3, lost), (3, overlap), (4, NONE), (4, crash)];
        if std::env::var("REFEREE_SCALE").is_ok_and(|scale| scale == "10") {
            checks.extend([(3, every), (4, lost), (4, overlap)]);
        }
        for (roles, faults) in checks {
            let checked = check(roles, approve, faults, Order::Referee);
            println!("{roles} roles, approve {approve:?}, {faults:?}: {} states", checked.unique_state_count());
            checked.assert_properties();
        }
    }
}

#[test]
fn the_sources_own_order_fails_the_same_check() {
    let checked = check(2, Setting::On, Faults { crashes: 1, stale: 1, taken: 1, ..NONE }, Order::Sources);
    for property in [
        "no approval counts at any moment that not every role gave",
        "no approval counts while a sibling's own verdict blocks",
        "if every role approves nobody is left escalated or waiting",
    ] {
        assert!(checked.discovery(property).is_some(), "the check must be able to fail: {property}");
    }
}
