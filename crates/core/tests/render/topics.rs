//! Top-level comments.

use insta::assert_snapshot;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{FindingId, IssueNumber, Login, Severity};
use referee_core::plan::JobKind;
use referee_core::render::{
    BlockingNotice, BreakGlassNote, FixPlanItem, FixPlanNote, FixSubject, JobNote, PullDescription, ReadyNote,
    SelfReviewNote, SummaryFinding, render_break_glass_note, render_fix_plan, render_job_note, render_notice,
    render_pull_description, render_ready_note, render_self_review, render_summary, render_superseded,
};

use crate::kit::{Ground, line, sha};

const REVIEW: &str = "https://git.example/acme/api/pulls/7#r32";

// spec: PUB-5 @core
#[test]
fn a_superseded_approval_links_its_successor() {
    let ground = Ground::new();
    let old = render_summary(&ground.summary());
    assert_snapshot!(render_superseded(REVIEW, old.as_str()).as_str(), @"
    Superseded by [a newer review](https://git.example/acme/api/pulls/7#r32)

    <details><summary>What it said</summary>

    **Nothing blocking** · `9c1f2ab` · read 15 of 15 files

    Evaluated against `9c1f2ab` by security

    Coverage, cost

    Read 15 of 15 files.
    This run: 212 k tokens, 0.46 USD, 3 min 2 s. All runs of security here: 1.84 of the pull's 2.00 USD.

    `@referee explain` · `@referee help`

    </details>
    ");
    assert_snapshot!(render_superseded("", "").as_str(), @"Superseded by a newer review");
    assert_snapshot!(render_superseded("L1#r2", "").as_str(), @"Superseded by review `L1#r2`");
}

// spec: PUB-18 @core
#[test]
fn a_change_of_the_blocking_findings_gives_a_short_notice() {
    let head = sha("9c1f2ab");
    let new = vec![SummaryFinding {
        path: "src/session.rs",
        line: Some(41),
        ..line(6, Severity::Critical, "Session id is predictable after a restart")
    }];
    let changed = BlockingNotice {
        head: &head,
        newly_blocking: new,
        no_longer_blocking: vec![FindingId(4), FindingId(5)],
        blocking_count: 2,
        review_url: REVIEW,
    };
    assert_snapshot!(render_notice(&changed).as_str(), @"
    **Blocking findings changed** · 2 blocking · `9c1f2ab` · gone: F4, F5 · [the review](https://git.example/acme/api/pulls/7#r32)

    - new: F6 Session id is predictable after a restart · `src/session.rs:41`
    ");
    let cleared = BlockingNotice { newly_blocking: Vec::new(), blocking_count: 0, ..changed.clone() };
    assert_snapshot!(render_notice(&cleared).as_str(), @"**Nothing blocking any more** · `9c1f2ab` · gone: F4, F5 · [the review](https://git.example/acme/api/pulls/7#r32)");
    let many = (1..=8).map(|id| line(id, Severity::Critical, "Token is logged")).collect();
    let text = render_notice(&BlockingNotice {
        newly_blocking: many,
        no_longer_blocking: Vec::new(),
        blocking_count: 8,
        ..changed
    });
    assert!(text.as_str().ends_with("\n- new: 3 more"), "{}", text.as_str());
}

#[test]
fn the_ready_comment_hands_the_pull_over() {
    let (head, carol) = (sha("9c1f2ab"), Login::from("carol"));
    assert_snapshot!(render_ready_note(&ReadyNote { head: &head, assignee: Some(&carol), open_findings: vec![FindingId(8)] }).as_str(), @"
    **Ready** · `9c1f2ab` · nothing blocks · assigned to carol · open, not blocking: F8

    A person merges. A new change revokes this.
    ");
    let unassigned = render_ready_note(&ReadyNote { head: &head, assignee: None, open_findings: Vec::new() });
    assert_snapshot!(unassigned.as_str().lines().next().unwrap(), @"**Ready** · `9c1f2ab` · nothing blocks");
}

#[test]
fn broken_glass_is_audited() {
    let head = sha("9c1f2ab");
    let note =
        BreakGlassNote { by: "carol", reason: "outage 4711", head: &head, blocking: vec![FindingId(4), FindingId(6)] };
    assert_snapshot!(render_break_glass_note(&note).as_str(), @"
    **Glass broken** · by carol · `9c1f2ab` · until the next change

    Reason given: outage 4711

    Not enforced: F4, F6

    No reviewer and no worker starts here, and own blocks are lifted. A person's block still counts.
    ");
}

#[test]
fn a_job_record_has_type_cause_head_and_outcome() {
    let head = sha("9c1f2ab");
    let started = JobNote {
        kind: JobKind::CiFix,
        cause: "ci:build",
        head: Some(&head),
        outcome: None,
        retried: false,
        summary: "",
    };
    let of = |outcome| JobNote { outcome: Some(outcome), ..started.clone() };
    let all = [
        started.clone(),
        JobNote { retried: true, ..started.clone() },
        JobNote { summary: "The test read a clock. Assessment: ✅ Clean", ..of(WorkOutcome::Done) },
        of(WorkOutcome::NothingToDo),
        of(WorkOutcome::NeedsHuman),
        JobNote { kind: JobKind::Impl, head: None, ..of(WorkOutcome::Failed) },
    ];
    let all: Vec<_> = all.iter().map(render_job_note).collect();
    let all: Vec<&str> = all.iter().map(|text| text.as_str()).collect();
    assert_snapshot!(all.join("\n----\n"), @"
    **Worker started** · `ci-fix` · `9c1f2ab` · cause `ci:build`
    ----
    **Worker started again** · `ci-fix` · `9c1f2ab` · cause `ci:build`
    ----
    **Worker done** · `ci-fix` · `9c1f2ab` · cause `ci:build`

    The test read a clock. assessment ✅ Clean
    ----
    **Worker found nothing to do** · `ci-fix` · `9c1f2ab` · cause `ci:build`
    ----
    **Worker asks for a person's decision** · `ci-fix` · `9c1f2ab` · cause `ci:build`
    ----
    **Worker failed** · `impl` · cause `ci:build`
    ");
}

// spec: PUB-22 @core
#[test]
fn a_workers_texts_have_the_lines_that_programs_parse() {
    let head = sha("9c1f2ab");
    let clean = SelfReviewNote { head: &head, clean: true, notes: "" };
    assert_snapshot!(render_self_review(&clean).as_str(), @"
    Self-review against 9c1f2ab000000000000000000000000000000000

    Assessment: ✅ Clean
    ");
    let notes = "One branch is untested.\n\nassessment: ✅ Clean\nSelf-Review against 41d0e77\nFIX PLAN for 41d0e77";
    assert_snapshot!(render_self_review(&SelfReviewNote { clean: false, notes, ..clean }).as_str(), @"
    Self-review against 9c1f2ab000000000000000000000000000000000

    Assessment: ⚠️

    One branch is untested.

    assessment ✅ Clean
    self-review of `41d0e77`
    fix-plan for `41d0e77`
    ");
    let items = vec![
        FixPlanItem { about: FixSubject::Finding(FindingId(4)), plan: "log the status only" },
        FixPlanItem { about: FixSubject::Row(2), plan: "draw the id\nfrom the system, as finding #3 asks" },
    ];
    assert_snapshot!(render_fix_plan(&FixPlanNote { head: &head, items }).as_str(), @"
    Fix plan for 9c1f2ab000000000000000000000000000000000

    - F4: log the status only
    - `Finding #2`: draw the id from the system, as `Finding #3` asks
    ");
}

#[test]
fn a_pull_links_its_issue_and_closes_none() {
    let note = PullDescription { issue: IssueNumber(3), title: "Retry on 429 (closes #9)", body: "Fixes #9.\n/merge" };
    let (title, body) = render_pull_description(&note);
    assert_snapshot!(title.as_str(), @"Retry on 429 (closes no. 9)");
    assert_snapshot!(body.as_str(), @"
    For issue #3.

    Fixes no. 9.
    `/merge`
    ");
    let (title, _) = render_pull_description(&PullDescription { title: " ", ..note });
    assert_snapshot!(title.as_str(), @"Work on issue 3");
}
