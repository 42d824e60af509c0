use insta::assert_snapshot;
use referee_core::model::{FindingId, FindingState, Severity, Verdict};
use referee_core::plan::{BlockedCause, Next};
use referee_testkit::Quirks;
use referee_testkit::scenario::{DEFAULT_FILE, Scenario, ScenarioRun, critical, report, suggestion, warning};

use crate::{FIX, blocked, leak, posted, security};

pub(crate) fn finding_state(run: &ScenarioRun, finding: u64) -> (FindingState, bool) {
    let line =
        run.plan().findings.iter().find(|line| line.id == FindingId(finding)).expect("the plan lists the finding");
    (line.state, line.counts)
}

// spec: INC-2, D9 @core
#[test]
fn a_fixed_finding_is_answered_with_the_commit_and_resolved() {
    let mut s = blocked(security("fixed"));
    s.by("alice").changes_line("src/a.rs", 4, FIX).report(report("security").fixed(1)).turn().discard_effects();
    assert_snapshot!(s.conversation(1), @"
    referee-bot: **critical** F1 · security / the token is logged / It breaks when it runs.
    referee-bot: Fixed in `19f6a95`.
    resolved by referee-bot
    ");
}

// spec: INC-2, D9 @core
#[test]
fn a_fix_claimed_on_unchanged_code_resolves_nothing() {
    let mut s = blocked(security("said to be fixed"));
    s.by("alice").changes_line("src/a.rs", 7, "fn e() {}").report(report("security").fixed(1)).turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     changes-requested: security asks for changes, no worker may push here
    standing security request changes, at this head
    threads  1 open (F1 critical)
    plan     edit review 1 (own-block: role security, own verdict request changes, enforced request changes, its text or Mark would differ)
    plan     status referee/security fail: changes requested: F1 · round 2/3 (status: own-block)
    refuse   resolve F1 (fixed: the code did not change)
    next     wait for the author: a push or an answer
    ");
    assert!(s.summary().contains("said to be fixed"), "{}", s.summary());
    assert!(s.find_thread(FindingId(1)).is_some_and(|thread| thread.resolved.is_none()));
}

// spec: D9 @core
#[test]
fn a_change_at_the_cited_line_proves_a_fix() {
    let mut s = blocked(security("fixed elsewhere"));
    s.by("alice").changes_line("src/a.rs", 7, "fn redact() {}");
    s.report(report("security").fixed_by(1, "the logger redacts it, see src/a.rs:7")).turn().discard_effects();
    assert_eq!(finding_state(&s, 1), (FindingState::Fixed, false));
}

// spec: D9, INC-15 @core
#[test]
fn findings_missing_from_an_incomplete_report_stay_open() {
    for silent in [report("security"), report("security").fixed(1).without_proof(), report("security").fails("refused")]
    {
        let mut s = blocked(security("left out"));
        s.by("alice").changes_line("src/a.rs", 4, FIX).report(silent).turn().discard_effects();
        assert_eq!(finding_state(&s, 1), (FindingState::Open, true));
        assert!(s.find_thread(FindingId(1)).is_some_and(|thread| thread.resolved.is_none()));
        assert!(s.world.decision(s.pull).is_blocked());
    }
}

// spec: D9 @core
#[test]
fn a_finding_missing_from_a_complete_deterministic_run_is_fixed_if_its_file_changed() {
    let scenario = security("a linter").changes("src/a.rs", DEFAULT_FILE).changes("src/b.rs", "fn b() {}\n");
    let mut s = scenario.open_pull();
    let found = report("security").deterministic().finds(leak()).finds(warning("unused").at("src/b.rs", 1));
    s.report(found.finds(warning("never closed").at("src/a.rs", 1))).turn().discard_effects();
    s.by("alice").changes_line("src/a.rs", 4, FIX).report(report("security").deterministic()).turn().discard_effects();
    assert_eq!(finding_state(&s, 1), (FindingState::Fixed, false));
    assert_eq!(finding_state(&s, 2).0, FindingState::Open, "its file did not change");
    assert_eq!(finding_state(&s, 3), (FindingState::Fixed, false), "the file changed elsewhere");
}

// spec: PUB-2, INC-12 @core
#[test]
fn deterministic_findings_outside_the_change_are_listed_but_do_not_count() {
    let long = format!("{DEFAULT_FILE}{}", "fn e() {}\n".repeat(40));
    let scenario = security("a linter reads whole files").base_has("src/a.rs", &long);
    let mut s = scenario.changes("src/a.rs", &long.replace("    log(token);", FIX)).open_pull();
    let old = |line| critical("unused function").at("src/a.rs", line);
    let mut found = report("security").deterministic().finds(suggestion("log less").at("src/a.rs", 4));
    for line in 20..45 {
        found = found.finds(old(line));
    }
    s.report(found.finds(critical("no licence").at("src/other.rs", 1))).turn().discard_effects();
    let plan = s.plan();
    assert_eq!((plan.findings.len(), plan.roles[0].own), (1, Some(Verdict::Approve)), "{plan:#?}");
    assert_eq!(s.snapshot().threads.len(), 1);
    let summary = s.summary();
    assert!(summary.contains("<summary>26 pre-existing, outside this change</summary>"), "{summary}");
    assert!(summary.contains("| unused function | `src/a.rs:20` |") && summary.contains("6 more"), "{summary}");
    assert!(!summary.contains("src/other.rs"), "{summary}");
    s.restart_process().turn();
    assert_snapshot!(s.steps(), @"nothing to write");
    s.report(report("security").finds(old(30))).turn().discard_effects();
    assert_eq!(s.plan().findings.len(), 2, "findings of a model outside the diff count");
}

// spec: D9 @core
#[test]
fn too_many_resolutions_at_once_need_a_person() {
    let mut s = security("mass resolution").with_policy(|policy| policy.threads.max_resolve = 1).open_pull();
    let two = report("security").finds(leak()).finds(critical("it panics").at("src/a.rs", 7));
    s.report(two).turn().discard_effects();
    s.by("alice").pushes("src/a.rs", "fn a() {}\n").report(report("security").fixed(1).fixed(2)).turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     needs-human: security/F1: one run would resolve more threads than `max_resolve`, security/F2: one run would resolve more threads than `max_resolve`
    standing security request changes, at this head
    threads  2 open (F1 critical, F2 critical)
    plan     edit review 1 (own-block: role security, own verdict request changes, enforced request changes, its text or Mark would differ)
    plan     status referee/security fail: changes requested: F1, F2 · round 2/3 (status: own-block)
    plan     comment on the pull (needs-human: security/F1: one run would resolve more threads than `max_resolve`, security/F2: one run would resolve more threads than `max_resolve`)
    refuse   resolve 2 threads (max-resolve: more than 1 in one run)
    next     blocked: a person must decide
    ");
    assert!(s.snapshot().threads.iter().all(|thread| thread.resolved.is_none()));
    assert!(s.world.decision(s.pull).is_blocked());
}

// spec: INC-4 @core
#[test]
fn a_worsened_finding_gets_one_reply_and_no_note_is_edited() {
    let mut s = security("worse").open_pull();
    s.report(report("security").finds(warning("the token is logged").at("src/a.rs", 4))).turn().discard_effects();
    let root = s.find_thread(FindingId(1)).expect("a thread").notes[0].clone();
    s.by("alice").changes_line("src/a.rs", 7, "fn e() { login(SECRET) }");
    let worse = critical("the token is logged").at("src/a.rs", 4);
    s.report(report("security").worsened(1, "src/a.rs:7 now passes a secret").finds(worse)).turn();
    assert_snapshot!(s.steps(), @"
    post security as request changes at 19f6a95 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)
    reply in thread 2 (worsened: thread 2)
    ");
    assert_snapshot!(s.conversation(1), @"
    referee-bot: **warning** F1 · security / the token is logged / It breaks when it runs.
    referee-bot: Worse at this head, now **critical**. / src/a.rs:7 now passes a secret
    ");
    assert_eq!(s.find_thread(FindingId(1)).expect("a thread").notes[0], root);
    assert_eq!(s.plan().findings.first().expect("a finding").severity, Severity::Critical);
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: INC-5, D12 @core
#[test]
fn a_finding_resolved_by_a_person_stays_resolved_and_stops_counting() {
    let mut s = blocked(security("bob resolves"));
    s.by("bob").resolves(1).turn();
    assert_snapshot!(s.steps(), @"
    post security as approve at 8e14688 (approves: role security, own verdict approve, enforced approve, posted as approve)
    reply in thread 2 (settled: thread 2)
    ");
    assert_eq!(finding_state(&s, 1), (FindingState::Accepted, false));
    s.by("alice")
        .changes_line("src/a.rs", 7, "fn e() {}")
        .report(report("security").still_there(1))
        .turn()
        .discard_effects();
    assert_eq!(finding_state(&s, 1), (FindingState::Accepted, false), "the finding stays accepted");
}

// spec: INC-5, D12, D10 @core
#[test]
fn a_critical_finding_that_its_author_resolved_still_counts() {
    let mut s = blocked(security("alice resolves"));
    s.by("alice").resolves(1).turn().discard_effects();
    assert_eq!(finding_state(&s, 1), (FindingState::Open, true));
    assert!(s.summary().contains("resolved by alice, still open"), "{}", s.summary());
    assert!(s.world.decision(s.pull).is_blocked());
}

// spec: D12, INC-5 @core
#[test]
fn a_settled_finding_that_got_worse_opens_a_new_thread_citing_the_old_one() {
    let mut s = security("worse after all").open_pull();
    s.report(report("security").finds(warning("the token is logged").at("src/a.rs", 4))).turn().discard_effects();
    s.by("bob").resolves(1).turn().discard_effects();
    let old = s.find_thread(FindingId(1)).expect("a thread");
    s.by("alice").changes_line("src/a.rs", 5, "    log(token); }").report(report("security").finds(leak())).turn();
    assert_snapshot!(s.steps(), @"post security as request changes at 19f6a95, threads for F1 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)");
    let threads = s.snapshot().threads;
    assert!(
        threads.iter().any(|thread| thread.id == old.id && thread.resolved.is_some()),
        "the old thread is not reopened"
    );
    assert!(s.conversation(1).contains(&old.url), "{}", s.conversation(1));
}

// spec: INC-6, D10 @core
#[test]
fn wont_fix_by_a_maintainer_is_accepted() {
    let mut s = blocked(security("accepted"));
    s.by("bob").replies(1, "won't fix: the log is private").turn();
    assert_snapshot!(s.steps(), @"
    post security as approve at 8e14688 (approves: role security, own verdict approve, enforced approve, posted as approve)
    resolve thread 2 (accepted: F1, thread 2)
    reply in thread 2 (accepted: thread 2)
    ");
    assert_snapshot!(s.conversation(1), @"
    referee-bot: **critical** F1 · security / the token is logged / It breaks when it runs.
    bob: won't fix: the log is private
    referee-bot: No longer counts: accepted by bob.
    resolved by referee-bot
    ");
    assert!(s.summary().contains("accepted by bob"), "{}", s.summary());
}

// spec: D10, INC-6 @core
#[test]
fn an_outsider_cannot_revoke_an_acceptance() {
    for reply in ["won't fix", "I disagree", "this is fixed now", "why?"] {
        let mut s = blocked(security("accepted, and talked about"));
        s.by("bob").replies(1, "won't fix: the log is private");
        s.by("mallory").replies(1, reply).turn().discard_effects();
        assert_eq!(finding_state(&s, 1), (FindingState::Accepted, false), "mallory: {reply}");
    }
}

// spec: D10, D12 @core
#[test]
fn an_acceptance_does_not_cover_a_higher_severity() {
    for quirks in [Quirks::plain(), Quirks { no_resolve: true, ..Quirks::plain() }] {
        let mut s = security("a warning, and then more").with_quirks(quirks).open_pull();
        s.report(report("security").finds(warning("the token is logged").at("src/a.rs", 4))).turn().discard_effects();
        s.by("alice").replies(1, "won't fix: not here").turn().discard_effects();
        s.by("mallory").replies(1, "why?");
        s.by("alice").changes_line("src/a.rs", 5, "    log(token); }");
        s.report(report("security").finds(leak())).turn().discard_effects();
        assert_eq!(finding_state(&s, 1), (FindingState::Open, true));
        assert_eq!(s.snapshot().threads.len(), 2, "the worse finding gets a new thread");
        assert_eq!(s.turn().steps(), "nothing to write");
    }
    let mut s = security("both in one turn").open_pull();
    s.report(report("security").finds(warning("the token is logged").at("src/a.rs", 4))).turn().discard_effects();
    s.by("alice").replies(1, "won't fix: not here");
    s.by("alice").changes_line("src/a.rs", 5, "    log(token); }");
    s.report(report("security").finds(leak())).turn().discard_effects();
    assert_eq!(finding_state(&s, 1), (FindingState::Open, true), "the author may not accept a critical finding");
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: D10, INC-6 @core
#[test]
fn an_author_cannot_accept_a_critical_finding_and_an_outsider_accepts_nothing() {
    let mut s = blocked(security("who may accept"));
    s.by("mallory").replies(1, "won't fix: not here").turn().discard_effects();
    assert!(finding_state(&s, 1).1);
    s.by("alice").replies(1, "won't fix: not here").turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     needs-human: security/F1: its author accepts a critical finding
    standing security request changes, at this head
    threads  1 open (F1 critical answered)
    plan     comment on the pull (needs-human: security/F1: its author accepts a critical finding)
    refuse   another review by security (same-head: request changes at 8e14688)
    next     blocked: a person must decide
    ");
    assert!(s.world.decision(s.pull).is_blocked());

    let mut s = security("a mere warning").open_pull();
    s.report(report("security").finds(warning("no test").at("src/a.rs", 3))).turn().discard_effects();
    s.by("alice").replies(1, "won't fix: not here").turn().discard_effects();
    assert_eq!(finding_state(&s, 1), (FindingState::Accepted, false), "the author may accept a warning");
}

// spec: D10 @core
#[test]
fn unknown_access_counts_as_none() {
    let quirks = Quirks { access_hidden: true, ..Quirks::gitea_like() };
    let mut s = blocked(security("nobody knows").with_quirks(quirks));
    s.by("bob").replies(1, "won't fix: not here").turn().discard_effects();
    assert!(finding_state(&s, 1).1);
}

// spec: INC-7 @core
#[test]
fn a_concession_to_a_maintainer_resolves() {
    let mut s = security("conceded").open_pull();
    s.report(report("security").finds(warning("the token is logged").at("src/a.rs", 4))).turn().discard_effects();
    s.by("bob").replies(1, "I disagree, the log is private").by("bob").commands("review");
    s.report(report("security").concedes(1)).turn().discard_effects();
    assert_snapshot!(s.conversation(1), @"
    referee-bot: **warning** F1 · security / the token is logged / It breaks when it runs.
    bob: I disagree, the log is private
    referee-bot: Withdrawn: the objection holds.
    resolved by referee-bot
    ");
    assert_eq!(finding_state(&s, 1), (FindingState::Refuted, false));
}

// spec: INC-7, D10 @core
#[test]
fn a_concession_needs_an_objection_and_a_critical_one_needs_a_maintainer() {
    let mut s = blocked(security("conceded to nobody"));
    s.report(report("security").concedes(1)).turn().discard_effects();
    assert!(finding_state(&s, 1).1);
    s.by("alice").replies(1, "I disagree, the log is private");
    s.report(report("security").concedes(1)).turn().discard_effects();
    assert!(finding_state(&s, 1).1);
    assert_eq!(s.plan().next, Next::Blocked(BlockedCause::NeedsHuman));
}

// spec: INC-7, D11 @core
#[test]
fn after_one_rebuttal_per_head_a_person_decides() {
    let mut s = blocked(security("a dispute"));
    s.by("alice").replies(1, "I disagree, the log is private");
    let stands = report("security").stands(1, "src/log.rs:3 ships every line");
    s.report(stands.clone()).turn().discard_effects();
    assert_snapshot!(s.conversation(1), @"
    referee-bot: **critical** F1 · security / the token is logged / It breaks when it runs.
    alice: I disagree, the log is private
    referee-bot: This stands. / src/log.rs:3 ships every line / It is not argued again at this head: a person decides.
    ");
    s.report(stands.clone()).turn();
    assert_eq!(s.steps(), "nothing to write", "no reply directly after our own note");
    s.by("alice").replies(1, "I disagree, it does not").report(stands).turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     needs-human: security/F1: the dispute goes on after one answer
    standing security request changes, at this head
    threads  1 open (F1 critical disputed)
    plan     comment on the pull (needs-human: security/F1: the dispute goes on after one answer)
    next     blocked: a person must decide
    ");
    assert!(s.find_thread(FindingId(1)).is_some_and(|thread| thread.notes.len() == 4), "no second rebuttal");
}

// spec: D14 @core
#[test]
fn where_the_author_is_also_the_reviewer_only_a_reply_answers_a_finding() {
    let scenario = Scenario::new("one login").changes("src/a.rs", DEFAULT_FILE).role_with_identity("security", "alice");
    let mut s = scenario.open_pull();
    s.report(report("security").finds(leak())).turn().discard_effects();
    s.report(report("security").still_there(1)).turn();
    assert_eq!(finding_state(&s, 1), (FindingState::Open, true));
    s.by("alice").replies(1, "it is gone tomorrow").turn();
    assert_eq!(finding_state(&s, 1), (FindingState::Answered, true));
}

// spec: INC-8 @core
#[test]
fn a_false_fix_claim_is_contested_once_with_file_and_line() {
    let mut s = blocked(security("claimed"));
    s.by("alice").changes_line("src/a.rs", 7, "fn e() {}").by("alice").replies(1, "fixed");
    s.report(report("security").still_there(1)).turn();
    assert_snapshot!(s.steps(), @"
    reply in thread 2 (contest: thread 2)
    edit review 1 (own-block: role security, own verdict request changes, enforced request changes, its text or Mark would differ)
    ");
    assert_snapshot!(s.conversation(1), @"
    referee-bot: **critical** F1 · security / the token is logged / It breaks when it runs.
    alice: fixed
    referee-bot: Not fixed at this head, see `src/a.rs:4`.
    ");
    s.report(report("security").still_there(1)).turn();
    assert_eq!(s.steps(), "nothing to write");
}

// spec: INC-9 @core
#[test]
fn a_finding_keeps_its_id_through_moved_lines_renames_rewording_and_rebases() {
    let mut s = blocked(security("the same finding"));
    s.by("alice").renames("src/a.rs", "src/session.rs").by("alice").rebases();
    s.report(report("security").finds(critical("the token is logged").at("src/session.rs", 4)))
        .turn()
        .discard_effects();
    s.by("alice").pushes("src/session.rs", &format!("// one\n// two\n{DEFAULT_FILE}"));
    s.report(report("security").finds(critical("secrets end up in the log").at("src/session.rs", 6)))
        .turn()
        .discard_effects();
    let known: Vec<_> = s.plan().findings.iter().map(|line| (line.id.0, line.path, line.line)).collect();
    assert_eq!(known, [(1, "src/session.rs", Some(6))]);
    assert_eq!(s.snapshot().threads.len(), 1);
}

// spec: INC-10 @core
#[test]
fn an_accepted_finding_does_not_return_reworded() {
    let mut s = blocked(security("said again"));
    s.by("bob").replies(1, "won't fix: not here").turn().discard_effects();
    s.by("alice").changes_line("src/a.rs", 7, "fn e() {}");
    s.report(report("security").finds(critical("credentials reach the log").at("src/a.rs", 4)))
        .turn()
        .discard_effects();
    assert_eq!(s.plan().findings.len(), 1);
    assert_eq!(finding_state(&s, 1), (FindingState::Accepted, false));
    assert!(!s.world.decision(s.pull).is_blocked());
}

// spec: INC-10 @core
#[test]
fn a_fixed_finding_that_returns_keeps_its_id() {
    let mut s = blocked(security("broken again"));
    s.by("alice").changes_line("src/a.rs", 4, FIX).report(report("security").fixed(1)).turn().discard_effects();
    s.by("alice").changes_line("src/a.rs", 4, "    log(token);").report(report("security").finds(leak())).turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     changes-requested: security asks for changes, no worker may push here
    standing security request changes, at this head
    threads  1 open (F1 critical)
    plan     post security as request changes at 730cada, threads for F1 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)
    plan     supersede review 2 (own-block: role security, own verdict request changes, enforced request changes, review 2 no longer holds)
    plan     status referee/security fail: changes requested: F1 · round 1/3 (status: own-block)
    next     wait for the author: a push or an answer
    ");
    assert!(s.summary().contains("reopened in"), "{}", s.summary());
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: INC-9, INC-12 @core
#[test]
fn a_similar_finding_beside_a_fixed_one_gets_a_new_id() {
    let mut s = blocked(security("the next complaint"));
    s.by("alice").changes_line("src/a.rs", 4, "    log(secret);");
    s.report(report("security").fixed(1).finds(critical("the secret is logged").at("src/a.rs", 4))).turn();
    assert_snapshot!(s.steps(), @"
    resolve thread 2 (fixed: F1, thread 2)
    reply in thread 2 (fixed: thread 2)
    add to the review of security, threads for F2 (new-findings: 1 threads)
    comment on the pull (notice: the set of blocking findings changed by an edit)
    edit review 1 (own-block: role security, own verdict request changes, enforced request changes, its text or Mark would differ)
    ");
    assert_eq!((finding_state(&s, 1), finding_state(&s, 2)), ((FindingState::Fixed, false), (FindingState::New, true)));
    assert_eq!(posted(&s), [Verdict::RequestChanges], "no approval is posted in between");
    s.report(report("security").fixed(1).finds(critical("the secret is logged").at("src/a.rs", 4))).turn();
    assert_eq!(s.steps(), "nothing to write");
}

// spec: INC-11 @core
#[test]
fn the_verdict_changes_once_everything_is_fixed_and_stays() {
    let mut s = blocked(security("all fixed"));
    s.by("alice").changes_line("src/a.rs", 4, FIX).report(report("security").fixed(1)).turn().discard_effects();
    assert_eq!(posted(&s), [Verdict::RequestChanges, Verdict::Approve]);
    s.report(report("security")).turn();
    assert_eq!(s.steps(), "nothing to write", "the approval is posted once");
}

// spec: INC-12 @core
#[test]
fn verdicts_follow_the_severity_table() {
    let rows: [(&[Severity], bool, Verdict); 7] = [
        (&[], true, Verdict::Approve),
        (&[], false, Verdict::Comment),
        (&[Severity::Suggestion; 5], true, Verdict::Approve),
        (&[Severity::Warning; 2], true, Verdict::Approve),
        (&[Severity::Warning; 3], true, Verdict::RequestChanges),
        (&[Severity::Critical], true, Verdict::RequestChanges),
        (&[Severity::Critical], false, Verdict::RequestChanges),
    ];
    for (found, complete, expected) in rows {
        for blocks in [true, false] {
            let scenario = Scenario::new("the rubric");
            let mut s = if blocks { scenario.role("security") } else { scenario.advisory_role("security") }.open_pull();
            let mut submitted = if complete { report("security") } else { report("security").skips("src/a.rs") };
            for (line, severity) in (1..).zip(found) {
                let title = format!("{severity} on line {line}");
                submitted = submitted.finds(match severity {
                    Severity::Critical => critical(&title).at("src/a.rs", line),
                    Severity::Warning => warning(&title).at("src/a.rs", line),
                    Severity::Suggestion => suggestion(&title).at("src/a.rs", line),
                });
            }
            s.report(submitted).turn().discard_effects();
            let expected = if blocks { expected } else { expected.min(Verdict::Comment) };
            assert_eq!(s.plan().roles[0].own, Some(expected), "{found:?}, complete {complete}, blocks {blocks}");
        }
    }
}

// spec: INC-15 @core
#[test]
fn a_failed_review_is_visible_and_approves_nothing() {
    let mut s = security("failed").open_pull();
    s.report(report("security").fails("the model timed out")).turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     reviews-missing: not read yet by security
    standing security comment, not at this head
    threads  no findings
    plan     post security as comment at 8e14688 (comments: role security, own verdict comment, enforced comment, posted as comment)
    plan     status referee/security pending: not reviewed · security failed (the model timed out) (status: comments)
    next     wait for reviews by security
    ");
    assert!(s.summary().contains("the model timed out"), "{}", s.summary());
}

// spec: INC-15 @core
#[test]
fn an_incomplete_report_may_add_findings() {
    let mut s = security("half read").changes("src/b.rs", "fn b() {}\n").changes("src/a.rs", DEFAULT_FILE).open_pull();
    s.report(report("security").skips("src/b.rs").finds(leak())).turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     reviews-missing: not read yet by security, security asked for changes at an older head
    standing security request changes, not at this head
    threads  1 open (F1 critical new)
    plan     post security as request changes at 8e14688, threads for F1 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)
    plan     status referee/security fail: changes requested: F1 · round 1/3 (status: own-block)
    next     wait for reviews by security
    ");
    assert!(s.world.decision(s.pull).is_blocked());
}

// spec: INC-16, LOOP-3 @core
#[test]
fn a_rebase_without_changes_costs_no_review_and_updates_text_and_mark() {
    let mut s = blocked(security("rebased"));
    s.by("alice").rebases().turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     changes-requested: security asks for changes, no worker may push here
    standing security request changes, at this head
    threads  1 open (F1 critical)
    plan     edit review 1 (own-block: role security, own verdict request changes, enforced request changes, its text or Mark would differ)
    plan     status referee/security fail: changes requested: F1 · round 1/3 (status: own-block)
    refuse   another review by security (same-head: request changes at 730cada)
    next     wait for the author: a push or an answer
    ");
    let head = s.plan().head.clone();
    assert!(s.summary().contains(&format!("Evaluated against {}", head.short())), "{}", s.summary());
    assert_eq!(s.own_reviews()[0].text.trusted_mark().map(|mark| &mark.head), Some(&head));
    assert_eq!(s.plan().round, 1);
}

// spec: INC-18 @core
#[test]
fn reports_of_several_reviewers_of_one_role_are_merged() {
    let mut s = blocked(security("two reviewers"));
    s.by("alice").changes_line("src/a.rs", 4, "    log(&token);");
    let twice = || critical("it panics").at("src/a.rs", 4);
    s.report(report("security").still_there(1).finds(twice()))
        .report(report("security").fixed(1).finds(twice()))
        .turn();
    assert_eq!(finding_state(&s, 1), (FindingState::Open, true), "one `fixed` does not outweigh one `still there`");
    assert!(s.discard_effects().find_thread(FindingId(1)).is_some_and(|thread| thread.resolved.is_none()));
}

// spec: INC-18 @core
#[test]
fn equal_findings_are_merged_and_a_fix_needs_both_reviewers() {
    let mut s = security("two reviewers agree").open_pull();
    let one = report("security").finds(warning("the token is logged").at("src/a.rs", 4));
    s.report(one).report(report("security").finds(leak())).turn().discard_effects();
    assert_eq!(s.plan().findings.len(), 1);
    assert_eq!(s.plan().findings.first().expect("a finding").severity, Severity::Critical, "the highest severity wins");
    s.by("alice").changes_line("src/a.rs", 4, FIX);
    s.report(report("security").fixed(1)).report(report("security").fixed(1)).turn().discard_effects();
    assert_eq!(finding_state(&s, 1), (FindingState::Fixed, false));
}

// D33: on a forge a summary holds about a hundred findings. The others count, and nothing is approved over them.
#[test]
fn findings_that_fit_nowhere_count_until_they_are_fixed() {
    let text = |unused: u32| {
        (0..400).map(|line| format!("{} {line}\n", if line < unused { "let" } else { "use" })).collect::<String>()
    };
    let unused = |count: u32| {
        (0..count).fold(report("lint").deterministic(), |report, line| {
            report.finds(warning(&format!("variable `v{line}` is never used")).rule("unused").at("src/b.rs", line + 1))
        })
    };
    let mut s = Scenario::new("more findings than a summary holds")
        .role("lint")
        .changes("src/b.rs", &text(400))
        .with_policy(|policy| policy.threads.max_resolve = 100)
        .open_pull();
    s.report(unused(400)).turn().discard_effects();
    let known = s.plan().findings.len();
    assert!((40..400).contains(&known), "{known} findings fit");
    assert_eq!(known as u32 + s.plan().roles[0].overflow.warning, 400, "the others are counted");
    assert!(s.summary().contains("fit nowhere on this pull"), "{}", s.summary());
    assert_eq!(s.turn().steps(), "nothing to write");
    assert_eq!(known as u32 + s.plan().roles[0].overflow.warning, 400, "the next turn knows it");
    assert!(s.plan().findings.iter().all(|finding| !finding.title.is_empty()), "each has its title");
    s.by("alice").pushes("src/b.rs", &text(200)).report(unused(200)).turn().discard_effects();
    let open = s.plan().findings.iter().filter(|finding| finding.counts).count() as u32;
    assert_eq!(open + s.plan().roles[0].overflow.warning, 200, "what fits now has an id");
    assert!(s.world.decision(s.pull).is_blocked());
    s.by("alice").pushes("src/b.rs", &text(0)).report(unused(0)).turn().discard_effects();
    assert!(!s.world.decision(s.pull).is_blocked(), "a complete run without results replaces the count");
    assert!(s.plan().roles[0].overflow.is_empty());
    assert_eq!(s.turn().steps(), "nothing to write");
}
