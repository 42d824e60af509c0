//! Builds pulls for tests of the rules: one role `static`, author alice, operator carol.

use std::collections::BTreeSet;

use referee_core::decide::{
    self, FindingChange, FindingRemark, JudgedFinding, PlanScope, ReportStatus, RoleJudgement, RulesOutcome as Ruled,
};
use referee_core::facts::{Facts, KnownFinding, RoleFacts};
use referee_core::hash::Hash;
use referee_core::mark::{Block, BlockEntry, Evaluation, Mark, Tag, TagKind, Topic, Trust, UnsealedMark};
use referee_core::model::*;
use referee_core::plan::{Action, CommentTarget, FindingLine, JobKind, Next, Plan, Step, Trailer};
use referee_core::policy::{DispatchPolicy, Policy, PullFilter, Role};
use referee_core::say::Ask;
use referee_core::track::{ChangeKind, ChangedFile, Fingerprint, PatchId, Side};

/// The time at which every pull is read.
pub(crate) const NOW: i64 = 1_000_000;
pub(crate) const MINUTE: i64 = 60;
pub(crate) const HOUR: i64 = 3_600;

pub(crate) struct Stage {
    pub(crate) snapshot: Snapshot,
    pub(crate) policy: Policy,
    pub(crate) scope: PlanScope,
}

pub(crate) fn sha(letter: char) -> Sha {
    Sha(letter.to_string().repeat(40))
}

pub(crate) fn patch(name: &str) -> PatchId {
    PatchId(name.to_owned())
}

pub(crate) fn person(name: &str) -> Author {
    Author { login: Some(name.into()), bot: false, access: Access::Write }
}

pub(crate) fn outsider(name: &str) -> Author {
    Author { access: Access::Read, ..person(name) }
}

pub(crate) fn program(name: &str) -> Author {
    Author { bot: true, ..person(name) }
}

pub(crate) fn role(name: &str) -> Role {
    Role::new(name)
}

pub(crate) fn work() -> DispatchPolicy {
    DispatchPolicy {
        user: "worker".into(),
        wip: "wip".into(),
        ready: "ready".into(),
        bug: "bug".into(),
        assign: Some("carol".into()),
        wip_max_age: Span::from_hours(1),
        review_bots: Vec::new(),
        review_users: BTreeSet::new(),
        workers: BTreeSet::new(),
        max_jobs: 12,
        pulls: PullFilter::All,
    }
}

impl Stage {
    /// An open pull at head `a…`, change `p1`, with green checks and without texts; no dispatch.
    pub(crate) fn new() -> Self {
        let pull = Pull {
            forge: "memory".into(),
            repo: RepoId(1),
            repo_name: "acme/api".into(),
            number: PullNumber(7),
            title: "Exchange tokens".into(),
            author: person("alice"),
            state: PullState::Open,
            draft: false,
            head: sha('a'),
            head_since: Time(NOW - 10 * HOUR),
            base: "main".into(),
            base_sha: sha('0'),
            mergeable: Mergeable::Clean,
            pushable: Some(true),
            labels: Vec::new(),
            assignees: Vec::new(),
            requests: Vec::new(),
            opened_at: Time(NOW - 100 * HOUR),
            removed_labels: Vec::new(),
            reopens: Vec::new(),
            pushes: Vec::new(),
            url: String::new(),
        };
        let holds = BTreeSet::from(["referee".into(), "worker".into()]);
        let snapshot = Snapshot {
            taken_at: Time(NOW),
            viewer: Viewer { login: "referee".into(), holds },
            capabilities: Capabilities::default(),
            complete: Completeness::Complete,
            pull,
            reviews: Vec::new(),
            threads: Vec::new(),
            comments: Vec::new(),
            checks: Checks { all: vec![check("test", CheckState::Pass)], own: Vec::new() },
            changes: Changes { patch: patch("p1"), ..Changes::default() },
            evidence: Evidence::default(),
            lease: None,
        };
        let policy = Policy { roles: vec![role("static")], operator: Some("carol".into()), ..Policy::default() };
        Self { snapshot, policy, scope: PlanScope::Everything }
    }

    /// The same with dispatch.
    pub(crate) fn with_workers() -> Self {
        let mut stage = Self::new();
        stage.policy.work = Some(work());
        stage
    }

    /// A pull to which no rule applies: approved by its role, self-reviewed.
    pub(crate) fn all_clear() -> Self {
        let mut stage = Self::with_workers();
        stage.verdict("static", Verdict::Approve);
        stage.self_review(true);
        stage
    }

    pub(crate) fn work(&mut self) -> &mut DispatchPolicy {
        self.policy.work.get_or_insert_with(work)
    }

    /// Adds the role's verdict for this change.
    pub(crate) fn verdict(&mut self, role: &str, own: Verdict) -> &mut Mark {
        let head = self.snapshot.pull.head.clone();
        let change = self.snapshot.changes.patch.clone();
        self.verdict_at(role, own, head, change)
    }

    /// Adds the role's verdict for some change.
    pub(crate) fn verdict_at(&mut self, role: &str, own: Verdict, head: Sha, change: PatchId) -> &mut Mark {
        let mark = Mark {
            role: role.into(),
            own,
            enforced: own,
            reviewed: Some(head.clone()),
            head,
            base: None,
            complete: true,
            rounds: if own == Verdict::RequestChanges { vec![change.clone()] } else { Vec::new() },
            patch: change,
            reopened: self.snapshot.pull.reopened_at(),
            attempts: 0,
            tried_at: None,
            report: None,
            asked: None,
            restored: None,
            superseded: None,
            blocking: Vec::new(),
            inputs: Hash::default(),
            words: Hash::default(),
            rewrote: None,
            evaluation: Evaluation::default(),
            spent: RunCost::default(),
            overflow: Default::default(),
            configured: None,
            tool: None,
            highest: FindingId::default(),
        };
        let identity = self.policy.role(&role.into()).and_then(|role| role.identity.clone());
        let login = identity.unwrap_or_else(|| self.snapshot.viewer.login.clone());
        let mut review = self.row(program(login.as_str()), own, None);
        review.text.reading.mark = Some(Box::new(UnsealedMark { data: mark, trust: Trust::Sealed }));
        review.text.reading.block = Some(Box::new(Block::default()));
        self.snapshot.reviews.push(review);
        let last = self.snapshot.reviews.last_mut().expect("just pushed");
        &mut last.text.reading.mark.as_mut().expect("just made").data
    }

    /// Adds a review of another reviewer.
    pub(crate) fn review(&mut self, author: Author, verdict: Verdict, commit: Sha) -> &mut Review {
        let review = self.row(author, verdict, Some(commit));
        self.snapshot.reviews.push(review);
        self.snapshot.reviews.last_mut().expect("just pushed")
    }

    fn row(&self, author: Author, verdict: Verdict, commit: Option<Sha>) -> Review {
        let number = self.snapshot.reviews.len() + 1;
        Review {
            id: ReviewId(format!("r{number}")),
            edit: Some(EditId(format!("e{number}"))),
            author,
            row: ReviewKind::Verdict(verdict),
            text: Text::default(),
            commit,
            at: Time(NOW - 9 * HOUR),
            counts: if verdict == Verdict::Comment { ReviewWeight::No } else { ReviewWeight::Yes },
            url: String::new(),
        }
    }

    /// Adds a finding to the role's standing review.
    pub(crate) fn finding(
        &mut self,
        id: u64,
        severity: Severity,
        state: FindingState,
        path: &str,
        line: u32,
    ) -> &mut BlockEntry {
        let review = self.snapshot.reviews.iter_mut().rev().find(|it| it.text.reading.block.is_some());
        let block = review.and_then(|it| it.text.reading.block.as_mut()).expect("a verdict first");
        block.entries.push(BlockEntry {
            id: FindingId(id),
            severity,
            state,
            title: format!("finding {id}"),
            path: path.into(),
            line: Some(line),
            now: None,
            rule: None,
            detail: Default::default(),
            fingerprint: Fingerprint(format!("f{id}")),
            head: sha('a'),
            rounds: Vec::new(),
            threaded: false,
            by: None,
            reopened: None,
        });
        block.entries.last_mut().expect("just pushed")
    }

    /// A top-level comment.
    pub(crate) fn comment(&mut self, author: Author, ago: i64) -> &mut Comment {
        let number = self.snapshot.comments.len() + 1;
        self.snapshot.comments.push(Comment {
            id: CommentId(format!("c{number}")),
            author,
            at: Time(NOW - ago),
            edited: false,
            text: Text::default(),
            url: String::new(),
        });
        self.snapshot.comments.last_mut().expect("just pushed")
    }

    /// Adds referee's comment on a topic.
    pub(crate) fn topic(&mut self, by: &str, ago: i64, topic: Topic) -> &mut Comment {
        let head = self.snapshot.pull.head.clone();
        let comment = self.comment(program(by), ago);
        comment.text.reading.tag = Some(Box::new(tag(topic, head)));
        comment
    }

    pub(crate) fn command(&mut self, author: Author, ago: i64, ask: Ask) {
        self.comment(author, ago).text.reading.ask = Some(Box::new(ask));
    }

    pub(crate) fn self_review(&mut self, clean: bool) {
        self.topic("worker", HOUR, Topic::SelfReview { clean });
    }

    /// Adds a job record at this change.
    pub(crate) fn job(&mut self, kind: JobKind, cause: &str, ago: i64, outcome: Option<WorkOutcome>) -> &mut Comment {
        let change = self.snapshot.changes.patch.clone();
        self.job_at(change, kind, cause, ago, outcome)
    }

    pub(crate) fn job_at(
        &mut self,
        change: PatchId,
        kind: JobKind,
        cause: &str,
        ago: i64,
        outcome: Option<WorkOutcome>,
    ) -> &mut Comment {
        let epoch = self.snapshot.comments.len() as u64 + 1;
        let topic = Topic::Job { kind, cause: cause.into(), patch: change, epoch, outcome, retried: false };
        self.topic("referee", ago, topic)
    }

    pub(crate) fn label(&mut self, name: &str, by: &str, ago: i64) {
        let label = Label { name: name.into(), by: Some(by.into()), at: Some(Time(NOW - ago)) };
        self.snapshot.pull.labels.push(label);
    }

    /// Adds a thread with one note per author.
    pub(crate) fn thread(&mut self, authors: &[Author]) -> &mut Thread {
        let number = self.snapshot.threads.len() + 1;
        let notes = authors.iter().enumerate().map(|(at, author)| Note {
            id: NoteId(format!("n{number}.{at}")),
            author: author.clone(),
            at: Time(NOW - 2 * HOUR + at as i64),
            edited: false,
            text: Text::default(),
        });
        self.snapshot.threads.push(Thread {
            id: ThreadId(format!("t{number}")),
            review: None,
            path: Some("src/a.rs".into()),
            line: Some(1),
            start_line: None,
            side: Side::New,
            notes: notes.collect(),
            resolved: None,
            outdated: false,
            can_resolve: true,
            can_reply: true,
            url: String::new(),
        });
        self.snapshot.threads.last_mut().expect("just pushed")
    }

    /// Adds a thread that the role opened for a finding.
    pub(crate) fn finding_thread(&mut self, role: &str, id: u64, then: &[Author]) -> &mut Thread {
        let authors: Vec<Author> = std::iter::once(program("referee")).chain(then.iter().cloned()).collect();
        let head = self.snapshot.pull.head.clone();
        let thread = self.thread(&authors);
        let kind = TagKind::Root {
            role: role.into(),
            finding: FindingId(id),
            fingerprint: Fingerprint(format!("f{id}")),
            severity: Severity::Suggestion,
            settled: None,
        };
        thread.notes[0].text.reading.tag =
            Some(Box::new(UnsealedMark { data: Tag { kind, head }, trust: Trust::Sealed }));
        thread
    }

    pub(crate) fn report(&mut self, role: &str, outcome: ReportOutcome) {
        self.snapshot.evidence.reports.push(Report {
            role: role.into(),
            head: self.snapshot.pull.head.clone(),
            outcome,
            summary: String::new(),
            findings: Vec::new(),
            pre_existing: Vec::new(),
            positions: Vec::new(),
            deterministic: false,
            intake: Default::default(),
            tool: None,
            figures: RunCost::default(),
            digest: Hash::digest("report"),
        });
    }

    /// Applies the rules to findings as they are stored.
    pub(crate) fn rules(&self) -> Ruled {
        self.rules_over(|_| {})
    }

    pub(crate) fn rules_over(&self, change: impl Fn(&mut Vec<RoleJudgement<'_>>)) -> Ruled {
        let facts = Facts::new(&self.snapshot, &self.policy);
        let mut judged = judge(&facts);
        change(&mut judged);
        decide::apply_rules(&facts, &judged, &self.scope)
    }

    /// Builds the plan from the rules only.
    pub(crate) fn plan(&self) -> Plan {
        let facts = Facts::new(&self.snapshot, &self.policy);
        let judged = judge(&facts);
        let outcome = decide::apply_rules(&facts, &judged, &self.scope);
        let mut plan = Plan {
            pull: self.snapshot.pull.number,
            head: self.snapshot.pull.head.clone(),
            steps: outcome.steps,
            refused: outcome.refused,
            reviews: outcome.reviews,
            next: outcome.next,
            why: outcome.why,
            delivery: None,
            roles: Vec::new(),
            accounting: Vec::new(),
            findings: judged.iter().flat_map(|of| of.findings.iter().map(move |it| line(of, it))).collect(),
            round: outcome.round,
        };
        let answers = decide::answer_commands(&facts, &plan);
        plan.steps.extend(answers);
        plan
    }

    /// Changes the snapshot as the step would change the forge.
    pub(crate) fn apply(&mut self, step: &Step) {
        let by = step.by.clone();
        match &step.action {
            Action::EnsureComment { existing, target: CommentTarget::Pull, text } => {
                let Trailer::Tag(tag) = &text.trailer else { panic!("a comment carries a Tag") };
                let mut written = Text::from_body(text.words.as_str());
                written.reading.tag = Some(Box::new(UnsealedMark { data: Tag::clone(tag), trust: Trust::Sealed }));
                match existing {
                    Some(id) => {
                        let comment = self.snapshot.comments.iter_mut().find(|comment| comment.id == *id);
                        let comment = comment.expect("an existing comment is there");
                        assert!(comment.author.has_login(&by), "only the author edits (PUB-9)");
                        comment.text = written;
                    }
                    None => {
                        let at = self.snapshot.taken_at;
                        let comment = self.comment(program(by.as_str()), 0);
                        (comment.text, comment.at) = (written, at);
                    }
                }
            }
            Action::SetLabel { name, on } => {
                self.snapshot.pull.labels.retain(|label| label.name != *name);
                if *on {
                    let at = Some(self.snapshot.taken_at);
                    self.snapshot.pull.labels.push(Label { name: name.clone(), by: Some(by), at });
                }
            }
            Action::Assign { target: CommentTarget::Pull, who } => {
                self.snapshot.pull.assignees.extend(who.clone());
            }
            other => panic!("no rule plans {}", other.name()),
        }
    }
}

pub(crate) fn check(name: &str, state: CheckState) -> Check {
    Check { name: name.into(), state }
}

pub(crate) fn file(path: &str) -> ChangedFile {
    ChangedFile {
        path: path.into(),
        old_path: None,
        kind: ChangeKind::Modified,
        hunks: Vec::new(),
        old_len: None,
        new_len: None,
    }
}

pub(crate) fn tag(topic: Topic, head: Sha) -> UnsealedMark<Tag> {
    UnsealedMark { data: Tag { kind: TagKind::Topic(topic), head }, trust: Trust::Sealed }
}

/// Judges findings as stored and verdicts as in the Marks: what `threads` returns when nothing changes.
pub(crate) fn judge<'a>(facts: &'a Facts<'a>) -> Vec<RoleJudgement<'a>> {
    let change = &facts.snapshot.changes.patch;
    let one = |role: &'a RoleFacts<'a>| {
        let findings = role.known_findings.iter().map(judged).collect();
        let fresh = match role.report.map(|report| &report.outcome) {
            None => ReportStatus::Absent,
            Some(ReportOutcome::Failed { reason }) => ReportStatus::Failed { reason },
            Some(_) if role.report_covers_head => ReportStatus::Complete,
            Some(_) => ReportStatus::Incomplete { why: "coverage" },
        };
        let own = role.standing.map(|standing| standing.mark.own);
        RoleJudgement {
            own_verdict: own,
            reaches_blocking_threshold: own == Some(Verdict::RequestChanges),
            is_current: role.is_current_for(change) || fresh == ReportStatus::Complete,
            role,
            findings,
            report_status: fresh,
            new_threads: Vec::new(),
            accounting: Default::default(),
            overflow: Default::default(),
        }
    };
    facts.roles.iter().map(one).collect()
}

fn judged<'a>(known: &'a KnownFinding<'a>) -> JudgedFinding<'a> {
    JudgedFinding {
        id: known.id,
        severity: known.severity,
        state: known.state,
        counts: !known.state.is_settled(),
        title: known.title,
        path: known.path,
        line: known.line,
        rule: known.rule,
        detail: known.detail,
        fingerprint: known.fingerprint,
        head: known.head,
        thread: known.thread.map(|thread| &thread.id),
        thread_url: "",
        opens_thread: false,
        accepted_by: known.accepted_by,
        reopened_at: known.reopened_at,
        remark: FindingRemark::None,
        known: Some(known),
        needs_human_reason: None,
        change: FindingChange::Unchanged,
    }
}

pub(crate) use referee_core::model::snapshot::WorkOutcome;

/// Describes an outcome: `checks-failed: wait author; review static`.
pub(crate) fn told(outcome: &Ruled) -> String {
    let next = match &outcome.next {
        Next::Idle => "idle".to_owned(),
        Next::Wait(on) => format!("wait {on:?}").to_lowercase(),
        Next::Spawn(job) if job.retry => format!("respawn {} {}", job.kind, job.cause),
        Next::Spawn(job) => format!("spawn {} {}", job.kind, job.cause),
        Next::Ready => "ready".to_owned(),
        Next::Blocked(cause) => format!("blocked {cause:?}").to_lowercase(),
    };
    let reviews: String = outcome.reviews.iter().map(|brief| format!("; review {}", brief.role)).collect();
    format!("{}: {next}{reviews}", outcome.why.rule)
}

/// Describes the steps.
pub(crate) fn steps(steps: &[Step]) -> Vec<String> {
    steps.iter().map(step).collect()
}

fn step(step: &Step) -> String {
    let what = match &step.action {
        Action::SetLabel { name, on: true } => format!("+{name}"),
        Action::SetLabel { name, on: false } => format!("-{name}"),
        Action::Assign { who, .. } => format!("assign {}", who.as_ref().map_or("nobody", Login::as_str)),
        Action::EnsureComment { existing, text, .. } => {
            let Trailer::Tag(tag) = &text.trailer else { panic!("a comment carries a Tag") };
            let TagKind::Topic(topic) = &tag.kind else { panic!("a comment has a topic") };
            let name = match topic {
                Topic::Operator { epoch } => format!("operator {epoch}"),
                Topic::Notice { .. } => "notice".to_owned(),
                Topic::Job { kind, outcome, .. } => format!("job {kind} {outcome:?}").to_lowercase(),
                Topic::Ready { .. } => "handoff".to_owned(),
                Topic::SelfReview { clean } => format!("self-review {clean}"),
                Topic::FixPlan => "fix-plan".to_owned(),
                Topic::Glass { .. } => "glass".to_owned(),
                Topic::Said { to } | Topic::PauseSet { to, .. } => format!("said {to}"),
            };
            if existing.is_some() { format!("edit {name}") } else { name }
        }
        other => other.name().to_owned(),
    };
    format!("{what} by {}", step.by)
}

fn line<'a>(judgement: &'a RoleJudgement<'_>, it: &'a JudgedFinding<'_>) -> FindingLine<'a> {
    FindingLine {
        id: it.id,
        role: judgement.name().as_str(),
        severity: it.severity,
        path: it.path,
        line: it.line,
        title: it.title,
        rule: it.rule,
        detail: it.detail,
        fingerprint: &it.fingerprint.0,
        state: it.state,
        counts: it.counts,
        thread: it.thread.map(|id| id.as_str()),
    }
}
