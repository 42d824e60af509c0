//! Delivery of a worker's result on a pull.

use referee_core::decide::{TreeEntry, find_protected_links, plan_delivery};
use referee_core::facts::Facts;
use referee_core::model::answer::{FixSubject, PlannedFix};
use referee_core::model::*;
use referee_core::plan::{Delivery, JobKind, Precondition};
use referee_core::policy::Policy;
use referee_core::say::Ask;
use referee_core::track::ChangedFile;

use crate::support::*;

/// A `findings` worker of epoch 1 that is done and changed `src/a.rs`.
pub(crate) fn done() -> Stage {
    let mut stage = Stage::with_workers();
    stage.verdict("static", Verdict::RequestChanges);
    stage.job(JobKind::Findings, "role:static", 30 * MINUTE, None);
    stage.label("wip", "worker", 30 * MINUTE);
    stage.snapshot.evidence.result = Some(WorkResult {
        kind: JobKind::Findings,
        epoch: 1,
        started_at: sha('a'),
        outcome: WorkOutcome::Done,
        summary: "fixed".into(),
        head: Some(sha('d')),
        patch: Some(patch("p2")),
        files: vec![file("src/a.rs")],
        escapes: Vec::new(),
        audit: Some(CommitAudit { descends: true, ..CommitAudit::default() }),
        clean: None,
        plan: Vec::new(),
        pull: None,
    });
    stage
}

fn result(stage: &mut Stage) -> &mut WorkResult {
    stage.snapshot.evidence.result.as_mut().expect("a result")
}

fn audit(stage: &mut Stage) -> &mut CommitAudit {
    result(stage).audit.as_mut().expect("an audit")
}

/// `push`, the steps, and the refusals of a result.
fn fate(stage: &Stage) -> (bool, Vec<String>, Vec<String>) {
    let facts = Facts::new(&stage.snapshot, &stage.policy);
    let (delivery, planned, refused) = plan_delivery(&facts);
    if let Some(delivery) = &delivery {
        let push = Delivery::Push { commit: sha('d'), over: sha('a'), epoch: 1 };
        assert_eq!(*delivery, push, "with a lease on the head it started from");
    }
    (delivery.is_some(), steps(&planned), refused.into_iter().flat_map(|it| it.why.facts).collect())
}

const DONE: [&str; 2] = ["edit job findings some(done) by referee", "-wip by worker"];
const HUMAN: [&str; 2] = ["edit job findings some(needshuman) by referee", "-wip by worker"];

/// Name, modification, whether it is pushed, the steps, the refusals.
type Row = (&'static str, fn(&mut Stage), bool, &'static [&'static str], &'static [&'static str]);

// spec: DSP-14, DSP-16 @core
#[test]
fn each_row_of_the_table() {
    let rows: [Row; 23] = [
        ("done", |_| {}, true, &DONE, &[]),
        ("closed", |it| it.snapshot.pull.state = PullState::Closed, false, &[], &["the pull is not open"]),
        ("impl", |it| result(it).kind = JobKind::Impl, false, &[], &["it belongs to an issue"]),
        (
            "a newer lease",
            |it| {
                let lease = Lease { by: "other".into(), epoch: 2, since: Time(NOW), until: Time(NOW + HOUR) };
                it.snapshot.lease = Some(lease);
            },
            false,
            &[],
            &["its lease was taken over"],
        ),
        (
            "a newer record",
            |it| drop(it.job(JobKind::Findings, "role:static", MINUTE, None).clone()),
            false,
            &[],
            &["its lease was taken over"],
        ),
        ("no record", |it| result(it).epoch = 5, false, &[], &["there is no record of this job"]),
        ("another type", |it| result(it).kind = JobKind::CiFix, false, &[], &["there is no record of this job"]),
        (
            "head moved",
            |it| it.snapshot.pull.head = sha('e'),
            false,
            &["-wip by worker"],
            &["the head moved from aaaaaaa to eeeeeee"],
        ),
        (
            "paused",
            |it| it.command(person("carol"), MINUTE, Ask::Pause),
            false,
            &["-wip by worker"],
            &["carol paused this pull"],
        ),
        (
            "glass",
            |it| it.command(person("carol"), MINUTE, Ask::BreakGlass { reason: "fire".into() }),
            false,
            &["-wip by worker"],
            &["carol broke the glass at this change"],
        ),
        (
            "approved",
            |it| drop(it.review(person("carol"), Verdict::Approve, sha('a')).clone()),
            false,
            &["-wip by worker"],
            &["carol approved this head"],
        ),
        (
            "failed",
            |it| result(it).outcome = WorkOutcome::Failed,
            false,
            &["edit job findings some(failed) by referee", "-wip by worker"],
            &[],
        ),
        (
            "nothing to do",
            |it| result(it).outcome = WorkOutcome::NothingToDo,
            false,
            &["edit job findings some(nothingtodo) by referee", "-wip by worker"],
            &[],
        ),
        ("escapes", |it| result(it).escapes = vec!["link".into()], false, &HUMAN, &["`link` leaves the tree"]),
        ("no commit", |it| result(it).head = None, false, &DONE, &[]),
        ("the same commit", |it| result(it).head = Some(sha('a')), false, &DONE, &[]),
        (
            "not pushable",
            |it| it.snapshot.pull.pushable = Some(false),
            false,
            &HUMAN,
            &["the head cannot be pushed to"],
        ),
        ("not examined", |it| result(it).audit = None, false, &HUMAN, &["its commits were not examined"]),
        ("rewritten", |it| audit(it).descends = false, false, &HUMAN, &["its commits do not continue from aaaaaaa"]),
        (
            "another author",
            |it| audit(it).foreign = vec![sha('f')],
            false,
            &HUMAN,
            &["commit fffffff is in another person's name"],
        ),
        (
            "a link to a protected path",
            |it| {
                let link = ProtectedLink { path: "notes".into(), protected: "codeowners".into() };
                audit(it).protected_links = vec![link];
            },
            false,
            &HUMAN,
            &["a link connects `notes` with `codeowners`, which is protected"],
        ),
        ("unknown change", |it| result(it).patch = None, false, &HUMAN, &["its patch-id could not be computed"]),
        (
            "a foreign wip stays",
            |it| it.snapshot.pull.labels[0].by = Some("bob".into()),
            true,
            &["edit job findings some(done) by referee"],
            &[],
        ),
    ];
    for (name, hand, pushes, written, refused) in rows {
        let mut stage = done();
        hand(&mut stage);
        let fate = fate(&stage);
        assert_eq!(fate, (pushes, owned(written), owned(refused)), "{name}");
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

// spec: DSP-14 @core
#[test]
fn a_change_of_a_protected_path_goes_to_a_person() {
    let touched = [
        ".github/workflows/ci.yml",
        ".GitHub/workflows/ci.yml",
        ".github",
        "service/.gitea/workflows/ci.yml",
        ".gitlab/ci/test.yml",
        "ci/build.gitlab-ci.yml",
        ".woodpecker.yml",
        ".woodpecker/test.yaml",
        ".drone.star",
        "Jenkinsfile",
        "deploy/Jenkinsfile.release",
        ".circleci/config.yml",
        ".travis.yml",
        "azure-pipelines.yml",
        "build/azure-pipelines-nightly.yaml",
        ".buildkite/pipeline.yml",
        "bitbucket-pipelines.yml",
        ".zuul.d/jobs.yaml",
        "CODEOWNERS",
        "docs/CODEOWNERS",
        "codeowners.",
        "CODEOWNER\u{17f}",
        ".git\u{200c}hub/workflows/ci.yml",
        ".github\\workflows\\ci.yml",
        "referee.toml",
        "referee.toml::$DATA",
        ".referee/rules/own.yml",
        ".gitleaks.toml",
        ".gitattributes",
        ".gitmodules",
        ".husky/pre-push",
        ".githooks/pre-commit",
        ".pre-commit-config.yaml",
        "lefthook.yml",
        "AGENTS.md",
        "web/CLAUDE.md",
        "CLAUDE.local.md",
        ".claude/settings.json",
        ".cursor/rules/a.mdc",
        ".cursorrules",
        ".cursor",
        ".windsurfrules",
        "GEMINI.md",
        ".github/copilot-instructions.md",
        ".aider.conf.yml",
        "Cargo.lock",
        "web/package-lock.json",
        "web/pnpm-lock.yaml",
        "infra/.terraform.lock.hcl",
        "bun.lockb",
        "go.sum",
        "docs/secret policy/[a].md",
    ];
    for path in touched {
        let mut stage = done();
        stage.policy.protected = vec!["docs/Secret Policy/**".into()];
        result(&mut stage).files.push(file(path));
        assert_eq!(fate(&stage), (false, owned(&HUMAN), vec![format!("`{path}` is protected")]));
        result(&mut stage).patch = Some(patch("p1"));
        assert!(fate(&stage).0, "{path}: a rebase that keeps the change passes");
    }
    let mut moved = done();
    result(&mut moved).files = vec![ChangedFile { old_path: Some("Cargo.lock".into()), ..file("other") }];
    assert!(!fate(&moved).0, "renamed away");
    let mut reverted = done();
    reverted.snapshot.changes.files = vec![file("Cargo.lock")];
    assert!(!fate(&reverted).0, "what the pull changed before is judged too");
    for path in [
        "src/lock.rs",
        "docs/codeowners.md",
        "src/referee.toml.rs",
        "blocks/a.rs",
        "src/agents.rs",
        "docs/claude-api.md",
        "src/drone.yml",
        "src/github/client.rs",
        ".gitignore",
    ] {
        let mut stage = done();
        result(&mut stage).files.push(file(path));
        assert!(fate(&stage).0, "{path} is nobody's secret");
    }
}

// spec: DSP-14 @core
#[test]
fn a_rebase_is_delivered_only_if_it_keeps_every_change_and_commit() {
    type Damage = fn(&mut RebaseAudit);
    let fate_of = |hand: Damage| {
        let mut stage = Stage::with_workers();
        stage.snapshot.pull.mergeable = Mergeable::Conflict;
        stage.job(JobKind::Rebase, "conflict", MINUTE, None);
        stage.snapshot.evidence.result = done().snapshot.evidence.result;
        let mut rebase = RebaseAudit { contains_base: true, conflicts: vec!["src/a.rs".into()], ..Default::default() };
        hand(&mut rebase);
        let result = result(&mut stage);
        result.kind = JobKind::Rebase;
        result.audit = Some(CommitAudit { rebase: Some(rebase), ..CommitAudit::default() });
        let (delivery, planned, refused) = plan_delivery(&Facts::new(&stage.snapshot, &stage.policy));
        let refused: Vec<String> = refused.into_iter().flat_map(|it| it.why.facts).collect();
        (delivery.is_some(), format!("{planned:?}"), refused)
    };
    let (pushed, planned, refused) = fate_of(|_| {});
    assert_eq!((pushed, refused), (true, vec![]), "a rebase does not contain the old head");
    assert!(planned.contains("solved conflicts in `src/a.rs`"), "the conflicts are named: {planned}");
    let rows: [(Damage, &str); 3] = [
        (|it| it.contains_base = false, "it is not based on the tip of the target branch"),
        (
            |it| it.lost = vec!["src/b.rs".into()],
            "the change of `src/b.rs` is lost, and git merges it without a conflict",
        ),
        (|it| it.dropped = vec![sha('c')], "commit ccccccc is dropped"),
    ];
    for (hand, why) in rows {
        let (pushed, _, refused) = fate_of(hand);
        assert_eq!((pushed, refused), (false, vec![why.to_owned()]));
    }
}

// spec: DSP-14 @core
#[test]
fn a_link_does_not_hide_a_protected_path() {
    let tree = |entries: &[(&str, &str)]| -> Vec<TreeEntry> {
        let entries = entries.iter().map(|(path, target)| TreeEntry {
            path: (*path).to_owned(),
            link_target: (!target.is_empty()).then(|| (*target).to_owned()),
        });
        entries.collect()
    };
    let files = [(".github/workflows/ci.yml", ""), ("docs/guide.md", ""), ("src/x/CODEOWNERS.txt", ""), ("a/b/c", "")];
    let found = |links: &[(&str, &str)], before: &[(&str, &str)], changed: &[&str]| {
        let (before, after) = ([&files, before].concat(), [&files, before, links].concat());
        let policy = Policy { protected: vec!["deploy/b/**".into()], ..Policy::default() };
        let found = find_protected_links(&policy, &tree(&before), &tree(&after), changed);
        found.into_iter().map(|it| format!("{} {}", it.path, it.protected)).collect::<Vec<_>>()
    };
    let ci = ".github/workflows/ci.yml";
    for (links, want) in [
        (&[("notes", ".github/workflows")][..], vec!["notes .github/workflows".to_owned()]),
        (&[("notes", ".GitHub/Workflows/ci.yml")], vec![format!("notes {ci}")]),
        (&[("src/up", "..")], vec![format!("src/up {ci}")]),
        (&[("src/up", "../.")], vec![format!("src/up {ci}")]),
        // Through a folder that is itself a link.
        (&[("d", ".github"), ("k", "d/workflows")], vec!["d .github".to_owned(), "k .github/workflows".to_owned()]),
        // A file gets a protected name.
        (&[("deploy", "a")], vec!["deploy deploy/b/c".to_owned()]),
        (&[("plain", "docs"), ("file", "src/x/CODEOWNERS.txt"), ("loop", "loop"), ("out", "../x")], vec![]),
    ] {
        assert_eq!(found(links, &[], &[]), want, "{links:?}");
        assert_eq!(found(&[], links, &[]), [] as [&str; 0], "{links:?} was there before");
    }
    let instructions = [("CLAUDE.md", "inner/agents"), ("inner", "way"), ("way/agents", "../docs/guide.md")];
    for (path, want) in [
        ("docs/guide.md", vec!["docs/guide.md claude.md"]),
        ("DOCS/guide.md", vec!["DOCS/guide.md claude.md"]),
        ("way/agents", vec!["way/agents claude.md"]),
        ("inner", vec!["inner claude.md"]),
        ("a/b/c", vec![]),
    ] {
        assert_eq!(found(&[], &instructions, &[path]), want);
    }
}

// spec: PUB-22, DSP-8 @core
#[test]
fn a_self_review_pushes_nothing() {
    let assessed = |clean: Option<bool>, head: Option<Sha>| {
        let mut stage = Stage::with_workers();
        stage.verdict("static", Verdict::Approve);
        stage.job(JobKind::SelfReview, "self-review", MINUTE, None);
        stage.snapshot.evidence.result = done().snapshot.evidence.result;
        let it = result(&mut stage);
        (it.kind, it.clean, it.head) = (JobKind::SelfReview, clean, head);
        fate(&stage)
    };
    let record = "edit job self-review some(done) by referee";
    let words = |clean| owned(&[clean, record]);
    assert_eq!(assessed(Some(true), None), (false, words("self-review true by worker"), vec![]));
    assert_eq!(assessed(Some(false), None), (false, words("self-review false by worker"), vec![]));
    assert_eq!(assessed(None, None), (false, words("self-review false by worker"), vec![]), "unreadable");
    let pushed = assessed(Some(true), Some(sha('d')));
    assert_eq!(pushed, (false, words("self-review true by worker"), owned(&["a self-review pushes nothing"])));
}

// spec: PUB-22 @core
#[test]
fn a_fix_plan_is_written_when_the_work_is_done() {
    let mut stage = done();
    result(&mut stage).plan = vec![PlannedFix { about: FixSubject::Finding(FindingId(4)), plan: "guard it".into() }];
    assert_eq!(fate(&stage).1, ["fix-plan by worker", DONE[0], DONE[1]]);
    result(&mut stage).outcome = WorkOutcome::Failed;
    assert_eq!(fate(&stage).1[0], "edit job findings some(failed) by referee");
}

// spec: DSP-14, DSP-16 @core
#[test]
fn a_result_that_was_recorded_is_delivered_again_and_recorded_no_more() {
    let mut stage = done();
    let facts = Facts::new(&stage.snapshot, &stage.policy);
    let (_, planned, _) = plan_delivery(&facts);
    for step in &planned {
        stage.apply(step);
    }
    assert_eq!(fate(&stage), (true, vec![], vec![]), "a crash before the push loses nothing");
    assert_eq!(told(&stage.rules()), "changes-requested: wait worker", "and calls nobody");
    stage.snapshot.evidence.result = None;
    assert_eq!(told(&stage.rules()), "changes-requested: blocked needshuman", "unless it is lost");
}

// spec: DSP-14 @core
#[test]
fn a_late_result_is_delivered_and_not_started_over() {
    let mut stage = done();
    stage.snapshot.taken_at = Time(NOW + 5 * HOUR);
    assert_eq!(fate(&stage), (true, owned(&DONE), vec![]));
    assert_eq!(told(&stage.rules()), "changes-requested: wait worker");
}

#[test]
fn a_record_is_valid_before_and_after_the_push() {
    let stage = done();
    let (_, planned, _) = plan_delivery(&Facts::new(&stage.snapshot, &stage.policy));
    assert!(planned.iter().all(|step| step.expect == Precondition::Nothing));
}

#[test]
fn without_a_result_nothing_is_delivered() {
    let mut stage = done();
    stage.snapshot.evidence.result = None;
    assert_eq!(fate(&stage), (false, vec![], vec![]));
}
