//! Every combination of the publishing table: what one identity does with one, two and three roles.

use referee_core::decide::publish::{
    IdentityContext, PublishAction, PublishDecision, PublishInput, StandingVerdict, StandingWeight, decide_for_identity,
};
use referee_core::model::Verdict::{self, Approve, Comment, RequestChanges};
use referee_core::policy::ApprovalMode as Setting;
use referee_core::rule::Rule;

/// The reviews of one identity on a forge that counts the newest verdict of a user.
#[derive(Clone, Debug)]
struct Forge {
    voices: Vec<PublishInput>,
    /// A verdict of the identity that belongs to none of its roles: the policy no longer has that role.
    newest: Option<Verdict>,
    superseded: Vec<Verdict>,
    posted: Vec<Verdict>,
}

impl Forge {
    fn apply(&mut self, rows: &[PublishDecision]) {
        for (at, row) in rows.iter().enumerate() {
            let (form, supersede) = match row.action {
                PublishAction::Silent | PublishAction::Keep => continue,
                PublishAction::Post(form) => (form, false),
                PublishAction::PostAndSupersede(form) => (form, true),
            };
            if supersede {
                self.superseded.extend(self.voices[at].standing.map(|held| held.posted_as));
            }
            if form != Comment {
                self.newest = Some(form);
                for held in self.voices.iter_mut().filter_map(|voice| voice.standing.as_mut()) {
                    if held.weight == StandingWeight::Counts {
                        held.weight = StandingWeight::Replaced;
                    }
                }
            }
            let weight = if form == Comment { StandingWeight::NeverCounted } else { StandingWeight::Counts };
            self.voices[at].standing = Some(StandingVerdict { posted_as: form, weight });
            self.voices[at].has_unread_approval = false;
            self.posted.push(form);
        }
    }
}

fn voices(weights: &[StandingWeight]) -> Vec<PublishInput> {
    let mut all = Vec::new();
    let mut standings = vec![None, Some(StandingVerdict { posted_as: Comment, weight: StandingWeight::NeverCounted })];
    for form in [Approve, RequestChanges] {
        standings.extend(weights.iter().map(|weight| Some(StandingVerdict { posted_as: form, weight: *weight })));
    }
    for own in [None, Some(Approve), Some(Comment), Some(RequestChanges)] {
        for (blocks, current, standing) in product3(&[true, false], &[true, false], &standings) {
            // A role that may not block never does; an approval needs a complete review; a silent role has no review.
            let possible = match own {
                None => standing.is_none(),
                Some(Approve) => current,
                Some(Comment) => !(blocks && current),
                Some(RequestChanges) => blocks,
            };
            let approval = standing.is_some_and(|held| held.posted_as == Approve);
            for unread in [false, true] {
                if possible && (!unread || (approval && !current)) {
                    all.push(PublishInput {
                        own_verdict: own,
                        may_block: blocks,
                        is_current: current,
                        standing,
                        has_unread_approval: unread,
                    });
                }
            }
        }
    }
    all
}

fn product3<A: Copy, B: Copy, C: Copy>(a: &[A], b: &[B], c: &[C]) -> Vec<(A, B, C)> {
    a.iter().flat_map(|a| b.iter().flat_map(move |b| c.iter().map(move |c| (*a, *b, *c)))).collect()
}

/// Newest verdicts that are consistent with the roles: that of the one review that counts, or of a leftover review.
fn newests(voices: &[PublishInput]) -> Vec<Option<Verdict>> {
    let counting: Vec<_> =
        voices.iter().filter_map(|voice| voice.standing).filter(|held| held.weight == StandingWeight::Counts).collect();
    match counting.as_slice() {
        [] => vec![None, Some(Approve), Some(RequestChanges)],
        [one] => vec![Some(one.posted_as)],
        _ => Vec::new(),
    }
}

fn bearings() -> Vec<IdentityContext> {
    let mut all = Vec::new();
    for (approve, verdicts, waits) in
        product3(&[Setting::On, Setting::Lift, Setting::Off], &[true, false], &[true, false])
    {
        for (glass, requested) in [(false, false), (false, true), (true, false), (true, true)] {
            all.push(IdentityContext {
                newest_verdict: None,
                approve,
                can_post_verdicts: verdicts,
                must_wait: waits,
                glass_broken: glass,
                review_requested: requested,
            });
        }
    }
    all
}

/// Tries one combination: decides, applies, reads back, decides again.
fn try_one(voices: &[PublishInput], mut bearing: IdentityContext) {
    bearing.must_wait |= voices.iter().any(|voice| voice.may_block && !voice.is_current);
    let bearing = bearing;
    let mut forge =
        Forge { voices: voices.to_vec(), newest: bearing.newest_verdict, superseded: Vec::new(), posted: Vec::new() };
    let rows = decide_for_identity(voices, &bearing);
    assert_eq!(rows.len(), voices.len(), "one row for each role");
    forge.apply(&rows);
    let case = || format!("{voices:#?}\n{bearing:#?}\n{rows:#?}");

    let may = bearing.can_post_verdicts && bearing.approve != Setting::Off;
    let blocks = voices.iter().any(|voice| voice.may_block && voice.own_verdict == Some(RequestChanges));
    let spoke = || voices.iter().filter(|voice| voice.own_verdict.is_some());
    let without_weight = |voice: &PublishInput| {
        voice.standing.is_some_and(|held| {
            held.posted_as == RequestChanges
                && matches!(held.weight, StandingWeight::DismissalRespected | StandingWeight::NeverCounted)
        })
    };
    if !may {
        assert!(forge.posted.iter().all(|form| *form == Comment), "verdicts are off\n{}", case());
    }
    if bearing.glass_broken {
        assert!(!forge.posted.contains(&RequestChanges), "broken glass never blocks\n{}", case());
    }
    if !bearing.glass_broken && may {
        if blocks && !spoke().any(without_weight) {
            assert_eq!(forge.newest, Some(RequestChanges), "PUB-21 (1)\n{}", case());
        }
        if forge.posted.contains(&Approve) {
            assert!(!blocks && !bearing.must_wait, "PUB-21 (2)\n{}", case());
        }
        let all_approve = 0 < spoke().count() && spoke().all(|voice| voice.own_verdict == Some(Approve));
        if all_approve && !bearing.must_wait {
            assert_ne!(forge.newest, Some(RequestChanges), "PUB-21 (3)\n{}", case());
        }
    }
    assert!(forge.superseded.iter().all(|form| *form == Approve), "a block is never superseded (D7)\n{}", case());
    for (voice, row) in voices.iter().zip(&rows) {
        let sibling_blocks = blocks && voice.own_verdict != Some(RequestChanges) && voice.own_verdict.is_some();
        if sibling_blocks && !bearing.glass_broken {
            let held = if voice.may_block { RequestChanges } else { Comment };
            assert_eq!(row.enforced, held, "worst wins (PUB-7)\n{}", case());
        }
        if voice.own_verdict.is_none() {
            assert_eq!(row.action, PublishAction::Silent, "a silent role stays silent\n{}", case());
        }
    }
    let all_current = spoke().all(|voice| voice.is_current);
    if bearing.review_requested && all_current && 0 < spoke().count() && !bearing.glass_broken && may {
        assert!(!forge.posted.is_empty(), "a request is answered (PUB-20)\n{}", case());
    }

    // Deciding again after applying posts nothing: the post answered the request.
    let then = IdentityContext {
        newest_verdict: forge.newest,
        review_requested: bearing.review_requested && forge.posted.is_empty(),
        ..bearing
    };
    let again = decide_for_identity(&forge.voices, &then);
    let quiet = again.iter().all(|row| matches!(row.action, PublishAction::Keep | PublishAction::Silent));
    assert!(quiet, "a second run posts nothing (PUB-2)\n{}\nthen {again:#?}", case());
    for (before, after) in rows.iter().zip(&again) {
        let same = before.enforced == after.enforced
            // An approval that waits under a lifted block counts as a comment, and the block under it as a block.
            || matches!(after.rule, Rule::BlockStays);
        assert!(same, "what is enforced is stable\n{}\nthen {again:#?}", case());
    }
}

fn try_all(count: usize, weights: &[StandingWeight]) -> usize {
    let choices = voices(weights);
    let bearings = bearings();
    let mut picks = vec![0; count];
    let mut cases = 0;
    loop {
        let voices: Vec<_> = picks.iter().map(|pick| choices[*pick]).collect();
        for newest in newests(&voices) {
            for bearing in &bearings {
                try_one(&voices, IdentityContext { newest_verdict: newest, ..*bearing });
                cases += 1;
            }
        }
        let Some(at) = picks.iter().position(|pick| pick + 1 < choices.len()) else { return cases };
        picks[at] += 1;
        picks[..at].fill(0);
    }
}

const ALL: [StandingWeight; 5] = [
    StandingWeight::Counts,
    StandingWeight::Replaced,
    StandingWeight::Lost,
    StandingWeight::DismissalRespected,
    StandingWeight::NeverCounted,
];

// spec: PUB-1, PUB-2, PUB-3, PUB-5, PUB-6, PUB-7, PUB-20, PUB-21, D3, D5, D7, D17, D19, D27 @core
#[test]
#[expect(clippy::print_stdout, reason = "the number of cases is part of the proof")]
fn every_combination_of_the_table() {
    let one = try_all(1, &ALL);
    let two = try_all(2, &ALL);
    let three = try_all(3, &[StandingWeight::Counts, StandingWeight::Replaced]);
    println!("publishing table: {one} cases of one role, {two} of two, {three} of three: each has exactly one row");
}
