//! Delivery of an `impl` worker's result.

use referee_core::decide::plan_issue_delivery;
use referee_core::mark::Topic;
use referee_core::model::*;
use referee_core::plan::{Delivery, JobKind};
use referee_core::track::PatchId;

use crate::schedule::{issue, record};
use crate::support::*;

fn result() -> WorkResult {
    WorkResult {
        kind: JobKind::Impl,
        epoch: 1,
        started_at: sha('0'),
        outcome: WorkOutcome::Done,
        summary: String::new(),
        head: Some(sha('d')),
        patch: Some(PatchId::default()),
        files: Vec::new(),
        escapes: Vec::new(),
        audit: Some(CommitAudit { descends: true, ..CommitAudit::default() }),
        clean: None,
        plan: Vec::new(),
        pull: Some(("Add retries".into(), "Because.".into())),
    }
}

// spec: DSP-18 @core
#[test]
fn each_row_of_the_table() {
    type Hand = fn(&mut WorkResult);
    let (done, failed, human) = ("some(done)", "some(failed)", "some(needshuman)");
    let rows: [(&str, Hand, Option<&str>, Option<&str>); 9] = [
        ("done", |_| {}, Some(done), None),
        ("of a pull", |it| it.kind = JobKind::Findings, None, Some("it belongs to a pull")),
        ("stale", |it| it.epoch = 0, None, Some("its lease was taken over")),
        ("no record", |it| it.epoch = 2, None, Some("there is no record of this job")),
        ("failed", |it| it.outcome = WorkOutcome::Failed, Some(failed), None),
        ("no commit", |it| it.head = None, Some(failed), Some("it left no commit")),
        (
            "rewritten",
            |it| it.audit = Some(CommitAudit::default()),
            Some(human),
            Some("its commits do not continue from 0000000"),
        ),
        ("escapes", |it| it.escapes = vec!["link".into()], Some(human), Some("`link` leaves the tree")),
        ("protected", |it| it.files = vec![file("Cargo.lock")], Some(human), Some("`Cargo.lock` is protected")),
    ];
    for (name, hand, outcome, refused) in rows {
        let stage = Stage::with_workers();
        let mut issue = issue(12);
        issue.assignees = vec!["bob".into(), "worker".into()];
        issue.comments = vec![record(12, 1, 30 * MINUTE, None, false)];
        let mut result = result();
        hand(&mut result);
        let delivered = plan_issue_delivery(&issue, None, &result, &stage.policy, &stage.snapshot.viewer);
        let opens = outcome == Some(done);
        let mut expected: Vec<String> =
            outcome.iter().map(|outcome| format!("edit job impl {outcome} by referee")).collect();
        expected.extend((outcome.is_some() && !opens).then(|| "assign nobody by worker".to_owned()));
        assert_eq!(steps(&delivered.steps), expected, "{name}");
        let refusals: Vec<_> = delivered.refused.iter().flat_map(|it| &it.why.facts).collect();
        assert_eq!(refusals, refused.iter().collect::<Vec<_>>(), "{name}");
        match delivered.delivery {
            Some(Delivery::OpenPull { branch, commit, epoch, .. }) => {
                assert!(opens, "{name}");
                assert_eq!((branch.as_str(), commit, epoch), ("referee/issue-12", sha('d'), 1));
            }
            other => assert!(!opens && other.is_none(), "{name}: {other:?}"),
        }
    }
}

// spec: DSP-14 @core
#[test]
fn a_newer_lease_on_the_issue_refuses_the_result() {
    let stage = Stage::with_workers();
    let mut issue = issue(12);
    issue.comments = vec![record(12, 1, 2 * HOUR, None, false)];
    let lease = Lease { by: "other".into(), epoch: 2, since: Time(NOW), until: Time(NOW + HOUR) };
    let delivered = plan_issue_delivery(&issue, Some(&lease), &result(), &stage.policy, &stage.snapshot.viewer);
    assert!(delivered.delivery.is_none() && delivered.steps.is_empty() && delivered.refused.len() == 1);
}

#[test]
fn only_the_author_of_a_record_edits_it() {
    let mut stage = Stage::with_workers();
    stage.policy.roles[0].identity = Some("elsewhere".into());
    let mut issue = issue(12);
    issue.comments = vec![record(12, 1, MINUTE, None, false)];
    issue.comments[0].author = program("elsewhere");
    let delivered = plan_issue_delivery(&issue, None, &result(), &stage.policy, &stage.snapshot.viewer);
    assert!(delivered.steps.is_empty(), "{:?}", steps(&delivered.steps));
    assert!(matches!(
        issue.comments[0].text.trusted_tag().map(|tag| &tag.kind),
        Some(referee_core::mark::TagKind::Topic(Topic::Job { .. }))
    ));
}
