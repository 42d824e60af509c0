use insta::assert_snapshot;
use referee_core::model::{FindingId, Severity, Span};
use referee_core::plan::{BlockedCause, Next, Scope};
use referee_core::say;
use referee_testkit::Quirks;
use referee_testkit::scenario::{DEFAULT_FILE, critical, report, suggestion, warning};

use crate::{FIX, blocked, leak, security};

// spec: LOOP-1, D2 @core
#[test]
fn a_reviewed_head_is_not_reviewed_again() {
    let mut s = security("every path to a reviewer").open_pull();
    s.report(report("security").finds(suggestion("name it better").at("src/a.rs", 1))).turn().discard_effects();
    s.by("alice").requests_review_again().turn().discard_effects();
    assert!(s.plan().reviews.is_empty(), "a review request of the forge is not a command");
    s.by("bob")
        .does("reports a check", |bob| bob.report_check("build", referee_core::model::CheckState::Pass))
        .turn()
        .discard_effects();
    assert!(s.plan().reviews.is_empty(), "a passing check is not a command");
    s.wait(Span::from_minutes(60)).turn();
    assert!(s.explain_lines().contains("refuse   another review by security (same-head: "), "{}", s.explain_lines());
}

// spec: D2, LOOP-1 @core
#[test]
fn a_comment_verdict_counts_as_reviewed_until_a_command_asks_again() {
    let mut s = security("comment only").open_pull();
    s.policy.roles[0].blocks = false;
    s.report(report("security").finds(leak())).turn().discard_effects();
    assert!(s.turn().discard_effects().plan().reviews.is_empty());
    s.by("mallory").commands("review").turn().discard_effects();
    assert!(s.plan().reviews.is_empty(), "an outsider may not ask");
    s.by("bob").commands("full review").turn().discard_effects();
    let briefs = &s.plan().reviews;
    assert_eq!(briefs[0].scope, Scope::Whole);
    s.report(report("security").still_there(1)).turn().discard_effects();
    assert!(s.turn().discard_effects().plan().reviews.is_empty(), "one command starts one review");
}

// spec: LOOP-3 @core
#[test]
fn a_force_push_of_the_same_patch_keeps_the_verdict() {
    for (name, quirks) in Quirks::presets() {
        let mut s = blocked(security("amended").with_quirks(quirks));
        s.by("alice").amends().turn().discard_effects();
        assert!(s.plan().reviews.is_empty(), "{name}");
        assert!(s.plan().roles[0].at_head && s.plan().round == 1, "{name}");
        assert!(s.world.decision(s.pull).is_blocked(), "{name}");
    }
}

// spec: LOOP-3 @core
#[test]
fn a_reply_wrapped_in_a_review_does_not_count_as_a_review() {
    let mut s = blocked(security("wrapped").with_quirks(Quirks::github_like()));
    s.by("bob").replies(1, "why?").turn();
    assert_eq!(s.steps(), "nothing to write");
    assert!(s.plan().why.facts.iter().all(|fact| !fact.contains("bob")), "{:?}", s.plan().why);
}

// spec: LOOP-5 @core
#[test]
fn the_first_round_covers_everything_and_later_rounds_the_delta() {
    let mut s = security("scopes").open_pull();
    let briefs = s.turn().plan().reviews.clone();
    assert_eq!((&briefs[0].scope, briefs[0].floor), (&Scope::Whole, Severity::Suggestion));
    s.report(report("security").finds(leak())).turn().discard_effects();
    let first = s.plan().head.clone();
    s.by("alice").changes_line("src/a.rs", 7, "fn e() {}").turn().discard_effects();
    let briefs = s.plan().reviews.clone();
    assert_eq!((&briefs[0].scope, briefs[0].floor), (&Scope::Since(first), Severity::Warning));
    assert_eq!(briefs[0].priors, [FindingId(1)]);
}

// spec: LOOP-5 @core
#[test]
fn later_rounds_ignore_new_minor_findings_on_unchanged_code() {
    let mut s = blocked(security("nits"));
    s.by("alice").changes_line("src/a.rs", 7, "fn e() {}");
    let nits = report("security")
        .still_there(1)
        .finds(warning("an old risk").at("src/a.rs", 1))
        .finds(suggestion("a new nit").at("src/a.rs", 7))
        .finds(warning("a new risk").at("src/a.rs", 7));
    s.report(nits).turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     changes-requested: security asks for changes, no worker may push here
    standing security request changes, at this head
    threads  2 open (F1 critical, F2 warning new)
    plan     add to the review of security, threads for F2 (new-findings: 1 threads)
    plan     edit review 1 (own-block: role security, own verdict request changes, enforced request changes, its text or Mark would differ)
    plan     status referee/security fail: changes requested: F1 · round 2/3 (status: own-block)
    next     wait for the author: a push or an answer
    ");
}

// spec: LOOP-7 @core
#[test]
fn a_restarted_process_decides_the_same() {
    let mut s = blocked(security("a lost store"));
    s.by("alice").changes_line("src/a.rs", 4, FIX).by("alice").replies(1, "fixed");
    let plan = s.decide_now();
    s.restart_process();
    assert_eq!(s.decide_now(), plan);
    s.report(report("security").fixed(1)).turn().discard_effects();
    s.restart_process();
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: LOOP-8 @core
#[test]
fn own_texts_trigger_nothing() {
    let mut s = blocked(security("talking to itself"));
    let quiet = s.decide_now();
    s.by("referee-bot").commands("full review").by("referee-bot").replies(1, "won't fix: not here");
    s.turn().discard_effects();
    assert_eq!((&s.plan().next, s.plan().findings.first().expect("a finding").counts), (&quiet.next, true));
    assert!(s.plan().steps.is_empty(), "{:?}", s.plan().steps);
}

// spec: LOOP-8 @core
#[test]
fn two_bots_do_not_reply_to_each_other() {
    let mut s = blocked(security("two bots"));
    s.world.admit_bot("other-bot", referee_core::model::Access::Write);
    for _ in 0..3 {
        s.by("other-bot").replies(1, "I disagree, fixed").report(report("security").stands(1, "it does not")).turn();
        assert!(!s.steps().contains("reply"), "{}", s.steps());
    }
    assert!(s.world.decision(s.pull).is_blocked());
}

// spec: LOOP-9 @core
#[test]
fn a_block_is_posted_even_beyond_the_text_budget() {
    let mut s = security("no texts left").with_policy(|policy| policy.budget.writes = 0).open_pull();
    s.report(report("security").finds(leak())).turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     changes-requested: security asks for changes, no worker may push here
    standing security request changes, at this head
    threads  1 open (F1 critical new)
    plan     post security as request changes at 8e14688, threads for F1 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)
    plan     status referee/security fail: changes requested: F1 · round 1/3 (status: own-block)
    next     wait for the author: a push or an answer
    ");
    assert!(s.world.decision(s.pull).is_blocked());
}

// spec: LOOP-9 @core
#[test]
fn beyond_the_text_budget_a_person_is_asked() {
    let mut s = blocked(security("texts used up").with_policy(|policy| policy.budget.writes = 2));
    s.by("alice").changes_line("src/a.rs", 7, "fn e() { panic!() }");
    s.report(report("security").still_there(1).finds(critical("it panics").at("src/a.rs", 7))).turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     writes: 2 own texts of 2
    standing security request changes, at this head
    threads  2 open (F1 critical, F2 critical new)
    plan     edit review 1 (own-block: role security, own verdict request changes, enforced request changes, its text or Mark would differ)
    plan     status referee/security fail: changes requested: F1, F2 · round 2/3 (status: own-block)
    plan     comment on the pull (writes: 2 own texts of 2)
    refuse   2 new texts (writes: 2 own texts of 2)
    next     blocked: the budget is used up, a person decides
    ");
    assert!(s.world.decision(s.pull).is_blocked(), "the block stays");
    assert!(s.summary().contains("F2"), "the summary lists it: {}", s.summary());
    assert_eq!(s.own_comments().len(), 1, "one comment asks the operator");
    assert!(s.own_comments()[0].starts_with("@carol, "), "{}", s.own_comments()[0]);
    s.run_until_quiet().discard_effects();
}

// spec: LOOP-9 @core
#[test]
fn a_pull_beyond_its_cost_budget_starts_no_reviewer() {
    let mut s = security("money used up").with_policy(|policy| policy.budget.micro_usd = 1_000_000).open_pull();
    s.report(report("security").finds(leak()).costs(1_200_000)).turn().discard_effects();
    s.by("alice").changes_line("src/a.rs", 7, "fn e() {}").turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     reviews-missing: money used up
    standing security request changes, not at this head
    threads  1 open (F1 critical)
    plan     status referee/security fail: changes requested: F1 · round 1/3 (status: own-block)
    plan     comment on the pull (reviews-missing: money used up)
    refuse   review by security (review-budget: money used up)
    next     blocked: the budget is used up, a person decides
    ");
    assert_eq!(s.own_comments().len(), 1, "one comment asks the operator");
    assert!(s.world.decision(s.pull).is_blocked());
}

// spec: LOOP-2, LOOP-4 @core
#[test]
fn at_the_round_limit_one_comment_asks_the_operator_and_nothing_starts() {
    let mut s = security("the cap").open_pull();
    for round in 1..=4_u32 {
        let code = format!("{DEFAULT_FILE}fn round_{round}() {{ panic!() }}\n");
        s.by("alice").pushes("src/a.rs", &code);
        let mut submitted = report("security").finds(critical(&format!("round {round} panics")).at("src/a.rs", 8));
        for prior in 1..u64::from(round) {
            submitted = submitted.fixed(prior);
        }
        s.report(submitted).turn().discard_effects();
        assert_eq!(
            s.plan().next == Next::Blocked(BlockedCause::RoundCap),
            3 <= round,
            "round {round}: {:?}",
            s.plan().next
        );
    }
    let asked: Vec<String> = s.own_comments().into_iter().filter(|comment| comment.starts_with("@carol, ")).collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(!asked[0].contains("Approve it yourself"), "the comment offers only what works: {}", asked[0]);
    s.by("carol").commands("rounds +2").turn().discard_effects();
    assert_ne!(s.plan().next, Next::Blocked(BlockedCause::RoundCap));
}

// spec: LOOP-12 @core
#[test]
fn commands_need_permission() {
    let mut s = blocked(security("commands"));
    s.by("alice").commands("dismiss F1 it is mine").turn().discard_effects();
    assert!(s.plan().findings.first().expect("a finding").counts, "the author may not");
    assert_snapshot!(s.own_comments().join("\n"), @"Nothing was done: `dismiss` is for people with write access other than the pull's author");
    s.by("bob").commands("dismiss F1 the log is private").turn().discard_effects();
    assert!(!s.plan().findings.first().expect("a finding").counts);
    s.by("bob").commands("reopen F1").turn().discard_effects();
    assert!(s.plan().findings.first().expect("a finding").counts && s.world.decision(s.pull).is_blocked());
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: LOOP-12, INC-2 @core
#[test]
fn a_reopened_finding_counts_until_it_is_settled_again() {
    for settle in ["dismiss", "won't fix", "resolve", "fixed"] {
        let mut s = blocked(security("settled, reopened, fixed"));
        match settle {
            "dismiss" => s.by("bob").commands("dismiss F1 the log is private").turn(),
            "won't fix" => s.by("bob").replies(1, "won't fix: not here").turn(),
            "resolve" => s.by("bob").resolves(1).turn(),
            _ => {
                s.by("alice").changes_line("src/a.rs", 4, "    log(secret);").report(report("security").fixed(1)).turn()
            }
        };
        assert!(!s.discard_effects().plan().findings.first().expect("a finding").counts, "{settle}");
        s.by("bob").commands("reopen F1").turn().discard_effects();
        assert!(
            s.plan().findings.first().expect("a finding").counts && s.world.decision(s.pull).is_blocked(),
            "{settle}"
        );
        assert_eq!(s.turn().steps(), "nothing to write", "{settle}");
        s.by("alice").changes_line("src/a.rs", 4, FIX).report(report("security").fixed(1)).turn().discard_effects();
        assert!(!s.plan().findings.first().expect("a finding").counts, "{settle}");
        let has_reply = s.conversation(1).contains(&format!("Fixed in `{}`", s.plan().head.short()));
        assert_eq!(has_reply, settle != "resolve", "{settle}: a thread resolved by a person gets no reply");
        assert_eq!(s.turn().steps(), "nothing to write", "{settle}: the command applies once");
        s.by("bob").commands("reopen F1").turn().discard_effects();
        assert!(s.plan().findings.first().expect("a finding").counts, "{settle}: a second command applies again");
    }
}

// spec: LOOP-12 @core
#[test]
fn an_edited_comment_is_not_a_command_and_an_unknown_verb_gets_one_hint() {
    let mut s = blocked(security("edited and unknown"));
    s.by("bob").does("edits a comment into a command", |bob| {
        let comment = bob.comment("looks good");
        bob.edit_comment(&comment, "@referee-bot dismiss F1 never mind");
    });
    s.by("mallory").does("does the same", |mallory| {
        let comment = mallory.comment("looks good");
        mallory.edit_comment(&comment, "@referee-bot dismiss F1 never mind");
    });
    s.turn().discard_effects();
    assert!(s.plan().findings.first().expect("a finding").counts);
    assert_snapshot!(s.own_comments().join("\n"), @"Nothing was done: an edited comment is not a command. Write `dismiss` in a new comment.");
    assert_eq!(s.turn().steps(), "nothing to write");
    s.by("bob").commands("reveiw").by("mallory").commands("reveiw").turn().discard_effects();
    assert_eq!(s.own_comments().len(), 2);
    assert_snapshot!(s.own_comments()[1], @"Unknown command `reveiw`; did you mean `review`? See `@referee-bot help`");
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: LOOP-12 @core
#[test]
fn pause_holds_until_resume() {
    let mut s = security("paused").open_pull();
    s.by("bob").commands("pause").turn().discard_effects();
    assert!(s.plan().reviews.is_empty());
    s.by("alice").changes_line("src/a.rs", 7, "fn e() {}").turn().discard_effects();
    assert_eq!(s.plan().why.rule, "paused", "the pause holds at another head");
    s.by("bob").commands("resume").turn().discard_effects();
    assert!(!s.plan().reviews.is_empty());
}

// spec: LOOP-12 @core
#[test]
fn a_stance_is_parsed_from_a_fixed_list_of_phrases() {
    let mut s = blocked(security("a question"));
    s.by("bob").replies(1, "would you say that we won't fix it?").turn().discard_effects();
    assert!(s.plan().findings.first().expect("a finding").counts, "a question is not an acceptance");
    let calls = say::CommandPrefixes { bot_logins: &[referee_testkit::simulation::bot_login()], slash_reserved: true };
    assert_eq!(say::parse_command("/referee review", &calls), None, "some forges reserve the slash");
}
