//! Commands of people, the meaning of their replies, and the markers in the other bot's texts.

use proptest::prelude::*;
use referee_core::model::{BotText, FindingId, Login, RoleName, Sha, Stance};
use referee_core::say::{
    Ask, CommandPrefixes, Missing, Named, mentions_acceptance, parse_bot_text, parse_command, parse_stance,
};

const HEAD: &str = "9c1f2ab00112233445566778899aabbccddeeff0";

fn asked(text: &str) -> Option<Ask> {
    let bots = [Login::from("referee"), Login::from("review-app[bot]")];
    parse_command(text, &CommandPrefixes { bot_logins: &bots, slash_reserved: false })
}

fn id(number: u64) -> Named {
    Named { role: None, id: FindingId(number) }
}

fn unknown(verb: &str, nearest: Option<&str>) -> Ask {
    Ask::Unknown { verb: verb.to_owned(), nearest: nearest.map(str::to_owned), missing: None }
}

fn lacks(verb: &str, missing: Missing) -> Ask {
    Ask::Unknown { verb: verb.to_owned(), nearest: None, missing: Some(missing) }
}

// spec: LOOP-12 @core
#[test]
fn each_verb_is_understood() {
    let named = Named { role: Some(RoleName::from("security")), id: FindingId(9) };
    for (words, expected) in [
        ("review", Ask::Review),
        ("Review please!", Ask::Review),
        ("full review", Ask::FullReview),
        ("full-review", Ask::FullReview),
        ("explain", Ask::Explain),
        ("dismiss F4 not reachable", Ask::Dismiss { findings: vec![id(4)], reason: "not reachable".into() }),
        (
            "dismiss F4, f9 and `F10`: known",
            Ask::Dismiss { findings: vec![id(4), id(9), id(10)], reason: "known".into() },
        ),
        ("dismiss F4 security/F9 - ok", Ask::Dismiss { findings: vec![id(4), named.clone()], reason: "ok".into() }),
        ("dismiss F4 F4 and so on", Ask::Dismiss { findings: vec![id(4)], reason: "and so on".into() }),
        ("reopen F4", Ask::Reopen { findings: vec![id(4)] }),
        ("reopen security/F9 it is back", Ask::Reopen { findings: vec![named] }),
        ("rounds +1", Ask::Rounds { more: 1 }),
        ("rounds 9", Ask::Rounds { more: 9 }),
        ("retry", Ask::Retry),
        ("pause", Ask::Pause),
        ("RESUME", Ask::Resume),
        ("break-glass outage 12", Ask::BreakGlass { reason: "outage 12".into() }),
        ("break glass: outage", Ask::BreakGlass { reason: "outage".into() }),
        ("help", Ask::Help),
    ] {
        for line in [format!("@referee {words}"), format!("/referee {words}"), format!("@Review-App: {words}\nmore")] {
            assert_eq!(asked(&line), Some(expected.clone()), "{line}");
        }
    }
}

// spec: LOOP-12 @core
#[test]
fn an_incomplete_or_unknown_command_gets_a_hint() {
    for (words, expected) in [
        ("rexview", unknown("rexview", Some("review"))),
        ("full reviexw", unknown("full reviexw", Some("full review"))),
        ("dimsiss F4 x", unknown("dimsiss F4 x", Some("dismiss"))),
        ("thanks a lot for all of this, it was a pleasure", unknown("thanks a lot for all of this, it was a p", None)),
        ("review comments are noisy", unknown("review comments are noisy", Some("review"))),
        ("", unknown("", Some("help"))),
        ("resolve F4", unknown("resolve F4", None)),
        ("dismiss", lacks("dismiss", Missing::Finding)),
        ("dismiss everything", lacks("dismiss", Missing::Finding)),
        ("dismiss F4", lacks("dismiss", Missing::Reason)),
        ("dismiss F4 --", lacks("dismiss", Missing::Reason)),
        ("dismiss F99999999999999999999 x", lacks("dismiss", Missing::Finding)),
        ("reopen it", lacks("reopen", Missing::Finding)),
        ("break-glass", lacks("break-glass", Missing::Reason)),
        ("rounds", lacks("rounds", Missing::Number)),
        ("rounds +0", lacks("rounds", Missing::Number)),
        ("rounds +10", lacks("rounds", Missing::Number)),
        ("rounds -1", lacks("rounds", Missing::Number)),
    ] {
        assert_eq!(asked(&format!("@referee {words}")), Some(expected), "{words}");
    }
    assert_eq!(Missing::Reason.to_string(), "a reason");
}

// spec: LOOP-12 @core
#[test]
fn only_the_first_line_addressed_to_referee_commands() {
    for prose in [
        "review",
        "please @referee review",
        "> @referee review",
        "`@referee review`",
        "```\n@referee review\n```",
        "    @referee review",
        "\t@referee review",
        "hello\n@referee review",
        "@referee-2 review",
        "@referees review",
        "/review",
        "/referees review",
        "",
    ] {
        assert_eq!(asked(prose), None, "{prose:?}");
    }
    let bots = [Login::from("referee")];
    let taken = CommandPrefixes { bot_logins: &bots, slash_reserved: true };
    assert_eq!(parse_command("/referee review", &taken), None, "the slash belongs to the forge");
    assert_eq!(parse_command("@referee review", &taken), Some(Ask::Review));
}

/// The notes of the corpus with their meaning.
fn corpus() -> Vec<(&'static str, String)> {
    let lines = include_str!("stances/corpus.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| line.split_once(' ').expect("a label"))
        .map(|(label, note)| (label, note.replace("\\n", "\n")))
        .collect()
}

// spec: LOOP-12 @core
#[test]
fn no_note_of_the_corpus_is_taken_for_another_acceptance() {
    let corpus = corpus();
    let acceptances = corpus.iter().filter(|(label, _)| *label != "nothing").count();
    assert!(300 <= corpus.len() && 150 <= acceptances, "{} notes, {acceptances} acceptances", corpus.len());
    let wrong: Vec<_> = corpus
        .iter()
        .filter_map(|(label, note)| {
            let stance = parse_stance(note);
            let read = match stance {
                Stance::AcceptedWithReason => "formal",
                Stance::Accepted => "informal",
                _ => "nothing",
            };
            (read != *label).then(|| format!("{label}, read as {stance:?}: {note:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), corpus.len(), wrong.join("\n"));
}

#[test]
fn a_note_with_words_of_acceptance_that_do_not_count_is_recognised() {
    for (label, note) in corpus() {
        assert!(label == "nothing" || mentions_acceptance(&note), "{note:?}");
    }
    for (note, mentions) in [
        ("Acknowledged, please fix this before the merge", true),
        ("I disagree, won't fix", true),
        ("> won't fix\n\nNo. Please do.", false),
        ("`won't fix` is a label", false),
        ("Done.", false),
    ] {
        assert_eq!(mentions_acceptance(note), mentions, "{note:?}");
    }
}

// spec: LOOP-12 @core
#[test]
fn stances_are_read_from_how_a_note_begins() {
    use Stance::{Asked, ClaimedFixed, Disputed, Silent};
    for (text, expected) in [
        ("I disagree", Disputed),
        ("Disagree: the lock is held", Disputed),
        ("This is a false positive", Disputed),
        ("I think this is a false positive", Disputed),
        ("not a bug", Disputed),
        ("That isn't an issue here", Disputed),
        ("I disagree, it is by design", Disputed),
        ("I disagree, won't fix", Disputed),
        ("I disagree but fixed it anyway", Disputed),
        ("Fixed", ClaimedFixed),
        ("fixed in 9c1f2ab", ClaimedFixed),
        ("Fixed in `9c1f2ab`, thanks", ClaimedFixed),
        ("I have fixed this", ClaimedFixed),
        ("Done.", ClaimedFixed),
        ("All done now", ClaimedFixed),
        ("Addressed in the last push", ClaimedFixed),
        ("Good catch! Resolved.", ClaimedFixed),
        ("not fixed", Silent),
        ("This isn't fixed", Silent),
        ("It is not yet fixed", Silent),
        ("will be fixed", Silent),
        ("should be fixed?", Asked),
        ("Is this fixed?", Asked),
        ("should be fixed now", Silent),
        ("can't be done", Silent),
        ("fixed later", Silent),
        ("partially fixed", Silent),
        ("needs to be addressed", Silent),
        ("once this is done we can merge", Silent),
        ("a fixed size buffer", Silent),
        ("the path is resolved relative to the root", Silent),
        ("The other reviewer says that it is fixed", Silent),
        ("I don't disagree", Silent),
        ("Do you disagree?", Asked),
        ("prefixed and unfixed", Silent),
        ("> won't fix\n\nwhy?", Asked),
        ("> fixed\n> done\nI see", Silent),
        ("`fixed`", Silent),
        ("```\nfixed\n```", Silent),
        ("see above", Silent),
        ("", Silent),
    ] {
        assert_eq!(parse_stance(text), expected, "{text:?}");
    }
}

#[test]
fn the_other_bots_texts_are_understood() {
    let review = "<!-- review-bot:security -->\n## Review\n\n| # | Severity | Finding |\n|---|---|---|\n| 1 | major | a |\n\
                  | **2** | minor | b |\n\n*Evaluated against 9c1f2ab0*";
    assert_eq!(
        parse_bot_text(review),
        Some(BotText {
            sentinel: Some("security".into()),
            evaluated: Some("9c1f2ab0".into()),
            findings: vec![1, 2],
            ..BotText::default()
        })
    );
    for (assessment, clean) in [
        ("Assessment: ✅ Clean", Some(true)),
        ("**Assessment:** ✅ Clean", Some(true)),
        ("Assessment: ⚠️ Needs attention", Some(false)),
        ("Assessment: ⚠ x\nAssessment: ✅ Clean", Some(false)),
        ("Assessment: maybe", None),
        ("nothing", None),
    ] {
        let read = parse_bot_text(&format!("Self-review against {HEAD}\n\n{assessment}")).expect("a self-review");
        assert_eq!((read.self_review, read.clean), (Some(Sha::from(HEAD)), clean), "{assessment}");
    }
    let plan = format!("## FIX PLAN for {HEAD}\n\n- `Finding #3`: do it\n- Finding #1: that, as F4 says");
    assert_eq!(
        parse_bot_text(&plan),
        Some(BotText {
            fix_plan: vec![HEAD.into()],
            answers: vec![1, 3],
            answers_own: vec![FindingId(4)],
            ..BotText::default()
        })
    );
    for (text, named) in [
        ("Base 1234567. Fix plan (`9c1f2ab`)", &["9c1f2ab"][..]),
        ("At 9c1f2ab: the fix plan", &["9c1f2ab"]),
        ("Fix plan for daaefad: as in 1234567 and 7654321", &["daaefad", "1234567"]),
        ("Fix plan: effaced rows, 9c1f2ab", &["effaced", "9c1f2ab"]),
    ] {
        assert_eq!(parse_bot_text(text).expect("a fix plan").fix_plan, named, "{text}");
    }
}

#[test]
fn other_peoples_texts_are_not_the_bots() {
    for text in [
        "Self-review against 9c1f2ab",
        "> Self-review against 9c1f2ab00112233445566778899aabbccddeeff0",
        "```\n<!-- review-bot:x -->\n```",
        "<!-- review-bot:two words -->",
        "Evaluated against the spec",
        "a fix plan without a commit",
        "| 1 | 2 |\n|---|---|\n| 3 | 4 |",
        "Assessment: ✅ Clean",
        "F4 and Finding #1",
        "",
    ] {
        assert_eq!(parse_bot_text(text), None, "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn anything_is_read(text in "(?s).{0,120}") {
        let _ = (asked(&text), asked(&format!("@referee {text}")), parse_stance(&text), parse_bot_text(&text));
    }

    #[test]
    fn any_sequence_of_words_is_parsed_without_panic(words in prop::collection::vec(prop::sample::select(&[
        "@referee", "/referee", "dismiss", "F4", "rounds", "+", "9", "fixed", "not", "won't", "fix", "fix plan",
        "Finding #", "12", "`", "```", ">", "|", "---", "\n", "9c1f2ab", "Assessment:", "⚠", "✅", "Clean", "é", "?",
    ][..]), 0..20)) {
        let text = words.join(" ");
        let _ = (asked(&text), parse_stance(&text), parse_bot_text(&text), parse_bot_text(&words.concat()));
    }
}
