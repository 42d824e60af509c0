//! A role's summary in all its states.

use insta::assert_snapshot;
use referee_core::decide::FindingRemark;
use referee_core::mark::Evaluation;
use referee_core::model::{Accounting, FindingId, HeldBack, RoleName, Severity, Verdict};
use referee_core::render::{Summary, SummaryFinding, SummaryNote, render_status, render_summary};

use crate::kit::{Ground, line, sha};

fn first(summary_of: &Summary<'_>) -> String {
    render_summary(summary_of).as_str().lines().next().unwrap().to_owned()
}

// spec: PUB-22 @core
#[test]
fn blocking_findings_come_first_and_are_never_folded() {
    let mut ground = Ground::new();
    ground.evaluation.since = Some(ground.before.clone());
    ground.evaluation.new = vec![FindingId(6), FindingId(8)];
    ground.evaluation.fixed = vec![FindingId(1), FindingId(3), FindingId(5)];
    ground.evaluation.read = 14;
    ground.evaluation.skipped = vec!["Cargo.lock".to_owned()];
    ground.evaluation.fixed_count = 3;
    ground.evaluation.accounting = Accounting {
        received: 9,
        new: 5,
        held_back: HeldBack { unchanged: 4, ..HeldBack::default() },
        ..Accounting::default()
    };
    let accepted = SummaryFinding {
        accepted_by: Some(&ground.bob),
        ..line(2, Severity::Warning, "Timeouts are not configurable")
    };
    let text = render_summary(&Summary {
        accepted_findings: &[accepted],
        evicted_count: 2,
        notes: &[SummaryNote::RolesNotAsked { roles: vec!["docs", "lint"] }],
        ..ground.blocking()
    });
    assert_snapshot!(text.as_str(), @"
    **Changes requested** · 2 blocking, 1 warning, 2 suggestions · `9c1f2ab` · round 2 of 3

    Evaluated against 9c1f2ab by security

    Since `41d0e77`: 3 fixed (F1, F3, F5), 3 still open (F4, F7, F9), 2 new (F6, F8), 1 accepted by bob (F2)

    | Severity | Finding | Where |
    |---|---|---|
    | **critical** F4 | Refresh token is logged when the exchange fails | [`src/auth.rs:88`](https://git.example/acme/api/pulls/7#c4) |
    | **critical** F6 | Session id is predictable after a restart | `src/session.rs:41` |
    | **warning** F7 | The lock is held across a call to the store | `src/auth.rs:88` |

    <details><summary>2 suggestions</summary>

    | Severity | Finding | Where |
    |---|---|---|
    | **suggestion** F8 | `retry` could be a loop | `src/auth.rs:88` |
    | **suggestion** F9 | The name says less than the type | `src/auth.rs:88` |

    </details>

    <details><summary>1 accepted</summary>

    | Severity | Finding | Where |
    |---|---|---|
    | **warning** F2 | Timeouts are not configurable · accepted by bob | `src/auth.rs:88` |

    </details>

    <details><summary>Coverage, cost</summary>

    Read 14 of 15 files, only what changed since `41d0e77`; not read: `Cargo.lock`.
    Not asked, because this change has no files of theirs: docs, lint.
    Results: 9 received, 5 new, 4 held back on code that did not change since the last review.
    Dropped for lack of space: 2 findings.
    This run: 212 k tokens, 0.46 USD, 3 min 2 s. All runs of security here: 1.84 of the pull's 2.00 USD.

    </details>

    <sub>`@referee explain` · `@referee dismiss F4 <reason>` · `@referee help`</sub>
    ");
}

// spec: PUB-17, PUB-22 @core
#[test]
fn a_clean_review_says_so() {
    let ground = Ground::new();
    assert_snapshot!(render_summary(&ground.summary()).as_str(), @"
    **Nothing blocking** · `9c1f2ab` · read 15 of 15 files

    Evaluated against 9c1f2ab by security

    <details><summary>Coverage, cost</summary>

    Read 15 of 15 files.
    This run: 212 k tokens, 0.46 USD, 3 min 2 s. All runs of security here: 1.84 of the pull's 2.00 USD.

    </details>

    <sub>`@referee explain` · `@referee help`</sub>
    ");
}

// spec: PUB-17 @core
#[test]
fn only_an_approval_is_headed_approved() {
    let ground = Ground::new();
    let approved = Summary { posted_verdict: Verdict::Approve, ..ground.summary() };
    assert_snapshot!(first(&approved), @"**Approved** · `9c1f2ab` · read 15 of 15 files");
    let held = Summary { enforced_verdict: Verdict::Comment, ..approved };
    assert_snapshot!(first(&held), @"**Nothing blocking** · `9c1f2ab` · read 15 of 15 files");
}

#[test]
fn a_failed_review_approves_nothing_and_says_how_to_go_on() {
    let mut ground = Ground::new();
    ground.evaluation = Evaluation { failure: Some("model timeout".to_owned()), ..Evaluation::default() };
    let failed = Summary {
        own_verdict: Verdict::Comment,
        enforced_verdict: Verdict::Comment,
        complete: false,
        attempts: 2,
        ..ground.summary()
    };
    assert_snapshot!(render_summary(&failed).as_str(), @"
    **Not reviewed** · security failed twice (model timeout) · `9c1f2ab` · this approves nothing · `@referee retry`

    Evaluated against 9c1f2ab by security

    <details><summary>Coverage, cost</summary>

    Nothing was read.
    This run: 0 tokens, 0.00 USD, 0 s. All runs of security here: 1.84 of the pull's 2.00 USD.

    </details>

    <sub>`@referee explain` · `@referee help`</sub>
    ");
    assert_snapshot!(first(&Summary { attempts: 1, ..failed.clone() }), @"**Not reviewed** · security failed (model timeout) · `9c1f2ab` · this approves nothing · `@referee retry`");
    assert_snapshot!(first(&Summary { attempts: 3, ..failed }), @"**Not reviewed** · security failed 3 times (model timeout) · `9c1f2ab` · this approves nothing · `@referee retry`");
}

#[test]
fn a_failed_run_does_not_hide_what_still_blocks() {
    let mut ground = Ground::new();
    ground.evaluation = Evaluation { failure: Some("model timeout".to_owned()), ..Evaluation::default() };
    assert_snapshot!(first(&Summary { complete: false, attempts: 1, ..ground.blocking() }), @"**Changes requested** · security failed (model timeout) · 2 blocking, 1 warning, 2 suggestions · `9c1f2ab` · round 2 of 3");
}

#[test]
fn an_incomplete_review_approves_nothing() {
    let mut ground = Ground::new();
    ground.evaluation.read = 3;
    ground.evaluation.failure = Some("F4 was left without a position".to_owned());
    let incomplete = Summary {
        own_verdict: Verdict::Comment,
        enforced_verdict: Verdict::Comment,
        complete: false,
        ..ground.summary()
    };
    assert_snapshot!(first(&incomplete), @"**Not fully reviewed** · F4 was left without a position · `9c1f2ab` · this approves nothing · `@referee review`");
}

#[test]
fn an_approval_of_an_unread_head_is_revoked() {
    let mut ground = Ground::new();
    let unread = |ground: &Ground| {
        let why = &[SummaryNote::HeadUnread];
        let (own, enforced) = (Verdict::Comment, Verdict::RequestChanges);
        first(&Summary {
            own_verdict: own,
            enforced_verdict: enforced,
            posted_verdict: enforced,
            complete: false,
            notes: why,
            ..ground.summary()
        })
    };
    assert_snapshot!(unread(&ground), @"**Not reviewed** · nobody has read this head · `9c1f2ab` · the next verdict lifts this");
    ground.evaluation.read = 0;
    ground.evaluation.failure = Some("model timeout".to_owned());
    assert_snapshot!(unread(&ground), @"**Not reviewed** · nobody has read this head · incomplete: model timeout · `9c1f2ab` · the next verdict lifts this");
}

#[test]
fn a_role_blocked_by_a_sibling_names_it() {
    let ground = Ground::new();
    let by = RoleName::from("correctness");
    let held = Summary {
        enforced_verdict: Verdict::RequestChanges,
        posted_verdict: Verdict::RequestChanges,
        notes: &[SummaryNote::Escalated { by: &by }],
        ..ground.summary()
    };
    assert_snapshot!(first(&held), @"**Changes requested** · held by correctness · `9c1f2ab` · read 15 of 15 files");
    let held_down = Summary { enforced_verdict: Verdict::Comment, posted_verdict: Verdict::Comment, ..held };
    assert_snapshot!(first(&held_down), @"**Nothing blocking** · held by correctness · `9c1f2ab` · read 15 of 15 files");
}

#[test]
fn a_waiting_summary_names_who_is_awaited() {
    let ground = Ground::new();
    let waiting = Summary {
        enforced_verdict: Verdict::Comment,
        notes: &[SummaryNote::Waiting { on: vec!["correctness", "bob"] }],
        open_findings: &[line(8, Severity::Suggestion, "`retry` could be a loop")],
        ..ground.summary()
    };
    assert_snapshot!(first(&waiting), @"**Nothing blocking** · waiting for correctness, bob · 1 suggestion · `9c1f2ab` · read 15 of 15 files");
}

#[test]
fn a_block_that_stays_says_until_when() {
    let ground = Ground::new();
    let stays = Summary {
        own_verdict: Verdict::Comment,
        enforced_verdict: Verdict::RequestChanges,
        posted_verdict: Verdict::RequestChanges,
        notes: &[SummaryNote::BlockStays],
        ..ground.summary()
    };
    assert_snapshot!(first(&stays), @"**Changes requested** · nothing blocking any more, the block stays until this review approves · `9c1f2ab` · read 15 of 15 files");
}

#[test]
fn broken_glass_names_who_and_why() {
    let ground = Ground::new();
    let glass = Summary {
        enforced_verdict: Verdict::Approve,
        posted_verdict: Verdict::Approve,
        notes: &[SummaryNote::GlassBroken { by: "carol", reason: "outage 4711,\n/approve it now" }],
        ..ground.blocking()
    };
    let text = render_summary(&glass);
    assert_snapshot!(text.as_str().split("\n\n|").next().unwrap(), @"
    **Glass broken** · by carol · 2 blocking but not enforced, 1 warning, 2 suggestions · `9c1f2ab` · until the next change

    Evaluated against 9c1f2ab by security

    Reason given: outage 4711, /approve it now

    Until the next change no reviewer and no worker starts here. A person's block still counts.
    ");
}

#[test]
fn a_dismissal_or_restoration_of_the_verdict_is_explained() {
    let ground = Ground::new();
    let told = Summary {
        notes: &[
            SummaryNote::Restored { by: "alice" },
            SummaryNote::PostedAsComment { because: "this pull is the bot's own" },
            SummaryNote::Dismissed { by: "bob" },
        ],
        ..ground.summary()
    };
    assert_snapshot!(render_summary(&told).as_str().split("\n\n<details>").next().unwrap(), @"
    **Nothing blocking** · `9c1f2ab` · read 15 of 15 files

    Evaluated against 9c1f2ab by security

    Posted again without a new review: the verdict had lost its weight through alice.

    Posted as a comment: this pull is the bot's own. The status carries the verdict.

    Dismissed by bob: respected, it is not posted again for this change.
    ");
}

#[test]
fn a_finding_is_listed_with_its_remarks() {
    let ground = Ground::new();
    let reopened = sha("abcdef1");
    let critical = |id, remark| SummaryFinding { remark, ..line(id, Severity::Critical, "Token is logged") };
    let text = render_summary(&Summary {
        open_findings: &[
            critical(1, FindingRemark::ResolvedBy("mallory")),
            critical(2, FindingRemark::ClaimedFixed),
            critical(3, FindingRemark::ReopenedIn(&reopened)),
            SummaryFinding { path: "", line: None, title: "", ..critical(6, FindingRemark::None) },
        ],
        ..ground.blocking()
    });
    let table: Vec<&str> = text.as_str().lines().filter(|line| line.starts_with('|')).collect();
    assert_snapshot!(table.join("\n"), @"
    | Severity | Finding | Where |
    |---|---|---|
    | **critical** F1 | Token is logged · resolved by mallory, still open | `src/auth.rs:88` |
    | **critical** F2 | Token is logged · said to be fixed, but its code did not change | `src/auth.rs:88` |
    | **critical** F3 | Token is logged · reopened in `abcdef1` | `src/auth.rs:88` |
    | **critical** F6 | see its thread | the pull |
    ");
}

#[test]
fn an_ad_hoc_role_is_labelled_as_ad_hoc() {
    let ground = Ground::new();
    let text = render_summary(&Summary { ad_hoc: true, ..ground.summary() });
    assert!(text.as_str().contains("\n\nEvaluated against 9c1f2ab by security, an ad hoc role that never blocks\n"));
}

#[test]
fn a_status_says_the_same_in_short() {
    let mut ground = Ground::new();
    assert_snapshot!(render_status(&ground.blocking()).as_str(), @"changes requested: F4, F6 · round 2/3");
    assert_snapshot!(render_status(&ground.summary()).as_str(), @"nothing blocking");
    let by = RoleName::from("correctness");
    let rc = Verdict::RequestChanges;
    let held = Summary {
        enforced_verdict: rc,
        posted_verdict: rc,
        notes: &[SummaryNote::Escalated { by: &by }],
        ..ground.summary()
    };
    assert_snapshot!(render_status(&held).as_str(), @"changes requested · held by correctness");
    let waiting = Summary {
        enforced_verdict: Verdict::Comment,
        notes: &[SummaryNote::Waiting { on: vec!["correctness"] }],
        ..ground.summary()
    };
    assert_snapshot!(render_status(&waiting).as_str(), @"nothing blocking · waiting for correctness");
    let glass = Summary { notes: &[SummaryNote::GlassBroken { by: "carol", reason: "outage" }], ..ground.blocking() };
    assert_snapshot!(render_status(&glass).as_str(), @"glass broken by carol: outage");
    let unread = Summary { notes: &[SummaryNote::HeadUnread], ..ground.summary() };
    assert_snapshot!(render_status(&unread).as_str(), @"not reviewed at this head");
    let stays = Summary {
        own_verdict: Verdict::Comment,
        enforced_verdict: rc,
        notes: &[SummaryNote::BlockStays],
        ..ground.summary()
    };
    assert_snapshot!(render_status(&stays).as_str(), @"nothing blocking any more, the block stays until this review approves");
    ground.evaluation = Evaluation { failure: Some("model timeout ".repeat(40)), ..Evaluation::default() };
    let failed = Summary { own_verdict: Verdict::Comment, complete: false, attempts: 2, ..ground.summary() };
    assert_snapshot!(render_status(&failed).as_str(), @"not reviewed · security failed twice (model timeout model timeout model timeout model timeout model timeout model timeout model timeout…");
    assert_snapshot!(render_status(&Summary { attempts: 0, ..failed }).as_str(), @"not fully reviewed · model timeout model timeout model timeout model timeout model timeout model timeout model timeout model timeout model…");
}
