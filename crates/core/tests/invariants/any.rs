//! Any pull and any policy, contradictory ones included: what no forge would report and no config would contain.

use std::collections::BTreeSet;

use proptest::prelude::*;
use referee_core::model::answer::{FixSubject, PlannedFix};
use referee_core::model::checks::OwnStatus;
use referee_core::model::*;
use referee_core::plan::Gate;
use referee_core::policy::{
    ApprovalMode, Budget, DispatchPolicy, GateSetting, Policy, PullFilter, ReviewStart, Role, ThreadPolicy,
};
use referee_core::track::{Anchor, ChangeKind, ChangedFile, HunkRange};

use crate::dice::{Dice, dice};
use crate::marks::*;
use crate::pool::*;

/// A pull with its policy.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) snapshot: Snapshot,
    pub(crate) policy: Policy,
}

pub(crate) fn any_scene() -> impl Strategy<Value = Scene> {
    dice(900).prop_map(|mut dice| Scene { policy: policy(&mut dice), snapshot: snapshot(&mut dice) })
}

pub(crate) fn policy(dice: &mut Dice) -> Policy {
    let floor = [severity(dice), severity(dice), severity(dice)];
    let operators = [Some("carol".into()), None, Some("alice".into()), Some("referee".into()), Some("".into())];
    Policy {
        roles: (0..=dice.roll(4)).map(|at| role(dice, at)).collect(),
        start: dice.pick(&[ReviewStart::Push, ReviewStart::CiGreen, ReviewStart::Request]),
        max_inline: dice.pick(&[15, 0, 1, usize::MAX]),
        status: !dice.one_in(4),
        notify: !dice.one_in(4),
        floor: if dice.one_in(2) { floor } else { [Severity::Suggestion; 3] },
        risk_warnings: dice.pick(&[3, 0, 1, usize::MAX]),
        ci_required: dice.one_in(2),
        rounds: dice.pick(&[3, 0, 1, u32::MAX]),
        operator: dice.pick(&operators),
        approve: dice.pick(&[ApprovalMode::Lift, ApprovalMode::On, ApprovalMode::Off]),
        gates: Gate::ALL
            .iter()
            .map(|gate| (*gate, dice.pick(&[GateSetting::On, GateSetting::Ask, GateSetting::Off])))
            .collect(),
        threads: threads(dice),
        budget: budget(dice),
        break_glass: dice.some(3, login).into_iter().collect(),
        author_may_accept: dice.one_in(6),
        people_write: Default::default(),
        bots: dice.pick(&[Policy::default().bots, Vec::new(), vec!["*".to_owned()]]),
        protected: dice.some(3, |dice| dice.pick(&["src/**", "[", "**"]).to_owned()),
        work: (!dice.one_in(3)).then(|| work(dice)),
    }
}

fn role(dice: &mut Dice, at: usize) -> Role {
    Role {
        name: if dice.one_in(8) { role_name(dice) } else { ROLES[at % ROLES.len()].into() },
        identity: dice.maybe(4, |dice| dice.pick(&["second", "referee", "alice", "nobody"]).into()),
        blocks: !dice.one_in(4),
        paths: dice.some(2, |dice| dice.pick(&["src/**", "docs/**", "[", "none/**"]).to_owned()),
        ad_hoc: dice.one_in(8),
        free: false,
        inputs: None,
    }
}

fn threads(dice: &mut Dice) -> ThreadPolicy {
    let classes = [Class::Valid, Class::Invalid, Class::Stale, Class::AlreadyFixed, Class::NeedsHuman];
    ThreadPolicy {
        enabled: !dice.one_in(5),
        auto_resolve: dice.some(6, |dice| dice.pick(&classes)).into_iter().collect(),
        resolve_invalid: dice.one_in(2),
        reply_needs_human: dice.one_in(2),
        require_checks: dice.one_in(2),
        max_resolve: dice.pick(&[20, 0, 1, usize::MAX]),
        reply_template: dice.maybe(4, |dice| {
            dice.pick(&["{{ summary }}", "{{", "{% for x in range(9) %}/approve{% endfor %}", "@alice"]).to_owned()
        }),
    }
}

fn budget(dice: &mut Dice) -> Budget {
    Budget {
        tokens: dice.pick(&[u64::MAX, 0, 10]),
        micro_usd: dice.pick(&[u64::MAX, 0, 10]),
        runs: dice.pick(&[20, u32::MAX, 0]),
        writes: dice.pick(&[100, u32::MAX, 0, 3]),
    }
}

fn work(dice: &mut Dice) -> DispatchPolicy {
    let wip = dice.pick(&["wip", "wip", "ready", ""]);
    DispatchPolicy {
        user: dice.pick(&["worker", "worker", "referee", "alice", "nobody"]).into(),
        wip: wip.into(),
        ready: dice.pick(&["ready", "ready", "wip", ""]).into(),
        bug: "bug".into(),
        assign: dice.maybe(2, login),
        wip_max_age: Span(dice.pick(&[HOUR, 0, -1, i64::MAX, i64::MIN])),
        review_bots: dice.some(3, |dice| dice.pick(&["sonnet", "static"]).to_owned()),
        review_users: dice.some(3, login).into_iter().collect(),
        workers: BTreeSet::new(),
        max_jobs: dice.pick(&[12, 0, 1, u32::MAX]),
        pulls: dice.pick(&[PullFilter::All, PullFilter::Own, PullFilter::Label("bug".into())]),
    }
}

pub(crate) fn snapshot(dice: &mut Dice) -> Snapshot {
    let holds: BTreeSet<Login> = dice.some(4, login).into_iter().chain(["worker".into()]).collect();
    let truncated = Completeness::Truncated { what: words(dice), own_reviews_read: dice.one_in(2) };
    Snapshot {
        taken_at: if dice.one_in(8) { time(dice) } else { Time(NOW) },
        viewer: Viewer { login: dice.pick(&["referee", "referee", "Referee", "alice"]).into(), holds },
        capabilities: capabilities(dice),
        complete: if dice.one_in(16) { truncated } else { Completeness::Complete },
        pull: pull(dice),
        reviews: numbered(dice, 7, review),
        threads: numbered(dice, 6, thread),
        comments: numbered(dice, 8, comment),
        checks: checks(dice),
        changes: changes(dice),
        evidence: evidence(dice),
        lease: dice.maybe(6, lease),
    }
}

/// Some items, numbered: ids are distinct, with rare exceptions.
fn numbered<T>(dice: &mut Dice, below: usize, make: fn(&mut Dice, usize) -> T) -> Vec<T> {
    let several = dice.roll(below);
    (0..several).map(|at| if dice.one_in(12) { make(dice, 0) } else { make(dice, at) }).collect()
}

fn capabilities(dice: &mut Dice) -> Capabilities {
    Capabilities {
        edit_review: support(dice),
        reply: support(dice),
        resolve: support(dice),
        status: support(dice),
        verdicts: support(dice),
        claim: support(dice),
        labels: support(dice),
        slash_is_taken: dice.one_in(4),
        max_block: dice.pick(&[Some(12_000), Some(12_000), None]),
        max_text: dice.pick(&[60_000, 60_000, 1_000_000, 0, 100]),
    }
}

fn pull(dice: &mut Dice) -> Pull {
    let label = |dice: &mut Dice| Label {
        name: dice.pick(&["wip", "ready", "bug", ""]).into(),
        by: dice.maybe(2, login),
        at: dice.maybe(2, time),
    };
    Pull {
        forge: "memory".into(),
        repo: RepoId(1),
        repo_name: words(dice),
        number: PullNumber(dice.pick(&[7, 0, u64::MAX])),
        title: words(dice),
        author: if dice.one_in(3) { author(dice) } else { people()[0].clone() },
        state: if dice.one_in(12) { dice.pick(&[PullState::Closed, PullState::Merged]) } else { PullState::Open },
        draft: dice.one_in(6),
        head: if dice.one_in(8) { sha(dice) } else { Sha("a".repeat(40)) },
        head_since: time(dice),
        base: "main".into(),
        base_sha: sha(dice),
        mergeable: dice.pick(&[Mergeable::Clean, Mergeable::Clean, Mergeable::Conflict, Mergeable::Unknown]),
        pushable: dice.pick(&[Some(true), None, Some(false)]),
        labels: dice.some(4, label),
        assignees: dice.some(3, login),
        requests: dice.some(3, |dice| ReviewRequest { of: login(dice), by: dice.maybe(2, login), at: time(dice) }),
        opened_at: time(dice),
        removed_labels: Vec::new(),
        reopens: if dice.one_in(4) { dice.some(4, time) } else { Vec::new() },
        pushes: dice.some(3, |dice| Push { head: sha(dice), by: dice.maybe(2, login), at: time(dice) }),
        url: dice.pick(&["https://forge.example/7", "", "javascript:x", "a b)"]).into(),
    }
}

fn review(dice: &mut Dice, at: usize) -> Review {
    let text = review_text(dice);
    let own = text.reading.mark.is_some() && !dice.one_in(6);
    let row = if dice.one_in(12) {
        dice.pick(&[ReviewKind::Draft, ReviewKind::Wrapper])
    } else {
        ReviewKind::Verdict(verdict(dice))
    };
    let dismissed = ReviewWeight::Dismissed { by: dice.maybe(2, author), at: time(dice) };
    Review {
        id: ReviewId(format!("r{at}")),
        edit: (!dice.one_in(8)).then(|| EditId(format!("e{at}"))),
        author: if own { people()[6].clone() } else { author(dice) },
        row,
        text,
        commit: dice.maybe(2, sha),
        at: time(dice),
        counts: dice.pick(&[
            ReviewWeight::Yes,
            ReviewWeight::Yes,
            ReviewWeight::Replaced,
            ReviewWeight::No,
            ReviewWeight::Requested,
            dismissed,
        ]),
        url: dice.pick(&["https://forge.example/7#r", ""]).into(),
    }
}

fn thread(dice: &mut Dice, at: usize) -> Thread {
    let several = dice.roll(5);
    let note = |dice: &mut Dice, note: usize| {
        let text = text(dice, if note == 0 { root_tag } else { reply_tag });
        let own = text.reading.tag.is_some() && !dice.one_in(6);
        Note {
            id: NoteId(format!("n{at}.{note}")),
            author: if own { people()[6].clone() } else { author(dice) },
            at: time(dice),
            edited: dice.one_in(8),
            text,
        }
    };
    Thread {
        id: ThreadId(format!("t{at}")),
        review: dice.maybe(2, |dice| ReviewId(dice.pick(&["r0", "gone"]).into())),
        path: dice.maybe(2, path),
        line: line(dice),
        start_line: line(dice),
        side: side(dice),
        notes: (0..several).map(|at| note(dice, at)).collect(),
        resolved: dice.maybe(5, |dice| Resolution { by: author(dice), at: dice.maybe(2, time) }),
        outdated: dice.one_in(3),
        can_resolve: !dice.one_in(5),
        can_reply: !dice.one_in(5),
        url: dice.pick(&["https://forge.example/7#t", "", "javascript:x"]).into(),
    }
}

fn comment(dice: &mut Dice, at: usize) -> Comment {
    let text = text(dice, topic_tag);
    let own = text.reading.tag.is_some() && !dice.one_in(6);
    Comment {
        id: CommentId(format!("c{at}")),
        author: if own { people()[6 + dice.roll(2)].clone() } else { author(dice) },
        at: time(dice),
        edited: dice.one_in(8),
        text,
        url: String::new(),
    }
}

fn checks(dice: &mut Dice) -> Checks {
    let states = [CheckState::Pass, CheckState::Pass, CheckState::Fail, CheckState::Pending, CheckState::None];
    let own = |dice: &mut Dice| OwnStatus {
        context: "referee/static".into(),
        state: dice.pick(&[CheckState::Pass, CheckState::Fail]),
        text: words(dice),
    };
    Checks { all: dice.some(3, |dice| Check { name: words(dice), state: dice.pick(&states) }), own: dice.some(2, own) }
}

fn changes(dice: &mut Dice) -> Changes {
    let tracked = |dice: &mut Dice| TrackedFinding {
        role: role_name(dice),
        finding: finding(dice),
        track: track(dice),
        changed: dice.one_in(2),
        file_changed: dice.one_in(2),
    };
    Changes {
        merge_base: dice.maybe(2, sha),
        patch: if dice.one_in(6) { patch(dice) } else { referee_core::track::PatchId("p1".into()) },
        files: dice.some(4, file),
        tracks: dice.some(6, tracked),
        unreachable: dice.some(2, sha).into_iter().collect(),
    }
}

fn file(dice: &mut Dice) -> ChangedFile {
    let hunk = |dice: &mut Dice| HunkRange {
        old_start: number(dice),
        old_lines: number(dice),
        new_start: number(dice),
        new_lines: number(dice),
    };
    ChangedFile {
        path: path(dice),
        old_path: dice.maybe(4, path),
        kind: dice.pick(&[ChangeKind::Modified, ChangeKind::Added, ChangeKind::Deleted, ChangeKind::Renamed]),
        hunks: dice.some(3, hunk),
        old_len: dice.maybe(2, number),
        new_len: dice.maybe(2, number),
    }
}

fn evidence(dice: &mut Dice) -> Evidence {
    Evidence {
        reports: dice.some(4, report),
        answers: dice.some(4, answer),
        triage: dice.maybe(2, triage),
        answers_for: dice.pick(&[None, Some(7), Some(8)]),
        detached: dice.one_in(2),
        check: dice.maybe(3, local_check),
        watched: dice.maybe(3, local_check),
        result: dice.maybe(4, result),
        full: dice.one_in(8),
    }
}

pub(crate) fn report(dice: &mut Dice) -> Report {
    let skipped = |dice: &mut Dice| SkippedFile { path: path(dice), why: dice.pick(&["excluded", "too large"]).into() };
    let everything = !dice.one_in(3);
    let coverage = Coverage {
        read: if everything { PATHS.iter().map(|&it| it.into()).collect() } else { dice.some(3, path) },
        skipped: if dice.one_in(3) { dice.some(3, skipped) } else { Vec::new() },
    };
    let failed = ReportOutcome::Failed { reason: words(dice) };
    let outcomes = [ReportOutcome::Findings(coverage.clone()), ReportOutcome::Clean(coverage), failed];
    Report {
        role: role_name(dice),
        head: if dice.one_in(5) { sha(dice) } else { Sha("a".repeat(40)) },
        outcome: dice.pick(&outcomes),
        summary: words(dice),
        findings: dice.some(6, raised),
        pre_existing: dice.some(3, pre_existing),
        positions: dice.some(6, position),
        deterministic: dice.one_in(4),
        intake: Default::default(),
        tool: dice.maybe(6, hash),
        figures: figures(dice),
        digest: hash(dice),
    }
}

pub(crate) fn pre_existing(dice: &mut Dice) -> PreExisting {
    PreExisting { title: words(dice), path: path(dice), line: line(dice) }
}

fn raised(dice: &mut Dice) -> RaisedFinding {
    RaisedFinding {
        title: words(dice),
        body: words(dice),
        severity: severity(dice),
        path: path(dice),
        line: line(dice),
        end_line: line(dice),
        column: line(dice),
        help: dice.maybe(3, words),
        side: side(dice),
        rule: dice.maybe(3, words),
        suggestion: dice.maybe(4, words),
        fingerprint: print(dice),
        anchor: dice.pick(&[Anchor::Line, Anchor::File, Anchor::Summary]),
        same_as: dice.maybe(3, finding),
        in_delta: !dice.one_in(3),
    }
}

pub(crate) fn position(dice: &mut Dice) -> FindingPosition {
    use Position::*;
    FindingPosition {
        finding: finding(dice),
        position: dice.pick(&[Fixed, StillThere, Worsened, Conceded, Stands]),
        evidence: words(dice),
        reply: words(dice),
        cited_changed: dice.one_in(3),
    }
}

pub(crate) fn class(dice: &mut Dice) -> Class {
    dice.pick(&[Class::Valid, Class::Invalid, Class::Stale, Class::AlreadyFixed, Class::NeedsHuman])
}

fn outcome(dice: &mut Dice) -> CheckOutcome {
    use CheckOutcome::*;
    dice.pick(&[Passed, Passed, Failed, Skipped, TimedOut, Unknown])
}

fn thread_id(dice: &mut Dice) -> ThreadId {
    ThreadId(dice.pick(&["t0", "t1", "t2", "t3", "gone", ""]).into())
}

fn answer(dice: &mut Dice) -> Answer {
    let verification = |dice: &mut Dice| Verification {
        command: words(dice),
        status: outcome(dice),
        head_sha: if dice.one_in(4) { sha(dice) } else { Sha("a".repeat(40)) },
    };
    Answer {
        thread_id: thread_id(dice),
        classification: class(dice),
        fix_summary: dice.maybe(2, words),
        evidence: dice.maybe(2, words),
        verification: dice.some(3, verification),
        commit_sha: dice.maybe(2, sha),
        commit_reachable: dice.one_in(2),
        reply_body: dice.maybe(2, words),
    }
}

fn triage(dice: &mut Dice) -> Triage {
    let item = |dice: &mut Dice| TriageItem {
        thread_id: thread_id(dice),
        classification: class(dice),
        confidence: dice.pick(&[Confidence::High, Confidence::Medium, Confidence::Low]),
        reason: words(dice),
        recommended_action: words(dice),
        files_to_inspect: Vec::new(),
        files_to_change: Vec::new(),
        checks_to_run: Vec::new(),
        reply_body: dice.maybe(4, words),
        can_resolve_after_checks: dice.one_in(2),
        requires_human_decision: dice.one_in(4),
        latest_note: dice.maybe(3, |dice| NoteId(dice.pick(&["n0.0", "n1.1", "gone"]).into())),
    };
    Triage {
        pr_number: dice.pick(&[7, 7, 8]),
        complete: !dice.one_in(4),
        failed: dice.one_in(8),
        filtered: dice.one_in(4),
        threads: dice.some(6, item),
    }
}

fn local_check(dice: &mut Dice) -> LocalCheck {
    LocalCheck { outcome: outcome(dice), head: if dice.one_in(3) { sha(dice) } else { Sha("a".repeat(40)) } }
}

fn result(dice: &mut Dice) -> WorkResult {
    WorkResult {
        kind: job_kind(dice),
        epoch: dice.pick(&[1, 2, 0, u64::MAX]),
        started_at: if dice.one_in(4) { sha(dice) } else { Sha("a".repeat(40)) },
        outcome: work_outcome(dice),
        summary: words(dice),
        head: dice.maybe(2, sha),
        patch: dice.maybe(2, patch),
        files: dice.some(3, file),
        escapes: dice.some(2, words),
        audit: dice.maybe(2, audit),
        clean: dice.pick(&[None, Some(true), Some(false)]),
        plan: dice.some(3, |dice| PlannedFix { about: FixSubject::Finding(finding(dice)), plan: words(dice) }),
        pull: dice.maybe(2, |dice| (words(dice), words(dice))),
    }
}

fn audit(dice: &mut Dice) -> CommitAudit {
    let rebase = |dice: &mut Dice| RebaseAudit {
        contains_base: !dice.one_in(4),
        dropped: dice.some(2, sha),
        lost: dice.some(2, words),
        conflicts: dice.some(2, words),
    };
    CommitAudit {
        descends: !dice.one_in(4),
        foreign: dice.some(2, sha),
        protected_links: dice.some(2, |dice| ProtectedLink { path: words(dice), protected: words(dice) }),
        rebase: dice.maybe(2, rebase),
    }
}

fn lease(dice: &mut Dice) -> Lease {
    Lease { by: words(dice), epoch: dice.pick(&[1, 2, 0, u64::MAX]), since: time(dice), until: time(dice) }
}
