//! Which prior finding a raised one is.

use super::title::{alike_normalised, normalise_title};
use super::{AnchorHash, Fingerprint, Spot, Track};

/// A finding as it was seen at one head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// Whose finding.
    pub role: String,
    /// The rule's name, where the reviewer gives one.
    pub rule: Option<String>,
    /// Its title, as raised.
    pub title: String,
    /// Where.
    pub spot: Spot,
    /// Its name.
    pub fingerprint: Fingerprint,
    /// The code there, where its text is known.
    pub anchor: Option<AnchorHash>,
}

/// A finding of an earlier head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prior {
    /// As it was seen then.
    pub seen: Sighting,
    /// Where its code went since; none when the earlier head can no longer be read.
    pub track: Option<Track>,
}

/// For each raised finding the number of the prior one that it is, if it is one; no prior one is taken twice.
///
/// A pair is possible by the first row that holds:
///
/// | role and rule | the prior code | the raised place | titles | |
/// |---|---|---|---|---|
/// | roles differ | | | | no |
/// | both have a rule and they differ | | | | no |
/// | | head unreadable, or `Gone` | equal fingerprint, or equal code and the same rule or | half alike | yes |
/// | | `Same`, `Moved`, or `Changed` in white space alone | there: same first line, or most lines shared | any | yes |
/// | | `Same`, `Moved` | shares a line, and the same rule or | half alike | yes |
/// | | `Same`, `Moved` | within three lines, on other code | half alike | yes |
/// | | `Changed` | shares a line, or within three, and the same rule or | a third alike | yes |
/// | | | | | no |
///
/// Unchanged code under another title is the same finding because unchanged code is not hunted for new concerns (LOOP-5);
/// changed code under another title may well be a new concern about the change. Equal code elsewhere is another finding
/// while the code of the prior one is known to stand: that is how duplicated code keeps two findings.
///
/// Among possible pairs the assignment is stable: no raised and no prior finding would both rather have each other than
/// what they got. Place, rule, title and equal code weigh together, distance decides between equals, and the order of the
/// arguments never matters.
pub fn assign(priors: &[Prior], raised: &[Sighting]) -> Vec<Option<usize>> {
    let prior_titles: Vec<String> = priors.iter().map(|prior| normalise_title(&prior.seen.title)).collect();
    let raised_titles: Vec<String> = raised.iter().map(|raised| normalise_title(&raised.title)).collect();
    let mut pairs = Vec::new();
    for (p, prior) in priors.iter().enumerate() {
        for (r, new) in raised.iter().enumerate() {
            if prior.seen.role == new.role
                && let Some(nearness) = nearness(prior, new)
                && let Some(rank) = rank(prior, new, nearness, || alike_normalised(&prior_titles[p], &raised_titles[r]))
            {
                pairs.push((rank, p, r));
            }
        }
    }
    // Equal ranks are told apart by what the findings say, and only twins by their number.
    pairs.sort_by(|(one, p1, r1), (other, p2, r2)| {
        let content = |p: usize, r: usize| (content(&priors[p].seen), content(&raised[r]), p, r);
        other
            .score
            .cmp(&one.score)
            .then(one.distance.cmp(&other.distance))
            .then_with(|| content(*p1, *r1).cmp(&content(*p2, *r2)))
    });
    let mut taken = vec![false; priors.len()];
    let mut assigned = vec![None; raised.len()];
    for (_, p, r) in pairs {
        if !taken[p] && assigned[r].is_none() {
            taken[p] = true;
            assigned[r] = Some(p);
        }
    }
    assigned
}

/// How good a pair is: the higher score, then the smaller distance.
struct Rank {
    score: u32,
    distance: u32,
}

/// How a raised place lies to where the prior code went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nearness {
    /// The same first line, or most lines in common.
    There,
    /// Some line in common.
    Touching,
    /// Within three lines.
    Near,
    /// Only the code is equal.
    Elsewhere,
}

/// How many lines off a reviewer may point when it means the same.
const NEAR: u32 = 3;

/// Thousandths of a title: what makes two of them one concern, and what is enough where the place speaks too.
const HALF_ALIKE: u32 = 500;
const A_THIRD_ALIKE: u32 = 334;

fn nearness(prior: &Prior, raised: &Sighting) -> Option<Nearness> {
    let same_code = prior.seen.anchor.is_some() && prior.seen.anchor == raised.anchor;
    let same_name = prior.seen.fingerprint == raised.fingerprint && !raised.fingerprint.0.is_empty();
    let elsewhere = || (same_code || same_name).then_some(Nearness::Elsewhere);
    let Some(spot) = prior.track.as_ref().and_then(Track::spot) else { return elsewhere() };
    let shared = spot.shared(&raised.spot);
    let union = (spot.span().saturating_add(raised.spot.span())).saturating_sub(shared);
    if shared > 0 && (spot.line == raised.spot.line || shared.saturating_mul(2) >= union) {
        return Some(Nearness::There);
    }
    if shared > 0 {
        return Some(Nearness::Touching);
    }
    match spot.distance(&raised.spot) {
        Some(lines) if lines <= NEAR => Some(Nearness::Near),
        _ => elsewhere(),
    }
}

fn rank(prior: &Prior, raised: &Sighting, nearness: Nearness, alike: impl Fn() -> u32) -> Option<Rank> {
    let same_rule = match (&prior.seen.rule, &raised.rule) {
        (Some(one), Some(other)) if one != other => return None,
        (one, other) => one.is_some() && other.is_some(),
    };
    let alike = alike();
    let same_code = prior.seen.anchor.is_some() && prior.seen.anchor == raised.anchor;
    let same_name = prior.seen.fingerprint == raised.fingerprint && !raised.fingerprint.0.is_empty();
    let possible = match (&prior.track, nearness) {
        (None | Some(Track::Gone), _) => same_name || same_rule || alike >= HALF_ALIKE,
        (Some(Track::Same(_) | Track::Moved(_)), Nearness::There) => true,
        (Some(Track::Changed(_)), Nearness::There) if same_code => true,
        (Some(Track::Same(_) | Track::Moved(_)), Nearness::Touching) => same_rule || alike >= HALF_ALIKE,
        (Some(Track::Same(_) | Track::Moved(_)), Nearness::Near) => !same_code && alike >= HALF_ALIKE,
        (Some(Track::Changed(_)), Nearness::There | Nearness::Touching | Nearness::Near) => {
            same_rule || alike >= A_THIRD_ALIKE
        }
        (Some(Track::Same(_) | Track::Moved(_) | Track::Changed(_)), Nearness::Elsewhere) => false,
    };
    let place = match nearness {
        Nearness::There => 4000,
        Nearness::Touching => 3000,
        Nearness::Near => 500,
        Nearness::Elsewhere => 1000,
    };
    let named = if same_rule || alike >= HALF_ALIKE { 2500 } else { 0 };
    let code = if same_code { 500 } else { 0 };
    let spot = prior.track.as_ref().and_then(Track::spot).unwrap_or(&prior.seen.spot);
    let distance = match spot.path == raised.spot.path {
        true => spot.line.abs_diff(raised.spot.line),
        false => u32::MAX,
    };
    possible.then_some(Rank { score: place + named + code + alike, distance })
}

fn content(seen: &Sighting) -> (&Spot, &str, Option<&str>, &Fingerprint) {
    (&seen.spot, &seen.title, seen.rule.as_deref(), &seen.fingerprint)
}
