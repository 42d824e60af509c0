//! Every combination of the publishing table: what one identity does with one, two and three roles.

use referee_core::decide::publish::{Act, Bearing, Held, Row, Rule, Voice, Weight, walk};
use referee_core::model::Verdict::{self, Approve, Comment, RequestChanges};
use referee_core::policy::Approve as Setting;

/// One identity's rows on a forge that goes by the newest verdict of a user.
#[derive(Clone, Debug)]
struct Forge {
    voices: Vec<Voice>,
    /// A verdict of the identity that belongs to none of its voices: a role that the policy no longer names.
    newest: Option<Verdict>,
    superseded: Vec<Verdict>,
    posted: Vec<Verdict>,
}

impl Forge {
    fn apply(&mut self, rows: &[Row]) {
        for (at, row) in rows.iter().enumerate() {
            let (form, supersede) = match row.act {
                Act::Silent | Act::Keep => continue,
                Act::Post(form) => (form, false),
                Act::PostAndSupersede(form) => (form, true),
            };
            if supersede {
                self.superseded.extend(self.voices[at].standing.map(|held| held.form));
            }
            if form != Comment {
                self.newest = Some(form);
                for held in self.voices.iter_mut().filter_map(|voice| voice.standing.as_mut()) {
                    if held.weight == Weight::Counts {
                        held.weight = Weight::Replaced;
                    }
                }
            }
            let weight = if form == Comment { Weight::Weightless } else { Weight::Counts };
            self.voices[at].standing = Some(Held { form, weight });
            self.voices[at].unread = false;
            self.posted.push(form);
        }
    }
}

fn voices(weights: &[Weight]) -> Vec<Voice> {
    let mut all = Vec::new();
    let mut standings = vec![None, Some(Held { form: Comment, weight: Weight::Weightless })];
    for form in [Approve, RequestChanges] {
        standings.extend(weights.iter().map(|weight| Some(Held { form, weight: *weight })));
    }
    for own in [None, Some(Approve), Some(Comment), Some(RequestChanges)] {
        for (blocks, current, standing) in product3(&[true, false], &[true, false], &standings) {
            // A role that may not block never does; approving takes a complete reading; a silent role has no review.
            let possible = match own {
                None => standing.is_none(),
                Some(Approve) => current,
                Some(Comment) => !(blocks && current),
                Some(RequestChanges) => blocks,
            };
            let approval = standing.is_some_and(|held| held.form == Approve);
            for unread in [false, true] {
                if possible && (!unread || (approval && !current)) {
                    all.push(Voice { own, blocks, current, standing, unread });
                }
            }
        }
    }
    all
}

fn product3<A: Copy, B: Copy, C: Copy>(a: &[A], b: &[B], c: &[C]) -> Vec<(A, B, C)> {
    a.iter().flat_map(|a| b.iter().flat_map(move |b| c.iter().map(move |c| (*a, *b, *c)))).collect()
}

/// Newest verdicts that fit the voices: that of the one row that counts, or of a row that is nobody's.
fn newests(voices: &[Voice]) -> Vec<Option<Verdict>> {
    let counting: Vec<_> =
        voices.iter().filter_map(|voice| voice.standing).filter(|held| held.weight == Weight::Counts).collect();
    match counting.as_slice() {
        [] => vec![None, Some(Approve), Some(RequestChanges)],
        [one] => vec![Some(one.form)],
        _ => Vec::new(),
    }
}

fn bearings() -> Vec<Bearing> {
    let mut all = Vec::new();
    for (approve, verdicts, waits) in
        product3(&[Setting::On, Setting::Lift, Setting::Off], &[true, false], &[true, false])
    {
        for (glass, requested) in [(false, false), (false, true), (true, false), (true, true)] {
            all.push(Bearing { newest: None, approve, verdicts, waits, glass, requested });
        }
    }
    all
}

/// Tries one combination: walks, applies, looks, walks again.
fn try_one(voices: &[Voice], mut bearing: Bearing) {
    bearing.waits |= voices.iter().any(|voice| voice.blocks && !voice.current);
    let bearing = bearing;
    let mut forge =
        Forge { voices: voices.to_vec(), newest: bearing.newest, superseded: Vec::new(), posted: Vec::new() };
    let rows = walk(voices, &bearing);
    assert_eq!(rows.len(), voices.len(), "one row for each role");
    forge.apply(&rows);
    let case = || format!("{voices:#?}\n{bearing:#?}\n{rows:#?}");

    let may = bearing.verdicts && bearing.approve != Setting::Off;
    let blocks = voices.iter().any(|voice| voice.blocks && voice.own == Some(RequestChanges));
    let spoke = || voices.iter().filter(|voice| voice.own.is_some());
    let without_weight = |voice: &Voice| {
        voice.standing.is_some_and(|held| {
            held.form == RequestChanges && matches!(held.weight, Weight::Respected | Weight::Weightless)
        })
    };
    if !may {
        assert!(forge.posted.iter().all(|form| *form == Comment), "verdicts are off\n{}", case());
    }
    if bearing.glass {
        assert!(!forge.posted.contains(&RequestChanges), "broken glass never blocks\n{}", case());
    }
    if !bearing.glass && may {
        if blocks && !spoke().any(without_weight) {
            assert_eq!(forge.newest, Some(RequestChanges), "PUB-21 (1)\n{}", case());
        }
        if forge.posted.contains(&Approve) {
            assert!(!blocks && !bearing.waits, "PUB-21 (2)\n{}", case());
        }
        let all_approve = 0 < spoke().count() && spoke().all(|voice| voice.own == Some(Approve));
        if all_approve && !bearing.waits {
            assert_ne!(forge.newest, Some(RequestChanges), "PUB-21 (3)\n{}", case());
        }
    }
    assert!(forge.superseded.iter().all(|form| *form == Approve), "a block is never superseded (D7)\n{}", case());
    for (voice, row) in voices.iter().zip(&rows) {
        let sibling_blocks = blocks && voice.own != Some(RequestChanges) && voice.own.is_some();
        if sibling_blocks && !bearing.glass {
            let held = if voice.blocks { RequestChanges } else { Comment };
            assert_eq!(row.enforced, held, "worst wins (PUB-7)\n{}", case());
        }
        if voice.own.is_none() {
            assert_eq!(row.act, Act::Silent, "a silent role stays silent\n{}", case());
        }
    }
    let all_current = spoke().all(|voice| voice.current);
    if bearing.requested && all_current && 0 < spoke().count() && !bearing.glass && may {
        assert!(!forge.posted.is_empty(), "a request is answered (PUB-20)\n{}", case());
    }

    // Deciding again after applying finds nothing to post: a post answered the request.
    let then = Bearing { newest: forge.newest, requested: bearing.requested && forge.posted.is_empty(), ..bearing };
    let again = walk(&forge.voices, &then);
    let quiet = again.iter().all(|row| matches!(row.act, Act::Keep | Act::Silent));
    assert!(quiet, "a second run posts nothing (PUB-2)\n{}\nthen {again:#?}", case());
    for (before, after) in rows.iter().zip(&again) {
        let same = before.enforced == after.enforced
            // An approval that waits under a lifted block reads as a comment, and the block under it as a block.
            || matches!(after.rule, Rule::BlockStays);
        assert!(same, "what is enforced is stable\n{}\nthen {again:#?}", case());
    }
}

fn try_all(count: usize, weights: &[Weight]) -> usize {
    let choices = voices(weights);
    let bearings = bearings();
    let mut picks = vec![0; count];
    let mut cases = 0;
    loop {
        let voices: Vec<_> = picks.iter().map(|pick| choices[*pick]).collect();
        for newest in newests(&voices) {
            for bearing in &bearings {
                try_one(&voices, Bearing { newest, ..*bearing });
                cases += 1;
            }
        }
        let Some(at) = picks.iter().position(|pick| pick + 1 < choices.len()) else { return cases };
        picks[at] += 1;
        picks[..at].fill(0);
    }
}

const ALL: [Weight; 5] = [Weight::Counts, Weight::Replaced, Weight::Lost, Weight::Respected, Weight::Weightless];

// spec: PUB-1, PUB-2, PUB-3, PUB-5, PUB-6, PUB-7, PUB-20, PUB-21, D3, D5, D7, D17, D19, D27 @core
#[test]
#[expect(clippy::print_stdout, reason = "the number of cases is part of the proof")]
fn every_combination_of_the_table() {
    let one = try_all(1, &ALL);
    let two = try_all(2, &ALL);
    let three = try_all(3, &[Weight::Counts, Weight::Replaced]);
    println!("publishing table: {one} cases of one role, {two} of two, {three} of three: each has exactly one row");
}
