//! Properties of every text, for any input.

use proptest::prelude::*;
use referee_core::mark::Evaluation;
use referee_core::model::{Accounting, FindingId, IssueNumber, Login, PreExisting, RoleName, Severity, Sha, Verdict};
use referee_core::render::{
    BlockingNotice, BreakGlassNote, FixPlanItem, FixPlanNote, FixSubject, JobNote, PullDescription, ReadyNote,
    SelfReviewNote, SettlementReason, Summary, SummaryFinding, SummaryNote, ThreadRoot, render_break_glass_note,
    render_concession, render_contest, render_failure, render_fix_plan, render_job_note, render_notice,
    render_pull_description, render_ready_note, render_rebuttal, render_self_review, render_settled_root,
    render_status, render_summary, render_superseded, render_thread_root, render_title, render_worsened_reply,
};
use referee_core::sanitise::SafeText;

use crate::commands::{commands_nothing, mentions};
use crate::kit::{Ground, line, sha};

/// The maximum text size of all forges.
const BYTES: usize = 60_000;
/// The part of it that Mark and Block may take.
const HIDDEN: usize = 14_000 + 1_000;

fn many(n: u64, severity: Severity, title: &str) -> Vec<SummaryFinding<'_>> {
    (1..=n).map(|id| line(id, severity, title)).collect()
}

fn names(text: &str, id: FindingId) -> bool {
    text.split(|it: char| !it.is_ascii_alphanumeric()).any(|word| word == id.to_string())
}

// spec: PUB-16 @core
#[test]
fn a_thousand_blocking_findings_are_all_listed() {
    let ground = Ground::new();
    let title = "\u{1f4a5}|<b>@all ".repeat(40);
    let url = format!("https://git.example/{}", "ä".repeat(200));
    let path = "ordner/".repeat(900);
    for n in [1, 120, 1_000] {
        let open: Vec<SummaryFinding<'_>> = many(n, Severity::Critical, &title)
            .into_iter()
            .map(|line| SummaryFinding { thread_url: &url, path: &path, ..line })
            .chain(many(1_000, Severity::Suggestion, &title))
            .collect();
        let text = render_summary(&Summary { open_findings: &open, ..ground.blocking() });
        assert!(text.as_str().len() + HIDDEN <= BYTES, "{n}: {} bytes", text.as_str().len());
        for id in 1..=n {
            assert!(names(text.as_str(), FindingId(id)), "F{id} of {n} is not told:\n{}", text.as_str());
        }
        assert!(text.as_str().contains(" more\n\n</details>"), "the rest is counted");
    }
}

// spec: PUB-16 @core
#[test]
fn findings_without_action_are_cut_first_and_counted() {
    let ground = Ground::new();
    let title = "The name says less than the type, and the type says less than the place it is used at";
    let open = [many(3, Severity::Critical, title), many(1_000, Severity::Suggestion, title)].concat();
    let accepted: Vec<SummaryFinding<'_>> = many(1_000, Severity::Warning, title)
        .into_iter()
        .map(|it| SummaryFinding { accepted_by: Some(&ground.bob), ..it })
        .collect();
    let text = render_summary(&Summary { open_findings: &open, accepted_findings: &accepted, ..ground.blocking() });
    let text = text.as_str();
    assert!(text.len() + HIDDEN <= BYTES, "{} bytes", text.len());
    let rows = |fold: &str| {
        let fold = text.split("<details>").find(|part| part.contains(fold)).unwrap();
        let shown = fold.lines().filter(|line| line.starts_with("| **")).count();
        let left: usize = fold.lines().find_map(|line| line.strip_suffix(" more")).unwrap().parse().unwrap();
        shown + left
    };
    assert_eq!(rows("<summary>1000 suggestions"), 1_000);
    assert_eq!(rows("<summary>1000 accepted"), 1_000);
}

#[test]
fn a_typical_summary_is_short() {
    let ground = Ground::new();
    let text = render_summary(&ground.blocking());
    let mut visible = String::new();
    for (at, part) in text.as_str().split("<details>").enumerate() {
        visible.push_str(if at == 0 { part } else { part.split("</details>").nth(1).unwrap() });
    }
    assert!(visible.chars().count() <= 1_500, "{visible}");
}

fn evil() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        Just("/approve".to_owned()),
        Just("@bors r+".to_owned()),
        Just("\n/merge".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("```".to_owned()),
        Just("~~~\n".to_owned()),
        Just("<!-- referee:mark -->".to_owned()),
        Just("</details>".to_owned()),
        Just("| a | b |".to_owned()),
        Just("![x](http://evil.example/x.png)".to_owned()),
        Just("\u{202e}".to_owned()),
        Just("\u{200b}/close".to_owned()),
        Just("    /lgtm".to_owned()),
        Just("`".to_owned()),
        ".{0,20}",
    ];
    proptest::collection::vec(parts, 0..12).prop_map(|parts| parts.concat())
}

fn texts(words: &[String], n: u64) -> Vec<SafeText> {
    let word = |at: usize| words.get(at % words.len()).expect("there is a word").as_str();
    let (role, login) = (RoleName::from(word(0)), Login::from(word(1)));
    let (head, before) = (sha("9c1f2ab"), Sha(word(2).chars().filter(char::is_ascii).take(40).collect()));
    let ground = Ground::new();
    let evaluation = Evaluation {
        since: Some(before.clone()),
        failure: Some(word(3).to_owned()),
        skipped: words.to_vec(),
        accounting: Accounting { received: u32::MAX, pre_existing: u32::MAX, ..Accounting::default() },
        ..ground.evaluation.clone()
    };
    let finding = |id, severity| SummaryFinding {
        path: word(4),
        thread_url: word(5),
        accepted_by: Some(&login),
        remark: referee_core::decide::FindingRemark::ResolvedBy(word(6)),
        ..line(id, severity, word(7))
    };
    let open: Vec<SummaryFinding<'_>> = (1..=n).map(|id| finding(id, Severity::Critical)).collect();
    let accepted: Vec<SummaryFinding<'_>> = (1..=n).map(|id| finding(id, Severity::Warning)).collect();
    let outside = |_| PreExisting { title: word(7).to_owned(), path: word(4).to_owned(), line: Some(1) };
    let outside: Vec<PreExisting> = (0..n).map(outside).collect();
    let told = Summary {
        role: &role,
        head: &before,
        evaluation: &evaluation,
        own_verdict: Verdict::RequestChanges,
        complete: false,
        bot: &login,
        notes: &[
            SummaryNote::Escalated { by: &role },
            SummaryNote::Waiting { on: vec![word(8)] },
            SummaryNote::GlassBroken { by: word(9), reason: word(10) },
            SummaryNote::Restored { by: word(11) },
            SummaryNote::Dismissed { by: word(12) },
            SummaryNote::RolesNotAsked { roles: vec![word(13)] },
        ],
        open_findings: &open,
        accepted_findings: &accepted,
        pre_existing: &outside,
        report_summary: word(6),
        ..ground.blocking()
    };
    let failed = Summary { notes: &[], own_verdict: Verdict::Comment, attempts: 2, ..told.clone() };
    let root = ThreadRoot {
        id: FindingId(4),
        severity: Severity::Warning,
        role: &role,
        title: word(7),
        body: word(8),
        suggestion: Some(word(9)),
        one_click: true,
        earlier_thread_url: Some(word(5)),
        reopened_in: Some(&before),
        at_file: false,
        line: Some(3),
    };
    let ids: Vec<FindingId> = (1..=n).map(FindingId).collect();
    let job_note = JobNote {
        kind: referee_core::plan::JobKind::Findings,
        cause: word(0),
        head: Some(&before),
        outcome: None,
        retried: false,
        summary: word(1),
    };
    let items = (1..=n).map(|id| FixPlanItem { about: FixSubject::Finding(FindingId(id)), plan: word(3) }).collect();
    let (pull_title, pull_body) =
        render_pull_description(&PullDescription { issue: IssueNumber(3), title: word(0), body: word(1) });
    vec![
        render_summary(&told),
        render_status(&told),
        render_summary(&failed),
        render_status(&failed),
        render_thread_root(&root),
        render_concession(word(0)),
        render_rebuttal(word(1)),
        render_contest(word(2), Some(4), word(3)),
        render_worsened_reply(Severity::Critical, word(4)),
        render_settled_root(render_thread_root(&root).as_str(), SettlementReason::Accepted(&login)),
        render_settled_root(word(5), SettlementReason::Fixed(&before)),
        render_superseded(word(6), render_summary(&told).as_str()),
        render_superseded(word(7), word(8)),
        render_notice(&BlockingNotice {
            head: &before,
            newly_blocking: open.clone(),
            no_longer_blocking: ids.clone(),
            blocking_count: 4,
            review_url: word(5),
        }),
        render_ready_note(&ReadyNote { head: &head, assignee: Some(&login), open_findings: ids.clone() }),
        render_break_glass_note(&BreakGlassNote { by: word(0), reason: word(1), head: &before, blocking: ids }),
        render_job_note(&job_note),
        render_self_review(&SelfReviewNote { head: &before, clean: false, notes: word(2) }),
        render_fix_plan(&FixPlanNote { head: &before, items }),
        pull_title,
        pull_body,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    // spec: PUB-2, PUB-16 @core
    // Invariant I2: no line of any text is a command, nobody is mentioned, and nothing is too long.
    #[test]
    fn no_text_of_referee_contains_a_command(words in proptest::collection::vec(evil(), 1..14), n in 0u64..12) {
        let all = texts(&words, n);
        prop_assert_eq!(&all, &texts(&words, n), "equal inputs make equal texts");
        for text in &all {
            commands_nothing(text.as_str());
            prop_assert_eq!(mentions(text.as_str()), Vec::<&str>::new(), "in:\n{}", text.as_str());
            prop_assert!(text.as_str().len() + HIDDEN <= BYTES, "{} bytes", text.as_str().len());
        }
        prop_assert!(all.iter().skip(1).step_by(2).take(2).all(|status| status.as_str().chars().count() <= 140));
    }
}

proptest! {
    // spec: PUB-2 @core
    // A summary stores titles and reasons as rendered, and the next turn renders them from there.
    #[test]
    fn rendering_a_title_or_failure_twice_changes_nothing(tainted in evil()) {
        for told in [render_title(&tainted), render_failure(&tainted)] {
            prop_assert_eq!(told.as_str().contains('\n'), false);
        }
        prop_assert_eq!(render_title(render_title(&tainted).as_str()), render_title(&tainted));
        prop_assert_eq!(render_failure(render_failure(&tainted).as_str()), render_failure(&tainted));
    }
}

// spec: PUB-16 @core
#[test]
fn a_body_of_a_hundred_kilobytes_fits() {
    for unit in ["words and words ", "\u{1f4a5}", "```\n@all\n"] {
        let words = [unit.repeat(100_000 / unit.len())];
        for text in texts(&words, 2) {
            commands_nothing(text.as_str());
            assert!(text.as_str().len() + HIDDEN <= BYTES, "{} bytes of {unit:?}", text.as_str().len());
        }
    }
}
