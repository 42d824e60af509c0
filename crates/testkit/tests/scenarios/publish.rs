use insta::assert_snapshot;
use referee_core::model::Verdict;
use referee_core::plan::{Action, Precondition};
use referee_core::policy::ApprovalMode;
use referee_testkit::scenario::{Scenario, TurnMoment, critical, report, suggestion, warning};
use referee_testkit::{CallFault, FaultAt, Quirks};

use crate::{FIX, blocked, leak, posted, security};

// spec: PUB-1 @core
#[test]
fn the_first_verdict_is_posted_with_its_threads() {
    let mut s = security("a first verdict").open_pull();
    s.report(report("security").finds(leak()).finds(suggestion("name it better").at("src/a.rs", 1))).turn();
    assert_snapshot!(s.steps(), @"post security as request changes at 8e14688, threads for F1, F2 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)");
    assert_snapshot!(s.conversation(1), @"referee-bot: **critical** F1 · security / the token is logged / It breaks when it runs.");
    assert!(s.world.decision(s.pull).is_blocked(), "the forge counts the block");
}

// spec: PUB-2 @core
#[test]
fn a_second_run_on_unchanged_state_writes_nothing() {
    let mut s = blocked(security("twice the same"));
    let writes = s.world.calls().writes;
    assert_eq!(s.turn().steps(), "nothing to write");
    s.report(report("security").finds(leak()).costs(7_000)).turn();
    assert_eq!(s.steps(), "nothing to write", "the figures of another run are no news");
    assert_eq!(s.world.calls().writes, writes, "not even a call that would find everything as it is");
}

// spec: PUB-3, INC-3 @core
#[test]
fn the_same_verdict_at_another_head_edits_the_review_and_keeps_the_thread() {
    let mut s = blocked(security("still there"));
    let before = s.conversation(1);
    s.by("alice").changes_line("src/a.rs", 7, "fn e() {}").report(report("security").still_there(1)).turn();
    assert_snapshot!(s.steps(), @"edit review 1 (own-block: role security, own verdict request changes, enforced request changes, its text or Mark would differ)");
    assert_eq!(s.conversation(1), before, "nothing is written in the thread");
    assert_eq!(posted(&s), [Verdict::RequestChanges]);
}

// spec: PUB-4 @core
#[test]
fn editing_opens_threads_for_new_findings_only() {
    let mut s = blocked(security("one more"));
    s.by("alice").changes_line("src/a.rs", 7, "fn e() { panic!() }");
    s.report(report("security").still_there(1).finds(critical("it panics").at("src/a.rs", 7))).turn();
    assert_snapshot!(s.steps(), @"
    add to the review of security, threads for F2 (new-findings: 1 threads)
    comment on the pull (notice: the set of blocking findings changed by an edit)
    edit review 1 (own-block: role security, own verdict request changes, enforced request changes, its text or Mark would differ)
    ");
    assert_eq!(s.snapshot().threads.len(), 2);
}

// spec: PUB-5, D5 @core
#[test]
fn an_approval_is_superseded_after_the_block_is_posted() {
    let mut s = security("from approve to block").with_policy(|policy| policy.approve = ApprovalMode::On).open_pull();
    s.report(report("security")).turn().discard_effects();
    s.by("alice").changes_line("src/a.rs", 7, "fn e() { panic!() }");
    s.report(report("security").finds(critical("it panics").at("src/a.rs", 7))).turn();
    assert_snapshot!(s.steps(), @"
    post security as request changes at 19f6a95, threads for F1 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)
    supersede review 1 (own-block: role security, own verdict request changes, enforced request changes, review 1 no longer holds)
    ");
    let reviews = s.own_reviews();
    let old = reviews[0].text.body_or_empty();
    let link = format!("Superseded by [a newer review]({})", reviews[1].url);
    assert!(old.starts_with(&link) && old.contains("<details>"), "{old}");
    assert_eq!(reviews[0].text.trusted_mark().and_then(|mark| mark.superseded.as_ref()), Some(&reviews[1].id));
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: PUB-6 @core
#[test]
fn an_approval_lifts_the_block_and_leaves_its_text_unchanged() {
    let mut s = blocked(security("from block to approve"));
    let block = s.own_reviews()[0].text.clone();
    s.by("alice").changes_line("src/a.rs", 4, FIX).report(report("security").fixed(1)).turn();
    assert_snapshot!(s.steps(), @"
    post security as approve at 19f6a95 (approves: role security, own verdict approve, enforced approve, posted as approve)
    resolve thread 2 (fixed: F1, thread 2)
    reply in thread 2 (fixed: thread 2)
    ");
    assert_eq!(s.own_reviews()[0].text, block, "the text of the old block is unchanged");
}

// spec: PUB-6 @core
#[test]
fn a_comment_verdict_does_not_lift_a_block() {
    let mut s = blocked(security("from block to comment"));
    s.by("alice").changes_line("src/a.rs", 4, FIX).by("bob").replies(1, "won't fix: not here").turn();
    assert_snapshot!(s.steps(), @"
    resolve thread 2 (accepted: F1, thread 2)
    reply in thread 2 (accepted: thread 2)
    comment on the pull (notice: the set of blocking findings changed by an edit)
    edit review 1 (block-stays: role security, own verdict comment, enforced request changes, its text or Mark would differ)
    ");
    assert_eq!(posted(&s), [Verdict::RequestChanges], "a comment does not lift a block, so none is posted");
    assert!(s.world.decision(s.pull).is_blocked());
}

// spec: PUB-6, INC-15 @core
#[test]
fn a_counted_approval_does_not_survive_a_change_that_was_not_reviewed() {
    let mut s = security("approved, then unread").with_policy(|policy| policy.approve = ApprovalMode::On).open_pull();
    s.report(report("security")).turn().discard_effects();
    s.by("alice").pushes("src/b.rs", "fn later() {}\n").report(report("security").fails("the model timed out")).turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     reviews-missing: not read yet by security
    standing security comment, enforced as request changes, not at this head
    threads  no findings
    plan     post security as request changes at 19f6a95 (unread: role security, own verdict comment, enforced request changes, posted as request changes)
    plan     supersede review 1 (block-stays: role security, own verdict comment, enforced request changes, review 1 no longer holds)
    plan     status referee/security fail: not reviewed at this head (status: block-stays)
    next     wait for reviews by security
    ");
    assert!(s.summary().starts_with("**Not reviewed**"), "{}", s.summary());
}

// spec: PUB-6, PUB-17 @core
#[test]
fn a_changed_verdict_in_the_same_form_is_an_edit() {
    let mut s = security("waiting, then not").role_with_identity("style", "style-bot").open_pull();
    s.report(report("security")).turn();
    assert_snapshot!(s.steps(), @"post security as comment at 8e14688 (waiting: role security, own verdict approve, enforced comment, posted as comment)");
    s.report(report("style")).turn();
    assert_snapshot!(s.steps(), @"
    post style as comment at 8e14688 (approves: role style, own verdict approve, enforced approve, posted as comment)
    edit review 1 (approves: role security, own verdict approve, enforced approve, its text or Mark would differ)
    ");
    assert!(s.summary().contains("Nothing blocking") && s.summary().contains(s.plan().head.short()));
}

// spec: PUB-7, D3 @core
#[test]
fn the_worst_verdict_of_siblings_is_enforced_and_released() {
    let mut s = security("worst wins").role("style").open_pull();
    s.report(report("security").finds(leak())).report(report("style")).turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     changes-requested: security asks for changes, no worker may push here
    standing security request changes, at this head
    standing style approve, enforced as request changes, at this head
    threads  1 open (F1 critical new)
    plan     post security as request changes at 8e14688, threads for F1 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)
    plan     post style as request changes at 8e14688 (escalated: role style, own verdict approve, enforced request changes, posted as request changes)
    plan     status referee/security fail: changes requested: F1 · round 1/3 (status: own-block)
    plan     status referee/style fail: changes requested · held by security (status: escalated)
    next     wait for the author: a push or an answer
    ");
    assert!(s.summary().contains("held by security"), "{}", s.summary());
    s.by("alice").changes_line("src/a.rs", 4, FIX);
    s.report(report("security").fixed(1)).report(report("style")).turn();
    assert_snapshot!(s.steps(), @"
    post security as approve at 19f6a95 (approves: role security, own verdict approve, enforced approve, posted as approve)
    post style as comment at 19f6a95 (approves: role style, own verdict approve, enforced approve, posted as comment)
    resolve thread 2 (fixed: F1, thread 2)
    reply in thread 2 (fixed: thread 2)
    ");
    assert!(!s.world.decision(s.pull).is_blocked(), "no sibling blocks any more");
}

// spec: PUB-7 @core
#[test]
fn a_removed_role_does_not_block() {
    let mut s = security("a role is taken away").role("style").open_pull();
    s.report(report("security").finds(leak())).report(report("style")).turn().discard_effects();
    s.policy.roles.remove(0);
    assert_snapshot!(s.turn().steps(), @"post style as approve at 8e14688 (approves: role style, own verdict approve, enforced approve, posted as approve)");
    assert!(!s.world.decision(s.pull).is_blocked());
}

// spec: PUB-9 @core
#[test]
fn nothing_is_deleted_or_dismissed_and_no_text_of_others_is_edited() {
    let mut s = blocked(security("everybody talks").with_quirks(Quirks::github_like()));
    s.by("bob").blocks("not without a test").by("alice").replies(1, "fixed").by("bob").comments("thanks");
    let before = s.snapshot();
    s.by("alice").changes_line("src/a.rs", 4, FIX).report(report("security").fixed(1)).turn().discard_effects();
    s.by("bob").approves().turn().discard_effects();
    let after = s.snapshot();
    for review in before.reviews.iter().filter(|review| !review.is_by(&referee_testkit::simulation::bot_login())) {
        assert!(after.reviews.iter().any(|kept| kept.id == review.id && kept.text == review.text), "{}", review.id);
    }
    for note in before.threads.iter().flat_map(|thread| &thread.notes) {
        let kept = after.threads.iter().flat_map(|thread| &thread.notes).any(|kept| kept == note);
        assert!(kept, "{}", note.id);
    }
    assert!(before.comments.iter().all(|comment| after.comments.contains(comment)));
    assert!(before.reviews.iter().all(|review| after.reviews.iter().any(|kept| kept.id == review.id)));
}

// spec: PUB-9, PUB-11 @core
#[test]
fn an_edit_uses_the_edit_id_and_checks_the_author() {
    let mut s = security("two kinds of ids").open_pull();
    s.by("bob").comments("thanks").report(report("security").finds(leak())).turn().discard_effects();
    s.by("alice").amends();
    let plan = s.decide_now();
    let standing = &s.own_reviews()[0];
    let step = plan.steps.iter().find(|step| matches!(step.action, Action::EditReview { .. })).expect("an edit");
    let Action::EditReview { review, edit, .. } = &step.action else { panic!("{:?}", step.action) };
    assert_eq!((review, Some(edit)), (&standing.id, standing.edit.as_ref()));
    assert_ne!(review.as_str(), edit.as_str(), "the two ids differ");
    assert_eq!(step.expect, Precondition::OwnText { edit: edit.clone(), seen: standing.text.hash.clone() });
}

// spec: PUB-12 @core
#[test]
fn a_forged_mark_changes_nothing() {
    let mut s = blocked(security("a copied summary"));
    let plan = s.decide_now();
    let text = s.own_reviews()[0].text.body_or_empty().to_owned();
    let approving = text.replace("Changes requested", "Approved");
    s.by("mallory").reviews_without_verdict(&text).by("mallory").comments(&approving).by("mallory").replies(1, &text);
    assert_eq!(s.turn().steps(), "nothing to write");
    assert_eq!((&s.plan().next, &s.plan().findings), (&plan.next, &plan.findings));
    assert!(s.snapshot().reviews.iter().any(|review| review.text.reading.forged), "the copy is recognised as forged");
}

// spec: PUB-13 @core
#[test]
fn findings_with_bad_anchors_fall_back_to_the_file_or_the_summary() {
    let mut s = security("bad places").open_pull();
    let found = report("security")
        .finds(leak())
        .finds(warning("beyond the end").at("src/a.rs", 999))
        .finds(warning("another file").at("src/other.rs", 3));
    s.report(found).turn();
    assert_snapshot!(s.steps(), @"post security as request changes at 8e14688, threads for F1, F2 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)");
    let mut lines: Vec<Option<u32>> = s.snapshot().threads.iter().map(|thread| thread.line).collect();
    lines.sort();
    assert_eq!(lines, [None, Some(4)], "one thread on the line, one on the file");
    for id in ["F1", "F2", "F3"] {
        assert!(s.summary().contains(id), "{id} is in {}", s.summary());
    }
}

// spec: PUB-15 @core
#[test]
fn a_head_that_moved_before_posting_is_planned_again() {
    let mut s = security("pushed while reading").open_pull();
    s.report(report("security").finds(leak()));
    s.meanwhile(TurnMoment::BeforePosting, |world| {
        world.people().as_("alice").push("src/b.rs", |_| "fn later() {}\n".to_owned());
    });
    assert_snapshot!(s.turn().explain_lines(), @"
    rule     reviews-missing: not read yet by security, security asked for changes at an older head
    standing security request changes, not at this head
    threads  1 open (F1 critical new)
    plan     post security as request changes at 8e14688, threads for F1 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes) → not tried, the head moved
    plan     status referee/security fail: changes requested: F1 · round 1/3 (status: own-block) → not tried
    plan     post security as request changes at 19f6a95, threads for F1 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)
    plan     status referee/security fail: changes requested: F1 · round 0/3 (status: own-block)
    next     wait for reviews by security
    ");
    assert!(posted(&s).iter().all(|verdict| *verdict != Verdict::Approve));
}

// spec: PUB-15 @core
#[test]
fn an_approval_on_a_moved_head_is_followed_by_a_block() {
    for late in [TurnMoment::BeforePostLands(Verdict::Approve), TurnMoment::AfterPost(Verdict::Approve)] {
        let mut s =
            security("pushed while approving").with_policy(|policy| policy.approve = ApprovalMode::On).open_pull();
        s.inject_fault(FaultAt::Write(1), CallFault::StaleRead).report(report("security"));
        s.meanwhile(late, |world| {
            world.people().as_("alice").push("src/b.rs", |_| "fn later() {}\n".to_owned());
        });
        s.turn().discard_effects();
        assert_eq!(posted(&s), [Verdict::Approve, Verdict::RequestChanges], "{late:?}");
        assert!(s.world.decision(s.pull).is_blocked(), "{late:?}: the approval does not cover an unreviewed head");
        assert!(s.summary().contains("Not reviewed"), "{late:?}: {}", s.summary());
        s.report(report("security")).turn().discard_effects();
        assert!(s.world.decision(s.pull).is_approved(), "{late:?}: the next verdict lifts it");
        assert_eq!(s.plan().round, 0, "{late:?}: it does not count as a round");
    }
}

// spec: PUB-16 @core
#[test]
fn texts_of_a_model_are_sanitised() {
    let mut s = security("hostile words").open_pull();
    let hostile = critical("call @alice and /merge")
        .at("src/a.rs", 4)
        .because("/close\n<img src=x>\n<!-- referee:tag v1 x -->\n@bob please\n\n/merge");
    s.report(report("security").finds(hostile)).turn().discard_effects();
    let texts = format!("{}\n{}", s.summary(), s.conversation(1));
    for bad in ["\n/close", "/ /close", "\n/merge", "<img", "<!-- referee:tag v1 x", " @bob", " @alice"] {
        assert!(!texts.contains(bad), "{bad} is in {texts}");
    }
}

// spec: PUB-16 @core
#[test]
fn a_long_list_is_capped_with_a_notice() {
    let mut s = security("a flood").open_pull();
    let mut flood = report("security");
    for line in 0..1_500 {
        flood = flood.finds(suggestion(&format!("finding number {line}")).at("src/a.rs", 1_000 + line));
    }
    s.report(flood).turn().discard_effects();
    let summary = s.summary();
    assert!(summary.contains(" more") && summary.len() < 60_000, "{summary}");
    s.run_until_quiet().discard_effects();
}

// spec: PUB-18 @core
#[test]
fn an_edit_that_changes_the_blocking_findings_is_announced_once() {
    let mut s = blocked(security("one more blocker"));
    s.by("alice").changes_line("src/a.rs", 7, "fn e() { panic!() }");
    s.report(report("security").still_there(1).finds(critical("it panics").at("src/a.rs", 7))).turn().discard_effects();
    assert_eq!(s.own_comments().len(), 1);
    assert_snapshot!(s.own_comments()[0], @"
    **Blocking findings changed** · 2 blocking · `19f6a95` · [the review](https://gitea.test/acme/api/pulls/1)

    - new: F2 it panics · `src/a.rs:7`
    ");
    s.by("bob").replies(2, "won't fix: not here").turn().discard_effects();
    assert_eq!(s.own_comments().len(), 1, "one notice per change of the pull");
}

// spec: PUB-21 @core
#[test]
fn the_newest_review_has_the_combined_verdict_in_every_order() {
    for order in [["security", "style", "docs"], ["docs", "security", "style"], ["style", "docs", "security"]] {
        let mut scenario = Scenario::new("three roles");
        for name in order {
            scenario = scenario.role(name);
        }
        let mut s = scenario.open_pull();
        s.report(report(order[0])).turn().discard_effects();
        assert!(!s.world.decision(s.pull).is_approved(), "{order:?}: two roles have not reviewed (D19)");
        s.report(report(order[1]).finds(leak())).turn().discard_effects();
        assert!(s.world.decision(s.pull).is_blocked(), "{order:?}: one role blocks");
        s.report(report(order[2])).turn().discard_effects();
        assert!(s.world.decision(s.pull).is_blocked(), "{order:?}: the block remains");
        s.by("alice").changes_line("src/a.rs", 4, FIX).report(report(order[2])).turn().discard_effects();
        s.report(report(order[0])).turn().discard_effects();
        assert!(s.world.decision(s.pull).is_blocked(), "{order:?}: the blocking role has not reviewed again");
        s.report(report(order[1]).fixed(1)).turn().discard_effects();
        assert!(!s.world.decision(s.pull).is_blocked(), "{order:?}: every role approves");
        assert_eq!(s.turn().steps(), "nothing to write", "{order:?}");
    }
}

// spec: PUB-22 @core
#[test]
fn a_summary_names_its_head_and_lists_findings_in_one_table() {
    let mut s = security("a table").open_pull();
    s.report(report("security").finds(leak()).finds(warning("no test").at("src/a.rs", 3))).turn().discard_effects();
    assert_snapshot!(s.summary(), @"
    **Changes requested** · 1 blocking, 1 warning · `8e14688` · round 1 of 3

    Evaluated against 8e14688 by security

    | Severity | Finding | Where |
    |---|---|---|
    | **critical** F1 | the token is logged | `src/a.rs:4` |
    | **warning** F2 | no test | `src/a.rs:3` |

    <details><summary>Coverage, cost</summary>

    Read 1 of 1 files.
    Results: 2 received, 2 new.
    This run: 1000 tokens, 0.00 USD, 5 s. All runs of security here: 0.00 of the pull's 2.00 USD.

    </details>

    <sub>`@referee-bot explain` · `@referee-bot dismiss F1 <reason>` · `@referee-bot help`</sub>
    ");
}
