//! Marks, Tags and Blocks are parsed as they were written, and count only where referee wrote them (PUB-12).

use std::collections::BTreeMap;

use proptest::prelude::*;
use referee_core::hash::Hash;
use referee_core::mark::{
    Binding, Block, BlockEntry, Evaluation, Key, Keys, MAX_BLOCK_BYTES, MAX_CAUSE_BYTES, MAX_MARK_BYTES,
    MAX_PRE_EXISTING, MAX_TAG_BYTES, Mark, ReplyKind, Tag, TagKind, TextHistory, TextReader, Topic, Trust,
    UnsealedMark, seal_draft, shorten_cause, strip_hidden_comments,
};
use referee_core::model::{
    Accounting, Author, FindingId, FindingState, HeldBack, Login, Mergeable, NoteId, Overflow, PreExisting, Pull,
    PullNumber, PullState, RepoId, ReviewId, RoleName, RunCost, Severity, Sha, Stance, Text, TextReading, Time,
    Verdict,
};
use referee_core::plan::{JobKind, TextDraft, Trailer};
use referee_core::sanitise::SafeText;
use referee_core::say::{Ask, CommandPrefixes};
use referee_core::track::{Fingerprint, PatchId};

#[path = "mark/any.rs"]
mod any;

const BOT: &str = "referee-bot";
const SEC: &str = "sec-bot";
const HEAD: &str = "9c1f2ab000000000000000000000000000000000";
const NOW: Time = Time(1_800_000_000);

/// One pull with its identities.
struct Place {
    binding: Binding,
    keys: Keys,
    own: Vec<Login>,
    roles: BTreeMap<RoleName, Option<Login>>,
}

fn place() -> Place {
    Place {
        binding: Binding { forge: "gitea".into(), repo: RepoId(5), pull: PullNumber(7) },
        keys: keys(&[1]),
        own: vec![Login::from(BOT), Login::from(SEC)],
        roles: [("general", BOT), ("static", BOT), ("security", SEC)]
            .map(|(role, login)| (RoleName::from(role), Some(Login::from(login))))
            .into(),
    }
}

fn key(number: u8, since: Option<Time>) -> Key {
    Key::new([number; 32], since).expect("a key of 32 bytes")
}

fn keys(numbers: &[u8]) -> Keys {
    Keys::new(numbers.iter().map(|number| key(*number, None)).collect())
}

impl Place {
    fn seal(&self, draft: &TextDraft) -> String {
        seal_draft(draft, &self.binding, &self.keys).as_str().to_owned()
    }

    fn read_at(&self, body: &str, login: &str, written: TextHistory) -> TextReading {
        let mut text = Text::from_body(body);
        let author = Author { login: Some(Login::from(login)), ..Author::default() };
        let calls = CommandPrefixes { bot_logins: &self.own, slash_reserved: false };
        let Self { binding, keys, own, roles } = self;
        TextReader { binding, keys, own_logins: own, role_logins: roles, calls }.read(&mut text, &author, written);
        text.reading
    }

    fn read(&self, body: &str, login: &str) -> TextReading {
        self.read_at(body, login, TextHistory { written_at: NOW, edited: false })
    }

    #[track_caller]
    fn trusts(&self, body: &str, expected: Trust) {
        let reading = self.read(body, BOT);
        assert_eq!(reading.mark.as_deref().map(|mark| mark.trust), Some(expected));
        assert_eq!(reading.forged, expected == Trust::Broken);
        assert_eq!(reading.block.is_some(), matches!(expected, Trust::Sealed | Trust::Unsealed | Trust::Adopted));
    }
}

fn mark(role: &str) -> Mark {
    Mark {
        role: RoleName::from(role),
        own: Verdict::RequestChanges,
        enforced: Verdict::RequestChanges,
        head: Sha::from(HEAD),
        base: None,
        patch: PatchId("0123456789abcdef0123456789abcdef".into()),
        complete: true,
        reviewed: Some(Sha::from(HEAD)),
        rounds: vec![PatchId("0123456789abcdef0123456789abcdef".into())],
        reopened: None,
        attempts: 0,
        tried_at: None,
        report: None,
        asked: None,
        restored: None,
        superseded: None,
        blocking: vec![FindingId(4)],
        inputs: Hash::digest("inputs"),
        words: Hash::default(),
        rewrote: None,
        evaluation: Evaluation { read: 14, of: 15, skipped: vec!["Cargo.lock".into()], ..Evaluation::default() },
        spent: RunCost { tokens: 212_000, micro_usd: 460_000, seconds: 182, runs: 1 },
        overflow: Default::default(),
        configured: None,
        tool: None,
        highest: FindingId(6),
    }
}

fn entry(id: u64, state: FindingState) -> BlockEntry {
    BlockEntry {
        id: FindingId(id),
        severity: Severity::Warning,
        state,
        title: format!("Finding number {id} has a title of some length, as titles go"),
        path: format!("src/module_{}/file.rs", id % 10),
        line: Some(88),
        now: None,
        rule: None,
        detail: Default::default(),
        fingerprint: Fingerprint(Hash::digest(id.to_string()).0),
        head: Sha::from(HEAD),
        rounds: vec![1, 2],
        threaded: false,
        by: None,
        reopened: None,
    }
}

fn summary(role: &str) -> TextDraft {
    TextDraft {
        words: SafeText::sanitise_block("**Changes requested**\n\nEvaluated against the head.", 1_000),
        trailer: Trailer::Mark(
            Box::new(mark(role)),
            Box::new(Block { entries: vec![entry(4, FindingState::Open)], ..Block::default() }),
        ),
    }
}

fn note(kind: TagKind) -> TextDraft {
    TextDraft {
        words: SafeText::sanitise_block("Some words.", 100),
        trailer: Trailer::Tag(Box::new(Tag { kind, head: Sha::from(HEAD) })),
    }
}

fn reply() -> TextDraft {
    note(TagKind::Reply { what: ReplyKind::Rebuttal, answers: NoteId::from("n1") })
}

#[test]
fn a_text_ends_with_one_trailer_behind_a_blank_line() {
    let place = Place { keys: Keys::empty(), ..place() };
    let text = place.seal(&reply());
    assert_eq!(text, "Some words.\n\n<!-- referee:tag v1 ar;n1;*nB8qsAAAAAAAAAAAAAAAAAAAAAA - -->");
    assert_eq!(strip_hidden_comments(&text), "Some words.\n\n");
    let text = place.seal(&summary("general"));
    let (block, mark) = (text.find("\n\n<!-- referee:block v1 "), text.find("-->\n<!-- referee:mark v1 general;rr1;"));
    assert!(block.is_some() && block < mark && text.ends_with(" - -->"), "{text}");
    assert_eq!(text.matches("<!--").count(), 2);
}

// spec: PUB-12 @core
#[test]
fn without_keys_nothing_is_signed_and_own_texts_are_trusted() {
    let place = Place { keys: Keys::empty(), ..place() };
    place.trusts(&place.seal(&summary("general")), Trust::Unsealed);
}

// spec: PUB-12 @core
#[test]
fn a_key_added_later_adopts_older_texts() {
    let unsealed = Place { keys: Keys::empty(), ..place() }.seal(&summary("general"));
    let since = |at: Option<Time>| Place { keys: Keys::new(vec![key(1, at)]), ..place() };
    since(Some(Time(NOW.0 + 1))).trusts(&unsealed, Trust::Adopted);
    since(Some(NOW)).trusts(&unsealed, Trust::Broken);
    since(None).trusts(&unsealed, Trust::Broken);
    let keyed = since(Some(Time(NOW.0 + 1)));
    keyed.trusts(&keyed.seal(&summary("general")), Trust::Sealed);
    let rotated = Place { keys: Keys::new(vec![key(2, Some(Time(NOW.0 + 9))), key(1, Some(NOW))]), ..place() };
    rotated.trusts(&unsealed, Trust::Broken);
}

// spec: PUB-12 @core
#[test]
fn a_rotated_key_still_verifies_and_the_first_signs() {
    let old = Place { keys: keys(&[1]), ..place() }.seal(&summary("general"));
    let rotating = Place { keys: keys(&[2, 1]), ..place() };
    rotating.trusts(&old, Trust::Sealed);
    let new = rotating.seal(&summary("general"));
    Place { keys: keys(&[2]), ..place() }.trusts(&new, Trust::Sealed);
    Place { keys: keys(&[2]), ..place() }.trusts(&old, Trust::Broken);
}

// spec: PUB-12 @core
#[test]
fn a_renamed_repository_keeps_its_marks() {
    let called = |name: &str, repo: u64| Place { binding: Binding::from_pull(&pull(name, repo)), ..place() };
    let text = called("acme/api", 5).seal(&summary("general"));
    called("acme/renamed", 5).trusts(&text, Trust::Sealed);
    called("acme/api", 6).trusts(&text, Trust::Broken);
}

fn pull(repo_name: &str, repo: u64) -> Pull {
    Pull {
        forge: "gitea".into(),
        repo: RepoId(repo),
        repo_name: repo_name.into(),
        number: PullNumber(7),
        title: String::new(),
        author: Author::default(),
        state: PullState::Open,
        draft: false,
        head: Sha::from(HEAD),
        head_since: NOW,
        base: "main".into(),
        base_sha: Sha::from(HEAD),
        mergeable: Mergeable::Unknown,
        pushable: None,
        labels: Vec::new(),
        assignees: Vec::new(),
        requests: Vec::new(),
        opened_at: NOW,
        removed_labels: Vec::new(),
        reopens: Vec::new(),
        pushes: Vec::new(),
        url: String::new(),
    }
}

// spec: PUB-12 @core
#[test]
fn a_newer_version_is_known_as_such_and_nothing_else() {
    let place = place();
    let text = place.seal(&summary("general"));
    let newer = text.replace("referee:mark v1 ", "referee:mark v2 ");
    place.trusts(&newer, Trust::Newer);
    let newer = place.seal(&reply()).replace("referee:tag v1 ", "referee:tag v12.3 something else ");
    let reading = place.read(&newer, BOT);
    assert_eq!(reading.tag.as_deref().map(|tag| tag.trust), Some(Trust::Newer));
    assert!(!reading.forged && reading.tag.as_deref().and_then(UnsealedMark::trusted_data).is_none());
    place.trusts(&text.replace("referee:mark v1 ", "referee:mark v1.4 "), Trust::Broken);
    for version in ["v0", "v", "vx", "v-1"] {
        let reading = place.read(&text.replace("referee:mark v1 ", &format!("referee:mark {version} ")), BOT);
        assert!(reading.forged && reading.mark.is_none(), "{version}");
    }
}

// spec: PUB-12 @core
#[test]
fn a_later_minor_version_may_add_fields() {
    let place = Place { keys: Keys::empty(), ..place() };
    let text =
        place.seal(&reply()).replace("referee:tag v1 ", "referee:tag v1.4 ").replace(" - -->", ";more;fields - -->");
    let reading = place.read(&text, BOT);
    assert_eq!(reading.tag.as_deref().map(|tag| tag.trust), Some(Trust::Unsealed));
}

// spec: PUB-12 @core
#[test]
fn a_copied_mark_does_not_count() {
    let here = place();
    let bound = |binding: Binding| Place { binding, ..place() }.seal(&summary("general"));
    let other = [
        Binding { pull: PullNumber(8), ..here.binding.clone() },
        Binding { repo: RepoId(6), ..here.binding.clone() },
        Binding { forge: "github".into(), ..here.binding.clone() },
    ];
    for binding in other {
        here.trusts(&bound(binding), Trust::Broken);
    }
    let text = here.seal(&summary("general"));
    // Edited to fit another role, another head.
    for (from, to) in [("v1 general;", "v1 static;"), (";rr1;*nB8q", ";rr1;*nB8r")] {
        assert!(text.contains(from), "{text}");
        here.trusts(&text.replace(from, to), Trust::Broken);
    }
}

// spec: PUB-12 @core
#[test]
fn a_mark_counts_only_for_the_identity_its_role_has() {
    let place = place();
    let text = place.seal(&summary("security"));
    let reading = place.read(&text, BOT);
    assert!(reading.forged && reading.mark.is_none() && reading.block.is_none(), "another identity's role");
    let reading = place.read(&text, SEC);
    assert!(!reading.forged && reading.mark.is_some());
    let root = place.seal(&note(TagKind::Root {
        role: RoleName::from("security"),
        finding: FindingId(4),
        fingerprint: Fingerprint("f".into()),
        severity: Severity::Critical,
        settled: None,
    }));
    assert!(place.read(&root, BOT).forged && !place.read(&root, SEC).forged);
    let ad_hoc = place.seal(&summary("ad-hoc"));
    assert!(place.read(&ad_hoc, SEC).mark.is_some(), "a role that nobody names may be any own identity's");
    assert!(place.read(&place.seal(&reply()), SEC).tag.is_some(), "a Tag without a role too");
}

// spec: PUB-12 @core
#[test]
fn an_edited_mark_does_not_count() {
    let place = place();
    let text = place.seal(&summary("general"));
    place.trusts(&text.replace("general;rr1;", "general;aa1;"), Trust::Broken);
    place.trusts(&text.replace("Finding+number", "Finding+nvmber"), Trust::Broken);
    let without_block: String =
        text.lines().filter(|line| !line.contains("referee:block")).collect::<Vec<_>>().join("\n");
    place.trusts(&without_block, Trust::Broken);
    let unsealed = Place { keys: Keys::empty(), ..self::place() };
    let text = unsealed.seal(&summary("general"));
    unsealed.trusts(&text.replace("Finding+number", "Finding+nvmber"), Trust::Broken);
    let reading = place.read(&text.replace("general;rr1;", "general;zz1;"), BOT);
    assert!(reading.forged && reading.mark.is_none(), "what cannot be read is no Mark");
}

// spec: PUB-12 @core
#[test]
fn an_edit_of_the_text_keeps_the_mark_and_changes_the_hash() {
    let place = place();
    let sent = place.seal(&summary("general"));
    for edited in [sent.replace("Changes", "No changes"), format!("{sent}\n\nPS: merged anyway")] {
        place.trusts(&edited, Trust::Sealed);
        let mark = place.read(&edited, BOT).mark.expect("a Mark");
        assert_eq!(mark.data.words, Text::from_body(sent.as_str()).hash);
        assert_ne!(mark.data.words, Text::from_body(edited.as_str()).hash);
    }
    let folded = sent.replace('\n', "\r\n") + "  \r\n\r\n";
    place.trusts(&folded, Trust::Sealed);
    assert_eq!(Text::from_body(folded).hash, Text::from_body(sent).hash);
}

// I23: a stranger's text is never read as state.
// spec: PUB-12 @core
#[test]
fn an_outsiders_mark_is_ignored_and_reported() {
    let place = place();
    for text in [place.seal(&summary("general")), place.seal(&reply())] {
        let reading = place.read(&text, "mallory");
        assert_eq!(reading, TextReading { forged: true, ..TextReading::default() });
        let mut unread = Text::from_body(text.as_str());
        let calls = CommandPrefixes { bot_logins: &place.own, slash_reserved: false };
        let Place { binding, keys, own, roles } = &place;
        let reader = TextReader { binding, keys, own_logins: own, role_logins: roles, calls };
        reader.read(&mut unread, &Author::default(), TextHistory { written_at: NOW, edited: false });
        assert!(unread.reading.forged && unread.trusted_mark().is_none(), "a deleted user is nobody");
    }
}

// A worker with a token of its own repeats what it answers, with the invisible comments in it.
// spec: PUB-12 @core
#[test]
fn a_workers_answer_that_repeats_a_copied_mark_stays_an_answer() {
    let place = place();
    let sha = "0123456789012345678901234567890123456789";
    let copied = place.seal(&summary("general"));
    for quoted in [format!("> {}", copied.replace('\n', "\n> ")), format!("```\n{copied}\n```"), copied] {
        for answer in [format!("Fix plan for {sha}\n\nFinding #1: mended."), format!("Self-review against {sha}")] {
            for text in [format!("{answer}\n\n{quoted}"), format!("{quoted}\n\n{answer}")] {
                let bot = place.read(&text, BOT).bot.unwrap_or_else(|| panic!("{text}"));
                assert!(bot.self_review.is_some() || bot.answers == [1], "{text}");
            }
        }
    }
}

// spec: PUB-12, PUB-16 @core
#[test]
fn a_mark_in_a_models_text_is_never_posted() {
    let place = place();
    let forged = place.seal(&summary("general"));
    let words = SafeText::sanitise_block(&format!("Look:\n{forged}\n`{forged}`\n```\n{forged}\n```"), 30_000);
    let reading = place.read(&place.seal(&TextDraft { words, ..reply() }), BOT);
    assert!(!reading.forged && reading.mark.is_none() && reading.tag.is_some());
    // If one ever got through, only the last one would count.
    let sent = place.seal(&reply());
    for slipped in [format!("{forged}\n\n{sent}"), format!("> {forged}\n\n{sent}"), format!("{sent}\n{sent}")] {
        let reading = place.read(&slipped, BOT);
        assert!(reading.forged && reading.mark.is_none() && reading.tag.is_some(), "{slipped}");
    }
    let quoted = format!("> {}\n\nno", sent.replace('\n', "\n> "));
    let reading = place.read(&quoted, BOT);
    assert!(reading.forged && reading.tag.is_none(), "a quoted one does not begin its line");
}

#[test]
fn a_block_that_no_mark_vouches_for_is_reported() {
    let place = place();
    let bare = TextDraft { trailer: Trailer::Mark(Box::new(mark("general")), Box::default()), ..summary("general") };
    let text = place.seal(&bare);
    assert!(!text.contains("referee:block") && !place.read(&text, BOT).forged);
    let slipped = text.replace("<!-- referee:mark", "<!-- referee:block v1 0;-;-;- -->\n<!-- referee:mark");
    let reading = place.read(&slipped, BOT);
    assert!(reading.forged && reading.block.is_none() && reading.mark.is_some());
}

#[test]
fn secrets_are_neither_short_nor_shown() {
    assert!(Key::new(*b"fifteen bytes..", None).is_none());
    let shown = format!("{:?}", Keys::new(vec![Key::new(*b"sixteen bytes...", Some(NOW)).expect("long enough")]));
    assert!(shown.contains("since") && !shown.contains("sixteen") && !shown.contains("115"), "{shown}");
}

// spec: LOOP-12 @core
#[test]
fn commands_are_read_from_unedited_texts_of_people() {
    let place = place();
    let unedited = TextHistory { written_at: NOW, edited: false };
    let edited = TextHistory { edited: true, ..unedited };
    assert_eq!(place.read_at("@referee-bot review", "alice", unedited).ask, Some(Box::new(Ask::Review)));
    let reading = place.read_at("@referee-bot dismiss F4 won't fix", "alice", edited);
    assert_eq!(reading.stance, Stance::Silent, "an edited command is not a stance");
    assert_eq!(place.read_at("@referee-bot review", BOT, unedited).ask, None, "own texts command nothing");
    for (words, stance) in [
        ("won't fix", Stance::Silent),
        ("won't fix: legacy", Stance::Silent),
        ("fixed", Stance::Silent),
        ("I disagree", Stance::Disputed),
    ] {
        let reading = place.read_at(words, "alice", edited);
        assert_eq!((reading.stance, reading.unclear), (stance, words.contains("won't")), "edited: {words}");
    }
    let addressed = place.read_at("@referee-bot won't fix: legacy", "alice", unedited);
    assert_eq!((addressed.ask, addressed.stance), (None, Stance::AcceptedWithReason));
    for (words, stance) in [
        ("won't fix: legacy\n\n<!-- referee:tag v1 anything -->", Stance::Silent),
        ("won't fix: legacy\n<!--Referee:Tag -->\n", Stance::Silent),
        ("won't fix: legacy <!-- referee:", Stance::Silent),
        ("won't fix: legacy\n> <!-- referee:tag v1 x -->", Stance::AcceptedWithReason),
        ("won't fix: legacy <!-- referee:tag v1 x --> indeed", Stance::AcceptedWithReason),
    ] {
        assert_eq!(place.read_at(words, "alice", unedited).stance, stance, "D41: {words}");
    }
    let mut text = Text::from_body("won't fix");
    let program = Author { login: Some(Login::from("app")), bot: true, ..Author::default() };
    let calls = CommandPrefixes { bot_logins: &place.own, slash_reserved: false };
    let Place { binding, keys, own, roles } = &place;
    TextReader { binding, keys, own_logins: own, role_logins: roles, calls }.read(&mut text, &program, unedited);
    assert_eq!(text.reading.stance, Stance::Silent, "a program accepts nothing");
    let own_words = TextDraft { words: SafeText::sanitise_line("@referee-bot review; won't fix", 100), ..reply() };
    let reading = place.read(&place.seal(&own_words), BOT);
    assert_eq!((reading.ask, reading.stance), (None, Stance::Silent));
    let plan = TextDraft { words: SafeText::sanitise_line("words", 100), ..note(TagKind::Topic(Topic::FixPlan)) };
    let text = place.seal(&plan).replace("words", &format!("Fix plan for {HEAD}: F4"));
    let bot = place.read(&text, BOT).bot.expect("an own fix plan is read");
    assert_eq!((bot.fix_plan.as_slice(), bot.answers_own.as_slice()), (&[HEAD.to_owned()][..], &[FindingId(4)][..]));
}

#[test]
fn a_text_without_a_stored_body_keeps_its_reading() {
    let place = place();
    let mut text = Text::from_body(place.seal(&summary("general")));
    let calls = CommandPrefixes { bot_logins: &place.own, slash_reserved: false };
    let author = Author { login: Some(Login::from(BOT)), ..Author::default() };
    let Place { binding, keys, own, roles } = &place;
    let reader = TextReader { binding, keys, own_logins: own, role_logins: roles, calls };
    reader.read(&mut text, &author, TextHistory { written_at: NOW, edited: false });
    let read = text.reading.clone();
    text.body = None;
    reader.read(&mut text, &author, TextHistory { written_at: NOW, edited: false });
    assert_eq!(text.reading, read);
}

#[test]
fn long_names_are_known_again() {
    let long = "a role with a name that is much longer than any policy should allow it to be";
    let mut place = place();
    place.roles.insert(RoleName::from(long), Some(Login::from(SEC)));
    let text = place.seal(&summary(long));
    assert!(place.read(&text, BOT).forged, "it has its identity");
    assert_eq!(place.read(&text, SEC).mark.map(|mark| mark.data.role), Some(RoleName::from(long)));
    let cause = "block:somebody-with-quite-a-long-name";
    assert_ne!(shorten_cause(cause), cause);
    assert_eq!(shorten_cause(&shorten_cause(cause)), shorten_cause(cause));
    assert_eq!(shorten_cause("block:alice"), "block:alice");
    let job = TagKind::Topic(Topic::Job {
        kind: JobKind::Findings,
        cause: cause.into(),
        patch: PatchId::default(),
        epoch: 1,
        outcome: None,
        retried: false,
    });
    let read = place.read(&place.seal(&note(job)), BOT).tag.expect("a Tag");
    assert!(matches!(&read.data.kind, TagKind::Topic(Topic::Job { cause: kept, .. }) if *kept == shorten_cause(cause)));
    assert!(MAX_CAUSE_BYTES >= "address-feedback".len());
}

#[test]
fn evictions_follow_the_table() {
    use FindingState::{Accepted, Fixed, Open, Refuted};
    let kinds = [Fixed, Refuted, Accepted, Open, Open];
    let outside = |line| PreExisting { title: "Long line".into(), path: "src/old.rs".into(), line: Some(line) };
    let outside: Vec<PreExisting> = (1..=30).map(outside).collect();
    let full = |each: u64| {
        let mut entries = Vec::new();
        for (group, state) in (0..).zip(kinds) {
            for number in 0..each {
                entries.push(BlockEntry { threaded: group == 3, ..entry(group * 1_000 + number, state) });
            }
        }
        let report_summary = "Read twice.".to_owned();
        Block { entries, evicted: 2, pre_existing: outside.clone(), report_summary }
            .truncate_to_limits(Some(MAX_BLOCK_BYTES))
    };
    let left = |block: &Block| -> Vec<usize> {
        (0..5).map(|group| block.entries.iter().filter(|entry| entry.id.0 / 1_000 == group).count()).collect()
    };
    assert_eq!((left(&full(10)), full(10).evicted), (vec![10; 5], 2));
    assert_eq!(full(10).pre_existing, outside[..MAX_PRE_EXISTING], "no more of them than that");
    let tight = full(19);
    assert_eq!((left(&tight), tight.evicted), (vec![19; 5], 2), "what lies outside the change goes before the first");
    assert!(tight.pre_existing.len() < MAX_PRE_EXISTING && outside.starts_with(&tight.pre_existing));
    assert_eq!(tight.report_summary, "Read twice.", "the report's summary goes after them");
    let some = full(22);
    assert_eq!(
        (left(&some)[1..].to_vec(), some.report_summary.as_str()),
        (vec![22; 4], ""),
        "only fixed ones go at first"
    );
    assert!(some.entries.first().is_some_and(|entry| entry.id.0 > 0), "the oldest first");
    assert_eq!(some.evicted as usize, 2 + 22 - left(&some)[0]);
    let more = full(70);
    assert_eq!(left(&more)[..3], [0; 3], "then refuted, then accepted ones");
    assert_eq!(left(&more)[3], 70, "then titles of what has a thread: the thread has them");
    assert!(more.entries.iter().all(|entry| entry.threaded == entry.title.is_empty()), "no title is cut");
    assert!(left(&more)[4] < 70 && left(&more)[4] > 0, "then what has no thread: the Mark counts it");
    let unbounded = Block { entries: (0..2_000).map(|id| entry(id, Open)).collect(), ..Block::default() };
    assert_eq!(unbounded.clone().truncate_to_limits(None), unbounded, "the local forge keeps everything (D33)");
    let mut flood = Vec::new();
    for number in 0..2_000 {
        let severity = if number % 20 == 0 { Severity::Critical } else { Severity::Suggestion };
        flood.push(BlockEntry { severity, ..entry(number, Open) });
    }
    let flood = Block { entries: flood, ..Block::default() }.truncate_to_limits(Some(MAX_BLOCK_BYTES));
    let critical = flood.entries.iter().filter(|entry| entry.severity == Severity::Critical).count();
    assert_eq!(flood.evicted as usize + flood.entries.len(), 2_000);
    assert_eq!(critical, flood.entries.len(), "the gravest stay longest");
}

// Everything at its maximum: the limits of the parts add up to that of the whole.
#[test]
fn the_fullest_mark_fits() {
    let (patch, hash) = ("a".repeat(64), Hash("0".repeat(32)));
    let sha = Some(Sha(patch.clone()));
    let ids: Vec<FindingId> = (0..40).map(|it| FindingId(u64::MAX - 2 * it)).chain([FindingId(7); 99]).collect();
    let figures = RunCost { tokens: u64::MAX, micro_usd: u64::MAX, seconds: u64::MAX, runs: u32::MAX };
    let (long, at) = ("x".repeat(300), Some(Time(i64::MIN)));
    let most = u32::MAX;
    let accounting = Accounting {
        received: most,
        new: most,
        known: most,
        merged: most,
        held_back: HeldBack { below_floor: most, unchanged: most, settled: most, unused: most },
        pre_existing: most,
        without_place: most,
        outside: most,
        off: most,
        unsupported: most,
    };
    let full = Mark {
        role: RoleName(long.clone()),
        head: Sha(patch.clone()),
        base: sha.clone(),
        patch: PatchId(patch.clone()),
        reviewed: sha.clone(),
        rounds: (0..10_000).map(|it| PatchId(format!("round-{it}"))).collect(),
        reopened: at,
        attempts: u8::MAX,
        tried_at: at,
        report: Some(hash.clone()),
        asked: at,
        restored: Some(long.clone()),
        superseded: Some(ReviewId(long.clone())),
        blocking: ids.clone(),
        inputs: hash.clone(),
        rewrote: Some(hash.clone()),
        overflow: Overflow { critical: u32::MAX, warning: u32::MAX, suggestion: u32::MAX },
        configured: Some(hash.clone()),
        tool: Some(hash),
        evaluation: Evaluation {
            read: u32::MAX,
            of: u32::MAX,
            skipped: vec!["y".repeat(9); 99],
            since: sha,
            new: ids.clone(),
            fixed: ids.clone(),
            claimed: ids.clone(),
            back: ids,
            fixed_count: u32::MAX,
            accounting,
            failure: Some(long),
            figures,
        },
        spent: figures,
        highest: FindingId(u64::MAX),
        ..mark("general")
    };
    let block = Block { entries: vec![entry(4, FindingState::Open)], ..Block::default() };
    let trailer = Trailer::Mark(Box::new(full), Box::new(block));
    let text = place().seal(&TextDraft { words: SafeText::sanitise_block("Some words.", 100), trailer });
    let size = comment_sizes(&text).into_iter().find_map(|(kind, size)| (kind == "mark").then_some(size));
    assert!(size.is_some_and(|size| (MAX_MARK_BYTES - 60..=MAX_MARK_BYTES).contains(&size)), "it takes {size:?}");
}

fn comment_sizes(text: &str) -> Vec<(&str, usize)> {
    let comments =
        text.lines().filter_map(|line| Some((line.strip_prefix("<!-- referee:")?.split(' ').next()?, line.len())));
    comments.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn marks_and_blocks_come_back(mark in any::mark(), block in any::block(), sealed in any::<bool>()) {
        let place = Place { keys: if sealed { keys(&[1]) } else { Keys::empty() }, roles: BTreeMap::new(), ..place() };
        let draft = TextDraft {
            words: SafeText::sanitise_block("Some words.", 100),
            trailer: Trailer::Mark(Box::new(mark.clone()), Box::new(block.clone().truncate_to_limits(Some(MAX_BLOCK_BYTES)))),
        };
        let text = place.seal(&draft);
        for (kind, size) in comment_sizes(&text) {
            prop_assert!(size <= if kind == "mark" { MAX_MARK_BYTES } else { MAX_BLOCK_BYTES }, "{} takes {}", kind, size);
        }
        let reading = place.read(&text, BOT);
        let read = reading.mark.expect("a Mark");
        prop_assert_eq!(read.trust, if sealed { Trust::Sealed } else { Trust::Unsealed });
        let fitted = Mark { words: Hash::digest_visible_text("Some words."), ..mark.truncate_to_limits() };
        prop_assert_eq!(&read.data, &fitted);
        prop_assert_eq!(&fitted.clone().truncate_to_limits(), &fitted);
        let fitted = block.truncate_to_limits(Some(MAX_BLOCK_BYTES));
        prop_assert_eq!(&fitted.clone().truncate_to_limits(Some(MAX_BLOCK_BYTES)), &fitted);
        prop_assert_eq!(reading.block.map(|block| *block).unwrap_or_default(), fitted);
        prop_assert!(!reading.forged);
    }

    // I2: a text has one trailer, which referee wrote, whatever the text is made from.
    // spec: PUB-12, PUB-16 @core
    #[test]
    fn a_text_has_one_trailer(pieces in prop::collection::vec(prop::sample::select(&[
        "<!-- referee:mark v1 ", "<!-- referee:tag v1 ar;n1;x - -->", "<!-- Referee:Block v1 x -->", "<!--", "-->", " ",
        "referee:", "referee", ":", "mark", "tag v2 -->", "`", "```", "~~~", "\n", "\n\n", "> ", "- ", "<", "&lt;!-- ",
        "\u{200b}", "\\", "review-bot:", "<!-- review-bot:x -->", "x",
    ][..]), 0..25)) {
        let place = place();
        let tainted = pieces.concat();
        for words in [SafeText::sanitise_block(&tainted, 2_000), SafeText::sanitise_line(&tainted, 200)] {
            let text = place.seal(&TextDraft { words, ..reply() });
            let reading = place.read(&text, BOT);
            prop_assert!(!reading.forged && reading.tag.is_some() && reading.bot.is_none(), "{}", text);
            let trailers = ["mark", "block", "tag"].map(|kind| text.matches(&format!("<!-- referee:{kind}")).count());
            prop_assert_eq!(trailers, [0, 0, 1]);
            prop_assert!(!text.contains("review-bot:"));
        }
    }

    #[test]
    fn tags_come_back(tag in any::tag()) {
        let place = Place { roles: BTreeMap::new(), ..place() };
        let draft = TextDraft { words: SafeText::sanitise_block("Some words.", 100), trailer: Trailer::Tag(Box::new(tag.clone())) };
        let text = place.seal(&draft);
        for (_, size) in comment_sizes(&text) {
            prop_assert!(size <= MAX_TAG_BYTES, "takes {}: {}", size, text);
        }
        let read = place.read(&text, BOT).tag.expect("a Tag");
        prop_assert_eq!(read.trust, Trust::Sealed);
        let fitted = tag.truncate_to_limits();
        prop_assert_eq!(&fitted.clone().truncate_to_limits(), &fitted);
        prop_assert_eq!(read.data, fitted);
    }

    #[test]
    fn any_text_is_read(text in "(?s).{0,200}", fields in "[a-z0-9;|,%*+-]{0,60}") {
        let place = Place { keys: Keys::empty(), ..place() };
        let tagged = format!("{text}\n<!-- referee:tag v1 {fields} - -->");
        let marked = format!("{text}\n<!-- referee:block v1 {fields} -->\n<!-- referee:mark v1 {fields} - -->");
        for text in [&text, &tagged, &marked] {
            let _ = (place.read(text, BOT), place.read(text, "mallory"), strip_hidden_comments(text));
        }
        prop_assert!(!strip_hidden_comments(&marked).contains("<!-- referee:mark v1"));
    }

    // Changing any single character invalidates the MAC, or the Mark.
    #[test]
    fn a_changed_mark_is_never_sealed(at in any::<prop::sample::Index>(), to in "[a-zA-Z0-9;*,_-]") {
        let place = place();
        let text = place.seal(&summary("general"));
        let start = text.find("<!-- referee:block").expect("a Block");
        let at = start + at.index(text.len() - start);
        let mut changed = text.clone();
        changed.replace_range(at..=at, &to);
        prop_assume!(changed != text);
        let reading = place.read(&changed, BOT);
        prop_assert!(reading.mark.as_deref().is_none_or(|mark| mark.trust != Trust::Sealed));
        prop_assert!(reading.forged || reading.mark.is_none() || matches!(reading.mark.map(|it| it.trust), Some(Trust::Newer)));
    }
}
