//! Matches raised findings with prior ones.

use super::title::{name_different_things, normalise_title, normalised_title_similarity};
use super::{AnchorHash, CodeLocation, Fingerprint, Track};

/// A finding as observed at one head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedFinding {
    pub role: String,
    /// The rule, if the reviewer names one.
    pub rule: Option<String>,
    pub title: String,
    pub location: CodeLocation,
    pub fingerprint: Fingerprint,
    /// Hash of the code at the location, if its text is known.
    pub anchor: Option<AnchorHash>,
}

/// A finding of an earlier head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriorFinding {
    /// The finding at its own head.
    pub observed: ObservedFinding,
    /// Where its code is now. `None` if the earlier head cannot be read any more.
    pub track: Option<Track>,
}

/// Returns for each raised finding the index of the prior one that it repeats. No prior finding is used twice.
///
/// The first matching row decides whether two findings can be the same:
///
/// | role and rule | prior code | raised location | titles | same |
/// |---|---|---|---|---|
/// | roles differ | | | | no |
/// | both have a rule, and they differ | | | | no |
/// | | head unreadable, or `Gone` | equal fingerprint, or equal code and the same rule or | half similar | yes |
/// | | `Same`, `Moved`, or `Changed` in whitespace only | same first line, or most lines shared | any | yes |
/// | | `Same`, `Moved` | shares a line, and the same rule or | half similar | yes |
/// | | `Same`, `Moved` | within three lines, on other code | half similar | yes |
/// | | `Changed` | shares a line or within three, and the same rule or | a third similar | yes |
/// | | | | | no |
///
/// Unchanged code with another title is the same finding, because reviewers do not search unchanged code for new
/// problems (LOOP-5). Changed code with another title may be a new problem of the change. Equal code at another
/// location is a different finding as long as the prior code still exists, so duplicated code keeps two findings.
///
/// The result is a stable matching: no raised and prior finding both prefer each other over their matches. Location,
/// rule, title and equal code add up to a score, distance breaks ties, and the order of the arguments does not matter.
pub fn match_findings(priors: &[PriorFinding], raised: &[ObservedFinding]) -> Vec<Option<usize>> {
    match_with(priors, raised, |_, _, _| true)
}

/// [`match_findings`] for the findings of a deterministic tool. A tool fills fixed texts: two texts of one rule that
/// differ in a few words name different things, such as two variables, and are two findings wherever they are (D38).
/// Two texts that have little in common are one finding only at code that did not change, as after an upgrade of the tool.
pub fn match_tool_findings(priors: &[PriorFinding], raised: &[ObservedFinding]) -> Vec<Option<usize>> {
    match_with(priors, raised, |prior, prior_title, raised_title| {
        let is_unchanged = matches!(prior.track, Some(Track::Same(_) | Track::Moved(_)));
        (is_unchanged || normalised_title_similarity(prior_title, raised_title) >= HALF_SIMILAR_PERMILLE)
            && !name_different_things(prior_title, raised_title)
    })
}

/// Matches findings that `may_be_same` allows, given the prior finding and both normalised titles.
fn match_with(
    priors: &[PriorFinding],
    raised: &[ObservedFinding],
    may_be_same: impl Fn(&PriorFinding, &str, &str) -> bool,
) -> Vec<Option<usize>> {
    let prior_titles: Vec<String> = priors.iter().map(|prior| normalise_title(&prior.observed.title)).collect();
    let raised_titles: Vec<String> = raised.iter().map(|raised| normalise_title(&raised.title)).collect();
    let mut pairs = Vec::new();
    for (p, prior) in priors.iter().enumerate() {
        for (r, new) in raised.iter().enumerate() {
            if prior.observed.role == new.role
                && let Some(proximity) = measure_proximity(prior, new)
                && may_be_same(prior, &prior_titles[p], &raised_titles[r])
                && let Some(rank) = rank_match(prior, new, proximity, || {
                    normalised_title_similarity(&prior_titles[p], &raised_titles[r])
                })
            {
                pairs.push((rank, p, r));
            }
        }
    }
    // Equal ranks are ordered by content, so that the order of the arguments matters only for identical findings.
    pairs.sort_by(|(a, p1, r1), (b, p2, r2)| {
        let content =
            |p: usize, r: usize| (sort_key(&priors[p].observed), &priors[p].track, sort_key(&raised[r]), p, r);
        b.score.cmp(&a.score).then(a.distance.cmp(&b.distance)).then_with(|| content(*p1, *r1).cmp(&content(*p2, *r2)))
    });
    let mut is_matched = vec![false; priors.len()];
    let mut matches = vec![None; raised.len()];
    for (_, p, r) in pairs {
        if !is_matched[p] && matches[r].is_none() {
            is_matched[p] = true;
            matches[r] = Some(p);
        }
    }
    matches
}

/// Quality of a pair: higher score first, then smaller distance.
struct MatchRank {
    score: u32,
    distance: u32,
}

/// How close a raised finding is to the current location of the prior code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proximity {
    /// The same first line, or most lines in common.
    SamePlace,
    /// Some line in common.
    Overlapping,
    /// Within three lines.
    Nearby,
    /// Only the code or the fingerprint is equal.
    ContentOnly,
}

/// How many lines apart two findings about the same problem may be.
const NEARBY_LINES: u32 = 3;

/// Title similarity, in thousandths, that makes two findings the same problem. Less is enough at the same changed code.
const HALF_SIMILAR_PERMILLE: u32 = 500;
const THIRD_SIMILAR_PERMILLE: u32 = 334;

fn measure_proximity(prior: &PriorFinding, raised: &ObservedFinding) -> Option<Proximity> {
    let same_code = prior.observed.anchor.is_some() && prior.observed.anchor == raised.anchor;
    let same_fingerprint = prior.observed.fingerprint == raised.fingerprint && !raised.fingerprint.0.is_empty();
    let content_only = || (same_code || same_fingerprint).then_some(Proximity::ContentOnly);
    let Some(location) = prior.track.as_ref().and_then(Track::location) else { return content_only() };
    let shared = location.count_shared_lines(&raised.location);
    let union = (location.line_count().saturating_add(raised.location.line_count())).saturating_sub(shared);
    if shared > 0 && (location.line == raised.location.line || shared.saturating_mul(2) >= union) {
        return Some(Proximity::SamePlace);
    }
    if shared > 0 {
        return Some(Proximity::Overlapping);
    }
    match location.distance(&raised.location) {
        Some(lines) if lines <= NEARBY_LINES => Some(Proximity::Nearby),
        _ => content_only(),
    }
}

fn rank_match(
    prior: &PriorFinding,
    raised: &ObservedFinding,
    proximity: Proximity,
    title_similarity: impl Fn() -> u32,
) -> Option<MatchRank> {
    let same_rule = match (&prior.observed.rule, &raised.rule) {
        (Some(a), Some(b)) if a != b => return None,
        (a, b) => a.is_some() && b.is_some(),
    };
    let similarity = title_similarity();
    let same_code = prior.observed.anchor.is_some() && prior.observed.anchor == raised.anchor;
    let same_fingerprint = prior.observed.fingerprint == raised.fingerprint && !raised.fingerprint.0.is_empty();
    let is_possible = match (&prior.track, proximity) {
        (None | Some(Track::Gone), _) => same_fingerprint || same_rule || similarity >= HALF_SIMILAR_PERMILLE,
        (Some(Track::Same(_) | Track::Moved(_)), Proximity::SamePlace) => true,
        (Some(Track::Changed(_)), Proximity::SamePlace) if same_code => true,
        (Some(Track::Same(_) | Track::Moved(_)), Proximity::Overlapping) => {
            same_rule || similarity >= HALF_SIMILAR_PERMILLE
        }
        (Some(Track::Same(_) | Track::Moved(_)), Proximity::Nearby) => {
            !same_code && similarity >= HALF_SIMILAR_PERMILLE
        }
        (Some(Track::Changed(_)), Proximity::SamePlace | Proximity::Overlapping | Proximity::Nearby) => {
            same_rule || similarity >= THIRD_SIMILAR_PERMILLE
        }
        (Some(Track::Same(_) | Track::Moved(_) | Track::Changed(_)), Proximity::ContentOnly) => false,
    };
    let location_score = match proximity {
        Proximity::SamePlace => 4000,
        Proximity::Overlapping => 3000,
        Proximity::Nearby => 500,
        Proximity::ContentOnly => 1000,
    };
    let concern_score = if same_rule || similarity >= HALF_SIMILAR_PERMILLE { 2500 } else { 0 };
    let code_score = if same_code { 500 } else { 0 };
    let location = prior.track.as_ref().and_then(Track::location).unwrap_or(&prior.observed.location);
    let distance = match location.path == raised.location.path {
        true => location.line.abs_diff(raised.location.line),
        false => u32::MAX,
    };
    is_possible.then_some(MatchRank { score: location_score + concern_score + code_score + similarity, distance })
}

fn sort_key(finding: &ObservedFinding) -> (&CodeLocation, &str, Option<&str>, &Fingerprint) {
    (&finding.location, &finding.title, finding.rule.as_deref(), &finding.fingerprint)
}
