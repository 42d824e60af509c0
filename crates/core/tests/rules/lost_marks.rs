//! Reviews of a role that lost their Mark: they still count as rounds, and still belong to the role.

use referee_core::facts::Facts;
use referee_core::mark::{TagKind, recover_lost_marks};
use referee_core::model::*;

use crate::support::*;

/// Adds a blocking review of referee's account without a Mark.
fn unmarked_block<'a>(stage: &'a mut Stage, commit: Sha, body: &str) -> &'a mut Review {
    let review = stage.review(program("referee"), Verdict::RequestChanges, commit);
    review.text = Text::from_body(body);
    review
}

/// Returns the rounds of the first role.
fn round_of(stage: &Stage) -> u32 {
    Facts::new(&stage.snapshot, &stage.policy).roles[0].rounds_used
}

// spec: LOOP-2 @core
#[test]
fn blocking_reviews_without_a_mark_count_as_rounds_by_their_heads() {
    let mut stage = Stage::with_workers();
    for letter in ['b', 'c', 'c'] {
        unmarked_block(&mut stage, sha(letter), "");
    }
    assert_eq!(round_of(&stage), 2, "a repost at the same head is no round");
    let mark = stage.verdict("static", Verdict::RequestChanges);
    mark.rounds = vec![patch("p1")];
    assert_eq!(round_of(&stage), 3, "a Mark that was reset does not restart the count");
    let mark = stage.verdict("static", Verdict::RequestChanges);
    mark.rounds = vec![patch("p8"), patch("p9"), patch("q"), patch("p1")];
    assert_eq!(round_of(&stage), 4, "the larger of both counts, not the sum");
    stage.snapshot.pull.reopens = vec![Time(NOW - HOUR)];
    assert_eq!(round_of(&stage), 0, "rounds count from the latest reopen");
}

// spec: LOOP-2 @core
#[test]
fn a_head_whose_change_is_known_counts_once_with_its_mark() {
    let mut stage = Stage::with_workers();
    stage.verdict_at("static", Verdict::RequestChanges, sha('b'), patch("p0"));
    unmarked_block(&mut stage, sha('b'), "");
    assert_eq!(round_of(&stage), 1);
    unmarked_block(&mut stage, sha('a'), "");
    assert_eq!(round_of(&stage), 2, "the current head has the current change");
}

// spec: LOOP-2 @core
#[test]
fn other_accounts_other_bots_and_shared_accounts_give_no_rounds() {
    let mut stage = Stage::with_workers();
    stage.review(person("bob"), Verdict::RequestChanges, sha('b'));
    stage.review(program("referee"), Verdict::Comment, sha('b'));
    let other = unmarked_block(&mut stage, sha('b'), "");
    other.text.reading.bot = Some(Box::new(BotText { sentinel: Some("lint".into()), ..BotText::default() }));
    assert_eq!(round_of(&stage), 0);
    unmarked_block(&mut stage, sha('c'), "");
    stage.policy.roles.push(role("style"));
    assert_eq!(round_of(&stage), 0, "two roles post under this account, and nothing says which one it was");
}

// spec: LOOP-2, PUB-12 @core
#[test]
fn a_lost_mark_is_recovered_from_text_threads_and_author() {
    let text = "**Changes requested** · 1 blocking · `bbbbbbb` · round 2 of 3\n\nEvaluated against bbbbbbb by static\n";
    let recovered = |change: &dyn Fn(&mut Stage)| {
        let mut stage = Stage::with_workers();
        stage.policy.roles.push(role("style"));
        unmarked_block(&mut stage, sha('b'), text);
        change(&mut stage);
        recover_lost_marks(&mut stage.snapshot, &stage.policy);
        let mark = stage.snapshot.reviews[0].text.trusted_mark();
        mark.map(|mark| (mark.role.to_string(), mark.rounds.len(), mark.complete))
    };
    let body = |text: &str| {
        let text = text.to_owned();
        move |stage: &mut Stage| stage.snapshot.reviews[0].text = Text::from_body(text.as_str())
    };
    let found = |rounds| Some(("static".to_owned(), rounds, false));
    assert_eq!(recovered(&|_| {}), found(2));
    assert_eq!(recovered(&body(&format!("Looks fine to me.\n\n{text}"))), found(2), "below somebody's words");
    assert_eq!(recovered(&body("Looks fine to me.")), None);
    assert_eq!(recovered(&body(&format!("Superseded by [it](u)\n\n{text}"))), None);
    assert_eq!(recovered(&body(&text.replace("static", "other"))), None, "an unknown role");
    assert_eq!(recovered(&|stage| stage.snapshot.reviews[0].author = person("mallory")), None);
    assert_eq!(recovered(&|stage| stage.snapshot.reviews[0].row = ReviewKind::Wrapper), None);
    let threaded = |stage: &mut Stage| {
        body("Looks fine to me.")(stage);
        for letter in ['b', 'a'] {
            critical_thread(stage, sha(letter));
        }
    };
    assert_eq!(recovered(&threaded), found(2), "two heads with a new critical finding");
}

/// Adds a thread that the first review opened for a critical finding of `static`.
fn critical_thread(stage: &mut Stage, head: Sha) {
    let thread = stage.finding_thread("static", 1, &[]);
    thread.review = Some(ReviewId("r1".into()));
    let tag = thread.notes[0].text.reading.tag.as_mut().expect("a Tag");
    tag.data.head = head;
    if let TagKind::Root { severity, .. } = &mut tag.data.kind {
        *severity = Severity::Critical;
    }
}
