//! Generated pulls between two heads of real files, with the ground truth of which finding is which.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::track::CodeLocation;

use crate::concerns::{CONCERNS, Concern};
use crate::origin_text::{
    OriginRow, OriginText, apply_noise, can_have_finding, find_rows, origin_text, render_text, without_origins,
};
use crate::random::Random;
use crate::reformat::{reformat, rustfmt};
use crate::repo::Files;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CaseKind {
    Moves,
    Renames,
    Reformatting,
    Rewording,
    Rebases,
    Duplicates,
}

pub(crate) const CASE_KINDS: &[(CaseKind, &str)] = &[
    (CaseKind::Moves, "moves"),
    (CaseKind::Renames, "renames"),
    (CaseKind::Reformatting, "reformatting"),
    (CaseKind::Rewording, "rewording"),
    (CaseKind::Rebases, "rebases"),
    (CaseKind::Duplicates, "duplicated code"),
];

/// A finding as a reviewer reports it.
#[derive(Clone)]
pub(crate) struct ReportedFinding {
    pub(crate) location: CodeLocation,
    pub(crate) title: &'static str,
    pub(crate) rule: Option<&'static str>,
}

pub(crate) struct TrackingCase {
    pub(crate) old: Files,
    pub(crate) new: Files,
    pub(crate) priors: Vec<ReportedFinding>,
    /// The findings at the new head, the prior that each one is, and whether it is a target of the case.
    pub(crate) raised: Vec<(ReportedFinding, Option<usize>, bool)>,
}

/// A source file that cases are generated from.
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The first row number of the copy of a block that occurs twice in the old text.
const FIRST_COPY_ROW: usize = 2_000_000;

/// The rows of a finding.
struct FindingAnchor {
    origins: Vec<usize>,
    concern: &'static Concern,
    /// Whether the case is about this finding.
    is_target: bool,
    /// Whether it is reported again at the new head.
    is_raised_again: bool,
    /// Whether another finding has the same rows.
    shares_rows: bool,
}

pub(crate) fn case(kind: CaseKind, sources: &[SourceFile], random: &mut Random) -> TrackingCase {
    let (main, side) = (random.pick(sources), random.pick(sources));
    let donor = origin_text(&random.pick(sources).text, 0);
    let main_path = format!("src/{}", main.path);
    let side_path = format!("other/{}", side.path);
    let mut old = BTreeMap::from([(main_path.clone(), origin_text(&main.text, 0))]);
    let first_free = 1_000_000;
    old.insert(side_path.clone(), origin_text(&side.text, first_free));
    let mut builder = CaseBuilder { old, new: BTreeMap::new(), anchors: Vec::new(), extra: Vec::new(), donor };
    match kind {
        CaseKind::Moves => builder.apply_move(&main_path, &side_path, random),
        CaseKind::Renames => builder.apply_rename(&main_path, random),
        CaseKind::Reformatting => builder.apply_reformat(&main_path, random),
        CaseKind::Rewording => builder.apply_edits(&main_path, 6, random),
        CaseKind::Rebases => builder.apply_edits(&main_path, 40, random),
        CaseKind::Duplicates => builder.apply_duplicate(&main_path, &side_path, random),
    }
    builder.finish(kind, random)
}

/// A builder of a case.
struct CaseBuilder {
    old: BTreeMap<String, OriginText>,
    new: BTreeMap<String, OriginText>,
    anchors: Vec<FindingAnchor>,
    /// Rows of the new head that get a new finding, with the concern of that anchor.
    extra: Vec<(String, usize, usize)>,
    donor: OriginText,
}

impl CaseBuilder {
    fn apply_move(&mut self, main: &str, side: &str, random: &mut Random) {
        let length = self.old[main].len();
        let size = random.between(8, 40).min(length / 3).max(4);
        let start = random.below(length - size);
        self.add_anchors(main, start..start + size, 4, true, random);
        self.add_anchors(main, 0..length, 2, false, random);
        self.new = self.old.clone();
        let target = random.below(4);
        let source = self.new.get_mut(main).expect("the file");
        let mut block: OriginText = source.drain(start..start + size).collect();
        if random.chance(30) {
            block.iter_mut().filter(|row| !row.text.trim().is_empty()).for_each(|row| row.text.insert_str(0, "    "));
        }
        match target {
            0 | 1 => {
                // Far enough to count as a move.
                let at = (start + random.between(size, length)) % (source.len() + 1);
                source.splice(at..at, block);
            }
            2 => {
                let other = self.new.get_mut(side).expect("the other file");
                let at = random.below(other.len() + 1);
                other.splice(at..at, block);
            }
            _ => {
                let mut created = without_origins(&self.donor[..self.donor.len().min(12)]);
                created.extend(block);
                self.new.insert(format!("new/{main}"), created);
            }
        }
        self.apply_noise(4, random);
    }

    fn apply_rename(&mut self, main: &str, random: &mut Random) {
        let length = self.old[main].len();
        self.add_anchors(main, 0..length, 6, true, random);
        self.new = self.old.clone();
        let text = self.new.remove(main).expect("the file");
        let name = main.rsplit('/').next().unwrap_or(main);
        self.new.insert(format!("{}/{name}", random.pick(&["moved", "src/inner", "lib/v2"])), text);
        self.apply_noise((length / 25).max(3), random);
    }

    fn apply_reformat(&mut self, main: &str, random: &mut Random) {
        let length = self.old[main].len();
        self.add_anchors(main, 0..length, 6, true, random);
        self.new = self.old.clone();
        let wanted: Vec<usize> = self.anchors.iter().flat_map(|add_anchors| add_anchors.origins.clone()).collect();
        let text = self.new[main].clone();
        let rustfmt_output =
            if main.ends_with(".rs") && random.chance(50) { rustfmt(&text, &wanted, random) } else { None };
        let formatted = rustfmt_output.unwrap_or_else(|| reformat(&text, main, random));
        for add_anchors in &mut self.anchors {
            let before: Vec<&str> = texts_of_rows(&text, &add_anchors.origins);
            add_anchors.is_target = before != texts_of_rows(&formatted, &add_anchors.origins);
        }
        self.new.insert(main.to_owned(), formatted);
        self.apply_noise(2, random);
    }

    fn apply_edits(&mut self, main: &str, edits: usize, random: &mut Random) {
        let length = self.old[main].len();
        self.add_anchors(main, 0..length, 6, true, random);
        self.new = self.old.clone();
        self.apply_noise(edits, random);
    }

    /// Generates duplicated code in four ways: both copies stay; a copy is added; one of two is removed; a copy is added and
    /// only the copy has a finding.
    fn apply_duplicate(&mut self, main: &str, side: &str, random: &mut Random) {
        let size = random.between(6, 25).min(self.old[main].len() / 3).max(4);
        let start = random.below(self.old[main].len() - size);
        let target = if random.chance(70) { main } else { side };
        let at = loop {
            let at = random.below(self.old[target].len() + 1);
            if target != main || at + 2 < start || at > start + size + 2 {
                break at;
            }
        };
        let variant = random.below(4);
        let was_duplicated = variant == 0 || variant == 2;
        let mut start = start;
        if was_duplicated {
            let copy = self.old[main][start..start + size].iter().enumerate();
            let numbered: OriginText =
                copy.map(|(n, row)| OriginRow { text: row.text.clone(), origins: vec![FIRST_COPY_ROW + n] }).collect();
            self.old.get_mut(target).expect("the file").splice(at..at, numbered);
            if target == main && at <= start {
                start += size;
            }
        }
        let block = self.old[main][start..start + size].to_vec();
        self.add_anchors(main, start..start + size, 3, true, random);
        let offset_of = |origin: &usize| block.iter().position(|row| row.origins == [*origin]);
        let offsets: Vec<Vec<usize>> =
            self.anchors.iter().map(|add_anchors| add_anchors.origins.iter().filter_map(offset_of).collect()).collect();
        if was_duplicated {
            for (number, offsets) in offsets.iter().enumerate() {
                let origins = offsets.iter().map(|offset| FIRST_COPY_ROW + offset).collect();
                let FindingAnchor { concern, shares_rows, .. } = self.anchors[number];
                self.anchors.push(FindingAnchor {
                    origins,
                    concern,
                    is_target: true,
                    is_raised_again: true,
                    shares_rows,
                });
            }
        }
        self.add_anchors(main, 0..self.old[main].len(), 2, false, random);
        self.new = self.old.clone();
        if variant == 2 {
            let first_goes = random.chance(50);
            let is_gone = |origin: &usize| {
                (*origin >= FIRST_COPY_ROW) != first_goes && (*origin >= FIRST_COPY_ROW || offset_of(origin).is_some())
            };
            for origin_text in self.new.values_mut() {
                origin_text.retain(|row| !row.origins.iter().any(is_gone));
            }
        }
        self.apply_noise(6, random);
        if !was_duplicated {
            let origin_text = self.new.get_mut(target).expect("the file");
            let known: BTreeSet<usize> = block.iter().flat_map(|row| row.origins.clone()).collect();
            let inside = |row: Option<&OriginRow>| {
                row.is_some_and(|row| row.origins.iter().any(|origin| known.contains(origin)))
            };
            let at = loop {
                let at = random.below(origin_text.len() + 1);
                if !inside(origin_text.get(at)) && !inside(origin_text.get(at.wrapping_sub(1))) {
                    break at;
                }
            };
            origin_text.splice(at..at, without_origins(&block));
            for (number, offsets) in offsets.iter().enumerate() {
                self.extra.extend(offsets.first().map(|offset| (target.to_owned(), at + offset, number)));
                self.anchors[number].is_raised_again = variant == 1;
            }
        }
    }

    /// Places findings on rows of the old text: a quarter of them on several rows, some in pairs on the same rows.
    fn add_anchors(
        &mut self,
        path: &str,
        rows: std::ops::Range<usize>,
        count: usize,
        is_target: bool,
        random: &mut Random,
    ) {
        let origin_text = &self.old[path];
        let mut free: Vec<usize> = rows.filter(|row| can_have_finding(&origin_text[*row])).collect();
        random.shuffle(&mut free);
        for row in free {
            let mine = self.anchors.iter().filter(|add_anchors| add_anchors.is_target == is_target).count();
            if mine >= count {
                break;
            }
            let span = if random.chance(25) { random.between(2, 4) } else { 1 };
            let origins: Vec<usize> = origin_text[row..(row + span).min(origin_text.len())]
                .iter()
                .flat_map(|row| row.origins.clone())
                .collect();
            if self.anchors.iter().any(|add_anchors| add_anchors.origins.iter().any(|origin| origins.contains(origin)))
            {
                continue;
            }
            let first = random.below(CONCERNS.len());
            let (is_raised_again, shares_rows) = (random.chance(85), random.chance(10));
            self.anchors.push(FindingAnchor {
                origins: origins.clone(),
                concern: &CONCERNS[first],
                is_target,
                is_raised_again,
                shares_rows,
            });
            if shares_rows {
                let second = (first + random.between(1, CONCERNS.len() - 1)) % CONCERNS.len();
                self.anchors.push(FindingAnchor {
                    origins,
                    concern: &CONCERNS[second],
                    is_target,
                    is_raised_again: true,
                    shares_rows,
                });
            }
        }
    }

    fn apply_noise(&mut self, edits: usize, random: &mut Random) {
        let kept: BTreeSet<usize> = self.anchors.iter().flat_map(|add_anchors| add_anchors.origins.clone()).collect();
        for origin_text in self.new.values_mut() {
            apply_noise(origin_text, &kept, &self.donor, edits, random);
        }
    }

    fn finish(self, kind: CaseKind, random: &mut Random) -> TrackingCase {
        // Half of the reviewers are linters: they name a rule and do not vary their wording.
        let linter = kind != CaseKind::Rewording && random.chance(50);
        // Nothing distinguishes two reworded findings on one line without rules, so findings that share a line have
        // rules.
        let ruled = |add_anchors: &FindingAnchor| linter || (kind == CaseKind::Rewording && add_anchors.shares_rows);
        let rule = |add_anchors: &FindingAnchor| ruled(add_anchors).then_some(add_anchors.concern.rule);
        let mut priors = Vec::new();
        let mut raised = Vec::new();
        for add_anchors in &self.anchors {
            let Some(location) = locate_rows(&self.old, &add_anchors.origins) else { continue };
            priors.push(ReportedFinding { location, title: add_anchors.concern.title, rule: rule(add_anchors) });
            if add_anchors.is_raised_again
                && let Some(location) = locate_rows(&self.new, &add_anchors.origins)
            {
                let title = match kind {
                    CaseKind::Rewording => add_anchors.concern.reworded,
                    _ if !linter && random.chance(50) => add_anchors.concern.close,
                    _ => add_anchors.concern.title,
                };
                raised.push((
                    ReportedFinding { location, title, rule: rule(add_anchors) },
                    Some(priors.len() - 1),
                    add_anchors.is_target,
                ));
            }
        }
        for (path, row, add_anchors) in &self.extra {
            let add_anchors = &self.anchors[*add_anchors];
            let location = CodeLocation::new(path, *row as u32 + 1, *row as u32 + 1);
            raised.push((
                ReportedFinding { location, title: add_anchors.concern.title, rule: rule(add_anchors) },
                None,
                true,
            ));
        }
        for _ in 0..2 {
            if let Some(finding) = self.new_finding(linter, random) {
                raised.push((finding, None, false));
            }
        }
        random.shuffle(&mut raised);
        let files = |sheets: &BTreeMap<String, OriginText>| {
            sheets.iter().map(|(path, rows)| (path.clone(), render_text(rows))).collect()
        };
        TrackingCase { old: files(&self.old), new: files(&self.new), priors, raised }
    }

    /// Builds a new finding on a row without one. A third of them have a concern that the pull already contains.
    fn new_finding(&self, linter: bool, random: &mut Random) -> Option<ReportedFinding> {
        let paths: Vec<&String> = self.new.keys().collect();
        let path = random.pick(&paths);
        let origin_text = &self.new[*path];
        let known: BTreeSet<usize> = self.anchors.iter().flat_map(|add_anchors| add_anchors.origins.clone()).collect();
        let free = |row: &OriginRow| can_have_finding(row) && !row.origins.iter().any(|origin| known.contains(origin));
        let rows: Vec<usize> = (0..origin_text.len()).filter(|row| free(&origin_text[*row])).collect();
        let row = *rows.get(random.below(rows.len()))? as u32 + 1;
        if self.extra.iter().any(|(extra, at, _)| extra == *path && *at as u32 + 1 == row) {
            return None;
        }
        let concern = match self.anchors.is_empty() || random.chance(67) {
            true => random.pick(CONCERNS),
            false => random.pick(&self.anchors).concern,
        };
        Some(ReportedFinding {
            location: CodeLocation::new(path, row, row),
            title: concern.title,
            rule: linter.then_some(concern.rule),
        })
    }
}

fn texts_of_rows<'a>(origin_text: &'a OriginText, origins: &[usize]) -> Vec<&'a str> {
    let contains_origin = |row: &&OriginRow| row.origins.iter().any(|origin| origins.contains(origin));
    origin_text.iter().filter(contains_origin).map(|row| row.text.as_str()).collect()
}

fn locate_rows(sheets: &BTreeMap<String, OriginText>, origins: &[usize]) -> Option<CodeLocation> {
    sheets.iter().find_map(|(path, origin_text)| {
        let (first, last) = find_rows(origin_text, origins)?;
        Some(CodeLocation::new(path, first, last))
    })
}
