//! Which prior finding a raised one is.

use super::title::{normalise_title, normalised_title_similarity};
use super::{AnchorHash, CodeLocation, Fingerprint, Track};

/// A finding as it was seen at one head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedFinding {
    /// Whose finding.
    pub role: String,
    /// The rule's name, where the reviewer gives one.
    pub rule: Option<String>,
    /// Its title, as raised.
    pub title: String,
    /// Where.
    pub spot: CodeLocation,
    /// Its name.
    pub fingerprint: Fingerprint,
    /// The code there, where its text is known.
    pub anchor: Option<AnchorHash>,
}

/// A finding of an earlier head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriorFinding {
    /// As it was seen then.
    pub observed: ObservedFinding,
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
pub fn match_findings(priors: &[PriorFinding], raised: &[ObservedFinding]) -> Vec<Option<usize>> {
    let prior_titles: Vec<String> = priors.iter().map(|prior| normalise_title(&prior.observed.title)).collect();
    let raised_titles: Vec<String> = raised.iter().map(|raised| normalise_title(&raised.title)).collect();
    let mut pairs = Vec::new();
    for (p, prior) in priors.iter().enumerate() {
        for (r, new) in raised.iter().enumerate() {
            if prior.observed.role == new.role
                && let Some(nearness) = measure_proximity(prior, new)
                && let Some(rank) = rank_match(prior, new, nearness, || {
                    normalised_title_similarity(&prior_titles[p], &raised_titles[r])
                })
            {
                pairs.push((rank, p, r));
            }
        }
    }
    // Equal ranks are told apart by what the findings say, and only twins by their number.
    pairs.sort_by(|(one, p1, r1), (other, p2, r2)| {
        let content = |p: usize, r: usize| (sort_key(&priors[p].observed), sort_key(&raised[r]), p, r);
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
struct MatchRank {
    score: u32,
    distance: u32,
}

/// How a raised place lies to where the prior code went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proximity {
    /// The same first line, or most lines in common.
    SamePlace,
    /// Some line in common.
    Overlapping,
    /// Within three lines.
    Nearby,
    /// Only the code is equal.
    ContentOnly,
}

/// How many lines off a reviewer may point when it means the same.
const NEARBY_LINES: u32 = 3;

/// Thousandths of a title: what makes two of them one concern, and what is enough where the place speaks too.
const HALF_SIMILAR_PERMILLE: u32 = 500;
const THIRD_SIMILAR_PERMILLE: u32 = 334;

fn measure_proximity(prior: &PriorFinding, raised: &ObservedFinding) -> Option<Proximity> {
    let same_code = prior.observed.anchor.is_some() && prior.observed.anchor == raised.anchor;
    let same_name = prior.observed.fingerprint == raised.fingerprint && !raised.fingerprint.0.is_empty();
    let elsewhere = || (same_code || same_name).then_some(Proximity::ContentOnly);
    let Some(spot) = prior.track.as_ref().and_then(Track::spot) else { return elsewhere() };
    let shared = spot.count_shared_lines(&raised.spot);
    let union = (spot.line_count().saturating_add(raised.spot.line_count())).saturating_sub(shared);
    if shared > 0 && (spot.line == raised.spot.line || shared.saturating_mul(2) >= union) {
        return Some(Proximity::SamePlace);
    }
    if shared > 0 {
        return Some(Proximity::Overlapping);
    }
    match spot.distance(&raised.spot) {
        Some(lines) if lines <= NEARBY_LINES => Some(Proximity::Nearby),
        _ => elsewhere(),
    }
}

fn rank_match(
    prior: &PriorFinding,
    raised: &ObservedFinding,
    nearness: Proximity,
    alike: impl Fn() -> u32,
) -> Option<MatchRank> {
    let same_rule = match (&prior.observed.rule, &raised.rule) {
        (Some(one), Some(other)) if one != other => return None,
        (one, other) => one.is_some() && other.is_some(),
    };
    let alike = alike();
    let same_code = prior.observed.anchor.is_some() && prior.observed.anchor == raised.anchor;
    let same_name = prior.observed.fingerprint == raised.fingerprint && !raised.fingerprint.0.is_empty();
    let possible = match (&prior.track, nearness) {
        (None | Some(Track::Gone), _) => same_name || same_rule || alike >= HALF_SIMILAR_PERMILLE,
        (Some(Track::Same(_) | Track::Moved(_)), Proximity::SamePlace) => true,
        (Some(Track::Changed(_)), Proximity::SamePlace) if same_code => true,
        (Some(Track::Same(_) | Track::Moved(_)), Proximity::Overlapping) => same_rule || alike >= HALF_SIMILAR_PERMILLE,
        (Some(Track::Same(_) | Track::Moved(_)), Proximity::Nearby) => !same_code && alike >= HALF_SIMILAR_PERMILLE,
        (Some(Track::Changed(_)), Proximity::SamePlace | Proximity::Overlapping | Proximity::Nearby) => {
            same_rule || alike >= THIRD_SIMILAR_PERMILLE
        }
        (Some(Track::Same(_) | Track::Moved(_) | Track::Changed(_)), Proximity::ContentOnly) => false,
    };
    let place = match nearness {
        Proximity::SamePlace => 4000,
        Proximity::Overlapping => 3000,
        Proximity::Nearby => 500,
        Proximity::ContentOnly => 1000,
    };
    let named = if same_rule || alike >= HALF_SIMILAR_PERMILLE { 2500 } else { 0 };
    let code = if same_code { 500 } else { 0 };
    let spot = prior.track.as_ref().and_then(Track::spot).unwrap_or(&prior.observed.spot);
    let distance = match spot.path == raised.spot.path {
        true => spot.line.abs_diff(raised.spot.line),
        false => u32::MAX,
    };
    possible.then_some(MatchRank { score: place + named + code + alike, distance })
}

fn sort_key(seen: &ObservedFinding) -> (&CodeLocation, &str, Option<&str>, &Fingerprint) {
    (&seen.spot, &seen.title, seen.rule.as_deref(), &seen.fingerprint)
}
