//! Any Mark, Tag and Block, likely and unlikely.

use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use referee_core::hash::Hash;
use referee_core::mark::{Block, BlockEntry, Evaluation, Mark, ReplyKind, Tag, TagKind, Topic};
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{
    Accounting, FindingId, FindingState, HeldBack, Login, NoteId, Overflow, PreExisting, ReviewId, RoleName, RunCost,
    Severity, Sha, StoredDetail, Time, Verdict,
};
use referee_core::plan::JobKind;
use referee_core::track::{CodeLocation, Fingerprint, PatchId};

fn name() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z][a-z0-9-]{0,12}", 1 => "(?s).{0,120}", 1 => Just(String::new())]
}

fn hex() -> impl Strategy<Value = String> {
    prop_oneof![6 => "[0-9a-f]{40}", 2 => "[0-9a-f]{64}", 2 => "[0-9a-f]{32}", 1 => name()]
}

fn time() -> impl Strategy<Value = Time> {
    prop_oneof![4 => 0_i64..2_000_000_000, 1 => any::<i64>()].prop_map(Time)
}

fn ids() -> impl Strategy<Value = Vec<FindingId>> {
    prop_oneof![
        (0_u64..50, 0_u64..300).prop_map(|(from, more)| (from..from + more).map(FindingId).collect()),
        prop::collection::vec(any::<u64>().prop_map(FindingId), 0..60),
        prop::collection::vec((0_u64..500).prop_map(FindingId), 0..200),
    ]
}

fn figures() -> impl Strategy<Value = RunCost> {
    (any::<u64>(), any::<u64>(), any::<u64>(), any::<u32>()).prop_map(|(tokens, micro_usd, seconds, runs)| RunCost {
        tokens,
        micro_usd,
        seconds,
        runs,
    })
}

fn verdict() -> impl Strategy<Value = Verdict> {
    select(&[Verdict::Approve, Verdict::Comment, Verdict::RequestChanges][..])
}

fn severity() -> impl Strategy<Value = Severity> {
    select(&[Severity::Suggestion, Severity::Warning, Severity::Critical][..])
}

fn state() -> impl Strategy<Value = FindingState> {
    use FindingState::{Accepted, Answered, Disputed, Fixed, New, Open, Refuted, Stale};
    select(&[New, Open, Answered, Fixed, Accepted, Disputed, Refuted, Stale][..])
}

fn evaluation() -> impl Strategy<Value = Evaluation> {
    let skipped = prop::collection::vec(prop_oneof!["[a-z/]{0,40}\\.rs", "(?s).{0,80}"], 0..12);
    let numbers = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
    let moved = (ids(), ids(), ids(), ids());
    (numbers, skipped, of(hex()), moved, of("(?s).{0,300}"), figures()).prop_map(
        |((read, of, fixed_count, received), skipped, since, (new, fixed, claimed, back), failure, figures)| {
            Evaluation {
                read,
                of,
                skipped,
                since: since.map(Sha),
                new,
                fixed,
                claimed,
                back,
                fixed_count,
                accounting: Accounting {
                    received,
                    held_back: HeldBack { unused: received, ..HeldBack::default() },
                    ..Accounting::default()
                },
                failure,
                figures,
            }
        },
    )
}

pub(crate) fn mark() -> impl Strategy<Value = Mark> {
    let verdicts = (verdict(), verdict(), any::<bool>(), any::<u8>());
    let commits = (hex(), of(hex()), hex(), of(hex()), prop::collection::vec(hex().prop_map(PatchId), 0..40));
    let times = (of(time()), of(time()), of(time()));
    let hashes = (hex().prop_map(Hash), of(hex().prop_map(Hash)), of(hex().prop_map(Hash)));
    let rest = (of(name()), of(name().prop_map(ReviewId)), ids(), evaluation(), figures(), any::<u64>());
    (name(), verdicts, commits, times, hashes, rest).prop_map(
        |(
            role,
            (own, enforced, complete, attempts),
            (head, base, patch, reviewed, rounds),
            (reopened, tried_at, asked),
            (inputs, rewrote, report),
            (restored, superseded, blocking, evaluation, spent, highest),
        )| Mark {
            role: RoleName(role),
            own,
            enforced,
            head: Sha(head),
            base: base.map(Sha),
            patch: PatchId(patch),
            complete,
            reviewed: reviewed.map(Sha),
            rounds,
            reopened,
            attempts,
            tried_at,
            report,
            asked,
            restored,
            superseded,
            blocking,
            inputs,
            words: Hash::default(),
            rewrote,
            evaluation,
            spent,
            overflow: Overflow { critical: attempts.into(), ..Overflow::default() },
            configured: None,
            tool: None,
            highest: FindingId(highest),
        },
    )
}

pub(crate) fn tag() -> impl Strategy<Value = Tag> {
    let root = (name(), any::<u64>(), hex(), severity(), of(state())).prop_map(
        |(role, finding, fingerprint, severity, settled)| TagKind::Root {
            role: RoleName(role),
            finding: FindingId(finding),
            fingerprint: Fingerprint(fingerprint),
            severity,
            settled,
        },
    );
    use ReplyKind::{Accepted, Answer, Conceded, Contest, Fixed, Hint, Rebuttal, Worsened};
    let what = select(&[Fixed, Accepted, Conceded, Rebuttal, Contest, Worsened, Hint, Answer][..]);
    let reply = (what, name()).prop_map(|(what, note)| TagKind::Reply { what, answers: NoteId(note) });
    let topic = prop_oneof![
        any::<u32>().prop_map(|epoch| Topic::Operator { epoch }),
        hex().prop_map(|patch| Topic::Notice { patch: PatchId(patch) }),
        job(),
        hex().prop_map(|patch| Topic::Ready { patch: PatchId(patch) }),
        any::<bool>().prop_map(|clean| Topic::SelfReview { clean }),
        Just(Topic::FixPlan),
        hex().prop_map(|patch| Topic::Glass { patch: PatchId(patch) }),
        name().prop_map(|to| Topic::Said { to }),
        (name(), any::<bool>()).prop_map(|(to, paused)| Topic::PauseSet { to, paused }),
    ];
    let kind = prop_oneof![root, reply, topic.prop_map(TagKind::Topic)];
    (kind, hex()).prop_map(|(kind, head)| Tag { kind, head: Sha(head) })
}

fn job() -> impl Strategy<Value = Topic> {
    use JobKind::{AddressFeedback, CiFix, Findings, Impl, Rebase, SelfReview, SrFix};
    use WorkOutcome::{Done, Failed, NeedsHuman, NothingToDo};
    let kind = select(&[Findings, Rebase, CiFix, SelfReview, SrFix, AddressFeedback, Impl][..]);
    let outcome = of(select(&[Done, NothingToDo, NeedsHuman, Failed][..]));
    (kind, name(), hex(), any::<u64>(), outcome, any::<bool>()).prop_map(
        |(kind, cause, patch, epoch, outcome, retried)| Topic::Job {
            kind,
            cause,
            patch: PatchId(patch),
            epoch,
            outcome,
            retried,
        },
    )
}

pub(crate) fn entry() -> impl Strategy<Value = BlockEntry> {
    let what = (any::<u64>(), severity(), state(), any::<bool>(), of(any::<i64>()));
    let title = prop_oneof![3 => "[A-Za-z ]{0,90}", 1 => "(?s).{0,90}"];
    let path = || prop_oneof!["[a-c]/[a-c]\\.rs", "(?s).{0,300}"];
    let now =
        (path(), any::<u32>(), any::<u32>()).prop_map(|(path, line, end_line)| CodeLocation { path, line, end_line });
    let place = (path(), of(any::<u32>()), of(now), of(name()));
    let identity = (hex(), select(vec!["a".repeat(40), "b".repeat(40), "c".repeat(64)]));
    (what, title, place, identity, prop::collection::vec(any::<u32>(), 0..20), of(name())).prop_map(
        |(
            (id, severity, state, threaded, reopened),
            title,
            (path, line, now, rule),
            (fingerprint, head),
            rounds,
            by,
        )| BlockEntry {
            id: FindingId(id),
            severity,
            state,
            title,
            path,
            line,
            now,
            rule,
            detail: StoredDetail {
                body: by.clone().unwrap_or_default(),
                end_line: line,
                column: line,
                help: by.clone(),
            },
            fingerprint: Fingerprint(fingerprint),
            head: Sha(head),
            rounds,
            threaded,
            by: by.map(Login),
            reopened: reopened.map(Time),
        },
    )
}

pub(crate) fn block() -> impl Strategy<Value = Block> {
    let entries = prop_oneof![9 => prop::collection::vec(entry(), 0..8), 1 => prop::collection::vec(entry(), 0..120)];
    let outside = (name(), name(), of(any::<u32>()));
    let outside = outside.prop_map(|(title, path, line)| PreExisting { title, path, line });
    let report_summary = prop_oneof![9 => name(), 1 => "[a-z|;=~ \\n-]{0,2500}"];
    (entries, any::<u32>(), prop::collection::vec(outside, 0..30), report_summary).prop_map(
        |(entries, evicted, pre_existing, report_summary)| Block { entries, evicted, pre_existing, report_summary },
    )
}
