//! Possible pulls: a history of what people, reviewers and workers did, with referee's plans applied in between.

use std::collections::BTreeSet;

use proptest::prelude::*;
use referee_core::decide::{PlanScope, decide};
use referee_core::facts::Facts;
use referee_core::hash::Hash;
use referee_core::model::*;
use referee_core::plan::Next;
use referee_core::policy::{ApprovalMode, DispatchPolicy, Policy, PullFilter, ReviewStart, Role};
use referee_core::track::{Anchor, ChangeKind, ChangedFile, CodeLocation, Fingerprint, PatchId, Side, Track};

use crate::any::{Scene, pre_existing};
use crate::dice::{Dice, dice};
use crate::marks::work_outcome;
use crate::pool::{NOW, PATHS, ROLES, people, severity, support};

/// A pull after some events, before the next decision.
pub(crate) fn any_play() -> impl Strategy<Value = Scene> {
    dice(400).prop_map(|mut dice| {
        let mut scene = begin(&mut dice);
        for _ in 0..dice.roll(10) {
            happen(&mut scene, &mut dice);
            if dice.one_in(2) {
                turn(&mut scene);
                // Every run has its own inbox.
                scene.snapshot.evidence = Evidence::default();
            }
        }
        happen(&mut scene, &mut dice);
        scene.recognise();
        scene
    })
}

/// Runs one turn: decides, applies everything, and starts a due worker.
pub(crate) fn turn(scene: &mut Scene) {
    scene.recognise();
    let plan = decide(&scene.snapshot, &scene.policy, &PlanScope::Everything);
    for step in &plan.steps {
        scene.perform(step);
    }
    if let Next::Spawn(job) = &plan.next {
        for step in &job.record {
            scene.perform(step);
        }
    }
    scene.recognise();
}

fn begin(dice: &mut Dice) -> Scene {
    let role = |dice: &mut Dice, at: usize| Role {
        name: ROLES[at].into(),
        identity: dice.maybe(4, |_| "second".into()),
        blocks: !dice.one_in(5),
        paths: dice.maybe(6, |_| "docs/**".to_owned()).into_iter().collect(),
        ad_hoc: false,
        free: false,
        inputs: None,
    };
    let roles = (0..=dice.roll(3)).map(|at| role(dice, at)).collect();
    let policy = Policy {
        roles,
        start: dice.pick(&[ReviewStart::Push, ReviewStart::Push, ReviewStart::CiGreen, ReviewStart::Request]),
        risk_warnings: dice.pick(&[3, 1]),
        rounds: dice.pick(&[3, 1, 2]),
        operator: dice.pick(&[Some("carol".into()), None]),
        approve: dice.pick(&[ApprovalMode::Lift, ApprovalMode::On, ApprovalMode::Off]),
        ci_required: dice.one_in(2),
        floor: dice.pick(&[[Severity::Suggestion; 3], Policy::default().floor]),
        work: dice.one_in(2).then(|| work(dice)),
        threads: referee_core::policy::ThreadPolicy {
            auto_resolve: [Class::Stale, Class::AlreadyFixed].into(),
            resolve_invalid: dice.one_in(2),
            max_resolve: dice.pick(&[20, 1]),
            ..Policy::default().threads
        },
        ..Policy::default()
    };
    let holds: BTreeSet<Login> = ["referee", "worker", "second"].map(Login::from).into();
    let author = if dice.one_in(6) { people()[7].clone() } else { people()[0].clone() };
    let snapshot = Snapshot {
        taken_at: Time(NOW),
        viewer: Viewer { login: "referee".into(), holds },
        capabilities: Capabilities { resolve: support(dice), reply: support(dice), ..Capabilities::default() },
        complete: Completeness::Complete,
        pull: pull(author),
        reviews: Vec::new(),
        threads: Vec::new(),
        comments: Vec::new(),
        checks: Checks { all: vec![Check { name: "test".into(), state: CheckState::Pass }], own: Vec::new() },
        changes: Changes { patch: PatchId("p0".into()), files: vec![file()], ..Changes::default() },
        evidence: Evidence::default(),
        lease: None,
    };
    Scene { snapshot, policy }
}

fn work(dice: &mut Dice) -> DispatchPolicy {
    DispatchPolicy {
        user: "worker".into(),
        wip: "wip".into(),
        ready: "ready".into(),
        bug: "bug".into(),
        assign: dice.maybe(2, |_| "carol".into()),
        wip_max_age: Span::from_hours(1),
        review_bots: Vec::new(),
        review_users: BTreeSet::new(),
        workers: BTreeSet::new(),
        max_jobs: 12,
        pulls: PullFilter::All,
    }
}

fn pull(author: Author) -> Pull {
    Pull {
        forge: "memory".into(),
        repo: RepoId(1),
        repo_name: "acme/api".into(),
        number: PullNumber(7),
        title: "Exchange tokens".into(),
        author,
        state: PullState::Open,
        draft: false,
        head: head(0),
        head_since: Time(NOW),
        base: "main".into(),
        base_sha: head(99),
        mergeable: Mergeable::Clean,
        pushable: Some(true),
        labels: Vec::new(),
        assignees: Vec::new(),
        requests: Vec::new(),
        opened_at: Time(NOW),
        removed_labels: Vec::new(),
        reopens: Vec::new(),
        pushes: Vec::new(),
        url: "https://forge.example/7".into(),
    }
}

fn file() -> ChangedFile {
    let (kind, hunks) = (ChangeKind::Modified, Vec::new());
    ChangedFile { path: PATHS[0].into(), old_path: None, kind, hunks, old_len: None, new_len: None }
}

fn head(number: usize) -> Sha {
    Sha(format!("{number:040x}"))
}

/// One event.
fn happen(scene: &mut Scene, dice: &mut Dice) {
    let minutes = dice.pick(&[1, 20, 90]);
    scene.snapshot.taken_at = scene.snapshot.taken_at.saturating_add(Span::from_minutes(minutes));
    let people = people();
    let by = people[dice.roll(6)].clone();
    let now = scene.snapshot.taken_at;
    match dice.roll(16) {
        0..=3 => report(scene, dice),
        4 => push(scene, dice, Patch::New),
        5 => push(scene, dice, Patch::Same),
        6 | 7 if !scene.snapshot.threads.is_empty() => {
            let at = dice.roll(scene.snapshot.threads.len());
            let id = scene.snapshot.threads[at].id.clone();
            if dice.one_in(4) {
                scene.snapshot.threads[at].resolved = Some(Resolution { by, at: Some(now) });
            } else {
                let words = dice.pick(&["won't fix", "I disagree", "fixed", "why?", "@referee dismiss F1 no"]);
                let text = scene.read(words, &by);
                scene.note(&id, by.login.as_ref().expect("named"), text);
            }
        }
        8 => {
            let words = dice.pick(&[
                "@referee review",
                "@referee full review",
                // Nobody dismisses a finding that does not exist yet.
                if scene.snapshot.threads.is_empty() { "thank you" } else { "@referee dismiss F1 it stays" },
                "@referee reopen F1",
                "@referee rounds +1",
                "@referee retry",
                "@referee pause",
                "@referee resume",
                "@referee break-glass fire",
                "@referee explain",
                "@referee frobnicate",
                "thank you",
            ]);
            let text = scene.read(words, &by);
            scene.comment(by, text);
        }
        9 => {
            let verdict = dice.pick(&[Verdict::RequestChanges, Verdict::Approve, Verdict::Comment]);
            let at = scene.snapshot.reviews.len();
            let commit = Some(scene.snapshot.pull.head.clone());
            scene.snapshot.reviews.push(Review {
                id: ReviewId(format!("r{at}")),
                edit: None,
                author: by,
                row: ReviewKind::Verdict(verdict),
                text: Text::default(),
                commit,
                at: now,
                counts: if verdict == Verdict::Comment { ReviewWeight::No } else { ReviewWeight::Yes },
                url: String::new(),
            });
        }
        10 if !scene.snapshot.reviews.is_empty() => {
            let at = dice.roll(scene.snapshot.reviews.len());
            let row = &mut scene.snapshot.reviews[at];
            if row.counts == ReviewWeight::Yes {
                row.counts = ReviewWeight::Dismissed { by: Some(by), at: now };
            }
        }
        11 => {
            let of = dice.pick(&["referee", "second"]).into();
            scene.snapshot.pull.requests.push(ReviewRequest { of, by: by.login, at: now });
        }
        12 => {
            let states = [CheckState::Pass, CheckState::Fail, CheckState::Pending];
            scene.snapshot.checks.all[0].state = dice.pick(&states);
            scene.snapshot.pull.mergeable = dice.pick(&[Mergeable::Clean, Mergeable::Conflict]);
            scene.snapshot.pull.draft = dice.one_in(4);
        }
        13 => answer(scene, dice),
        14 => result(scene, dice),
        15 => scene.snapshot.pull.reopens.push(now),
        _ => {}
    }
}

fn report(scene: &mut Scene, dice: &mut Dice) {
    let at = dice.roll(scene.policy.roles.len());
    let role = scene.policy.roles[at].name.clone();
    let known: Vec<FindingId> = {
        let facts = Facts::new(&scene.snapshot, &scene.policy);
        facts.role(&role).map_or(&[][..], |role| &role.known_findings).iter().map(|it| it.id).collect()
    };
    let positions = known
        .into_iter()
        .filter(|_| !dice.one_in(6))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|finding| FindingPosition { finding, ..crate::any::position(dice) })
        .collect();
    let coverage =
        Coverage { read: if dice.one_in(6) { Vec::new() } else { vec![PATHS[0].into()] }, skipped: Vec::new() };
    // Two equal findings of different severity at one place cannot be distinguished between reports.
    let mut findings = dice.some(4, |dice| raised(dice, &role));
    findings.sort_by_key(|it| it.line);
    findings.dedup_by_key(|it| it.line);
    let failed = ReportOutcome::Failed { reason: "timeout".into() };
    // Reports and answers come from different commands.
    scene.snapshot.evidence.answers.clear();
    scene.snapshot.evidence.reports.retain(|it| it.role != role);
    scene.snapshot.evidence.reports.push(Report {
        head: scene.snapshot.pull.head.clone(),
        outcome: if dice.one_in(6) { failed } else { ReportOutcome::Findings(coverage) },
        summary: dice.pick(&["", "Read twice.", "- <b>unsafe</b> @all"]).to_owned(),
        findings,
        pre_existing: dice.some(3, pre_existing),
        positions,
        deterministic: dice.one_in(5),
        intake: Default::default(),
        tool: None,
        figures: RunCost { tokens: 10, micro_usd: 10, seconds: 1, runs: 1 },
        digest: Hash::digest(format!("{role} {}", scene.snapshot.taken_at.0)),
        role,
    });
}

fn raised(dice: &mut Dice, role: &RoleName) -> RaisedFinding {
    let which = dice.roll(5);
    let titles = ["token leaks", "loop never ends", "index out of range", "typo in name", "dead code stays"];
    RaisedFinding {
        title: titles[which].into(),
        body: crate::pool::words(dice),
        severity: severity(dice),
        path: PATHS[0].into(),
        line: Some(which as u32 * 10 + 1),
        end_line: None,
        column: None,
        help: None,
        side: Side::New,
        rule: None,
        suggestion: None,
        fingerprint: Fingerprint(format!("{role}-{which}")),
        anchor: dice.pick(&[Anchor::Line, Anchor::File, Anchor::Summary]),
        same_as: None,
        in_delta: which != 3,
    }
}

enum Patch {
    New,
    Same,
}

fn push(scene: &mut Scene, dice: &mut Dice, patch: Patch) {
    let snapshot = &mut scene.snapshot;
    let number = snapshot.pull.pushes.len() + 1;
    snapshot.pull.head = head(number);
    snapshot.pull.head_since = snapshot.taken_at;
    let (head, at) = (snapshot.pull.head.clone(), snapshot.taken_at);
    snapshot.pull.pushes.push(Push { head, by: None, at });
    snapshot.checks.own.clear();
    snapshot.evidence = Evidence::default();
    if let Patch::New = patch {
        snapshot.changes.patch = PatchId(format!("p{number}"));
        let dismissed = dice.one_in(3);
        for row in snapshot.reviews.iter_mut().filter(|row| dismissed && row.counts == ReviewWeight::Yes) {
            row.counts = ReviewWeight::Dismissed { by: None, at };
        }
    }
    let facts = Facts::new(&scene.snapshot, &scene.policy);
    let mut tracks = Vec::new();
    for role in &facts.roles {
        for known in &role.known_findings {
            let line = known.line.unwrap_or_default() + dice.roll(2) as u32;
            let location = CodeLocation { path: known.path.to_owned(), line, end_line: line };
            let track = dice.pick(&[Track::Same(location.clone()), Track::Changed(location), Track::Gone]);
            let changed = !matches!(track, Track::Same(_));
            let file_changed = changed || dice.one_in(3);
            tracks.push(TrackedFinding {
                role: role.role.name.clone(),
                finding: known.id,
                track,
                changed,
                file_changed,
            });
        }
    }
    scene.snapshot.changes.tracks = tracks;
}

/// The fixing side answers a thread, with all evidence that may be required.
fn answer(scene: &mut Scene, dice: &mut Dice) {
    if scene.snapshot.threads.is_empty() {
        return;
    }
    let at = dice.roll(scene.snapshot.threads.len());
    let head_sha = scene.snapshot.pull.head.clone();
    scene.snapshot.evidence.reports.clear();
    scene.snapshot.evidence.detached = true;
    scene.snapshot.evidence.answers = vec![Answer {
        thread_id: scene.snapshot.threads[at].id.clone(),
        classification: crate::any::class(dice),
        fix_summary: Some("Bounds are checked.".into()),
        evidence: Some("See the guard.".into()),
        verification: vec![Verification { command: "cargo test".into(), status: CheckOutcome::Passed, head_sha }],
        commit_sha: Some(scene.snapshot.pull.head.clone()),
        commit_reachable: true,
        reply_body: None,
    }];
}

/// A started worker returns its result.
fn result(scene: &mut Scene, dice: &mut Dice) {
    let facts = Facts::new(&scene.snapshot, &scene.policy);
    let Some(job) = facts.work.jobs.last().copied() else { return };
    let (kind, epoch) = (job.kind, job.epoch);
    scene.snapshot.evidence.result = Some(WorkResult {
        kind,
        epoch,
        started_at: scene.snapshot.pull.head.clone(),
        outcome: work_outcome(dice),
        summary: crate::pool::words(dice),
        head: dice.maybe(2, |_| head(55)),
        patch: dice.maybe(2, |_| PatchId("p55".into())),
        files: Vec::new(),
        escapes: Vec::new(),
        audit: Some(CommitAudit { descends: true, ..CommitAudit::default() }),
        clean: Some(dice.one_in(2)),
        plan: Vec::new(),
        pull: None,
    });
}
