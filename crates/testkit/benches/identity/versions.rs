//! Successive published versions: the truth is every line that stands exactly once in each of the two.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::track::CodeLocation;

use crate::cases::{Case, Said};
use crate::concerns::{CONCERNS, Concern};
use crate::corpus::Package;
use crate::random::Random;

const FINDINGS: usize = 60;
const NEWCOMERS: usize = 20;

pub(crate) fn case(older: &Package, newer: &Package, random: &mut Random) -> Case {
    let (before, after) = (places(older), places(newer));
    let changed = |path: &str| older.files.get(path) != newer.files.get(path);
    let mut survivors: Vec<(&CodeLocation, &CodeLocation)> = before
        .iter()
        .filter_map(|(line, places)| match (places.as_slice(), after.get(line).map(Vec::as_slice)) {
            ([old], Some([new])) if changed(&old.path) => Some((old, new)),
            _ => None,
        })
        .collect();
    let mut newcomers: Vec<&CodeLocation> =
        after.iter().filter(|(line, _)| !before.contains_key(*line)).map(|(_, places)| &places[0]).collect();
    random.shuffle(&mut survivors);
    random.shuffle(&mut newcomers);
    let mut priors = Vec::new();
    let mut raised = Vec::new();
    let mut taken = BTreeSet::new();
    for (old, new) in survivors.into_iter().take(FINDINGS) {
        let concern = random.pick(CONCERNS);
        let rule = random.chance(50).then_some(concern.rule);
        priors.push(Said { spot: old.clone(), title: concern.title, rule });
        taken.insert((&new.path, new.line));
        if random.chance(85) {
            let title = if rule.is_some() { concern.title } else { wording(concern, random) };
            raised.push((Said { spot: new.clone(), title, rule }, Some(priors.len() - 1), true));
        }
    }
    for spot in newcomers.into_iter().filter(|spot| !taken.contains(&(&spot.path, spot.line))).take(NEWCOMERS) {
        let concern = random.pick(CONCERNS);
        let rule = random.chance(50).then_some(concern.rule);
        raised.push((Said { spot: spot.clone(), title: concern.title, rule }, None, false));
    }
    random.shuffle(&mut raised);
    Case { old: older.files.clone(), new: newer.files.clone(), priors, raised }
}

fn wording(concern: &Concern, random: &mut Random) -> &'static str {
    match random.below(4) {
        0 => concern.reworded,
        1 => concern.close,
        _ => concern.title,
    }
}

/// Where each line stands that says enough to be told from others.
fn places(package: &Package) -> BTreeMap<&str, Vec<CodeLocation>> {
    let mut places: BTreeMap<&str, Vec<CodeLocation>> = BTreeMap::new();
    for (path, text) in &package.files {
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.chars().filter(|letter| letter.is_alphanumeric()).count() >= 10 {
                let number = number as u32 + 1;
                places.entry(line).or_default().push(CodeLocation::new(path, number, number));
            }
        }
    }
    places
}
